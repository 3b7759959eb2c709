"""Where tests find the repository and the tools of its build, and the device that programs run on."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HELPERS = ROOT / "test" / "python" / "helpers"
DEVICE = os.environ.get("XTENSOR_TEST_DEVICE", "cpu")
# What programs in C and C++ are compiled with here. Set-up installs Clang only.
COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang", "clang-22"))), "")
CPP_COMPILER = next(filter(None, map(shutil.which, ("c++", "g++", "clang++", "clang++-22"))), "")


def frames_of_the_package(error: BaseException) -> list[traceback.FrameSummary]:
    """Of the error's traceback. The repository itself may lie in a folder named xtensor."""
    package = str(Path(sys.modules["xtensor"].__file__ or "").parent) + os.sep
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(package)]


def tool(name: str) -> str:
    """The path of a command line tool of this build."""
    places = [Path(sys.executable).parent, ROOT / "build" / "Release" / "bin", ROOT / "build" / "bin"]
    if "XTENSOR_BUILD" in os.environ:
        places.insert(0, Path(os.environ["XTENSOR_BUILD"]) / "bin")
    found = shutil.which(name, path=os.pathsep.join(map(str, places)))
    if found is None:
        pytest.fail(f"no {name} in {', '.join(map(str, places))}: run make setup or set XTENSOR_BUILD")
    return found
