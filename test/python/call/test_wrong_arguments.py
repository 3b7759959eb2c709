"""Wrong values for every argument that is a size, a count, a dim or a word: always an `xt.Error` that names the
function, shows what was given and says what to write, never an error of the package's own code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array(np.arange(12.0).reshape(4, 3), ("t", "s"))
KERNEL = xt.ones(k=2, s=3)
LINE = xt.array(np.arange(4.0) * 3, "t")

# What no count can be. None stands where leaving the argument out does something else.
NEVER: dict[str, Any] = {
    "float": 2.0,
    "nan": float("nan"),
    "str": "a",
    "bool": True,
    "wide": 2**70,
    "complex": 2j,
    "object": object(),
    "an array with dims": X,
}

# One int each: `least` is the smallest that is one, None if all are.
COUNTS: dict[str, tuple[Callable[[Any], Any], int | None]] = {
    "zeros": (lambda v: xt.zeros(t=v), 0),
    "ones": (lambda v: xt.ones({"t": v}), 0),
    "full": (lambda v: xt.full({"t": v}, 1.0), 0),
    "eye": (lambda v: xt.eye(v), 0),
    "eye second": (lambda v: xt.eye(3, v), 0),
    "eye by name": (lambda v: xt.eye(a=2, b=v), 0),
    "linspace": (lambda v: xt.linspace(0.0, 1.0, v, dim="t"), 0),
    "expand_dims": (lambda v: X.expand_dims({"z": v}), 0),
    "expand_dims axis": (lambda v: X.expand_dims("z", axis=v), -3),
    "unstack": (lambda v: X.unstack(t={"a": v, "b": 2}), -1),
    "split": (lambda v: xt.split(X, v, dim="t"), 1),
    "split cut points": (lambda v: xt.split(X, [v], dim="t"), None),
    "tile": (lambda v: xt.tile(X, {"t": v}), 0),
    "repeat": (lambda v: xt.repeat(X, v, dim="t"), 0),
    "repeat each": (lambda v: xt.repeat(X, [v, 1, 1, 1], dim="t"), 0),
    "roll": (lambda v: xt.roll(X, {"t": v}), None),
    "shift": (lambda v: xt.shift(X, {"t": v}), None),
    "pad": (lambda v: xt.pad(X, {"t": v}), 0),
    "pad one side": (lambda v: xt.pad(X, {"t": (1, v)}), 0),
    "rolling": (lambda v: X.rolling(t=v).mean(), 1),
    "rolling stride": (lambda v: X.rolling(t=2).construct("w", stride=v), 1),
    "rolling min_periods": (lambda v: X.rolling(t=2, min_periods=v).mean(), 0),
    "coarsen": (lambda v: X.coarsen(t=v).mean(), 1),
    "top_k": (lambda v: xt.top_k(X, v, dim="t"), 0),
    "one_hot": (lambda v: xt.one_hot(xt.arange(3, dim="i"), v), 0),
    "head": (lambda v: X.head(t=v), 0),
    "tail": (lambda v: X.tail(t=v), 0),
    "thin": (lambda v: X.thin(t=v), 1),
    "diff": (lambda v: X.diff("t", n=v), 0),
    "slice": (lambda v: X.isel(t=slice(v, None)), None),
    "slice step": (lambda v: X.isel(t=slice(None, None, v)), None),
    "round": (lambda v: xt.round(X, v), None),
    "conv stride": (lambda v: xt.nn.conv(X, KERNEL, dims={"t": "k"}, dim="s", stride={"t": v}), 1),
    "conv dilation": (lambda v: xt.nn.conv(X, KERNEL, dims={"t": "k"}, dim="s", dilation=v), 1),
    "conv padding": (lambda v: xt.nn.conv(X, KERNEL, dims={"t": "k"}, dim="s", padding={"t": (0, v)}), 0),
    "max_pool": (lambda v: xt.nn.max_pool(X, {"t": v}), 1),
    "avg_pool stride": (lambda v: xt.nn.avg_pool(X, {"t": 2}, stride={"t": v}), 1),
    "matrix_power": (lambda v: xt.linalg.matrix_power(xt.eye(3), v), None),
    "scan length": (lambda v: xt.scan(lambda c, _: (c, c), 0.0, dim="q", length=v), 0),
    "while_loop max_steps": (lambda v: xt.while_loop(lambda c: c < 3.0, lambda c: c + 1.0, 0.0, max_steps=v), 0),
    "check_gradients order": (lambda v: xt.testing.check_gradients(xt.sum, (X,), order=v), 1),
}  # fmt: skip
# A dynamic size is a size.
TAKES_DYNAMIC = {"zeros", "ones", "full", "one_hot", "eye", "eye second", "eye by name", "expand_dims", "scan length"}


def refused(name: str, call: Callable[[], Any]) -> str:
    """The message of the error about `call`: of the family, with the function's name in front."""
    try:
        result = call()
    except xt.Error as error:
        text = str(error).partition("\n  at ")[0]
        assert text.startswith(
            ("xt.", "jit", "grad", "vectorize", "jacobian", "option", "a device", "there is no device")
        ), text
        assert "xtensor." not in text and "array<" not in text, f"words of the compiler: {text}"
        return text
    pytest.fail(f"{name} took it, and gave {result!r:.200}")


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    f, least = COUNTS[name]
    for what, value in NEVER.items():
        text = refused(f"{name} of {what}", lambda value=value: f(value))
        assert any(word in text for word in ("int", "bits", "number", "slice", "memory", "larger")), text
    if least is not None:
        assert str(least - 1) in refused(name, lambda: f(least - 1))
    for traced in (3, 3.5):
        assert "static" in refused(name, lambda traced=traced: xt.jit(f)(traced))
    counted = xt.jit(lambda x: f(x.sizes["n"]), dynamic_dims="n")
    if name in TAKES_DYNAMIC:
        counted(xt.ones(n=2))
    else:
        assert "dynamic" in refused(name, lambda: counted(xt.ones(n=2)))


def test_sizes_beyond_memory() -> None:
    for name in ("zeros", "ones", "full", "eye", "linspace", "expand_dims", "tile", "repeat", "pad"):
        refused(name, lambda name=name: COUNTS[name][0](2**62))


def test_what_to_write_for_a_traced_size() -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r"xt.zeros: the size of dim 't' is <traced int64.*static=") as error:
        xt.jit(lambda v: xt.zeros(t=v))(3)
    assert "test_wrong_arguments.py" in str(error.value)
    assert xt.jit(lambda v: xt.zeros(t=v), static="v")(3).shape == (3,)
    assert xt.jit(lambda x: xt.zeros(t=x.sizes["n"]), dynamic_dims="n")(xt.ones(n=2)).shape == (2,)
    with pytest.raises(xt.ArgumentTypeError, match="Write 2"):
        xt.split(X, 2.0, dim="t")


# Names of dims: what none can be.
NO_NAMES: dict[str, Any] = {
    "int": 0,
    "float": 2.0,
    "bool": True,
    "unknown": "nowhere",
    "object": object(),
    "array": X,
    "set": {"t"},
    "bytes": b"t",
}
REDUCTIONS = [
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "min",
    "max",
    "any",
    "all",
    "argmin",
    "argmax",
    "median",
    "norm",
    "logsumexp",
    "count_nonzero",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "cumlogsumexp",
    "flip",
]
DIMS: dict[str, Callable[[Any], Any]] = {
    **{n: lambda v, n=n: getattr(xt, n)(X, dim=v) for n in REDUCTIONS},
    "idxmax": lambda v: xt.idxmax(X, v),
    "sort": lambda v: xt.sort(X, v),
    "argsort": lambda v: xt.argsort(X, v),
    "rank": lambda v: xt.rank(X, v),
    "squeeze": lambda v: xt.squeeze(X, v),
    "transpose": lambda v: X.transpose(v, "s"),
    "diff": lambda v: X.diff(v),
    "softmax": lambda v: xt.nn.softmax(X, v),
    "log_softmax": lambda v: xt.nn.log_softmax(X, v),
    "layer_norm": lambda v: xt.nn.layer_norm(X, v),
    "cross_entropy": lambda v: xt.nn.cross_entropy(X, xt.arange(4, dim="t") % 3, dim=v),
    "split": lambda v: xt.split(X, 2, dim=v),
    "repeat": lambda v: xt.repeat(X, 2, dim=v),
    "take": lambda v: xt.take(X, xt.arange(2, dim="q"), dim=v),
    "take_along": lambda v: xt.take_along(X, X.astype("i8") * 0, dim=v),
    "top_k": lambda v: xt.top_k(X, 2, dim=v),
    "dot": lambda v: xt.dot(X, X, dim=v),
    "quantile": lambda v: xt.quantile(X, 0.5, dim=v),
    "stack": lambda v: X.stack(z=v),
    "inv": lambda v: xt.linalg.inv(X, dims=v),
    "trace dims": lambda v: xt.linalg.trace(X, dims=("t", v)),
    "attention": lambda v: xt.nn.attention(X, X, X, dims=v),
    "attention dim": lambda v: xt.nn.attention(X, X, X, dims=("t", v, "s")),
    "convolve": lambda v: xt.signal.convolve(LINE, xt.ones(k=2), dims=v),
    "convolve dim": lambda v: xt.signal.convolve(LINE, xt.ones(k=2), dims=("t", v)),
    "conv": lambda v: xt.nn.conv(X, KERNEL, dims=v, dim="s"),
    "conv dim": lambda v: xt.nn.conv(X, KERNEL, dims={"t": "k"}, dim=v),
    "scan": lambda v: xt.scan(lambda c, x: (c, x), 0.0, X, dim=v),
    "map": lambda v: xt.map(lambda x: x, X, dim=v),
    "vectorize": lambda v: xt.vectorize(lambda x: x.sum(), v)(X),
}
NEW_NAMES: dict[str, Callable[[Any], Any]] = {
    "concat": lambda v: xt.concat([X, X], v),
    "arange": lambda v: xt.arange(3, dim=v),
    "linspace": lambda v: xt.linspace(0, 1, 3, dim=v),
    "eye": lambda v: xt.eye(3, dims=v),
    "one_hot": lambda v: xt.one_hot(xt.arange(3, dim="i"), 3, dim=v),
    "rename": lambda v: X.rename({"t": v}),
    "as_dims": lambda v: xt.as_dims(X, v),
    "array": lambda v: xt.array([1.0], dims=v),
    "qr inner": lambda v: xt.linalg.qr(X, dims=("t", "s"), inner=v),
    "construct": lambda v: X.rolling(t=2).construct(v),
    "coarsen construct": lambda v: X.coarsen(t=2).construct(t=v),
    "coarsen construct name": lambda v: X.coarsen(t=2).construct(t=("a", v)),
}


@pytest.mark.parametrize("name", DIMS)
def test_dims(name: str) -> None:
    for what, value in NO_NAMES.items():
        text = refused(f"{name} of {what}", lambda value=value: DIMS[name](value))
        assert "dim" in text or "name" in text or "set" in text, text
    refused(name, lambda: xt.jit(DIMS[name])(1))


@pytest.mark.parametrize("name", NEW_NAMES)
def test_new_names(name: str) -> None:
    for what, value in (NO_NAMES | {"empty": "", "reserved": "a~b"}).items():
        if what != "unknown":
            refused(f"{name} of {what}", lambda value=value: NEW_NAMES[name](value))
    refused(name, lambda: xt.jit(NEW_NAMES[name])(1))


WORDS: dict[str, Callable[[Any], Any]] = {
    "pad mode": lambda v: xt.pad(X, {"t": 1}, mode=v),
    "read mode": lambda v: X.at(t=0).get(mode=v),
    "update mode": lambda v: X.at(t=0).set(1.0, mode=v),
    "convolve mode": lambda v: xt.signal.convolve(LINE, xt.ones(k=2), dims=("t", "k"), mode=v),
    "searchsorted side": lambda v: xt.searchsorted(xt.arange(3.0, dim="t"), 1.0, side=v),
    "coarsen boundary": lambda v: X.coarsen(t=2, boundary=v).sum(),
    "option": lambda v: xt.option(outer=v),
    "device": lambda v: X.to(v),
    "jacobian mode": lambda v: xt.jacobian(xt.sin, mode=v)(X),
    "dtype": lambda v: xt.zeros(t=2, dtype=v),
    "wrt": lambda v: xt.grad(xt.sum, wrt=v)(X),
    "static": lambda v: xt.jit(lambda x: x, static=v)(X),
    "donate": lambda v: xt.jit(lambda x: x, donate=v)(X),
}


@pytest.mark.parametrize("name", WORDS)
def test_words(name: str) -> None:
    for value in ("nonsense", 7, 2.5, object(), ("nonsense",), {"t"}, b"edge"):
        refused(f"{name} of {value!r}", lambda value=value: WORDS[name](value))


# -- methods and functions that are not there -------------------------------------------------------------------------


def absent(look_up: Callable[[], Any]) -> str:
    with pytest.raises(AttributeError) as error:
        look_up()
    return str(error.value)


def test_absent_methods_say_what_there_is() -> None:
    assert "xt.argmax" in absent(lambda: X.coarsen(t=2).argmax())
    assert "xt.argmax" in absent(lambda: X.rolling(t=2).argmax())
    assert "sum" in absent(lambda: X.coarsen(t=2).nonsense)
    assert "multiply(v)" in absent(lambda: X.at(t=0).mul(2.0))
    assert "subtract" in absent(lambda: X.at(t=0).nonsense)
    assert "x.at(time=0).add" in absent(lambda: X.at.add(1.0))
    assert "xt.nn.softmax" in absent(lambda: X.softmax("t"))
    assert "xt.linalg.inv" in absent(lambda: X.inv)
    assert "xt.exp" in absent(lambda: X.exp)
    assert "stack" in absent(lambda: X.reshape(12))


def test_absent_functions_say_what_there_is() -> None:
    assert "xt.dot" in absent(lambda: xt.einsum)
    assert "xt.vectorize" in absent(lambda: xt.vmap)
    assert "xt.relu" in absent(lambda: xt.nn.relu)
    assert "xt.nn.softmax" in absent(lambda: xt.softmax)
    assert "xt.linalg.inv" in absent(lambda: xt.inv)
    assert "nonsense" in absent(lambda: xt.linalg.nonsense)
    assert not hasattr(xt, "nonsense") and not hasattr(xt.nn, "__wrapped__")


def test_windows_of_any_reduction() -> None:
    d = X.to_xarray()
    got = X.coarsen(t=2).reduce(xt.median)
    np.testing.assert_array_equal(got.values, d.coarsen(t=2).median().values)
    got = X.coarsen(t=2, s=3).reduce(xt.median)
    np.testing.assert_array_equal(got.values, d.coarsen(t=2, s=3).median().values)
    got, want = X.coarsen(t=2).construct(t=("block", "inside")), d.coarsen(t=2).construct(t=("block", "inside"))
    assert got.dims == want.dims
    np.testing.assert_array_equal(got.values, want.values)


def test_lists_of_arrays() -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r"xt\.concat") as error:
        xt.jit(lambda x: xt.sum([x, x]))(X)
    assert "traced" not in str(error.value).split("(operands")[0]
    with pytest.raises(xt.ArgumentTypeError, match=r"xt.array\(\[1, 2, 3\]"):
        xt.sum([1, 2, 3])
