"""One compiled function for every size: the functions on arrays over dims that are dynamic."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import ours, same, values
from scipy import special

FUNCTIONS = {
    "arithmetic": (lambda x: x * x + 1, lambda x: x * x + 1),
    "sum": (lambda x: x.sum("t"), lambda x: x.sum("t")),
    "mean": (lambda x: x.mean("t"), lambda x: x.mean("t")),
    "mean of all": (lambda x: x.mean(), lambda x: x.mean()),
    "var": (lambda x: x.var(ddof=1), lambda x: x.var(ddof=1)),
    "centred": (lambda x: x - x.mean("t"), lambda x: x - x.mean("t")),
    "gram": (lambda x: xt.dot(x, x.rename(f="g"), dim="t"), lambda x: xr.dot(x, x.rename(f="g"), dim="t")),
    "product": (lambda x: xt.dot(x, x, dim="f"), lambda x: xr.dot(x, x, dim="f")),
    "transpose": (lambda x: x.T, lambda x: x.T),
    "other dim": (lambda x: x.isel(f=[2, 0]), lambda x: x.isel(f=[2, 0])),
    "flip": (lambda x: x.isel(t=slice(None, None, -1)), lambda x: x[::-1]),
    "one": (lambda x: x.isel(t=1), lambda x: x.isel(t=1)),
    "zeros_like": (xt.zeros_like, xr.zeros_like),
    "where": (lambda x: x.where(x > 0, 0.0), lambda x: x.where(x > 0, 0.0)),
    "softmax": (lambda x: xt.nn.softmax(x, "t"), lambda x: x.copy(data=special.softmax(x.values, 0))),
    "logsumexp": (lambda x: xt.logsumexp(x, "t"), lambda x: xr.DataArray(special.logsumexp(x.values, 0), dims="f")),
    "expand": (lambda x: x.expand_dims(n=2), lambda x: x.expand_dims(n=2)),
    "argmax": (lambda x: x.argmax("t"), lambda x: x.argmax("t")),
    "roll": (lambda x: x.roll(t=5, f=-1), lambda x: x.roll(t=5, f=-1)),
    "shift": (lambda x: x.shift(t=-2, fill_value=1.0), lambda x: x.shift(t=-2, fill_value=1.0)),
    "rolling": (lambda x: x.rolling(t=3).mean().fillna(0), lambda x: x.rolling(t=3).mean().fillna(0)),
    "rolling in two": (
        lambda x: x.rolling(t=3, f=2, center=True, min_periods=2).sum(),
        lambda x: x.rolling(t=3, f=2, center=True, min_periods=2).sum(),
    ),
    "construct": (
        lambda x: x.rolling(t=2, center=True).construct("w", fill_value=0),
        lambda x: x.rolling(t=2, center=True).construct("w", fill_value=0),
    ),
    "counting": (
        lambda x: x * xt.arange(x.sizes["t"], dim="t"),
        lambda x: x * xr.DataArray(np.arange(x.sizes["t"]), dims="t"),
    ),
    "norm": (lambda x: xt.norm(x, "t"), lambda x: xr.DataArray(np.linalg.norm(x.values, axis=0), dims="f")),
}

# SciPy refuses to be given nothing, and xarray windows longer than what there is.
LEAST = {"one": 2, "argmax": 1, "logsumexp": 1, "softmax": 1, "rolling": 3, "rolling in two": 3, "construct": 2}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_size(name: str) -> None:
    f, peer = FUNCTIONS[name]
    g = xt.jit(f, dynamic_dims=("t",))
    for size in (2, 1, 0, 3, 17):
        if size < LEAST.get(name, 0):
            continue
        x = xr.DataArray(values((size, 3), "f8", size), dims=("t", "f"))
        with warnings.catch_warnings():  # means of nothing
            warnings.simplefilter("ignore", RuntimeWarning)
            want = peer(x)
        same(g(ours(x)), want, rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_dynamic_dims(name: str) -> None:
    f, peer = FUNCTIONS[name]
    if name == "other dim":  # reads positions of f
        with pytest.raises(IndexError):
            xt.jit(f, dynamic_dims=("t", "f"))(xt.ones(t=2, f=2))
    g = xt.jit(f, dynamic_dims=("t", "f"))
    for t, n in ((2, 3), (5, 4), (4, 5), (3, 19)):
        x = xr.DataArray(values((t, n), "f8", t + n), dims=("t", "f"))
        same(g(ours(x)), peer(x), rtol=1e-12)


SMOOTH = [n for n in FUNCTIONS if n not in ("argmax", "zeros_like")]


@pytest.mark.sampled(23)
@pytest.mark.parametrize("dynamic", [("t",), ("t", "f")])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_at_every_size(name: str, dynamic: tuple[str, ...]) -> None:
    f, _ = FUNCTIONS[name]

    def loss(x: xt.Array) -> xt.Array:
        return xt.square(f(x)).sum()

    g, fixed = xt.jit(xt.grad(loss), dynamic_dims=dynamic), xt.grad(loss)
    h = 1e-6
    for size in (2, 1, 0, 3, 17):
        if size < LEAST.get(name, 0) or (size <= 1 and name == "var"):
            continue
        x = np.random.default_rng(size).normal(size=(size, 3))
        got = g(xt.array(x, dims=("t", "f"))).values
        np.testing.assert_allclose(got, fixed(xt.array(x, dims=("t", "f"))).values, rtol=1e-12, atol=1e-14)
        if not size:
            continue
        step = np.random.default_rng(1).normal(size=x.shape)
        up, down = (loss(xt.array(x + s * step, dims=("t", "f"))).item() for s in (h, -h))
        assert (got * step).sum() == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-7)


def test_two_arrays_of_one_dynamic_dim() -> None:
    g = xt.jit(lambda x, y: (x * y).sum("t") / x.sizes["f"], dynamic_dims="t")
    for size in (1, 5):
        x = xr.DataArray(values((size, 3), "f8", size), dims=("t", "f"))
        y = xr.DataArray(values((size,), "f8", size), dims="t")
        same(g(ours(x), ours(y)), (x * y).sum("t") / 3, rtol=1e-12)


def test_what_needs_the_size_says_so() -> None:
    x = xt.ones(t=4)
    for f in (lambda x: xt.pad(x, t=1, mode="edge"), lambda x: x.isel(t=slice(1, 3))):
        with pytest.raises(ValueError, match="dynamic"):
            xt.jit(f, dynamic_dims="t")(x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: xt.concat([x.rename(t="c"), x.rename(t="c")], "c"),
        lambda x: x.rename(t="u").rename(u="c").pad(c=1),
        lambda x: x.rename(t="c").isel(c=slice(0, 1)),
        lambda x: xt.ones(c=x.sizes["t"]).isel(c=slice(0, 1)),
        lambda x: xt.tile(x.rename(t="c"), c=2),
        lambda x: x.rename(t="c").unstack(c={"p": 2, "q": 2}),
        lambda x: xt.arange(1, x.rename(t="c").sizes["c"], dim="i"),
        lambda x: x.rename(t="c").rolling(c=2).construct("w", stride=2),
    ],
)
def test_what_is_to_be_left_out_is_the_name_that_was_given(f) -> None:
    what = r"Leave 't', whose size 'c' has, out of dynamic_dims= .*xt\.spec\(t=SIZE\)"
    with pytest.raises(xt.Error, match=what):
        xt.jit(f, dynamic_dims="t")(xt.ones(t=4))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", ["mean", "sum", "max", "min", "prod", "var", "std"])
@pytest.mark.parametrize("min_periods", [None, 1, 2])
def test_windows_along_a_dynamic_dim(kind: str, min_periods: int | None) -> None:
    def f(x: xt.Array) -> xt.Array:
        return getattr(x.rolling(t=3, center=kind != "sum", min_periods=min_periods), kind)()

    def loss(x: xt.Array) -> xt.Array:
        return xt.square(f(x).fillna(0)).sum()

    g, gradient = xt.jit(f, dynamic_dims="t"), xt.jit(xt.grad(loss), dynamic_dims="t")
    for size in (0, 1, 2, 3, 9):
        x = xt.array(values((size, 2), "f8", size), ("t", "f"))
        np.testing.assert_allclose(g(x).values, f(x).values, rtol=1e-12)
        np.testing.assert_allclose(gradient(x).values, xt.grad(loss)(x).values, rtol=1e-10, atol=1e-12)


def test_what_moves_along_a_dynamic_dim_keeps_its_labels() -> None:
    x = xr.DataArray(values((5, 2), "f8", 0), dims=("t", "f"), coords={"t": [3, 1, 4, 1, 5]})
    for f in (
        lambda x: xt.roll(x, t=2),
        lambda x: xt.shift(x, t=2),
        lambda x: xt.rolling(x, t=2).mean(),
        lambda x: xt.rolling(x, t=2, min_periods=1).mean(),
        lambda x: xt.rolling(x, t=2).construct("w"),
    ):
        xr.testing.assert_identical(xt.jit(f, dynamic_dims="t")(x), xt.jit(f)(x))


RENAMES = {
    "add": lambda x, y: x.rename(n="m") + y,
    "dot": lambda x, y: xt.dot(x.rename(n="m"), y, dim="m"),
    "where": lambda x, y: xt.where(y > 0, x.rename(n="m"), y),
    "gradient": xt.grad(lambda x, y: xt.sum(x.rename(n="m") * y)),
    "to a third": lambda x, y: (x.rename(n="p") * y.rename(m="p")).sum("p"),
    "ones": lambda x, y: xt.ones(m=x.sizes["n"]) * y,
}


@pytest.mark.parametrize("name", RENAMES)
def test_a_name_given_to_another_size_is_refused_at_the_call(name: str) -> None:
    f = xt.jit(RENAMES[name], dynamic_dims=("n", "m"))
    for n in (4, 1, 9):
        x, y = values((n, 2), "f8", n), values((n, 2), "f8", n + 1)
        got = f(xt.array(x, dims=("n", "k")), xt.array(y, dims=("m", "k")))
        fixed = xt.jit(RENAMES[name])(xt.array(x, dims=("n", "k")), xt.array(y, dims=("m", "k")))
        np.testing.assert_allclose(got.values, fixed.values, rtol=1e-14)
        with pytest.raises(xt.SizeError, match=rf"size ({n + 3}|{n}),.*size ({n + 3}|{n}) "):
            f(xt.array(x, dims=("n", "k")), xt.ones(m=n + 3, k=2))


def test_swapped_dynamic_names_need_equal_sizes() -> None:
    f = xt.jit(xt.grad(lambda z: xt.sum(z.rename(n="m", m="n") * z)), dynamic_dims=("n", "m"))
    x = values((3, 3), "f8", 0)
    np.testing.assert_allclose(f(xt.array(x, dims=("n", "m"))).values, 2 * x.T, rtol=1e-14)
    with pytest.raises(xt.SizeError, match="rename"):
        f(xt.ones(n=3, m=8))


@pytest.mark.parametrize(
    "f", [lambda x: xt.tile(x, {"n": 2}), lambda x: xt.repeat(x, 2, dim="n"), lambda x: x.stack(n=("n", "k"))]
)
def test_a_dynamic_dim_cannot_become_another_size_of_its_name(f) -> None:
    with pytest.raises(xt.DimensionError, match=r"dim 'n' is dynamic.* Leave 'n' out of dynamic_dims="):
        xt.jit(f, dynamic_dims="n")(xt.ones(n=3, k=2))


def test_a_size_that_is_read_off_another_temporary() -> None:
    """An update in a branch leaves it, and is as long as what it updates."""

    def f(x: xt.Array) -> xt.Array:
        a, b = xt.sin(x), xt.cos(x)
        return a.at(i=-1).set(0.0) * b.at(i=-1).set(0.0) + xt.cumsum(a * b, "i")

    g = xt.jit(f, dynamic_dims=("i",))
    for n in (1, 3, 40):
        x = np.linspace(0.1, 0.9, n)
        ab = np.sin(x) * np.cos(x)
        want = np.cumsum(ab) + np.where(np.arange(n) < n - 1, ab, 0)
        np.testing.assert_allclose(g(xt.array(x, "i")).values, want, rtol=1e-14)


FACTORS = {
    "left vectors": lambda a: (xt.linalg.svd(a, dims=("t", "i"))[0] * a).sum(),
    "right vectors": lambda a: (xt.linalg.svd(a, dims=("t", "i"))[2] * a).sum(),
    "singular values": lambda a: xt.linalg.svd(a, dims=("t", "i"))[1].sum(),
    "q": lambda a: (xt.linalg.qr(a, dims=("t", "i"))[0] * a).sum(),
    "r": lambda a: xt.linalg.qr(a, dims=("t", "i"))[1].sum(),
    "lower": lambda a: (xt.linalg.lu(a, dims=("t", "i"))[1] ** 2).sum(),
    "upper": lambda a: (xt.linalg.lu(a, dims=("t", "i"))[2] ** 2).sum(),
}


@pytest.mark.sampled(24)
@pytest.mark.parametrize("dynamic", [("t",), ("i",), ("t", "i")], ids="-".join)
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (3, 5)], ids=str)
@pytest.mark.parametrize("name", FACTORS)
def test_derivatives_of_factors(name: str, shape: tuple[int, int], dynamic: tuple[str, ...]) -> None:
    if name in ("lower", "upper") and len(dynamic) == 2 and shape[0] != shape[1]:
        shape = (5, 5)  # where both sizes are dynamic, lu wants them to be equal
    a = xt.array(np.random.default_rng(4).normal(size=shape), ("t", "i"))
    for transform in (xt.grad, lambda f: lambda a: xt.jvp(f, (a,), (a * a,))[1]):
        g = transform(FACTORS[name])
        want = g(a).values
        assert np.abs(want).max() > 0.1
        np.testing.assert_allclose(xt.jit(g, dynamic_dims=dynamic)(a).values, want, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("dynamic", ["t", "i"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (3, 5)], ids=str)
def test_factors_of_lu_share_their_dim(shape: tuple[int, int], dynamic: str) -> None:
    a = xt.array(values(shape, "f8", 3), ("t", "i"))

    def product(a: xt.Array) -> xt.Array:
        p, lower, upper = xt.linalg.lu(a, dims=("t", "i"))
        count = lower.sizes["rank"]
        return xt.dot(p, lower, upper), count + upper.sizes["rank"]

    again, counts = xt.jit(product, dynamic_dims=dynamic)(a)
    np.testing.assert_allclose(again.transpose("t", "i").values, a.values, atol=1e-14)
    assert int(counts) == 2 * min(shape)
    with pytest.raises(xt.UnsupportedError, match=r"xt\.linalg\.lu: dim 'rank'.*smaller size of 't' and 'i'"):
        xt.jit(lambda a: xt.linalg.lu(a, dims=("t", "i"))[1], dynamic_dims=dynamic)(a)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_inner_dims_of_open_matrices(dtype: str) -> None:
    """Renamed, spread over another dim, differentiated: only a result may not have them."""

    def f(x: xt.Array) -> tuple[xt.Array, ...]:
        u, s, vh = xt.linalg.svd(x)
        q, r = xt.linalg.qr(x, inner="k")
        return xt.dot(u * s, vh, dim="rank"), xt.dot(q, r, dim="k"), s.rename(rank="z").sum(), xt.linalg.pinv(x)

    def loss(x: xt.Array) -> xt.Array:
        u, s, vh = xt.linalg.svd(x)
        return xt.sum(abs(xt.dot(u * xt.exp(-s), vh, dim="rank")) ** 2)

    run, grad = (xt.jit(g, dynamic_dims=("row", "col")) for g in (f, xt.grad(loss)))
    for shape in ((3, 2), (2, 4)):
        a = values(shape, "f8", 3)
        x = xt.array(a + 1j * values(shape, "f8", 4) if dtype == "c16" else a, ("row", "col"))
        for got, want in zip((*run(x), grad(x)), (*f(x), xt.grad(loss)(x)), strict=True):
            np.testing.assert_allclose(got.transpose(*want.dims).values, want.values, rtol=1e-9, atol=1e-9)
    with pytest.raises(xt.UnsupportedError, match=r"xt\.linalg\.svd: dim 'rank' of a result has the smaller size"):
        xt.jit(lambda x: xt.linalg.svd(x)[1], dynamic_dims=("row", "col"))(x)


def test_one_inner_dim_has_one_size() -> None:
    a, b = (xt.array(values(s, "f8", 3), d) for s, d in (((3, 2), ("row", "col")), ((5, 7), ("r2", "c2"))))

    def product(a: xt.Array, b: xt.Array, inner: str = "rank") -> xt.Array:
        return xt.sum(xt.linalg.svd(a)[1] * xt.linalg.svd(b, dims=("r2", "c2"), inner=inner)[1])

    run = xt.jit(product, dynamic_dims=("row", "col", "r2", "c2"), static="inner")
    with pytest.raises(xt.UnsupportedError, match=r"svd: the dim 'rank'.*another array.*inner='other'"):
        run(a, b)
    np.testing.assert_allclose(run(a, b, inner="other").values, product(a, b, inner="other").values)
    with pytest.raises(xt.UnsupportedError, match=r"svd: the dim 'rank'.*another array.*inner='other'"):
        xt.jit(lambda a, w: xt.sum(xt.linalg.svd(a)[1] * w), dynamic_dims=("row", "col", "rank"))(a, xt.ones(rank=5))
    twice = xt.jit(lambda a: xt.sum(xt.linalg.svd(a)[1] * xt.linalg.svd(a.T)[1]), dynamic_dims=("row", "col"))
    np.testing.assert_allclose(twice(a).values, np.sum(a.values**2))
    with pytest.raises(xt.SizeError, match=r"xt\.max: dim 'rank' has size 0"):
        xt.jit(lambda a: xt.linalg.svd(a)[1].max(), dynamic_dims=("row", "col"))(xt.ones(row=0, col=2))


def test_extrema_of_nothing() -> None:
    x = xt.ones(a=0, b=3)
    for f in (xt.max, xt.min, xt.argmax, xt.argmin, xt.median):
        run = xt.jit(lambda x, f=f: f(x, "a"), dynamic_dims="a")
        assert run(xt.ones(a=2, b=3)).shape == (3,)
        with pytest.raises(
            xt.SizeError, match=rf"xt\.{f.__name__}: dim 'a' has size 0.*float64 \(a: \?, b: 3\)"
        ) as error:
            run(x)
        assert "test_dynamic_sizes.py" in str(error.value)
    with pytest.raises(xt.SizeError, match="'a' has size 0"):
        xt.jit(xt.grad(lambda x: xt.vectorize(lambda v: v.max(), "b")(x).sum()), dynamic_dims="a")(x)
    # Sums that are taken relative to a maximum are defined, and what a condition guards is not run.
    assert np.isneginf(xt.jit(lambda x: xt.logsumexp(x, "a"), dynamic_dims="a")(x).values).all()
    guarded = xt.jit(lambda x: xt.cond(x.sizes["a"] > 0, lambda: x.max(), lambda: -1.0), dynamic_dims="a")
    assert guarded(x).item() == -1.0 and guarded(xt.ones(a=1, b=3)).item() == 1.0


def test_the_smaller_of_two_dynamic_sizes() -> None:
    a = xt.array(np.random.default_rng(0).standard_normal((3, 5)), ("row", "col"))
    for dims in (("row",), ("col",), ("row", "col")):
        for f in (xt.linalg.qr, xt.linalg.svd):
            with pytest.raises(xt.UnsupportedError, match=r"(?s)xt\.linalg\..*'rank'.*xt\.dot\(q, r.*dynamic_dims"):
                xt.jit(lambda a, f=f: f(a), dynamic_dims=dims)(a)
        product = xt.jit(lambda a: xt.dot(*xt.linalg.qr(a), dim="rank"), dynamic_dims=dims)(a)
        np.testing.assert_allclose(product.values, a.values)


@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (3, 3), (2, 4), (0, 2), (2, 0)])
@pytest.mark.parametrize("dims", [("row",), ("col",), ("row", "col")])
def test_diagonals(shape: tuple[int, int], dims: tuple[str, ...]) -> None:
    a = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)
    x = xt.array(a, ("row", "col"))
    assert xt.jit(lambda a: xt.linalg.trace(a), dynamic_dims=dims)(x).item() == np.trace(a)
    diagonal = xt.jit(lambda a: xt.linalg.diagonal(a), dynamic_dims=dims)
    if shape[0] <= shape[1]:
        np.testing.assert_array_equal(diagonal(x).values, np.diagonal(a))
    else:
        with pytest.raises(xt.IndexError, match=r"xt\.linalg\.diagonal: .*'col'|there is nothing to read"):
            diagonal(x)


def test_transposed_windows_beside_a_dynamic_dim() -> None:
    x = xt.array(np.random.default_rng(1).standard_normal((6, 2)), ("a", "b"))
    for kind in ("max", "prod", "var", "std"):
        gradient = xt.grad(lambda x, k=kind: getattr(x.rolling(a=3), k)().isel(a=slice(2, None)).sum())
        got, want = xt.jit(gradient, dynamic_dims="b")(x), gradient(x)
        np.testing.assert_allclose(got.values, want.values, rtol=1e-12)


def test_temporaries_of_more_bytes_than_a_number_holds() -> None:
    """Each size fits, and the product is 2**66: it wraps around to nothing, which was enough to begin with."""

    def f(a, b, c):
        return xt.sum(xt.cumsum(a * b * c, dim="i"))

    def arrays(n: int) -> list[xt.Array]:
        return [xt.ones({d: n}, dtype="i1") for d in "ijk"]

    g = xt.jit(f, dynamic_dims=("i", "j", "k"))
    assert g(*arrays(3)).item() == 54
    for n in (1 << 16, 1 << 21, 1 << 22):
        with pytest.raises(MemoryError, match="bytes of temporaries"):
            g(*arrays(n))
    assert g(*arrays(3)).item() == 54


def test_a_size_that_is_needed_says_how_to_fix_it_in_an_export_too():
    what = r"Leave 't' out of dynamic_dims= .*; in an export, give it one: xt\.spec\(t=SIZE\)"
    with pytest.raises(xt.Error, match=what):
        xt.export(lambda x: sum(x.isel(t=i) for i in range(x.sizes["t"])), args=(xt.spec(t=None),))


STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "reads the old": lambda i, x, y: (x.at(i=i).set(y.isel(i=i)), y + x),
    "swaps": lambda i, x, y: (y.at(i=i).set(2 * x.isel(i=i)), x),
    "updates both": lambda i, x, y: (x.at(i=i).set(y.isel(i=i)), y.at(i=i).set(x.isel(i=i))),
    "in a branch": lambda i, x, y: (xt.cond(i > 2, lambda: x.at(i=i).set(y.isel(i=0)), lambda: x), y + x),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_loop_that_updates_what_it_carries(name: str) -> None:
    x, y = (xt.array(values((6, 4), "f4", seed=s), dims=("i", "j")) for s in (1, 2))

    def run(x: Any, y: Any) -> Any:
        return xt.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, *STEPS[name](*c)), (0, x, y))[1:]

    expected = x, y
    for i in range(5):
        expected = STEPS[name](xt.array(i), *expected)
    for dims in ((), ("i",), ("i", "j")):
        for got, wanted in zip(xt.jit(run, dynamic_dims=dims)(x, y), expected, strict=True):
            np.testing.assert_array_equal(got.values, wanted.values)


@pytest.mark.cpu_only("devices have no LAPACK")
def test_branches_make_dims_of_sizes_that_follow_from_open_ones() -> None:
    def stacked(p: Any, x: Any) -> Any:
        return xt.cond(p, lambda: xt.stack(x, k=("i", "j")), lambda: xt.stack(2 * x, k=("i", "j")))

    def product(p: Any, x: Any) -> Any:
        q, r = xt.cond(p, lambda: xt.linalg.qr(x, ("i", "j")), lambda: xt.linalg.qr(2 * x, ("i", "j")))
        return xt.dot(q, r, dim="rank")

    for n in (3, 7):
        x = values((n, 4), "f4")
        for p in (True, False):
            expected = x if p else 2 * x
            given = xt.array(p), xt.array(x, dims=("i", "j"))
            np.testing.assert_array_equal(xt.jit(stacked, dynamic_dims=("i",))(*given).values, expected.ravel())
            np.testing.assert_allclose(xt.jit(product, dynamic_dims=("i",))(*given).values, expected, atol=1e-5)
