#!/usr/bin/env bash
# heptane emit: files, determinism, dumps, refusals with the right exit code
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
code() { # code EXPECTED command...
  local expected=$1; shift
  "$@" >"$out/stdout" 2>"$out/stderr"
  local got=$?
  [ $got -eq "$expected" ] || fail "exit $got instead of $expected: $* ($(cat "$out/stderr"))"
}

code 0 "$HEPTANE" emit strassen -o "$out/a" --json
grep -q '"packages":\["finish","forms_x","forms_y","gemm"\]' "$out/stdout" || fail "packages: $(cat "$out/stdout")"
grep -q '"symbol":"heptane_gemm"' "$out/stdout" || fail "symbol"
for file in op.json gemm/kernel.cu gemm/manifest.json forms_x/kernel.cu forms_y/manifest.json finish/kernel.cu; do
  [ -s "$out/a/$file" ] || fail "$file is missing"
done
# equal inputs give equal bytes, and nothing of this machine or day
code 0 "$HEPTANE" emit strassen -o "$out/b"
diff -r "$out/a" "$out/b" >/dev/null || fail "two runs differ"
grep -rq -e "$SOURCE" -e "$out" "$out/a" && fail "a path in the emitted files"
grep -q '#include' "$out/a/gemm/kernel.cu" && fail "emitted code includes headers"

# unchained: every non-zero of rho is a write
code 0 "$HEPTANE" emit strassen --chain none --dump=schedule
grep -q '"writes":12' "$out/stdout" || fail "unchained writes: $(head -c 200 "$out/stdout")"
code 0 "$HEPTANE" emit trivial --dump=plan
grep -q '"unit_weights":true' "$out/stdout" || fail "plan dump"
code 0 "$HEPTANE" emit trivial --dump=manifest
grep -q 'heptane-package/1' "$out/stdout" || fail "manifest dump"
[ -e "$out/none" ] && fail "a dump wrote files"

# refusals
code 2 "$HEPTANE" emit strassen
code 2 "$HEPTANE" emit strassen -o "$out/c" --target sm_90
grep -q 'sm_90a' "$out/stderr" || fail "the message does not list targets: $(cat "$out/stderr")"
code 2 "$HEPTANE" emit strassen -o "$out/c" --op nothing
code 2 "$HEPTANE" emit strassen -o "$out/c" --forms f32
code 2 "$HEPTANE" emit strassen -o "$out/c" --chain best
code 2 "$HEPTANE" emit strassen -o "$out/c" --plan stages=99
grep -q 'stages' "$out/stderr" || fail "the message does not name the parameter"
code 2 "$HEPTANE" emit strassen -o "$out/c" --plan colour=1
code 2 "$HEPTANE" emit strassen -o "$out/c" --plan stages=8
grep -q 'shared memory' "$out/stderr" || fail "too many stages: $(cat "$out/stderr")"
for plan in tile_n=256:4 tile_n=128:6 turned=16,tile_n=128:12 turned=16,tile_n=128,stages=0:12 turned=16,tile_n=128,stages=3:3; do
  code 0 "$HEPTANE" emit trivial --target sm_90a -o "$out/stages" --plan "${plan%:*}"
  grep -q ", ${plan#*:} stages," "$out/stages/gemm/kernel.cu" || fail "$plan: another number of stages"
  grep -q "\"stages\": *${plan#*:}\b" "$out/stages/gemm/manifest.json" || fail "$plan: another number of stages in the manifest"
done
code 4 "$HEPTANE" emit "$out/missing.json" -o "$out/c"
code 4 "$HEPTANE" emit strassen -o "$out/a/op.json/x"
sed 's/"u": *\[\[1, *1, *1\]/"u": [[1, 1, -1]/' "$SOURCE/schemes/2x2x2/strassen.json" >"$out/wrong.json"
code 1 "$HEPTANE" emit "$out/wrong.json" -o "$out/c"
[ -e "$out/c" ] && fail "a refused job wrote files"
exit 0
