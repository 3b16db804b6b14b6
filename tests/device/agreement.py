#!/usr/bin/env python3
"""A GPU against the emulator, element by element: every package of the device suite on the same inputs on both.

  tests/device/agreement.py --out agreement            agreement.json and agreement.md are written, under three minutes
  tests/device/agreement.py --out a --only 3x3x3       rows whose name contains this
  tests/device/agreement.py --sides emulator,emulator --quick    without a GPU: two schedules of the emulator, a few rows

Each row is one run of `agree` (tests/emulated/agree.c says what is allowed). Sizes have ragged edges in every direction; odd
sizes also take the ways through unaligned rows. With a GPU the tests of the emulator's instructions run on it as well
(test_emulator_async, test_emulator_simt). Standard library only. Exit code: 0 all within, 1 not, 5 no device.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from suite import CALLS, LAYOUTS, SCHEMES, TYPES, Suite, default_heptane

WHOLE = ["seven-write", "trivial"]  # schemes that take part in layouts and calls
MLPS = [  # scheme, name, options of emit
    ("seven-write", "f16", []),
    ("seven-write", "bf16", ["--in-type", "bf16"]),
    ("seven-write", "geglu, bias", ["--with", "activation=geglu,bias=yes"]),
    ("textbook", "not chained", ["--chain", "none"]),
    ("strassen", "f16", []),
    ("trivial", "f16", []),
]
PROGRAMS = ["test_emulator_async", "test_emulator_simt"]
HEAD = """# The emulator against silicon

%s

The same packages on the same inputs (`tests/device/agreement.py`). Allowed per element: 2^-22 sum |a| |b| over the products that
flow into it, plus per write one unit in the last place (`allowance.c` says how and why). An MLP block, whose activations are
rounded between its products, may differ as a matrix by the rounding error that its package expects.

| scheme | package | call | forms | output | M x N x K | writes | equal bit for bit | relative Frobenius difference | largest difference / allowed | within |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


class Package:
    """One op: how it is emitted, and the calls that are compared."""

    def __init__(self, scheme, name, op, emit, calls):
        self.scheme, self.name, self.op, self.emit, self.calls = scheme, name, op, emit, calls


def packages(quick):
    plain = [("", [], False)]
    out = []
    for scheme, names in SCHEMES[:1] + SCHEMES[3:4] if quick else SCHEMES:
        calls = plain if quick else plain + [("odd", [], True)]
        if scheme in WHOLE and not quick:
            calls = calls + [(name, options, odd) for name, options in CALLS.items() for odd in (False, True)]
        out.append(Package(scheme, "f16", "gemm", [], calls))
        for types, options in TYPES.items():
            if types != "f16" and (types == "f16-f32" or not quick):
                out.append(Package(scheme, types, "gemm", options, plain))
        if scheme != "trivial" and not quick:
            out.append(Package(scheme, "not chained", "gemm", ["--chain", "none"], plain))
            out.append(Package(scheme, "not chained, f32", "gemm", ["--chain", "none", "--out-type", "f32"], plain))
        for layout, options in LAYOUTS.items() if scheme in WHOLE and not quick else []:
            out.append(Package(scheme, layout, "gemm", options, plain + [("odd", [], True)]))
    for scheme, name, options in MLPS[:1] if quick else MLPS:
        out.append(Package(scheme, "MLP, " + name, "mlp", options, plain))
    return out


def size_of(shape, odd):
    """Blocks of the smallest tiles, the last of them partial; a single block: several tiles."""
    n, m, p = shape
    sizes = [256 * n - 168 if n > 1 else 600, 256 * p - 136 if p > 1 else 520, 192 * m - 56 if m > 1 else 712]
    return [s - 7 - i for i, s in enumerate(sizes)] if odd else sizes


def strides(name, m, n, k):
    """Leading dimensions above the rows' lengths: multiples of 8 elements, or odd."""
    longer = (lambda row: row + 16) if name == "ld" else (lambda row: row + 9 | 1)
    return ["--ldx", str(longer(k)), "--ldy", str(longer(k)), "--ldc", str(longer(n))]


def rank_of(package):
    return int(package.scheme.split(":")[1]) if ":" in package.scheme else 0


class Agreement:
    def __init__(self, options):
        self.options = options
        self.suite = Suite(options)
        self.agree = os.path.join(os.path.dirname(os.path.abspath(options.heptane)), "agree")
        self.deadline = time.time() + options.time_limit
        self.started = time.time()
        self.lock = threading.Lock()
        self.rows = []
        self.no_device = False

    def emit(self, package, folder):
        """The package and its plan; its shape, or an error text."""
        error = ""
        for name in dict(SCHEMES).get(package.scheme, [package.scheme]):
            words = ["emit", name, "--op", package.op, "--target", self.options.target, *package.emit]
            code, _, error = self.suite.call([*words, "-o", folder])
            if code == 0:
                break
        else:
            return None, "not emitted: " + error
        if package.op == "mlp":
            return (2, 2, 2), ""
        code, plan, error = self.suite.call([*words, "--dump=plan"])
        if code:
            return None, "no plan: " + error
        with open(os.path.join(folder, "plan.json"), "w") as file:
            file.write(plan)
        scheme = json.loads(plan)["scheme"]
        return (scheme["n"], scheme["m"], scheme["p"]), ""

    def compare(self, package, folder, shape, call, options, odd):
        m, n, k = size_of(shape, odd)
        words = strides(call, m, n, k) if call.startswith("ld") else options
        row = {"scheme": package.scheme, "package": package.name, "call": (call + " odd" if odd and call != "odd" else call) or "plain",
               "m": m, "n": n, "k": k, "within": False}
        left = min(self.options.case_timeout, self.deadline - time.time())
        if self.no_device or left <= 0:
            row["message"] = "not run: no time left" if not self.no_device else "no device"
            return row
        try:
            done = subprocess.run([self.agree, folder, str(m), str(n), str(k), "--sides", self.options.sides, "--json", *words],
                                  capture_output=True, text=True, timeout=left)
            if done.stdout.startswith("{"):
                row.update((key, value) for key, value in json.loads(done.stdout).items() if key != "scheme")
            else:
                row["message"] = done.stderr.strip().replace("\n", " ")[:300] or "exit code %d" % done.returncode
            self.no_device = self.no_device or done.returncode == 5
        except subprocess.TimeoutExpired:
            row["message"] = "took longer than %d seconds" % left
        return row

    def work(self, package):
        folder = tempfile.mkdtemp(dir=self.suite.folder)
        shape, error = self.emit(package, folder)
        for call, options, odd in package.calls:
            if shape is None:
                row = {"scheme": package.scheme, "package": package.name, "call": call or "plain", "within": False, "message": error[:300]}
            else:
                row = self.compare(package, folder, shape, call, options, odd)
            self.save(row)

    def save(self, row):
        with self.lock:
            self.rows.append(row)
            what = row.get("message") or "%.3f %% equal, %s of what is allowed" % (100 * row["equal"], number(row["worst"]))
            print("%6.1f s  %s %-12s %-16s %-18s %s" % (time.time() - self.started, "ok  " if row["within"] else "FAIL", row["scheme"],
                  row["package"], row["call"], what), flush=True)

    def programs(self):
        """The emulator's own kernels, run on the GPU."""
        lines = []
        for name in PROGRAMS if "gpu" in self.options.sides else []:
            path = os.path.join(os.path.dirname(self.agree), name)
            if not os.path.exists(path):
                continue
            try:
                done = subprocess.run([path], capture_output=True, text=True, timeout=60, env={**os.environ, "HEPTANE_TEST_BACKEND": "gpu"})
                verdict = "passed" if done.returncode == 0 else "FAILED: " + (done.stdout + done.stderr)[-300:].replace("\n", " ")
            except subprocess.TimeoutExpired:
                verdict = "FAILED: took longer than a minute"
            lines.append("`%s` on the GPU: %s." % (name, verdict))
            print(lines[-1], flush=True)
        return lines

    def main(self):
        todo = [p for p in packages(self.options.quick) if self.options.only in p.scheme + " " + p.name]
        todo.sort(key=rank_of, reverse=True)  # the longest first, so that they do not run on alone
        lines = self.programs()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for job in [pool.submit(self.work, package) for package in todo]:
                job.result()
        shutil.rmtree(self.suite.folder, ignore_errors=True)
        if self.no_device:
            print("no device", file=sys.stderr)
            return 5
        return self.finish(lines)

    def finish(self, lines):
        order = [name for name, _ in SCHEMES]
        self.rows.sort(key=lambda r: order.index(r["scheme"]) if r["scheme"] in order else len(order))
        machine = self.suite.machine()
        with open(self.options.out + ".json", "w") as file:
            json.dump({"machine": machine, "sides": self.options.sides, "programs": lines, "rows": self.rows}, file, indent=1)
        with open(self.options.out + ".md", "w") as file:
            file.write(HEAD % machine + "".join(map(line_of, self.rows)) + "\n" + "".join(line + "\n" for line in lines))
        outside = sum(not row["within"] for row in self.rows) + sum("FAILED" in line for line in lines)
        print("%d rows, %d not within, %.0f s" % (len(self.rows), outside, time.time() - self.started))
        return 1 if outside else 0


def number(value):
    return "-" if value is None else "%.3f" % value


def line_of(row):
    where = "%d x %d x %d" % (row["m"], row["n"], row["k"]) if "m" in row else "-"
    if "equal" not in row:
        return "| %s | %s | %s | | | %s | | | | | **%s** |\n" % (row["scheme"], row["package"], row["call"], where, row["message"].replace("|", "/"))
    return "| %s | %s | %s | %s | %s | %s | %d | %.3f %% | %.1e | %s | %s |\n" % (
        row["scheme"], row["package"], row["call"], row["forms"], row["output"], where, row["writes"], 100 * row["equal"],
        row["difference"], number(row["worst"]), "yes" if row["within"] else "**NO**")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heptane", default=default_heptane())
    parser.add_argument("--out", default="agreement")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--sides", default="gpu,emulator", help="what is compared; emulator,emulator needs no GPU")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--only", default="", help="rows whose scheme and package contain this")
    parser.add_argument("--time-limit", type=float, default=170.0, help="seconds after which nothing runs any more")
    parser.add_argument("--case-timeout", type=float, default=60.0, help="seconds for one row")
    parser.add_argument("--quick", action="store_true", help="a few rows")
    options = parser.parse_args()
    options.backend = options.sides
    return Agreement(options).main()


if __name__ == "__main__":
    sys.exit(main())
