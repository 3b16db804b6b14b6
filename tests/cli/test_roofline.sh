#!/usr/bin/env bash
# The roofline model against the paper's own figures, and its power ceiling against the measured table.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
json=$("$HEPTANE" roofline --json)
python3 - "$json" <<'PY'
import json, sys
rows = {row["gpu"]: row for row in json.loads(sys.argv[1])["cutoffs"]}
# n > 44 P/B: about 12,400 on a B200, 9,100 on an H200 (the paper, section 2.2)
assert round(rows["B200"]["cutoff"]) == 12375, rows["B200"]
assert abs(rows["H200"]["cutoff"] - 44 * 989 / 4.8) < 1e-6
assert abs(rows["B200"]["cutoff_prepared"] / rows["B200"]["cutoff"] - 0.5) < 1e-12
assert rows["B200"]["cutoff_fused"] < 1000
# at the cut-off the two models take the same time
P, B, n, s, R = 2.25e15, 8e12, rows["B200"]["cutoff"], 2, 7
textbook = max(2 * n**3 / P, 4 * n**2 / B)
scheme = (1 + R / s**2) * 4 * n**2 / B + max(2 * R * (n / s)**3 / P, 4 * R / s**2 * n**2 / B)
assert abs(textbook / scheme - 1) < 1e-9
assert abs(rows["B200"]["cutoff_fused"] - P / B * 2 * R / s**2) < 1e-3 # as soon as reading the forms is hidden
# the paper's figure 2: a cut-off for each of its GPUs, none of which has a power limit of its own but the measured one
assert {"Tesla C1060", "Tesla C2050", "Tesla K20", "V100", "A100", "H20", "H200", "B200"} == set(rows)
assert [name for name in rows if "power" in rows[name]] == ["H200"]
PY
# power: energies as fitted to the measured rows, times and cut-offs by hand
python3 "$SOURCE/tests/bench/power.py" >"$folder/fit" || fail "power.py"
python3 - "$("$HEPTANE" roofline seven-write --size 8192 --json)" "$folder/fit" <<'PY'
import json, sys
row = next(row for row in json.loads(sys.argv[1])["cutoffs"] if row["gpu"] == "H200")
power, n, s, R = row["power"], 8192, 2, 7
fit = dict(line.split()[:2] for line in open(sys.argv[2]))
for key in ("watts", "pj_operation", "pj_byte", "pj_written"):
    assert abs(power[key] / float(fit[key]) - 1) < 0.1, f"gpus.def has {key} {power[key]}, the fit {fit[key]}"
def seconds(n, operations, read, written):
    joules = operations * power["pj_operation"] + read * power["pj_byte"] + written * power["pj_written"]
    return max(operations / row["operations"], read / row["bytes"], joules * 1e-12 / power["watts"])
def times(n, made):
    product = seconds(n, 2 * R * (n / s)**3, 4 * R / s**2 * n**2, 2 * power["writes"] / s**2 * n**2)
    return seconds(n, 2 * n**3, 4 * n**2, 2 * n**2), seconds(n, 0, made * 2 * n**2, 0) + product
assert power["writes"] == 7
for suffix, made in (("", 2 + 2 * R / s**2), ("_prepared", 1 + R / s**2), ("_fused", 0)):
    textbook, scheme = times(n, made)
    assert abs(power["ratio" + suffix] * scheme / textbook - 1) < 1e-9, suffix
    textbook, scheme = times(power["cutoff" + suffix], made)
    assert abs(textbook / scheme - 1) < 1e-9, suffix
assert power["ratio_fused"] < row["ratio_fused"] and abs(row["ratio_fused"] - 8 / 7) < 1e-9
# what was measured at 8192, each alone at its own clock: 1.081 without the forms of X, 1.067 with (tests/bench/SPEED.md)
assert abs(power["ratio_fused"] - 1.081) < 0.04 and abs(power["ratio_prepared"] - 1.067) < 0.04
PY
# a GPU of one's own with a power limit that never binds is the same as without
python3 - "$("$HEPTANE" roofline --gpu a:1e15:1e13:1e9:1:1:1 --json)" <<'PY'
import json, sys
row = json.loads(sys.argv[1])["cutoffs"][-1]
assert row["gpu"] == "a" and abs(row["power"]["cutoff"] / row["cutoff"] - 1) < 1e-9 and abs(row["cutoff"] - 4400) < 1e-3
PY
"$HEPTANE" roofline 2x2x2:8 | grep -q never || fail "textbook schemes never win"
"$HEPTANE" roofline strassen --gpu 'mine<&:1e15:1e13' --svg "$folder/r.svg" | grep -q '^mine<& .* 4400 ' || fail "44 x 100"
python3 -c "import sys, xml.dom.minidom as d; d.parse(sys.argv[1])" "$folder/r.svg" || fail "the SVG is not XML"
grep -c 'at its power limit, 692 W' "$folder/r.svg" | grep -qx 1 || fail "the SVG has no group for power"
for gpu in nonsense a:1e15 a:1e15:0 a:1e15:1e13:700 a:1e15:1e13:0:1:1:1 a:1e15:1e13:700:1:1:1:1 a:1e15:1e13x a:inf:1e13; do
    rc=0; "$HEPTANE" roofline --gpu $gpu 2>/dev/null || rc=$?
    [ $rc = 2 ] || fail "exit code $rc for the bad GPU $gpu"
done
for shape in 0x2x2:7 99999999999x2x2:7 2x2x2:4294967296; do
    rc=0; "$HEPTANE" roofline $shape 2>/dev/null || rc=$?
    [ $rc = 2 ] || fail "exit code $rc for the bad shape $shape"
done
echo ok
