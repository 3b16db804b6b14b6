# heptane emulate: a kernel with its launch file; results, counters, faults, refusals and exit codes.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $1"
    exit 1
}
cat > "$work/scale.ptx" << 'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 by, .param .u32 n) {
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %q<8>; .reg .f32 %f<4>;
ld.param.u64 %q1, [x]; ld.param.u64 %q2, [y]; ld.param.f32 %f1, [by]; ld.param.u32 %r1, [n];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;
mul.wide.u32 %q3, %r5, 4; add.u64 %q4, %q1, %q3; add.u64 %q5, %q2, %q3;
ld.global.f32 %f2, [%q4]; mul.f32 %f3, %f2, %f1; st.global.f32 [%q5], %f3;
DONE: ret;
}
PTX
cat > "$work/scale.json" << 'JSON'
{"grid": [4], "block": [64],
 "buffers": {"x": {"type": "f32", "shape": [250], "fill": 3, "save": "x.npy"}, "y": {"type": "f32", "shape": [250], "save": "y.npy"}},
 "args": [{"buffer": "x"}, {"buffer": "y"}, {"f32": 1.5}, {"u32": 250}]}
JSON
"$HEPTANE" emulate "$work/scale.ptx" --launch "$work/scale.json" --json > "$work/out.json" || fail "a correct kernel"
grep -q '"ok":true' "$work/out.json" && grep -q '"store_bytes":1000' "$work/out.json" || fail "its counters"
[ "$(od -An -tx1 -j128 -N8 "$work/y.npy" | tr -d ' \n')" = 0000904000009040 ] || fail "its result (4.5)"
[ "$(wc -c < "$work/y.npy")" = 1128 ] || fail "the size of its result"

# the file that was written is read again, and many seeds agree
sed 's/"fill": 3, "save": "x.npy"/"file": "x.npy"/' "$work/scale.json" > "$work/again.json"
"$HEPTANE" emulate "$work/scale.ptx" --launch "$work/again.json" --seeds 5 | grep -q '5 of 5 seeds without a fault' || fail "seeds"

# a read past the end, with its line
sed 's/setp.ge.u32 %p1, %r5, %r1/setp.gt.u32 %p1, %r5, 255/' "$work/scale.ptx" > "$work/wrong.ptx"
"$HEPTANE" emulate "$work/wrong.ptx" --launch "$work/scale.json" > "$work/found" 2> /dev/null
[ $? = 1 ] || fail "exit code of a fault"
grep -q 'out-of-bounds at line 10 of the PTX (ld.global.f32), in scale' "$work/found" || fail "the finding: $(cat "$work/found")"

# refusals
sed 's/mul.f32/mul.f31/' "$work/scale.ptx" > "$work/unknown.ptx"
"$HEPTANE" emulate "$work/unknown.ptx" --launch "$work/scale.json" 2> "$work/message"
[ $? = 3 ] && grep -q ':10: .*mul.f31' "$work/message" || fail "an unknown instruction: $(cat "$work/message")"
"$HEPTANE" emulate "$work/scale.ptx" 2> /dev/null
[ $? = 2 ] || fail "no launch file"
echo '{"grid": [1], "block": [1], "args": [{"buffer": "z"}]}' > "$work/bad.json"
"$HEPTANE" emulate "$work/scale.ptx" --launch "$work/bad.json" 2> "$work/message"
[ $? = 3 ] && grep -q 'no buffer "z"' "$work/message" || fail "a launch that names no buffer: $(cat "$work/message")"
echo '{"grid": [1], ' > "$work/bad.json"
"$HEPTANE" emulate "$work/scale.ptx" --launch "$work/bad.json" 2> /dev/null
[ $? = 3 ] || fail "broken JSON"
"$HEPTANE" emulate "$work/scale.ptx" --launch "$work/none.json" 2> /dev/null
[ $? = 4 ] || fail "a launch file that is not there"
echo ok
