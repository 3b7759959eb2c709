"""What kernels get wrong first: loops that run zero times, sizes that only the call knows, rows that no workgroup
holds, numbers that drivers and conversions mistake. Against NumPy, on whatever Vulkan driver is here."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native
from xtensor.base.dtypes import bfloat16

HERE = any(d.name == "vulkan" for d in xt.devices())
pytestmark = pytest.mark.skipif(not HERE, reason=f"no Vulkan driver is here: {_native.device_error()}")

RNG = np.random.default_rng(5)


def on_device(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    result = xt.jit(f, device="vulkan", **options)(*args)
    assert all(r.device.startswith("vulkan") for r in xt.tree.leaves(result))
    return xt.tree.map(lambda r: r.values, result)


def arr(values: Any, dims: str, dtype: str | None = None) -> Any:
    return xt.array(np.asarray(values, dtype), dims=tuple(dims))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_loop_of_any_number_of_steps_has_results(n: int) -> None:
    x = RNG.standard_normal((n, 3))
    np.testing.assert_allclose(on_device(lambda x: x.sum("i"), arr(x, "ij"), dynamic_dims=("i",)), x.sum(0), rtol=1e-12)
    last, seen = on_device(lambda x: xt.scan(lambda c, r: (c * 0.5 + r, c), xt.zeros(j=3), x, dim="i"), arr(x, "ij"))
    c = np.zeros(3)
    for k in range(n):
        np.testing.assert_allclose(seen[k], c, rtol=1e-12)
        c = c * 0.5 + x[k]
    np.testing.assert_allclose(last, c, rtol=1e-12)


def test_a_loop_whose_test_is_a_loop() -> None:
    v = np.array([0.1, 0.2, 0.3])
    got, count = on_device(
        lambda v: xt.while_loop(lambda s: (s[0] * s[0]).sum() < 50.0, lambda s: (s[0] * 1.5, s[1] + 1), (v, 0)),
        arr(v, "i"),
    )
    steps = 0
    while (v * v).sum() < 50.0:
        v, steps = v * 1.5, steps + 1
    np.testing.assert_allclose(got, v, rtol=1e-12)
    assert count == steps


@pytest.mark.parametrize("which", [-3, 0, 1, 2, 9])
def test_a_switch(which: int) -> None:
    x = np.arange(4.0)
    f = lambda k, x: xt.switch(k, [lambda x: x + 1.0, lambda x: x.sum() * x, lambda x: -x], x)  # noqa: E731
    want = [x + 1.0, x.sum() * x, -x][min(max(which, 0), 2)]
    np.testing.assert_allclose(on_device(f, np.int64(which), arr(x, "i")), want)


def test_sizes_that_only_the_call_knows() -> None:
    f = xt.jit(lambda x, w: xt.tanh(xt.dot(x, w, dim="k")).max("i"), device="vulkan", dynamic_dims=("b", "i", "k"))
    for b, i, k in [(2, 3, 4), (5, 1, 7), (1, 40, 300)]:
        x, w = RNG.standard_normal((b, i, k)), RNG.standard_normal((k, 6))
        got = f(arr(x, "bik"), arr(w, "kj")).values
        np.testing.assert_allclose(got, np.tanh(x @ w).max(1), rtol=1e-10)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("n", [1, 63, 1000, 5000])
def test_rows_that_a_workgroup_holds_and_rows_that_it_does_not(dtype: str, n: int) -> None:
    x = RNG.standard_normal((70, n)).astype(dtype)
    got = on_device(lambda x: xt.nn.softmax(x, dim="j"), arr(x, "ij"))
    e = np.exp(x.astype("f8") - x.max(1, keepdims=True).astype("f8"))
    np.testing.assert_allclose(
        got.astype("f8"), e / e.sum(1, keepdims=True), rtol=4e-3 if dtype == "f2" else 1e-5, atol=1e-6
    )


@pytest.mark.parametrize("shape", [(1, 70000), (300, 300), (70000, 3), (20, 30, 40)])
def test_reductions_of_all_shapes(shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape)
    names = "ijk"[: len(shape)]
    for dims in [names[0], names[-1], tuple(names)]:
        axis = tuple(names.index(d) for d in dims)
        got = on_device(lambda x, d=dims: (x.sum(d), x.max(d), (x > 0).any(d)), arr(x, names))
        np.testing.assert_allclose(got[0], x.sum(axis), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(got[1], x.max(axis))
        np.testing.assert_array_equal(got[2], (x > 0).any(axis))


def test_more_points_than_one_launch_has_threads() -> None:
    x = np.arange(65535 * 256 + 1000, dtype="i4")
    assert (on_device(lambda x: x + 1, arr(x, "i")) == x + 1).all()


def test_more_buffers_than_a_kernel_binds() -> None:
    xs = [arr(RNG.standard_normal(5), "i") for _ in range(40)]
    got = on_device(lambda *xs: tuple(xt.exp(x).sum() * x for x in xs), *xs)
    for g, x in zip(got, xs, strict=True):
        np.testing.assert_allclose(g, np.exp(x.values).sum() * x.values, rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 4), (100, 300)], ids=["small", "rows"])
def test_more_buffers_than_a_kernel_binds_in_one_place(shape: tuple[int, int]) -> None:
    """In the body of a loop, in one group over rows, and in what a loop carries."""
    raw = [RNG.standard_normal(shape) for _ in range(40)]
    xs = [arr(x, "ij") for x in raw]

    def turn(c: Any) -> Any:
        return tuple(a * 0.5 + b for a, b in zip(c, c[1:] + c[:1], strict=True))

    want = tuple(raw)
    for _ in range(3):
        want = turn(want)
    for g, w in zip(on_device(lambda *c: xt.fori_loop(0, 3, lambda _, c: turn(c), c), *xs), want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-12)

    def rows(*xs: Any) -> Any:
        s = sum(x * x for x in xs)
        e = xt.exp(s - s.max("j"))
        return e / e.sum("j")

    s = sum(x * x for x in raw)
    e = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(on_device(rows, *xs), e / e.sum(1, keepdims=True), rtol=1e-10)


def test_bfloat16_has_all_of_its_elements() -> None:
    x = RNG.standard_normal(1001).astype(bfloat16)
    np.testing.assert_array_equal(on_device(lambda x: x * 2, xt.array(x, dims="i")), x * np.array(2, bfloat16))
    wide = np.concatenate([RNG.standard_normal(4000) * 10.0 ** RNG.integers(-30, 30, 4000), 1 + np.arange(512) / 65536])
    got = on_device(lambda x: x.astype(bfloat16), arr(wide, "i"))
    # Rounded once: NumPy's way is by float32, twice.
    bits = wide.view("u8")
    even = (bits + np.uint64(2**44 - 1) + ((bits >> np.uint64(45)) & np.uint64(1))) >> np.uint64(45) << np.uint64(45)
    np.testing.assert_array_equal(got.astype("f8"), even.view("f8"))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_zeros_and_infinities_that_the_compiler_sees(dtype: str) -> None:
    x = np.array([1.0, -2.0, 0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    with np.errstate(all="ignore"):
        for f in (lambda x: x / 0.0, lambda x: x / -0.0, lambda x: x * 0.0, lambda x: 0.0 / x, lambda x: x - x):
            got, want = on_device(f, arr(x, "i")), f(x)
            np.testing.assert_array_equal(got, want)
            numbers = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4"])
def test_integers_compared_with_numbers(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 2, info.max // 2 + 1], dtype)
    for n in (0, 1, int(info.max), int(info.min), 2):
        for f in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq):
            np.testing.assert_array_equal(on_device(lambda x, f=f, n=n: f(x, n), arr(x, "i")), f(x, n), err_msg=f"{n}")


@pytest.fixture
def nothing_waits() -> Iterator[None]:
    before = _native.set_waiting(False)
    yield
    _native.set_waiting(before)


@pytest.mark.usefixtures("nothing_waits")
def test_the_first_report_of_an_index_is_told_when_the_result_is_read() -> None:
    f = xt.jit(lambda x, i: x.isel(a=i) * 2.0, device="vulkan")
    x = arr(np.arange(5.0), "a")
    bad = f(x, arr([0, 7], "p"))
    good = f(x, arr([0, 4], "p"))
    np.testing.assert_array_equal(good.values, [0.0, 8.0])
    later = xt.exp(bad)
    with pytest.raises(xt.IndexError, match="index 7 is out of range for size 5 of dim 'a'"):
        later.values  # noqa: B018
    with pytest.raises(xt.IndexError, match="index 7"):
        bad.values  # noqa: B018


def test_a_program_that_is_called_again_is_sent_again() -> None:
    f = xt.jit(lambda x: xt.tanh(x).sum("i") + x, device="vulkan")
    x = arr(RNG.standard_normal((300, 300)), "ij").to("vulkan")
    want = f(x).values
    for _ in range(5):
        np.testing.assert_array_equal(f(x).values, want)


def test_gradients_of_a_network() -> None:
    x, w1, w2 = RNG.standard_normal((64, 50)), RNG.standard_normal((50, 40)), RNG.standard_normal((40, 10))
    y = RNG.integers(0, 10, 64)

    def loss(w: Any, x: Any, y: Any) -> Any:
        h = xt.tanh(xt.dot(x, w[0], dim="pixel"))
        return xt.mean(xt.nn.cross_entropy(xt.dot(h, w[1], dim="hidden"), y, dim="digit"))

    args = (
        (xt.array(w1, dims=("pixel", "hidden")), xt.array(w2, dims=("hidden", "digit"))),
        xt.array(x, dims=("sample", "pixel")),
        xt.array(y, dims=("sample",)),
    )
    g1, g2 = on_device(xt.grad(loss), *args)
    h = np.tanh(x @ w1)
    z = h @ w2
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[np.arange(64), y] -= 1.0
    np.testing.assert_allclose(g2, h.T @ p / 64, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(g1, x.T @ ((p @ w2.T) * (1 - h * h)) / 64, rtol=1e-9, atol=1e-12)
