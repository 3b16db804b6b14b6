// forms of X: linear combinations of its blocks
//
// Made by Heptane 0.1.0 for sm_90a. Scheme seven: 2 x 2 x 2, rank 7
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 7 writes in 3 chains.
// Reads X (bf16, k contiguous), writes 7 forms (f16); the last 3 are plain blocks.
// No headers are needed; compile with NVRTC for exactly this target.
//
// A block has block_rows x block_k elements; those beyond the matrix count as zero. Forms lie one after another, each a
// K-major block; sums are made in f32 and rounded once. A thread holds 8 neighbouring elements of every block.

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

struct alignas(16) Chunk { u32 word[4]; }; // 8 elements
struct Values { float of[8]; };

struct Source { // the operand as the caller stores it
    const u16 *base;
    i64 ld;
    int rows, k;
    bool aligned;
};

// 8 elements along the contiguous dimension, zero where there is no matrix.
__device__ __forceinline__ Chunk load(const Source &source, int row, int k) {
    Chunk chunk = {};
    const int inside = source.k - k;
    if (inside <= 0 || row >= source.rows) return chunk;
    const u16 *from = source.base + (i64)row * source.ld + k;
    if (source.aligned && inside >= 8) return *(const Chunk *)from;
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < inside) chunk.word[i / 2] |= (u32)from[i] << (16 * (i & 1));
    return chunk;
}
__device__ __forceinline__ Values values(const Chunk &chunk) {
    Values v;
#pragma unroll
    for (int i = 0; i < 4; i++) unpack_bf16(chunk.word[i], v.of[2 * i], v.of[2 * i + 1]);
    return v;
}
__device__ __forceinline__ void add(Values &sum, float weight, const Chunk &chunk) {
    const Values v = values(chunk);
#pragma unroll
    for (int i = 0; i < 8; i++) sum.of[i] += weight * v.of[i];
}
__device__ __forceinline__ Chunk rounded(const Values &sum) {
    Chunk chunk;
#pragma unroll
    for (int i = 0; i < 4; i++) chunk.word[i] = pack_f16(sum.of[2 * i], sum.of[2 * i + 1]);
    return chunk;
}

// ---- the forms --------------------------------------------------------------------------------------------------------
struct Blocks { Chunk of[4]; }; // the same place in every block that occurs
__device__ __forceinline__ void load_blocks(Blocks &blocks, const Source &source, int row, int k, int block_rows, int block_k) {
    blocks.of[0] = load(source, 0 * block_rows + row, 0 * block_k + k); // X11
    blocks.of[1] = load(source, 0 * block_rows + row, 1 * block_k + k); // X12
    blocks.of[2] = load(source, 1 * block_rows + row, 0 * block_k + k); // X21
    blocks.of[3] = load(source, 1 * block_rows + row, 1 * block_k + k); // X22
}
__device__ __forceinline__ void write_forms(const Blocks &blocks, u16 *to, i64 form_size, int form_count) {
    Values sum;
    sum = {}; // A1 = X12 + X21 - X22
    add(sum, 1.0f, blocks.of[1]);
    add(sum, 1.0f, blocks.of[2]);
    add(sum, -1.0f, blocks.of[3]);
    *(Chunk *)(to + 0 * form_size) = rounded(sum);
    sum = {}; // A2 = X12 - X22
    add(sum, 1.0f, blocks.of[1]);
    add(sum, -1.0f, blocks.of[3]);
    *(Chunk *)(to + 1 * form_size) = rounded(sum);
    sum = {}; // A3 = X21 - X22
    add(sum, 1.0f, blocks.of[2]);
    add(sum, -1.0f, blocks.of[3]);
    *(Chunk *)(to + 2 * form_size) = rounded(sum);
    sum = {}; // A4 = -X11 + X12 + X21 - X22
    add(sum, -1.0f, blocks.of[0]);
    add(sum, 1.0f, blocks.of[1]);
    add(sum, 1.0f, blocks.of[2]);
    add(sum, -1.0f, blocks.of[3]);
    *(Chunk *)(to + 3 * form_size) = rounded(sum);
    if (form_count == 4) return; // plain blocks are multiplied where they lie
    sum = {}; // A5 = X12
    add(sum, 1.0f, blocks.of[1]);
    *(Chunk *)(to + 4 * form_size) = rounded(sum);
    sum = {}; // A6 = X21
    add(sum, 1.0f, blocks.of[2]);
    *(Chunk *)(to + 5 * form_size) = rounded(sum);
    sum = {}; // A7 = X11
    add(sum, 1.0f, blocks.of[0]);
    *(Chunk *)(to + 6 * form_size) = rounded(sum);
}

extern "C" __global__ void __launch_bounds__(256)
heptane_forms_x(const u16 *matrix, u16 *forms, i64 ld, i64 stride, u32 lines, int rows, int k_extent, int block_rows,
    int block_k, u32 part_rows, int form_count, int aligned) {
    await_previous_kernel();
    allow_next_kernel(); // in this order: a kernel that starts now knows that all before this one are done
    const i64 form_size = (i64)block_rows * block_k;
    // one thread per 8 elements of the first part_rows rows of a block
    const u32 chunks = block_k / 8, index = blockIdx.x * 256 + threadIdx.x, line = index / chunks;
    if (line >= lines) return;
    const int k = (int)(index - line * chunks) * 8, batch = (int)(line / part_rows);
    const int row = (int)(line - (u32)batch * part_rows);
    u16 *to = forms + (i64)batch * form_count * form_size + (i64)row * block_k + k;
    const Source source = {matrix + batch * stride, ld, rows, k_extent, aligned != 0};
    Blocks blocks;
    load_blocks(blocks, source, row, k, block_rows, block_k);
    write_forms(blocks, to, form_size, form_count);
}
