// finish: C = alpha T + beta C + bias + residual
//
// Made by Heptane 0.1.0 for sm_90a. Scheme large: 5 x 5 x 5, rank 125
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 125 writes in 125 chains.
// Everything in memory is f16; sums are made in f32.
// No headers are needed; compile with NVRTC for exactly this target.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// Two 16-bit numbers in one word <-> f32; `lo` is the one at the lower address.
__device__ __forceinline__ u32 pack_f16(float lo, float hi) {
    u32 word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(hi), "f"(lo));
    return word;
}
__device__ __forceinline__ u32 pack_bf16(float lo, float hi) {
    u32 word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(hi), "f"(lo));
    return word;
}
__device__ __forceinline__ void unpack_f16(u32 word, float &lo, float &hi) {
    asm("{\n.reg .f16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
        : "=f"(lo), "=f"(hi) : "r"(word));
}
__device__ __forceinline__ void unpack_bf16(u32 word, float &lo, float &hi) {
    lo = __uint_as_float(word << 16); // bf16 is the upper half of an f32
    hi = __uint_as_float(word & 0xffff0000u);
}

// The next kernel of the stream may be set up while this one still runs (PTX ISA, griddepcontrol).
__device__ __forceinline__ void allow_next_kernel() { asm volatile("griddepcontrol.launch_dependents;"); }
// Everything that kernels before this one wrote is visible from here on.
__device__ __forceinline__ void await_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- f16: reading and writing 8 elements ----
struct alignas(16) Chunk_f16 { u32 word[4]; }; // 8 elements

__device__ __forceinline__ float widen_f16(u16 x) {
    float lo, hi;
    unpack_f16(x, lo, hi);
    return lo;
}
__device__ __forceinline__ u16 narrow_f16(float x) { return (u16)pack_f16(x, 0.0f); }
// 8 elements as f32; whole chunks of aligned matrices in one piece.
__device__ __forceinline__ void read_f16(float (&x)[8], const u16 *from, int count, bool aligned) {
    if (aligned && count == 8) {
        const Chunk_f16 chunk = *(const Chunk_f16 *)from;
#pragma unroll
        for (int i = 0; i < 4; i++) unpack_f16(chunk.word[i], x[2 * i], x[2 * i + 1]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = i < count ? widen_f16(from[i]) : 0.0f;
}
__device__ __forceinline__ void write_f16(u16 *to, const float (&x)[8], int count, bool aligned) {
    if (aligned && count == 8) {
        Chunk_f16 chunk;
#pragma unroll
        for (int i = 0; i < 4; i++) chunk.word[i] = pack_f16(x[2 * i], x[2 * i + 1]);
        *(Chunk_f16 *)to = chunk;
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < count) to[i] = narrow_f16(x[i]);
}

// One thread per 8 elements of a row. C is read only if with_c is set (beta is not zero), bias and residual only if they are
// there: what is not read may hold anything, not-a-numbers too.
extern "C" __global__ void __launch_bounds__(256)
heptane_finish(const u16 *t, u16 *c, const u16 *bias, const u16 *residual, float alpha, float beta, i64 ldt,
    i64 stride_t, i64 ldc, i64 stride_c, i64 ldr, i64 stride_r, int m, int n, int batch_count, int aligned, int aligned_r, int with_c,
    int with_bias, int with_residual) {
    allow_next_kernel();
    await_previous_kernel();
    const int chunks = (n + 7) / 8;
    const i64 index = (i64)blockIdx.x * 256 + threadIdx.x, line = index / chunks;
    if (line >= (i64)m * batch_count) return;
    const int col = (int)(index - line * chunks) * 8, count = min(8, n - col), batch = (int)(line / m), row = (int)(line % m);
    float sum[8], more[8];
    read_f16(sum, t + batch * stride_t + row * ldt + col, count, true);
#pragma unroll
    for (int i = 0; i < 8; i++) sum[i] *= alpha;
    u16 *to = c + batch * stride_c + row * ldc + col;
    if (with_c) {
        read_f16(more, to, count, aligned);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] += beta * more[i];
    }
    if (with_bias) {
        read_f16(more, bias + col, count, false);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] += more[i];
    }
    if (with_residual) {
        read_f16(more, residual + batch * stride_r + row * ldr + col, count, aligned_r);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] += more[i];
    }
    write_f16(to, sum, count, aligned);
}
