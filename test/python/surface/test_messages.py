"""What the messages of common slips name: the function that was called, and what to write instead."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from messages import Wrong, check_message

V = xt.ones(ch=3)
X = xt.ones(time=4, ch=3)
AT = xt.array([0, 7], "k")
OUTSIDE = "index 7 is out of range"

KEY = xt.random.key(0)
DATED = xt.as_array(xr.DataArray(np.arange(6.0), dims="time", coords={"time": xr.date_range("2020-01-01", periods=6)}))

MESSAGES: dict[str, Wrong] = {
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


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    check_message(MESSAGES[name])


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
