"""The commands xtensor-opt, xtensor-reduce, xtensor-compile and xtensor-lsp-server: programs in xtensor/bin."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from . import _native


def run() -> None:
    """Becomes the program that the command is named after. Does not return."""
    name = Path(sys.argv[0]).name
    # An editable package has only its Python files elsewhere.
    program = Path(_native.__file__).parent / "bin" / name
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: this package has no {program}: {error.strerror}. Install its wheel, or run make setup")
