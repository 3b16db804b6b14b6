#!/usr/bin/env python3
"""The device suite: every scheme at every size, checked against a reference in double, ten runs bit by bit.

  tests/device/suite.py --out results                  all of it; results.jsonl and results.md are written
  tests/device/suite.py --out results --part 1/3       a third (for machines that are lent by the minute)
  tests/device/suite.py --out results --quick          one size per scheme
  tests/device/suite.py --out results --sanitizer      compute-sanitizer: memcheck up to 2048, racecheck at 512
  tests/device/suite.py --table results*.jsonl         the table of results that are there already

A case that is in the .jsonl already is not run again, so the same command resumes. Standard library only. Exit code: 0 all
ok, 1 a case failed, 2 usage, 5 no device.
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
import time

# name, what to give to heptane (the first that it knows), whether it takes part in everything
SCHEMES = [
    ("trivial", ["trivial"]),
    ("Strassen", ["strassen"]),
    ("Winograd", ["winograd"]),
    ("seven-write", ["seven-write"]),
    ("textbook", ["textbook", "2x2x2:8"]),
    ("2x2x3:11", ["2x2x3:11"]),
    ("2x3x3:15", ["2x3x3:15"]),
    ("3x3x3:23", ["laderman", "3x3x3:23"]),
    ("3x4x5:47", ["3x4x5:47"]),
    ("4x4x4:49", ["4x4x4:49"]),
]
# M, N, K: square, not square, divisible, not divisible
SIZES = [
    (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192),
    (1, 4096, 4096), (17, 1024, 4096), (4095, 1024, 2048), (2048, 8192, 1024), (8192, 1024, 4096), (320, 2560, 640),
    (512, 504, 512), (512, 512, 504), (512, 511, 512), (512, 512, 511), (1, 1, 1), (17, 33, 65), (4095, 4095, 4095),
    (4095, 4088, 4088), (1000, 999, 1001),
]
TYPES = {  # name: options of emit
    "f16": [],
    "bf16": ["--in-type", "bf16"],
    "bf16-delivered": ["--in-type", "bf16", "--plan", "deliver=1"],
    "bf16-forms": ["--in-type", "bf16", "--forms", "bf16"],
    "f16-f32": ["--out-type", "f32"],
}
LAYOUTS = {  # options of emit
    "trans-x": ["--trans-x"],
    "no-trans-y": ["--no-trans-y"],
}
CALLS = {  # options of run
    "alpha-beta": ["--alpha", "0.5", "--beta", "-2"],
    "bias-residual": ["--bias", "--residual"],
    "batch": ["--batch", "3"],
    "ld": ["--ldx", "1040", "--ldy", "1048", "--ldc", "1064"],
    "ld-odd": ["--ldx", "1031", "--ldy", "1033", "--ldc", "1063"],
}


def cases(quick):
    """(scheme, types, emit options, run options, size)"""
    out = []
    for name, _ in SCHEMES:
        for size in SIZES[1:2] if quick else SIZES:
            out.append((name, "f16", [], [], size))
    for name in ["seven-write", "trivial", "3x3x3:23"]:
        for types, options in TYPES.items():
            if types == "f16":
                continue
            for size in SIZES[1:2] if quick else [(512, 512, 512), (2048, 2048, 2048), (4095, 1000, 999), (4096, 4096, 4096)]:
                out.append((name, types, options, [], size))
    for name in ["seven-write", "trivial"]:
        for layout, options in LAYOUTS.items():
            for size in [(512, 512, 512), (1000, 999, 1001), (2048, 1024, 4096)]:
                out.append((name, layout, options, [], size))
        if not quick:
            out.append((name, "large", [], ["--repeat", "2"], (65536, 65536, 1024)))  # more than 2^31 elements
        for call, options in CALLS.items():
            for size in [(512, 512, 512), (999, 1000, 1001)]:
                out.append((name, call, [], options, size))
    return out


def key_of(case):
    scheme, types, _, _, size = case
    return "%s %s %dx%dx%d" % ((scheme, types) + size)


class Suite:
    def __init__(self, options):
        self.options = options
        self.heptane = options.heptane
        self.folder = tempfile.mkdtemp(prefix="heptane-suite-")
        self.rows = {}
        self.deadline = time.time() + options.time_limit

    def call(self, arguments, timeout=600, prefix=()):
        process = subprocess.run([*prefix, self.heptane, *arguments], capture_output=True, text=True, timeout=timeout)
        return process.returncode, process.stdout, process.stderr.strip()

    def load(self):
        path = self.options.out + ".jsonl"
        if os.path.exists(path):
            with open(path) as file:
                for line in file:
                    row = json.loads(line)
                    self.rows[row["key"]] = row

    def save(self, row):
        self.rows[row["key"]] = row
        with open(self.options.out + ".jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        text = "ok  " if row["ok"] else "FAIL"
        print("%s %-40s %s" % (text, row["key"], row.get("message") or "%.2e of %.1e  %.3f ms" % (
            row.get("rel_error") or -1, row.get("bound") or -1, row.get("ms") or -1)), flush=True)

    def emit(self, scheme, types, options):
        """Emits and compiles one operation; its folder or an error text."""
        folder = os.path.join(self.folder, "%s-%s" % (scheme.replace(":", "_"), types))
        names = dict(SCHEMES)[scheme]
        error = ""
        for name in names:
            code, _, error = self.call(["emit", name, "--op", "gemm", "--target", self.options.target, "-o", folder, *options])
            if code == 0:
                code, _, error = self.call(["compile", folder])
                return (folder, "") if code == 0 else (None, error)
        return None, error

    def run(self, case, folder):
        scheme, types, _, extra, (m, n, k) = case
        row = {"key": key_of(case), "scheme": scheme, "types": types, "m": m, "n": n, "k": k, "ok": False}
        arguments = ["run", folder, "-m", str(m), "-n", str(n), "-k", str(k), "--backend", self.options.backend,
                     "--repeat", str(self.options.repeat), "--json", *extra]
        try:
            code, output, error = self.call(arguments, self.options.case_timeout)
            row["exit"] = code
            if output.strip():
                row.update(json.loads(output))
            if code != 0:
                row["ok"] = False
                row["message"] = error.replace("\n", " ")[:600]
        except subprocess.TimeoutExpired:
            row["message"] = "took longer than %d seconds" % self.options.case_timeout
        except ValueError:
            row["message"] = "the command printed something that is not JSON"
        row["key"], row["scheme"] = key_of(case), scheme
        return row

    def part(self, all_cases):
        which, of = (int(x) for x in self.options.part.split("/"))
        return [case for i, case in enumerate(all_cases) if i % of == which - 1]

    def main(self):
        self.load()
        todo = [c for c in self.part(cases(self.options.quick)) if key_of(c) not in self.rows]
        if self.options.only:
            todo = [c for c in todo if self.options.only in key_of(c)]
        kinds = sorted({(c[0], c[1] if c[2] else "f16", tuple(c[2])) for c in todo})
        folders = {}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            made = pool.map(lambda kind: self.emit(kind[0], kind[1], list(kind[2])), kinds)
            for kind, (folder, error) in zip(kinds, made):
                folders[kind] = (folder, error)
            jobs = []
            for case in todo:
                folder, error = folders[(case[0], case[1] if case[2] else "f16", tuple(case[2]))]
                if folder is None:
                    self.save({"key": key_of(case), "scheme": case[0], "types": case[1], "m": case[4][0], "n": case[4][1],
                               "k": case[4][2], "ok": False, "message": "not emitted: " + error.replace("\n", " ")[:300]})
                else:
                    jobs.append(pool.submit(self.guarded, case, folder))
            for job in concurrent.futures.as_completed(jobs):
                if job.result():
                    self.save(job.result())
            for name in ["strassen", "trivial"] if self.options.backend == "gpu" and not self.options.only else []:
                self.api(name)
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.finish()

    def api(self, name):
        """What rt.h promises: saved weights, threads, graphs (device_api)."""
        key = "api %s" % name
        program = os.path.join(os.path.dirname(self.heptane), "device_api")
        if key in self.rows or not os.path.exists(program):
            return
        folder = os.path.join(self.folder, "api-" + name)
        code, output, error = self.call(["emit", name, "--op", "gemm", "--target", self.options.target, "-o", folder])
        if code == 0:
            try:
                process = subprocess.run([program, folder, "1000", "520", "712"], capture_output=True, text=True, timeout=self.options.case_timeout)
                code, output, error = process.returncode, process.stdout, process.stderr
            except subprocess.TimeoutExpired:
                code, error = 124, "took too long"
        self.save({"key": key, "scheme": name, "types": "api", "m": 1000, "n": 520, "k": 712, "ok": code == 0, "exit": code,
                   "message": (output if code == 0 else error).strip()[:300]})

    def guarded(self, case, folder):
        return self.run(case, folder) if time.time() < self.deadline else None

    def finish(self):
        with open(self.options.out + ".md", "w") as file:
            file.write(table(self.rows.values(), self.machine()))
        failed = [row for row in self.rows.values() if not row["ok"]]
        print("%d cases, %d failed" % (len(self.rows), len(failed)))
        return 1 if failed else 0

    def machine(self):
        driver = ""
        if shutil.which("nvidia-smi"):
            driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                    capture_output=True, text=True).stdout.strip().split("\n")[0]
        code, output, _ = self.call(["doctor", "--json"])
        nvrtc = [p["what"] for p in json.loads(output)["parts"] if p["part"] == "NVRTC"] if code == 0 else []
        return "%s; %s; NVRTC %s" % (datetime.date.today(), driver or self.options.backend, nvrtc[0].split(",")[0] if nvrtc else "?")

    def sanitizer(self):
        tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        failed = 0
        for scheme, _ in SCHEMES:
            folder, error = self.emit(scheme, "f16", [])
            if folder is None:
                print("FAIL %s: %s" % (scheme, error[:300]))
                failed += 1
                continue
            for check, size in [("memcheck", (2048, 2048, 2048)), ("memcheck", (1000, 999, 1001)), ("racecheck", (512, 512, 512))]:
                arguments = ["run", folder, "-m", str(size[0]), "-n", str(size[1]), "-k", str(size[2]), "--backend", "gpu"]
                try:
                    code, output, error = self.call(arguments, 400, [tool, "--tool", check, "--error-exitcode", "99"])
                except subprocess.TimeoutExpired:
                    code, output, error = 124, "", "took too long"
                failed += code != 0
                lines = [line for line in (output + error).split("\n") if line.startswith("=========")]
                print("%s %s %s %dx%dx%d: %s" % ("ok  " if code == 0 else "FAIL", scheme, check, *size,
                                                 " | ".join(lines[-8:])[:900]), flush=True)
        return 1 if failed else 0


def table(rows, machine):
    rows = sorted(rows, key=lambda r: (r["types"], r["scheme"], r["m"] * r["n"] * r["k"], r["m"]))
    out = ["# Device suite", "", machine, "",
           "Relative Frobenius error against a reference in double; ok: within the bound that the package states, every element",
           "written, the same bits in every run.", "",
           "| scheme | types | M | N | K | error | bound | bits equal | ms | |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for r in rows:
        error = "%.2e" % r["rel_error"] if r.get("rel_error") is not None else "-"
        bound = "%.1e" % r["bound"] if r.get("bound") else "-"
        out.append("| %s | %s | %d | %d | %d | %s | %s | %s | %s | %s |" % (
            r["scheme"], r["types"], r["m"], r["n"], r["k"], error, bound, {True: "yes", False: "no"}.get(r.get("identical"), "-"),
            "%.4f" % r["ms"] if r.get("ms") else "-", "ok" if r["ok"] else "**" + (r.get("message") or "failed").replace("|", "/")[:160] + "**"))
    return "\n".join(out) + "\n"


def default_heptane():
    """The command: as HEPTANE says, beside this folder (a bundle), or where it is built."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(here, "..", "heptane")
    return os.environ.get("HEPTANE") or (beside if os.path.exists(beside) else os.path.join(here, "..", "..", "build", "bin", "heptane"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heptane", default=default_heptane())
    parser.add_argument("--out", default="results")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--backend", default="gpu")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="", help="cases whose key contains this")
    parser.add_argument("--time-limit", type=float, default=460.0, help="seconds after which no new case starts")
    parser.add_argument("--case-timeout", type=float, default=90.0, help="seconds for one case")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sanitizer", action="store_true")
    parser.add_argument("--table", nargs="+", metavar="JSONL")
    options = parser.parse_args()
    if options.table:
        rows = {}
        for path in options.table:
            with open(path) as file:
                rows.update((row["key"], row) for row in map(json.loads, file))
        sys.stdout.write(table(rows.values(), str(datetime.date.today())))
        return 0
    suite = Suite(options)
    return suite.sanitizer() if options.sanitizer else suite.main()


if __name__ == "__main__":
    sys.exit(main())
