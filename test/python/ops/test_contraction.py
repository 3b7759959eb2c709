"""dot and @ against xarray and numpy.einsum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DIMS, examples, ours, same, several
from hypothesis import given
from hypothesis import strategies as st

KINDS = ("i4", "i8", "f4", "f8")


@st.composite
def products(draw, count: int):
    """Arrays, and a dim argument that their dot can take."""
    xs = draw(several(count, KINDS))
    there = list(dict.fromkeys(d for x in xs for d in x.dims))
    some = draw(st.lists(st.sampled_from(there), unique=True)) if there else []
    return xs, draw(st.sampled_from([None, ..., some, tuple(some)] + ([some[0]] if some else [])))


def einsum(xs, dim) -> xr.DataArray:
    there = list(dict.fromkeys(d for x in xs for d in x.dims))
    if dim is None:
        dim = [d for d in there if sum(d in x.dims for x in xs) > 1]
    over = there if dim is ... else [dim] if isinstance(dim, str) else list(dim)
    out = [d for d in there if d not in over]
    arguments = [a for x in xs for a in (x.values, [DIMS.index(d) for d in x.dims])]
    return xr.DataArray(np.einsum(*arguments, [DIMS.index(d) for d in out]), dims=out)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_dot_of_any_number_of_arrays(count: int) -> None:
    @examples(30)
    @given(products(count))
    def check(case) -> None:
        xs, dim = case
        want = einsum(xs, dim).astype(np.result_type(*xs))
        same(xt.dot(*map(ours, xs), dim=dim), want, rtol=1e-5 if want.dtype == "f4" else None)

    check()


@examples(30)
@given(products(2))
def test_as_in_xarray(case) -> None:
    (x, y), dim = case
    same(xt.dot(ours(x), ours(y), dim=dim), xr.dot(x, y, dim=dim), rtol=1e-5)
    same(ours(x).dot(ours(y), dim=dim), x.dot(y, dim=dim), rtol=1e-5)
    same(ours(x) @ ours(y), x @ y, rtol=1e-5)


def test_matrix_products_by_name() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 17, 23))
    x, y = xt.array(a, dims=("i", "k")), xt.array(b, dims=("j", "k"))
    np.testing.assert_allclose((x @ y).values, a @ b.T, rtol=1e-12)
    np.testing.assert_allclose((y @ x).transpose("i", "j").values, a @ b.T, rtol=1e-12)


def test_outer_product() -> None:
    x, y = xt.array([1.0, 2], dims="a"), xt.array([3.0, 4, 5], dims="b")
    assert xt.dot(x, y).values.tolist() == [[3, 4, 5], [6, 8, 10]]
    z = xt.array([1.0, 2], dims="a")
    assert xt.dot(x, z, dim=()).values.tolist() == [1, 4]


def test_a_dim_of_one_operand_is_summed() -> None:
    x, y = xt.ones(a=2, b=3), xt.ones(b=3, c=4)
    assert xt.dot(x, y, dim=["b", "c"]).values.tolist() == [12, 12]


def test_bools_multiply_and_add_as_logic() -> None:
    x = xt.array([[True, True], [False, False]], dims=("a", "b"))
    got = xt.dot(x, xt.array([True, True], dims="b"))
    assert got.dtype == bool
    assert got.values.tolist() == [True, False]


def test_chain_is_contracted_in_pairs() -> None:
    a, b, c = np.ones((40, 40)), np.ones((40, 40)), np.ones((40, 40))
    xs = xt.array(a, dims=("i", "j")), xt.array(b, dims=("j", "k")), xt.array(c, dims=("k", "l"))
    got = xt.dot(*xs)
    assert got.dims == ("i", "l")
    np.testing.assert_allclose(got.values, a @ b @ c)


def test_errors_name_what_is_wrong() -> None:
    x, y = xt.ones(a=2, b=3), xt.ones(b=3)
    with pytest.raises(ValueError, match="no operand has dim 'z'"):
        xt.dot(x, y, dim="z")
    with pytest.raises(ValueError, match="'b'"):
        xt.dot(x, xt.ones(b=4))
    with pytest.raises(ValueError, match="no arrays"):
        xt.dot()
    with pytest.raises(TypeError):
        x @ "a"


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize(
    "order", ["ik,kj", "ki,kj", "ik,jk", "bik,bkj", "kbi,jkb", "ik,k", "k,ki", "i,j", "bk,bk", "abk,kab"]
)
def test_larger_products_of_every_order(order: str, dtype: str) -> None:
    size = {"i": 65, "j": 37, "k": 70, "b": 3, "a": 5}
    random = np.random.default_rng(3)
    left, right = order.split(",")
    xs = [(random.normal(size=[size[d] for d in dims]) * 4).astype(dtype) for dims in (left, right)]
    out = "".join(d for d in dict.fromkeys(left + right) if d != "k")
    got = xt.dot(
        *(xt.array(x, dims=tuple(dims)) for x, dims in zip(xs, (left, right), strict=True)),
        dim="k" if "k" in order else (),
    )
    same(got, xr.DataArray(np.einsum(f"{order}->{out}", *xs), dims=tuple(out)), rtol=2e-4 if dtype == "f4" else 1e-11)


@pytest.mark.parametrize("dynamic", [(), ("d0",), ("d0", "d1", "d2", "d3", "d4", "d5")], ids=len)
@pytest.mark.parametrize("n", [3, 40, 100])
def test_a_chain_of_products(n: int, dynamic: tuple[str, ...]) -> None:
    """Each product is the next one's operand: its memory is not written to while that is worked out."""
    rng = np.random.default_rng(0)
    factors = [xt.array(rng.normal(size=(n, n)), (f"d{i}", f"d{i + 1}")) for i in range(5)]

    def chain(*factors: xt.Array) -> xt.Array:
        y = factors[0]
        for i, a in enumerate(factors[1:], 1):
            y = xt.dot(y, a, dim=f"d{i}")
        return y

    want = np.linalg.multi_dot([a.values for a in factors])
    got = xt.jit(chain, dynamic_dims=dynamic)(*factors).values
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())


NOTHING_SHARED: dict[str, Any] = {
    "dot": lambda: xt.dot(xt.ones(sample=3, feature=2), xt.ones(featrue=2)),
    "an operator": lambda: xt.ones(sample=3, feature=2) @ xt.ones(featrue=2),
    "a dim of one": lambda: xt.dot(xt.ones(a=2), xt.ones(b=2), dim="a"),
    "all dims": lambda: xt.dot(xt.ones(a=2), xt.ones(b=2), dim=...),
    "two pairs": lambda: xt.dot(xt.ones(a=2), xt.ones(a=2), xt.ones(b=2), xt.ones(b=2)),
    "compiled": lambda: xt.jit(xt.matmul)(xt.ones(a=2), xt.ones(b=2)),
}


@pytest.mark.parametrize("name", NOTHING_SHARED)
def test_outer_products_by_accident_are_forbidden_where_asked(name: str) -> None:
    NOTHING_SHARED[name]()
    message = "outer products? .*forbidden by xt.option"
    with xt.option(outer="forbid"), pytest.raises(xt.DimensionError, match=rf"xt.(dot|matmul): .*{message}"):
        NOTHING_SHARED[name]()


def test_what_is_together_is_no_outer_product() -> None:
    with xt.option(outer="forbid"):
        assert xt.dot(xt.ones(a=2), xt.ones(b=3), xt.ones(a=2, b=3)).item() == 6
        assert xt.dot(xt.ones(a=2), 2.0, dim=()).dims == ("a",)
        assert xt.dot(xt.ones(a=2), xt.ones(b=3), dim=()).dims == ("a", "b")


def test_a_number_where_a_product_of_matrices_is_meant_is_forbidden_by_strict() -> None:
    f, p = (xt.array(np.arange(4.0).reshape(2, 2) + k, ("row", "col")) for k in (1, 5))
    with xt.option(strict=True):
        for run in (lambda f, p: f @ p, xt.dot, xt.jit(lambda f, p: f @ p @ f.T), lambda f, p: f.T @ p):
            with pytest.raises(xt.DimensionError, match=r"the same dims, so the result is a number.*linalg.matmul"):
                run(f, p)
        assert xt.dot(f, p, dim=...).item() == (f.values * p.values).sum()
        np.testing.assert_array_equal(xt.linalg.matmul(f, p, dims=("row", "col")).values, f.values @ p.values)
        assert (xt.ones(i=3) @ xt.ones(i=3)).item() == 3
        assert (xt.ones(i=3, j=2) @ xt.ones(i=3, j=2) * 1.0).item() == 6  # no square
    assert (f @ p).item() == (f.values * p.values).sum()


COUNTED = xt.array([0, 1, 1], "time")
UNSHARED: dict[str, Callable[[xt.Array, xt.Array], Any]] = {
    "average": lambda a, w: xt.average(a, "time", weights=w),
    "cov": lambda a, w: xt.cov(a, w, "time"),
    "corr": lambda a, w: xt.corr(a, w, "time"),
    "histogram": lambda a, w: xt.histogram(a, 2, weights=w),
    "bincount": lambda a, w: xt.bincount(COUNTED, w, length=2),
}


@pytest.mark.parametrize("name", UNSHARED)
def test_outer_products_of_statistics_are_forbidden_where_asked(name: str) -> None:
    a, w, f = xt.array([1.0, 2.0, 4.0], "time"), xt.array([3.0, 2.0, 9.0], "tiem"), UNSHARED[name]
    with xt.option(outer="forbid"):
        for run in (f, xt.jit(f)):
            with pytest.raises(xt.DimensionError, match=rf"xt.{name}: no dim of \['time'\] is shared with \['tiem'\]"):
                run(a, w)
        f(a, w.rename(tiem="time"))
        f(a, xt.ones(time=3, tiem=2))
