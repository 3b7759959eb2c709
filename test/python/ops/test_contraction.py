"""dot and @ against xarray and numpy.einsum."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DIMS, examples, ours, same, several
from hypothesis import given
from hypothesis import strategies as st
from thread_count import threads

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


def bfloat16(*sizes: int) -> np.ndarray:
    return np.random.default_rng(sum(sizes)).normal(size=sizes).astype(ml_dtypes.bfloat16)


def close_to_sums(got: xt.Array, terms: int, subscripts: str, *factors: np.ndarray) -> None:
    """Sums in float32, rounded once."""
    assert got.dtype == ml_dtypes.bfloat16
    wide = [x.astype("f8") for x in factors]
    want, sums = np.einsum(subscripts, *wide), np.einsum(subscripts, *map(np.abs, wide))
    error = np.abs(got.values.astype("f8") - want)
    assert (error <= np.abs(want) * 2**-8 + sums * terms * 2**-24).all()


@pytest.mark.parametrize("size", [(1, 64, 100), (33, 129, 65), (100, 7, 20), (200, 1, 50), (9, 3000, 8)], ids=str)
def test_products_of_bfloat16(size: tuple[int, int, int]) -> None:
    m, k, n = size
    a, b = bfloat16(m, k), bfloat16(k, n)
    f = xt.jit(lambda x, w: xt.dot(x, w, dim="k"))
    x, w = xt.array(a, ("i", "k")), xt.array(b, ("k", "j"))
    for left in (x, xt.array(np.ascontiguousarray(a.T), ("k", "i"))):
        for right in (w, xt.array(np.ascontiguousarray(b.T), ("j", "k"))):
            close_to_sums(f(left, right).transpose("i", "j"), k, "mk,kn->mn", a, b)
            close_to_sums(f(right, left).transpose("i", "j"), k, "mk,kn->mn", a, b)
    # Slices and reversals, and an op behind the product.
    g = xt.jit(lambda x, w: xt.maximum(x.isel(k=slice(None, None, -2)) @ w.isel(k=slice(None, None, -2)), 0))
    some = bfloat16(m, k)[:, ::-2], bfloat16(k, n)[::-2]
    want = f(xt.array(some[0].copy(), ("i", "k")), xt.array(some[1].copy(), ("k", "j"))).values.astype("f4")
    np.testing.assert_allclose(g(x, w).values.astype("f4"), np.maximum(want, 0), rtol=2**-7, atol=1e-5 * k)


def test_batches_of_products_of_bfloat16() -> None:
    a, b = bfloat16(5, 3, 20, 17), bfloat16(5, 17, 3, 18)
    x, w = xt.array(a, ("n", "h", "i", "k")), xt.array(b, ("n", "k", "h", "j"))
    got = xt.jit(lambda x, w: xt.dot(x, w, dim="k"))(x, w)
    close_to_sums(got.transpose("n", "h", "i", "j"), 17, "nhik,nkhj->nhij", a, b)
    got = xt.jit(lambda x, w: xt.dot(x, w, dim=("h", "k")))(x, w)
    close_to_sums(got.transpose("n", "i", "j"), 51, "nhik,nkhj->nij", a, b)
    got = xt.jit(xt.vectorize(lambda x, w: x @ w, "b"))(x.rename(n="b"), w.rename(n="b"))
    close_to_sums(got.transpose("b", "i", "j"), 51, "nhik,nkhj->nij", a, b)


def stored(x: xt.Array, order: Sequence[str]) -> xt.Array:
    """The same array with its memory in another order."""
    return xt.array(np.ascontiguousarray(x.transpose(*order).values), tuple(order))


def test_batches_of_products_of_bfloat16_in_all_orders() -> None:
    """Where the rows of a result are neighbours, the factors change places, and each of them in every batch."""
    for batch, i, k, j in ((3, 16, 40, 32), (2, 33, 7, 5), (4, 1, 130, 70)):
        a, b = bfloat16(batch, i, k), bfloat16(batch, k, j)
        x, w = xt.array(a, ("n", "i", "k")), xt.array(b, ("n", "k", "j"))
        for order in itertools.permutations("nij"):
            f = xt.jit(lambda x, w, order=order: xt.dot(x, w, dim="k").transpose(*order))
            for first, second in itertools.product(("nik", "kin", "kni"), ("nkj", "jkn")):
                got = f(stored(x, first), stored(w, second))
                close_to_sums(got, k, f"nik,nkj->{''.join(order)}", a, b)


@pytest.mark.parametrize("groups", [2, 8])
def test_gradients_of_grouped_convolutions_of_bfloat16(groups: int) -> None:
    """Those of the kernel are products with a batch of groups."""
    x = xt.array(bfloat16(3, 9, 10, groups, 8), ("n", "h", "w", "g", "c"))
    kernel = xt.array(bfloat16(3, 3, groups, 8, 12), ("kh", "kw", "g", "c", "o"))

    def loss(kernel: Any) -> Any:
        y = xt.nn.conv(x.astype(kernel.dtype), kernel, {"h": "kh", "w": "kw"}, "c", padding=1)
        return xt.sum(y.astype("f4") * xt.cos(xt.arange(12, dim="o", dtype="f4")))

    got, want = (xt.jit(xt.grad(loss))(k).astype("f4").values for k in (kernel, kernel.astype("f4")))
    np.testing.assert_allclose(got, want, rtol=0.02, atol=0.02 * np.abs(want).max())


def test_gradients_of_products_of_bfloat16() -> None:
    a, b, c = bfloat16(40, 50), bfloat16(50, 30), bfloat16(40, 30)
    x, w, y = xt.array(a, ("i", "k")), xt.array(b, ("k", "j")), xt.array(c, ("i", "j"))
    dx, dw = xt.jit(xt.grad(lambda x, w: xt.sum(xt.dot(x, w, dim="k") * y), wrt=(0, 1)))(x, w)
    close_to_sums(dx.transpose("i", "k"), 30, "ij,kj->ik", c, b)
    close_to_sums(dw.transpose("k", "j"), 40, "ik,ij->kj", a, c)


def test_sizes_of_bfloat16_products_that_only_the_call_knows() -> None:
    f = xt.jit(lambda x, w: xt.dot(x, w, dim="k"), dynamic_dims=("i",))
    for m in (0, 3, 70):
        a, b = bfloat16(m, 33), bfloat16(33, 40)
        close_to_sums(f(xt.array(a, ("i", "k")), xt.array(b, ("k", "j"))), 33, "mk,kn->mn", a, b)


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


@pytest.mark.parametrize("order", ["ik,kj->ij", "ki,kj->ij", "ik,jk->ij", "ki,jk->ij", "ik,kj->ji"])
@pytest.mark.parametrize("sizes", [(5, 5, 5), (12, 12, 12), (7, 33, 17), (16, 16, 16), (40, 9, 50), (5, 300, 6)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.cpu_only("these products run over tiles of their own")
def test_products_of_the_small_matrices_of_a_batch(dtype: str, sizes: tuple[int, int, int], order: str) -> None:
    size = dict(zip("ikj", sizes, strict=True))
    factors, result = order.split("->")
    left, right = factors.split(",")
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal([23, *(size[d] for d in dims)]).astype(dtype) for dims in (left, right))
    x[3, 2, 1], y[5, 0, 0], x[7, 1, 1] = np.nan, np.inf, -0.0
    a, b = xt.array(x, ("n", *left)), xt.array(y, ("n", *right))
    want = np.einsum(f"n{left},n{right}->n{result}", x.astype("f8"), y.astype("f8"))
    bound = 2 * size["k"] * np.finfo(dtype).eps
    size_of_terms = np.einsum(f"n{left},n{right}->n{result}", abs(x.astype("f8")), abs(y.astype("f8")))
    form = xt.jit(lambda a, b: xt.dot(a, b, dim="k").transpose("n", *result))
    reversed_a = xt.array(np.repeat(x[::-1], 2, 0)[::-2], ("n", *left))
    for count in (1, 2):
        with threads(count):
            results = form(a, b).values, form(reversed_a, b).values
        for found in results:
            ok = np.isfinite(want)
            assert (np.isfinite(found) == ok).all()
            assert (abs(found[ok] - want[ok]) <= bound * size_of_terms[ok]).all()
    finite_x, finite_y = np.nan_to_num(x), np.nan_to_num(y, posinf=1.0)
    gradient = xt.grad(lambda a, b: xt.sum(xt.dot(a, b, dim="k")), wrt=(0, 1))
    da, db = gradient(xt.array(finite_x, ("n", *left)), xt.array(finite_y, ("n", *right)))
    ones = np.ones((23, size["i"], size["j"]))
    tolerance = {"f4": 1e-4, "f8": 1e-12}[dtype]
    np.testing.assert_allclose(da.values, np.einsum(f"nij,n{right}->n{left}", ones, finite_y), atol=tolerance * 50)
    np.testing.assert_allclose(db.values, np.einsum(f"nij,n{left}->n{right}", ones, finite_x), atol=tolerance * 50)
