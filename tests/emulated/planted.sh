# Faults planted in an emitted kernel: each is found and named (README.md). Every eighth of the table, or every STEP-th;
# HEPTANE_TEST_PLANTED=1 tries all. Usage: planted.sh KERNEL [STEP [EMIT_OPTIONS...]], with HEPTANE, SOURCE and BINARY set;
# PLANTED_SCHEME is another scheme, PLANTED_SEEDS how many seeds a fault gets (2).
kernel=$1 target=${1%% *} step=${HEPTANE_TEST_PLANTED:-${2:-8}} scheme=${PLANTED_SCHEME:-2x2x2/seven-write}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$HEPTANE" emit "$SOURCE/schemes/$scheme.json" --op gemm --target "$target" "${@:3}" -o "$work/op" > "$work/emit.log" 2>&1 || {
    cat "$work/emit.log"
    exit 1
}
timeout 550 "$BINARY/bin/planted" "$kernel" "$work/op" "${PLANTED_SEEDS:-2}" "$work/work" 2 "$step" > "$work/table.md" 2> "$work/messages"
code=$?
if [ $code = 77 ]; then
    echo "skipped: no NVRTC here"
    exit 77
fi
grep '| NO |' "$work/table.md"
tail -1 "$work/table.md"
cat "$work/messages"
exit $code
