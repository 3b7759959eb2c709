"""Sessions by several workers. If one crashes (workers.py), each test runs once. A file that is missing is an error."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import HELPERS, ROOT

pytest.importorskip("xdist")
pytestmark = pytest.mark.cpu_only("runs tests that have no arrays")
CRASHES = """
import os

def test_before(): pass
def test_that_crashes(): os.abort()
def test_that_crashes_too(): os.abort()
def test_after(): pass
"""


def test_a_test_that_crashes_is_one_failure(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(CRASHES)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "XTENSOR_TEST"))}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # five workers start
    env["PYTHONPATH"] = os.pathsep.join([str(HELPERS), os.environ.get("PYTHONPATH", "")])
    plugins = ["-p", "xdist", "-p", "workers", "-p", "no:cacheprovider"]
    options = [*plugins, "--rootdir", str(tmp_path), "--max-worker-restart", "100"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "--dist", "loadfile", *options, str(tmp_path)]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"\b4 failed, 4 passed\b", done.stdout), done.stdout
    assert done.stdout.count("node down") == 4


def test_a_file_that_does_not_exist_is_an_error() -> None:
    command = [str(ROOT / "scripts" / "run_tests.sh"), "test/python/surface/test_none.py::test_any"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    assert done.stderr == f"run_tests.sh: {command[1]} does not exist\n"
