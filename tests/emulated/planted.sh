# Faults planted in the emitted kernel for a target: each is found and named (README.md). Every eighth of the table;
# HEPTANE_TEST_PLANTED=1 tries all. Usage: planted.sh TARGET, with HEPTANE, SOURCE and BINARY set.
target=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$HEPTANE" emit "$SOURCE/schemes/2x2x2/seven-write.json" --op gemm --target "$target" -o "$work/op" > "$work/emit.log" 2>&1 || {
    cat "$work/emit.log"
    exit 1
}
timeout 550 "$BINARY/bin/planted" "$target" "$work/op" 2 "$work/work" 2 "${HEPTANE_TEST_PLANTED:-8}" > "$work/table.md" 2> "$work/messages"
code=$?
if [ $code = 77 ]; then
    echo "skipped: no NVRTC here"
    exit 77
fi
grep '| NO |' "$work/table.md"
tail -1 "$work/table.md"
cat "$work/messages"
exit $code
