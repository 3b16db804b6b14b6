#!/usr/bin/env bash
# The promises about every command: the fixed fields of its JSON with their types, one document per input, its exit codes,
# data on standard output and messages on standard error. What needs NVRTC is skipped without it.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE_CACHE=$folder/cache
cd "$folder" || exit 1
cat >fields.py <<'PY'
"""fields.py FILE NAME:TYPE...  NAME may be a path (writes.chained, rows[].m); a trailing ? allows null."""
import json, sys
types = {"bool": bool, "int": int, "number": (int, float), "text": str, "list": list, "object": dict,
         "exact": (int, str), "pair": list}

def find(value, path):
    for part in path.split("."):
        if part.endswith("[]"):
            value = value[part[:-2]] if part != "[]" else value
            assert isinstance(value, list) and value, f"{path}: no rows"
            value = value[0]
        else:
            assert part in value, f"{path}: missing; there is {sorted(value)}"
            value = value[part]
    return value

lines = open(sys.argv[1]).read().splitlines()
assert lines, "no output"
for line in lines:
    document = json.loads(line)
    for wanted in sys.argv[2:]:
        path, kind = wanted.rsplit(":", 1)
        value = find(document, path)
        if kind.endswith("?") and value is None:
            continue
        kind = kind.rstrip("?")
        assert isinstance(value, types[kind]), f"{path} is {value!r}, not {kind}"
        assert kind == "bool" or not isinstance(value, bool), f"{path} is a bool"
        assert kind != "pair" or len(value) == 2 and all(type(x) is int and x >= 1 for x in value), f"{path}: {value}"
PY
failed=0
bad() { echo "FAILED: $*"; failed=1; }
code() { # EXIT COMMAND-ARGUMENTS...: the command's exit code; output in out, messages in err
    local wanted=$1 got
    shift
    "$HEPTANE" "$@" >out 2>err
    got=$?
    [ $got = "$wanted" ] || bad "heptane $*: exit $got instead of $wanted: $(head -c 300 err)"
    if [ "$wanted" != 0 ] && [ ! -s err ]; then bad "heptane $*: exit $wanted without a message"; fi
}
fields() { python3 fields.py out "$@" 2>err || bad "fields: $(tail -1 err)"; }
verdict="ok:bool n:int m:int p:int rank:int ring:text format:text"

sed '0,/-1/s//1/' "$SOURCE/schemes/2x2x2/strassen.json" >wrong.json
echo '{"format": "heptane-scheme", ' >cut.json

code 0 verify strassen 3x3x3:23 --json
fields $verdict
[ "$(wc -l <out)" = 2 ] || bad "verify prints one document per input"
code 1 verify wrong.json --json
fields $verdict failing.a:pair failing.b:pair failing.c:pair failing.expected:int failing.got:int
code 0 info strassen --json
fields $verdict nonzeros.u:int nonzeros.v:int nonzeros.w:int additions.naive:int additions.reduced:int writes.unchained:int \
    writes.chained:int writes.lower_bound:int writes.optimal:bool growth:number hash:text
code 0 list --shape 2,2,2 --json
fields schemes[].name:text schemes[].n:int schemes[].m:int schemes[].p:int schemes[].rank:int schemes[].ring:text \
    schemes[].writes:int schemes[].source:text
code 0 compare strassen winograd --json
fields same:bool equivalent:bool witness:object
code 0 chain strassen --json
fields writes:int lower_bound:int optimal:bool chains:list schedule[].product:int schedule[].accumulator:int \
    schedule[].fresh:bool schedule[].scale:exact schedule[].writes[].c:pair schedule[].writes[].weight:exact \
    schedule[].writes[].first:bool
python3 - <<'PY' || bad "chains"
import json
chain = json.load(open("out"))
products = [step["product"] for steps in chain["chains"] for step in steps]
assert sorted(products) == list(range(1, 8)) and set(chain["chains"][0][0]) >= {"product", "scale", "writes"}
assert sum(len(step["writes"]) for steps in chain["chains"] for step in steps) == chain["writes"] == 10
assert all(len(write) == 3 for steps in chain["chains"] for step in steps for write in step["writes"])
assert sum(len(step["writes"]) for step in chain["schedule"]) == 10 and chain["schedule"][0]["accumulator"] == 1
PY
code 0 search --shape 1,1,2 --rank 2 --json
fields complete:bool schemes:int orbits:int writes:object
code 0 emit strassen --op gemm --target sm_90a --forms f16 --out-type f32 -o op --json
fields packages:list target:text symbol:text
code 0 roofline --json
fields cutoffs:list
code 0 cache list --json
code 0 cache clear --json
code 0 version --json
fields version:text
code 0 doctor --json
fields ok:bool parts:list

# a refuted scheme gives 1 from every command
for command in verify info chain transform roofline "convert -o x.json" "compare strassen" "emit -o x" run "run --op mlp" \
    "search --walk"; do
    code 1 $command wrong.json
    grep -q 'X(1,2) Y\|X(2,2) Y\|X([12],[12]) Y' err || bad "$command does not name the equation: $(cat err)"
done
# bad input gives 3, a missing one 1, a wrong option or count 2
for command in verify info chain transform roofline "convert -o x.json" "compare strassen" "emit -o x" run; do
    code 3 $command cut.json
    grep -q cut.json err || bad "$command does not name the file"
    code 1 $command no-such-file
done
for command in $("$HEPTANE" --help | sed -n '/^Commands/,$s/^  \([a-z]*\) .*/\1/p'); do
    code 2 $command --no-such-option
    code 0 $command --help
    sed -n 3p out | grep -q '^Examples' || bad "$command --help does not begin with examples"
done
for command in chain "emit -o x" run; do
    code 3 $command 4x4x4:48-complex
    code 3 $command 3x2x2:10-border
    code 3 $command 4x4x4:47-gf2
done
code 7 verify "$SOURCE/tests/data/schemes/rounded.json#pi" --json
fields ok:bool? residual:number
code 0 verify 3x2x2:10-border --json
fields $verdict border_degree:int
code 4 convert strassen -o no/such/folder/x.json
code 2 nonsense
code 2 verfy
grep -q '"verify"' err || bad "a misspelt command: $(cat err)"
code 2 run strassen --target sm_90
grep -q sm_90a err || bad "an unknown target: $(cat err)"
code 3 run op/gemm
"$HEPTANE" >out 2>err && bad "no command at all is wrong usage"
"$HEPTANE" version >/dev/full 2>err
[ $? = 4 ] || bad "a full disk gives 4"

if "$HEPTANE" doctor | grep '^ok *NVRTC' >/dev/null; then
    code 0 run op -m 65 -n 63 -k 64 --backend emulator --json
    fields ok:bool backend:text device:text target:text rel_error:number ms:number writes_executed:number flops:number
    code 0 run strassen --op mlp -m 40 --hidden 64 --intermediate 128 --backend emulator --json
    fields ok:bool backend:text device:text target:text rel_error:number ms:number writes_executed:number flops:number
    code 0 emit strassen --target sm_100a -o op100
    code 0 run op100 -m 65 -n 63 -k 64 --backend emulator # the target of the folder, unasked
    HEPTANE_LIBCUDA=/none code 5 run op --backend gpu
    HEPTANE_NVRTC=/none code 5 run op
    code 0 compile op --target sm_90a --json
    fields cubins:list registers:int spills:int
    export HEPTANE_LIBCUDA=$BINARY/stub/libstub_cuda.so HEPTANE_CUBLASLT=$BINARY/stub/libstub_cublaslt.so
    "$HEPTANE" bench trivial --sizes 64 --load 0 --alone 0 --json >out 2>err # the stub multiplies nothing: exit 1
    rows="rows[].op:text rows[].m:int rows[].n:int rows[].k:int rows[].scheme:text rows[].ms:number rows[].baseline_ms:number
        rows[].ratio:number rows[].ratio_own:number? rows[].rel_error:number? rows[].baseline_rel_error:number?"
    fields $rows
    "$HEPTANE" bench --op mlp trivial --sizes 40 --hidden 64 --intermediate 128 --load 0 --alone 0 --json >out 2>err
    fields $rows
else
    echo "note: no NVRTC; run, compile and bench were left out"
fi
[ $failed = 0 ] && echo ok
exit $failed
