"""Open dims that a call gives size 0, and matrices that a call makes square or not: as with fixed sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from c_library import CODES, Library, typed
from xtensor.aot.inspect import lines
from xtensor.aot.manifest import File

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

Function = Callable[..., Any]


def opened(f: Function, *arrays: xt.Array, dims: tuple[str, ...]) -> dict[str, Function]:
    """`f` with dims whose sizes only a call knows: compiled, and out of a bundle."""
    specs = [xt.spec({d: None if d in dims else n for d, n in a.sizes.items()}, dtype=a.dtype) for a in arrays]
    return {"jit": xt.jit(f, dynamic_dims=dims), "loaded": xt.load(xt.export(f, args=specs, c=False))}


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("batch", [{}, {"b": 2}])
def test_determinants(n: int, batch: dict[str, int]) -> None:
    a = xt.array(np.random.default_rng(n).normal(size=(*batch.values(), n, n)), (*batch, "r", "k"))

    def f(x: Any) -> Any:
        return xt.linalg.det(x, dims=("r", "k"))

    for how, g in opened(f, a, dims=("r", "k")).items():
        np.testing.assert_allclose(g(a).values, np.linalg.det(a.values), rtol=1e-12, err_msg=how)


_AT = xt.array([0, 7], "q")
_CLIPPED: dict[str, Function] = {
    "get": lambda x, i: x.at(k=i).get(mode="clip"),
    "take": lambda x, i: x.at(k=0).get(mode="clip"),
    "add": lambda x, i: x.at(k=i).add(1.0, mode="clip"),
    "set": lambda x, i: x.at(k=i).set(5.0, mode="clip"),
    "divide": lambda x, i: x.at(k=i).divide(2.0, mode="clip"),
    "gradient": lambda x, i: xt.grad(lambda x: xt.sum(x.at(k=i).get(mode="clip")))(x),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", _CLIPPED)
@pytest.mark.parametrize("sizes", [{"k": 0}, {"r": 3, "k": 0}, {"k": 0, "r": 3}])
@pytest.mark.parametrize("dims", [("k",), ("k", "q")])
def test_no_position_is_nearest_in_an_empty_dim(name: str, sizes: dict[str, int], dims: tuple[str, ...]) -> None:
    f, x = _CLIPPED[name], xt.zeros(sizes)
    for g in (f, *opened(f, x, _AT, dims=dims).values()):
        with pytest.raises(xt.IndexError, match=r"index 0 is out of range for .*'k'"):
            g(x, _AT)


@pytest.mark.parametrize("name", _CLIPPED)
def test_clipped_positions_in_open_dims(name: str) -> None:
    f, none = _CLIPPED[name], xt.zeros(q=0).astype("i8")
    x = xt.array(np.random.default_rng(0).normal(size=(2, 5)), ("r", "k"))
    for g in opened(f, x, _AT, dims=("k", "q")).values():
        np.testing.assert_array_equal(g(x, _AT).values, f(x, _AT).values)
        np.testing.assert_array_equal(g(x, none).values, f(x, none).values)
        if name != "take":  # no positions are inside of anything
            assert g(xt.zeros(r=2, k=0), none).size == 0


def test_clipped_positions_in_an_empty_dim_in_c(tmp_path: Path) -> None:
    bundle = xt.export(_CLIPPED["get"], args=(xt.spec(k=None), xt.spec(q=2, dtype="i8")), name="one", blas=None)
    library = Library(bundle, tmp_path)
    at, y = _AT.values, np.full(2, 7.0)
    assert library(typed(np.arange(3.0), 3), typed(at, 2), typed(y, 2)) == (0, "done")
    np.testing.assert_array_equal(y, [0, 2])
    code, message = library(typed(np.zeros(0), 0), typed(at, 2), typed(y, 2))
    assert code == CODES["INDEX"]
    assert message.startswith("one_lambda: index 0 is out of range for size 0 of dim k at ")


_FILLED: dict[str, Function] = {
    "fill": lambda x: x.at(k=_AT).get(mode="fill", fill_value=9.0),
    "nan": lambda x: x.at(k=_AT).get(mode="fill"),
    "set": lambda x: x.at(k=_AT).set(5.0, mode="drop"),
    "add": lambda x: x.at(k=_AT).add(x.at(k=_AT).get(mode="fill", fill_value=1.0), mode="drop"),
    "multiply": lambda x: x.at(k=_AT).multiply(2.0, mode="drop"),
    "trace": lambda x: xt.linalg.trace(x.expand_dims(r=2) * 2, dims=("r", "k")),
}


@pytest.mark.parametrize("name", _FILLED)
@pytest.mark.parametrize("n", [0, 3])
def test_what_is_loaded_is_transformed_where_a_dim_is_empty(name: str, n: int) -> None:
    f, x = _FILLED[name], xt.array(np.arange(1.0, n + 1), "k")
    g = xt.load(xt.export(f, args=(xt.spec(k=None),), c=False))
    rows = xt.array(np.arange(2.0 * n).reshape(2, n), ("b", "k"))

    def loss(f: Function) -> Function:
        return lambda x: xt.sum(f(x) * 2)

    cases: list[tuple[Callable[[Function], Function], xt.Array]] = [
        (lambda f: f, x),
        (xt.jit, x),
        (lambda f: xt.grad(loss(f)), x),
        (lambda f: xt.jit(xt.grad(lambda x: xt.sum(xt.grad(loss(f))(x)))), x),
        (lambda f: xt.vectorize(f, "b"), rows),
    ]
    for transform, a in cases:
        np.testing.assert_array_equal(transform(g)(a).values, transform(f)(a).values)


@pytest.mark.parametrize("power", [0, 1, 2, 5])
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_powers_are_of_square_matrices(power: int, dtype: str) -> None:
    def f(a: Any) -> Any:
        return xt.linalg.matrix_power(a, power, dims=("r", "k"))

    square = xt.array(np.arange(9).reshape(3, 3).astype(dtype), ("r", "k"))
    for g in opened(f, square, dims=("r", "k")).values():
        np.testing.assert_array_equal(g(square).values, np.linalg.matrix_power(square.values, power))
        with pytest.raises(xt.SizeError, match=r"the matrix must be square: dims 'r' and 'k' have sizes 2 and 3"):
            g(xt.ones(r=2, k=3, dtype=dtype))
    with pytest.raises(xt.SizeError, match=r"the matrix must be square: dims 'r' and 'k' have sizes 2 and 3"):
        xt.jit(g)(xt.ones(r=2, k=3, dtype=dtype))


def test_powers_are_of_square_matrices_in_c(tmp_path: Path) -> None:
    def f(a: Any) -> Any:
        return xt.linalg.matrix_power(a, 1, dims=("r", "k"))

    bundle = xt.export(f, args=(xt.spec(r=None, k=None),), name="one", blas=None)
    assert "  equal     ?r and ?k: a square matrix" in lines(File(bundle.data, "one.xtb"))
    library, y = Library(bundle, tmp_path), np.zeros((2, 3))
    code, message = library(typed(np.ones((2, 3)), 2, 3), typed(y, 2, 3))
    assert (code, message) == (CODES["SIZE"], "one_f: the matrix must be square: dims r k have sizes 2 and 3")
    assert not y.any()


def test_what_two_operations_ask_for_is_told_once() -> None:
    def f(x: Any, y: Any) -> Any:
        return (x + y.rename(k="i")) * y.rename(k="i")

    bundle = xt.export(f, args=(xt.spec(i=None), xt.spec(k=None)))
    told = [line for line in lines(File(bundle.data, "f.xtb")) if "equal" in line]
    assert told == ["  equal     i: ?i and ?k"]


def test_factors_of_open_sizes_are_of_square_matrices() -> None:
    def f(a: Any) -> Any:
        return xt.linalg.lu(a, dims=("r", "k"))

    a = xt.array(np.random.default_rng(0).normal(size=(3, 3)), ("r", "k"))
    for g in opened(f, a, dims=("r", "k")).values():
        np.testing.assert_allclose(xt.dot(*g(a)).values, a.values, rtol=1e-12)
        with pytest.raises(xt.SizeError, match=r"the matrix must be square: dims 'r' and 'k' have sizes 2 and 3"):
            g(xt.ones(r=2, k=3))
