"""Slices that are updated, with bounds that vary from call to call: one program serves them."""

from __future__ import annotations

import numpy as np
import pytest
import xtensor as xt


@pytest.mark.parametrize("step", [None, 2, -1, -7, 2**62])
def test_one_program_updates_slices_of_all_bounds(step: int | None) -> None:
    """As NumPy does, and in the order of the dims."""
    bounds = (None, 0, 1, -1, 3, -3, 7, -7, 10, -10, 2**62, -(2**63), 2**63 - 1)
    x = np.arange(21.0).reshape(3, 7)
    ours, rows = xt.array(x, ("a", "t")), xt.array([2.0, 3.0, 4.0], "a")
    for part in (slice(start, stop, step) for start in bounds for stop in bounds):
        one, many = x.copy(), x.copy()
        one[:, part] = 9
        many[:, part] *= rows.values[:, None]
        for found, expected in (
            (ours.at(t=part).set(9.0), one),
            (ours.at(t=part).multiply(rows), many),
        ):
            assert found.dims == ("a", "t")
            np.testing.assert_array_equal(found.values, expected, err_msg=f"{part}")
    for count in range(1, 7):
        assert ours.at(t=slice(count)).set(xt.zeros(t=count)).dims == ("a", "t")


def test_a_slice_that_is_wrong_is_refused_as_before() -> None:
    x = xt.zeros(t=7)
    for start in range(5):
        x.at(t=slice(start, None)).set(1.0)
    for wrong in (slice(2.0, None), slice("a", None), slice(0, 3, 0), slice(2**70, None), slice(True, None)):
        with pytest.raises(xt.Error, match=r"^xt\.at\.set: "):
            x.at(t=wrong).set(1.0)
