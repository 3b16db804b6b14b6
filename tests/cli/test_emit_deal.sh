#!/usr/bin/env bash
# Who does what in the product's kernel: the emitted functions that share tiles and parts of chains out over clusters, compiled
# for the CPU. Every k-block of every product of every tile must be done exactly once, also by those clusters alone that had
# started when the cut wave began; the busiest cluster must not get more than without cutting; and the adds to one place must
# be numbered 0, 1, 2, ... in the order of items (a scheme of one product: test_emit_runs). Where the product delivers C from sums of another type, one write to each block is the last.
set -u
. "$(dirname "$0")/emitted_on_host.sh"
command -v g++ >/dev/null || { echo "skipped: no g++"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for scheme in seven-write strassen "seven-write --out-type bf16 --plan deliver=1" "strassen --chain none --out-type bf16 --plan deliver=1" "seven-write --out-type bf16 --plan deliver=1 --target sm_100a"; do
  # shellcheck disable=SC2086
  "$HEPTANE" emit $scheme -o "$out/op" >/dev/null || exit 1
  delivers=0 turn=turn
  grep -q is_last "$out/op/gemm/kernel.cu" && delivers=1
  grep -q 'u16 turns' "$out/op/gemm/kernel.cu" && turn='turns[turn]'
  {
    emitted_on_host "$out/op/gemm/kernel.cu"
    cat <<'C'
static long bad, cuts;

#if DELIVERS
// In the order in which writes are made: is one said to be the last if and only if no other follows?
struct Writes {
    std::map<int, long> last, count, said; // by tile and block
    void note(const Problem &p, const Work &w, int tile, const Step &step) {
        for (int f = step.first_fill; f < step.first_fill + step.fills; f++)
            for (int t = fills[f].first_target; t < fills[f].first_target + fills[f].targets; t++) {
                const int place = tile * BLOCKS + targets[t].row * BLOCKS_N + targets[t].col;
                const bool earlier = count[place]++ > 0;
                if (!is_last(fills[f], p, w)) continue;
                last[place] = count[place];
                said[place]++;
                bad += fills[f].targets != 1 || (!w.cut && has_earlier(fills[f], w) != earlier);
            }
    }
    void judge() {
        for (const auto &entry : count) bad += said[entry.first] != 1 || last[entry.first] != entry.second;
    }
};
#endif

static void check(const Problem &p, int clusters, int sharers, bool may_cut) {
    std::vector<int> done(p.tiles * STEPS * p.k_tiles);
    std::map<int, Work> items; // of the cut wave, by number
    int busiest = 0;
    Deal deal;
    for (int cta = 0; cta < clusters * CLUSTER; cta++) {
        gridDim.x = clusters * CLUSTER, blockIdx.x = cta;
        deal = deal_work(p, may_cut);
        deal.id = (deal.cluster * 7 + 3) % clusters, deal.sharers = sharers; // enrolled in any order
        if (clusters % 7 == 0) deal.id = deal.cluster;
        int load = 0;
        Work w;
        for (int item = 0; work_at(w, p, deal, item, cta % CLUSTER); item++) {
            const int row = w.row / TILE_M / CLUSTER, col = w.col / TILE_N;
            if (w.row / TILE_M % CLUSTER != cta % CLUSTER || row >= p.tiles_m || col >= p.tiles_n) { bad++; continue; }
            if (cta % CLUSTER) continue;
            if (w.cut) items[deal.id + (item - deal.whole) * sharers] = w;
            for (int s = w.first_step; s < w.last_step; s++)
                for (int k = w.first_k; k < w.last_k; k++, load++)
                    done[(((w.batch * p.tiles_m + row) * p.tiles_n + col) * STEPS + s) * p.k_tiles + k]++;
        }
        busiest = max(busiest, load);
    }
    cuts += deal.cut > 0;
    if (!may_cut && deal.cut) bad++;
    for (int times : done) bad += times != 1;
    if (sharers == clusters && busiest > (p.tiles + clusters - 1) / clusters * STEPS * p.k_tiles) bad++;
    if ((int)items.size() != (deal.cut ? deal.items : 0)) bad++;
    std::map<int, int> adds; // so far, by tile and block
    for (const auto &entry : items) {
        const Work &w = entry.second;
        for (int s = w.first_step; s < w.last_step; s++)
            for (int f = steps[s].first_fill; f < steps[s].first_fill + steps[s].fills; f++)
                for (int t = fills[f].first_target; t < fills[f].first_target + fills[f].targets; t++) {
                    const int block = targets[t].row * BLOCKS_N + targets[t].col;
                    bad += adds_before(deal, w, block) + targets[t].index != adds[w.cut_tile * BLOCKS + block]++;
                }
    }
#if DELIVERS
    Writes whole, cut;
    const Work all = {0, 0, 0, 0, STEPS, 0, p.k_tiles, false, 0, 0, 0, 0, 0};
    for (int turn = 0; turn < STEPS; turn++) whole.note(p, all, 0, steps[TURN]);
    for (const auto &entry : items)
        for (int s = entry.second.first_step; s < entry.second.last_step; s++)
            cut.note(p, entry.second, entry.second.cut_tile, steps[s]);
    whole.judge();
    cut.judge();
#endif
    for (const auto &entry : adds) bad += entry.second != adds_in_all(deal, entry.first % BLOCKS);
}
int main() {
    long cases = 0;
    for (int clusters : {1, 2, 5, 33, 66, 132})
        for (int tiles_m = 1; tiles_m < 18; tiles_m += 2)
            for (int tiles_n : {1, 3, 10})
                for (int k_tiles : {1, 32, 100})
                    for (int late : {0, 1, 3}) {
                        if (late >= clusters) continue;
                        Problem p = {};
                        p.tiles_m = tiles_m, p.tiles_n = tiles_n, p.tiles = 2 * tiles_m * tiles_n, p.k_tiles = k_tiles;
                        check(p, clusters, clusters - late, true);
                        check(p, clusters, clusters, false);
                        cases++;
                    }
    printf("%ld cases, %ld cut, %ld wrong\n", cases, cuts, bad);
    return bad != 0 || cuts == 0;
}
C
  } >"$out/deal.cpp"
  g++ -O1 -std=c++17 -DDELIVERS=$delivers "-DTURN=$turn" -o "$out/deal" "$out/deal.cpp" || exit 1
  "$out/deal" || exit 1
done
