"""The MPI library of this process: what the runtime calls, communicators, and how processes end together."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import hashlib
import itertools
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _native
from ..base.errors import ArgumentError


def library() -> Any:
    """mpi4py's module."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(
            f"xt.Mesh needs mpi4py and an MPI library, which is not there ({error}): pip install xtensor-mlir[mpi]"
        ) from None
    return MPI


def _shared_library() -> Any:
    """The MPI library that mpi4py has loaded."""
    maps = Path("/proc/self/maps")
    paths = set(re.findall(r"/\S*/lib\w*mpi\w*\.\S+", maps.read_text())) if maps.exists() else set()
    for path in [None, *sorted(paths)]:
        found = ctypes.CDLL(path)
        if hasattr(found, "MPI_Allreduce") and hasattr(found, "MPI_Op_create"):
            return found
    raise ImportError("xt.Mesh: the MPI library that mpi4py uses is not found in this process")


_connected = False
# Seconds: a launcher drops what it has not read when a process aborts, and with it the traceback.
_FORWARD = 0.5


def connect(mpi: Any) -> None:
    """Tells the runtime what to call, once."""
    global _connected
    if _connected:
        return
    found = _shared_library()
    names = ["Allreduce", "Allgather", "Iallreduce", "Iallgather", "Isend", "Irecv", "Wait", "Test", "Op_create"]
    functions = [ctypes.cast(getattr(found, f"MPI_{name}"), ctypes.c_void_p).value or 0 for name in names]
    types = [mpi.INT8_T, mpi.INT16_T, mpi.INT32_T, mpi.INT64_T]
    types += [mpi.UINT8_T, mpi.UINT16_T, mpi.UINT32_T, mpi.UINT64_T, mpi.FLOAT, mpi.DOUBLE]
    ops = [mpi.SUM, mpi.PROD, mpi.MAX, mpi.MIN]
    handles, kinds = ([mpi._handleof(one) for one in some] for some in (types, ops))
    _native.set_mpi(functions, handles, kinds)
    _connected = True
    if mpi.COMM_WORLD.Get_size() == 1:
        return
    before, process = sys.excepthook, os.getpid()

    def end_all(kind: Any, value: Any, trace: Any) -> None:
        """The others would wait for this process for ever."""
        before(kind, value, trace)
        rank = mpi.COMM_WORLD.Get_rank()
        print(f"xtensor: process {rank} ended by {kind.__name__}, so all processes end", file=sys.stderr, flush=True)
        time.sleep(_FORWARD)
        mpi.COMM_WORLD.Abort(1)

    def tell_end() -> None:
        """The others may be about to call a function with this process."""
        if os.getpid() == process and not mpi.Is_finalized():
            for one in list(_agreements):
                one.end()

    sys.excepthook = end_all
    atexit.register(tell_end)


class Communicator:
    """One that the runtime knows by `number`."""

    def __init__(self, mpi: Any, comm: Any) -> None:
        comm.Set_errhandler(mpi.ERRORS_ARE_FATAL)
        self.mpi, self.comm, self.size = mpi, comm, comm.Get_size()
        self.number = _native.add_communicator(mpi._handleof(comm), comm.Get_rank(), self.size)

    def free(self) -> None:
        if not self.mpi.Is_finalized():
            self.comm.Free()


class Agreement:
    """Whether the processes of a communicator do the same next, over a communicator of its own."""

    def __init__(self, mpi: Any, comm: Any) -> None:
        self._with = Communicator(mpi, comm.Dup())
        self.meshes = itertools.count()  # all processes make them in one order
        _agreements.append(self)

    def together(self, key: str, text: str, patience: float) -> tuple[int, int, str, float]:
        """What the runtime compares of a call: `key` differs where the calls do, and `text` tells it."""
        tag = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little", signed=True)
        return self._with.number, tag or 1, text, patience

    def agree(self, key: str, text: str, patience: float) -> None:
        """Raises ArgumentError in all processes where these differ."""
        if self._with.size > 1:
            _native.agree(self.together(key, text, patience))

    def end(self) -> None:
        with contextlib.suppress(ArgumentError):  # the others tell
            _native.agree((self._with.number, 0, "", PATIENCE))

    def free(self) -> None:
        _agreements.remove(self)
        self._with.free()


_agreements: list[Agreement] = []
_of_all: list[Agreement] = []  # that of COMM_WORLD
# Seconds after which a process that waits for the others says so.
PATIENCE = 60.0


def agreement_of(mpi: Any, comm: Any) -> tuple[Agreement, bool]:
    """For the meshes of a communicator, and whether it is of this one alone. All processes of it must call this."""
    if comm != mpi.COMM_WORLD:
        return Agreement(mpi, comm), True
    if not _of_all:
        _of_all.append(Agreement(mpi, comm))
    return _of_all[0], False


def _raise_disagreement(here: str, texts: Sequence[str]) -> None:
    ended = [i for i, text in enumerate(texts) if not text]
    if ended:
        raise ArgumentError(
            f"process {ended[0]} of the mesh has ended, by the end of its program or sys.exit, and here is a call of "
            f"{here}. All processes of a mesh call the same functions in the same order, and end after them"
        )
    other = next((i for i, text in enumerate(texts) if text != texts[0]), None)
    if other is None:
        told = f"the processes of the mesh call {here}, but not the same program: what it reads or computes differs"
    else:
        told = f"process {other} of the mesh calls {texts[other]}, and process 0 calls {texts[0]}"
    raise ArgumentError(
        f"{told}. All processes call the same function with the same dims, sizes and dtypes, static values and arrays "
        "from outside, in the same order"
    )


_native.set_disagreement(_raise_disagreement)
