#!/usr/bin/env bash
# The speed table: cuBLASLt's best heuristic against the trivial scheme and others, N(0,1) data rounded to bf16, f16 forms.
# Usage: tests/bench/speed.sh FOLDER [part]      parts: square layers controls types sums ragged sweep models (default: all); one JSON file each
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for candidate in "${HEPTANE:-}" "$here/../heptane" "$here/../../build/bin/heptane"; do
  if [ -x "$candidate" ]; then heptane=$candidate; break; fi
done
out=${1:?where to write the results}
part=${2:-all}
mkdir -p "$out"
common=(--baseline-type bf16 --load 2.2)
failed=0
bench() { # NAME arguments
  local name=$1
  shift
  echo "== $name"
  "$heptane" bench "${common[@]}" -o "$out/$name.json" "$@" || failed=1
}
want() { [ "$part" = all ] || [ "$part" = "$1" ]; }
want square && bench square seven-write strassen --sizes 4096,8192,16384
want layers && bench layers seven-write --sizes 8192x34816x5120,8192x5120x17408,4096x28672x8192
want controls && bench controls seven-write textbook --unchained --sizes 4096,8192,16384
want types && bench types-bf16 seven-write --sizes 8192 --in-type bf16 --out-type bf16
want types && bench types-f32 seven-write --sizes 8192 --out-type f32
if want sums; then # C in bf16: sums in f16 with a finishing pass, or delivered by the product; in bf16; in f32. C in f16 shows what the pass takes
  both=(seven-write seven-write-accurate --no-control --sizes 4096,8192,16384 --in-type bf16)
  bench sums-finished trivial "${both[@]}"
  bench sums-delivered "${both[@]}" --plan deliver=1
  bench sums-bf16 "${both[@]}" --sums bf16
  bench sums-f32 "${both[@]}" --sums f32
  bench sums-f16-out "${both[@]}" --out-type f16
  bench sums-layers seven-write --sizes 8192x34816x5120,8192x5120x17408 --in-type bf16
fi
want ragged && bench ragged trivial seven-write --no-control --ld-multiple 8 --sizes 8192,8191x8189x8187,8065x8193x8129
want sweep && bench sweep seven-write --fresh --sizes 1024,2048,4096,8192,16384,32768
if want models; then # N, K of current language models, M from a short to a long prefill
  sizes=
  for layer in 34816x5120 5120x17408 28672x4096 4096x14336 57344x8192; do
    for m in 512 2048 8192 32768; do sizes=$sizes,${m}x$layer; done
  done
  bench models seven-write --load 0.5 --alone 0.05 --sizes "${sizes#,}"
fi
exit $failed
