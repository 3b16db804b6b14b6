#!/usr/bin/env python3
"""Chains every real scheme of a corpus and prints a table: scheme, shape, unchained and chained writes, bound, proved.

usage: chain_table.py HEPTANE CORPUS [--time-limit S] [--max-rank R] > chaining.tsv
CORPUS is a folder with an INDEX.tsv (columns file, n, m, p, rank, ring). Exits with 1 if a scheme that the index calls
real could not be chained.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import time


def source(corpus, row):
    """The command-line name of an index row: the first of several files, or a member of an archive."""
    name = row["file"].split(" + ")[0].split(" ")[0]
    path = os.path.join(corpus, name)
    if name.endswith(".npz"):
        path += "#%s,%s,%s" % (row["n"], row["m"], row["p"])
    return path


def run(heptane, path, row, extra, limit):
    command = [heptane, "chain", path, "--json", "--shape", "%s,%s,%s" % (row["n"], row["m"], row["p"])] + extra
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit + 120)
    return done, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heptane")
    parser.add_argument("corpus")
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--max-rank", type=int, default=100)
    options = parser.parse_args()
    failures = 0
    print("scheme\tshape\tunchained\tchained\tbound\tproved\tmethod\tseconds", flush=True)
    with open(os.path.join(options.corpus, "INDEX.tsv"), encoding="utf-8") as index:
        for row in csv.DictReader(index, delimiter="\t"):
            real = row["ring"].startswith(("Z", "Q ", "Q(sqrt", "Q(rho"))
            if not real or not row["rank"].isdigit() or int(row["rank"]) > options.max_rank:
                continue
            path = source(options.corpus, row)
            done, seconds = run(options.heptane, path, row, ["--time-limit", str(options.time_limit)], options.time_limit)
            plain, _ = run(options.heptane, path, row, ["--chain", "none"], 60)
            if done.returncode or plain.returncode:
                failures += 1
                print("%s: exit %d: %s" % (row["file"], done.returncode, done.stderr.strip()), file=sys.stderr)
                continue
            result = json.loads(done.stdout)
            name = os.path.relpath(path, options.corpus)
            print("\t".join(str(x) for x in (
                name, "%sx%sx%s:%s" % (row["n"], row["m"], row["p"], row["rank"]), json.loads(plain.stdout)["writes"],
                result["writes"], result["lower_bound"], "yes" if result["optimal"] else "no", result["method"],
                "%.1f" % seconds)), flush=True)
    return 1 if failures else 0


sys.exit(main())
