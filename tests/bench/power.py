#!/usr/bin/env python3
"""Fits the energies of `heptane roofline` to measured rows: watts x time = e_operation F + e_byte D + e_written O, by least
squares of relative errors. Usage: power.py [SPEED.md]

F operations, D bytes of operands and forms read or made, O bytes written into outputs (every write counts). All rows are at
the power limit, so what the chip draws when idle is in the energies. Only products of at least LEAST operations: smaller ones
are over before power limits them. Prints the energies in picojoules, the mean watts, and how far the fit is off."""
import pathlib
import sys

LEAST = 1e12
# products, blocks per side, writes of the schemes in the table (heptane chain)
SCHEMES = {"trivial": (1, 1, 1), "seven-write": (7, 2, 7), "seven-write-accurate": (7, 2, 7), "seven-write-plain": (7, 2, 7),
           "strassen": (7, 2, 10), "strassen x seven-write-accurate": (49, 4, 82), "two-levels": (49, 4, 82),
           "seven-write-accurate x seven-write-accurate": (49, 4, 75), "seven-write x seven-write": (49, 4, 75)}
WANTED = ("M", "N", "K", "scheme", "forms of X", "types", "ms", "W")
TYPES = "f16 -> f16, f16"  # of the rows that count


def read_rows(path):
    """Rows of every table that has the columns, of sections without variants that lost."""
    header, lost = [], False
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("## "):
            lost = "lost" in line
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            header = []
        elif all(name in cells for name in WANTED):
            header = cells
        elif header and cells[0].isdigit() and len(cells) == len(header) and not lost:
            row = dict(zip(header, cells))
            if row["scheme"] in SCHEMES and row["types"] == TYPES and row["W"] != "-":
                yield row


def quantities(row):
    """Operations, bytes read or made, bytes written, joules."""
    m, n, k = (int(row[name]) for name in "MNK")
    products, side, writes = SCHEMES[row["scheme"]]
    forms = products / side**2
    operations = 2 * m * n * k * products / side**3
    read = 2 * forms * (m * k + k * n)
    if row["forms of X"] in ("included", "fresh"):
        read += 2 * (1 + forms) * m * k
    if row["forms of X"] == "fresh":
        read += 2 * (1 + forms) * k * n
    return (operations, read, 2 * m * n * writes / side**2), float(row["ms"]) * 1e-3 * float(row["W"])


def solve(rows):
    """Least squares of 1 = sum of coefficients times row, by the normal equations."""
    size = len(rows[0])
    table = [[sum(r[i] * r[j] for r in rows) for j in range(size)] + [sum(r[i] for r in rows)] for i in range(size)]
    for i in range(size):
        pivot = table[i][i]
        table[i] = [value / pivot for value in table[i]]
        for j in range(size):
            if j != i:
                table[j] = [a - table[j][i] * b for a, b in zip(table[j], table[i])]
    return [line[size] for line in table]


path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("SPEED.md")
kept = [row for row in read_rows(path) if 2 * int(row["M"]) * int(row["N"]) * int(row["K"]) >= LEAST]
if len(kept) < 4:
    sys.exit(f"power.py: {path}: {len(kept)} usable rows are too few.")
scaled = [[value / joules for value in values] for values, joules in map(quantities, kept)]
energies = solve(scaled)
errors = [sum(a * b for a, b in zip(energies, row)) - 1 for row in scaled]
print("watts %.0f" % (sum(float(row["W"]) for row in kept) / len(kept)))
for name, value in zip(("operation", "byte", "written"), energies):
    print("pj_%s %.3g" % (name, value * 1e12))
print("rows %d, off by %.1f %% (root mean square), %.1f %% at most"
      % (len(kept), 100 * (sum(e * e for e in errors) / len(errors)) ** 0.5, 100 * max(map(abs, errors))))
