#!/usr/bin/env bash
# The runtime's example program: links no GMP, FLINT or Lua, and multiplies.
set -u
fail() { echo "FAILED: $*" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE_CACHE=$folder/cache
example=$BINARY/bin/example_gemm
[ -x "$example" ] || fail "the example was not built"
ldd "$example" | grep -E 'gmp|flint|lua|zip|cuda|nvrtc' && fail "the runtime links more than it should"
[ "$(grep -vc '^ *\(/\*\|\*\|$\)' "$SOURCE/runtime/example/gemm.c")" -le 60 ] || fail "the example is too long"
"$HEPTANE" emit strassen --op gemm --target sm_90a -o "$folder/op" >/dev/null || fail "emit"
got=$("$example" "$folder/op" 300 200 512 2>"$folder/err")
code=$?
grep -q 'does not know the instruction' "$folder/err" && { echo "skipped: $(cat "$folder/err")"; exit 77; }
[ $code = 5 ] && { echo "skipped: $(cat "$folder/err")"; exit 77; }
[ $code = 0 ] || fail "exit code $code: $(cat "$folder/err")"
[ "$got" = "every element of C is 0x6000 in f16" ] || fail "$got"
[ -x "$BINARY/bin/device_api" ] || fail "device_api was not built"
"$BINARY/bin/device_api" "$folder/op" 130 72 200 || fail "device_api"
echo ok
