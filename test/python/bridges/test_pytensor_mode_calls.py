"""Calls of functions in PyTensor's mode "XTENSOR": the code of the latest call, and what it cannot serve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")
pytestmark = pytest.mark.cpu_only("arrays of PyTensor are on the CPU")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.compile.sharedvalue import shared  # noqa: E402
from xtensor.bridges.pytensor_mode import linker  # noqa: E402

xt.pytensor_mode()
RNG = np.random.default_rng(0)


class Calls:
    """Counts how often programs are called in the slow way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.slow = 0
        real = linker.Program._slowly

        def counted(program: Any, inputs: Any) -> Any:
            self.slow += 1
            return real(program, inputs)

        monkeypatch.setattr(linker.Program, "_slowly", counted)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(monkeypatch)


def test_a_call_like_the_latest_one_runs_its_code(calls: Calls) -> None:
    x, w = pt.dmatrix("x"), shared(np.ones(3))
    f = pytensor.function([x], [(x @ w).sum(), x * 2.0, x], mode="XTENSOR")
    for n in (2, 2, 2, 4, 4, 2):
        a = RNG.normal(size=(n, 3))
        total, double, same = f(a)
        np.testing.assert_allclose(total, a.sum())
        np.testing.assert_array_equal(double, 2 * a)
        np.testing.assert_array_equal(same, a)
    assert calls.slow == 3
    a = np.asfortranarray(RNG.normal(size=(2, 3)))
    np.testing.assert_array_equal(f(a)[1], 2 * a)
    assert calls.slow == 4


def test_arguments_that_always_differ_are_not_tried_for_ever(calls: Calls) -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], x + 1.0, mode="XTENSOR")
    for n in range(40):
        assert f(np.zeros(1 + n % 2)).tolist() == [1.0] * (1 + n % 2)
    assert f.vm.jit_fn.latest is None and f.vm.jit_fn.chances == 0 and calls.slow == 40


def test_what_needs_more_than_the_code_takes_the_slow_way(calls: Calls) -> None:
    x = pt.dvector("x")
    checked = pytensor.function([x], pt.as_tensor(pytensor.raise_op.assert_op(x, (x > 0).all())) * 2, mode="XTENSOR")
    row = pytensor.function([x], x[None, :] * 2.0, mode="XTENSOR")  # an axis without a dim
    draw = pytensor.function([x], x + pt.random.normal(0, 1, size=3), mode="XTENSOR")
    for _ in range(2):
        assert checked(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
        assert row(np.ones(3)).tolist() == [[2.0, 2.0, 2.0]]
        assert draw(np.ones(3)).shape == (3,)
    assert calls.slow == 6
    with pytest.raises(AssertionError):
        checked(-np.ones(3))


def test_options_hold_in_later_calls() -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], pt.log(x), mode="XTENSOR")
    for _ in range(2):
        assert np.isnan(f(-np.ones(2))).all()
    with xt.option(nan="raise"), pytest.raises(xt.NonFiniteError, match="made nan of finite operands"):
        f(-np.ones(2))
    assert np.isnan(f(-np.ones(2))).all()


def test_an_index_out_of_range_is_told_in_each_call() -> None:
    x, i = pt.dvector("x"), pt.lvector("i")
    f = pytensor.function([x, i], x[i], mode="XTENSOR")
    for _ in range(2):
        assert f(np.arange(3.0), np.array([2, 0])).tolist() == [2.0, 0.0]
        with pytest.raises(IndexError, match="index 5 is out of range for size 3"):
            f(np.arange(3.0), np.array([5, 0]))
