"""Scans and long loops on devices: running values that threads share, in several tiles and workgroups, and loops of
more steps than llvmpipe takes. Against NumPy and the CPU, on whatever Vulkan driver is here."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native

HERE = any(d.name == "vulkan" for d in xt.devices())
pytestmark = pytest.mark.skipif(not HERE, reason=f"no Vulkan driver is here: {_native.device_error()}")

RNG = np.random.default_rng(17)
NAMES = ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"]
FORMS = [(reverse, exclusive) for reverse in (False, True) for exclusive in (False, True)]
# One row in one tile, in several, in several workgroups; rows; columns; ends that no tile divides.
SHAPES = [(300,), (1025,), (70001,), (5, 3000), (3000, 5), (70, 1100), (3, 1500, 2)]
TOLERANCE = {"f2": 4e-3, "f4": 4e-5, "f8": 1e-12}
LIMIT = 65535  # steps of a thread that llvmpipe takes (Mesa 22.3; 26.2 takes more)


def both(f: Any, *args: Any, **options: Any) -> tuple[Any, Any]:
    """On the device, on the CPU."""
    return (
        xt.tree.map(lambda r: r.values, xt.jit(f, device="vulkan", **options)(*args)),
        xt.tree.map(lambda r: r.values, xt.jit(f, device="cpu", **options)(*(x.to("cpu") for x in args))),
    )


def numbers(name: str, shape: tuple[int, ...], dtype: str = "f4") -> Any:
    """Products stay near 1."""
    v = RNG.standard_normal(shape)
    v = 1 + 0.01 * v if name == "cumprod" else v if dtype[0] == "f" else 3 * v
    return xt.array(v.astype(dtype), dims=tuple("abc"[: len(shape)]), device="cpu")


def close(got: Any, want: Any, steps: int) -> None:
    tolerance = TOLERANCE.get(str(got.dtype.str[1:]), 0.0)
    np.testing.assert_allclose(
        got.astype("f8"), want.astype("f8"), rtol=tolerance, atol=tolerance * max(1.0, steps**0.5)
    )


@pytest.mark.sampled(48)
@pytest.mark.parametrize(("reverse", "exclusive"), FORMS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_scans(name: str, shape: tuple[int, ...], reverse: bool, exclusive: bool) -> None:
    x = numbers(name, shape)
    dim = "abc"[max(range(len(shape)), key=lambda i: shape[i])]
    got, want = both(lambda x: getattr(xt, name)(x, dim, reverse=reverse, exclusive=exclusive), x)
    close(got, want, max(shape))


@pytest.mark.parametrize("dtype", ["i4", "u8", "f4"])
@pytest.mark.parametrize("total", [xt.sum, xt.prod])
def test_a_total_beside_running_values(total: Any, dtype: str) -> None:
    """One scan gives both, also where an open dim has size 0."""
    running = {xt.sum: xt.cumsum, xt.prod: xt.cumprod}[total]
    f = xt.jit(lambda x: (total(x, "a"), running(x, "a")), device="vulkan", dynamic_dims=("a",))
    for n in (0, 3, 0, 5000):
        x = np.ones(n, dtype)
        x[-1:] = 2
        whole, values = f(xt.array(x, "a"))
        np.testing.assert_array_equal(whole.values, x.sum() if total is xt.sum else x.prod())
        np.testing.assert_array_equal(values.values, x.cumsum() if total is xt.sum else x.cumprod())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("shape", [(70001, 3), (3, 5000), (300, 100)], ids=str)
@pytest.mark.parametrize("dynamic", ["a", "b", "ab"])
@pytest.mark.parametrize("name", NAMES)
def test_scans_along_open_columns(name: str, dynamic: str, shape: tuple[int, ...]) -> None:
    """The call decides whose each is: more steps than a thread of llvmpipe's may take are a workgroup's, and no block
    of columns holds what such scans show; of short ones, each is a thread's."""

    def squares(x: Any) -> Any:
        y = getattr(xt, name)(x, "a")
        return xt.sum(y**2), y

    x = numbers(name, shape).astype("f8")
    results = both(lambda x: xt.value_and_grad(squares, has_aux=True)(x), x, dynamic_dims=tuple(dynamic))
    for got, want in zip(*(xt.tree.flatten(r)[0] for r in results), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())


@pytest.mark.parametrize("dtype", ["f2", "f8", "i1", "i4", "i8"])
@pytest.mark.parametrize("name", NAMES[:-1])
def test_dtypes(name: str, dtype: str) -> None:
    got, want = both(lambda x: getattr(xt, name)(x, "b", reverse=True), numbers(name, (3, 4097), dtype))
    close(got, want, 4097)


@pytest.mark.parametrize("values", ["nan", "inf", "zeros", "wild", "small then large"])
@pytest.mark.parametrize("name", NAMES)
def test_special_values(name: str, values: str) -> None:
    """Products that leave the range of numbers within a tile, and come back."""
    v = RNG.standard_normal((2, 5000)).astype("f4")
    some = RNG.random(v.shape) < 0.001
    if values in ("nan", "inf"):
        v[some] = np.float32(values)
    elif values == "zeros":
        v = np.where(some, 0, 1 + 0.01 * v).astype("f4")
    elif values == "small then large":
        v = np.full(v.shape, 0.5, "f4")
        v[:, 100:250] = 2.0
        v[:, 2500:] = 1.0
    got, want = both(lambda x: getattr(xt, name)(x, "b"), xt.array(v, dims=("a", "b"), device="cpu"))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("values", ["plain", "ties", "zeros"])
@pytest.mark.parametrize("shape", [(3, 2500), (5000,), (2500, 3)], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_gradients(name: str, shape: tuple[int, ...], values: str) -> None:
    x = numbers(name, shape, "f8").values
    if values == "ties":
        x = np.round(x)
    elif values == "zeros":
        x = np.where(RNG.random(shape) < 0.001, 0.0, x)
    dims = tuple("ab"[: len(shape)])
    x, w = (xt.array(v, dims=dims, device="cpu") for v in (x, RNG.standard_normal(shape)))
    dim = dims[int(np.argmax(shape))]
    got, want = both(lambda x, w: xt.grad(lambda x: (getattr(xt, name)(x, dim) * w).sum())(x), x, w)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_a_scan_is_the_same_every_time() -> None:
    x = numbers("cumsum", (100001,)).to("vulkan")
    f = xt.jit(lambda x: xt.cumsum(x, "a"))
    first = f(x).values
    for _ in range(3):
        np.testing.assert_array_equal(f(x).values, first)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("shape", [(200,), (5000,), (LIMIT + 1,), (3, 70000), (300, 300), (300, 5)], ids=str)
def test_the_first_of_equals(name: str, shape: tuple[int, ...]) -> None:
    x = np.round(2 * RNG.standard_normal(shape)).astype("f4")
    x.reshape(-1)[-1] = np.nan if len(shape) == 1 else x.max() + 1
    d = "ab"[int(np.argmax(shape))]
    got, want = both(lambda x: getattr(xt, name)(x, d), xt.array(x, dims=tuple("ab"[: x.ndim]), device="cpu"))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(got, getattr(np, name)(x, "ab".index(d)))


# -- more steps than llvmpipe takes ------------------------------------------------------------------------------------

COUNTS = [0, LIMIT - 1, LIMIT, LIMIT + 1, 2 * LIMIT, 200_000]


@pytest.mark.parametrize("n", COUNTS)
def test_loops_of_a_known_number_of_steps(n: int) -> None:
    got, _ = both(lambda x: xt.fori_loop(0, n, lambda _, c: c + 1, x), xt.array(np.int32(0), device="cpu"))
    assert got == n


@pytest.mark.parametrize("n", COUNTS)
def test_loops_of_a_number_of_steps_that_the_call_knows(n: int) -> None:
    f = xt.jit(lambda x, n: xt.fori_loop(0, n, lambda _, c: c + 1, x), device="vulkan")
    assert f(np.int32(5), np.int32(n)).item() == 5 + n
    x = xt.array(np.ones(n, "f4"), dims="t", device="cpu")
    scan = lambda x: xt.scan(lambda c, e: (c * 0.5 + e, c), np.float32(0), x, dim="t")  # noqa: E731
    got, want = both(scan, x, dynamic_dims=("t",))
    np.testing.assert_array_equal(got[1], want[1])
    np.testing.assert_array_equal(got[0], want[0])


@pytest.mark.parametrize("n", COUNTS)
def test_loops_that_a_test_ends(n: int) -> None:
    f = xt.jit(lambda n: xt.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] + 0.5), (0, 0.0)), device="vulkan")
    count, half = f(n)
    assert (count.item(), half.item()) == (n, n / 2)


@pytest.mark.parametrize(("outer", "inner"), [(300, 300), (2, 70_000), (70_000, 2), (40, 5000)])
def test_loops_in_loops(outer: int, inner: int) -> None:
    def f(x: Any) -> Any:
        return xt.fori_loop(0, outer, lambda _, c: xt.fori_loop(0, inner, lambda _, d: d + 1, c), x)

    assert both(f, xt.array(np.int32(0), device="cpu"))[0] == outer * inner


def test_loops_after_loops() -> None:
    """Each takes few enough steps, both together too many for one kernel."""

    def f(x: Any) -> Any:
        x = xt.fori_loop(0, 50_000, lambda _, c: c + 1, x)
        return xt.fori_loop(0, 50_000, lambda _, c: c + 2, x)

    assert both(f, xt.array(np.int32(0), device="cpu"))[0] == 150_000


def test_many_updates_of_few_places() -> None:
    places = RNG.integers(0, 4, 200_000)
    got, want = both(
        lambda z, i: z.at(r=i).add(1.0),
        xt.array(np.zeros(4, "f4"), dims="r", device="cpu"),
        xt.array(places, dims="n", device="cpu"),
    )
    np.testing.assert_array_equal(got, want)


def test_what_cannot_be_cut_is_refused() -> None:
    """Products that stay below what a number of full precision says are worked out one by one, in one kernel: to the
    end where the driver takes so many steps, and not silently less."""
    v = np.full((2, 140_000), 0.55, "f4")
    v[:, -1] = np.inf
    f = xt.jit(lambda x: xt.cumprod(x, "t"), device="vulkan")
    try:
        got = f(xt.array(v, dims=("r", "t"), device="cpu")).values
    except xt.DeviceError as error:
        assert "llvmpipe" in next(d.description for d in xt.devices() if d.name == "vulkan")
        assert re.search(f'more than {LIMIT} steps.* device="cpu"', str(error))
    else:
        np.testing.assert_allclose(got[:, 1000:-1], 0, atol=1e-30)
        assert np.all(np.isnan(got[:, -1]))


ORDERS: dict[str, Any] = {
    "<": lambda s, bound: s < bound,
    ">=": lambda s, bound: s >= bound,
    "abs": lambda s, bound: abs(s),
    "sign": lambda s, bound: np.sign(s) if isinstance(s, np.ndarray) else xt.sign(s),
}


@pytest.mark.parametrize("dtype", ["i2", "i4", "u4", "i8"])
@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_sums_of_integers(order: str, dtype: str) -> None:
    """The first sum is 0 and one element, which Mesa 22.3 compared with constants wrong."""
    x = np.array([[-5, 3, 4, -9], [0, 1, -1, 5]]).astype(dtype)
    for bound in (0, 5, -(2**40)):
        for row in (*x, x):
            given = xt.array(row, tuple("ab"[-row.ndim :]))
            f = xt.jit(lambda x, n=bound: ORDERS[order](xt.cumsum(x.astype("i8"), "b"), n), device="vulkan")
            np.testing.assert_array_equal(f(given).values, ORDERS[order](np.cumsum(row.astype("i8"), -1), bound))
