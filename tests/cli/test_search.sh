# heptane search: fields, shards, interruption, walks whose results verify.
set -u
failures=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
expect() { # description, wanted, got
    [ "$2" = "$3" ] || { echo "FAIL $1: wanted $2, got $3"; failures=$((failures + 1)); }
}
field() { python3 -c 'import json,sys; print(eval("d"+sys.argv[1], {"d": json.load(open(sys.argv[2]))}))' "$1" "$2"; }

"$HEPTANE" search --shape 2,2,2 --rank 7 --coefficients ternary --json -o "$folder/all" --certificates >"$folder/whole"
expect "exit" 0 $?
expect "complete" True "$(field '["complete"]' "$folder/whole")"
expect "schemes" 288 "$(field '["schemes"]' "$folder/whole")"
expect "orbits" 3 "$(field '["orbits"]' "$folder/whole")"
expect "writes" "{'7': 192, '10': 96}" "$(field '["writes"]' "$folder/whole")"
expect "unchained" "{'12': 96, '14': 192}" "$(field '["writes_unchained"]' "$folder/whole")"
expect "second method" True "$(field '["second_method"]["agrees"]' "$folder/whole")"
expect "files" 288 "$(ls "$folder"/all/*.json | wc -l)"
for i in $(seq -f %05g 1 9 288); do
    "$BINARY/bin/heptane-check" "$folder/all/2x2x2-7-$i.cert" "$folder/all/2x2x2-7-$i.json" | grep -q "^Proved: minimal" ||
        expect "certificate $i" proved "not proved"
done
"$HEPTANE" verify "$folder"/all/*.json >/dev/null
expect "all verify" 0 $?

for part in 1 2; do "$HEPTANE" search --shape 2,2,2 --rank 7 --shard $part/2 --checkpoint "$folder/$part" --json >"$folder/part$part"; done
expect "a part is not complete" False "$(field '["complete"]' "$folder/part1")"
"$HEPTANE" search --merge "$folder/1" "$folder/2" --json >"$folder/merged"
expect "merged" "$(cat "$folder/whole")" "$(cat "$folder/merged")"
head -c 300 "$folder/1" >"$folder/cut"
"$HEPTANE" search --merge "$folder/cut" "$folder/2" 2>/dev/null
expect "cut checkpoint" 3 $?

"$HEPTANE" search --shape 1,2,3 --rank 6 --checkpoint "$folder/long" --json >"$folder/partial" 2>/dev/null &
job=$!
for _ in {1..600}; do # tasks are listed first, then the checkpoint is written as they are done
    [ -e "$folder/long" ] && break
    sleep 0.1
done
kill -INT $job
wait $job
expect "interrupted" 130 $?
expect "partial" False "$(field '["complete"]' "$folder/partial")"
grep -q "^end" "$folder/long" || expect "checkpoint" whole cut
timeout --preserve-status -k 2 -s INT 0.3 "$HEPTANE" search --shape 2,2,3 --rank 11 >"$folder/partial" 2>&1
expect "interrupted while tasks are listed" 130 $?

for goal in 2,2,2:7 2,2,3:11 2,3,3:15 3,3,3:23; do
    "$HEPTANE" search --walk --shape "${goal%:*}" --rank "${goal#*:}" --rounds 200 -o "$folder/walk.json" --json >/dev/null
    expect "walk $goal" 0 $?
    "$HEPTANE" verify "$folder/walk.json" --json >"$folder/verdict"
    expect "rank of $goal" "${goal#*:}" "$(field '["rank"]' "$folder/verdict")"
    expect "ring of $goal" Z "$(field '["ring"]' "$folder/verdict")"
done
"$HEPTANE" search --walk --shape 2,2,2 --rank 6 --rounds 2 >/dev/null 2>&1
expect "not found" 1 $?
"$HEPTANE" search --shape 3,3,3 --rank 23 --coefficients ternary --rounds 100 --json >"$folder/walked" 2>/dev/null
expect "walks where it cannot search all" 0 $?
expect "and says so" False "$(field '["complete"]' "$folder/walked")"
"$HEPTANE" search --shape 9,9,9 --rank 7 2>/dev/null
expect "too large" 3 $?
"$HEPTANE" search --rank 7 2>/dev/null
expect "no shape" 2 $?
"$HEPTANE" search --shape 2,2,2 --rank 7 --shard 3/2 2>/dev/null
expect "bad shard" 2 $?
exit $((failures > 0))
