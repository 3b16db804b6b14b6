#!/usr/bin/env python3
"""The MLP block on a GPU: correctness at odd sizes, then times against cuBLAS with fused norm and activation kernels.

  tests/device/mlp.py                          checks, then the table of sizes; mlp.jsonl and mlp.md are written
  tests/device/mlp.py --check --bench          parts, any of --check --bench --small --any --rank --unchained
  tests/device/mlp.py --small                  T = 1 ... 3072: plans of the trivial scheme and seven-write; mlp-small.*
  tests/device/mlp.py --any                    what a layer takes (tuned or default) at any T; `heptane tune --op mlp` before it. Its sizes go to
                                               processes of 13 (--batch), each of which is kept; `--options trivial` for the plain plan beside it
  tests/device/mlp.py --rank --unchained       controls: rank 8 through the same kernels, the schedule without chaining
  tests/device/mlp.py --bench --shapes 5120x17408 --sizes 4096,8192 --schemes seven-write,textbook --quick

Every row of a .jsonl holds the raw samples, in turns.
Baseline: bf16 values in the type of the operands (--types), RMSNorm kernel, cuBLASLt (best of eight heuristics), activation
kernel, cuBLASLt, in one stream. Ratios in turns and each alone at its own clock. Standard library only. Exit code: 0 all ok,
1 a case failed, 5 no device.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys

REPEAT = ["--repeat", "3"]  # bit by bit, so without cut=2, which adds up a shared tile in any order
CHECKS = [  # scheme, tokens, hidden, intermediate, further options
    ("seven-write", 8192, 5120, 17408, []),
    ("seven-write", 1000, 577, 1537, REPEAT),
    ("seven-write", 4095, 4096, 14336, ["--residual", "--in-type", "bf16"]),
    ("seven-write", 2048, 1024, 4096, ["--with", "activation=geglu,bias=yes,rounding=twice", "--in-type", "bf16"]),
    ("seven-write", 2048, 1024, 4096, ["--with", "activation=relu_squared,sums=f32", "--out-type", "f32"]),
    ("seven-write", 4096, 2048, 8192, ["--set", "cut=2"]),
    ("seven-write", 1300, 640, 520, ["--plan", "tile_n=64,cluster=1"] + REPEAT),
    ("textbook", 3000, 2048, 5504, ["--chain", "none"]),
    ("strassen", 3000, 2048, 5504, []),
    ("trivial", 1, 5120, 17408, []),
    ("trivial", 17, 576, 1536, ["--with", "activation=geglu_tanh"]),
    ("trivial", 513, 576, 1536, ["--in-type", "bf16", "--forms", "bf16", "--with", "activation=silu"]),
    ("trivial", 8192, 4096, 14336, []),
    ("trivial", 1100, 576, 1536, ["--set", "fuse_norm=2", "--residual"] + REPEAT),
    ("trivial", 1100, 576, 1536, ["--with", "norm=none"] + REPEAT),
] + [("trivial", tokens, 5120, 17408, ["--plan", "turned=%d,tile_n=128,cluster=%d" % plan] + more) for tokens, plan, more in [
    (1, (16, 1), REPEAT), (17, (32, 1), ["--residual"] + REPEAT), (63, (64, 1), REPEAT), (65, (96, 1), ["--in-type", "bf16"] + REPEAT),
    (60, (64, 4), REPEAT), (100, (128, 2), REPEAT), (129, (192, 1), REPEAT), (256, (256, 1), ["--set", "cut=2"]), (1000, (256, 2), REPEAT),
    (47, (48, 1), REPEAT), (49, (48, 2), REPEAT), (111, (112, 2), REPEAT), (113, (112, 1), ["--residual"] + REPEAT), (175, (176, 1), REPEAT),
    (353, (176, 2), ["--in-type", "bf16"] + REPEAT), (207, (208, 2), REPEAT), (209, (208, 1), REPEAT), (239, (240, 1), REPEAT), (721, (240, 2), REPEAT),
    (47, (48, 1), ["--with", "norm=none"] + REPEAT)]]
SHAPES = ["5120x17408", "4096x14336"]
TURNED = "trivial@turned=*,tile_n=128,cluster=%d"  # *: the width that fits
SMALL = {  # sizes: scheme and plan
    "1,2,4,8,16,24,32,48,64,80,96": [TURNED % 1],
    "128,160,192,224,256": [TURNED % 1, TURNED % 2],
    "300,384,450": [TURNED % 2, "trivial"],
    "512": [TURNED % 2, "trivial@tile_n=128,cluster=1", "trivial@cluster=1", "trivial"],
    "640,700,768,900,1024,1150": [TURNED % 2, "trivial"],
    "1280,1400,1536,1700,1792,2048": [TURNED % 2, "trivial", "seven-write"],
    "3072": ["trivial", "seven-write"],
}
ANY = ("1,3,8,16,24,32,40,48,64,72,80,96,100,112,128,144,160,176,192,200,224,240,256,300,350,384,400,450,480,512,600,640,700,768,850,900,960,"
       "1000,1024,1200,1300,1400,1536,1700,1792,2000,2048,3000,4096")
PARTS = {  # suffix of the file; sizes: schemes (None: as given); further words
    "bench": ("", None, []),
    "small": ("-small", SMALL, ["--load", "0.1", "--alone", "0"]),
    "any": ("-any", {ANY: []}, ["--chosen", "--load", "0.1", "--alone", "0"]),
    "rank": ("-rank", {"2048,4096,8192,16384,32768": ["seven-write", "textbook"]}, []),
    "unchained": ("-unchained", {"2048,8192,16384": ["seven-write"]}, ["--unchained"]),
}


def command():
    here = os.path.dirname(os.path.abspath(__file__))
    for path in [os.environ.get("HEPTANE", ""), os.path.join(here, "../heptane"), os.path.join(here, "../../build/bin/heptane")]:
        if path and os.access(path, os.X_OK):
            return path
    sys.exit("mlp.py: no heptane; set HEPTANE.")


def check(heptane):
    failed = 0
    for scheme, m, hidden, inner, options in CHECKS:
        words = [heptane, "run", scheme, "--op", "mlp", "-m", str(m), "--hidden", str(hidden), "--intermediate", str(inner),
                 "--backend", "gpu", "--json"] + options
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            print("HANGS ", " ".join(words[2:]), flush=True)
            return 1
        if done.returncode == 5:
            sys.exit(5)
        failed += done.returncode != 0
        if done.stdout.startswith("{"):
            r = json.loads(done.stdout)
            print("%-6s %-12s %5d %5d %6d  error %.2e  %9.4f ms  %s" % ("ok" if r["ok"] else "FAILED", scheme, m, hidden, inner,
                  r["rel_error"], r["ms"], " ".join(options)), flush=True)
        else:
            print("FAILED", " ".join(words[2:]), done.stderr.strip()[:300], flush=True)
    return failed


def width(m):
    """Rows of the turned tiles that fit m rows, as runtime/tune/width.h says."""
    fewest = -(-m // 256)
    fits = []
    for tiles in range(fewest, m + 1):
        rows = -(-m // tiles // 16) * 16
        if tiles > fewest and rows < 160:
            break
        fits.append((tiles * rows, tiles, rows))
    return min(fits)[2]


def runs(table_of, args):
    """Sizes and schemes of each process: at most --batch sizes that have the same schemes with the same widths."""
    for sizes, schemes in table_of.items():
        wanted = [int(size) for size in sizes.split(",") if not args.only or size in args.only.split(",")]
        for filled, group in itertools.groupby(wanted, lambda m: [s.replace("*", str(width(m))) for s in schemes]):
            group = list(group)
            for first in range(0, len(group), args.batch):
                yield ",".join(map(str, group[first:first + args.batch])), filled


def bench(heptane, args, part):
    suffix, table_of, further = PARTS[part]
    rows, failed = [], 0
    for shape in args.shapes.split(","):
        hidden, inner = shape.split("x")
        for sizes, schemes in runs(table_of or {args.sizes: args.schemes.split(",")}, args):
            words = [heptane, "bench", "--op", "mlp", *schemes, "--sizes", sizes, "--hidden", hidden, "--intermediate", inner, "--parts", "--json"]
            words += ["--in-type", "f16", "--baseline-type", args.baseline] if args.types == "f16" else ["--in-type", "bf16"]
            words += ["--load", "0.5", "--alone", "0"] if args.quick else []
            words += further + args.options.split()
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode == 5:
                sys.exit(5)
            if done.stdout.startswith("{"):
                more = json.loads(done.stdout)["rows"]
                rows += more
                keep(args.out + suffix, rows)
                print(table(more), flush=True)
            if done.returncode:
                failed += 1
                print(done.stderr, file=sys.stderr, flush=True)
    return failed + sum(not r["ok"] for r in rows)


def keep(name, rows):
    with open(name + ".jsonl", "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    with open(name + ".md", "w") as file:
        file.write(table(rows))


def table(rows):
    lines = ["| H | I | T | scheme | plan | chain | ms | baseline ms | ratio | own | error | baseline error | kernels ms |", "|" + " --- |" * 13]
    for r in rows:
        parts = ", ".join("%s %.4f" % item for item in r.get("parts_ms", {}).items())
        lines.append("| %d | %d | %d | %s%s | %s | %s | %.4f | %.4f | %.3f | %s | %.2e | %.2e | %s |" % (
            r["hidden"], r["intermediate"], r["m"], r["scheme"], "" if r["ok"] else " NOT OK", r["plan"] + " (%s)" % r["chosen"] if "chosen" in r else r["plan"], r["chain"], r["ms"],
            r["baseline_ms"], r["ratio"], "%.3f" % r["ratio_own"] if r["ratio_own"] else "", r["rel_error"] or 99,
            r["baseline_rel_error"] or 99, parts))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    for part in PARTS:
        parser.add_argument("--" + part, action="store_true")
    parser.add_argument("--quick", action="store_true", help="short loads, not alone")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--sizes", default="2048,4096,8192,16384,32768")
    parser.add_argument("--only", default="", help="of the sizes of --small and --any only these")
    parser.add_argument("--batch", type=int, default=13, help="sizes for each process of heptane bench")
    parser.add_argument("--schemes", default="seven-write,textbook,trivial")
    parser.add_argument("--types", default="f16", choices=["f16", "bf16"])
    parser.add_argument("--baseline", default="bf16", choices=["f16", "bf16"])
    parser.add_argument("--options", default="", help="further words for heptane bench")
    parser.add_argument("--out", default="mlp")
    args = parser.parse_args()
    heptane, failed = command(), 0
    wanted = [part for part in PARTS if getattr(args, part)]
    if args.check or not wanted:
        failed += check(heptane)
    for part in wanted if wanted or args.check else ["bench"]:
        failed += bench(heptane, args, part)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
