"""The one list of functions whose derivatives are checked. Compiled programs are held against differences
(test_gradient_rules.py), and what the derivative passes print is run op by op on NumPy arrays (test_rules.py).

`FUNCTIONS`: by public functions, from which a program is traced as a user would write it; `OPS` and `CONTROL`: ops
of the dialect by themselves, where no public function makes them so.
"""

from __future__ import annotations

from cases import Case
from control_cases import CONTROL
from gradient_cases import FUNCTIONS
from rule_cases import OPS

CASES: list[Case] = [
    *FUNCTIONS,
    *(op.case(f"{key} #{i}") for key, ops in (OPS | CONTROL).items() for i, op in enumerate(ops)),
]
BY_NAME = {case.name: case for case in CASES}
PUBLIC = [case for case in CASES if case.public]
SMOOTH = [case for case in CASES if case.smooth]
