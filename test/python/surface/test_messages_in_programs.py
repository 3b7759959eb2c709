"""What the messages of slips in loops, in traced functions, and in updates of elements say to write instead."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from messages import Wrong, check_message

V = xt.ones(ch=3)
X = xt.ones(time=4, ch=3)
DATED = xt.as_array(xr.DataArray(np.arange(6.0), dims="time", coords={"time": xr.date_range("2020-01-01", periods=6)}))

MESSAGES: dict[str, Wrong] = {
    "fori_loop without return": (
        lambda: xt.fori_loop(0, 3, lambda i, c: None, 0.0),
        xt.ArgumentTypeError,
        r"xt.fori_loop: <lambda> returned None; the carry is float(32|64) \(\): return the next one",
    ),
    "fori_loop to a traced bound without return": (
        lambda: xt.jit(lambda n: xt.fori_loop(0, n, lambda i, c: None, V))(3),
        xt.ArgumentTypeError,
        r"returned None; the carry is float(32|64) \(ch: 3\)",
    ),
    "while_loop without return": (
        lambda: xt.while_loop(lambda c: c < 3, lambda c: None, 0.0),
        xt.ArgumentTypeError,
        "xt.while_loop: <lambda> returned None; the carry is float(32|64)",
    ),
    "while_loop without a predicate": (
        lambda: xt.while_loop(lambda c: None, lambda c: c + 1, 0.0),
        xt.ArgumentTypeError,
        "xt.while_loop: the condition <lambda> must return a bool, got None",
    ),
    "scan without a carry": (
        lambda: xt.scan(lambda c, x: (None, x), 0.0, V, dim="ch"),
        xt.ArgumentTypeError,
        "xt.scan: <lambda> returned None; the carry is float(32|64)",
    ),
    "a loop that returns a part of its carry": (
        lambda: xt.fori_loop(0, 3, lambda i, c: {"a": None}, {"a": V}),
        xt.ArgumentTypeError,
        r"returned None at \['a'\]; the carry at \['a'\] is float64",
    ),
    "a pair for a carry": (
        lambda: xt.fori_loop(0, 3, lambda i, c: c[0], (V, V)),
        xt.ArgumentError,
        r"It starts as \(\*, \*\) and <lambda> returns \*;",
    ),
    "no pair for a carry": (
        lambda: xt.fori_loop(0, 3, lambda i, c: None, (V, V)),
        xt.ArgumentTypeError,
        r"\(\*, \*\)",
    ),
    "an option of jit": (
        lambda: xt.jit(lambda v: v, dynamic_dim=("ch",)),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r"there is no option dynamic_dim=; options are .*; did you mean 'dynamic_dims'\?",
    ),
    "an option": (lambda: xt.option(stric=True), xt.ArgumentError, r"no option 'stric'.*did you mean 'strict'\?"),
    "a bundle that is not there": (
        lambda: xt.load("/no/such.xtb"),
        FileNotFoundError,
        r"^xt.load: /no/such.xtb cannot be read: No such file",
    ),
    "arrays that are not there": (
        lambda: xt.load_arrays("/no/such.safetensors"),
        FileNotFoundError,
        r"^xt.load_arrays: /no/such.safetensors: No such file",
    ),
    "a folder that is not there": (
        lambda: xt.save({"v": V}, "/no/such.safetensors"),
        xt.MissingFileError,
        r"^xt.save: /no/such.safetensors: No such file",
    ),
    "arguments of save in the other order": (
        lambda: xt.save("v.safetensors", {"v": V}),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        r"^xt.save: the path of a file comes second, not a dict. Write xt.save\(arrays, path\)",
    ),
    "sel without labels": (lambda: V.sel(ch=9), xt.ArgumentError, r"no labels: x.isel\(time=3\) selects by position"),
    "groupby without labels": (
        lambda: V.groupby("ch.month"),
        xt.LabelError,
        r"No variable named 'ch.month' \(operands: .*x.assign_coords\(time=days\) gives an array labels",
    ),
    "groupby of traced": (
        lambda: xt.jit(lambda v: v.groupby("ch"))(V),
        xt.LabelError,
        r"^xt.groupby: dim 'ch' has no labels here .*pass codes: x.groupby\(codes, num_groups=12",
    ),
    "coords of traced": (lambda: xt.jit(lambda v: v.coords)(V), AttributeError, "it has no labels: pass those"),  # type: ignore[attr-defined]
    "switch of one": (lambda: xt.switch(0, lambda: 1), xt.ArgumentTypeError, r"xt.switch\(index, \[f, g\]"),  # type: ignore[arg-type]
    "switch of a dict": (
        lambda: xt.switch(0, {0: lambda: 1}),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        r"a list of functions, got (a dict of 1|\{0: )",
    ),
    "rolling.mean over a dim": (
        lambda: X.rolling(time=3).mean(dim="time"),
        xt.ArgumentTypeError,
        r"xt.rolling.mean: .*x.rolling\(time=3\).mean\(\)",
    ),
    "coarsen.sum over a dim": (
        lambda: X.coarsen(time=2).sum("time"),
        xt.ArgumentTypeError,
        r"x.coarsen\(time=3\).sum\(\)",
    ),
    "format of traced": (
        lambda: xt.jit(lambda v: print(f"{v:.2e}"))(V),
        xt.ArgumentTypeError,
        "the format '.2e' is for numbers: <traced",
    ),
    "format of an array": (lambda: f"{V:.3f}", xt.DimensionError, r"'.3f' needs an array without dims.*isel\(ch=0\)"),
    "full of a shape": (lambda: xt.full((3,), 7.0), xt.ArgumentTypeError, r"Write xt.full\(value, row=3, col=4\)"),  # type: ignore[arg-type]
    "groups one by one": (
        lambda: list(DATED.groupby("time.month")),
        xt.ArgumentTypeError,
        r"cannot be iterated over. Write x.groupby\(..\).map\(f\)",
    ),
    "interp without labels": (
        lambda: X.interp(time=1.5),
        xt.LabelError,
        r"^xt.interp: dim 'time' has no labels to interpolate between .*Write x.assign_coords\(time=labels\)",
    ),
    "matmul of a vector": (
        lambda: xt.linalg.matmul(X, V),
        xt.DimensionError,
        r"matmul: takes matrices, and one operand has the dims \('ch',\).*Write xt.dot\(a, b\), or a @ b",
    ),
    "callback without a result": (
        lambda: xt.callback(np.sin, V),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r"Write xt.callback\(f, x, result=x\)",
    ),
    "to_torch without types": (
        lambda: xt.to_torch(abs),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r"write xt.to_torch\(f, args=xt.spec\(time=3\)\)",
    ),
    "from_jax without types": (
        lambda: xt.from_jax(abs),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r"write xt.from_jax\(f, args=xt.spec\(time=3\), result=xt.spec\(time=3\)\)",
    ),
    "a square matrix among other dims": (
        lambda: xt.linalg.det(xt.ones(r=2, n=4, c=2, b=3)),
        xt.DimensionError,
        r"Write dims=\('r', 'c'\)",
    ),
    "a matrix among other dims": (lambda: xt.linalg.svd(xt.ones(r=2, n=2, b=3)), xt.DimensionError, r"'n', 'b'\)"),
    "and of arrays": (
        lambda: (V > 0) and (V < 2), xt.DimensionError, r"\.any\(\) or .*, write & for and, \| for or, xt.maximum",
    ),
    "a chain of comparisons": (lambda: 0 < V < 2, xt.DimensionError, "write & for and"),
    "max of two": (lambda: max(V, V), xt.DimensionError, r"xt.maximum for max\(\)"),
    "at.add of another size": (
        lambda: X.at(time=0).add(xt.ones(ch=4)),
        xt.SizeError,
        r"'ch' of size 4, the selected elements 3.*\.isel\(ch=slice\(3\)\), or rename",
    ),
    "a dim of arange": (lambda: xt.arange(3, "t"), xt.ArgumentTypeError, r"Write dim='t'"),
    "a misspelt dim of dot": (
        lambda: xt.dot(X, X, dim="tiem"),
        xt.DimensionError,
        r"no operand has dim 'tiem'; did you mean 'time'\?",
    ),
    "a misspelt keyword": (
        lambda: xt.export(lambda x: x, args=(X,), target="cpu"),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        "'target'. Write targets= for target=",
    ),
    "a float64 number in a float32 loop": (
        lambda: xt.fori_loop(0, 3, lambda i, c: c * np.float64(2), xt.zeros(dtype="f4")),
        xt.DTypeError,
        r'Write .astype\("float64"\) on the start, or .astype\("float32"\) on the result',
    ),
    "keyword of at.set": (lambda: X.at(time=0).set(1.0, fill=2), xt.ArgumentTypeError, "^xt.at.set: .*fill"),  # type: ignore[call-arg]
}  # fmt: skip


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    check_message(MESSAGES[name])


def test_a_format_for_text_is_for_all_arrays() -> None:
    assert f"{xt.array(1.5):.2f}" == "1.50" and f"{V!s:>80}".endswith("]") and f"{V:>80}".endswith("]")
    xt.jit(lambda v: print(f"{v}") or v)(V)
