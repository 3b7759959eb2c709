"""PyTensor's mode "XTENSOR": graphs of PyTensor run on this compiler."""

from __future__ import annotations

import functools
from typing import Any

from pytensor.compile.mode import Mode, register_linker, register_mode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

from .. import pytensor as calls  # noqa: F401  (registers the rewrite that the mode leaves out)
from . import draws as draws
from . import fourier as fourier
from . import indexing as indexing
from . import loops as loops
from . import matrices as matrices
from . import scalars as scalars
from . import tensors as tensors
from .linker import XTensorLinker
from .stages import program_of

NAME = "XTENSOR"


@functools.cache
def mode() -> Any:
    """The mode, registered under its name."""
    XTensorLinker.convert = staticmethod(program_of)
    linker = XTensorLinker()
    # The compiler itself shares what a call of xt.to_pytensor and its pullback both compute. The rewrite would cut the
    # call into parts with the sizes that PyTensor's types know, and here all sizes are known.
    made = Mode(linker, RewriteDatabaseQuery(include=["fast_run"], exclude=["xtensor_together"]))
    register_linker(NAME.lower(), linker)
    register_mode(NAME, made)
    return made
