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
check member-of-catalogue 1 'scheme "2"; the file holds one' "$HEPTANE" verify strassen#2

# options
check limit 2 'out of range' "$HEPTANE" run strassen --time-limit -1 --backend emulator
check limit-emit 2 'out of range' "$HEPTANE" emit strassen -o folder --time-limit -1
check limit-nan 2 'not a number' "$HEPTANE" info strassen --time-limit nan
check plan 2 'NAME=INTEGER' "$HEPTANE" emit strassen -o folder --plan stages=99999999999999999999
check letter 2 'Unknown option "-q"' "$HEPTANE" run strassen -q
check letter-first 2 'Unknown option "-2"' "$HEPTANE" roofline -2x-2x2:7
check letter-argument 2 'option "-n" needs an argument' "$HEPTANE" run strassen -n
for command in bench tune; do # said before there need be a GPU
    check "$command without sizes" 2 'not a size' "$HEPTANE" $command --sizes ''
    check "$command too large" 2 'not a size' "$HEPTANE" $command --sizes 99999999999999999999
    check "$command operation" 2 'gemm and mlp, not "forms_x"' "$HEPTANE" $command --op forms_x
    check "$command load" 2 'out of range' "$HEPTANE" $command --load -1
    check "$command mlp load" 2 'out of range' "$HEPTANE" $command --op mlp --load -1
done
check emit-nowhere 2 'where the packages should go' "$HEPTANE" emit strassen -o ''
check target 2 'target' "$HEPTANE" run strassen --target ../../etc --backend emulator

# a name that is not UTF-8, as JSON is
cp "$data/strassen.exp" $'\xff.exp'
check not-utf8 0 '"folder":"\?"' "$HEPTANE" emit $'\xff.exp' -o $'\xfe' --json
check not-utf8-roofline 0 '"scheme":"\?.exp"' "$HEPTANE" roofline $'\xff.exp' --json

# norms of coefficients whose squares no double holds
echo '(1e300*a11)*(1e-300*b11)*(c11)' >wide.exp
check growth 0 'growth +1 in the maximum norm, 1 in the Frobenius norm' "$HEPTANE" info wide.exp

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
timeout --preserve-status -k 2 -s INT 5 "$HEPTANE" run trivial --op mlp -m 4000 --hidden 2000 --intermediate 2000 \
    --backend emulator >out 2>err
got=$?
[ $got -eq 130 ] || fail "interrupted run of an MLP: exit $got: $(head -3 out err)"
# whatever NVRTC does with signals while it compiles; one that waits while NVRTC puts its handler in place can be lost, but not thrice
for moment in 0.06 0.1 0.2; do
    for attempt in 1 2 3; do
        HEPTANE_CACHE=$work/cache-$moment-$attempt timeout --preserve-status -k 20 -s INT $moment "$HEPTANE" run seven-write \
            -m 4000 -n 4000 -k 4000 --backend emulator >out 2>err
        got=$?
        [ $got -ne 137 ] && break
        rm -rf heptane-* # killed
    done
    [ $got -eq 130 ] || fail "interrupted run after $moment s: exit $got: $(head -3 out err)"
done
ls -d heptane-* 2>/dev/null && fail "an interrupted run left its folder"

"$HEPTANE" emit trivial -o package >out || fail "emit: $(cat out)"
for moment in 0.03 0.05 0.07 0.1; do
    timeout --preserve-status -k 5 -s INT $moment "$HEPTANE" compile package >out 2>err
    got=$?
    [ $got -eq 130 ] || [ $got -eq 0 ] || fail "interrupted compile after $moment s: exit $got: $(head -3 out err)"
    grep -q 'kernel\.\.cubin' out && fail "compile lists what it has not compiled: $(cat out)"
done
for option in "--sums f32" "--in-type bf16" "--plan stages=3" --trans-x "--chain none"; do
    check "emitted already $option" 2 'emitted already' "$HEPTANE" run package $small $option
done
check "emitted mlp" 2 '--with.*emitted already' "$HEPTANE" run package --op mlp --with activation=silu
cp -r package shortened
python3 - shortened/gemm/manifest.json <<'PY'
import json, sys
manifest = json.load(open(sys.argv[1]))
manifest["args"].pop()
json.dump(manifest, open(sys.argv[1], "w"))
PY
check arguments 3 'heptane_gemm: The kernel has .* parameters, not' "$HEPTANE" run shortened $small
sed 's/"bound"/"bounds"/' package/op.json >edited && mv edited package/op.json
check no-bound 3 'bound is missing' "$HEPTANE" run package $small

exit $failed
