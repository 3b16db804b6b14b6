#!/usr/bin/env bash
# compile, cache and doctor; skipped where there is no NVRTC.
set -u
fail() { echo "FAILED: $*" >&2; exit 1; }
code() { # EXPECTED command...
  local expected=$1 got=0
  shift
  "$@" >"$folder/out" 2>"$folder/err" || got=$?
  [ "$got" = "$expected" ] || fail "exit code $got, not $expected: $* -- $(head -c 500 "$folder/err")"
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE_CACHE=$folder/cache
"$HEPTANE" doctor | grep -q '^ok *NVRTC' || { echo "skipped: no NVRTC"; exit 77; }

code 0 "$HEPTANE" emit strassen --op gemm --target sm_90a -o "$folder/op"
code 0 "$HEPTANE" compile "$folder/op" --json
python3 - "$folder/out" "$folder/op" <<'PY' || fail "the JSON of compile"
import json, os, sys
out = json.load(open(sys.argv[1]))
assert len(out["cubins"]) >= 3 and all(open(c, "rb").read(4) == b"\x7fELF" for c in out["cubins"])
assert out["spills"] == 0 and 0 < out["registers"] <= 255
assert not any(p["wgmma_serialised"] for p in out["packages"])
stamp = json.load(open(os.path.join(sys.argv[2], "gemm", "kernel.sm_90a.json")))
assert len(stamp["source"]) == 64 and stamp["nvrtc"] >= 12000
PY
cp "$folder/op/gemm/kernel.sm_90a.cubin" "$folder/first"
code 0 "$HEPTANE" compile "$folder/op/gemm"
cmp -s "$folder/first" "$folder/op/gemm/kernel.sm_90a.cubin" || fail "compiling twice gives different cubins"

# PTX of a package that is damaged: the file, its line, the reason
cp -r "$folder/op" "$folder/damaged"
sed -i '0,/^[[:space:]]*ret;/s//frobnicate.b32 %r1;\nret;/' "$folder/damaged/gemm/kernel.sm_90a.ptx"
code 3 "$HEPTANE" run "$folder/damaged" -m 64 -n 64 -k 64 --backend emulator --target sm_90a
line=$(grep -n frobnicate "$folder/damaged/gemm/kernel.sm_90a.ptx" | cut -d: -f1)
grep -q "damaged/gemm/kernel.sm_90a.ptx:$line:.*frobnicate" "$folder/err" || fail "damaged PTX: $(cat "$folder/err")"

code 3 "$HEPTANE" compile "$folder/op/gemm" --target sm_100a
grep -q 'emitted for sm_90a' "$folder/err" || fail "the wrong target is not named"
code 4 "$HEPTANE" compile "$folder/nothing"
code 2 "$HEPTANE" compile
echo 'this is not CUDA C;' >>"$folder/op/finish/kernel.cu"
code 6 "$HEPTANE" compile "$folder/op"
grep -q 'this is not CUDA C\|identifier "this"\|error' "$folder/err" || fail "the compiler's message is missing"
printf '{"format": "heptane-package/1"' >"$folder/op/finish/manifest.json"
code 3 "$HEPTANE" compile "$folder/op/finish"
grep -q 'manifest.json:1' "$folder/err" || fail "the place in the manifest is missing"
HEPTANE_NVRTC=/nonexistent code 5 "$HEPTANE" compile "$folder/op/gemm"
grep -q '/nonexistent' "$folder/err" || fail "it does not say where it looked"

code 0 "$HEPTANE" cache list --json
python3 -c 'import json,sys; d = json.load(open(sys.argv[1])); assert d["entries"] == [] and d["bytes"] == 0' "$folder/out" || fail "a fresh cache is not empty"
code 0 "$HEPTANE" cache clear
code 2 "$HEPTANE" cache frobnicate
chmod 777 "$folder/cache"
"$HEPTANE" doctor | grep -q '^no *cache.*Others can write' || fail "doctor accepts a cache that others can write"
HEPTANE_CACHE=/proc/none "$HEPTANE" doctor | grep -q '^no *cache' || fail "doctor accepts an unwritable cache"
code 0 "$HEPTANE" doctor --json
python3 -c 'import json,sys; d = json.load(open(sys.argv[1])); assert d["ok"] and {"NVRTC","cache","targets"} <= {p["part"] for p in d["parts"]}' "$folder/out" || fail "the JSON of doctor"
echo ok
