#!/usr/bin/env bash
# Long work shows its progress on a terminal only, erases it, and ends promptly and cleanly on Ctrl-C.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }
terminal() { python3 "$SOURCE/tests/cli/on_terminal.py" "$@" >"$folder/out"; }
expect() { # description, exit code, pattern in what the terminal got; after `terminal`
    local got=$?
    [ $got = "$2" ] || fail "$1: exit $got instead of $2: $(tail -c 300 "$folder/out")"
    grep -q "$3" "$folder/out" || fail "$1: no /$3/ in $(tail -c 300 "$folder/out")"
}

large=$folder/16x16x16.json # some seconds of verification
"$HEPTANE" transform 4x4x4:48-complex --tensor 4x4x4:48-complex --unchecked -o "$large" || fail "transform"
terminal verifying "$HEPTANE" verify "$large"
expect "verify" 130 'nothing is proved'
grep -q 'correct' "$folder/out" && fail "an interrupted verification says correct"
terminal verifying "$HEPTANE" verify "$large" strassen
expect "verify several" 130 'nothing is proved'
grep -q 'strassen: ' "$folder/out" && fail "it went on with the next file"
terminal verifying "$HEPTANE" convert "$large" -o "$folder/converted.json"
expect "convert" 130 'nothing is proved'
[ ! -e "$folder/converted.json" ] || fail "an interrupted conversion left a file"

terminal chaining: "$HEPTANE" chain 5x5x5:93-alphaevolve
expect "chain" 130 'interrupted; what it shows'
# carriage return and erase come before every line and after the last
tr '\r' '\n' <"$folder/out" | grep -A1 'chaining: ' | tail -1 | grep -q $'^\033\\[K' || fail "the last line of progress stays"

# no terminal, no progress
timeout --preserve-status -s INT 1 "$HEPTANE" verify "$large" 2>"$folder/err" >"$folder/out"
[ $? = 130 ] || fail "without a terminal"
grep -q '%' "$folder/err" && fail "progress in a file: $(cat "$folder/err")"
[ -s "$folder/out" ] && fail "output of an interrupted verification: $(cat "$folder/out")"
terminal - "$HEPTANE" verify strassen
expect "a short one" 0 'strassen: correct'
grep -q $'\033' "$folder/out" && fail "escape codes for short work"

# NVRTC takes seconds over these kernels; Ctrl-C does not wait for it and leaves nothing half written
"$HEPTANE" doctor | grep -c '^ok *NVRTC' >/dev/null || exit $failed
export TMPDIR=$folder/temporary HEPTANE_CACHE=$folder/cache
mkdir "$TMPDIR"
nothing_left() {
    [ -z "$(ls -A "$TMPDIR")" ] || fail "$1 left $(ls -A "$TMPDIR")"
    left=$(find "$HEPTANE_CACHE" "$folder/op" -regex '.*\.[A-Za-z0-9]\{6\}' 2>/dev/null)
    [ -z "$left" ] || fail "$1 left half a file: $left"
}
"$HEPTANE" emit two-levels --op gemm -o "$folder/op" >"$folder/out" || fail "emit"
terminal compiling "$HEPTANE" compile "$folder/op"
expect "compile" 130 'Interrupted'
nothing_left compile
for package in "$folder"/op/*/; do
    parts=$(find "$package" -name 'kernel.sm_90a.*' | wc -l)
    [ $parts = 0 ] || [ $parts = 3 ] || fail "compile left $parts parts of a package"
done
for command in "run two-levels --backend emulator" "run two-levels --op mlp --backend emulator"; do
    terminal compiling "$HEPTANE" $command
    expect "$command" 130 'Interrupted'
    nothing_left "$command"
done
export HEPTANE_LIBCUDA=$BINARY/stub/libstub_cuda.so HEPTANE_CUBLASLT=$BINARY/stub/libstub_cublaslt.so
for command in "bench two-levels" "bench two-levels --op mlp" "tune --in-type bf16" "tune --op mlp --in-type bf16"; do
    terminal compiling "$HEPTANE" $command
    expect "$command" 130 'Interrupted'
    nothing_left "$command"
done
[ $failed = 0 ] && echo ok
exit $failed
