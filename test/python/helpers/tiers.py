"""Which tests run: those of the default tier, or the full matrix.

`make test-all` sets XTENSOR_TEST_FULL=1, and every parameter and example runs. The default tier leaves out what shows
the same thing once more:

* `@pytest.mark.full(reason)`: this test, or this parameter, runs in the full matrix only;
* `@pytest.mark.sampled(n)`: of the parameters of this test, about n run. Each value of each parameter that is crossed
  with others runs at least once. Which ones run depends on their names only, so that new cases do not change it;
* `count(n, full)`: a number of examples, programs or sizes.

XTENSOR_TEST_SAMPLE=N, which runs on devices and under sanitizers set, samples every test so: N parameters, or a tenth
of them. Where XTENSOR_TEST_FULL is set, it has no effect. The session prints one line that counts what was left out.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import TypeVar

import pytest

FULL = os.environ.get("XTENSOR_TEST_FULL") == "1"
SAMPLE = int(os.environ.get("XTENSOR_TEST_SAMPLE", "0"))
MARKERS = (
    "full(reason): runs in the full matrix only (make test-all)",
    "sampled(n): outside of the full matrix, about n parameters of this test run",
)
LEFT_OUT = "parameters of tests that run with others"

Case = TypeVar("Case")


def count(default: int, full: int) -> int:
    """How many examples to run in this tier."""
    return full if FULL else default


def sample(cases: list[Case], names: list[str], axes: list[dict[str, Hashable]], n: int) -> list[Case]:
    """About n cases. `axes` has the value of each case for each parameter. Other cases share the values of a crossed
    parameter, and each of its values is in the result."""
    found = {axis: {values[axis] for values in axes} for axis in (axes[0] if axes else ())}
    crossed = [axis for axis, values in found.items() if 1 < len(values) < len(cases)]
    order = sorted(range(len(cases)), key=lambda i: hashlib.sha256(names[i].encode()).digest())
    wanted = {(axis, value) for axis in crossed for value in found[axis]}
    kept: list[int] = []
    while wanted:
        kept.append(max(order, key=lambda i: len(wanted & axes[i].items())))
        wanted -= axes[kept[-1]].items()
    more = [i for i in order if i not in set(kept)]
    kept += more[: max(0, n - len(kept))]
    return [cases[i] for i in sorted(kept)]


def _axes(item: pytest.Function) -> dict[str, Hashable]:
    """What identifies the value of each parametrize(..) of the test, whose names may be several."""
    axes: dict[str, Hashable] = {}
    for mark in item.iter_markers("parametrize"):
        names = [n.strip() for n in mark.args[0].split(",")] if isinstance(mark.args[0], str) else mark.args[0]
        axes[",".join(names)] = tuple(id(item.callspec.params[name]) for name in names)
    return axes


def select(items: list[pytest.Item]) -> Counter[str]:
    """Takes what the default tier leaves out off the list; how much for which reason."""
    left: Counter[str] = Counter()
    if FULL:
        return left
    gone: set[pytest.Item] = set()
    tests: defaultdict[object, list[pytest.Function]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("full")
        if mark is not None:
            left[mark.args[0]] += 1
            gone.add(item)
        elif isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            tests[item.parent, item.originalname].append(item)
    for cases in tests.values():
        mark = cases[0].get_closest_marker("sampled")
        n = mark.args[0] if mark is not None else len(cases)
        if SAMPLE:
            n = min(n, max(SAMPLE, len(cases) // 10))
        if 0 < n < len(cases):
            # Names of a test's own parameters only: the file and the class may be renamed.
            kept = set(sample(cases, [c.callspec.id for c in cases], [_axes(c) for c in cases], n))
            left[LEFT_OUT] += len(cases) - len(kept)
            gone |= set(cases) - kept
    items[:] = [item for item in items if item not in gone]
    return left


def line(left: Counter[str]) -> str:
    reasons = ", ".join(f"{n} {reason}" for reason, n in left.most_common())
    return f"left to the full matrix (make test-all): {left.total()} tests: {reasons}"
