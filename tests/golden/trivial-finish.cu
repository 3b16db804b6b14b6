// finish: C = alpha T + beta C + bias + residual
//
// Made by Heptane 0.1.0 for sm_90a. Scheme trivial: 1 x 1 x 1, rank 1
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 1 writes in 1 chains.
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

constexpr int THREADS = 256, CHUNKS = 4; // of 8 elements, per thread
typedef u16 Element;
template <typename T> constexpr int PER_WORD = sizeof(u32) / sizeof(T);
template <typename T> struct alignas(16) Chunk { u32 word[8 / PER_WORD<T>]; };

// The first `count` of 8 elements, and zeros. In pieces of 16 bytes if it is known to be `WHOLE`, or is and rows are `aligned`.
template <bool WHOLE, typename T> __device__ __forceinline__ Chunk<T> load(const T *from, int count, bool aligned) {
    if (WHOLE || (aligned && count == 8)) return *(const Chunk<T> *)from;
    Chunk<T> chunk = {};
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < count) chunk.word[i / PER_WORD<T>] |= (u32)from[i] << (16 * (i % PER_WORD<T>));
    return chunk;
}
template <bool WHOLE, typename T> __device__ __forceinline__ void store(T *to, const Chunk<T> &chunk, int count, bool aligned) {
    if (WHOLE || (aligned && count == 8)) {
        *(Chunk<T> *)to = chunk;
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < count) to[i] = (T)(chunk.word[i / PER_WORD<T>] >> (16 * (i % PER_WORD<T>)));
}
__device__ __forceinline__ void widen_f16(float (&x)[8], const Chunk<u16> &chunk) {
#pragma unroll
    for (int i = 0; i < 4; i++) unpack_f16(chunk.word[i], x[2 * i], x[2 * i + 1]);
}
__device__ __forceinline__ Chunk<Element> narrow(const float (&x)[8]) {
    Chunk<Element> chunk;
#pragma unroll
    for (int i = 0; i < 4; i++) chunk.word[i] = pack_f16(x[2 * i], x[2 * i + 1]);
    return chunk;
}
// x += scale * more
__device__ __forceinline__ void add(float (&x)[8], float scale, const Chunk<Element> &more) {
    float y[8];
    widen_f16(y, more);
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] += scale * y[i];
}

struct Call { // C is read only with_c (beta is not zero), what is not read may hold anything, not-a-numbers too
    const u16 *t;
    Element *c;
    const Element *bias, *residual;
    float alpha, beta;
    i64 ldt, stride_t, ldc, stride_c, ldr, stride_r;
    int m, n, batch_count, width, step_lines, step; // width: chunks of a row; what THREADS chunks are: whole rows, and some chunks
    bool aligned_c, aligned_bias, aligned_residual, with_c, with_bias, with_residual;
};
struct Place { // of a chunk: the row, counted through the batch, and the chunk in it
    u32 line;
    int chunk;
};
// Neighbouring threads take neighbouring chunks; a thread's next one lies THREADS further.
__device__ __forceinline__ Place next_place(const Call &call, const Place &at) {
    Place next = {at.line + call.step_lines, at.chunk + call.step};
    if (next.chunk >= call.width) next.chunk -= call.width, next.line++;
    return next;
}
// COUNT chunks of a thread: what comes from far is on its way for all of them before the first is used. ADDS: more than alpha T.
template <int COUNT, bool WHOLE, bool ADDS> __device__ __forceinline__ void finish(const Call &call, Place at) {
    int col[COUNT], count[COUNT];
    Element *to[COUNT];
    Chunk<u16> sum[COUNT];
    Chunk<Element> matrix[COUNT]; // the residual, or C as it was
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const u32 batch = call.batch_count > 1 ? at.line / call.m : 0, row = at.line - batch * call.m;
        col[i] = 8 * at.chunk, count[i] = min(8, call.n - col[i]);
        to[i] = call.c + batch * call.stride_c + row * call.ldc + col[i];
        sum[i] = load<WHOLE>(call.t + batch * call.stride_t + row * call.ldt + col[i], count[i], true);
        if (ADDS && call.with_c && !call.with_residual) matrix[i] = load<WHOLE>(to[i], count[i], call.aligned_c);
        if (ADDS && call.with_residual) matrix[i] = load<WHOLE>(call.residual + batch * call.stride_r + row * call.ldr + col[i], count[i], call.aligned_residual);
        at = next_place(call, at);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        float x[8];
        widen_f16(x, sum[i]);
#pragma unroll
        for (int e = 0; e < 8; e++) x[e] *= call.alpha;
        if (ADDS && call.with_c) add(x, call.beta, call.with_residual ? load<WHOLE>(to[i], count[i], call.aligned_c) : matrix[i]);
        if (ADDS && call.with_bias) add(x, 1.0f, load<WHOLE>(call.bias + col[i], count[i], call.aligned_bias));
        if (ADDS && call.with_residual) add(x, 1.0f, matrix[i]);
        store<WHOLE>(to[i], narrow(x), count[i], call.aligned_c);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
heptane_finish(const u16 *t, Element *c, const Element *bias, const Element *residual, float alpha, float beta, i64 ldt,
    i64 stride_t, i64 ldc, i64 stride_c, i64 ldr, i64 stride_r, int m, int n, int batch_count, int width, int step_lines, int step,
    int aligned_c, int aligned_bias, int aligned_residual, int with_c, int with_bias, int with_residual) {
    allow_next_kernel();
    await_previous_kernel();
    const Call call = {t, c, bias, residual, alpha, beta, ldt, stride_t, ldc, stride_c, ldr, stride_r, m, n, batch_count, width, step_lines, step,
        aligned_c != 0, aligned_bias != 0, aligned_residual != 0, with_c != 0, with_bias != 0, with_residual != 0};
    const bool adds = with_c || with_bias || with_residual;
    const u32 lines = (u32)m * batch_count;
    const i64 index = (i64)blockIdx.x * (THREADS * CHUNKS) + threadIdx.x;
    Place at = {(u32)(index / width), (int)(index % width)}, other = at;
    bool whole = aligned_c && (!with_bias || aligned_bias) && (!with_residual || aligned_residual);
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
        whole = whole && other.line < lines && 8 * other.chunk + 8 <= n;
        other = next_place(call, other);
    }
    if (whole && adds) return finish<CHUNKS, true, true>(call, at);
    if (whole) return finish<CHUNKS, true, false>(call, at);
#pragma unroll 1
    for (int i = 0; i < CHUNKS && at.line < lines; i++) {
        finish<1, false, true>(call, at);
        at = next_place(call, at);
    }
}
