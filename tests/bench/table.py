#!/usr/bin/env python3
"""Markdown from the JSON files of `heptane bench -o`: tests/bench/table.py FILE.json... > SPEED.md   (standard library only)"""
import json
import sys


def rows_of(path):
    with open(path) as file:
        document = json.load(file)
    return document["rows"] if isinstance(document, dict) else document


def main():
    if len(sys.argv) < 2:
        sys.stderr.write(__doc__ + "\n")
        return 2
    rows = [row for path in sys.argv[1:] for row in rows_of(path)]
    rows.sort(key=lambda r: (r["m"] * r["n"] * r["k"], r["m"], r["n"]))
    print("Time in turns with cuBLASLt's best heuristic (median of 24), ratio = its time / ours in turns / each alone at its own clock;")
    print("errors are relative Frobenius errors of ours / cuBLASLt's against double; forms of Y prepared unless `fresh`.\n")
    print("| M | N | K | scheme | forms of X | types | ms | TFLOP/s | ratio | own | error | MHz | W |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for r in rows:
        scheme = r["scheme"] + (" unchained" if r["chain"] == "none" else "")
        plan = ", ".join(part for part in (r.get("plan"), r.get("settings")) if part)
        types = "%s -> %s, %s" % (r["types"][0], r["types"][2], r["types"][3])
        flops = 2 * r["m"] * r["n"] * r["k"] / r["ms"] / 1e9
        base = "%.2e" % r["baseline_rel_error"] if r["baseline_rel_error"] is not None else "-"
        print("| %d | %d | %d | %s%s | %s | %s | %.4f | %.0f | %.3f | %s | %.2e / %s%s | %s | %s |" % (
            r["m"], r["n"], r["k"], scheme, " (" + plan + ")" if plan else "", r["forms"], types, r["ms"], flops, r["ratio"],
            "%.3f" % r["ratio_own"] if r["ratio_own"] is not None else "-", r["rel_error"], base, "" if r["ok"] else " **NOT OK**",
            "%.0f" % r["mhz"] if r["mhz"] else "-", "%.0f" % r["watt"] if r["watt"] else "-"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
