"""Factors, products, windows and counts at many sizes: compiled a few times, then one program serves all of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import xarray as xr
import xtensor as xt
from against import values
from eager_programs import compiled, forget
from xtensor.call import dispatch, opened
from xtensor.call.opened import APART

SIZES = range(4, 10)


@pytest.fixture(autouse=True)
def _no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)


def numbers(*shape: int) -> np.ndarray:
    return values(shape, "f4", seed=sum(shape))


def named(x: np.ndarray) -> xt.Array:
    return xt.array(x, dims=("b", "row", "col")[-x.ndim :] if x.ndim > 1 else ("i",))


def check(y: Any, expected: Any) -> None:
    found = np.asarray(getattr(y, "values", y))
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def check_factors(name: str, x: np.ndarray, found: Any) -> None:
    (m, n), least = x.shape[1:], min(x.shape[1:])
    if name == "qr":
        q, r = found
        assert (q.sizes, r.sizes) == ({"b": 2, "row": m, "rank": least}, {"b": 2, "rank": least, "col": n})
        check(q.values @ r.values, x)
        check(q.values.swapaxes(1, 2) @ q.values, np.broadcast_to(np.eye(least, dtype="f4"), (2, least, least)))
    elif name == "svd":
        u, s, vh = found
        assert (u.sizes, vh.sizes) == ({"b": 2, "row": m, "rank": least}, {"b": 2, "rank": least, "col": n})
        check(s, np.linalg.svd(x, compute_uv=False))
        check((u.values * s.values[:, None]) @ vh.values, x)
    else:
        for i in range(2):
            for ours, expected in zip(found, scipy.linalg.lu(x[i]), strict=True):
                check(ours.values[i], expected)


@pytest.mark.cpu_only("devices have no LAPACK")
@pytest.mark.parametrize(
    ("name", "shape"),
    [*((f, s) for f in ("qr", "svd", "lu") for s in ("tall", "broad", "square")), ("qr", "any"), ("svd", "any")],
)
def test_one_program_factors_matrices_of_all_sizes(name: str, shape: str) -> None:
    shapes = {"tall": lambda n: (n, 3), "broad": lambda n: (3, n), "square": lambda n: (n, n)}
    xs = [numbers(2, *shapes.get(shape, lambda n: (n, 2 * n - 6))(n)) for n in SIZES]
    found: list[Any] = []
    assert compiled(lambda: found.extend([getattr(xt.linalg, name)(named(x)) for x in xs])) <= APART + 2
    for x, parts in zip(xs, found, strict=True):
        check_factors(name, x, parts)


PRODUCTS: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "kron": (
        lambda n: xt.linalg.kron(named(numbers(n, 2)), named(numbers(3, n))),
        lambda n: np.kron(numbers(n, 2), numbers(3, n)),
    ),
    "block_diag": (
        lambda n: xt.linalg.block_diag(named(numbers(n, 2)), named(numbers(2, 2)), named(numbers(3, n))),
        lambda n: scipy.linalg.block_diag(numbers(n, 2), numbers(2, 2), numbers(3, n)),
    ),
    "tril": (lambda n: xt.linalg.tril(named(numbers(5, 7)), n - 6), lambda n: np.tril(numbers(5, 7), n - 6)),
    "matrix_power": (
        lambda n: xt.linalg.matrix_power(named(numbers(3, 3)) / 2, n),
        lambda n: np.linalg.matrix_power(numbers(3, 3) / 2, n),
    ),
    "bincount": (
        lambda n: xt.bincount(xt.array([0, 3, 3, 1], dims="i"), length=n, mode="drop"),
        lambda n: np.bincount([0, 3, 3, 1], minlength=n),
    ),
    "gumbel": (
        lambda n: xt.random.gumbel(xt.random.key(0), i=n, dtype="f4"),
        lambda n: xt.random.gumbel(xt.random.key(0), i=9, dtype="f4").values[:n],
    ),
    "histogram": (
        lambda n: xt.histogram(named(numbers(40)), n, density=True)[0],
        lambda n: np.histogram(numbers(40), n, density=True)[0],
    ),
    "edges": (lambda n: xt.histogram(named(numbers(40)), n)[1], lambda n: np.histogram_bin_edges(numbers(40), n)),
    "bins of a range": (
        lambda n: xt.histogram(named(numbers(40)), n, range=(0.1, n / 9))[0],
        lambda n: np.histogram(numbers(40), n, range=(0.1, n / 9))[0],
    ),
    "bins of edges": (
        lambda n: xt.histogram(named(numbers(40)), np.linspace(-1, 1, n) ** 3)[0],
        lambda n: np.histogram(numbers(40), np.linspace(-1, 1, n) ** 3)[0],
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_one_program_serves_all_sizes_and_numbers(name: str) -> None:
    ours, others = PRODUCTS[name]
    found: dict[int, Any] = {}
    programs = compiled(lambda: found.update({n: ours(n) for n in SIZES}))
    for n in SIZES:
        check(found[n], others(n))
    # The edges are made, or renamed, by a program of their own, and a matrix is divided by one.
    others_too = {"histogram": APART + 1, "edges": APART + 1, "bins of edges": APART + 1, "matrix_power": 1}
    assert programs <= APART + 1 + others_too.get(name, 0)


@pytest.mark.parametrize("kind", ["f4", "i4", "?"])
def test_one_program_takes_many_differences(kind: str) -> None:
    x = (100 * numbers(3, 50)).astype(kind) if kind != "?" else numbers(3, 50) > 0
    found: dict[int, Any] = {}

    def run() -> None:
        found.update({n: xt.diff(xt.array(x, dims=("j", "i")), "i", n) for n in (9, 12, 20, 33, 49)})

    assert compiled(run) <= APART + 2  # the last one has size 1
    for n, y in found.items():
        np.testing.assert_array_equal(y.values, np.diff(x, n, axis=1))


def test_few_programs_join_many_blocks() -> None:
    blocks = [numbers(1 + n % 3, 2) for n in range(40)]

    def run() -> None:
        for n in range(9, 40, 5):
            check(xt.linalg.block_diag(*map(named, blocks[:n])), scipy.linalg.block_diag(*blocks[:n]))

    assert compiled(run) <= 7 * (APART + 2)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("present", [None, 2])
@pytest.mark.parametrize("kind", ["mean", "max", "std", "construct"])
def test_one_program_rolls_windows_of_all_lengths(kind: str, present: int | None, center: bool) -> None:
    x = numbers(2, 30)
    if present:
        x[0, 3] = np.nan
    ours, theirs = xt.array(x, dims=("j", "t")), xr.DataArray(x, dims=("j", "t"))

    def run() -> None:
        for n in (4, 2, 7, 8, 3, 30):
            how = {"t": n, "center": center, "min_periods": present}
            arguments = ["w"] if kind == "construct" else []
            y, expected = (getattr(a.rolling(**how), kind)(*arguments) for a in (ours, theirs))  # type: ignore[arg-type]
            assert y.dims == expected.dims
            check(y, expected.values)

    # As many as the window has is the default, which has a program of its own.
    defaults = present == 2 and kind != "construct"
    assert compiled(run) == APART + 1 + defaults


def test_windows_longer_than_the_array_are_nan() -> None:
    x = named(numbers(9))
    for n in (2, 3, 4, 5, 10, 11, 12, 13):
        y = x.rolling(i=n).mean()
        assert np.isnan(y.values).sum() == min(n - 1, 9)


@pytest.mark.parametrize("call", [
    lambda x, n: xt.pad(x, i=(n, 3)),
    lambda x, n: xt.tile(x, i=n + 1),
    lambda x, n: xt.repeat(x, n + 2, dim="i"),
    lambda x, n: xt.one_hot(x.astype("i4"), n + 2),
])  # fmt: skip
def test_a_call_that_comes_often_gets_a_program_of_its_own(
    call: Callable[[xt.Array, int], xt.Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "OFTEN", 3)
    x = named(numbers(5))
    expected = [call(x, n).values for n in range(6)]
    assert compiled(lambda: [call(x, 2) for _ in range(8)]) <= 1
    monkeypatch.setattr(dispatch._Eager, "eager", lambda *args: pytest.fail("it took the slow path"))
    np.testing.assert_array_equal(call(x, 2).values, expected[2])


def test_what_counts_calls_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch._families.calls, "most", 4)
    x = named(numbers(5))
    for n in range(12):
        np.testing.assert_array_equal(xt.pad(x, i=(n, 0)).values, np.pad(x.values, (n, 0)))
    assert len(dispatch._families.calls) == 4


@pytest.mark.cpu_only("devices read at computed positions, which takes longer for large arrays")
def test_one_program_pads_large_arrays_and_updates_their_slices() -> None:
    x = numbers(3, opened.LARGEST)
    y = xt.array(x, ("a", "t"))

    def run() -> None:
        for n in range(8):
            np.testing.assert_array_equal(xt.pad(y, t=(n, 2 * n)).values, np.pad(x, ((0, 0), (n, 2 * n))))
            np.testing.assert_array_equal(
                xt.pad(y, a=n, t=n, constant_values=n).values, np.pad(x, n, constant_values=n)
            )
            expected = x.copy()
            expected[1:, n : -2 * n - 1] = n
            np.testing.assert_array_equal(y.at(a=slice(1, None), t=slice(n, -2 * n - 1)).set(float(n)).values, expected)

    assert compiled(run) <= 3 * (APART + 2)
