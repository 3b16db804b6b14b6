# heptane-check: true certificates pass, every kind of forgery is rejected for its own reason.
set -u
check="$BINARY/bin/heptane-check"
failures=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAIL $*"; failures=$((failures + 1)); }

for scheme in "$SOURCE"/schemes/*/*.json; do
    [ "$(python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["ring"] in ("Z","Q") and d["rank"] < 12)' "$scheme")" = True ] || continue
    "$HEPTANE" chain "$scheme" --certificate "$folder/c" >/dev/null || fail "no certificate for $scheme"
    "$check" "$folder/c" "$scheme" >"$folder/out" || fail "$scheme is not proved"
    grep -q "Proved" "$folder/out" || fail "$scheme: no verdict"
done

scheme="$SOURCE/schemes/2x2x2/strassen.json"
"$HEPTANE" chain "$scheme" --certificate "$folder/tree" >/dev/null
grep -q "^bound 10 tree" "$folder/tree" || fail "Strassen's bound is not a tree"
"$HEPTANE" chain seven-write --certificate "$folder/distinct" >/dev/null
grep -q "^bound 7 distinct" "$folder/distinct" || fail "seven writes are not proved by distinct rho"

forged() { # description, wanted exit, wanted words, scheme; the forgery is in $folder/forged
    "$check" "$folder/forged" "$4" >/dev/null 2>"$folder/err"
    local got=$?
    [ "$got" = "$2" ] || fail "$1: exit $got, wanted $2: $(cat "$folder/err")"
    grep -q "$3" "$folder/err" || fail "$1: wrong reason: $(cat "$folder/err")"
}
forge() { # sed script, description, exit, words
    sed "$1" "$folder/tree" >"$folder/forged"
    cmp -s "$folder/tree" "$folder/forged" && fail "$2: nothing was forged"
    forged "$2" "$3" "$4" "$scheme"
}
forge 's/^writes 10/writes 9/' "wrong number of writes" 1 "writes: the certificate claims 9, its chains make 10"
forge 's/^chain \([0-9]*:[-0-9]*\) .*/chain \1/' "a product left out" 1 "is in no chain"
forge 's/^chain \([0-9]*\):[-0-9]*/chain \1:0/' "a scale of zero" 1 "scale of product [0-9]* is zero"
forge 's/^chain \([0-9]*:[-0-9]*\)/chain \1 \1/' "a product twice" 1 "is used twice"
forge 's/^digest [0-7]/digest 8/;t;s/^digest ./digest 0/' "another digest" 1 "digest: the certificate belongs to another scheme"
forge 's/^bound 10/bound 11/' "a bound too high" 1 "bound: it cannot be above"
forge 's/^leaf.*/leaf 0 0 0 0 0 0 0/' "multipliers that prove less" 1 "proves [0-9]* writes, not 10"
forge 's/^leaf 0/leaf -1/' "a negative multiplier" 1 "a multiplier is negative"
forge 's/^\(leaf.*\)/branch 1 2\n\1/' "a missing branch" 1 "ends before all its branches are closed"
forge 's/^\(leaf.*\)/\1\n\1/' "a branch too many" 1 "lines follow the end of the tree"
forge 's/^\(leaf.*\)/branch 1 2\n\1\nbranch 2 1\n\1\n\1/' "an edge decided twice" 1 "an edge that is decided"
forge 's/^bound 10.*/bound 7 distinct/;/^leaf/d;s/^end/leaf/' "trailing lines" 3 "is not understood"
forge '/^end/d' "cut short" 1 "cut short"
forge 's/^heptane-certificate 1/heptane-certificate 2/' "another version" 3 "not a certificate"
forge 's/^chain \([0-9]*\):[-0-9]*/chain \1:x/' "no number" 3 "no rational scale"
forge 's/^leaf \(.*\) [0-9]*$/leaf \1/' "too few multipliers" 3 "fewer multipliers"
sed 's/^\(leaf.*\)/branch 1 2\n\1\n\1/' "$folder/tree" >"$folder/forged"
"$check" "$folder/forged" "$scheme" >/dev/null || fail "a longer tree that is right is not accepted"

# distinct rho claimed where two are proportional: the textbook scheme
"$HEPTANE" chain textbook --certificate "$folder/text" >/dev/null
sed '/^leaf/d;/^branch/d;s/^bound.*/bound 8 distinct/;s/^writes.*/writes 8/;/^chain/d' "$folder/text" |
    sed 's/^writes 8/writes 8\nchain 1:1\nchain 2:1\nchain 3:1\nchain 4:1\nchain 5:1\nchain 6:1\nchain 7:1\nchain 8:1/' >"$folder/forged"
forged "proportional rho" 1 "rho of products 1 and 2 are proportional" "$SOURCE/schemes/2x2x2/textbook.json"

# a right certificate with a wrong scheme
sed 's/\[1, 1, 1\]/[1, 1, -1]/' "$scheme" >"$folder/wrong.json"
cp "$folder/tree" "$folder/forged"
forged "another scheme" 1 "digest" "$folder/wrong.json"
digest=$(python3 - "$folder/wrong.json" <<'DIGEST'
import hashlib, json, sys
d = json.load(open(sys.argv[1]))
shape = {"u": (d["n"], d["m"]), "v": (d["m"], d["p"]), "w": (d["n"], d["p"])}
text = "%d %d %d %d\n" % (d["n"], d["m"], d["p"], d["rank"])
for product in d["products"]:
    for key, (rows, columns) in shape.items():
        cells = {(i, j): c for i, j, c in product[key]}
        text += "".join(" %s" % cells.get((i + 1, j + 1), 0) for i in range(rows) for j in range(columns))
    text += "\n"
print(hashlib.sha256(text.encode()).hexdigest())
DIGEST
)
sed "s/^digest.*/digest $digest/" "$folder/tree" >"$folder/forged"
forged "a scheme that multiplies nothing" 1 "scheme: it does not multiply matrices" "$folder/wrong.json"
head -c 1000 /dev/urandom >"$folder/forged"
forged "garbage" 3 "" "$scheme"
exit $((failures > 0))
