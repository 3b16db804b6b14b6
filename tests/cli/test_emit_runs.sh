#!/usr/bin/env bash
# Who does what in a product's kernel whose scheme has one product: the emitted functions that lay tiles end to end and cut them into
# runs, compiled for the CPU. Every k-block of every tile must be done exactly once; the busiest cluster must not get more than
# without sharing, and about equal parts with it; and all that share a tile must know one another: who they are, in the order of
# k, where each leaves its part, and where they are counted.
set -u
. "$(dirname "$0")/emitted_on_host.sh"
command -v g++ >/dev/null || { echo "skipped: no g++"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for words in "gemm trivial" "gemm trivial --plan tile_n=128,cluster=1,group=3" "gemm trivial --out-type bf16 --plan deliver=1" \
             "mlp trivial" "mlp trivial --plan turned=16,tile_n=128,cluster=1"; do
  # shellcheck disable=SC2086
  "$HEPTANE" emit ${words#* } --op ${words%% *} --target sm_90a -o "$out/op" >/dev/null || exit 1
  {
    emitted_on_host "$out/op/gemm/kernel.cu"
    cat <<'C'
static long bad, shared_tiles;

struct Part { int cluster, shared, first_k, last_k; Deal deal; };

// Everybody who shares a tile has the same list of all who do, in the order of k, and knows the part that each of them writes.
static void check_sharers(const std::vector<Part> &parts, std::set<int> &slots, std::set<int> &counters) {
    for (const Part &own : parts) {
        const int first = own.deal.first_sharer[own.shared], last = own.deal.last_sharer[own.shared];
        if (last - first + 1 != (int)parts.size()) { bad++; continue; }
        for (int run = first; run <= last; run++) {
            const Part &other = parts[run - first];
            bad += cluster_of(own.deal, run) != other.cluster || other.shared != (run == first) || other.deal.run != run;
        }
        bad += !slots.insert(2 * own.cluster + own.shared).second;
        if (&own == &parts[0]) bad += !counters.insert(cluster_of(own.deal, first)).second;
    }
}
static void check(const Problem &p, int clusters, bool may_cut) {
    std::vector<int> done(p.tiles * p.k_tiles);
    std::map<int, std::vector<Part>> parts; // of a tile
    int busiest = 0, idlest = 1 << 30;
    Deal deal;
    for (int cta = 0; cta < clusters * CLUSTER; cta++) {
        gridDim.x = clusters * CLUSTER, blockIdx.x = cta;
        deal = deal_work(p, may_cut);
        int load = 0;
        Work w;
        for (int item = 0; work_at(w, p, deal, item, cta % CLUSTER); item++) {
            const int row = w.row / TILE_M / CLUSTER, col = w.col / TILE_N;
            if (w.row / TILE_M % CLUSTER != cta % CLUSTER || row >= p.tiles_m || col >= p.tiles_n) { bad++; continue; }
            if (cta % CLUSTER) continue;
            const int tile = (w.batch * p.tiles_m + row) * p.tiles_n + col;
            if (w.cut) parts[tile].push_back({deal.cluster, shared_tile(w), w.first_k, w.last_k, deal});
            bad += w.cut != (w.last_k - w.first_k < p.k_tiles) || w.last_k <= w.first_k;
            for (int k = w.first_k; k < w.last_k; k++, load++) done[tile * p.k_tiles + k]++;
        }
        busiest = max(busiest, load);
        if (cta % CLUSTER == 0 && deal.run < deal.runs) idlest = min(idlest, load);
    }
    bad += !may_cut && deal.cut;
    for (int times : done) bad += times != 1;
    const int whole = (p.tiles + clusters - 1) / clusters * p.k_tiles;
    bad += busiest > whole || (deal.cut && busiest > whole - WORTH + LEAST_RUN);
    if (deal.cut && deal.cut % deal.abreast == 0) bad += busiest - idlest > LEAST_RUN + 1;
    std::set<int> slots, counters;
    for (auto &entry : parts) {
        std::sort(entry.second.begin(), entry.second.end(), [](const Part &a, const Part &b) { return a.first_k < b.first_k; });
        check_sharers(entry.second, slots, counters);
        shared_tiles++;
    }
}
int main() {
    long cases = 0;
    for (int clusters : {1, 2, 5, 33, 66, 132})
        for (int tiles_m = 1; tiles_m < 18; tiles_m += tiles_m < 5 ? 1 : 3)
            for (int tiles_n : {1, 3, 10, 136})
                for (int k_tiles : {1, 7, 8, 33, 100, 272}) {
                    Problem p = {};
                    p.tiles_m = tiles_m, p.tiles_n = tiles_n, p.tiles = (clusters == 33 ? 2 : 1) * tiles_m * tiles_n, p.k_tiles = k_tiles;
                    check(p, clusters, true);
                    check(p, clusters, false);
                    cases++;
                }
    printf("%ld cases, %ld shared tiles, %ld wrong\n", cases, shared_tiles, bad);
    return bad != 0 || shared_tiles == 0;
}
C
  } >"$out/runs.cpp"
  g++ -O1 -std=c++17 -o "$out/runs" "$out/runs.cpp" || exit 1
  "$out/runs" || exit 1
done
