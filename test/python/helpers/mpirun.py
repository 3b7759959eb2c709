"""Starts a program in several processes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path


def mpirun(count: int, *arguments: str, ends: bool = True) -> str:
    """What the processes print."""
    launcher = shutil.which("mpirun", path=str(Path(sys.executable).parent)) or shutil.which("mpirun")
    assert launcher is not None, "mpirun comes with the package mpich (scripts/requirements.txt)"
    done = subprocess.run(
        [launcher, "-n", str(count), sys.executable, *arguments], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode == 0) == ends, done.stdout + done.stderr
    return done.stdout + done.stderr
