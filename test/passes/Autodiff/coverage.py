"""Checks that every derivative rule has its file of IR in rules/. Rules of functions of one operand are one formula:
they are lines of elementwise_rules.txt in place of files. That every rule has its numbers is checked by
python/surface/test_coverage.py. Prints a difference to elementwise_rules.txt, in which a changed rule is to be read.

usage: xtensor-opt FILE --xtensor-print-rules | coverage.py
"""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

here = Path(__file__).parent
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
        elif table != "request" and not one_formula and not (here / "rules" / file).exists():
            problems.append(f"{key}: no rules/{file}")
problems += difflib.unified_diff(formulas, printed, "elementwise_rules.txt", "the printed rules", lineterm="")
assert len(known) > 50, "the tables were not read"
problems += [f"rules/{f.name}: no such rule" for f in (here / "rules").glob("*.mlir")
             if f.name not in known and f.name != "no_tangent.mlir"]  # fmt: skip
print("\n".join(problems) or f"{len(known)} ops, every one in one table and tested")
sys.exit(bool(problems))
