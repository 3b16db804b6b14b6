#!/usr/bin/env bash
# The driver backend, run, bench and doctor over a driver that multiplies nothing: control flow, fields and errors.
set -u
fail() { echo "FAILED: $*" >&2; exit 1; }
code() { # EXPECTED command...
  local expected=$1 got=0
  shift
  "$@" >"$folder/out" 2>"$folder/err" || got=$?
  [ "$got" = "$expected" ] || fail "exit code $got, not $expected: $* -- $(head -c 500 "$folder/err")"
}
says() { grep -q "$1" "$folder/err" || fail "the message does not say \"$1\": $(cat "$folder/err")"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE_CACHE=$folder/cache
"$HEPTANE" doctor | grep -c '^ok *NVRTC' >/dev/null || { echo "skipped: no NVRTC"; exit 77; }
export HEPTANE_LIBCUDA=$BINARY/stub/libstub_cuda.so HEPTANE_CUBLASLT=$BINARY/stub/libstub_cublaslt.so

code 0 "$HEPTANE" doctor
grep -c 'Stub GPU, sm_90a, 132 multiprocessors' "$folder/out" >/dev/null || fail "doctor does not see the GPU"
code 0 "$HEPTANE" emit strassen --op gemm --target sm_90a -o "$folder/op"

STUB_DRIVER=12040 "$HEPTANE" doctor | grep -c '^no *versions *NVRTC is of CUDA 13' >/dev/null || echo "note: NVRTC is not of CUDA 13"
STUB_TARGET=12.0 code 5 "$HEPTANE" run "$folder/op" --backend gpu
says 'no kernels for this kind of GPU'

# nothing is multiplied, so the poison must be seen and the answer must be no
code 1 "$HEPTANE" run "$folder/op" -m 100 -n 72 -k 65 --backend gpu --json --repeat 2
says 'bad elements'
python3 - "$folder/out" <<'PY' || fail "the JSON of run"
import json, sys
out = json.load(open(sys.argv[1]))
assert out["ok"] is False and out["bad_elements"] == 7200 and out["rel_error"] is None
assert out["backend"] == "gpu" and out["device"] == "Stub GPU" and out["target"] == "sm_90a"
assert out["writes_executed"] is None and out["flops"] == 2 * 100 * 72 * 65 and out["ms"] > 0
PY
code 1 "$HEPTANE" run strassen -m 64 -n 64 -k 64 # from the scheme's name, in a temporary folder
code 1 "$HEPTANE" run "$folder/op" -m 10 -n 10 -k 10 --batch 3 --alpha 0.5 --beta 2 --ldx 16 --ldy 24 --ldc 32
code 2 "$HEPTANE" run "$folder/op" -m 10 -n 10 -k 10 --ldx 5
code 2 "$HEPTANE" run "$folder/op" -m 0
code 5 "$HEPTANE" run "$folder/op" --backend gpu --device 3
code 5 "$HEPTANE" run "$folder/op" --backend gpu --target sm_100a
STUB_TARGET=10.0 code 3 "$HEPTANE" run "$folder/op" --backend gpu
says 'The package is for sm_90a'
STUB_NONE=1 code 5 "$HEPTANE" run "$folder/op" --backend gpu
for call in cuMemAlloc cuMemcpyHtoD cuMemcpyDtoH cuTensorMapEncodeTiled cuStreamSynchronize; do
  STUB_FAIL=$call code 5 "$HEPTANE" run "$folder/op" -m 64 -n 64 -k 64 --backend gpu
  says "$call"
done
STUB_FAIL=cuLaunchKernelEx code 5 "$HEPTANE" run "$folder/op" -m 64 -n 64 -k 64 --backend gpu
STUB_FAIL=cuLibraryLoadData code 6 "$HEPTANE" run "$folder/op" -m 64 -n 64 -k 64 --backend gpu
STUB_FAIL=cuLibraryGetKernel code 6 "$HEPTANE" run "$folder/op" -m 64 -n 64 -k 64 --backend gpu
STUB_FAIL=cuInit code 5 "$HEPTANE" run "$folder/op" --backend gpu
says 'does not start'

# a cubin that is too short, and one that is not a cubin
code 0 "$HEPTANE" compile "$folder/op"
printf 'PTX' >"$folder/op/gemm/kernel.sm_90a.cubin"
code 6 "$HEPTANE" run "$folder/op" -m 64 -n 64 -k 64 --backend gpu
printf '.version 9.9\n' >"$folder/op/gemm/kernel.sm_90a.cubin"
code 6 "$HEPTANE" run "$folder/op" -m 64 -n 64 -k 64 --backend gpu
says 'newer than the driver'

code 0 "$HEPTANE" bench seven-write --sizes 128,64x96x80 --load 0.01 --alone 0.01 --json --fresh --unchained --baseline-type bf16
python3 - "$folder/out" <<'PY' || fail "the JSON of bench"
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
fields = "op m n k scheme ms baseline_ms ratio ratio_own rel_error baseline_rel_error".split()
assert all(field in row for row in rows for field in fields)
assert not any(row["ok"] for row in rows) # nothing was multiplied
assert {row["scheme"] for row in rows} == {"trivial", "seven-write"}
assert {row["chain"] for row in rows} == {"optimal", "none"}
assert {"included", "excluded", "fresh"} <= {row["forms"] for row in rows}
assert all(len(row["samples_ms"]) == len(row["baseline_samples_ms"]) == 24 for row in rows)
assert all(abs(row["ratio"] - row["baseline_ms"] / row["ms"]) < 1e-9 for row in rows)
PY
code 0 "$HEPTANE" bench --sizes 64,128 --load 0.01 --alone 0 --csv "$folder/b.csv" --svg "$folder/b.svg" -o "$folder/b.json"
python3 - "$folder" <<'PY' || fail "the files of bench"
import csv, json, sys, xml.dom.minidom
rows = list(csv.DictReader(open(sys.argv[1] + "/b.csv")))
assert len(rows) == len(json.load(open(sys.argv[1] + "/b.json"))) == 6 and {row["m"] for row in rows} == {"64", "128"}
assert len(xml.dom.minidom.parse(sys.argv[1] + "/b.svg").getElementsByTagName("circle")) == 6
PY
code 1 "$HEPTANE" tune no-such-scheme --sizes 64 --load 0.01
says 'trivial is passed over: The result is not within its bound'
says 'no-such-scheme is passed over: .*no such file'
says 'No candidate'
code 2 "$HEPTANE" tune --sizes 64x
# of an MLP block; as nothing is multiplied, no candidate is right
code 1 "$HEPTANE" tune --op mlp --hidden 128 --intermediate 256 --sizes 1,600 --load 0.01
says 'trivial is passed over: The result is not within its bound'
says 'No candidate'
# whether choices can be kept is known before anything is measured
for op in gemm "mlp --hidden 128 --intermediate 256"; do
  HEPTANE_CACHE=off code 4 "$HEPTANE" tune --op $op --sizes 64
  says 'Choices cannot be kept.*switched off'
  HEPTANE_CACHE=off code 1 "$HEPTANE" tune --op $op --sizes 64 --load 0.01 --dry-run
done
code 2 "$HEPTANE" tune --op mlp --sizes 1,x
code 2 "$HEPTANE" tune --op mlp --sizes ''
code 2 "$HEPTANE" tune --op mlp --hidden 64 --intermediate 64 --with activation=tanh
says 'activation can be'
code 0 "$HEPTANE" bench --tuned --sizes 64 --load 0.01 --alone 0 --no-control
says 'nothing was tuned'
remember() { # CHOICE [KEY]: what heptane tune would have chosen for 64 x 64 x 64
  printf '{"format": "heptane-tuned/1", "choices": {"Stub GPU; sm_90a; driver 13000; %s": %s}}' \
    "${2:-gemm; f16 f16 f16 f16 NT; 64x64x64}" "$1" >"$HEPTANE_CACHE/tuned.json"
}
remember '{"scheme": "gone.txt", "plan": "", "settings": ""}'
code 4 env STUB_DRIVER=13000 "$HEPTANE" bench --tuned --sizes 64 --load 0.01 --alone 0
says 'gone.txt stands in .*tuned.json'
remember '{"scheme": "strassen", "plan": "stages=99", "settings": ""}'
code 2 env STUB_DRIVER=13000 "$HEPTANE" bench --tuned --sizes 64 --load 0.01 --alone 0
says 'strassen stands in .*tuned.json'
# what was chosen for sums of one type is not taken for those of another
gone='{"scheme": "gone.txt", "plan": "", "settings": ""}'
tuned() { STUB_DRIVER=13000 "$HEPTANE" bench --tuned --sizes 64 --load 0.01 --alone 0 "$@"; }
chosen() { STUB_DRIVER=13000 "$HEPTANE" bench --op mlp --chosen --sizes 64 --hidden 64 --intermediate 64 --load 0.01 --alone 0 "$@"; }
remember "$gone"
code 0 tuned --sums f32
says 'nothing was tuned'
remember "$gone" 'gemm; f16 f16 f16 f16 NT sums f32; 64x64x64'
code 4 tuned --sums f32
code 0 tuned
says 'nothing was tuned'
remember "$gone" 'mlp; f16 f16 f16 f16 swiglu; 64x64x64'
code 4 chosen
code 0 chosen --sums f32
code 0 chosen --with sums=f32
remember "$gone" 'mlp; f16 f16 f16 f16 swiglu gate_up bf16 sums f32; 64x64x64'
code 4 chosen --sums f32 --with sums=bf16
# what is remembered can be seen and forgotten, without a GPU
for option in --list --forget; do
  STUB_NONE=1 code 0 "$HEPTANE" tune $option
  grep -q "$HEPTANE_CACHE/tuned.json" "$folder/out" || fail "tune $option does not say where"
done
[ ! -e "$HEPTANE_CACHE/tuned.json" ] || fail "tune --forget leaves it"
code 0 "$HEPTANE" tune --list --json
grep -q '"choices":{}' "$folder/out" || fail "tune --list of nothing: $(cat "$folder/out")"
echo '{' >"$HEPTANE_CACHE/tuned.json"
code 3 "$HEPTANE" tune --list
says 'the file is damaged'
code 3 "$HEPTANE" tune --sizes 64
code 0 "$HEPTANE" tune --forget
HEPTANE_CACHE=off code 4 "$HEPTANE" tune --forget
code 2 "$HEPTANE" bench seven-write --sizes 12y
HEPTANE_CUBLASLT=/nonexistent CUDA_HOME=/nonexistent code 5 env PATH="$PATH" "$HEPTANE" bench --device 7
echo ok
