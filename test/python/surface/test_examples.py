"""Each public function shows an example in its docstring, whose output is what it gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from places import HELPERS, ROOT

pytestmark = pytest.mark.cpu_only("docstrings show what the CPU prints")


def run(where: Path, *what: str) -> Any:
    """A process of its own: an example may start MPI, which a process does once, or write a file."""
    command = [sys.executable, str(HELPERS / "examples.py"), *what]
    done = subprocess.run(command, capture_output=True, text=True, cwd=where)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_each_public_function_shows_what_it_gives(tmp_path: Path) -> None:
    found = run(tmp_path, str(ROOT / "scripts"))
    print("not run, because a package is missing:", found["not run"])
    assert found["examples"] + len(found["not run"]) > 300
    assert found["without"] == [], "these need an `Example:` at the end of the docstring"
    assert found["wrong"] == [], "\n".join(found["wrong"])


def test_each_member_of_a_class_and_each_error_shows_what_it_gives(tmp_path: Path) -> None:
    found = run(tmp_path, str(ROOT / "scripts"), "--members")
    assert found["without"] == [], "these need an example in docs/site/members.txt"
    assert found["wrong"] == [], "\n".join(found["wrong"])
    assert found["examples"] > 180


@pytest.mark.full("importing PyTorch and JAX takes 9 s")
def test_the_examples_that_need_other_libraries(tmp_path: Path) -> None:
    found = run(tmp_path, str(ROOT / "scripts"), "--peers")
    print("not run, because a package is missing:", found["not run"])
    assert found["examples"] + len(found["not run"]) == 6
    assert found["wrong"] == [], "\n".join(found["wrong"])


def test_an_example_that_shows_something_else_is_told(tmp_path: Path) -> None:
    (wrong,) = run(tmp_path, "--self")
    assert "Expected:\n    4.0\nGot:\n    3.0\n" in wrong
