#!/usr/bin/env python3
"""Time and memory of exact verification: makes the large schemes with `heptane transform`, verifies each, prints a table.

Run it from the repository root. HEPTANE is the command (default build/bin/heptane); --quick leaves out what takes more
than a few seconds. The limits are what the project promises on two cores; the exit code is 1 if one is broken both by
the clock and by processor time (a busy machine stretches only the first). What it takes to start the program (`heptane
version`) is left out of the processor time.
"""
import os
import subprocess
import sys
import tempfile
import time

heptane = os.environ.get("HEPTANE", "build/bin/heptane")
quick = "--quick" in sys.argv

# name, how it is made: (file or catalogue name, tensor factors), seconds, MiB, slow
ROWS = [
    ("4x4x4:49", "schemes/4x4x4/49.json", [], 0.005, 64, False),
    ("8x8x8:336 = 4x4x4:48 (x) strassen", "4x4x4:48", ["strassen"], 0.2, 256, False),
    ("16x16x16:2304 = 4x4x4:48 (x) itself", "4x4x4:48", ["4x4x4:48"], 20, 1024, False),
    ("32x32x32:16807 = strassen^5", "strassen", ["strassen"] * 4, 60, 4096, False),
    ("32x32x32:16128 = 4x4x4:48 (x) 8x8x8:336", "4x4x4:48", ["4x4x4:48", "strassen"], 180, 4096, True),
]


def make(folder, start, factors):
    now = start
    for i, factor in enumerate(factors):
        out = os.path.join(folder, f"{i}.json")
        subprocess.run([heptane, "transform", now, "--tensor", factor, "--unchecked", "-o", out], check=True)
        now = out
    return now


def measure(arguments, repeats):
    """Best wall and processor time of some runs, and peak memory in MiB, of a child process."""
    best, work, peak = float("inf"), float("inf"), 0
    for _ in range(repeats):
        begin = time.perf_counter()
        child = subprocess.Popen([heptane, *arguments], stdout=subprocess.PIPE)
        child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        best = min(best, time.perf_counter() - begin)
        work = min(work, usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss / 1024)
        if status != 0:
            sys.exit(f"{arguments} failed")
    return best, work, peak


def main():
    broken = False
    _, start_up, _ = measure(["version"], 20)
    print("| scheme | seconds | limit | processor seconds | MiB | limit |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, start, factors, seconds, memory, slow in ROWS:
        if slow and quick:
            continue
        with tempfile.TemporaryDirectory() as folder:
            best, work, peak = measure(["verify", make(folder, start, factors), "--json"], 1 if slow else 5)
            work = max(work - start_up, 0)
        broken |= min(best, work) > seconds or peak > memory
        print(f"| {name} | {best:.3g} | {seconds} | {work:.3g} | {peak:.0f} | {memory} |", flush=True)
    sys.exit(1 if broken else 0)


main()
