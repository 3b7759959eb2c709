"""What the messages of common slips name: the function that was called, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

V = xt.ones(ch=3)
X = xt.ones(time=4, ch=3)
AT = xt.array([0, 7], "k")
OUTSIDE = "index 7 is out of range"

KEY = xt.random.key(0)
DATED = xt.as_array(xr.DataArray(np.arange(6.0), dims="time", coords={"time": xr.date_range("2020-01-01", periods=6)}))

MESSAGES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "scan along the dim": (
        lambda: xt.scan(lambda c, e: (c + e.mean("time"), None), 0.0, X, dim="time"),
        xt.DimensionError,
        "no dim 'time'.*'time' is the dim of xt.scan: here is one step",
    ),
    "map along the dim": (
        lambda: xt.map(lambda e: e.mean("time"), X, "time"),
        xt.DimensionError,
        "'time' is the dim of xt.map: here is one step",
    ),
    "categorical without a dim": (
        lambda: xt.random.categorical(KEY, V),
        xt.ArgumentTypeError,
        r"Write xt.random.categorical\(key, logits, dim=\.\.\)",
    ),
    "permutation of two dims": (
        lambda: xt.random.permutation(KEY, X),
        xt.ArgumentTypeError,
        r"random.permutation: the array has the dims \('time', 'ch'\).*dim='time'",
    ),
    "choice of two dims": (
        lambda: xt.random.choice(KEY, X, n=2),
        xt.ArgumentTypeError,
        "random.choice: .*dim='time'",
    ),
    "trapezoid": (lambda: xt.trapezoid(X, V, dim="time"), xt.DimensionError, "no dim 'time'; x's dims are 'ch'"),
    "interp": (
        lambda: xt.interp(1.5, xt.arange(4.0, dim="time"), V, dim="time"),
        xt.DimensionError,
        "no dim 'time'; fp's dims",
    ),
    "gradient": (lambda: xt.gradient(X, "time", V), xt.DimensionError, "no dim 'time'; spacing's dims"),
    "polyfit": (lambda: xt.polyfit(V, X, 1, dim="time"), xt.DimensionError, "no dim 'time'; x's dims"),
    "polyfit of two dims": (lambda: xt.polyfit(X, V, 1), xt.ArgumentTypeError, "dim= is missing.*Write dim='time'"),
    "dropout": (lambda: xt.nn.dropout(X, KEY, 0.5), xt.ArgumentTypeError, "^xt.nn.dropout: the first argument"),
    "a set": (lambda: xt.jit(lambda a: {a})(V), xt.ArgumentTypeError, "Put arrays in a list or a tuple"),
    "coord_func": (
        lambda: DATED.coarsen(time=2, coord_func="min"),
        xt.DimensionError,
        "Labels of blocks are the means",
    ),
    "a part of dates": (
        lambda: DATED.groupby("month"),
        xt.DimensionError,
        r'Write x.groupby\("time.month"\)',
    ),
    "isocalendar": (lambda: DATED.groupby("time.isocalendar"), xt.ArgumentTypeError, "dates have no part"),
    "interp at a number": (lambda: DATED.interp(time=3), xt.ArgumentTypeError, r"strings or datetimes \(operands"),
    "labels of another size": (
        lambda: X.assign_coords(time=[1, 2, 3]),
        xt.ArgumentError,
        "length 3 on 'time' and length 4 in the array",
    ),
    "at.add": (lambda: V.at(ch=AT).add(1.0), xt.IndexError, rf'xt.at.add: {OUTSIDE}.*add\(v, mode="clip" or "drop"\)'),
    "at.set": (lambda: V.at(ch=7).set(1.0), xt.IndexError, rf'xt.at.set: {OUTSIDE}.*set\(v, mode="clip" or "drop"\)'),
    "at.add of a large int": (
        lambda: xt.zeros(ch=3, dtype="i1").at(ch=0).add(300),
        xt.ArgumentError,
        "^xt.at.add: .*300 does not fit int8",
    ),
    "take_along": (lambda: xt.take_along(V, AT, dim="ch"), xt.IndexError, f"xt.take_along: {OUTSIDE}"),
    "isel by a number": (lambda: X.isel(ch=7), xt.IndexError, rf"xt.isel: {OUTSIDE}.*operands: .*\(time: 4, ch: 3\)"),
    "isel": (lambda: V.isel(ch=AT), xt.IndexError, rf'xt.isel: {OUTSIDE}.*\.get\(mode="clip" or "fill"\)'),
    "cross_entropy": (
        lambda: xt.nn.cross_entropy(V, xt.array(7), dim="ch"),
        xt.IndexError,
        f"xt.nn.cross_entropy: {OUTSIDE}.*Labels count the classes",
    ),
    "mode of at": (
        lambda: V.at(ch=0, mode="drop"),
        xt.ArgumentError,
        r"xt.at: mode='drop' is not a position.*\.add\(v, mode='drop'\)",
    ),
    "stack of arrays": (lambda: xt.stack([V, V], "k"), xt.ArgumentTypeError, r"xt.concat\(\[x, y\], 'k'\)"),
    "stack by a name": (lambda: xt.stack(X, "k"), xt.ArgumentTypeError, r'xt.stack\(x, k=\("a", "b"\)\)'),
    "attention": (
        lambda: xt.nn.attention(X, X, X, dim="xyz"),
        xt.ArgumentTypeError,
        r"Write dims=\(\.\.\), a tuple of 3 names",
    ),
    "attention's letters": (
        lambda: xt.nn.attention(X, X, X, "xyz"),  # type: ignore[arg-type]
        xt.DimensionError,
        "a tuple of three, .*not 'xyz'",
    ),
    "eye": (lambda: xt.eye(), xt.ArgumentTypeError, r"xt.eye\(a=3, b=3\)"),
    "eye twice": (lambda: xt.eye(3, a=3, b=3), xt.ArgumentTypeError, "by position or by name"),
    "a batched dim": (
        lambda: xt.vectorize(lambda r: xt.sum(r, dim="time"), "time")(X),
        xt.DimensionError,
        "there is no dim 'time'.*'time' is batched outside, by vectorize",
    ),
    "hessian": (
        lambda: xt.hessian(lambda a: a.astype("i8"))(V),
        xt.DTypeError,
        r"hessian: result of .*hessian\(f, has_aux=True\)",
    ),
    "conv": (lambda: xt.nn.conv(X, X, dims="time"), xt.ArgumentTypeError, "^xt.nn.conv: dims is a dict"),  # type: ignore[arg-type]
    "conv's sizes": (
        lambda: xt.nn.conv(X, xt.ones(kt=2, ch=4), dims={"time": "kt"}, dim="ch"),
        xt.SizeError,
        r"xt.nn.conv: dim 'ch' has size 3 here and 4 there \(operands: float64 \(time: 4, ch: 3\), float64 \(kt: 2",
    ),
    "max_pool": (lambda: xt.nn.max_pool(X, {"time": 9}), xt.SizeError, "^xt.nn.max_pool: a window of 9"),
    "convolve": (lambda: xt.signal.convolve(X, X, dims="time"), xt.DimensionError, "^xt.signal.convolve: "),  # type: ignore[arg-type]
    "convolve along two dims": (
        lambda: xt.signal.convolve(X, xt.ones(u=2, v=2), dims=(("time", "ch"), ("u", "v"))),  # type: ignore[arg-type]
        xt.DimensionError,
        r"along one dim; dims are two names, not .*Along two, write xt.nn.conv\(x, xt.flip\(k",
    ),
    "fftfreq": (
        lambda: xt.fft.fftfreq(8, 0.1),
        xt.ArgumentTypeError,
        "^xt.fft.fftfreq: dim= is missing, the name of the new dim. Write dim=\"frequency\"",
    ),
    "rfftfreq": (lambda: xt.fft.rfftfreq(8), xt.ArgumentTypeError, "^xt.fft.rfftfreq: dim= is missing"),
    "rolling.quantile": (
        lambda: X.rolling(time=2).quantile(0.5),
        AttributeError,
        r"write x.rolling\(\.\.\).reduce\(",
    ),
    "reshape": (lambda: X.reshape(2, 6), AttributeError, r'x.stack\(z=\("a", "b"\)\).*x.unstack'),  # type: ignore[attr-defined]
    "a traced array for a function": (
        lambda: xt.jit(lambda v: xt.grad(v)(v))(V),
        xt.ArgumentTypeError,
        r"grad needs a function, got float64 \(ch: 3\)",
    ),
    "grad of NumPy": (
        lambda: xt.grad(lambda a: a.sum())(np.ones(3)),
        xt.DimensionError,
        r"grad\(<lambda>\): argument \[0\], a NumPy array of shape \(3,\) has no named dims",
    ),
    "back of NumPy": (lambda: xt.vjp(xt.sin, V)[1](np.ones(3)), xt.DimensionError, "^xt.vjp: the cotangent of shape"),
    "push of NumPy": (
        lambda: xt.linearize(xt.sin, V)[1](np.ones(3)),
        xt.DimensionError,
        "^xt.linearize: the tangent",
    ),
}  # fmt: skip

# The same in loops, in traced functions, and of elements to update.
MESSAGES |= {
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


def test_a_format_for_text_is_for_all_arrays() -> None:
    assert f"{xt.array(1.5):.2f}" == "1.50" and f"{V!s:>80}".endswith("]") and f"{V:>80}".endswith("]")
    xt.jit(lambda v: print(f"{v}") or v)(V)


NAMED = xt.as_array(xr.DataArray([1.0, 2.0], dims="kind", coords={"kind": ["a", "b"]}))

# The function that was called, and no helper of it; what is missing, and what to write.
MESSAGES |= {
    "fillna of a text": (
        lambda: V.fillna("a"),
        xt.ArgumentTypeError,
        r"^xt.Array.fillna: expected an array, .*the string 'a'.* \(operands: float64 \(ch: 3\)\)",
    ),
    "a window's dims": (
        lambda: X.rolling(time=2).reduce(lambda w, dim: w.mean("windw_time")),
        xt.DimensionError,
        "^xt.mean: there is no dim 'windw_time'; .*'time', 'ch', 'window_time'; did you mean 'window_time'",
    ),
    "a window's function": (
        lambda: X.rolling(time=2).reduce(lambda w: w),
        xt.ArgumentTypeError,
        r"^xt.rolling.reduce: <lambda> gets 2 arguments, \(windows, dim\), and takes \(w\)",
    ),
    "ones_like": (lambda: xt.ones_like([1]), xt.ArgumentTypeError, "^xt.ones_like: a list is not an array"),
    "divmod": (lambda: xt.divmod(V, "a"), xt.ArgumentTypeError, "^xt.divmod: expected an array"),  # type: ignore[arg-type]
    "matmul": (lambda: xt.matmul(V, xt.ones(ch=4)), xt.SizeError, r"^xt.matmul: .*\(ch: 3\), float64 \(ch: 4\)"),
    "idxmax": (
        lambda: V.idxmax("hc"),
        xt.DimensionError,
        "^xt.idxmax: there is no dim 'hc'; the array's dims are 'ch'",
    ),
    "keys of attention": (
        lambda: xt.nn.attention(xt.ones(q=2, f=3), xt.ones(k=2, f=3), xt.ones(k=4, v=3), ("q", "k", "f")),
        xt.SizeError,
        r"^xt.nn.attention: dim 'k' has size 2 here and 4 there \(operands: .*\(q: 2, f: 3\), .*\(k: 2, f: 3\)",
    ),
    "weights of a mean": (lambda: X.weighted(xt.ones(time=3)).mean(), xt.SizeError, "^xt.weighted.mean: dim 'time'"),
    "resampled": (lambda: DATED.resample(time="2D").mean("tmie"), xt.DimensionError, "^xt.resample.mean: "),
    "a function of ours that is wrong for map": (
        lambda: xt.map(xt.linalg.det, X, "time"),
        xt.DimensionError,
        "^xt.linalg.det: takes a matrix, which has two dims",
    ),
    "a kernel's dim": (
        lambda: xt.nn.conv(X, X, {"time": "k"}),
        xt.DimensionError,
        "^xt.nn.conv: .*the kernel's dims",
    ),
    "diff without a dim": (lambda: xt.diff(X), xt.ArgumentTypeError, r"missing .* 'dim'. Write xt.diff\(x, 'time'\)"),  # type: ignore[call-arg]
    "normal without a key": (
        lambda: xt.random.normal(time=3),  # type: ignore[call-arg, arg-type]
        xt.ArgumentTypeError,
        r"Write key = xt.random.key\(0\)",
    ),
    "parameters of an optimizer": (
        lambda: xt.optim.adam(params=V),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r"optimizer.init\(parameters\)",
    ),
    "step of an optimizer": (
        lambda: xt.optim.adam(0.1).step(),  # type: ignore[attr-defined]
        AttributeError,
        r"write parameters, state = optimizer.update",
    ),
    "a padding of a convolution": (
        lambda: xt.nn.conv(V, xt.ones(k=2), {"ch": "k"}, padding=2**62),
        xt.SizeError,
        r'^xt.nn.conv: dim "ch" would become larger than 2\^63 - 1.*operands: float64 \(ch: 3\), float64 \(k: 2\)',
    ),
    "a stride of a transposed convolution": (
        lambda: xt.nn.conv_transpose(V, xt.ones(k=2), {"ch": "k"}, stride=2**62),
        xt.SizeError,
        r"^xt.nn.conv_transpose: dim 'ch' of size 3 would have 9223372036854775810 elements.*Give a smaller stride",
    ),
    "a large repeat": (
        lambda: xt.repeat(V, 2**62, dim="ch"),
        xt.SizeError,
        r'^xt.repeat: dim "ch" would become larger .*operands: float64 \(ch: 3\)',
    ),
    "a large width": (
        lambda: V.pad(ch=(2**62, 0)),
        xt.SizeError,
        r"^xt.pad: .*operands: float64 \(ch: 3\)\). Widths are numbers of elements",
    ),
    "a negative width": (lambda: V.pad(ch=-1), xt.ArgumentError, r"ch: 3\)\). Write x.isel\(ch=slice\(..\)\) to cut"),
    "levels that are an array of dims": (
        lambda: xt.quantile(X, X),
        xt.ArgumentTypeError,
        r"from 0 to 1, not float64 \(time: 4, ch: 3\). Write x.quantile\(0.5, 'time'\)",
    ),
    "the dim before the levels": (lambda: X.quantile("ch"), xt.ArgumentTypeError, r"Write x.quantile\(0.5, 'ch'\)"),
    "a number of many digits": (
        lambda: V - 10**400,
        xt.ArgumentError,
        "^xt.subtract: .*Write math.inf, or scale the numbers: the largest float64 is 1.798e",
    ),
    "a negative one": (lambda: xt.full(-(10**400), ch=2), xt.ArgumentError, "Write -math.inf, or scale"),
    "an int of 100 bits": (lambda: xt.array([2**100], "ch"), xt.ArgumentError, "64 bits. Write a float\n"),
    "float classes": (lambda: xt.one_hot(V, 3), xt.ArgumentTypeError, r'float64 .*Write x.astype\("i8"\)'),
    "a negative number of values": (lambda: xt.linspace(0, 1, -3), xt.ArgumentError, "values is 0 or more, not -3"),
    "no pieces": (lambda: xt.split(X, 0, "ch"), xt.SizeError, "the number of pieces is 1 or more, not 0"),
    "an axis of a product": (lambda: xt.dot(V, V, dim=0), xt.ArgumentTypeError, "Dims have names, not numbers"),
    "an upper factor": (
        lambda: xt.linalg.cholesky(xt.eye(2), upper=True),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r'The factor is lower. Write xt.conj\(l\).rename\(row="col", col="row"\)',
    ),
    "a triangle of eigh": (
        lambda: xt.linalg.eigh(xt.eye(2), UPLO="U"),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r"takes \(A \+ A\^H\) / 2 of the matrix A, so leave it out",
    ),
    "parameters that are a string": (
        lambda: xt.optim.adam(0.1).init("w"),
        xt.DTypeError,
        "parameters is the string 'w', .*Write arrays of floats",
    ),
    "an option by position": (
        lambda: xt.option(True),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        r"^xt.option: .*xt.option\(strict=True\)",
    ),
    "an option's value": (lambda: xt.option(nan=True), xt.ArgumentError, "^xt.option: nan= is 'allow' or 'raise'"),
    "item of a position": (lambda: V.item(0), xt.ArgumentTypeError, r"^xt.Array.item: .*x.isel\(time=0\).item\(\)"),  # type: ignore[call-arg]
    "a device": (lambda: V.to("gpu"), xt.DeviceError, "^xt.Array.to: there is no device 'gpu'"),
    "lists of different lengths": (
        lambda: xt.array([[1, 2], [3]], ("a", "b")),
        xt.ArgumentError,
        "^xt.array: the lists have different lengths",
    ),
    "a range of histogram": (lambda: xt.histogram(V, 3, range=3), xt.ArgumentTypeError, "range is a pair"),  # type: ignore[arg-type]
    "sortby a number": (lambda: NAMED.sortby(3), xt.ArgumentTypeError, r'Write x.sortby\("lat"\)'),  # type: ignore[arg-type]
    "bins": (lambda: DATED.groupby_bins("time", None), xt.ArgumentTypeError, "bins are edges, or a number of bins"),
    "a span": (lambda: DATED.resample(time="1X"), xt.ArgumentError, r"'1X' is not a frequency.*\(time=\"1D\"\)"),
    "between words": (
        lambda: NAMED.interp(kind=1.5),
        xt.ArgumentTypeError,
        r"neither numbers nor dates.*x.sel\(kind='a'\)",
    ),
    "loc without labels": (lambda: V.loc["a"], xt.LabelError, "^xt.sel: dim 'ch' has no labels"),
    "fill_value of get": (
        lambda: V.at(ch=9).get(mode="fill", fill_value=X),
        xt.DimensionError,
        "^xt.at.get: fill_value",
    ),
    "in place": (lambda: V.add_(1.0), AttributeError, r"arrays do not change: write x = xt.add\(x"),  # type: ignore[attr-defined]
    "zeros in place": (lambda: V.zero_(), AttributeError, r"write xt.zeros_like\(x\)"),  # type: ignore[attr-defined]
    "unflatten, swapped": (
        lambda: xt.tree.unflatten([1.0], xt.tree.structure([1.0])),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        "^xt.tree.unflatten: the structure comes first",
    ),
    "a function of trees": (
        lambda: xt.tree.map(lambda a: a, {"w": V}, {"w": V}),
        xt.ArgumentTypeError,
        r"^xt.tree.map: <lambda> gets 2 arguments, .*and takes \(a\)",
    ),
    "check_vectorized of no tuple": (
        lambda: xt.testing.check_vectorized(xt.sin, None, "ch"),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        "^xt.testing.check_vectorized: args is a tuple",
    ),
}  # fmt: skip

PAIRED = xt.ones(fill_value=3, constant_values=2)


class Scaled:
    def __init__(self) -> None:
        self.by = 2.0

    @xt.jit
    def wrong(self, x: Any) -> Any:
        return x * self.by

    @xt.jit(static="self")
    def right(self, x: Any) -> Any:
        return x * self.by


# What is not an array, and orders and keywords that mean something else.
MESSAGES |= {
    "a Variable": (
        lambda: xt.exp(xr.Variable("ch", [1.0, 2.0])),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        r"^xt.exp: a Variable of xarray is not an array here. Write xr.DataArray\(v\), or xt.array\(v, dims=v.dims\)",
    ),
    "a generator": (lambda: xt.array((i for i in range(3)), "t"), xt.ArgumentTypeError, r"Write xt.array\(list\(..\)"),
    "a set of numbers": (
        lambda: xt.array({1, 2}, "t"), xt.ArgumentTypeError, r"^xt.array: a set .* Write xt.array\(list\(..\)",
    ),
    "values of a dict": (lambda: xt.array({"a": 1}.values(), "t"), xt.ArgumentTypeError, r"Write xt.array\(list\(..\)"),
    "one name of letters": (lambda: xt.array(np.ones((2, 2)), "ij"), xt.DimensionError, r"dims=\('i', 'j'\)"),
    "plus None": (lambda: V + None, xt.ArgumentTypeError, r"^xt.add: .*got None. A function.*operands: .*ch: 3"),  # type: ignore[operator]
    "None minus": (lambda: None - V, xt.ArgumentTypeError, "^xt.subtract: .*got None"),  # type: ignore[operator]
    "less than None": (lambda: V < None, xt.ArgumentTypeError, "^xt.less: .*got None"),  # type: ignore[operator]
    "a Fraction": (lambda: V * Fraction(1, 2), xt.ArgumentTypeError, r"got a fractions.Fraction. Write float\(x\)"),  # type: ignore[operator]
    "plus a text": (lambda: V + "2", xt.ArgumentTypeError, r"the string '2'. Write float\(text\)"),  # type: ignore[operator]
    "a longdouble": (lambda: V + np.longdouble(1), xt.DTypeError, r'^xt.add: .*Write "f8", or values.astype\("f8"\)'),
    "a masked array": (
        lambda: V + np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
        xt.DimensionError,
        r'xt.array\(x.filled\(value\), dims=\("row",\)\)',
    ),
    "p in place of a size": (
        lambda: xt.random.choice(KEY, V, dim="ch", p=3),
        xt.DimensionError,
        r"^xt.random.choice: p has a probability per .* along 'ch'.*called p is written \{\"p\": 3\}",
    ),
    "another order of interp": (
        lambda: xt.interp(V, V, 0.5),
        xt.DimensionError,
        r"fp has a value for each point of xp along 'ch'.*The order is xt.interp\(x, xp, fp\)",
    ),
    "a dim called fill_value": (
        lambda: PAIRED.shift(fill_value=1),
        xt.ArgumentError,
        r'^xt.shift: fill_value= is a parameter.*Write xt.shift\(x, \{"fill_value": 1\}\)',
    ),
    "a dim called constant_values": (
        lambda: PAIRED.pad(constant_values=1),
        xt.ArgumentError,
        r'^xt.pad: constant_values= is a parameter.*Write xt.pad\(x, \{"constant_values": 1\}\)',
    ),
    "jit of a method": (lambda: Scaled().wrong(V), xt.ArgumentTypeError, r'static: @xt.jit\(static="self"\)'),
    "jit of an object": (
        lambda: xt.jit(lambda how, x: x)(Scaled(), V),
        xt.ArgumentTypeError,
        r"Scaled. If it does not change, declare it static: xt.jit\(f, static='how'\)\n",
    ),
    "labels of a traced array": (
        lambda: xt.jit(lambda x: x.coords["time"])(DATED),
        xt.AttributeError,
        r"f\(x, xt.as_array\(x.coords\['time'\]\)\)",
    ),
}  # fmt: skip


def test_what_these_messages_say_to_write() -> None:
    v = xr.Variable("ch", [1.0, 2.0, 4.0])
    for found in (xt.as_array(xr.DataArray(v)), xt.array(v, dims=v.dims)):  # type: ignore[arg-type]
        np.testing.assert_array_equal(found.values, v.values)
    assert xt.random.choice(KEY, V, {"p": 3}, dim="ch").sizes == {"p": 3}
    assert PAIRED.shift({"fill_value": 1}, fill_value=0.0).sum().item() == 4
    assert PAIRED.pad({"constant_values": 1}, constant_values=2.0).sizes == {"fill_value": 3, "constant_values": 4}
    assert Scaled().right(V).values.tolist() == [2, 2, 2]
    assert (V == None) is False and (V != None) is True  # noqa: E711
    times = xt.as_array(xr.DataArray([1.0, 2.0], dims="time", coords={"time": [0.0, 0.5]}))
    assert xt.jit(lambda x, t: x * t)(times, xt.as_array(times.coords["time"])).values.tolist() == [0, 1]


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    call, kind, message = MESSAGES[name]
    with pytest.raises(kind, match=f"(?s){message}"):
        call()


@pytest.mark.parametrize("call", [
    lambda: xt.full(object(), time=3),
    lambda: xt.idxmax(object(), "lat"),
    lambda: xt.idxmin(2.0),
    lambda: xt.interp_like(object(), xr.DataArray([0.0], dims="lat", coords={"lat": [12]})),
    lambda: xt.reindex_like("text", xr.DataArray([0.0], dims="lat", coords={"lat": [12]})),
])  # fmt: skip
def test_what_is_no_array_is_refused(call: Any) -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r"expected an array|the value is a number"):
        call()


def test_one_name_is_no_pair_of_dims() -> None:
    factors = xt.linalg.lu(xt.eye(2))
    with pytest.raises(xt.DimensionError, match="dims are the matrix's row and column dim"):
        xt.linalg.lu_solve(factors, xt.ones(row=2), dims=("row",))  # type: ignore[arg-type]


def test_attributes_that_are_not_there_stay_missing() -> None:
    assert not hasattr(X, "reshape") and not hasattr(X, "nothing") and not hasattr(X.rolling(time=2), "quantile")


def test_eye_by_names() -> None:
    got = xt.eye(row=3, col=4, dtype="i4")
    np.testing.assert_array_equal(got.values, np.eye(3, 4))
    assert (got.dims, got.dtype) == (("row", "col"), np.int32)
    assert xt.jit(lambda: xt.eye(a=2, b=2))().sizes == {"a": 2, "b": 2}


def test_modules_list_what_is_public() -> None:
    for module in (xt.fft, xt.linalg, xt.tree, xt.signal, xt.testing, xt.nn):
        assert dir(module) == sorted(module.__all__)


# -- coordinates of a dim that is there twice -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_jacobian_keeps_both_coordinates(mode: str) -> None:
    x = xr.DataArray(np.arange(6.0).reshape(3, 2), dims=("t", "s"), coords={"t": [10, 20, 30], "s": ["a", "b"]})
    got = xt.jacobian(lambda x: (x * x).sum("s"), mode=mode)(x)
    assert got.dims == ("t", "t'", "s")
    assert got.t.values.tolist() == got["t'"].values.tolist() == [10, 20, 30]
    assert got.s.values.tolist() == ["a", "b"]


def test_a_product_with_itself_under_another_name_has_the_coordinates_of_xarray() -> None:
    x = xr.DataArray(np.arange(3.0), dims="t", coords={"t": [10, 20, 30]})
    xr.testing.assert_identical(xt.jit(lambda x: x * x.rename(t="u"))(x), x * x.rename(t="u"))


@pytest.mark.parametrize("compiled", [False, True])
def test_the_only_dim_is_the_one_that_is_shuffled(compiled: bool) -> None:
    x = xt.arange(5.0, dim="space")
    for f in (lambda x: xt.random.permutation(KEY, x), lambda x: xt.random.choice(KEY, x, draw=5, replace=False)):
        got = (xt.jit(f) if compiled else f)(x)
        assert got.dims in (("space",), ("draw",))
        assert sorted(got.values) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert xt.random.permutation(KEY, 5).dims == ("i",)
