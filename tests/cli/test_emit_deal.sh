#!/usr/bin/env bash
# Who does what in the product's kernel: the emitted functions that share tiles, chains and parts of chains out over clusters,
# compiled for the CPU. Every k-block of every product of every tile must be done exactly once, in every mode, and the busiest
# cluster must not get more than without cutting.
set -u
command -v g++ >/dev/null || { echo "skipped: no g++"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$HEPTANE" emit seven-write -o "$out/op" >/dev/null || exit 1
{
  cat <<'C'
#include <algorithm>
#include <cstdio>
#include <vector>
using std::max;
using std::min;
typedef unsigned short u16;
typedef unsigned u32;
#define __device__
#define __forceinline__ inline
#define __constant__ static const
#define __shared__ static
struct Index { int x; };
static Index blockIdx, gridDim, threadIdx, blockDim;
static int turn; // deal_work runs once per "thread"; the last one, number 0, sees what all have found
static void __syncthreads() {}
static void atomicMax(u32 *p, u32 v) { *p = max(*p, v); }
C
  grep '^constexpr int STEPS' "$out/op/gemm/kernel.cu"
  sed -n '/^constexpr int TILE_M/,/^\/\/ Counters in global memory/p' "$out/op/gemm/kernel.cu"
  cat <<'C'
int main() {
    long bad = 0, cases = 0, cuts = 0;
    for (int clusters : {1, 2, 5, 33, 66})
        for (int tiles_m = 1; tiles_m < 18; tiles_m++)
            for (int tiles_n : {1, 3, 10})
                for (int batch : {1, 2})
                    for (int mode = 0; mode < 3; mode++, cases++) {
                        Problem p = {};
                        p.tiles_m = tiles_m, p.tiles_n = tiles_n, p.tiles = tiles_m * tiles_n * batch, p.k_tiles = 32;
                        std::vector<int> done(p.tiles * STEPS * p.k_tiles);
                        int busiest = 0;
                        for (int cta = 0; cta < clusters * CLUSTER; cta++) {
                            Deal deal;
                            gridDim.x = clusters * CLUSTER, blockIdx.x = cta, blockDim.x = 128;
                            for (turn = 127; turn >= 0; turn--) {
                                threadIdx.x = turn;
                                deal_work(deal, p, mode);
                            }
                            int load = 0;
                            for (int item = 0; item < deal.items; item++) {
                                const Work w = work_at(p, deal, item, cta % CLUSTER);
                                const int row = w.row / TILE_M / CLUSTER, col = w.col / TILE_N;
                                if (w.row / TILE_M % CLUSTER != cta % CLUSTER || row >= tiles_m || col >= tiles_n || w.batch >= batch) bad++;
                                else if (cta % CLUSTER == 0)
                                    for (int s = w.first_step; s < w.last_step; s++)
                                        for (int k = w.first_k; k < w.last_k; k++, load++)
                                            done[(((w.batch * tiles_m + row) * tiles_n + col) * STEPS + s) * p.k_tiles + k]++;
                            }
                            busiest = max(busiest, load);
                            cuts += deal.cut > 0 && cta == 0;
                            if (mode == 0 && deal.cut) bad++;
                        }
                        for (int times : done) bad += times != 1;
                        if (busiest > (p.tiles + clusters - 1) / clusters * STEPS * p.k_tiles) bad++;
                    }
    printf("%ld cases, %ld cut, %ld wrong\n", cases, cuts, bad);
    return bad != 0 || cuts == 0;
}
C
} >"$out/deal.cpp"
# the clearing of the counters belongs to all threads at once
sed -i 's/if (threadIdx.x < 3) longest\[threadIdx.x\] = 0;/if (turn == 127) longest[0] = longest[1] = longest[2] = 0;/' "$out/deal.cpp"
g++ -O2 -std=c++17 -o "$out/deal" "$out/deal.cpp" || exit 1
"$out/deal"
