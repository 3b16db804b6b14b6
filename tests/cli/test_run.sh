#!/usr/bin/env bash
# run on the emulator: writes as executed, ragged shapes, layouts, types, batches, scalars; skipped without NVRTC.
set -u
fail() { echo "FAILED: $*" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE_CACHE=$folder/cache
"$HEPTANE" doctor | grep -c '^ok *NVRTC' >/dev/null || { echo "skipped: no NVRTC"; exit 77; }

run() { # WRITES arguments...  WRITES "-": any
  local writes=$1
  shift
  "$HEPTANE" run "$@" --backend emulator --json >"$folder/out" 2>"$folder/err" || fail "$*: $(cat "$folder/err")"
  python3 - "$folder/out" "$writes" <<'PY' || fail "$*: $(cat "$folder/out")"
import json, sys
out = json.load(open(sys.argv[1]))
assert out["ok"] and out["backend"] == "emulator" and out["bad_elements"] == 0
assert 0 < out["rel_error"] <= out["bound"] < 0.02
assert sys.argv[2] == "-" or out["writes_executed"] == float(sys.argv[2]), out["writes_executed"]
PY
}
launches() { python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["launches"] == int(sys.argv[2])' "$folder/out" "$1" || fail "launches: $(cat "$folder/out")"; }
accurate() { # LIMIT WRITES arguments...  as run, in bf16, and no further from the truth than LIMIT times an ordinary product's bf16 (1.66e-3)
  local limit=$1
  shift
  run "$@" --in-type bf16
  python3 - "$folder/out" "$limit" <<'PY' || fail "$*: not accurate: $(cat "$folder/out")"
import json, sys
assert json.load(open(sys.argv[1]))["rel_error"] <= float(sys.argv[2]) * 1.66e-3
PY
}
finished() { accurate 1.06 "$@"; } # sums rounded to f16, then to C, never from halfway
delivered() { # sums and the last part rounded once, to C
  local plan=deliver=1
  [ "$1" = --more-plan ] && plan=$plan,$2 && shift 2
  accurate 1.05 "$@" --plan "$plan"
}
for target in sm_90a sm_100a; do
  # the paper's figures, counted from the bytes that landed
  run 7 seven-write --target $target -m 512 -n 512 -k 256
  run 14 seven-write --target $target -m 512 -n 512 -k 256 --chain none
  run 10 strassen --target $target -m 512 -n 512 -k 256
  run 12 strassen --target $target -m 512 -n 512 -k 256 --chain none
  run 4 textbook --target $target -m 512 -n 512 -k 256
  run 1 trivial --target $target -m 256 -n 256 -k 128
  run - strassen --target $target -m 1 -n 1 -k 1
  run - seven-write --target $target -m 129 -n 65 -k 71 --repeat 2
  # sums in f16, each block of C written once, by a pass of its own
  finished 4 seven-write --target $target -m 512 -n 512 -k 512
  launches 3
  finished 4 strassen --target $target -m 512 -n 512 -k 512 --chain none
  accurate 1.05 4 seven-write --target $target -m 512 -n 512 -k 512 --sums f32
  finished - strassen --target $target -m 300 -n 200 -k 100 --alpha 0.5 --beta 2 --bias --residual
  finished - strassen --target $target -m 300 -n 203 -k 100 --ldc 208 --batch 2 --bias --residual
  finished - strassen --target $target -m 300 -n 203 -k 100 --batch 2 --beta -2
  # or by its last write; also where the last wave is cut
  delivered 4 seven-write --target $target -m 512 -n 512 -k 512
  launches 2
  delivered 4 strassen --target $target -m 512 -n 512 -k 512 --chain none
  delivered 4 seven-write --target $target -m 1536 -n 512 -k 2304 --set cut=1 --repeat 2
  delivered --more-plan tile_n=128 4 seven-write --target $target -m 1024 -n 512 -k 2304 --set cut=2
  # what comes to the product is added in the same place; only C and a residual both need a pass of their own
  delivered - strassen --target $target -m 300 -n 203 -k 100 --ldc 208 --batch 2 --alpha 0.5 --beta -2 --bias --set beside=0
  launches 2
  delivered - trivial --sums f16 --target $target -m 300 -n 200 -k 100 --bias --residual
  launches 2
  delivered - strassen --target $target -m 300 -n 200 -k 100 --alpha 0.5 --beta 2 --bias --residual
  launches 3
  delivered - seven-write --target $target -m 129 -n 65 -k 71
  # blocks that are written once need no sums
  accurate 1.05 1 trivial --target $target -m 256 -n 256 -k 128
  launches 2
  accurate 1.05 4 textbook --target $target -m 512 -n 512 -k 256
  launches 2
  # rows that end inside a chunk of 16 bytes: idle warps make the forms all the same
  run - seven-write --target $target -m 4603 -n 250 -k 123 --ldx 128 --ldc 256 --set beside=2
  launches 1
done
run 7 seven-write -m 512 -n 512 -k 256 --in-type bf16 --sums bf16
# turned roles, for few rows
run 7 seven-write -m 64 -n 256 -k 128 --plan turned=32,tile_n=128,cluster=1
run - seven-write -m 70 -n 300 -k 200 --plan turned=32,tile_n=128,cluster=2,stages=6 --set beside=1
run - trivial -m 33 -n 300 -k 200 --plan turned=16,tile_n=128,cluster=1 --batch 2 --beta 1 --out-type f32
run - seven-write -m 100 -n 72 -k 136 --in-type bf16
run - seven-write -m 100 -n 72 -k 136 --in-type bf16 --forms bf16 --out-type bf16
run - seven-write -m 100 -n 72 -k 136 --out-type f32
run - trivial -m 7 -n 16 -k 100 --in-type bf16 --alpha 3 --seed 3 # C is rounded twice
run - strassen -m 100 -n 72 -k 136 --trans-x --no-trans-y
run - strassen -m 99 -n 71 -k 65 --batch 2 --alpha 0.5 --beta -2
run - strassen -m 99 -n 72 -k 65 --bias --residual --batch 2
run - trivial -m 9 -n 7 -k 65 --bias --beta 1 --out-type f32
run - strassen -m 64 -n 72 -k 80 --ldx 88 --ldy 96 --ldc 104
run - strassen -m 64 -n 72 -k 80 --ldx 81 --ldy 83 --ldc 75

# sums that cannot be delivered: in f32, or of turned roles
refused() { # TEXT arguments...
  local text=$1
  shift
  "$HEPTANE" emit "$@" -o "$folder/refused" >"$folder/out" 2>"$folder/err"
  [ $? = 2 ] && grep -qe "--plan.*$text" "$folder/err" || fail "$*: $(cat "$folder/err")"
}
refused "not for sums in f32" seven-write --in-type bf16 --sums f32 --plan deliver=1
refused "needs turned=0" seven-write --in-type bf16 --plan deliver=1,turned=32,tile_n=128
refused "deliver can be 0, 1" seven-write --in-type bf16 --plan deliver=2

# a result outside its stated bound must not pass
"$HEPTANE" emit strassen --op gemm --target sm_90a -o "$folder/op" >/dev/null || fail emit
python3 - "$folder/op/op.json" <<'PY'
import json, sys
op = json.load(open(sys.argv[1]))
op["numerics"]["bound"] = 1e-6
json.dump(op, open(sys.argv[1], "w"))
PY
"$HEPTANE" run "$folder/op" -m 64 -n 64 -k 64 --backend emulator >"$folder/out" 2>"$folder/err" && fail "a result outside its bound passed"
grep -q 'NOT OK' "$folder/out" || fail "NOT OK is not printed"
echo ok
