"""The device that tests of devices run on: the first one that is not the CPU (XTENSOR_TEST_DEVICE names another)."""

from __future__ import annotations

import os

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native

OTHERS = [d.name for d in xt.devices() if d.name != "cpu"]
NAME = os.environ.get("XTENSOR_TEST_DEVICE", OTHERS[0] if OTHERS else "cpu")
if NAME == "cpu":
    NAME = OTHERS[0] if OTHERS else "cpu"
needs_device = pytest.mark.skipif(NAME == "cpu", reason=f"no device but the CPU here: {_native.device_error()}")


@pytest.fixture(autouse=True)
def on_the_cpu():
    """These tests say where an array is, and what is told later."""
    before = _native.set_waiting(False)
    with xt.option(device="cpu"):
        yield
    _native.set_waiting(before)


def host(*shape, dtype="f4"):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
