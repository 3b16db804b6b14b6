# heptane chain: writes known from theory, JSON fields, exit codes.
set -u
failures=0
expect() { # description, wanted, got
    [ "$2" = "$3" ] || { echo "FAIL $1: wanted $2, got $3"; failures=$((failures + 1)); }
}
field() { python3 -c 'import json,sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

while read -r name chained unchained; do
    expect "$name" "$chained" "$("$HEPTANE" chain "$name" --json --prove | field writes)"
    expect "$name optimal" True "$("$HEPTANE" chain "$name" --json | field optimal)"
    expect "$name unchained" "$unchained" "$("$HEPTANE" chain "$name" --json --chain none | field writes)"
done <<'TABLE'
strassen 10 12
winograd 7 14
seven-write 7 14
textbook 4 8
trivial 1 1
TABLE

for accumulators in 1 2 3; do
    "$HEPTANE" chain seven-write --json --accumulators $accumulators >"$folder/a"
    "$HEPTANE" chain seven-write --json --accumulators $accumulators >"$folder/b"
    cmp -s "$folder/a" "$folder/b" || expect "determinism" same different
    python3 - "$folder/a" $accumulators <<'CHECK' || failures=$((failures + 1))
import json, sys
d = json.load(open(sys.argv[1]))
steps, n = d["schedule"], int(sys.argv[2])
assert sorted(s["product"] for s in steps) == list(range(1, 8)), "every product once"
assert sorted(s["product"] for c in d["chains"] for s in c) == list(range(1, 8)), "every product in a chain"
assert sum(len(s["writes"]) for s in steps) == sum(len(s["writes"]) for c in d["chains"] for s in c) == d["writes"] == 7
assert sum(w["first"] for s in steps for w in s["writes"]) == 4, "four first touches"
assert all(1 <= s["accumulator"] <= n for s in steps)
assert all(a["accumulator"] != b["accumulator"] for a, b in zip(steps, steps[1:])) or n == 1, "alternates"
assert sum(s["fresh"] for s in steps) == len(d["chains"])
CHECK
done

"$HEPTANE" chain strassen --accumulators 0 2>/dev/null
expect "no accumulators" 2 $?
"$HEPTANE" chain strassen --chain some 2>/dev/null
expect "bad kind" 2 $?
"$HEPTANE" chain strassen --time-limit 0 2>/dev/null
expect "no time" 2 $?
sed 's/\[1, 1, 1\]/[1, 1, -1]/' "$SOURCE/schemes/2x2x2/strassen.json" >"$folder/wrong.json"
"$HEPTANE" chain "$folder/wrong.json" 2>/dev/null
expect "refuted" 1 $?
"$HEPTANE" chain strassen --equivalent -o "$folder/seven.json" --json >"$folder/a"
expect "in another basis" 7 "$(field writes <"$folder/a")"
"$HEPTANE" verify "$folder/seven.json" >/dev/null
expect "still correct" 0 $?
expect "the file is what was chained" 7 "$("$HEPTANE" chain "$folder/seven.json" --json | field writes)"
exit $((failures > 0))
