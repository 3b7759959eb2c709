"""Starts a program in several processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Writes what a process prints to files of its own, by its rank. Launchers differ in the option that does this.
_APART = 'exec "$@" > "$FOLDER/$OMPI_COMM_WORLD_RANK.out" 2> "$FOLDER/$OMPI_COMM_WORLD_RANK.err"'


def mpirun(count: int, *arguments: str, ends: bool = True, cleans: bool = True) -> str:
    """What the processes print, one process after the other: in one pipe their lines would mix. ends: whether it ends
    without an error. cleans: whether mpirun itself ends all processes when one dies.

    The environment variable MPIRUN names another launcher than that of MPICH: Open MPI's, which always does."""
    launcher = os.environ.get("MPIRUN") or shutil.which("mpirun", path=str(Path(sys.executable).parent))
    launcher = launcher or shutil.which("mpirun")
    assert launcher is not None, "mpirun comes with the package mpich (scripts/requirements.txt)"
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, *arguments]
        if "MPIRUN" in os.environ:
            options = ["--allow-run-as-root", "--oversubscribe", "-x", "FOLDER"]
            program = ["sh", "-c", _APART, "sh", *program]
        else:
            options = ["-outfile-pattern", f"{folder}/%r.out", "-errfile-pattern", f"{folder}/%r.err"]
            options += [] if cleans else ["-disable-auto-cleanup"]
        command = [launcher, *options, "-n", str(count), *program]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, env={**os.environ, "FOLDER": folder}
        )
        printed = "".join(path.read_text() for end in ("out", "err") for path in sorted(Path(folder).glob(f"*.{end}")))
    text = printed + done.stdout + done.stderr
    assert (done.returncode == 0) == ends, text
    return text
