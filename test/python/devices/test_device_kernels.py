"""Kernels that share work between threads: tiles of matrix products, sums over rows and columns, several elements at
once, updates by position. Against NumPy, on whatever Vulkan driver is here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native

HERE = any(d.name == "vulkan" for d in xt.devices())
pytestmark = pytest.mark.skipif(not HERE, reason=f"no Vulkan driver is here: {_native.device_error()}")

RNG = np.random.default_rng(11)
TOLERANCE = {"f2": 2e-2, "f4": 2e-4, "f8": 1e-11, "i4": 0.0, "i1": 0.0}


def on_device(f: Any, *args: Any, **options: Any) -> Any:
    return xt.jit(f, device="vulkan", **options)(*args).values


def numbers(dtype: str, **sizes: int) -> Any:
    """Small enough that half precision sums stay finite."""
    v = RNG.standard_normal(tuple(sizes.values())) * (8 if dtype == "i4" else 1)
    return xt.array(v.astype(dtype), dims=tuple(sizes))


def close(got: Any, want: Any, dtype: str) -> None:
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(
        got.astype("f8"), want.astype("f8"), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale
    )


def product(a: Any, b: Any, spec: str, dtype: str) -> Any:
    wide = "f8" if dtype[0] == "f" else dtype
    return np.einsum(spec, a.values.astype(wide), b.values.astype(wide))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4"])
@pytest.mark.parametrize(
    ("left", "right", "spec"),
    [
        ({"i": 64, "k": 64}, {"k": 64, "j": 128}, "ik,kj->ij"),  # whole tiles
        ({"i": 70, "k": 37}, {"k": 37, "j": 93}, "ik,kj->ij"),  # parts of tiles
        ({"k": 100, "i": 33}, {"j": 67, "k": 100}, "ki,jk->ij"),  # both across
        ({"n": 3, "i": 40, "k": 20}, {"n": 3, "k": 20, "j": 50}, "nik,nkj->nij"),  # batches
        ({"p": 2, "n": 3, "i": 20, "k": 30}, {"k": 30, "q": 5, "j": 10}, "pnik,kqj->pniqj"),  # several dims
        ({"i": 32, "k": 3000}, {"k": 3000, "j": 32}, "ik,kj->ij"),  # a few tiles of long sums
    ],
)
def test_products(left: dict[str, int], right: dict[str, int], spec: str, dtype: str) -> None:
    a, b = numbers(dtype, **left), numbers(dtype, **right)
    batch = sorted(set(left) & set(right) - {"k"})
    got = on_device(lambda a, b: xt.dot(a, b, dim="k") if batch else a @ b, a, b)
    close(got, product(a, b, spec, dtype), dtype)


def loop(x: Any, w: Any, b: Any, r: Any) -> Any:
    """The state is what the product reads and what comes of it."""
    u = (w.rename(j="k2").T @ w).rename(j="i2", k2="j") * 0.01
    step = lambda n, h: xt.tanh(h.rename(j="i2") @ u + b) + h  # noqa: E731
    return xt.fori_loop(0, 3, step, r)


# What follows a product -> launches; None: not counted.
AFTER: dict[str, tuple[Any, int | None]] = {
    "bias": (lambda x, w, b, r: xt.maximum(x @ w + b, 0), 1),
    "rows": (lambda x, w, b, r: (x @ w) * r.sum("j"), 2),
    "residual": (lambda x, w, b, r: xt.tanh(x @ w + b) + r, 1),
    "both": (lambda x, w, b, r: (x @ w, xt.exp(-((x @ w) ** 2))), 1),
    "transposed": (lambda x, w, b, r: xt.negative(x @ w + b).transpose("j", "i"), None),
    "reduced": (lambda x, w, b, r: xt.nn.softmax(x @ w + b, "j"), 2),
    "loop": (loop, None),
    "gradient": (lambda x, w, b, r: xt.grad(lambda p: (xt.tanh(x @ p[0] + p[1]) * r).sum())((w, b)), None),
}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("sizes", [(256, 64, 192), (203, 37, 145)])
@pytest.mark.parametrize("name", AFTER)
def test_what_follows_a_product(name: str, sizes: tuple[int, int, int], dtype: str) -> None:
    f, launches = AFTER[name]
    i, k, j = sizes
    args = [numbers(dtype, i=i, k=k), numbers(dtype, k=k, j=j) * 0.2, numbers(dtype, j=j), numbers(dtype, i=i, j=j)]
    got = xt.tree.leaves(xt.jit(f, device="vulkan")(*args))
    for g, w in zip(got, xt.tree.leaves(xt.jit(f)(*args)), strict=True):
        close(g.values, w.values, dtype)
    # What is rounded to half precision and kept is read again by what follows.
    if launches and (name, dtype) != ("both", "f2"):
        assert xt.jit(f).cost(*(a.to("vulkan") for a in args))["launches"] == launches


@pytest.mark.parametrize("sizes", [(70, 37, 93), (16, 0, 16), (1, 5, 1), (0, 3, 8)])
def test_products_of_sizes_that_the_call_brings(sizes: tuple[int, int, int]) -> None:
    i, k, j = sizes
    a, b = numbers("f4", i=i, k=k), numbers("f4", k=k, j=j)
    got = on_device(lambda a, b: a @ b, a, b, dynamic_dims=("i", "j", "k"))
    close(got, product(a, b, "ik,kj->ij", "f4"), "f4")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "i1"])
@pytest.mark.parametrize(("i", "k", "j"), [(2, 20011, 2), (3, 16384, 5), (8, 30000, 8), (16, 9001, 21), (5, 2048, 300)])
def test_narrow_products_of_long_sums(i: int, k: int, j: int, dtype: str) -> None:
    """The sums are cut: a workgroup for each part, and a launch that adds what they found, in order."""
    a, b = numbers(dtype, k=k, i=i), numbers(dtype, k=k, j=j)
    f = xt.jit(lambda a, b: a @ b, device="vulkan")
    got = f(a, b).values
    # Half precision is summed in float32, and comes out rounded.
    close(got, product(a, b, "ki,kj->ij", dtype), dtype)
    assert xt.jit(lambda a, b: a @ b).cost(a.to("vulkan"), b.to("vulkan"))["launches"] == 2
    np.testing.assert_array_equal(f(a, b).values, got)


@pytest.mark.parametrize("dtype", ["f4", "i4"])
@pytest.mark.parametrize("k", [0, 1, 2047, 2049, 300_001])
def test_long_sums_of_sizes_that_the_call_brings(k: int, dtype: str) -> None:
    x, y = numbers(dtype, k=k), numbers(dtype, k=k)
    total, dot, *most = xt.jit(
        lambda x, y: (x.sum(), x @ y, (x * 2).max() if k else x.sum()), device="vulkan", dynamic_dims="k"
    )(x, y)
    wide = x.values.astype("f8")
    close(total.values, wide.sum(), dtype)
    close(dot.values, wide @ y.values, dtype)
    close(most[0].values, (wide * 2).max() if k else wide.sum(), dtype)


def test_the_gradient_of_a_product_adds_up_the_batch() -> None:
    x, w = numbers("f4", n=4000, k=24), numbers("f4", k=24, j=16)
    got = on_device(lambda x, w: xt.grad(lambda w: ((x @ w) ** 2).sum())(w), x, w)
    wide = x.values.astype("f8")
    close(got, 2 * wide.T @ (wide @ w.values), "f4")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shape", [(3, 100_000), (100_000, 3), (300, 300), (1, 65_536), (257, 1023), (40_000, 16)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_sums_of_any_shape(shape: tuple[int, int], dtype: str) -> None:
    x = numbers(dtype, i=shape[0], j=shape[1])
    wide = x.values.astype("f8" if dtype != "i4" else "i8")
    close(on_device(lambda x: x.sum("i"), x), wide.sum(0), dtype)
    close(on_device(lambda x: x.sum("j"), x), wide.sum(1), dtype)
    close(on_device(lambda x: x.sum(), x), wide.sum(), dtype)
    np.testing.assert_array_equal(on_device(lambda x: x.max("j"), x), x.values.max(1))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shape", [(64, 2), (65, 127), (63, 5), (1000, 3), (701, 999), (0, 40), (4000, 40), (100, 128)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_columns_that_threads_share(shape: tuple[int, int], dtype: str) -> None:
    k, j = shape
    x = numbers(dtype, k=k, j=j)
    wide = x.values.astype("f8")
    close(on_device(lambda x: x.sum("k"), x), wide.sum(0), dtype)
    if k:
        np.testing.assert_array_equal(on_device(lambda x: x.min("k"), x), x.values.min(0))
        np.testing.assert_array_equal(on_device(lambda x: x.argmax("k"), x), x.values.argmax(0))
    # Others of the same workgroup read them, and are summed in the same memory.
    got = on_device(lambda x: ((x - x.sum("k")) * 2).sum("k") + x.sum("k"), x)
    close(got, (2 * (wide - wide.sum(0))).sum(0) + wide.sum(0), dtype)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("shape", [(5000, 3), (3, 5000), (300, 70), (1, 1), (0, 4), (4, 0)], ids=str)
@pytest.mark.parametrize("dynamic", ["a", "b", "ab"])
@pytest.mark.parametrize("over", ["a", "b", "ab"])
def test_rows_and_columns_of_open_lengths(over: str, dynamic: str, shape: tuple[int, int]) -> None:
    """The call decides whether rows are a workgroup's or a thread's."""

    def f(x: Any) -> Any:
        return x.sum(tuple(over)), (x + 1).prod(tuple(over)), xt.grad(lambda x: xt.sum(x.sum(tuple(over)) ** 2))(x)

    x = numbers("f8", a=shape[0], b=shape[1]) * 1e-3
    got = xt.jit(f, device="vulkan", dynamic_dims=tuple(dynamic))(x)
    for g, w in zip(got, xt.jit(f, device="cpu")(x), strict=True):
        close(g.values, w.values, "f8")
    if 0 not in shape:
        largest = xt.jit(lambda x: xt.argmax(x, over[0]), device="vulkan", dynamic_dims=tuple(dynamic))(x)
        np.testing.assert_array_equal(largest.values, x.values.argmax("ab".index(over[0])))


HALVES: dict[str, Any] = {
    "max": lambda x: x.max("a"),
    "min": lambda x: x.min("b"),
    "all": lambda x: x.max(),
    "logsumexp": lambda x: xt.logsumexp(x, "a"),
    "softmax": lambda x: xt.nn.softmax(x, "a"),
    "gradient": lambda x: xt.grad(lambda x: xt.sum(x.max("a")))(x),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shape", [(4, 70000), (70000, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["f2", "bfloat16"])
@pytest.mark.parametrize("name", HALVES)
def test_extrema_of_half_precision_are_shared(name: str, dtype: str, shape: tuple[int, int]) -> None:
    """Not a thread's to go along, which on llvmpipe takes 65535 steps at most."""
    x = numbers("f4", b=shape[0], a=shape[1]).astype(dtype)
    got = on_device(HALVES[name], x)
    np.testing.assert_allclose(
        got.astype("f8"), HALVES[name](x).values.astype("f8"), rtol=1e-2, atol=1e-3 if name == "logsumexp" else 0
    )


MEETINGS: dict[str, Any] = {
    "max - min": lambda x: x.max("a") - x.min("a"),
    "sum / sum": lambda x: xt.sum(x, "a") / xt.sum(x * x, "a"),
    "mean of numbers": lambda x: xt.mean(x, "a", skipna=True),
    "std of numbers": lambda x: xt.std(x, "a", skipna=True),
    "back into rows": lambda x: (x - xt.sum(x, "a")) / xt.max(x * x, "a"),
    "all elements": lambda x: (x - xt.sum(x)) / xt.sum(x * x),
    "jvp": lambda x: xt.jvp(lambda x: xt.dot(x, x, dim="a"), (x,), (x,))[1],
}


@pytest.mark.sampled(14)
@pytest.mark.parametrize("shape", [(64, 16), (365, 24), (130, 64), (200, 100), (300, 128), (20, 5, 12)], ids=str)
@pytest.mark.parametrize("name", MEETINGS)
def test_reductions_that_meet_in_a_step_of_other_threads(name: str, shape: tuple[int, ...]) -> None:
    """On new numbers in every call: a thread that does not wait sees those of the one before."""
    f = xt.jit(MEETINGS[name], device="vulkan")
    for _ in range(3):
        x = numbers("f4", **dict(zip("abc", shape, strict=False)))
        close(f(x).values, xt.jit(MEETINGS[name], device="cpu")(x.astype("f8")).values, "f4")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_of_what_is_read_by_position(dtype: str) -> None:
    """A thread adds up several elements at once, and each has its own place in what is read."""
    x, y = numbers(dtype, a=3, b=8), numbers(dtype, k=5, b=8)
    at = np.array([0, 2, 2, 1, -1])
    got = on_device(lambda x, y: xt.sum(x.isel(a=xt.array(at, "k")) * y), x, y)
    close(got, np.sum(x.values.astype("f8")[at] * y.values), dtype)
    v = numbers(dtype, a=3, b=8)
    square = lambda x: xt.sum(x.isel(a=xt.array(at, "k")) ** 2)  # noqa: E731
    got = on_device(lambda x, v: xt.jvp(square, (x,), (v,))[1], x, v)
    close(got, np.sum(2 * x.values.astype("f8")[at] * v.values[at]), dtype)
    value, tangent = xt.jit(lambda x, v: xt.jvp(square, (x,), (v,)), device="vulkan")(x, v)
    close(tangent.values, np.sum(2 * x.values.astype("f8")[at] * v.values[at]), dtype)
    close(value.values, np.sum(x.values.astype("f8")[at] ** 2), dtype)


def test_a_sum_is_the_same_every_time() -> None:
    x = numbers("f4", i=77, j=5000)
    f = xt.jit(lambda x: (x.sum("j"), x.sum()), device="vulkan")
    rows, all_ = (r.values for r in f(x))
    for _ in range(3):
        again = [r.values for r in f(x)]
        np.testing.assert_array_equal(again[0], rows)
        np.testing.assert_array_equal(again[1], all_)


@pytest.mark.parametrize("j", [1, 3, 64, 258, 1024])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2"])
def test_rows_of_any_length(j: int, dtype: str) -> None:
    v = RNG.integers(0, 50, (130, j)).astype(dtype)
    row, column = RNG.integers(0, 50, j).astype(dtype), RNG.integers(0, 50, 130).astype(dtype)
    got = on_device(
        lambda x, r, c: x * r + c, xt.array(v, dims=("i", "j")), xt.array(row, dims="j"), xt.array(column, dims="i")
    )
    np.testing.assert_array_equal(got, v * row + column[:, None])
    np.testing.assert_array_equal(
        on_device(lambda x: x.isel(j=slice(1, None)) + 0, xt.array(v, dims=("i", "j"))), v[:, 1:]
    )


@pytest.mark.parametrize("columns", [0, 1, 3, 32, 77])
def test_long_columns_of_an_open_number(columns: int) -> None:
    """More elements than a thread of llvmpipe takes steps: threads share a column, whatever their number is."""
    x = numbers("f4", i=70_000, j=columns)
    got = on_device(lambda x: x.argmin("i"), x, dynamic_dims="j")
    np.testing.assert_array_equal(got, x.values.argmin(0))


@pytest.mark.parametrize("n", [0, 1, 1024, 2500])
@pytest.mark.parametrize("width", [None, 64])
def test_loops_along_sizes_that_the_call_brings(n: int, width: int | None) -> None:
    """Going back, a step keeps the old carry beside the new one: a block of an open dim, whose last one is shorter."""
    sizes = {"i": n} if width is None else {"i": n, "j": width}

    def loss(x: Any) -> Any:
        return xt.fori_loop(0, 3, lambda _, c: xt.tanh(c + 0.1 * x), x).sum()

    x = numbers("f8", **sizes)
    c, slope = x.values, np.ones(x.shape)
    for _ in range(3):
        c = np.tanh(c + 0.1 * x.values)
        slope = (1 - c * c) * (slope + 0.1)
    close(on_device(xt.grad(loss), x, dynamic_dims="i"), slope, "f8")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("rows", [7, 1000])
@pytest.mark.parametrize("width", [None, 1, 20, 64])
@pytest.mark.parametrize("updates", [300, 5000])
def test_updates_come_in_the_order_of_their_indices(rows: int, width: int | None, updates: int) -> None:
    """Bit for bit, where that is asked for: floats are added, and positions overwritten, as one thread would."""
    cell = () if width is None else (width,)
    dims = ("c",) if width else ()
    target = RNG.standard_normal((rows, *cell)).astype("f4")
    values = RNG.standard_normal((updates, *cell)).astype("f4")
    places = RNG.integers(-rows, rows, updates)
    args = (xt.array(target, dims=("r", *dims)), xt.array(places, dims="n"), xt.array(values, dims=("n", *dims)))
    added, last, most = target.copy(), target.copy(), target.copy()
    for place, value in zip(places, values, strict=True):
        added[place] += value
        last[place] = value
    np.maximum.at(most, places, values)
    with xt.option(deterministic=True):
        np.testing.assert_array_equal(on_device(lambda z, i, v: z.at(r=i).add(v), *args), added)
    close(on_device(lambda z, i, v: z.at(r=i).add(v), *args), added, "f4")
    np.testing.assert_array_equal(on_device(lambda z, i, v: z.at(r=i).set(v), *args), last)
    np.testing.assert_array_equal(on_device(lambda z, i, v: z.at(r=i).max(v), *args), most)
