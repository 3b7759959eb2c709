"""Where tests find the repository and the tools of its build, and the device that programs run on."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HELPERS = ROOT / "test" / "python" / "helpers"
DEVICE = os.environ.get("XTENSOR_TEST_DEVICE", "cpu")


def tool(name: str) -> str:
    """The path of a command line tool of this build."""
    places = [Path(sys.executable).parent, ROOT / "build" / "Release" / "bin", ROOT / "build" / "bin"]
    if "XTENSOR_BUILD" in os.environ:
        places.insert(0, Path(os.environ["XTENSOR_BUILD"]) / "bin")
    found = shutil.which(name, path=os.pathsep.join(map(str, places)))
    if found is None:
        pytest.fail(f"no {name} in {', '.join(map(str, places))}: run make setup or set XTENSOR_BUILD")
    return found
