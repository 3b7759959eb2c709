"""Public functions at many sizes: compiled a few times, then one program serves all of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import values
from xtensor.trace import dispatch
from xtensor.trace.opened import APART, Families, Programs


def compiled(run: Callable[[], object]) -> int:
    """How many programs were compiled meanwhile."""
    before = set(dispatch._programs.entries)
    run()
    return len(set(dispatch._programs.entries) - before)


@pytest.fixture(autouse=True)
def _no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_programs", Programs())
    monkeypatch.setattr(dispatch, "_families", Families())
    for f in vars(xt).values():
        if isinstance(f, dispatch.Op):
            f.clear()


def array(*shape: int, dtype: str = "f4") -> xt.Array:
    return xt.array(values(shape, dtype, seed=len(shape)), dims=("i", "j")[: len(shape)])


def check(y: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(y.values), expected, rtol=2e-5, atol=1e-5)


CASES: dict[str, tuple[Callable[[xt.Array], xt.Array], Callable[[np.ndarray], np.ndarray]]] = {
    "hypot": (lambda x: xt.hypot(x, 2), lambda x: np.hypot(x, 2)),
    "sum": (lambda x: xt.sum(x, "i"), lambda x: x.sum(0)),
    "mean": (lambda x: x.mean(), np.mean),
    "cumsum": (lambda x: xt.cumsum(x, "j"), lambda x: np.cumsum(x, 1)),
    "argmax": (lambda x: xt.argmax(x, "j"), lambda x: np.argmax(x, 1)),
    "sort": (lambda x: xt.sort(x, "i"), lambda x: np.sort(x, 0)),
    "dot": (lambda x: xt.dot(x, x, dim="j"), lambda x: (x * x).sum(1)),
    "flip": (lambda x: xt.flip(x, "j"), lambda x: x[:, ::-1]),
    "stack": (lambda x: xt.stack(x, k=("i", "j")), np.ravel),
    "roll": (lambda x: xt.roll(x, j=2), lambda x: np.roll(x, 2, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_one_program_serves_all_sizes(name: str) -> None:
    ours, numpys = CASES[name]

    def run() -> None:
        for n in range(2, 9):
            x = array(n, n + 3)
            check(ours(x), numpys(x.values))

    assert compiled(run) == APART + 1


def test_only_what_varies_is_open() -> None:
    def run() -> None:
        for n in (*range(3, 8), 3):
            check(xt.sum(array(n, 4), "i"), array(n, 4).values.sum(0))
        check(xt.sum(array(6, 5), "i"), array(6, 5).values.sum(0))
        check(xt.sum(array(9, 6), "i"), array(9, 6).values.sum(0))

    assert compiled(run) == APART + 2  # over i, and over i and j


def test_sizes_0_and_1_have_programs_of_their_own() -> None:
    def run() -> None:
        for n in (0, 1, 2, 3, 4, 5, 1, 0):
            check(xt.exp(array(n)), np.exp(array(n).values))
            check(xt.mean(array(n, 3), "j"), array(n, 3).values.mean(1))

    assert compiled(run) == 2 * (2 + APART + 1)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda x: xt.max(x.isel(i=slice(0)), "i"), xt.SizeError),
        (lambda x: xt.argmax(x.isel(i=slice(0)), "i"), xt.SizeError),
        (lambda x: x + x.isel(i=slice(2)), xt.SizeError),
        (lambda x: xt.linalg.inv(x, dims=("i", "j")), xt.SizeError),
        (lambda x: xt.roll(x, k=1), xt.DimensionError),
        (lambda x: xt.roll(x, i=2**70), xt.ArgumentError),
    ],
)
def test_errors_are_those_of_programs_for_one_size(
    wrong: Callable[[xt.Array], Any], kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def message() -> str:
        with pytest.raises(kind) as caught:
            wrong(array(7, 6))
        return str(caught.value)

    expected = message()
    for n in range(3, 7):  # programs for all sizes
        x = array(n, n)
        xt.max(x, "i"), xt.argmax(x, "i"), x + x
        xt.linalg.inv(x + 9 * xt.eye(i=n, j=n, dtype="f4"), dims=("i", "j"))
    assert message() == expected


@pytest.mark.cpu_only("a device tells of an index when its result is read")
def test_an_index_out_of_range_is_told_with_its_sizes() -> None:
    for n in range(3, 8):
        x = array(n)
        check(x.isel(i=xt.array([0, -1], dims="k")), x.values[[0, -1]])
    with pytest.raises(xt.IndexError, match=r"index 9 is out of range for size 6 .*float32 \(i: 6\), int64 \(k: 2\)"):
        array(6).isel(i=xt.array([0, 9], dims="k"))


def test_arrays_with_labels() -> None:
    def run() -> None:
        for n in range(3, 9):
            x = xr.DataArray(values((n, 4), "f4"), dims=("t", "s"), coords={"t": np.arange(n) * 10, "s": list("abcd")})
            xr.testing.assert_allclose(xt.sum(xt.exp(x), "s"), np.exp(x).sum("s"), rtol=1e-5)

    assert compiled(run) == 2 * (APART + 1)


def test_coordinates_that_differ_are_refused_at_any_size() -> None:
    for n in range(3, 8):
        x = xr.DataArray(values((n,), "f4"), dims="t", coords={"t": np.arange(n)})
        np.testing.assert_array_equal(xt.add(x, x), x + x)
        with pytest.raises(xt.DimensionError, match="'t'"):
            xt.add(x, x.assign_coords(t=np.arange(n) + 1))


# ---- how many programs stay ----


def test_programs_that_were_not_called_for_long_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_programs", programs := Programs(most=4))
    x = array(5)
    kept = xt.exp(x)
    for n in range(1, 20):
        check(xt.sinh(array(*[1] * 2)) * n, np.sinh(array(1, 1).values) * n)
        xt.tile(x, i=n)
        check(xt.exp(x), kept.values)
    assert len(programs.entries) == 4
    assert any(entry.caller is xt.exp for entry in programs.entries.values())  # called from C++ alone
    check(xt.tile(x, i=2), np.tile(x.values, 2))


def test_a_program_that_goes_is_not_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_programs", Programs(most=1))
    x = array(11)
    for _ in range(3):
        check(xt.expm1(x), np.expm1(x.values))
        check(xt.log1p(xt.abs(x)), np.log1p(np.abs(x.values)))
    assert xt.expm1.size + xt.log1p.size + xt.abs.size <= 3  # type: ignore[attr-defined]
