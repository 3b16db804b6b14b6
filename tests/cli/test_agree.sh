# agree (tests/emulated/agree.c) with the emulator on both sides: a package agrees with itself, a damaged copy of it does not,
# and a plan of another package is refused.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEPTANE_CACHE="$work/cache"
agree=$BINARY/bin/agree
failed=0
say() { echo "FAIL: $1"; failed=1; }

# make NAME SCHEME OPTIONS...: a package with its plan
make() {
    local name=$1 scheme=$2
    shift 2
    "$HEPTANE" emit "$scheme" -o "$work/$name" "$@" > "$work/emit.log" 2>&1 || { cat "$work/emit.log"; exit 1; }
    "$HEPTANE" emit "$scheme" "$@" --dump=plan > "$work/$name/plan.json"
}
make op seven-write --out-type f32
make other strassen --out-type f32

"$agree" "$work/op" 344 296 136 --sides emulator,emulator > "$work/row" 2> "$work/messages"
code=$?
[ $code = 51 ] || grep -q NVRTC "$work/messages" && { echo "skipped: no NVRTC here"; exit 77; }
[ $code = 0 ] && grep -q '| 100.000 % | 0.0e+00 | 0.000 | yes |' "$work/row" || say "a package does not agree with itself: $(cat "$work/row" "$work/messages")"

# bias, residual and scaling go through the finishing kernel; odd sizes and strides; a batch
"$agree" "$work/op" 97 300 61 --batch 2 --ldx 63 --ldc 303 --alpha 0.5 --beta -2 --bias --residual --sides emulator,emulator \
    --json > "$work/row" 2>&1 && grep -q '"within":true' "$work/row" || say "a finished output: $(cat "$work/row")"

# forms of X cut off instead of rounded: the last of eleven bits
cp -r "$work/op" "$work/damaged"
sed -i 's/cvt\.rn\.f16x2\.f32/cvt.rz.f16x2.f32/' "$work/damaged/forms_x/kernel.cu"
"$agree" "$work/op" 344 296 136 --sides emulator,emulator --other "$work/damaged" > "$work/row" 2>&1
[ $? = 1 ] && grep -q '| NO |' "$work/row" || say "a damaged package passes: $(cat "$work/row")"

"$agree" "$work/op" 97 75 61 --plan "$work/other/plan.json" --sides emulator,emulator > "$work/row" 2>&1
[ $? != 0 ] && grep -q "not the package's plan" "$work/row" || say "another package's plan passes: $(cat "$work/row")"
cp "$work/op/plan.json" "$work/op/wrong.json" && sed -i 's/"weight":1.0/"weight":2.0/' "$work/op/wrong.json"
"$agree" "$work/op" 97 75 136 --plan "$work/op/wrong.json" --sides emulator,emulator > "$work/row" 2>&1
[ $? != 0 ] && grep -q "differs from the reference" "$work/row" || say "a wrong plan passes: $(cat "$work/row")"
"$agree" "$work/op" 97 75 61 --sides emulator > "$work/row" 2>&1
[ $? = 2 ] && grep -q -- "--sides" "$work/row" || say "one side: $(cat "$work/row")"

# an MLP block: the relative difference of the whole output
make mlp trivial --op mlp
"$agree" "$work/mlp" 70 72 136 --sides emulator,emulator --json > "$work/row" 2>&1 && grep -q '"within":true' "$work/row" || say "an MLP: $(cat "$work/row")"

# the table of a whole suite of packages, here of one
python3 "$SOURCE/tests/device/agreement.py" --heptane "$HEPTANE" --sides emulator,emulator --quick --only 'trivial f16-f32' --jobs 2 \
    --out "$work/table" > "$work/row" 2>&1 && grep -q '^| trivial | f16-f32 | plain | f16 | f32 | 600 x 520 x 712 | 1 | 100.000 % |.*| yes |$' "$work/table.md" &&
    grep -q '"within": true' "$work/table.json" || say "the table: $(cat "$work/row" "$work/table.md")"
exit $failed
