#!/bin/bash
# What people get wrong, and what machines do to them: special files, absurd options, interrupts, edited packages.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HEPTANE_CACHE=$work/cache TMPDIR=$work
data=$SOURCE/tests/data/schemes
failed=0
fail() {
    echo "FAILED $*"
    failed=1
}

# check NAME EXPECTED-EXIT PATTERN COMMAND...
check() {
    local name=$1 code=$2 pattern=$3 out got
    shift 3
    out=$("$@" 2>&1)
    got=$?
    if [ $got -ne "$code" ] || ! grep -qE -- "$pattern" <<<"$out"; then
        fail "$name: exit $got instead of $code, or no /$pattern/ in:"
        head -5 <<<"$out"
    fi
}

# a pipe is written to and not replaced by a file; a link stays a link
mkfifo pipe
timeout 20 cat pipe >got &
reader=$!
check pipe 0 '' timeout 20 "$HEPTANE" convert strassen -o pipe
wait $reader
[ -p pipe ] || fail "convert replaced a pipe"
check pipe-content 0 'the same scheme' "$HEPTANE" compare strassen got
echo old >file
ln -s file link
check link 0 '' "$HEPTANE" convert strassen -o link
[ -L link ] || fail "convert replaced a link"
check link-content 0 'the same scheme' "$HEPTANE" compare strassen file

# the k-th scheme of a file that holds one
check first 0 'correct' "$HEPTANE" verify "$data/strassen.exp#1"
for k in 0 2 -1 99999999999999999999 x; do
    check "member $k" 1 'the file holds one' "$HEPTANE" verify "$data/strassen.exp#$k"
done

# options
check limit 2 'out of range' "$HEPTANE" run strassen --time-limit -1 --backend emulator
check limit-emit 2 'out of range' "$HEPTANE" emit strassen -o folder --time-limit -1
check limit-nan 2 'not a number' "$HEPTANE" info strassen --time-limit nan
check plan 2 'NAME=INTEGER' "$HEPTANE" emit strassen -o folder --plan stages=99999999999999999999
check target 2 'target' "$HEPTANE" run strassen --target ../../etc --backend emulator

# an interrupt ends a search for a chaining, with nothing left behind
for command in "emit 5x5x5:93-alphaevolve -o folder" "info 5x5x5:93-alphaevolve"; do
    timeout --preserve-status -s INT 0.3 "$HEPTANE" $command >out 2>err
    got=$?
    [ $got -eq 130 ] || fail "interrupted $command: exit $got: $(head -3 out err)"
done
[ ! -e folder ] || fail "an interrupted emit left a folder"

"$HEPTANE" doctor | grep -c '^ok *NVRTC' >/dev/null || exit $failed
small="-m 20 -n 20 -k 20 --backend emulator"
check set-size 2 'option of its own' "$HEPTANE" run trivial $small --set m=3
check set-stride 2 'option of its own' "$HEPTANE" run trivial $small --set stride_c=4
check set-cut 3 'cut can be' "$HEPTANE" run trivial $small --set cut=3
check set-beside 3 'beside can be' "$HEPTANE" run trivial $small --set beside=7

timeout --preserve-status -s INT 5 "$HEPTANE" run trivial -m 4000 -n 4000 -k 4000 --backend emulator >out 2>err
got=$?
[ $got -eq 130 ] || fail "interrupted run: exit $got: $(head -3 out err)"
ls -d heptane-* 2>/dev/null && fail "an interrupted run left its folder"

"$HEPTANE" emit trivial -o package >out || fail "emit: $(cat out)"
sed 's/"bound"/"bounds"/' package/op.json >edited && mv edited package/op.json
check no-bound 3 'bound is missing' "$HEPTANE" run package $small

exit $failed
