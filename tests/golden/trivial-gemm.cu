// gemm: Z = X Y from operand forms, by a schedule of 1 products
//
// Made by Heptane 0.1.0 for sm_90a. Scheme trivial: 1 x 1 x 1, rank 1
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 1 writes in 1 chains.
// Forms f16, accumulation f32, outputs f16. Tile 128 x 256 x 64, 4 stages, clusters of 2, raster groups of 8.
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
// Warpgroups 1, 2: the consumers, 64 x 256 accumulators each.
// The staging buffer holds 4 boxes of 64 rows, which the writer grants to the consumers in turn, box by box. Taking turns
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
// Names the accumulators, so that the compiler moves none of them between this and the next instruction.
__device__ __forceinline__ void wgmma_fence(float (&acc)[128]) {
    asm volatile("wgmma.fence.sync.aligned;"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]),
                   "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]),
                   "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]),
                   "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
                   "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]),
                   "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]),
                   "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
                   "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63]),
                   "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]), "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]),
                   "+f"(acc[72]), "+f"(acc[73]), "+f"(acc[74]), "+f"(acc[75]), "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]),
                   "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), "+f"(acc[84]), "+f"(acc[85]), "+f"(acc[86]), "+f"(acc[87]),
                   "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]), "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95]),
                   "+f"(acc[96]), "+f"(acc[97]), "+f"(acc[98]), "+f"(acc[99]), "+f"(acc[100]), "+f"(acc[101]), "+f"(acc[102]), "+f"(acc[103]),
                   "+f"(acc[104]), "+f"(acc[105]), "+f"(acc[106]), "+f"(acc[107]), "+f"(acc[108]), "+f"(acc[109]), "+f"(acc[110]), "+f"(acc[111]),
                   "+f"(acc[112]), "+f"(acc[113]), "+f"(acc[114]), "+f"(acc[115]), "+f"(acc[116]), "+f"(acc[117]), "+f"(acc[118]), "+f"(acc[119]),
                   "+f"(acc[120]), "+f"(acc[121]), "+f"(acc[122]), "+f"(acc[123]), "+f"(acc[124]), "+f"(acc[125]), "+f"(acc[126]), "+f"(acc[127])
                 ::"memory");
}
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
// acc = a b + (keep ? acc : 0) for 64 x 256 x 16. With keep = 0 a chain starts without clearing registers.
__device__ __forceinline__ void wgmma(float (&acc)[128], u64 a, u64 b, int keep) {
    asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
                 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
                 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
                 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
                 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
                 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
                 "}, %128, %129, keep, 1, 1, 0, 0;\n}"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]),
                   "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]),
                   "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]),
                   "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
                   "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]),
                   "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]),
                   "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
                   "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63]),
                   "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]), "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]),
                   "+f"(acc[72]), "+f"(acc[73]), "+f"(acc[74]), "+f"(acc[75]), "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]),
                   "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), "+f"(acc[84]), "+f"(acc[85]), "+f"(acc[86]), "+f"(acc[87]),
                   "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]), "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95]),
                   "+f"(acc[96]), "+f"(acc[97]), "+f"(acc[98]), "+f"(acc[99]), "+f"(acc[100]), "+f"(acc[101]), "+f"(acc[102]), "+f"(acc[103]),
                   "+f"(acc[104]), "+f"(acc[105]), "+f"(acc[106]), "+f"(acc[107]), "+f"(acc[108]), "+f"(acc[109]), "+f"(acc[110]), "+f"(acc[111]),
                   "+f"(acc[112]), "+f"(acc[113]), "+f"(acc[114]), "+f"(acc[115]), "+f"(acc[116]), "+f"(acc[117]), "+f"(acc[118]), "+f"(acc[119]),
                   "+f"(acc[120]), "+f"(acc[121]), "+f"(acc[122]), "+f"(acc[123]), "+f"(acc[124]), "+f"(acc[125]), "+f"(acc[126]), "+f"(acc[127])
                 : "l"(a), "l"(b), "r"(keep));
}
// Waits too, and names the accumulators, so that the compiler does not read them earlier.
__device__ __forceinline__ void wgmma_finish(float (&acc)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]),
                   "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]),
                   "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]),
                   "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
                   "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]),
                   "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]),
                   "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
                   "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63]),
                   "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]), "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]),
                   "+f"(acc[72]), "+f"(acc[73]), "+f"(acc[74]), "+f"(acc[75]), "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]),
                   "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), "+f"(acc[84]), "+f"(acc[85]), "+f"(acc[86]), "+f"(acc[87]),
                   "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]), "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95]),
                   "+f"(acc[96]), "+f"(acc[97]), "+f"(acc[98]), "+f"(acc[99]), "+f"(acc[100]), "+f"(acc[101]), "+f"(acc[102]), "+f"(acc[103]),
                   "+f"(acc[104]), "+f"(acc[105]), "+f"(acc[106]), "+f"(acc[107]), "+f"(acc[108]), "+f"(acc[109]), "+f"(acc[110]), "+f"(acc[111]),
                   "+f"(acc[112]), "+f"(acc[113]), "+f"(acc[114]), "+f"(acc[115]), "+f"(acc[116]), "+f"(acc[117]), "+f"(acc[118]), "+f"(acc[119]),
                   "+f"(acc[120]), "+f"(acc[121]), "+f"(acc[122]), "+f"(acc[123]), "+f"(acc[124]), "+f"(acc[125]), "+f"(acc[126]), "+f"(acc[127])
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
constexpr int STEPS = 1;
struct Step {
    u16 x_slot, y_slot; // operand forms, as numbered in the forms kernels
    u16 x_row, x_col;   // the block of X that this form is, or NOT_PLAIN
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
    {0, 0, 0, 0, 0, 0, 1, 1, 0}, // S = X11 Y11; Z11 = S
};
__constant__ Fill fills[1] = {
    {0, 1, 0},
};
__constant__ Target targets[1] = {
    {0, 0, 0, 0},
};

// ---- sizes ------------------------------------------------------------------------------------------------------------
constexpr int TILE_M = 128, TILE_N = 256, TILE_K = 64, STAGES = 4, CLUSTER = 2, GROUP = 8;
constexpr int A_BYTES = TILE_M * TILE_K * 2, B_BYTES = TILE_N * TILE_K * 2; // one ring slot
[[maybe_unused]] constexpr int BOX_BYTES = 8192, BOX_COLUMNS = 64, BOX_ROWS = 64; // a box: rows of 128 bytes in the 128-byte swizzle
constexpr int BOXES = 4, ROUNDS = 1; // boxes in the staging buffer; times it is filled per consumer
constexpr int REGISTERS = 128; // accumulators per thread

[[maybe_unused]] constexpr int BLOCKS_M = 1, BLOCKS_N = 1, BLOCKS = BLOCKS_M * BLOCKS_N; // output blocks

struct Problem {
    int m, n;                               // extents of the output
    int block_m, block_n, block_k, k_tiles; // extents of a block; k-blocks of TILE_K per product
    int tiles_m, tiles_n, tiles;            // cluster tiles of a block in rows and columns; of the whole batch
    int x_batched, y_batched;
};

// ---- who does what ----------------------------------------------------------------------------------------------------
// Cluster c of G does tiles c, c + G, ... whole. What is left is seldom a full wave. Where that pays, the last tiles are laid end
// to end along K and cut into runs of equal length, one for each cluster: everybody is done at the same time. A tile that several
// clusters multiply is put together by the one that finishes last, see below; nobody waits for anybody.
// A row of tiles of the raster, whose tiles share columns of Y, stays together: its R tiles lie side by side, not end to end, and R
// clusters do the same run, each for one of them. So the columns are read from memory once.
constexpr int LEAST_RUN = 8;                            // k-blocks
constexpr int WORTH = 8 + TILE_M * TILE_N / 2048;       // k-blocks that must be saved: what putting together costs
constexpr int MOST_SHARERS = TILE_M * TILE_N >= 32768 ? 4 : TILE_M * TILE_N >= 16384 ? 8 : 16; // of a tile, each with all its accumulators
struct Deal {
    int cluster, clusters;    // this one, how many there are
    int whole;                // tiles that this cluster does whole
    int first_cut, cut;       // tiles first_cut .. first_cut + cut - 1 are shared
    int abreast;              // R
    int runs, run;            // how many runs there are, this cluster's
    int first, last;          // where it begins and ends, in k-blocks of the tiles that lie end to end
    int first_sharer[2], last_sharer[2]; // the runs that share its first and its last tile, see shared_tile
};
struct Work {
    int row, col, batch;      // where this CTA's tile starts inside each block
    int first_step, last_step;
    int first_k, last_k;      // k-blocks of each product
    bool cut;                 // others have the rest of this tile
    int cut_tile;
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

// Runs are equally long, but for a k-block. One that would begin just beside a tile's edge begins there.
constexpr int BESIDE = LEAST_RUN / 2;
struct Runs { int length, longer; }; // the first `longer` of them have a k-block more
__device__ __forceinline__ int run_begin(const Problem &p, Runs runs, int run) {
    const int at = run * runs.length + min(run, runs.longer), in_tile = at % p.k_tiles;
    if (in_tile < BESIDE) return at - in_tile;
    return p.k_tiles - in_tile < BESIDE ? at + p.k_tiles - in_tile : at;
}
// Which run would hold this k-block if none was moved to an edge.
__device__ __forceinline__ int run_of(Runs runs, int at) {
    const int longer = runs.longer * (runs.length + 1);
    return at < longer ? at / (runs.length + 1) : runs.longer + (at - longer) / runs.length;
}
// The cluster that does a run of the tiles in this cluster's row.
__device__ __forceinline__ int cluster_of(const Deal &deal, int run) { return run * deal.abreast + deal.cluster % deal.abreast; }

__device__ __forceinline__ Deal deal_work(const Problem &p, bool may_cut) {
    Deal deal = {(int)blockIdx.x / CLUSTER, (int)gridDim.x / CLUSTER, 0, 0, 0, 1, 0, 0, 0, 0, {0, 0}, {0, 0}};
    const int tail = p.tiles % deal.clusters;
    int end_to_end = 0; // tiles
    if (may_cut && tail) {
        deal.abreast = min(min(GROUP, p.tiles_m), deal.clusters);
        int waves = p.tiles / deal.clusters; // of whole tiles
        if (waves && tail * 2 < deal.clusters) waves--;            // few tiles would have three sharers and more each; so tiles have two
        while (waves * deal.clusters % deal.abreast) waves--;      // rows stay together
        deal.cut = p.tiles - waves * deal.clusters;
        end_to_end = (deal.cut + deal.abreast - 1) / deal.abreast;
        deal.runs = min(min(deal.clusters / deal.abreast, end_to_end * MOST_SHARERS), end_to_end * p.k_tiles / LEAST_RUN);
        const int whole = (deal.cut + deal.clusters - 1) / deal.clusters * p.k_tiles; // the longest work if nothing is shared
        if (!deal.runs || whole - (end_to_end * p.k_tiles + deal.runs - 1) / deal.runs < WORTH) deal.cut = deal.runs = 0;
    }
    deal.first_cut = p.tiles - deal.cut;
    deal.whole = deal.cluster < deal.first_cut ? (deal.first_cut - deal.cluster + deal.clusters - 1) / deal.clusters : 0;
    deal.run = deal.cluster / deal.abreast;
    if (deal.run < deal.runs) {
        const int total = end_to_end * p.k_tiles;
        const Runs runs = {total / deal.runs, total % deal.runs};
        deal.first = run_begin(p, runs, deal.run);
        deal.last = run_begin(p, runs, deal.run + 1);
        for (int i = 0; i < 2; i++) {
            const int tile = (i ? deal.last - 1 : deal.first) / p.k_tiles;
            deal.first_sharer[i] = run_of(runs, tile * p.k_tiles + BESIDE - 1);
            deal.last_sharer[i] = max(deal.first_sharer[i], run_of(runs, (tile + 1) * p.k_tiles - BESIDE));
        }
    }
    return deal;
}
// The item-th piece of this cluster's work; false if there is none.
__device__ __forceinline__ bool work_at(Work &work, const Problem &p, const Deal &deal, int item, int rank) {
    work = {0, 0, 0, 0, STEPS, 0, p.k_tiles, false, 0};
    int tile = deal.cluster + item * deal.clusters;
    if (item >= deal.whole) {
        if (deal.first == deal.last) return false;
        const int number = deal.first / p.k_tiles + item - deal.whole, begin = number * p.k_tiles;
        work.cut_tile = number * deal.abreast + deal.cluster % deal.abreast;
        if (begin >= deal.last || work.cut_tile >= deal.cut) return false; // the last row may be short
        tile = deal.first_cut + work.cut_tile;
        work.first_k = max(deal.first - begin, 0);
        work.last_k = min(deal.last - begin, p.k_tiles);
        work.cut = work.last_k - work.first_k < p.k_tiles;
    }
    place(work, p, tile, rank);
    return true;
}
// A run shares at most two tiles with others: 0 is the one that it does not begin, 1 the one that it begins and does not end.
__device__ __forceinline__ int shared_tile(const Work &work) { return work.first_k == 0; }

// ---- counters in global memory, zero before and after the kernel ------------------------------------------------------
// Behind the struct: for each half of a CTA's tile that is shared, how many have left their part of it.
struct alignas(64) Sync { u32 left, taken; };
__device__ __forceinline__ u32 *arrivals(Sync *sync) { return (u32 *)(sync + 1); }

__device__ __forceinline__ u32 read_acquire(const u32 *counter) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}
// Orders what other threads' bulk copies or ordinary writes did before against bulk copies of this thread after it, once
// the two have met at a counter; on either side of it.
__device__ __forceinline__ void proxies_meet() { asm volatile("fence.proxy.async;" ::: "memory"); }


// ---- tiles that several CTAs multiply ---------------------------------------------------------------------------------
// Each of them leaves its accumulators in memory, in L2, and the last to come adds up all of them in the order of k: results are
// the same bit by bit whoever comes last. It goes on as if it had multiplied the whole tile. The two consumers do this each for its
// half, and one multiplies while the other waits for memory.
constexpr int CONSUMER_THREADS = 256;
__device__ __forceinline__ void consumer_sync(int consumer) {
    __syncwarp();
    asm volatile("bar.sync %0, 128;" ::"r"(1 + consumer) : "memory");
}
__device__ __forceinline__ int shared_half(const Work &work, int consumer) { return 2 * shared_tile(work) + consumer; }
// One more has come: how many were there before. What each side wrote before is seen by the other side after.
__device__ __forceinline__ u32 come(u32 *count) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
    return before;
}
// Parts lie by cluster and shared tile; a thread's four accumulators are neighbours, and so are threads.
__device__ __forceinline__ float4 *part(float4 *parts, int cluster, int shared, int rank) {
    return parts + (i64)((2 * cluster + shared) * CLUSTER + rank) * (CONSUMER_THREADS * REGISTERS / 4) + (threadIdx.x - 128);
}
// True for the last to come, whose accumulators are then the tile's. `last_to_come`: [4 shared_half], in shared memory. Everything that
// decides is read from shared memory, so that the compiler sees that all lanes do the same and keeps the product's loop in uniform registers.
__device__ __forceinline__ bool put_together(float (&acc)[REGISTERS], float4 *parts, u32 *arrived, u32 *last_to_come, const Deal &deal, const Work &work, int rank, int consumer) {
    const int shared = shared_tile(work), others = deal.last_sharer[shared] - deal.first_sharer[shared];
    // counted where the cluster is that begins the tile
    u32 *const count = arrived + 2 * (cluster_of(deal, deal.first_sharer[shared]) * CLUSTER + rank) + consumer;
    u32 *const is_last = last_to_come + 4 * shared_half(work, consumer);
    const bool leads = (threadIdx.x & 127) == 0;
    // The sum may start with what is in registers: it is the first part, or there are but two.
    const bool starts = shared == 1 || others == 1;
    if (leads) *is_last = starts && read_acquire(count) == (u32)others;
    consumer_sync(consumer);
    if (!*is_last) {
        float4 *const own = part(parts, deal.cluster, shared, rank);
#pragma unroll
        for (int i = 0; i < REGISTERS / 4; i++)
            own[i * CONSUMER_THREADS] = make_float4(acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3]);
        consumer_sync(consumer);
        if (leads) *is_last = come(count) == (u32)others;
        consumer_sync(consumer);
        if (!*is_last) return false;
    }
    if (leads) *count = 0; // as it was
    if (!starts) {
#pragma unroll
        for (int i = 0; i < REGISTERS; i++) acc[i] = -0.0f; // changes nothing that is added to it
    }
#pragma unroll 1
    for (int run = deal.first_sharer[shared]; run <= deal.last_sharer[shared]; run++) {
        if (starts && run == deal.run) continue;
        const float4 *const from = part(parts, cluster_of(deal, run), run == deal.first_sharer[shared], rank);
#pragma unroll
        for (int i = 0; i < REGISTERS / 4; i++) {
            const float4 v = __ldcg(from + i * CONSUMER_THREADS); // what others wrote lies in L2
            acc[4 * i] += v.x;
            acc[4 * i + 1] += v.y;
            acc[4 * i + 2] += v.z;
            acc[4 * i + 3] += v.w;
        }
    }
    return true;
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
    barrier_wait(granted + 16, parity);
    stage_box<ROUND * BOXES + 2>(acc, staging + 2 * BOX_BYTES, thread, flip);
    shared_writes_to_tma();
    barrier_arrive(staged + 16);
    barrier_wait(granted + 24, parity);
    stage_box<ROUND * BOXES + 3>(acc, staging + 3 * BOX_BYTES, thread, flip);
    shared_writes_to_tma();
    barrier_arrive(staged + 24);
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
    tma_load_multicast(ring_b + slot * B_BYTES + rank * (B_BYTES / CLUSTER), map, x, y, z, full + 8 * slot, (1 << CLUSTER) - 1);
}

// ---- the kernel -------------------------------------------------------------------------------------------------------
extern "C" __global__ void __launch_bounds__(384, 1)
heptane_gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_x, const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_y, 
    const __grid_constant__ TensorMap map_c, int m, int n, int block_m, int block_n, int block_k, int tiles_m, int tiles_n,
    int batch, int x_batched, int y_batched, int cut_mode, Sync *sync, float4 *parts, int x_in_place, int y_in_place) {
    const Problem p = {m, n, block_m, block_n, block_k, block_k / TILE_K, tiles_m, tiles_n, tiles_m * tiles_n * batch, x_batched, y_batched};
    extern __shared__ u8 memory[];
    const u32 ring_a = (shared_address(memory) + 1023) & ~1023u, ring_b = ring_a + STAGES * A_BYTES; // the swizzle wants 1024
    const u32 staging = ring_b + STAGES * B_BYTES;
    const u32 full = staging + BOXES * BOX_BYTES, empty = full + 8 * STAGES; // barriers of the ring
    const u32 staged = empty + 8 * STAGES, granted = staged + 8 * BOXES;     // of the boxes; grants to consumer 0, then to 1
    const u32 decided = granted + 16 * BOXES; // for each half of two shared tiles: whether this CTA is the last to come
    __shared__ alignas(16) u32 last_to_come[16]; // [4 shared_half]; 16 bytes each, as race checkers see them
    const int role = __shfl_sync(~0u, threadIdx.x >> 7, 0), thread = threadIdx.x & 127;
    const int rank = (int)cluster_rank();
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
        for (int i = 0; i < 4; i++) barrier_init(decided + 8 * i, 1);
        barrier_init_publish();
    } else if (threadIdx.x == 32) {
        tma_prefetch(&map_a);
        tma_prefetch(&map_b);
        tma_prefetch(&map_c);
    } else if (threadIdx.x == 64) deal = deal_work(p, cut_mode != 0);
    cluster_sync();
    allow_next_kernel();

    if (role == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
        await_previous_kernel();
        if (thread == 0) { // ---- producer
            int slot = 0;
            u32 parity = 1; // the ring starts empty
            for (int item = 0;; item++) {
                Work work;
                if (!work_at(work, p, deal, item, rank)) break;
                const int batch_a = p.x_batched ? work.batch : 0, batch_b = p.y_batched ? work.batch : 0;
                for (int s = work.first_step; s < work.last_step; s++) {
                    const Step &step = steps[s];
                    const TensorMap *from_a = &map_a, *from_b = &map_b;
                    int a_x = 0, a_y = step.x_slot * p.block_m + work.row;
                    int b_x = 0, b_y = step.y_slot * p.block_n + work.col + rank * (TILE_N / CLUSTER);
                    if (x_in_place && step.x_row != NOT_PLAIN) {
                        from_a = &map_x;
                        a_x = step.x_col * p.block_k;
                        a_y = step.x_row * p.block_m + work.row;
                    }
                    if (y_in_place && step.y_row != NOT_PLAIN) {
                        from_b = &map_y;
                        b_x = step.y_col * p.block_k;
                        b_y = step.y_row * p.block_n + work.col + rank * (TILE_N / CLUSTER);
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
        } else if (thread >= 32 && thread < 64) { // ---- writer
            if (thread != 32) goto done;
            u32 parity = 0;
            for (int box = 0; box < BOXES; box++) barrier_arrive(granted + 8 * box); // consumer 0 has the first turn
            for (int item = 0;; item++) {
                Work work;
                if (!work_at(work, p, deal, item, rank)) break;
                for (int s = work.first_step; s < work.last_step; s++) {
                    const int fill_count = steps[s].fills;
                    // A store must be complete, not only read, before something is added to the same block: whatever
                    // earlier steps sent is, after this. It was a product ago, so there is nothing to wait for.
                    if (fill_count) tma_wait_written();
                    for (int consumer = 0; consumer < 2; consumer++) {
                        if (work.cut) {
                            barrier_wait(decided + 8 * shared_half(work, consumer), 0);
                            if (!last_to_come[4 * shared_half(work, consumer)]) { // it has nothing to send
                                for (int box = 0; box < BOXES; box++) barrier_arrive(granted + 8 * (BOXES * (consumer ^ 1) + box));
                                continue;
                            }
                        }
                        for (int f = 0; f < fill_count; f++) {
                            const Fill &fill = fills[steps[s].first_fill + f];
                            const auto place_of = [&](const Target &target) -> Place {
                                return {target.col * p.block_n + work.col + 0, target.row * p.block_m + work.row + consumer * 64, work.batch, p.n, p.m, target.add};
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
                    }
                }
            }
            tma_wait_written();
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
            Work work;
            if (!work_at(work, p, deal, item, rank)) break;
            for (int s = work.first_step; s < work.last_step; s++) {
                int keep = !steps[s].fresh;
                for (int k = work.first_k; k < work.last_k; k++) {
                    barrier_wait(full + 8 * slot, parity);
                    const u64 a = operand_descriptor(ring_a + slot * A_BYTES + consumer * (A_BYTES / 2));
                    const u64 b = operand_descriptor(ring_b + slot * B_BYTES);
                    wgmma_fence(acc);
                    wgmma(acc, a, b, keep);
                    wgmma(acc, a + 2, b + 2, 1); // 16 elements along K are 32 bytes
                    wgmma(acc, a + 4, b + 4, 1);
                    wgmma(acc, a + 6, b + 6, 1);
                    wgmma_commit();
                    keep = 1;
                    wgmma_wait(); // the other consumer fills the gap, and the ring slot is free early
                    if (thread < CLUSTER) barrier_arrive_at(empty + 8 * slot, thread);
                    if (++slot == STAGES) {
                        slot = 0;
                        parity ^= 1;
                    }
                }
                const int fill_count = steps[s].fills;
                if (!fill_count) continue;
                wgmma_finish(acc);
                if (work.cut) {
                    const bool sends = put_together(acc, parts, arrivals(sync), last_to_come, deal, work, rank, consumer);
                    if (!sends && shared_tile(work) == 0) { // its turn must have come before it is passed on, or a tile that follows would take this turn for its own
                        barrier_wait(grant + 8 * (BOXES - 1), grant_parity);
                        consumer_sync(consumer);
                    }
                    if (thread == 0) barrier_arrive(decided + 8 * shared_half(work, consumer));
                    if (!sends) {
                        grant_parity ^= 1; // its boxes go on to the other consumer
                        continue;
                    }
                }
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
    cluster_sync(); // nobody leaves while a neighbour may still signal it
}
