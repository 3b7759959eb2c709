"""Each example of the reference, with one argument replaced by a wrong one. The error names the function that the user
called and no helper of it, is about the argument, and has the user's line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tiers
from places import HELPERS, ROOT

pytestmark = pytest.mark.cpu_only("arguments are refused before a device sees them")


def run(where: Path, *options: str) -> Any:
    """A process of its own: an example may write a file, or set an option."""
    every = ("--all",) * tiers.count(0, 1)
    command = [sys.executable, str(HELPERS / "wrong_examples.py"), str(ROOT / "scripts"), *options, *every]
    done = subprocess.run(command, capture_output=True, text=True, cwd=where)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_errors_of_functions_name_the_function_that_was_called(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert found["wrong"] == [], "\n".join(found["wrong"])
    assert found["refused"] > 3000


def test_errors_of_methods_name_the_method_that_was_called(tmp_path: Path) -> None:
    found = run(tmp_path, "--members")
    assert found["wrong"] == [], "\n".join(found["wrong"])
    assert found["refused"] > 500
