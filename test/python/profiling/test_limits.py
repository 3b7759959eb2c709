"""What `xt.profile` compares kernels with: the memory, the caches and the arithmetic of the machine."""

from __future__ import annotations

import pytest
import xtensor as xt
from chosen_device import on_the_cpu  # noqa: F401 (a fixture)
from xtensor.profiling import limits
from xtensor.profiling.limits import Limits


def test_limits_are_those_of_the_caches_that_hold_the_arrays():
    found = Limits(10.0, 1.0, ((100.0, 1000.0), (10_000.0, 200.0)))
    assert [found.bytes_of(n) for n in (1, 100, 10_000, 1e12)] == [1000.0, 1000.0, 200.0, 10.0]
    between = [found.bytes_of(n) for n in (150, 1000, 9999, 1e6)]
    assert between == sorted(between, reverse=True) and between[0] < 1000 and 10 < between[-1] < 200
    rates = [limits.limits_of("cpu").bytes_of(n) for n in (1e3, 1e5, 1e6, 1e7, 1e9)]
    assert rates == sorted(rates, reverse=True) and rates[-1] == limits.limits_of("cpu").bytes


def test_limits_of_a_busy_machine_are_measured_again(monkeypatch: pytest.MonkeyPatch):
    true = limits.limits_of("cpu")
    slow = Limits(true.bytes / 1e3, true.flops / 1e3, tuple((n, rate / 1e3) for n, rate in true.levels))
    monkeypatch.setattr(limits, "_known", {"cpu": [slow]})
    x = xt.ones(sample=1000, inp=37)
    f = xt.jit(lambda x: xt.nn.softmax(x, "inp"))
    with xt.profile():
        f(x)
    with xt.profile() as p:
        for _ in range(20):
            f(x)
    (kernel,) = (row for row in p.rows if row.kind == "kernel" and row.calls == 20)
    assert 0 < kernel.share < 10
    assert 2 <= len(limits._known["cpu"]) <= 3
    assert "limits of cpu" in str(p).split("\n")[0]
