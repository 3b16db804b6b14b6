// forms of Y: linear combinations of its blocks
//
// Made by Heptane 0.1.0 for sm_90a. Scheme large: 5 x 5 x 5, rank 125
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 125 writes in 125 chains.
// Reads Y as its transpose (f16, k contiguous), writes 25 forms (f16); the last 25 are plain blocks.
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
    for (int i = 0; i < 4; i++) unpack_f16(chunk.word[i], v.of[2 * i], v.of[2 * i + 1]);
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

// ---- the forms, as a table: form r is the sum of terms[first_term[r]] .. terms[first_term[r + 1] - 1] ----
struct Term { u32 block; float weight; };
__constant__ u32 first_term[26] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24,
    25};
__constant__ Term terms[25] = {
    {0, 1.0f}, // B1 = Y11
    {5, 1.0f}, // B2 = Y12
    {10, 1.0f}, // B3 = Y13
    {15, 1.0f}, // B4 = Y14
    {20, 1.0f}, // B5 = Y15
    {1, 1.0f}, // B6 = Y21
    {6, 1.0f}, // B7 = Y22
    {11, 1.0f}, // B8 = Y23
    {16, 1.0f}, // B9 = Y24
    {21, 1.0f}, // B10 = Y25
    {2, 1.0f}, // B11 = Y31
    {7, 1.0f}, // B12 = Y32
    {12, 1.0f}, // B13 = Y33
    {17, 1.0f}, // B14 = Y34
    {22, 1.0f}, // B15 = Y35
    {3, 1.0f}, // B16 = Y41
    {8, 1.0f}, // B17 = Y42
    {13, 1.0f}, // B18 = Y43
    {18, 1.0f}, // B19 = Y44
    {23, 1.0f}, // B20 = Y45
    {4, 1.0f}, // B21 = Y51
    {9, 1.0f}, // B22 = Y52
    {14, 1.0f}, // B23 = Y53
    {19, 1.0f}, // B24 = Y54
    {24, 1.0f}, // B25 = Y55
};
struct Place { u16 row, col; };
__constant__ Place blocks[25] = { // the blocks that occur
    {0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 0}, {2, 1},
    {2, 2}, {2, 3}, {2, 4}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}, {4, 0}, {4, 1}, {4, 2}, {4, 3},
    {4, 4},
};

extern "C" __global__ void __launch_bounds__(256)
heptane_forms_y(const u16 *matrix, u16 *forms, i64 ld, i64 stride, u32 lines, int rows, int k_extent, int block_rows,
    int block_k, u32 part_rows, int form_count, int aligned) {
    await_previous_kernel();
    allow_next_kernel(); // in this order: a kernel that starts now knows that all before this one are done
    extern __shared__ Chunk memory[]; // 16-byte aligned
    const i64 form_size = (i64)block_rows * block_k;
    // one thread per 8 elements of the first part_rows rows of a block
    const u32 chunks = block_k / 8, index = blockIdx.x * 256 + threadIdx.x, line = index / chunks;
    if (line >= lines) return;
    const int k = (int)(index - line * chunks) * 8, batch = (int)(line / part_rows);
    const int row = (int)(line - (u32)batch * part_rows);
    u16 *to = forms + (i64)batch * form_count * form_size + (i64)row * block_k + k;
    const Source source = {matrix + batch * stride, ld, rows, k_extent, aligned != 0};
    Chunk *own = (Chunk *)((u8 *)memory + 0) + threadIdx.x; // this thread's chunks; nobody else reads them
#pragma unroll 4
    for (int b = 0; b < 25; b++) own[b * 256] = load(source, blocks[b].row * block_rows + row, blocks[b].col * block_k + k);
#pragma unroll 1
    for (int r = 0; r < form_count; r++) {
        Values sum = {};
#pragma unroll 2
        for (u32 t = first_term[r]; t < first_term[r + 1]; t++) {
            add(sum, terms[t].weight, own[terms[t].block * 256]);
        }
        *(Chunk *)(to + r * form_size) = rounded(sum);
    }
}
