"""What the default tier of the tests leaves out (tiers.py), and that the full matrix has it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiers import sample

pytestmark = pytest.mark.cpu_only("chooses tests")
NAMES = [f"{a}-{b}-{c}" for a, b, c in itertools.product("pqrst", "uvw", "xyz")]
AXES = [{"a": a, "b": b, "c": c} for a, b, c in itertools.product(range(5), range(3), range(3))]


@pytest.mark.parametrize("n", [1, 5, 12, 44])
def test_each_value_of_crossed_parameters_is_in_a_sample(n: int) -> None:
    kept = sample(list(range(45)), NAMES, AXES, n)
    for axis, size in (("a", 5), ("b", 3), ("c", 3)):
        assert {AXES[i][axis] for i in kept} == set(range(size))
    assert n <= len(kept) <= max(n, 5 + 3 + 3)
    assert kept == sorted(set(kept))


def test_a_sample_of_one_table_has_as_many_as_are_asked_for() -> None:
    axes = [{"case": i, "wanted": i} for i in range(45)]  # two names for one table
    assert len(sample(list(range(45)), NAMES, axes, 7)) == 7


def test_a_new_case_does_not_change_which_others_run() -> None:
    axes = [{"case": i} for i in range(45)]
    before = {NAMES[i] for i in sample(list(range(45)), NAMES, axes, 9)}
    after = {["new", *NAMES][i] for i in sample(list(range(46)), ["new", *NAMES], [*axes, {"case": 45}], 9)}
    assert len(before - after) <= 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("b", "uvw")
@pytest.mark.parametrize("a", "pqr")
def test_some_of_nine(a: str, b: str) -> None:
    """For the session below."""


@pytest.mark.full("only an example")
def test_of_the_full_matrix() -> None:
    """For the session below."""


@pytest.mark.parametrize(
    ("variables", "kept", "line"),
    [
        pytest.param({"XTENSOR_TEST_FULL": "1"}, 10, None, marks=pytest.mark.full("as with a sample that it ignores")),
        ({"XTENSOR_TEST_FULL": "1", "XTENSOR_TEST_SAMPLE": "2"}, 10, None),
        ({}, 3, "6 parameters of tests that run with others, 1 only an example"),
        ({"XTENSOR_TEST_SAMPLE": "1"}, 3, "1 only an example"),
    ],
    ids=["full", "full of a device", "default", "default of a device"],
)
def test_a_session_counts_what_it_leaves_out(variables: dict[str, str], kept: int, line: str | None) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", Path(__file__).name]
    left = {k: v for k, v in os.environ.items() if not k.startswith("XTENSOR_TEST_")}
    env = {**left, **variables}
    done = subprocess.run(command, env=env, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum("of_nine" in name or "full_matrix" in name for name in done.stdout.splitlines()) == kept
    if line is None:
        assert "left to the full matrix" not in done.stdout
    else:
        assert line in done.stdout
