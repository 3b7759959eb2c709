"""Nothing is left out: every op of the dialect has a summary, a derivative rule, a lowering test and a rule test.

The list of ops is the generated module's, so an op is checked from the moment it exists.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path

import pytest
import xtensor as xt
from derivative_cases import SMOOTH
from functions import FUNCTIONS
from places import ROOT
from xtensor.mlir import ir
from xtensor.mlir.dialects import xtensor as dialect

TABLES = ("elementwise", "linear", "chooser", "control", "no tangent", "request")
DIFFERENTIABLE = TABLES[:4]
# Their kinds have rules, lowerings and tests of their own.
KINDS: dict[str, type[IntEnum]] = {
    "accumulate": dialect.AccumulateKind,
    "cumulative": dialect.CumulativeKind,
    "reduce": dialect.ReduceKind,
    "scatter": dialect.ScatterKind,
}


def spelled(kind: IntEnum) -> str:
    """As the dialect writes it: Python's enums end words that Python keeps for itself in an underscore."""
    return str(kind.name).rstrip("_")


def ops() -> list[str]:
    found = inspect.getmembers(dialect, lambda x: inspect.isclass(x) and issubclass(x, ir.OpView))
    names = (c.OPERATION_NAME for _, c in found if hasattr(c, "OPERATION_NAME"))
    return sorted(n.removeprefix("xtensor.") for n in names if n.startswith("xtensor."))


def keys() -> list[str]:
    """Every op, those with kinds once for each."""
    return [k for op in ops() for k in ([f"{op} {spelled(kind)}" for kind in KINDS[op]] if op in KINDS else [op])]


@pytest.fixture(scope="module")
def rules(xtensor_opt: Callable[[str, str], str]) -> list[tuple[str, str]]:
    """(table, op or op and kind), as xtensor-opt prints them: the name of a table, then its rows, indented."""
    printed = xtensor_opt("--xtensor-print-rules", "module {}").partition("module {")[0]
    found, table = [], ""
    known = set(keys())
    for line in filter(str.strip, printed.splitlines()):
        if not line.startswith(" "):
            table = line.strip()
            continue
        words = line.split()
        with_kind = " ".join(words[:2])
        found.append((table, with_kind if with_kind in known else words[0]))
    return found


def test_the_list_of_ops_is_there() -> None:
    assert {"add", "contract", "gather", "pullback", "reduce", "scatter", "yield"} <= set(ops())
    assert {"reduce sum", "reduce argmin", "scatter add"} <= set(keys())


def test_every_op_is_in_exactly_one_table(rules: list[tuple[str, str]]) -> None:
    assert {table for table, _ in rules} <= set(TABLES)
    counts = Counter(key for _, key in rules)
    assert not [k for k in keys() if k not in counts], "in no table"
    assert not [k for k in counts if counts[k] > 1], "in more than one table"
    assert not [k for k in counts if k not in keys()], "a rule for an op that does not exist"


def test_every_op_has_a_summary() -> None:
    llvm = Path(os.environ.get("XTENSOR_LLVM_BIN", "/usr/lib/llvm-22/bin"))
    tool = llvm / "mlir-tblgen"
    source = ROOT / "dialects" / "XTensor" / "XTensorOps.td"
    command = [tool, "-gen-op-doc", "-dialect=xtensor", "-I", llvm.parent / "include", "-I", ROOT / "dialects", source]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    sections = re.split(r"^###+ `xtensor\.", text, flags=re.M)[1:]
    summaries = {s.partition("`")[0]: re.search(r"^_(.+)_$", s, re.M) for s in sections}
    assert sorted(summaries) == ops()
    assert not [name for name, found in summaries.items() if not found]


def in_lowering_tests() -> str:
    return "\n".join(p.read_text() for p in sorted((ROOT / "test" / "passes" / "ToLinalg").glob("**/*.mlir")))


def test_every_op_is_in_a_lowering_test(rules: list[tuple[str, str]]) -> None:
    gone = {key for table, key in rules if table == "request"} | {"checkpoint", "custom_derivative"}
    text = in_lowering_tests()
    # A derivative op is gone before lowering, and a constant may be written in one word.
    # Functions of the table are lowered by test_lowering.py.
    needed = [k for k in keys() if k not in gone and k not in FUNCTIONS]
    missing = [k for k in needed if not re.search(rf"\bxtensor\.{k.replace(' ', '[ ]+')}\b", text)]
    assert not missing


AUTODIFF = ROOT / "test" / "passes" / "Autodiff"


def rule_test(key: str) -> Path:
    return AUTODIFF / "rules" / f"{key.replace(' ', '_')}.mlir"


def test_every_differentiable_op_has_a_rule_test(rules: list[tuple[str, str]]) -> None:
    # Rules of one operand are one formula, a line of a page; test_rules.py compares them with differences.
    lines = (AUTODIFF / "elementwise_rules.txt").read_text().splitlines()
    formulas = {line.split()[0] for line in lines if ";" not in line}
    assert len(formulas) > 30
    needed = [key for table, key in rules if table in DIFFERENTIABLE and key not in formulas]
    assert not [key for key in needed if not rule_test(key).is_file()]
    unnamed = [k for k in needed if f"xtensor.{k}" not in rule_test(k).read_text()]
    assert not unnamed, "a rule test that does not hold its op"


def test_every_differentiable_op_is_checked_against_differences(rules: list[tuple[str, str]]) -> None:
    programs = (xt.jit(c.f, dynamic_dims=c.dynamic if c.open else ()).trace(*c.primals()) for c in SMOOTH)
    text = "\n".join(p.as_text() for p in programs)
    needed = {key for table, key in rules if table in DIFFERENTIABLE}
    assert not [k for k in sorted(needed) if not re.search(rf"\bxtensor\.{k}\b", text)]
