// finish: C = alpha T + beta C + bias + residual
//
// Made by Heptane 0.1.0 for sm_90a. Scheme seven: 2 x 2 x 2, rank 7
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 7 writes in 3 chains.
// Everything in memory is f32; sums are made in f32.
// No headers are needed; compile with NVRTC for exactly this target.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;


// The next kernel of the stream may be set up while this one still runs (PTX ISA, griddepcontrol).
__device__ __forceinline__ void allow_next_kernel() { asm volatile("griddepcontrol.launch_dependents;"); }
// Everything that kernels before this one wrote is visible from here on.
__device__ __forceinline__ void await_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- f32: reading and writing 8 elements ----
struct alignas(16) Chunk_f32 { u32 word[8]; }; // 8 elements

__device__ __forceinline__ float widen_f32(float x) { return x; }
__device__ __forceinline__ float narrow_f32(float x) { return x; }
// 8 elements as f32; whole chunks of aligned matrices in one piece.
__device__ __forceinline__ void read_f32(float (&x)[8], const float *from, int count, bool aligned) {
    if (aligned && count == 8) {
        const Chunk_f32 chunk = *(const Chunk_f32 *)from;
#pragma unroll
        for (int i = 0; i < 8; i++) x[i] = __uint_as_float(chunk.word[i]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = i < count ? widen_f32(from[i]) : 0.0f;
}
__device__ __forceinline__ void write_f32(float *to, const float (&x)[8], int count, bool aligned) {
    if (aligned && count == 8) {
        Chunk_f32 chunk;
#pragma unroll
        for (int i = 0; i < 8; i++) chunk.word[i] = __float_as_uint(x[i]);
        *(Chunk_f32 *)to = chunk;
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < count) to[i] = narrow_f32(x[i]);
}

// One thread per 8 elements of a row. C is read only if with_c is set (beta is not zero), bias and residual only if they are
// there: what is not read may hold anything, not-a-numbers too.
extern "C" __global__ void __launch_bounds__(256)
heptane_finish(const float *t, float *c, const float *bias, const float *residual, float alpha, float beta, i64 ldt,
    i64 stride_t, i64 ldc, i64 stride_c, i64 ldr, i64 stride_r, int m, int n, int batch_count, int aligned, int aligned_r, int with_c,
    int with_bias, int with_residual) {
    allow_next_kernel();
    await_previous_kernel();
    const int chunks = (n + 7) / 8;
    const i64 index = (i64)blockIdx.x * 256 + threadIdx.x, line = index / chunks;
    if (line >= (i64)m * batch_count) return;
    const int col = (int)(index - line * chunks) * 8, count = min(8, n - col), batch = (int)(line / m), row = (int)(line % m);
    float sum[8], more[8];
    read_f32(sum, t + batch * stride_t + row * ldt + col, count, true);
#pragma unroll
    for (int i = 0; i < 8; i++) sum[i] *= alpha;
    float *to = c + batch * stride_c + row * ldc + col;
    if (with_c) {
        read_f32(more, to, count, aligned);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] += beta * more[i];
    }
    if (with_bias) {
        read_f32(more, bias + col, count, false);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] += more[i];
    }
    if (with_residual) {
        read_f32(more, residual + batch * stride_r + row * ldr + col, count, aligned_r);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] += more[i];
    }
    write_f32(to, sum, count, aligned);
}
