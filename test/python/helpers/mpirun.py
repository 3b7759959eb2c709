"""Starts a program in several processes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def mpirun(count: int, *arguments: str, ends: bool = True, cleans: bool = True) -> str:
    """What the processes print, one process after the other: in one pipe their lines would mix. ends: whether it ends
    without an error. cleans: whether mpirun itself ends all processes when one dies."""
    launcher = shutil.which("mpirun", path=str(Path(sys.executable).parent)) or shutil.which("mpirun")
    assert launcher is not None, "mpirun comes with the package mpich (scripts/requirements.txt)"
    with tempfile.TemporaryDirectory() as folder:
        files = ["-outfile-pattern", f"{folder}/%r.out", "-errfile-pattern", f"{folder}/%r.err"]
        files += [] if cleans else ["-disable-auto-cleanup"]
        command = [launcher, *files, "-n", str(count), sys.executable, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        printed = "".join(path.read_text() for end in ("out", "err") for path in sorted(Path(folder).glob(f"*.{end}")))
    text = printed + done.stdout + done.stderr
    assert (done.returncode == 0) == ends, text
    return text
