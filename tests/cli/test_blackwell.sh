# The Blackwell product kernel, as NVRTC compiles it, on the emulator: right results and the writes that theory says.
set -u
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
failures=0
report=$(mktemp)
trap 'rm -f "$report"' EXIT
run() { "$HEPTANE" run "$@" --backend emulator --json >"$report" 2>&1; }

run trivial -m 64 -n 64 -k 64 --target sm_100a
code=$?
[ $code = 5 ] && { echo "skipped: $(tail -1 "$report")"; exit 77; }

# scheme, chaining, target, m, n, k, writes executed (- : not whole blocks), further options
while read -r scheme chain target m n k writes options; do
    # shellcheck disable=SC2086
    run "$scheme" --chain "$chain" --target "$target" -m "$m" -n "$n" -k "$k" $options
    code=$?
    python3 - "$report" "$writes" $code <<'CHECK' || { failures=$((failures + 1)); echo "FAIL $scheme $chain $target $m $n $k $options"; tail -5 "$report"; }
import json, sys
assert sys.argv[3] == "0", "exit code " + sys.argv[3]
d = json.load(open(sys.argv[1]))
assert d["ok"] is True and d["backend"] == "emulator", d
assert sys.argv[2] == "-" or d["writes_executed"] == float(sys.argv[2]), d["writes_executed"]
CHECK
done <<'TABLE'
seven-write optimal sm_100a 512 512 256 7
seven-write none sm_100f 512 512 128 14
strassen optimal sm_100a 512 512 128 10 --out-type bf16 --sums bf16
strassen none sm_100a 512 512 128 12
textbook optimal sm_100f 512 512 128 4 --out-type f32
trivial optimal sm_100a 256 256 192 1
seven-write optimal sm_100a 300 200 100 -
seven-write optimal sm_100a 17 1000 72 - --in-type bf16 --out-type f32 --plan tile_n=64
winograd optimal sm_103a 1 1 1 -
seven-write optimal sm_100a 1536 512 2304 - --set cut=1
strassen none sm_100a 1500 500 2304 - --set cut=2 --plan tile_n=128
seven-write optimal sm_100a 4608 256 64 - --set beside=1
seven-write optimal sm_100f 512 512 256 4 --in-type bf16 --bias --beta 1
seven-write optimal sm_103a 1536 512 2304 4 --in-type bf16 --set cut=1
strassen optimal sm_100a 257 129 65 - --trans-x --alpha 2 --beta 1
TABLE
exit $((failures > 0))
