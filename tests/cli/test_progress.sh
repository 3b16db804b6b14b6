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
[ $failed = 0 ] && echo ok
exit $failed
