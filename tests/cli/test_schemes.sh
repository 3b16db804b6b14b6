#!/bin/bash
# The commands about schemes: fields, exit codes and messages as the contract has them.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" # names of the catalogue must not depend on where one stands
data=$SOURCE/tests/data/schemes
failed=0

# check NAME EXPECTED-EXIT PATTERN COMMAND...: runs it; exit code and output (both streams) must be as said
check() {
    local name=$1 code=$2 pattern=$3 out got
    shift 3
    out=$("$@" 2>&1)
    got=$?
    if [ $got -ne "$code" ] || ! grep -qE -- "$pattern" <<<"$out"; then
        echo "FAILED $name: exit $got instead of $code, or no /$pattern/ in:"
        head -5 <<<"$out"
        failed=1
    fi
}

check verify 0 '^\{"ok":true,"n":2,"m":2,"p":2,"rank":7,"ring":"Z","format":"heptane"' "$HEPTANE" verify strassen --json
check several 0 'winograd: correct' "$HEPTANE" verify strassen winograd
check shape-name 0 '"rank":23,"ring":"Z"' "$HEPTANE" verify 3x3x3:23 --json
check gf2 0 '"ring":"GF\(2\)"' "$HEPTANE" verify 4x4x4:47-gf2 --json
check border 0 '"ring":"Q\[x,1/x\]".*"border_degree":1' "$HEPTANE" verify 3x2x2:10-border --json
check complex 0 '"ring":"Q\(i\)"' "$HEPTANE" verify 4x4x4:48-complex --json
check undecided 7 '"ok":null.*"residual":' "$HEPTANE" verify "$data/rounded.json#pi" --json
check no-such 1 'no such file' "$HEPTANE" verify nothing-of-this-name
check usage 2 'Usage' "$HEPTANE" verify
check option 2 'Unknown option' "$HEPTANE" verify strassen --nonsense
check help 0 'Examples' "$HEPTANE" verify --help
check standard-input 0 '"ok":true' bash -c "\"$HEPTANE\" verify - --json <\"$data/strassen.exp\""
check ring 3 'not in Z' "$HEPTANE" verify "$data/strassen-awkward.exp" --ring Z
check lies 3 '3 x 3 x 3' "$HEPTANE" verify "$data/strassen.uvw" --shape 3,3,3

# a wrong sign is refuted, with the place; so is a missing product
sed '2s/+/-/' "$data/strassen.exp" >sign.exp
check wrong-sign 1 '"ok":false.*"failing":\{"a":\[[0-9],[0-9]\],"b":\[[0-9],[0-9]\],"c":\[[0-9],[0-9]\],"expected":[01],"got":-?[0-9]+\}' "$HEPTANE" verify sign.exp --json
sed 2d "$data/strassen.exp" >missing.exp
check missing-product 1 '"rank":6.*"failing"' "$HEPTANE" verify missing.exp --json
check refuted-info 1 'REFUTED' "$HEPTANE" info sign.exp
check refuted-convert 1 'does not multiply' "$HEPTANE" convert sign.exp -o out.json
check refuted-chain 1 '.' "$HEPTANE" chain sign.exp

# bad input
head -c 100 "$data/strassen-perminov.json" >cut.json
check truncated 3 'cut.json:[0-9]+:[0-9]+' "$HEPTANE" verify cut.json
head -c 10000000 /dev/urandom >noise
check noise 3 'noise' "$HEPTANE" verify noise
sed 's/"m": 7/"m": 8/' "$data/strassen-perminov.json" >rank.json
check lying-rank 3 'rank' "$HEPTANE" verify rank.json
sed '1s/a11/10000000000000000000000000000000000000000*a11/' "$data/strassen.exp" >huge.exp
check huge-coefficient 1 'REFUTED' "$HEPTANE" verify huge.exp
sed 's/"n": \[2, 2, 2\]/"n": [1000000000, 2, 2]/' "$data/strassen-perminov.json" >shape.json
check huge-shape 3 'limit' "$HEPTANE" verify shape.json
sed 's/\[1, 0, 0, 1\]/[0, 0, 0, 0]/' "$data/strassen-perminov.json" >zero.json
check zero-factor 3 'zero' "$HEPTANE" verify zero.json
printf '[%.0s' $(seq 100000) >deep.json
check deep 3 '.' "$HEPTANE" verify deep.json
head -c 400000000 /dev/zero | gzip -1 >bomb.gz
check bomb 3 'limit' "$HEPTANE" verify bomb.gz

# info, list, convert, transform, compare
check info 0 '"nonzeros":\{"u":12,"v":12,"w":12\},"additions":\{"naive":18,"reduced":18.*"writes":\{"unchained":12,"chained":10,"lower_bound":10,"optimal":true\}.*"growth":12.0.*"hash":"[0-9a-f]{64}"' "$HEPTANE" info strassen --json
check list 0 '"name":"strassen","n":2,"m":2,"p":2,"rank":7,"ring":"Z","writes":10,"source":"V. Strassen' "$HEPTANE" list --shape 2,2,2 --json
check list-empty 0 '"schemes":\[\]' "$HEPTANE" list --shape 9,9,9 --json
for format in exp uvw-txt mathematica perminov-json perminov-txt maple bini heptane; do
    check "convert-$format" 0 '"hash"' "$HEPTANE" convert laderman -o "out.$format" --to $format --json
    check "same-$format" 0 'the same scheme' "$HEPTANE" compare laderman "out.$format"
done
check convert-unwritable 4 'Cannot' "$HEPTANE" convert strassen -o no/such/folder/x
check convert-ring 3 'holds|written' "$HEPTANE" convert 2x2x2:7-accurate -o x --to exp
check convert-format 2 'no format' "$HEPTANE" convert strassen -o x --to nonsense
check tensor 0 'rank 49 over Z' "$HEPTANE" transform strassen --tensor strassen -o two.json
check lift 0 'rank 11 over Z' "$HEPTANE" transform 2x3x2:11-gf2 --lift -o lifted.json
check not-liftable 1 'cannot be lifted' "$HEPTANE" transform 4x4x4:47-gf2 --lift -o lifted.json
check equivalent 0 '"same":false,"equivalent":true,"witness":\{"cyclic":0,' "$HEPTANE" compare strassen winograd --json
check different 1 '"equivalent":false' "$HEPTANE" compare laderman 3x3x3:23 --json
check undecided-orbit 7 '"equivalent":null' "$HEPTANE" compare 4x4x4:49 4x4x4:49-flips --json

# the witness that compare prints, typed in
witness=$("$HEPTANE" compare strassen winograd | sed -n 's/.*heptane transform//p')
eval "\"$HEPTANE\" transform strassen $witness -o w.json" >/dev/null
check witness 0 'the same scheme' "$HEPTANE" compare w.json winograd

exit $failed
