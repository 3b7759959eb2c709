"""Checks that every derivative rule has its tests: a file of IR in rules/, and numbers in reference/rule_cases.py
(functions of one float array: python/helpers/functions.py). Rules of functions of one operand are one formula: they are
lines of elementwise_rules.txt in place of files. Prints a difference to that file, in which a changed rule is to be
read.

usage: xtensor-opt FILE --xtensor-print-rules | coverage.py
"""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

here = Path(__file__).parent
tests = here.parents[1]
numbers = "".join(
    (tests / name).read_text()
    for name in ("reference/rule_cases.py", "reference/control_cases.py", "python/helpers/functions.py")
)
without_tangent = (here / "rules" / "no_tangent.mlir").read_text()

formulas = (here / "elementwise_rules.txt").read_text().splitlines()

table, problems, known, printed = "", [], set(), []
for line in sys.stdin:
    if line[:1].isalpha() and not line.startswith("module"):
        table = line.strip()
    elif line.startswith("  ") and table:
        key = re.split(r"\s{2,}", line.strip())[0][:20].strip()
        file = key.replace(" ", "_") + ".mlir"
        one_formula = table == "elementwise" and ";" not in line
        if table == "elementwise":
            printed.append(line.strip())
        known.add(file)
        if table == "no tangent":
            if f"xtensor.{key} " not in without_tangent:
                problems.append(f"{key}: not in rules/no_tangent.mlir")
        elif table != "request":
            if not one_formula and not (here / "rules" / file).exists():
                problems.append(f"{key}: no rules/{file}")
            if f'"{key}": ' not in numbers:
                problems.append(f"{key}: no case in reference/rule_cases.py")
problems += difflib.unified_diff(formulas, printed, "elementwise_rules.txt", "the printed rules", lineterm="")
assert len(known) > 50, "the tables were not read"
problems += [f"rules/{f.name}: no such rule" for f in (here / "rules").glob("*.mlir")
             if f.name not in known and f.name != "no_tangent.mlir"]  # fmt: skip
print("\n".join(problems) or f"{len(known)} ops, every one in one table and tested")
sys.exit(bool(problems))
