"""The tables of the pages for newcomers: each cell is a program that runs, and both columns give the same values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from places import ROOT

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
CODE = re.compile(r"`([^`]+)`")

pytestmark = pytest.mark.cpu_only("NumPy reads the values")


def names_of(text: str) -> dict[str, Any]:
    """What the page defines before its first table."""
    names: dict[str, Any] = {}
    for block in BLOCK.finditer(text[: text.index("\n|")]):
        exec(block[1], names)
    return names


def rows_of(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The code in the two cells of each row, of the tables whose second column is xtensor's."""
    in_table = False
    for line in text.splitlines():
        in_table = line.endswith("| xtensor |") or (in_table and line.startswith("|"))
        if in_table and "`" in line:
            left, right = line.strip("| ").split(" | ")
            yield CODE.findall(left), CODE.findall(right)


def value_of(code: str, names: dict[str, Any]) -> Any:
    """The value of an expression, or what a statement changed. It works on copies of what can be changed."""
    copies = {"ndarray": "copy", "Tensor": "clone"}
    own = {n: getattr(v, copies[type(v).__name__])() if type(v).__name__ in copies else v for n, v in names.items()}
    *statements, last = ast.parse(code).body
    exec(compile(ast.Module(statements, []), code, "exec"), own)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), code, "eval"), own)
        return own["a"] if code.startswith("np.add.at(a,") else value
    exec(compile(ast.Module([last], []), code, "exec"), own)
    target: Any = last.targets[0] if isinstance(last, ast.Assign) else getattr(last, "target", None)
    while isinstance(target, ast.Subscript):
        target = target.value
    return own[target.id]


def evaluated(variable: Any) -> Any:
    """The value of a variable of PyTensor; None if it depends on an input."""
    from pytensor.compile.mode import Mode
    from pytensor.graph.utils import MissingInputError

    try:
        return variable.eval(mode=Mode(linker="py", optimizer="fast_run"))
    except MissingInputError:
        return None


def arrays_of(value: Any) -> list[np.ndarray] | None:
    """The numbers that a cell gives, or None for text, functions and the like."""
    if isinstance(value, tuple | list):
        parts = [arrays_of(v) for v in value]
        return None if None in parts else [a for p in parts if p is not None for a in p]
    if hasattr(value, "owner"):
        value = evaluated(value)
    try:
        a = np.asarray(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError):
        return None
    return [a] if a.dtype.kind in "biufc" else None


@pytest.mark.parametrize(
    ("page", "equal"),  # and how many rows give arrays on both sides, at least
    [
        ("from_numpy", 110),
        pytest.param("from_jax", 82, marks=pytest.mark.full("as from_numpy, for JAX")),
        pytest.param("from_torch", 115, marks=pytest.mark.full("as from_numpy, for PyTorch")),
        ("from_pytensor", 0),  # the right column alone
        pytest.param("from_pytensor", 73, marks=pytest.mark.full("as from_numpy, for PyTensor")),
    ],
)
def test_both_columns_run_and_agree(page: str, equal: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page != "from_numpy":
        pytest.importorskip(page.removeprefix("from_"))
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text()
    names = names_of(text)
    count = 0
    for left, right in rows_of(text):
        values = []
        for code in right:
            values.append(arrays_of(value_of(code, names)))
            xt.option(default_float="f8", jit=True, nan="allow")  # what a cell may have set
        if not equal:
            continue
        wanted = [arrays_of(value_of(code, names)) for code in left]
        if not wanted or not values or wanted[0] is None or values[0] is None:
            continue
        for want, got in zip(wanted[0], values[0], strict=True):
            assert got.shape == want.shape, (left, right)
            if not re.search("random|dropout", right[0]):
                np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6, err_msg=f"{left} {right}")
        count += 1
    assert count >= equal, count
