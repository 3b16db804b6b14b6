#!/usr/bin/env bash
# The roofline model against the paper's own figures.
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
assert abs(textbook / scheme - 1) < 1e-12
PY
"$HEPTANE" roofline 2x2x2:8 | grep -q never || fail "textbook schemes never win"
"$HEPTANE" roofline strassen --gpu mine:1e15:1e13 --svg "$folder/r.svg" | grep -q '^mine .* 4400 ' || fail "44 x 100"
python3 -c "import sys, xml.dom.minidom as d; d.parse(sys.argv[1])" "$folder/r.svg" || fail "the SVG is not XML"
rc=0; "$HEPTANE" roofline --gpu nonsense 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "exit code $rc for a bad GPU"
rc=0; "$HEPTANE" roofline 0x2x2:7 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "exit code $rc for a bad shape"
echo ok
