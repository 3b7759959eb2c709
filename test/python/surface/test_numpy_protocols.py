"""NumPy's functions on named arrays: ufuncs are refused, all others work on the values, without names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

X = xt.array(np.arange(6.0).reshape(2, 3) + 1, ("a", "b"))
SQUARE = xt.array(np.arange(9.0).reshape(3, 3) + 5 * np.eye(3), ("a", "b"))
# How a function may be called; the first that works on NumPy arrays counts.
CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, x: f(x),
    lambda f, x: f(x, x),
    lambda f, x: f(x, 0),
    lambda f, x: f(x, 0, 1),
    lambda f, x: f([x, x]),
    lambda f, x: f(x > 2, x),
    lambda f, x: f(x[0], x[1]),
]
# Settings, files and texts; what has random or no values.
NO_ARRAYS = {"errstate", "printoptions", "set_printoptions", "seterr", "seterrcall", "setbufsize", "frompyfunc", "info"}
NO_ARRAYS |= {"save", "savetxt", "savez", "savez_compressed", "show_config", "show_runtime", "test", "bmat"}
NO_ARRAYS |= {"empty_like", "require"}
WRITES = {"fill_diagonal", "put", "place", "putmask", "put_along_axis"}
OF_NUMPY_ALONE = {"isfortran"}  # it asks for the strides of a NumPy array


def functions() -> Iterator[tuple[str, Any, xt.Array]]:
    for room, module, x in (("", np, X), ("linalg.", np.linalg, SQUARE), ("fft.", np.fft, X)):
        for name in sorted(set(dir(module)) - NO_ARRAYS - OF_NUMPY_ALONE):
            f = getattr(module, name)
            if callable(f) and not isinstance(f, type) and not name.startswith("_"):
                yield room + name, f, x


def called(f: Any, x: xt.Array) -> tuple[Any, Any] | None:
    """A way to call `f`, and what it gives for NumPy arrays."""
    for call in CALLS:
        try:
            return call, call(f, x.values.copy())
        except Exception:  # it is not called so
            continue
    return None


@pytest.mark.cpu_only("copyto and from_dlpack read the memory of an array")
def test_every_function_of_numpy_keeps_the_rule() -> None:
    counts = {"refused": 0, "values": 0, "written": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, f, x in functions():
            found = called(f, x)
            if found is None:
                continue
            call, want = found
            if isinstance(f, np.ufunc):
                with pytest.raises(xt.ArgumentTypeError, match="of a named array"):
                    call(f, x)
                counts["refused"] += 1
            elif name in WRITES:
                with pytest.raises((ValueError, TypeError), match=r"read-only|must be"):
                    call(f, x)
                counts["written"] += 1
            elif name == "frombuffer":  # which reads the bytes of any dtype as float64
                with pytest.raises(BufferError, match=r"its bytes are float64: pass x.values"):
                    call(f, x)
            else:
                got = call(f, x)
                assert repr(got) == repr(want), name
                counts["values"] += 1
    assert counts["refused"] > 70 and counts["values"] > 190 and counts["written"] >= 2, counts


def test_axes_are_places_in_numpys_functions() -> None:
    np.testing.assert_array_equal(np.mean(X, axis=0), X.values.mean(0))
    np.testing.assert_array_equal(np.concatenate([X, X.values], axis=1), np.concatenate([X.values, X.values], 1))
    np.testing.assert_array_equal(np.where(X > 2, X, 0.0), np.where(X.values > 2, X.values, 0.0))
    with pytest.raises(xt.ArgumentTypeError, match="Dims have names, not numbers"):
        X.mean(axis=0)


def test_xarray_does_not_take_an_array_for_memory() -> None:
    assert not hasattr(X, "__array_function__")
    assert type(xr.DataArray(X).data) is np.ndarray


def test_traced_arrays_have_no_values() -> None:
    for f in (np.mean, np.sort, np.where, np.concatenate):
        with pytest.raises(xt.Error):
            xt.jit(lambda x, f=f: f([x, x]) if f is np.concatenate else f(x))(X)
    assert xt.jit(lambda x: x * np.ndim(x))(X).dims == X.dims


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: np.add.reduce(X), r'np.add.reduce of a named array: write xt.sum\(x, dim="a"\)'),
        (lambda: np.multiply.accumulate(X), r'np.multiply.accumulate of a named array: write xt.cumprod\(x, dim="a"\)'),
        (lambda: np.subtract.outer(X, X), r"np.subtract.outer of a named array: write xt.subtract\(x, y\), of two"),
        (lambda: np.add.at(X, 0, 1.0), r"np.add.at of a named array: write x = x.at\(a=i\).add\(value\)"),
        (lambda: np.add.reduceat(X, [0]), r"np.add.reduceat of a named array: write np.asarray\(x\)"),
    ],
)
def test_methods_of_ufuncs_say_what_to_write(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(xt.ArgumentTypeError, match=message):
        call()


@pytest.mark.parametrize("f", [xt.sin, xt.jit(lambda x: xt.sum(x))])
def test_apply_ufunc_needs_names(f: Any) -> None:
    with pytest.raises(xt.DimensionError, match=r"xr.apply_ufunc passes arrays without names.* xt.named\(f, dims=\["):
        xr.apply_ufunc(f, X.to_xarray())
    named = xt.named(xt.jit(lambda x: xt.sum(x, "b")), dims=[(..., "b")])
    xr.testing.assert_allclose(xr.apply_ufunc(named, X.to_xarray(), input_core_dims=[["b"]]), X.to_xarray().sum("b"))
