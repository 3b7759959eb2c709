"""How our OpenBLAS starts."""

from __future__ import annotations

import os

_THREADS = "OPENBLAS_NUM_THREADS"
# One thread, in a spelling by which native/Module.cpp knows that it is ours.
_ONE = "01"


class StartsAlone:
    """A block in which OpenBLAS is loaded without threads. Each thread that it starts spins for 25 ms, on a core that
    the import needs. The runtime starts them for the first large factorization. The copy of OpenBLAS in NumPy is not
    ours, and starts as it would: native/Module.cpp takes the variable away before it imports NumPy."""

    def __enter__(self) -> None:
        self.is_ours = _THREADS not in os.environ
        if self.is_ours:
            os.putenv(_THREADS, _ONE)

    def __exit__(self, *error: object) -> None:
        if self.is_ours:
            os.unsetenv(_THREADS)
