"""The version: one for Python, for the compiler and for the bundles that it writes."""

from __future__ import annotations

import json

import pytest
import xtensor as xt
from packaging.version import Version
from xtensor import _native


def test_it_can_be_compared() -> None:
    assert Version(xt.__version__) >= Version("0.1.0.dev0")


@pytest.mark.cpu_only("bundles hold code for CPUs")
def test_a_bundle_names_it() -> None:
    data = xt.export(lambda x: x + x, args=(xt.spec(i=2),), name="m").data
    begin, end = _native.read_zip(data)["manifest.json"]
    assert json.loads(data[begin:end])["compiler"] == f"xtensor {xt.__version__}"
