#!/usr/bin/env bash
# The MLP block in the emulator against the reference in double: schemes, activations, odd sizes, residual, biases, types.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
{ "$HEPTANE" doctor || true; } | grep -q '^ok *NVRTC' || { echo "skipped: no NVRTC"; exit 77; }
run() { # error limit, then arguments
    local limit=$1
    shift
    local json
    json=$("$HEPTANE" run "$@" --op mlp --backend emulator --json) || fail "$*: $json"
    python3 - "$limit" "$json" <<'PY' || fail "$*"
import json, sys
r = json.loads(sys.argv[2])
assert r["ok"] and r["bad_elements"] == 0 and r["overflow"] == 0 and r["identical"], r
assert r["rel_error"] < float(sys.argv[1]), r
PY
}
run 1.2e-3 seven-write -m 300 --hidden 192 --intermediate 200
run 2e-3 seven-write -m 515 --hidden 200 --intermediate 330 --residual --with activation=geglu,bias=yes
run 6e-4 textbook -m 65 --hidden 128 --intermediate 129 --with activation=relu_squared,sums=f32 --chain none
run 6e-4 trivial -m 1 --hidden 577 --intermediate 321 --with activation=geglu_tanh
run 8e-3 trivial -m 130 --hidden 64 --intermediate 64 --in-type bf16 --forms bf16 --with activation=silu,rounding=twice
# the product by down summed in f16 and then rounded to bf16: in bf16 itself this is 2.6e-3 and 2.1e-3
run 2e-3 seven-write -m 300 --hidden 512 --intermediate 200 --in-type bf16 --out-type bf16
run 2e-3 seven-write -m 300 --hidden 192 --intermediate 200 --in-type bf16 --out-type bf16 --residual --target sm_100a
# several tiles for each CTA: sums of one are read while those of the next arrive
run 2e-3 seven-write -m 700 --hidden 128 --intermediate 700 --plan tile_n=64,cluster=1 --repeat 2
# a last wave that is cut: chains of one tile by several CTAs, the last of which makes the activations
run 2e-3 seven-write -m 1300 --hidden 128 --intermediate 520 --set cut=2
# turned roles for few rows: every width, ragged, sums and outputs of every size, the last wave cut
plan=tile_n=128,cluster=1,stages
for m in 1 2 17; do run 8e-4 trivial -m $m --hidden 136 --intermediate 200 --plan turned=16,$plan=11; done
for m in 63 64 65; do run 8e-4 trivial -m $m --hidden 72 --intermediate 136 --plan turned=64,$plan=8; done
run 8e-4 trivial -m 129 --hidden 72 --intermediate 136 --plan turned=32,$plan=9
run 8e-4 trivial -m 129 --hidden 72 --intermediate 136 --plan turned=96,$plan=6
run 8e-3 trivial -m 100 --hidden 136 --intermediate 130 --plan turned=128,$plan=6 --in-type bf16 --forms bf16 --with sums=bf16
run 5e-4 trivial -m 129 --hidden 136 --intermediate 130 --plan turned=192,$plan=4 --out-type f32 --with sums=f32
run 8e-4 trivial -m 300 --hidden 72 --intermediate 136 --plan turned=256,tile_n=128,cluster=2,stages=4 --with activation=silu,bias=yes
# widths between, odd sizes: tiles one row too few and one too many, boxes of turned results of every height
run 8e-4 trivial -m 47 --hidden 72 --intermediate 136 --plan turned=48,tile_n=128,cluster=1
run 5e-4 trivial -m 113 --hidden 136 --intermediate 130 --plan turned=112,tile_n=128,cluster=2 --out-type f32 --with sums=f32
run 8e-4 trivial -m 175 --hidden 73 --intermediate 201 --plan turned=176,tile_n=128,cluster=2 --residual
run 5e-4 trivial -m 241 --hidden 72 --intermediate 136 --plan turned=240,tile_n=128,cluster=1 --out-type f32 --with sums=f32
run 8e-4 trivial -m 17 --hidden 2052 --intermediate 1100 --plan turned=32,$plan=9 --set cut=1 --repeat 2 --residual
# X normalised before the product, with a residual or rounding=twice: by the product itself, or by a kernel of its own where a row is
# too long or fuse_norm=0; for more than 1024 tokens by the product only where fuse_norm=2. Without a residual X lies in place and its
# rows are normalised after the product
run 8e-4 trivial -m 65 --hidden 5120 --intermediate 72 --with rounding=twice --residual
run 8e-4 trivial -m 2 --hidden 10248 --intermediate 72 --residual
run 8e-4 trivial -m 33 --hidden 520 --intermediate 130 --set fuse_norm=0 --residual
run 8e-4 trivial -m 1100 --hidden 72 --intermediate 72 --set fuse_norm=2 --residual
run 8e-4 trivial -m 1100 --hidden 72 --intermediate 72
# X in place and nothing to normalise; rows that are not aligned are copied
run 8e-4 trivial -m 130 --hidden 136 --intermediate 200 --with norm=none
run 8e-4 trivial -m 47 --hidden 72 --intermediate 136 --with norm=none --plan turned=48,tile_n=128,cluster=1
run 8e-4 trivial -m 33 --hidden 73 --intermediate 130 --with norm=none --plan turned=48,tile_n=128,cluster=1
run 8e-4 trivial -m 33 --hidden 72 --intermediate 136 --with norm=none,bias=yes,activation=silu
run 2e-3 seven-write -m 65 --hidden 300 --intermediate 330 --plan turned=32,tile_n=128,cluster=2,stages=6
message=$("$HEPTANE" emit trivial --op mlp --plan turned=64 -o /dev/null/x 2>&1) && fail "turned roles with tile_n=256 were taken"
[[ $message == *"turned=64 needs tile_n=128"* ]] || fail "$message"
# Blackwell: two accumulators in turn, several tiles for each CTA, the last wave cut
run 1.2e-3 seven-write -m 300 --hidden 192 --intermediate 200 --target sm_100a --with activation=geglu
run 2e-3 seven-write -m 700 --hidden 2304 --intermediate 300 --target sm_100a --set cut=1
# C in bf16 from sums in f16, finished by a pass or delivered by the product: little more than the rounding of C itself, which is 1.66e-3
for target in sm_90a sm_100a; do
    run 1.9e-3 seven-write -m 300 --hidden 192 --intermediate 200 --in-type bf16 --target $target
    run 1.9e-3 seven-write -m 515 --hidden 200 --intermediate 330 --in-type bf16 --target $target --residual
    run 1.9e-3 seven-write -m 515 --hidden 200 --intermediate 330 --in-type bf16 --target $target --residual --plan deliver=1
done
# bench over a driver that multiplies nothing: control flow and fields
export HEPTANE_LIBCUDA=$BINARY/stub/libstub_cuda.so HEPTANE_CUBLASLT=$BINARY/stub/libstub_cublaslt.so
if [ -e "$HEPTANE_LIBCUDA" ]; then
  json=$("$HEPTANE" bench --op mlp seven-write seven-write@tile_n=64,cluster=1 --sizes 40,1 --hidden 128 --intermediate 256 --load 0.01 --alone 0.01 --parts --json)
  python3 - "$json" <<'PY' || fail "bench: $json"
import json, sys
rows = json.loads(sys.argv[1])["rows"]
assert [row["m"] for row in rows] == [40, 40, 1, 1] and [row["plan"] for row in rows[:2]] == ["", "tile_n=64,cluster=1"]
assert all(len(row["samples_ms"]) == len(row["baseline_samples_ms"]) == 24 for row in rows)
assert all(row["op"] == "mlp" and not row["ok"] for row in rows)
assert all(row["ratio"] > 0 and len(row["parts_ms"]) == 3 for row in rows)
PY
fi

if [ -e "$HEPTANE_LIBCUDA" ]; then # what a layer takes: by default turned roles for few tokens
  json=$(HEPTANE_CACHE=off "$HEPTANE" bench --op mlp --chosen --sizes 5,300,3000 --hidden 128 --intermediate 256 --load 0.01 --alone 0 --json)
  python3 - "$json" <<'PY' || fail "bench --chosen: $json"
import json, sys
rows = json.loads(sys.argv[1])["rows"]
assert all(row["chosen"] == "default" for row in rows), rows
assert [row["scheme"] for row in rows] == ["trivial", "trivial", "seven-write"], rows
assert [row["plan"] for row in rows] == ["turned=16,tile_n=128,cluster=1", "turned=160,tile_n=128,cluster=2", ""], rows
PY
fi

# refused, with the reason
message=$("$HEPTANE" bench --op mlp @tile_n=64 2>&1) && fail "a plan without a scheme was taken"
[[ $message == *"SCHEME@NAME=INTEGER"* ]] || fail "$message"
message=$("$HEPTANE" run trivial --op mlp -m 0 --backend emulator 2>&1) && fail "T = 0 was taken"
[[ $message == *"--rows"* || $message == *"-m"* ]] || fail "$message"
message=$("$HEPTANE" run trivial --op mlp -m 1 --with norm=none --residual --backend emulator 2>&1) && fail "a residual was taken where none is added"
[[ $message == *"--residual"* ]] || fail "$message"
echo ok
