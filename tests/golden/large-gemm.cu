// gemm: Z = X Y from operand forms, by a schedule of 125 products
//
// Made by Heptane 0.1.0 for sm_90a. Scheme large: 5 x 5 x 5, rank 125
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 125 writes in 125 chains.
// Forms f16, accumulation f32, outputs f16. Tile 128 x 128 x 64, 5 stages, clusters of 1, raster groups of 8.
// No headers are needed; compile with NVRTC for exactly this target.
//
// X and Y are cut into blocks; A and B are linear combinations ("forms") of blocks of X and of Y transposed, all K-major.
// A CTA owns the same tile of every output block. It walks the schedule: each step multiplies one form of X by one of Y into
// the same accumulator, and some steps send what has been accumulated so far to one or more output blocks, scaled. The first
// touch of a block is a store, later ones are reduce-adds, so outputs need no clearing.
//
// Warpgroup 0   warp 0, one thread: the producer. One ring of operand tiles runs over all tiles, steps and k-blocks of this
//               CTA without ever draining.
//               warp 1, one thread: the writer. Sends staged parts of the accumulator to global memory.
// Warpgroups 1, 2: the consumers, 64 x 128 accumulators each.
// The staging buffer holds 2 boxes of 64 rows, which the writer grants to the consumers in turn, box by box. Taking turns
// keeps the consumers apart in time: while one empties its accumulator, the other keeps the tensor cores busy.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct alignas(64) TensorMap { u8 opaque[128]; }; // a CUtensorMap, made by the host

__device__ __forceinline__ u32 shared_address(const void *pointer) { return (u32)__cvta_generic_to_shared(pointer); }

// ---- mbarriers (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier") ----
__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
// Returns once the phase of this parity is complete. A new barrier counts as having completed parity 1.
__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    asm volatile("{\n.reg .pred done;\nRETRY:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra RETRY;\n}" ::"r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives and announces the bytes that bulk copies will bring in this phase.
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// The same barrier in another CTA of the cluster. Left without .release.cluster on purpose: ptxas turns that into a barrier
// for the whole device, in every k-block. The arrival only says that this CTA has finished reading a ring slot.
__device__ __forceinline__ void barrier_arrive_at(u32 barrier, u32 cta) {
    asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier), "r"(cta) : "memory");
}
__device__ __forceinline__ void barrier_init_publish() { // to the cluster and to the copy engine
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// ---- bulk-tensor copies (PTX ISA, "Data Movement and Conversion Instructions: Tensor copy") ----
// Coordinates: x along the rows' elements, y the row, z the matrix of a batch. What lies outside a map reads as zero and is
// not written.
__device__ __forceinline__ void tma_prefetch(const TensorMap *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ __forceinline__ void tma_load(u32 to, const TensorMap *map, int x, int y, int z, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier) : "memory");
}
// To the same address in every CTA of the mask; each of them counts the bytes on its own barrier.
__device__ __forceinline__ void tma_load_multicast(u32 to, const TensorMap *map, int x, int y, int z, u32 barrier, u16 mask) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4}], [%5], %6;"
                 ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(mask) : "memory");
}
__device__ __forceinline__ void tma_store(const TensorMap *map, int x, int y, int z, u32 from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(map), "r"(x), "r"(y), "r"(z), "r"(from) : "memory");
}
__device__ __forceinline__ void tma_add(const TensorMap *map, int x, int y, int z, u32 from) {
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(map), "r"(x), "r"(y), "r"(z), "r"(from) : "memory");
}
__device__ __forceinline__ void tma_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// At most PENDING groups of this thread have not yet read their shared memory.
template <int PENDING> __device__ __forceinline__ void tma_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}
// All groups of this thread have written global memory.
__device__ __forceinline__ void tma_wait_written() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
// Ordinary writes to shared memory by this thread become visible to bulk copies that are issued after a barrier.
__device__ __forceinline__ void shared_writes_to_tma() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- warpgroup matrix multiply (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions") ----
// Shared memory descriptor of a K-major operand in the 128-byte swizzle: 8 rows of 128 bytes form an atom of 1024 bytes;
// address and stride in units of 16 bytes.
__device__ __forceinline__ u64 operand_descriptor(u32 address) {
    return (u64)((address & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
// acc = a b + (keep ? acc : 0) for 64 x 128 x 16. With keep = 0 a chain starts without clearing registers.
__device__ __forceinline__ void wgmma(float (&acc)[64], u64 a, u64 b, int keep) {
    asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
                 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
                 "}, %64, %65, keep, 1, 1, 0, 0;\n}"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]),
                   "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]),
                   "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]),
                   "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
                   "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]),
                   "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]),
                   "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
                   "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63])
                 : "l"(a), "l"(b), "r"(keep));
}
// Waits too, and names the accumulators, so that the compiler does not read them earlier.
__device__ __forceinline__ void wgmma_finish(float (&acc)[64]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]),
                   "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]),
                   "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]),
                   "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
                   "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]),
                   "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]),
                   "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
                   "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63])
                 ::"memory");
}
// Four 8 x 8 matrices of 16-bit numbers to shared memory; each lane gives the address of one row (PTX ISA, stmatrix).
__device__ __forceinline__ void stmatrix_x4(u32 address, const u32 (&word)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(address), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]) : "memory");
}

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

// ---- the schedule -----------------------------------------------------------------------------------------------------
// Blocks and slots count from 0 in the tables, from 1 in the comments. A step multiplies two operand forms into the
// accumulator; then its fills send the accumulated prefix sum S to output blocks.
constexpr int STEPS = 125;
struct Step {
    u16 x_slot, y_slot; // operand forms, as numbered in the forms kernels
    u16 y_row, y_col;   // the block of Y transposed that this form is, or NOT_PLAIN
    u16 fresh;          // 1: a chain starts, the accumulator is overwritten
    u16 fills, first_fill;
};
struct Fill {           // one filling of the staging buffer
    u16 first_target, targets;
    u32 flip;           // sign bits to invert: the weight is 1 or -1
};
struct Target {         // an output block
    u16 row, col, add;  // add = 0: the block's first touch, a store
    u16 index;          // how many writes to this block its chain has made before
};
constexpr u32 NOT_PLAIN = 0xffff;
__constant__ Step steps[STEPS] = {
    {0, 0, 0, 0, 1, 1, 0}, // S = X11 Y11; Z11 = S
    {0, 1, 1, 0, 1, 1, 1}, // S = X11 Y12; Z12 = S
    {0, 2, 2, 0, 1, 1, 2}, // S = X11 Y13; Z13 = S
    {0, 3, 3, 0, 1, 1, 3}, // S = X11 Y14; Z14 = S
    {0, 4, 4, 0, 1, 1, 4}, // S = X11 Y15; Z15 = S
    {1, 5, 0, 1, 1, 1, 5}, // S = X12 Y21; Z11 += S
    {1, 6, 1, 1, 1, 1, 6}, // S = X12 Y22; Z12 += S
    {1, 7, 2, 1, 1, 1, 7}, // S = X12 Y23; Z13 += S
    {1, 8, 3, 1, 1, 1, 8}, // S = X12 Y24; Z14 += S
    {1, 9, 4, 1, 1, 1, 9}, // S = X12 Y25; Z15 += S
    {2, 10, 0, 2, 1, 1, 10}, // S = X13 Y31; Z11 += S
    {2, 11, 1, 2, 1, 1, 11}, // S = X13 Y32; Z12 += S
    {2, 12, 2, 2, 1, 1, 12}, // S = X13 Y33; Z13 += S
    {2, 13, 3, 2, 1, 1, 13}, // S = X13 Y34; Z14 += S
    {2, 14, 4, 2, 1, 1, 14}, // S = X13 Y35; Z15 += S
    {3, 15, 0, 3, 1, 1, 15}, // S = X14 Y41; Z11 += S
    {3, 16, 1, 3, 1, 1, 16}, // S = X14 Y42; Z12 += S
    {3, 17, 2, 3, 1, 1, 17}, // S = X14 Y43; Z13 += S
    {3, 18, 3, 3, 1, 1, 18}, // S = X14 Y44; Z14 += S
    {3, 19, 4, 3, 1, 1, 19}, // S = X14 Y45; Z15 += S
    {4, 20, 0, 4, 1, 1, 20}, // S = X15 Y51; Z11 += S
    {4, 21, 1, 4, 1, 1, 21}, // S = X15 Y52; Z12 += S
    {4, 22, 2, 4, 1, 1, 22}, // S = X15 Y53; Z13 += S
    {4, 23, 3, 4, 1, 1, 23}, // S = X15 Y54; Z14 += S
    {4, 24, 4, 4, 1, 1, 24}, // S = X15 Y55; Z15 += S
    {5, 0, 0, 0, 1, 1, 25}, // S = X21 Y11; Z21 = S
    {5, 1, 1, 0, 1, 1, 26}, // S = X21 Y12; Z22 = S
    {5, 2, 2, 0, 1, 1, 27}, // S = X21 Y13; Z23 = S
    {5, 3, 3, 0, 1, 1, 28}, // S = X21 Y14; Z24 = S
    {5, 4, 4, 0, 1, 1, 29}, // S = X21 Y15; Z25 = S
    {6, 5, 0, 1, 1, 1, 30}, // S = X22 Y21; Z21 += S
    {6, 6, 1, 1, 1, 1, 31}, // S = X22 Y22; Z22 += S
    {6, 7, 2, 1, 1, 1, 32}, // S = X22 Y23; Z23 += S
    {6, 8, 3, 1, 1, 1, 33}, // S = X22 Y24; Z24 += S
    {6, 9, 4, 1, 1, 1, 34}, // S = X22 Y25; Z25 += S
    {7, 10, 0, 2, 1, 1, 35}, // S = X23 Y31; Z21 += S
    {7, 11, 1, 2, 1, 1, 36}, // S = X23 Y32; Z22 += S
    {7, 12, 2, 2, 1, 1, 37}, // S = X23 Y33; Z23 += S
    {7, 13, 3, 2, 1, 1, 38}, // S = X23 Y34; Z24 += S
    {7, 14, 4, 2, 1, 1, 39}, // S = X23 Y35; Z25 += S
    {8, 15, 0, 3, 1, 1, 40}, // S = X24 Y41; Z21 += S
    {8, 16, 1, 3, 1, 1, 41}, // S = X24 Y42; Z22 += S
    {8, 17, 2, 3, 1, 1, 42}, // S = X24 Y43; Z23 += S
    {8, 18, 3, 3, 1, 1, 43}, // S = X24 Y44; Z24 += S
    {8, 19, 4, 3, 1, 1, 44}, // S = X24 Y45; Z25 += S
    {9, 20, 0, 4, 1, 1, 45}, // S = X25 Y51; Z21 += S
    {9, 21, 1, 4, 1, 1, 46}, // S = X25 Y52; Z22 += S
    {9, 22, 2, 4, 1, 1, 47}, // S = X25 Y53; Z23 += S
    {9, 23, 3, 4, 1, 1, 48}, // S = X25 Y54; Z24 += S
    {9, 24, 4, 4, 1, 1, 49}, // S = X25 Y55; Z25 += S
    {10, 0, 0, 0, 1, 1, 50}, // S = X31 Y11; Z31 = S
    {10, 1, 1, 0, 1, 1, 51}, // S = X31 Y12; Z32 = S
    {10, 2, 2, 0, 1, 1, 52}, // S = X31 Y13; Z33 = S
    {10, 3, 3, 0, 1, 1, 53}, // S = X31 Y14; Z34 = S
    {10, 4, 4, 0, 1, 1, 54}, // S = X31 Y15; Z35 = S
    {11, 5, 0, 1, 1, 1, 55}, // S = X32 Y21; Z31 += S
    {11, 6, 1, 1, 1, 1, 56}, // S = X32 Y22; Z32 += S
    {11, 7, 2, 1, 1, 1, 57}, // S = X32 Y23; Z33 += S
    {11, 8, 3, 1, 1, 1, 58}, // S = X32 Y24; Z34 += S
    {11, 9, 4, 1, 1, 1, 59}, // S = X32 Y25; Z35 += S
    {12, 10, 0, 2, 1, 1, 60}, // S = X33 Y31; Z31 += S
    {12, 11, 1, 2, 1, 1, 61}, // S = X33 Y32; Z32 += S
    {12, 12, 2, 2, 1, 1, 62}, // S = X33 Y33; Z33 += S
    {12, 13, 3, 2, 1, 1, 63}, // S = X33 Y34; Z34 += S
    {12, 14, 4, 2, 1, 1, 64}, // S = X33 Y35; Z35 += S
    {13, 15, 0, 3, 1, 1, 65}, // S = X34 Y41; Z31 += S
    {13, 16, 1, 3, 1, 1, 66}, // S = X34 Y42; Z32 += S
    {13, 17, 2, 3, 1, 1, 67}, // S = X34 Y43; Z33 += S
    {13, 18, 3, 3, 1, 1, 68}, // S = X34 Y44; Z34 += S
    {13, 19, 4, 3, 1, 1, 69}, // S = X34 Y45; Z35 += S
    {14, 20, 0, 4, 1, 1, 70}, // S = X35 Y51; Z31 += S
    {14, 21, 1, 4, 1, 1, 71}, // S = X35 Y52; Z32 += S
    {14, 22, 2, 4, 1, 1, 72}, // S = X35 Y53; Z33 += S
    {14, 23, 3, 4, 1, 1, 73}, // S = X35 Y54; Z34 += S
    {14, 24, 4, 4, 1, 1, 74}, // S = X35 Y55; Z35 += S
    {15, 0, 0, 0, 1, 1, 75}, // S = X41 Y11; Z41 = S
    {15, 1, 1, 0, 1, 1, 76}, // S = X41 Y12; Z42 = S
    {15, 2, 2, 0, 1, 1, 77}, // S = X41 Y13; Z43 = S
    {15, 3, 3, 0, 1, 1, 78}, // S = X41 Y14; Z44 = S
    {15, 4, 4, 0, 1, 1, 79}, // S = X41 Y15; Z45 = S
    {16, 5, 0, 1, 1, 1, 80}, // S = X42 Y21; Z41 += S
    {16, 6, 1, 1, 1, 1, 81}, // S = X42 Y22; Z42 += S
    {16, 7, 2, 1, 1, 1, 82}, // S = X42 Y23; Z43 += S
    {16, 8, 3, 1, 1, 1, 83}, // S = X42 Y24; Z44 += S
    {16, 9, 4, 1, 1, 1, 84}, // S = X42 Y25; Z45 += S
    {17, 10, 0, 2, 1, 1, 85}, // S = X43 Y31; Z41 += S
    {17, 11, 1, 2, 1, 1, 86}, // S = X43 Y32; Z42 += S
    {17, 12, 2, 2, 1, 1, 87}, // S = X43 Y33; Z43 += S
    {17, 13, 3, 2, 1, 1, 88}, // S = X43 Y34; Z44 += S
    {17, 14, 4, 2, 1, 1, 89}, // S = X43 Y35; Z45 += S
    {18, 15, 0, 3, 1, 1, 90}, // S = X44 Y41; Z41 += S
    {18, 16, 1, 3, 1, 1, 91}, // S = X44 Y42; Z42 += S
    {18, 17, 2, 3, 1, 1, 92}, // S = X44 Y43; Z43 += S
    {18, 18, 3, 3, 1, 1, 93}, // S = X44 Y44; Z44 += S
    {18, 19, 4, 3, 1, 1, 94}, // S = X44 Y45; Z45 += S
    {19, 20, 0, 4, 1, 1, 95}, // S = X45 Y51; Z41 += S
    {19, 21, 1, 4, 1, 1, 96}, // S = X45 Y52; Z42 += S
    {19, 22, 2, 4, 1, 1, 97}, // S = X45 Y53; Z43 += S
    {19, 23, 3, 4, 1, 1, 98}, // S = X45 Y54; Z44 += S
    {19, 24, 4, 4, 1, 1, 99}, // S = X45 Y55; Z45 += S
    {20, 0, 0, 0, 1, 1, 100}, // S = X51 Y11; Z51 = S
    {20, 1, 1, 0, 1, 1, 101}, // S = X51 Y12; Z52 = S
    {20, 2, 2, 0, 1, 1, 102}, // S = X51 Y13; Z53 = S
    {20, 3, 3, 0, 1, 1, 103}, // S = X51 Y14; Z54 = S
    {20, 4, 4, 0, 1, 1, 104}, // S = X51 Y15; Z55 = S
    {21, 5, 0, 1, 1, 1, 105}, // S = X52 Y21; Z51 += S
    {21, 6, 1, 1, 1, 1, 106}, // S = X52 Y22; Z52 += S
    {21, 7, 2, 1, 1, 1, 107}, // S = X52 Y23; Z53 += S
    {21, 8, 3, 1, 1, 1, 108}, // S = X52 Y24; Z54 += S
    {21, 9, 4, 1, 1, 1, 109}, // S = X52 Y25; Z55 += S
    {22, 10, 0, 2, 1, 1, 110}, // S = X53 Y31; Z51 += S
    {22, 11, 1, 2, 1, 1, 111}, // S = X53 Y32; Z52 += S
    {22, 12, 2, 2, 1, 1, 112}, // S = X53 Y33; Z53 += S
    {22, 13, 3, 2, 1, 1, 113}, // S = X53 Y34; Z54 += S
    {22, 14, 4, 2, 1, 1, 114}, // S = X53 Y35; Z55 += S
    {23, 15, 0, 3, 1, 1, 115}, // S = X54 Y41; Z51 += S
    {23, 16, 1, 3, 1, 1, 116}, // S = X54 Y42; Z52 += S
    {23, 17, 2, 3, 1, 1, 117}, // S = X54 Y43; Z53 += S
    {23, 18, 3, 3, 1, 1, 118}, // S = X54 Y44; Z54 += S
    {23, 19, 4, 3, 1, 1, 119}, // S = X54 Y45; Z55 += S
    {24, 20, 0, 4, 1, 1, 120}, // S = X55 Y51; Z51 += S
    {24, 21, 1, 4, 1, 1, 121}, // S = X55 Y52; Z52 += S
    {24, 22, 2, 4, 1, 1, 122}, // S = X55 Y53; Z53 += S
    {24, 23, 3, 4, 1, 1, 123}, // S = X55 Y54; Z54 += S
    {24, 24, 4, 4, 1, 1, 124}, // S = X55 Y55; Z55 += S
};
__constant__ Fill fills[125] = {
    {0, 1, 0},
    {1, 1, 0},
    {2, 1, 0},
    {3, 1, 0},
    {4, 1, 0},
    {5, 1, 0},
    {6, 1, 0},
    {7, 1, 0},
    {8, 1, 0},
    {9, 1, 0},
    {10, 1, 0},
    {11, 1, 0},
    {12, 1, 0},
    {13, 1, 0},
    {14, 1, 0},
    {15, 1, 0},
    {16, 1, 0},
    {17, 1, 0},
    {18, 1, 0},
    {19, 1, 0},
    {20, 1, 0},
    {21, 1, 0},
    {22, 1, 0},
    {23, 1, 0},
    {24, 1, 0},
    {25, 1, 0},
    {26, 1, 0},
    {27, 1, 0},
    {28, 1, 0},
    {29, 1, 0},
    {30, 1, 0},
    {31, 1, 0},
    {32, 1, 0},
    {33, 1, 0},
    {34, 1, 0},
    {35, 1, 0},
    {36, 1, 0},
    {37, 1, 0},
    {38, 1, 0},
    {39, 1, 0},
    {40, 1, 0},
    {41, 1, 0},
    {42, 1, 0},
    {43, 1, 0},
    {44, 1, 0},
    {45, 1, 0},
    {46, 1, 0},
    {47, 1, 0},
    {48, 1, 0},
    {49, 1, 0},
    {50, 1, 0},
    {51, 1, 0},
    {52, 1, 0},
    {53, 1, 0},
    {54, 1, 0},
    {55, 1, 0},
    {56, 1, 0},
    {57, 1, 0},
    {58, 1, 0},
    {59, 1, 0},
    {60, 1, 0},
    {61, 1, 0},
    {62, 1, 0},
    {63, 1, 0},
    {64, 1, 0},
    {65, 1, 0},
    {66, 1, 0},
    {67, 1, 0},
    {68, 1, 0},
    {69, 1, 0},
    {70, 1, 0},
    {71, 1, 0},
    {72, 1, 0},
    {73, 1, 0},
    {74, 1, 0},
    {75, 1, 0},
    {76, 1, 0},
    {77, 1, 0},
    {78, 1, 0},
    {79, 1, 0},
    {80, 1, 0},
    {81, 1, 0},
    {82, 1, 0},
    {83, 1, 0},
    {84, 1, 0},
    {85, 1, 0},
    {86, 1, 0},
    {87, 1, 0},
    {88, 1, 0},
    {89, 1, 0},
    {90, 1, 0},
    {91, 1, 0},
    {92, 1, 0},
    {93, 1, 0},
    {94, 1, 0},
    {95, 1, 0},
    {96, 1, 0},
    {97, 1, 0},
    {98, 1, 0},
    {99, 1, 0},
    {100, 1, 0},
    {101, 1, 0},
    {102, 1, 0},
    {103, 1, 0},
    {104, 1, 0},
    {105, 1, 0},
    {106, 1, 0},
    {107, 1, 0},
    {108, 1, 0},
    {109, 1, 0},
    {110, 1, 0},
    {111, 1, 0},
    {112, 1, 0},
    {113, 1, 0},
    {114, 1, 0},
    {115, 1, 0},
    {116, 1, 0},
    {117, 1, 0},
    {118, 1, 0},
    {119, 1, 0},
    {120, 1, 0},
    {121, 1, 0},
    {122, 1, 0},
    {123, 1, 0},
    {124, 1, 0},
};
__constant__ Target targets[125] = {
    {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}, {0, 3, 0, 0}, {0, 4, 0, 0}, {0, 0, 1, 0}, {0, 1, 1, 0}, {0, 2, 1, 0},
    {0, 3, 1, 0}, {0, 4, 1, 0}, {0, 0, 1, 0}, {0, 1, 1, 0}, {0, 2, 1, 0}, {0, 3, 1, 0}, {0, 4, 1, 0}, {0, 0, 1, 0},
    {0, 1, 1, 0}, {0, 2, 1, 0}, {0, 3, 1, 0}, {0, 4, 1, 0}, {0, 0, 1, 0}, {0, 1, 1, 0}, {0, 2, 1, 0}, {0, 3, 1, 0},
    {0, 4, 1, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}, {1, 2, 0, 0}, {1, 3, 0, 0}, {1, 4, 0, 0}, {1, 0, 1, 0}, {1, 1, 1, 0},
    {1, 2, 1, 0}, {1, 3, 1, 0}, {1, 4, 1, 0}, {1, 0, 1, 0}, {1, 1, 1, 0}, {1, 2, 1, 0}, {1, 3, 1, 0}, {1, 4, 1, 0},
    {1, 0, 1, 0}, {1, 1, 1, 0}, {1, 2, 1, 0}, {1, 3, 1, 0}, {1, 4, 1, 0}, {1, 0, 1, 0}, {1, 1, 1, 0}, {1, 2, 1, 0},
    {1, 3, 1, 0}, {1, 4, 1, 0}, {2, 0, 0, 0}, {2, 1, 0, 0}, {2, 2, 0, 0}, {2, 3, 0, 0}, {2, 4, 0, 0}, {2, 0, 1, 0},
    {2, 1, 1, 0}, {2, 2, 1, 0}, {2, 3, 1, 0}, {2, 4, 1, 0}, {2, 0, 1, 0}, {2, 1, 1, 0}, {2, 2, 1, 0}, {2, 3, 1, 0},
    {2, 4, 1, 0}, {2, 0, 1, 0}, {2, 1, 1, 0}, {2, 2, 1, 0}, {2, 3, 1, 0}, {2, 4, 1, 0}, {2, 0, 1, 0}, {2, 1, 1, 0},
    {2, 2, 1, 0}, {2, 3, 1, 0}, {2, 4, 1, 0}, {3, 0, 0, 0}, {3, 1, 0, 0}, {3, 2, 0, 0}, {3, 3, 0, 0}, {3, 4, 0, 0},
    {3, 0, 1, 0}, {3, 1, 1, 0}, {3, 2, 1, 0}, {3, 3, 1, 0}, {3, 4, 1, 0}, {3, 0, 1, 0}, {3, 1, 1, 0}, {3, 2, 1, 0},
    {3, 3, 1, 0}, {3, 4, 1, 0}, {3, 0, 1, 0}, {3, 1, 1, 0}, {3, 2, 1, 0}, {3, 3, 1, 0}, {3, 4, 1, 0}, {3, 0, 1, 0},
    {3, 1, 1, 0}, {3, 2, 1, 0}, {3, 3, 1, 0}, {3, 4, 1, 0}, {4, 0, 0, 0}, {4, 1, 0, 0}, {4, 2, 0, 0}, {4, 3, 0, 0},
    {4, 4, 0, 0}, {4, 0, 1, 0}, {4, 1, 1, 0}, {4, 2, 1, 0}, {4, 3, 1, 0}, {4, 4, 1, 0}, {4, 0, 1, 0}, {4, 1, 1, 0},
    {4, 2, 1, 0}, {4, 3, 1, 0}, {4, 4, 1, 0}, {4, 0, 1, 0}, {4, 1, 1, 0}, {4, 2, 1, 0}, {4, 3, 1, 0}, {4, 4, 1, 0},
    {4, 0, 1, 0}, {4, 1, 1, 0}, {4, 2, 1, 0}, {4, 3, 1, 0}, {4, 4, 1, 0},
};

// ---- sizes ------------------------------------------------------------------------------------------------------------
constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 64, STAGES = 5, CLUSTER = 1, GROUP = 8;
constexpr int SLICES = 2; // a tile is written consumer by consumer
constexpr int A_BYTES = TILE_M * TILE_K * 2, B_BYTES = TILE_N * TILE_K * 2; // one ring slot
[[maybe_unused]] constexpr int BOX_BYTES = 8192, BOX_COLUMNS = 64, BOX_ROWS = 64; // a box: rows of 128 bytes in the 128-byte swizzle
constexpr int BOXES = 2, ROUNDS = 1; // boxes in the staging buffer; times it is filled per consumer
constexpr int REGISTERS = 64; // accumulators per thread

[[maybe_unused]] constexpr int BLOCKS_M = 5, BLOCKS_N = 5, BLOCKS = BLOCKS_M * BLOCKS_N; // output blocks

struct Problem {
    int m, n;                               // extents of the output
    int block_m, block_n, block_k, k_tiles; // extents of a block; k-blocks of TILE_K per product
    int tiles_m, tiles_n, tiles;            // cluster tiles of a block in rows and columns; of the whole batch
    int x_batched, y_batched;
};

// ---- who does what ----------------------------------------------------------------------------------------------------
// Cluster c of G does tiles c, c + G, ... whole. The last wave is seldom full; where that pays, it is cut: the chains of its
// tiles are cut along K into items of about equal length, which are dealt to all clusters in turn. All writes of items are
// adds, onto outputs that were cleared before. So that results do not depend on who is faster, the adds to one place come in
// the order of items: a ticket per output tile counts them. An item waits only for items with a lower number, and the cut
// wave is shared by clusters that had started by then, so nobody waits for a CTA that is not there.
struct Chain { u16 first_step, steps; };
__constant__ Chain chains[125] = { // longest first
    {0, 1},
    {1, 1},
    {2, 1},
    {3, 1},
    {4, 1},
    {5, 1},
    {6, 1},
    {7, 1},
    {8, 1},
    {9, 1},
    {10, 1},
    {11, 1},
    {12, 1},
    {13, 1},
    {14, 1},
    {15, 1},
    {16, 1},
    {17, 1},
    {18, 1},
    {19, 1},
    {20, 1},
    {21, 1},
    {22, 1},
    {23, 1},
    {24, 1},
    {25, 1},
    {26, 1},
    {27, 1},
    {28, 1},
    {29, 1},
    {30, 1},
    {31, 1},
    {32, 1},
    {33, 1},
    {34, 1},
    {35, 1},
    {36, 1},
    {37, 1},
    {38, 1},
    {39, 1},
    {40, 1},
    {41, 1},
    {42, 1},
    {43, 1},
    {44, 1},
    {45, 1},
    {46, 1},
    {47, 1},
    {48, 1},
    {49, 1},
    {50, 1},
    {51, 1},
    {52, 1},
    {53, 1},
    {54, 1},
    {55, 1},
    {56, 1},
    {57, 1},
    {58, 1},
    {59, 1},
    {60, 1},
    {61, 1},
    {62, 1},
    {63, 1},
    {64, 1},
    {65, 1},
    {66, 1},
    {67, 1},
    {68, 1},
    {69, 1},
    {70, 1},
    {71, 1},
    {72, 1},
    {73, 1},
    {74, 1},
    {75, 1},
    {76, 1},
    {77, 1},
    {78, 1},
    {79, 1},
    {80, 1},
    {81, 1},
    {82, 1},
    {83, 1},
    {84, 1},
    {85, 1},
    {86, 1},
    {87, 1},
    {88, 1},
    {89, 1},
    {90, 1},
    {91, 1},
    {92, 1},
    {93, 1},
    {94, 1},
    {95, 1},
    {96, 1},
    {97, 1},
    {98, 1},
    {99, 1},
    {100, 1},
    {101, 1},
    {102, 1},
    {103, 1},
    {104, 1},
    {105, 1},
    {106, 1},
    {107, 1},
    {108, 1},
    {109, 1},
    {110, 1},
    {111, 1},
    {112, 1},
    {113, 1},
    {114, 1},
    {115, 1},
    {116, 1},
    {117, 1},
    {118, 1},
    {119, 1},
    {120, 1},
    {121, 1},
    {122, 1},
    {123, 1},
    {124, 1},
};
constexpr int CHAINS = 125;
constexpr int MOST_PARTS = 4; // of a chain; each part's writes round the output once more
__constant__ u16 writes_of[CHAINS][BLOCKS] = { // writes of a chain to an output block
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
};
struct Deal {
    int cluster, clusters; // this one, how many there are
    int whole;             // tiles that this cluster does whole
    int first_cut, cut;    // tiles first_cut .. first_cut + cut - 1 are cut
    int unit;              // length of an item, in 24ths of a product (PRODUCT)
    int items;             // of the cut wave
    int mains;             // parts of all chains but the last
    int per_round;         // so many of them, of all cut tiles, go into a round of the clusters; 0: items follow one another
    int id, sharers;       // which of the sharers this cluster is; set when it comes to the cut wave
};
struct Work {
    int row, col, batch;       // where this CTA's tile starts inside each block
    int first_step, last_step;
    int first_k, last_k;       // k-blocks of each product
    bool cut;
    int cut_tile, chain, part; // of the cut wave
    int mains_before, others_before; // parts of this tile with lower numbers: of all chains but the last, and of the last
};

// Cluster tiles are walked in groups of GROUP rows, column by column, so that those in flight form a compact area that shares
// operands in L2.
__device__ __forceinline__ void place(Work &work, const Problem &p, int tile, int rank) {
    const int per_matrix = p.tiles_m * p.tiles_n, in_matrix = tile % per_matrix, per_group = GROUP * p.tiles_n;
    const int group = in_matrix / per_group, in_group = in_matrix - group * per_group;
    const int rows = min(GROUP, p.tiles_m - group * GROUP), col = in_group / rows;
    work.row = ((group * GROUP + in_group - col * rows) * CLUSTER + rank) * TILE_M;
    work.col = col * TILE_N;
    work.batch = tile / per_matrix;
}

constexpr int PRODUCT = 24, LENGTHS = 8; // units of length of a product: 2, 3, 4, 6 and 8 parts are equal
__constant__ u8 item_lengths[LENGTHS] = {96, 48, 24, 12, 8, 6, 4, 3};
__device__ __forceinline__ int parts_of(int chain, int unit) { return (PRODUCT * chains[chain].steps + unit - 1) / unit; }

__device__ __forceinline__ Deal deal_work(const Problem &p, bool may_cut) {
    Deal deal = {(int)blockIdx.x / CLUSTER, (int)gridDim.x / CLUSTER, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const int tail = p.tiles % deal.clusters;
    int best = PRODUCT * STEPS; // what the busiest cluster multiplies in the last wave
    for (int i = 0; may_cut && tail > 0 && i < LENGTHS; i++) {
        const int unit = item_lengths[i];
        int items = 0, longest = 0, most_parts = 0;
        for (int c = 0; c < CHAINS; c++) {
            const int parts = parts_of(c, unit);
            items += parts;
            most_parts = max(most_parts, parts);
            longest = max(longest, (PRODUCT * chains[c].steps + parts - 1) / parts);
        }
        if (most_parts > MOST_PARTS || p.k_tiles < 8 * most_parts) break; // or the parts would be too short for their writes
        const int load = (tail * items + deal.clusters - 1) / deal.clusters * longest;
        // less than 16 k-blocks or a sixteenth of the wave to gain: items wait for one another's adds
        if ((best - load) * p.k_tiles < PRODUCT * 16 || 16 * (best - load) < best) continue;
        best = load;
        deal.unit = unit;
        deal.items = tail * items;
    }
    deal.cut = deal.unit ? tail : 0;
    for (int c = 0; deal.cut && c < CHAINS - 1; c++) deal.mains += parts_of(c, deal.unit);
    if (deal.mains) {
        deal.per_round = deal.clusters / deal.cut;
        // enough of the last chain to fill every round but the last
        const int rounds = (deal.mains + deal.per_round - 1) / deal.per_round, left = deal.clusters - deal.per_round * deal.cut;
        if ((rounds - 1) * left > deal.items - deal.mains * deal.cut) deal.per_round = 0;
    }
    deal.first_cut = p.tiles - deal.cut;
    deal.whole = deal.cluster < deal.first_cut ? (deal.first_cut - deal.cluster + deal.clusters - 1) / deal.clusters : 0;
    return deal;
}
// Which part of which tile an item is. Items that run at the same time and add to the same tile may have to wait for one another:
// parts of one chain hardly, since they come to their adds together, those of two chains for long. So parts of all cut tiles go side
// by side into whole rounds, as many as fit, and what is left of a round takes parts of the last, shortest chain.
__device__ __forceinline__ void locate(Work &work, const Deal &deal, int number) {
    int slot = number / deal.cut, mains = min(slot, deal.mains); // slot: a part, counted over all chains; mains: those before it
    work.cut_tile = number % deal.cut;
    work.others_before = slot - mains;
    if (deal.per_round) {
        const int round = number / deal.clusters, at = number - round * deal.clusters;
        const int first = min(round * deal.per_round, deal.mains), last = min(first + deal.per_round, deal.mains);
        if (at < (last - first) * deal.cut) {
            slot = mains = first + at / deal.cut;
            work.cut_tile = at % deal.cut;
            const int others = round * deal.clusters - first * deal.cut; // of all tiles, in earlier rounds
            work.others_before = others > work.cut_tile ? (others - work.cut_tile + deal.cut - 1) / deal.cut : 0;
        } else {
            const int other = number - last * deal.cut;
            mains = last;
            work.cut_tile = other % deal.cut;
            work.others_before = other / deal.cut;
            slot = deal.mains + work.others_before;
        }
    }
    work.mains_before = mains;
    work.part = slot;
    while (work.part >= parts_of(work.chain, deal.unit)) work.part -= parts_of(work.chain++, deal.unit);
}
// The item-th piece of this cluster's work; false if there is none. From item deal.whole on, id and sharers must be known.
__device__ __forceinline__ bool work_at(Work &work, const Problem &p, const Deal &deal, int item, int rank) {
    work = {0, 0, 0, 0, STEPS, 0, p.k_tiles, false, 0, 0, 0, 0, 0};
    int tile = deal.cluster + item * deal.clusters;
    if (item >= deal.whole) {
        const int number = deal.id + (item - deal.whole) * deal.sharers;
        if (!deal.cut || deal.id >= deal.sharers || number >= deal.items) return false;
        locate(work, deal, number);
        const Chain chain = chains[work.chain];
        const int parts = parts_of(work.chain, deal.unit);
        tile = deal.first_cut + work.cut_tile;
        work.first_step = chain.first_step;
        work.last_step = chain.first_step + chain.steps;
        work.first_k = work.part * p.k_tiles / parts;
        work.last_k = (work.part + 1) * p.k_tiles / parts;
        work.cut = true;
    }
    place(work, p, tile, rank);
    return true;
}
// How many adds to an output block come before those of this item, and how many there are in all.
__device__ __forceinline__ int adds_before(const Deal &deal, const Work &work, int block) {
    int count = work.others_before * writes_of[CHAINS - 1][block], mains = work.mains_before;
    for (int c = 0; c < CHAINS - 1 && mains > 0; c++) {
        const int parts = parts_of(c, deal.unit);
        count += min(mains, parts) * writes_of[c][block];
        mains -= parts;
    }
    return count;
}
__device__ __forceinline__ int adds_in_all(const Deal &deal, int block) {
    int count = 0;
    for (int c = 0; c < CHAINS; c++) count += parts_of(c, deal.unit) * writes_of[c][block];
    return count;
}

// ---- counters in global memory, zero before and after the kernel ------------------------------------------------------
// Whoever is there takes the next piece of clearing (or the next rows of forms), so nobody waits for a CTA that has not
// started. Behind the struct: an enrolment number per cluster, tickets per CTA's output tile of the cut wave (one for each of the
// SLICES in which it is written, so that the slices of several items follow one another closely), and a count of
// finished forms per tile of rows (or, where sums stay with their CTA, of items per cut tile).
struct alignas(64) Sync { u32 claimed, cleared, left, enrolled, taken; };
__device__ __forceinline__ u32 *enrolments(Sync *sync) { return (u32 *)(sync + 1); }
__device__ __forceinline__ u32 *tickets(Sync *sync) { return enrolments(sync) + gridDim.x; }
__device__ __forceinline__ u32 *forms_ready(Sync *sync) { return tickets(sync) + gridDim.x * BLOCKS * SLICES; }

__device__ __forceinline__ u32 count_up(u32 *counter) { return atomicAdd(counter, 1u); }
__device__ __forceinline__ u32 read_acquire(const u32 *counter) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}
__device__ __forceinline__ void add_release(u32 *counter, u32 value) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}
__device__ __forceinline__ void await_value(const u32 *counter, u32 value) {
    while (read_acquire(counter) != value);
}
// Orders what other threads' bulk copies or ordinary writes did before against bulk copies of this thread after it, once
// the two have met at a counter; on either side of it.
__device__ __forceinline__ void proxies_meet() { asm volatile("fence.proxy.async;" ::: "memory"); }

// Every cluster enrols when it starts. The first that comes to the cut wave closes the list: its upper half then holds how
// many there are, plus one. Those who come later have higher numbers and do not share in it. Clusters start within microseconds of
// one another, so it looks a while whether all are there; not for ever, as something else may hold their place.
constexpr int PATIENCE = 64; // looks, of half a microsecond
__device__ __forceinline__ void enrol(Sync *sync, int cluster) {
    add_release(&enrolments(sync)[cluster], (count_up(&sync->enrolled) & 0xffff) + 1);
}
__device__ __forceinline__ void close_list(Sync *sync, Deal &deal) {
    u32 number, list = read_acquire(&sync->enrolled);
    while ((number = read_acquire(&enrolments(sync)[deal.cluster])) == 0);
    list = read_acquire(&sync->enrolled);
    for (int look = 0; look < PATIENCE && (int)list < deal.clusters; look++) list = read_acquire(&sync->enrolled); // closed lists are large numbers
    while (!(list >> 16)) {
        const u32 closed = list | (list + 1) << 16, seen = atomicCAS(&sync->enrolled, list, closed);
        list = seen == list ? closed : seen;
    }
    deal.id = (int)number - 1;
    deal.sharers = (int)(list >> 16) - 1;
}
// Called once by every user of the counters when it is done with them; the last one leaves them as they were. Tickets are
// zero again by themselves.
__device__ __forceinline__ void leave(Sync *sync, u32 users, int first_ready, int last_ready) {
    __threadfence();
    if (count_up(&sync->left) != users - 1) return;
    for (u32 i = 0; i < gridDim.x; i++) enrolments(sync)[i] = 0;
    for (int i = first_ready; i < last_ready; i++) forms_ready(sync)[i] = 0;
    *sync = {};
}

// The writer's warp clears output tiles of the last wave with bulk stores from a box of zeros, before the box is needed.
__device__ __forceinline__ void clear_outputs(const Problem &p, const Deal &deal, int pieces, u32 box, const TensorMap *map_c, Sync *sync) {
    const int lane = threadIdx.x & 31;
    for (int i = lane * 16; i < BOX_BYTES; i += 32 * 16)
        asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(box + i), "r"(0) : "memory");
    shared_writes_to_tma();
    __syncwarp();
    if (lane) return;
    u32 done = 0;
    for (int piece; (piece = (int)count_up(&sync->claimed)) < pieces; done++) {
        const int tile = piece / (CLUSTER * BLOCKS), block = piece / CLUSTER % BLOCKS;
        Work work;
        place(work, p, deal.first_cut + tile, piece % CLUSTER);
        const int x0 = block % BLOCKS_N * p.block_n + work.col, y0 = block / BLOCKS_N * p.block_m + work.row;
        for (int y = y0; y < min(y0 + TILE_M, p.m); y += BOX_ROWS)
            for (int x = x0; x < min(x0 + TILE_N, p.n); x += BOX_COLUMNS) tma_store(map_c, x, y, work.batch, box);
        tma_commit();
    }
    tma_wait_written();
    proxies_meet();
    add_release(&sync->cleared, done);
}

template <typename Action> __device__ __forceinline__ void for_targets(int step, const Action &action) {
    for (int f = steps[step].first_fill; f < steps[step].first_fill + steps[step].fills; f++)
        for (int t = fills[f].first_target; t < fills[f].first_target + fills[f].targets; t++)
            action(targets[t], targets[t].row * BLOCKS_N + targets[t].col);
}

// ---- staging: one box of this warpgroup's accumulators ----------------------------------------------------------------
template <int BOX> __device__ __forceinline__ void stage_box(const float (&acc)[REGISTERS], u32 box, int thread, u32 flip) {
    // stmatrix x4 writes 16 x 16 numbers: lane l points at row l % 16 of this warp's 16 rows, at the 16-byte chunk l / 16.
    const u32 row = (thread >> 5) * 16 + (thread & 15), chunk = (thread >> 4) & 1;
#pragma unroll
    for (int pair = 0; pair < BOX_COLUMNS / 16; pair++) {
        u32 word[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float lo = acc[BOX_COLUMNS / 2 * BOX + 8 * pair + 2 * i], hi = acc[BOX_COLUMNS / 2 * BOX + 8 * pair + 2 * i + 1];
            word[i] = pack_f16(lo, hi) ^ flip;
        }
        stmatrix_x4(box + row * 128 + (((2 * pair + chunk) ^ (row & 7)) << 4), word);
    }
}
// Fills the buffer once: each box as soon as it is granted, then handed to the writer.
template <int ROUND> __device__ __forceinline__ void stage_round(const float (&acc)[REGISTERS], u32 staging, u32 granted, u32 staged, u32 parity, int thread, u32 flip) {
    barrier_wait(granted + 0, parity);
    stage_box<ROUND * BOXES + 0>(acc, staging + 0 * BOX_BYTES, thread, flip);
    shared_writes_to_tma();
    barrier_arrive(staged + 0);
    barrier_wait(granted + 8, parity);
    stage_box<ROUND * BOXES + 1>(acc, staging + 1 * BOX_BYTES, thread, flip);
    shared_writes_to_tma();
    barrier_arrive(staged + 8);
}

// Where a part of a tile begins in a map, and where the matrix ends; added to what is there, or stored.
struct Place { int x, y, z, end_x, end_y; bool add; };
[[maybe_unused]] constexpr int ANYWHERE = 0x7fffffff; // in a memory of whole tiles
__device__ __forceinline__ void send_box(const TensorMap *map, const Place &to, int x, int y, u32 box) {
    if (to.x + x >= to.end_x || to.y + y >= to.end_y) return; // beyond the matrix
    if (to.add) tma_add(map, to.x + x, to.y + y, to.z, box);
    else tma_store(map, to.x + x, to.y + y, to.z, box);
}

// One k-block of an operand. What the CTAs of a cluster share, each brings its part of to all of them.
__device__ __forceinline__ void load_a(u32 ring_a, int slot, const TensorMap *map, int x, int y, int z, u32 full, int rank) {
    tma_load(ring_a + slot * A_BYTES, map, x, y, z, full + 8 * slot);
}
__device__ __forceinline__ void load_b(u32 ring_b, int slot, const TensorMap *map, int x, int y, int z, u32 full, int rank) {
    tma_load(ring_b + slot * B_BYTES, map, x, y, z, full + 8 * slot);
}

// ---- the kernel -------------------------------------------------------------------------------------------------------
extern "C" __global__ void __launch_bounds__(384, 1)
heptane_gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_y, 
    const __grid_constant__ TensorMap map_c, int m, int n, int block_m, int block_n, int block_k, int tiles_m, int tiles_n,
    int batch, int x_batched, int y_batched, int cut_mode, Sync *sync, int y_in_place) {
    const Problem p = {m, n, block_m, block_n, block_k, block_k / TILE_K, tiles_m, tiles_n, tiles_m * tiles_n * batch, x_batched, y_batched};
    extern __shared__ u8 memory[];
    const u32 ring_a = (shared_address(memory) + 1023) & ~1023u, ring_b = ring_a + STAGES * A_BYTES; // the swizzle wants 1024
    const u32 staging = ring_b + STAGES * B_BYTES;
    const u32 full = staging + BOXES * BOX_BYTES, empty = full + 8 * STAGES; // barriers of the ring
    const u32 staged = empty + 8 * STAGES, granted = staged + 8 * BOXES;     // of the boxes; grants to consumer 0, then to 1
    const u32 joined = granted + 16 * BOXES; // the cut wave may begin
    const int role = __shfl_sync(~0u, threadIdx.x >> 7, 0), thread = threadIdx.x & 127;
    constexpr int rank = 0;
    __shared__ Deal deal; // in shared memory, to keep registers free
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(full + 8 * i, 1);
            barrier_init(empty + 8 * i, 2 * CLUSTER); // both consumers of every CTA that this slot's loads reach
        }
        for (int i = 0; i < BOXES; i++) {
            barrier_init(staged + 8 * i, 128);
            barrier_init(granted + 8 * i, 1);
            barrier_init(granted + 8 * (BOXES + i), 1);
        }
        barrier_init(joined, 1);
        barrier_init_publish();
    } else if (threadIdx.x == 32) {
        tma_prefetch(&map_a);
        tma_prefetch(&map_b);
        tma_prefetch(&map_c);
    } else if (threadIdx.x == 64) deal = deal_work(p, cut_mode != 0);
    __syncthreads();
    allow_next_kernel();
    const int pieces = deal.cut * CLUSTER * BLOCKS; // tiles of output to be cleared
    constexpr int first_ready = 0, last_ready = 0;
    const u32 users = gridDim.x * 2; // of the counters: producer and writer

    if (role == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
        await_previous_kernel();
        if (thread == 0) { // ---- producer
            int slot = 0;
            u32 parity = 1; // the ring starts empty
            for (int item = 0;; item++) {
                if (item == deal.whole && pieces) { // the cut wave begins
                    close_list(sync, deal);
                    barrier_arrive(joined);
                }
                Work work;
                if (!work_at(work, p, deal, item, rank)) break;
                const int batch_a = p.x_batched ? work.batch : 0, batch_b = p.y_batched ? work.batch : 0;
                for (int s = work.first_step; s < work.last_step; s++) {
                    const Step &step = steps[s];
                    const TensorMap *from_a = &map_a, *from_b = &map_b;
                    int a_x = 0, a_y = step.x_slot * p.block_m + work.row;
                    int b_x = 0, b_y = step.y_slot * p.block_n + work.col;
                    if (y_in_place && step.y_row != NOT_PLAIN) {
                        from_b = &map_y;
                        b_x = step.y_col * p.block_k;
                        b_y = step.y_row * p.block_n + work.col;
                    }
                    a_x += work.first_k * TILE_K;
                    b_x += work.first_k * TILE_K;
                    for (int k = work.first_k; k < work.last_k; k++, a_x += TILE_K, b_x += TILE_K) {
                        const u32 ready = full + 8 * slot;
                        barrier_wait(empty + 8 * slot, parity);
                        {
                            barrier_expect(ready, A_BYTES + B_BYTES);
                            load_b(ring_b, slot, from_b, b_x, b_y, batch_b, full, rank);
                        }
                        load_a(ring_a, slot, from_a, a_x, a_y, batch_a, full, rank);
                        if (++slot == STAGES) {
                            slot = 0;
                            parity ^= 1;
                        }
                    }
                }
            }
            if (pieces) leave(sync, users, first_ready, last_ready);
        } else if (thread >= 32 && thread < 64) { // ---- writer
            if (pieces) {
                if (thread == 32 && rank == 0) enrol(sync, deal.cluster);
                clear_outputs(p, deal, pieces, staging, &map_c, sync);
            }
            if (thread != 32) goto done;
            u32 parity = 0;
            for (int box = 0; box < BOXES; box++) barrier_arrive(granted + 8 * box); // consumer 0 has the first turn
            for (int item = 0;; item++) {
                if (item == deal.whole && pieces) { // the cut wave begins
                    barrier_wait(joined, 0);
                    await_value(&sync->cleared, pieces);
                    proxies_meet();
                }
                Work work;
                if (!work_at(work, p, deal, item, rank)) break;
                const bool ordered = work.cut && cut_mode == 1;
                u32 *const own_tickets = tickets(sync) + (work.cut_tile * CLUSTER + rank) * (BLOCKS * SLICES);
                for (int s = work.first_step; s < work.last_step; s++) {
                    const int fill_count = steps[s].fills;
                    // A store must be complete, not only read, before something is added to the same block: whatever
                    // earlier steps sent is, after this. It was a product ago, so there is nothing to wait for.
                    if (fill_count) tma_wait_written();
                    for (int consumer = 0; consumer < 2; consumer++) {
                        if (ordered && fill_count) { // everything that comes before this step's adds has been added
                            for_targets(s, [&](const Target &target, int block) {
                                await_value(&own_tickets[SLICES * block + consumer], adds_before(deal, work, block) + target.index);
                            });
                            proxies_meet();
                        }
                        for (int f = 0; f < fill_count; f++) {
                            const Fill &fill = fills[steps[s].first_fill + f];
                            const auto place_of = [&](const Target &target) -> Place {
                                return {target.col * p.block_n + work.col + 0, target.row * p.block_m + work.row + consumer * 64, work.batch, p.n, p.m, target.add || work.cut};
                            };
                            // The first target is looked up before there is something to send to it, so that it goes out at once.
                            const Place first = place_of(targets[fill.first_target]);
                            const int target_count = fill.targets;
                            for (int round = 0; round < ROUNDS; round++) {
                                // boxes go to the other consumer once this one has sent all it has to
                                const bool ends = f + 1 == fill_count && round + 1 == ROUNDS;
                                const u32 next = granted + 8 * BOXES * (ends ? consumer ^ 1 : consumer);
                                const TensorMap *const map = &map_c;
#pragma unroll
                                for (int box = 0; box < BOXES; box++) {
                                    const int x = (round * BOXES + box) * BOX_COLUMNS, y = 0;
                                    barrier_wait(staged + 8 * box, parity);
                                    send_box(map, first, x, y, staging + box * BOX_BYTES);
#pragma unroll 1
                                    for (int t = 1; t < target_count; t++) send_box(map, place_of(targets[fill.first_target + t]), x, y, staging + box * BOX_BYTES);
                                    tma_commit();
                                    if (box) { // each as soon as it has been read
                                        tma_wait_read<1>();
                                        barrier_arrive(next + 8 * (box - 1));
                                    }
                                }
                                parity ^= 1;
                                tma_wait_read<0>();
                                barrier_arrive(next + 8 * (BOXES - 1));
                            }
                        }
                        if (ordered && fill_count) {
                            tma_wait_written();
                            proxies_meet();
                            for_targets(s, [&](const Target &target, int block) {
                                const int count = adds_before(deal, work, block) + target.index + 1;
                                add_release(&own_tickets[SLICES * block + consumer], count == adds_in_all(deal, block) ? (u32)(1 - count) : 1u);
                            });
                        }
                    }
                }
            }
            tma_wait_written();
            if (pieces) leave(sync, users, first_ready, last_ready);
        }
    } else { // ---- consumers
        asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
        const int consumer = role - 1;
        const u32 grant = granted + 8 * BOXES * consumer;
        float acc[REGISTERS];
        int slot = 0;
        u32 parity = 0, grant_parity = 0;
        int item = 0;
        for (;; item++) {
            if (item == deal.whole && pieces) barrier_wait(joined, 0);
            Work work;
            if (!work_at(work, p, deal, item, rank)) break;
            for (int s = work.first_step; s < work.last_step; s++) {
                int keep = !steps[s].fresh;
                for (int k = work.first_k; k < work.last_k; k++) {
                    barrier_wait(full + 8 * slot, parity);
                    const u64 a = operand_descriptor(ring_a + slot * A_BYTES + consumer * (A_BYTES / 2));
                    const u64 b = operand_descriptor(ring_b + slot * B_BYTES);
                    wgmma_fence();
                    wgmma(acc, a, b, keep);
                    wgmma(acc, a + 2, b + 2, 1); // 16 elements along K are 32 bytes
                    wgmma(acc, a + 4, b + 4, 1);
                    wgmma(acc, a + 6, b + 6, 1);
                    wgmma_commit();
                    keep = 1;
                    wgmma_wait(); // the other consumer fills the gap, and the ring slot is free early
                    if (thread < CLUSTER) barrier_arrive(empty + 8 * slot);
                    if (++slot == STAGES) {
                        slot = 0;
                        parity ^= 1;
                    }
                }
                const int fill_count = steps[s].fills;
                if (!fill_count) continue;
                wgmma_finish(acc);
                for (int f = 0; f < fill_count; f++) {
                    const u32 flip = 0;
                    stage_round<0>(acc, staging, grant, staged, grant_parity, thread, flip);
                    grant_parity ^= 1;
                }
            }
        }
    }
done:
    __syncwarp();
}
