"""What several of these tests need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def xtensor_opt() -> Callable[[str, str], str]:
    """Runs xtensor-opt with options, separated by blanks, on a text; gives what it prints."""
    places = [Path(sys.executable).parent, ROOT / "build" / "Release" / "bin", ROOT / "build" / "bin"]
    if "XTENSOR_BUILD" in os.environ:
        places.insert(0, Path(os.environ["XTENSOR_BUILD"]) / "bin")
    found = shutil.which("xtensor-opt", path=os.pathsep.join(map(str, places)))
    if found is None:
        pytest.fail(f"no xtensor-opt in {', '.join(map(str, places))}: run make setup or set XTENSOR_BUILD")

    def run(options: str, text: str) -> str:
        done = subprocess.run([found, *options.split()], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
