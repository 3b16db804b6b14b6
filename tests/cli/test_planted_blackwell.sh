# Faults planted in the emitted Blackwell kernel: each is found and named (tests/emulated/README.md). Every eighth of the
# table; HEPTANE_TEST_PLANTED=1 tries all.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$HEPTANE" emit "$SOURCE/schemes/2x2x2/seven-write.json" --op gemm --target sm_100a -o "$work/op" > "$work/emit.log" 2>&1 || {
    cat "$work/emit.log"
    exit 1
}
timeout 550 "$BINARY/bin/planted" sm_100a "$work/op" 2 "$work/work" 2 "${HEPTANE_TEST_PLANTED:-8}" > "$work/table.md" 2> "$work/messages"
code=$?
if [ $code = 77 ]; then
    echo "skipped: no NVRTC here"
    exit 77
fi
grep '| NO |' "$work/table.md"
tail -1 "$work/table.md"
cat "$work/messages"
exit $code
