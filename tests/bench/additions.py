#!/usr/bin/env python3
"""Additions after sharing common subexpressions against what other reducers report for the same schemes.
Usage: additions.py HEPTANE FILE... > additions.tsv

The published number is in the file's name: NxMxP_mRANK_crREDUCED_..._cnNAIVE_RING_reduced.json of
dronperminov/FastMatrixMultiplication (schemes/results/addition_reduced_ZT), or what KNOWN says of a file. Sorted by shape; the
last line counts beat, match and lose."""
import collections
import json
import pathlib
import re
import subprocess
import sys

KNOWN = {"3x3x3_m23_additions60_ZT.json": 60,  # dronperminov/FastMatrixMultiplication
         "3x3x3_23_58_L.sms": 58}  # jgdumas/plinopt


def published(path):
    match = re.search(r"_cr(\d+)_", path.name)
    return int(match.group(1)) if match else KNOWN.get(path.name)


heptane, rows = sys.argv[1], []
for path in map(pathlib.Path, sys.argv[2:]):
    theirs = published(path)
    if theirs is None:
        sys.exit(f"additions.py: {path}: neither its name nor the table says how many additions were published.")
    run = subprocess.run([heptane, "info", path, "--json", "--time-limit", "0.01"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"additions.py: {path}: {run.stderr.strip()}")
    info = json.loads(run.stdout)
    ours = info["additions"]["reduced"]
    verdict = "beat" if ours < theirs else "match" if ours == theirs else "lose"
    rows.append(((info["n"], info["m"], info["p"], info["rank"], path.name), info["additions"]["naive"], theirs, ours, verdict))
print("file", "rank", "naive", "published", "ours", "verdict", sep="\t")
for (_, _, _, rank, name), naive, theirs, ours, verdict in sorted(rows):
    print(name, rank, naive, theirs, ours, verdict, sep="\t")
counts = collections.Counter(row[-1] for row in rows)
print("# " + ", ".join(f"{verdict} {counts[verdict]}" for verdict in ("beat", "match", "lose")))
