"""Checks that every derivative rule has its test: a file of IR in rules/, and numbers in reference/rule_cases.py
(functions of one float array: python/helpers/functions.py).

usage: xtensor-opt FILE --xtensor-print-rules | coverage.py
"""

from __future__ import annotations

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

table, problems, known = "", [], set()
for line in sys.stdin:
    if line[:1].isalpha() and not line.startswith("module"):
        table = line.strip()
    elif line.startswith("  ") and table:
        key = re.split(r"\s{2,}", line.strip())[0][:20].strip()
        file = key.replace(" ", "_") + ".mlir"
        known.add(file)
        if table == "no tangent":
            if f"xtensor.{key} " not in without_tangent:
                problems.append(f"{key}: not in rules/no_tangent.mlir")
        elif table != "request":
            if not (here / "rules" / file).exists():
                problems.append(f"{key}: no rules/{file}")
            if f'"{key}": ' not in numbers:
                problems.append(f"{key}: no case in reference/rule_cases.py")
assert len(known) > 50, "the tables were not read"
problems += [f"rules/{f.name}: no such rule" for f in (here / "rules").glob("*.mlir")
             if f.name not in known and f.name != "no_tangent.mlir"]  # fmt: skip
print("\n".join(problems) or f"{len(known)} ops, every one in one table and tested")
sys.exit(bool(problems))
