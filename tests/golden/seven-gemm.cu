// gemm: Z = X Y from operand forms, by a schedule of 7 products
//
// Made by Heptane 0.1.0 for sm_90a. Scheme seven: 2 x 2 x 2, rank 7
// (identity 0000000000000000000000000000000000000000000000000000000000000000),
// 7 writes in 3 chains.
// Forms f16, accumulation f32, outputs f32. Tile 128 x 256 x 64, 4 stages, clusters of 2, raster groups of 8.
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
//               warps 2, 3: make the forms of X of later rows while the products of earlier rows run.
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
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
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
constexpr int STEPS = 7;
struct Step {
    u16 x_slot, y_slot; // operand forms, as numbered in the forms kernels
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
__constant__ Step steps[STEPS] = {
    {6, 6, 1, 1, 0}, // S = X11 Y12; Z12 = S
    {4, 4, 1, 1, 1}, // S = X12 Y22; Z12 += S
    {0, 0, 0, 1, 2}, // S += (X12 + X21 - X22) (Y11 + Y21 - Y22); Z11 = S
    {1, 1, 0, 1, 3}, // S += (X12 - X22) (-Y11 - Y21); Z21 = S
    {5, 2, 0, 1, 4}, // S += X21 (-Y11 + Y12 - Y21 + Y22); Z22 = S
    {2, 3, 1, 1, 5}, // S = (X21 - X22) (Y21 - Y22); Z21 += -S
    {3, 5, 0, 1, 6}, // S += (-X11 + X12 + X21 - X22) Y11; Z11 += -S
};
__constant__ Fill fills[7] = {
    {0, 1, 0},
    {1, 1, 0},
    {2, 1, 0},
    {3, 1, 0},
    {4, 1, 0},
    {5, 1, 0x80000000},
    {6, 1, 0x80000000},
};
__constant__ Target targets[7] = {
    {0, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}, {1, 0, 1, 0}, {0, 0, 1, 0},
};

// ---- sizes ------------------------------------------------------------------------------------------------------------
constexpr int TILE_M = 128, TILE_N = 256, TILE_K = 64, STAGES = 4, CLUSTER = 2, GROUP = 8;
constexpr int SLICES = 2; // a tile is written consumer by consumer
constexpr int A_BYTES = TILE_M * TILE_K * 2, B_BYTES = TILE_N * TILE_K * 2; // one ring slot
[[maybe_unused]] constexpr int BOX_BYTES = 8192, BOX_COLUMNS = 32, BOX_ROWS = 64; // a box: rows of 128 bytes in the 128-byte swizzle
constexpr int BOXES = 4, ROUNDS = 2; // boxes in the staging buffer; times it is filled per consumer
constexpr int REGISTERS = 128; // accumulators per thread

[[maybe_unused]] constexpr int BLOCKS_M = 2, BLOCKS_N = 2, BLOCKS = BLOCKS_M * BLOCKS_N; // output blocks

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
__constant__ Chain chains[3] = { // longest first
    {1, 4},
    {5, 2},
    {0, 1},
};
constexpr int CHAINS = 3;
constexpr int MOST_PARTS = 8; // of a chain; each part's writes round the output once more
__constant__ u16 writes_of[CHAINS][BLOCKS] = { // writes of a chain to an output block
    {1, 1, 1, 1},
    {1, 0, 1, 0},
    {0, 1, 0, 0},
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

struct alignas(16) Chunk { u32 word[4]; }; // 8 elements
struct Values { float of[8]; };

struct Source { // the operand as the caller stores it
    const u16 *base;
    i64 ld;
    int rows, k;
};

// 8 elements along the contiguous dimension, zero where there is no matrix.
__device__ __forceinline__ Chunk load(const Source &source, int row, int k) {
    Chunk chunk = {};
    if (k + 8 <= source.k && row < source.rows) chunk = *(const Chunk *)(source.base + (i64)row * source.ld + k);
    return chunk;
}
// The part inside the matrix of a chunk that its edge cuts; other chunks stay as they are.
__device__ __forceinline__ void load_edge(Chunk &chunk, const Source &source, int row, int k) {
    const int inside = source.k - k;
    if (inside <= 0 || inside >= 8 || row >= source.rows) return;
    const u16 *from = source.base + (i64)row * source.ld + k;
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < inside) chunk.word[i / 2] |= (u32)from[i] << (16 * (i & 1));
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
__device__ __forceinline__ void load_edges(Blocks &blocks, const Source &source, int row, int k, int block_rows, int block_k) {
    load_edge(blocks.of[0], source, 0 * block_rows + row, 0 * block_k + k);
    load_edge(blocks.of[1], source, 0 * block_rows + row, 1 * block_k + k);
    load_edge(blocks.of[2], source, 1 * block_rows + row, 0 * block_k + k);
    load_edge(blocks.of[3], source, 1 * block_rows + row, 1 * block_k + k);
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

// Forms of the rows from first_row of every block on are made here, the others by a kernel before this one. A warp takes the
// next PIECE rows; ready[i] counts the pieces of TILE_M rows that are done.
constexpr int PIECE = 4, READY = TILE_M / PIECE, IN_FLIGHT = 3; // chunks that a lane loads at a time
constexpr int WIDTH = 8; // elements of a chunk
struct Beside {
    Source source;
    u16 *forms;
    int first_row, block_rows, block_k, form_count;
};
__device__ __forceinline__ void make_forms_beside(const Beside &b, Sync *sync) {
    const int lane = threadIdx.x & 31, chunks = b.block_k / WIDTH;
    const int cut = b.source.k % WIDTH ? b.source.k % b.block_k / WIDTH : -1; // the chunk of a block that the matrix's edge cuts
    const i64 form_size = (i64)b.block_rows * b.block_k;
    for (;;) {
        int row0 = 0;
        if (lane == 0) row0 = b.first_row + (int)count_up(&sync->taken) * PIECE;
        row0 = __shfl_sync(~0u, row0, 0);
        if (row0 >= b.block_rows) return;
        for (int i = lane; i < PIECE * chunks; i += 32 * IN_FLIGHT) {
            Blocks blocks[IN_FLIGHT];
#pragma unroll
            for (int j = 0; j < IN_FLIGHT; j++)
                if (i + 32 * j < PIECE * chunks)
                    load_blocks(blocks[j], b.source, row0 + (i + 32 * j) / chunks, (i + 32 * j) % chunks * WIDTH, b.block_rows, b.block_k);
#pragma unroll
            for (int j = 0; j < IN_FLIGHT; j++)
                if ((i + 32 * j) % chunks == cut && i + 32 * j < PIECE * chunks)
                    load_edges(blocks[j], b.source, row0 + (i + 32 * j) / chunks, cut * WIDTH, b.block_rows, b.block_k);
#pragma unroll
            for (int j = 0; j < IN_FLIGHT; j++)
                if (i + 32 * j < PIECE * chunks)
                    write_forms(blocks[j], b.forms + (i64)row0 * b.block_k + (i64)(i + 32 * j) * WIDTH, form_size, b.form_count);
        }
        __threadfence(); // ordinary writes become visible to the copy engine of any multiprocessor
        proxies_meet();
        __syncwarp();
        if (lane == 0) add_release(&forms_ready(sync)[row0 / TILE_M], 1);
    }
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
    // Fragments hold pairs of columns; rows r and r + 8 are in the same phase of the swizzle.
    const u32 row = (thread >> 5) * 16 + ((thread & 31) >> 2), half = (thread >> 1) & 1;
#pragma unroll
    for (int group = 0; group < 4; group++)
#pragma unroll
        for (int lower = 0; lower < 2; lower++) {
            const int i = 16 * BOX + 4 * group + 2 * lower;
            const u32 to = box + row * 128 + lower * 1024 + (((2 * group + half) ^ (row & 7)) << 4) + (thread & 1) * 8;
            asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(__float_as_uint(acc[i]) ^ flip), "r"(__float_as_uint(acc[i + 1]) ^ flip) : "memory");
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
heptane_gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, 
    const __grid_constant__ TensorMap map_c, int m, int n, int block_m, int block_n, int block_k, int tiles_m, int tiles_n,
    int batch, int x_batched, int y_batched, int cut_mode, Sync *sync, const u16 *matrix_x, u16 *forms_x, i64 ld_x, int k_extent, int form_count, int beside_row, int early) {
    const Problem p = {m, n, block_m, block_n, block_k, block_k / TILE_K, tiles_m, tiles_n, tiles_m * tiles_n * batch, x_batched, y_batched};
    extern __shared__ u8 memory[];
    const u32 ring_a = (shared_address(memory) + 1023) & ~1023u, ring_b = ring_a + STAGES * A_BYTES; // the swizzle wants 1024
    const u32 staging = ring_b + STAGES * B_BYTES;
    const u32 full = staging + BOXES * BOX_BYTES, empty = full + 8 * STAGES; // barriers of the ring
    const u32 staged = empty + 8 * STAGES, granted = staged + 8 * BOXES;     // of the boxes; grants to consumer 0, then to 1
    const u32 joined = granted + 16 * BOXES; // the cut wave may begin
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
        barrier_init(joined, 1);
        barrier_init_publish();
    } else if (threadIdx.x == 32) {
        tma_prefetch(&map_a);
        tma_prefetch(&map_b);
        tma_prefetch(&map_c);
    } else if (threadIdx.x == 64) deal = deal_work(p, cut_mode != 0);
    cluster_sync();
    allow_next_kernel();
    const int pieces = deal.cut * CLUSTER * BLOCKS; // tiles of output to be cleared
    const bool makes_forms = beside_row < block_m;
    const int first_ready = beside_row / TILE_M, last_ready = block_m / TILE_M;
    const u32 users = gridDim.x * ((pieces ? 1 : 0) + 1 + (makes_forms ? 2 : 0)); // of the counters: producer, writer, forms

    if (role == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 120;");
        // early: the kernel before this one makes forms of X and nothing else that is used here; whatever came before it is
        // done. Then only the first computed form of X has to wait, and products of plain blocks come first.
        if (!early) await_previous_kernel();
        if (thread == 0) { // ---- producer
            int slot = 0;
            u32 parity = 1; // the ring starts empty
            int ready_row = -1; // rows of this tile row are known to be ready
            bool waits = early != 0;
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
                    int b_x = 0, b_y = step.y_slot * p.block_n + work.col + rank * (TILE_N / CLUSTER);
                    if (waits && from_a == &map_a) {
                        await_previous_kernel();
                        waits = false;
                    }
                    if (makes_forms && from_a == &map_a && work.row >= beside_row && work.row != ready_row) {
                        await_value(&forms_ready(sync)[work.row / TILE_M], READY);
                        proxies_meet();
                        ready_row = work.row;
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
            if (pieces || makes_forms) leave(sync, users, first_ready, last_ready);
        } else if (thread >= 64 && makes_forms) { // ---- forms of later rows
            make_forms_beside({{matrix_x, ld_x, m, k_extent}, forms_x, beside_row, block_m, block_k, form_count}, sync);
            if ((thread & 31) == 0) leave(sync, users, first_ready, last_ready);
        }
    } else { // ---- consumers
        asm volatile("setmaxnreg.inc.sync.aligned.u32 192;");
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
                    if (thread < CLUSTER) barrier_arrive_at(empty + 8 * slot, thread);
                    if (++slot == STAGES) {
                        slot = 0;
                        parity ^= 1;
                    }
                }
                const int fill_count = steps[s].fills;
                if (!fill_count) continue;
                wgmma_finish(acc);
                for (int f = 0; f < fill_count; f++) {
                    const u32 flip = fills[steps[s].first_fill + f].flip;
                    stage_round<0>(acc, staging, grant, staged, grant_parity, thread, flip);
                    grant_parity ^= 1;
                    stage_round<1>(acc, staging, grant, staged, grant_parity, thread, flip);
                    grant_parity ^= 1;
                }
            }
        }
    }
done:
    __syncwarp();
    cluster_sync(); // nobody leaves while a neighbour may still signal it
}
