"""Mesh: the processes of an MPI communicator, arranged along named dims; Layout: how arrays are split over them."""

from __future__ import annotations

import ctypes
import math
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _native
from ..base.dims import check_name, describe
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, SizeError
from .spec import Spec


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(
            f"xt.Mesh needs mpi4py and an MPI library, which is not there ({error}): pip install xtensor-mlir[mpi]"
        ) from None
    return MPI


def _library() -> Any:
    """The MPI library that mpi4py has loaded."""
    maps = Path("/proc/self/maps")
    paths = set(re.findall(r"/\S*/lib\w*mpi\w*\.\S+", maps.read_text())) if maps.exists() else set()
    for path in [None, *sorted(paths)]:
        library = ctypes.CDLL(path)
        if hasattr(library, "MPI_Allreduce") and hasattr(library, "MPI_Op_create"):
            return library
    raise ImportError("xt.Mesh: the MPI library that mpi4py uses is not found in this process")


_connected = False
# Seconds: a launcher drops what it has not read when a process aborts, and with it the traceback.
_FORWARD = 0.5


def _connect(mpi: Any) -> None:
    """Tells the runtime what to call, once."""
    global _connected
    if _connected:
        return
    library = _library()
    names = ("MPI_Allreduce", "MPI_Allgather", "MPI_Op_create")
    functions = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names]
    types = [mpi.INT8_T, mpi.INT16_T, mpi.INT32_T, mpi.INT64_T]
    types += [mpi.UINT8_T, mpi.UINT16_T, mpi.UINT32_T, mpi.UINT64_T, mpi.FLOAT, mpi.DOUBLE]
    ops = [mpi.SUM, mpi.PROD, mpi.MAX, mpi.MIN]
    _native.set_mpi(functions, *([mpi._handleof(h) for h in handles] for handles in (types, ops)))
    before = sys.excepthook

    def end_all(kind: Any, value: Any, trace: Any) -> None:
        """The others would wait for this process for ever."""
        before(kind, value, trace)
        rank = mpi.COMM_WORLD.Get_rank()
        print(f"xtensor: process {rank} ended by {kind.__name__}, so all processes end", file=sys.stderr, flush=True)
        time.sleep(_FORWARD)
        mpi.COMM_WORLD.Abort(1)

    if mpi.COMM_WORLD.Get_size() > 1:
        sys.excepthook = end_all
    _connected = True


class Mesh:
    """The processes of an MPI communicator as a grid with named dims, for ``xt.jit(f, mesh=, split=)``.

    ``xt.Mesh(data=4, model=2)`` needs 8 processes, for example those that ``mpirun -n 8 python program.py`` starts. The
    last dim counts fastest: processes 0 and 1 differ in `model`. All processes of the communicator must make the mesh.

    comm: a communicator of mpi4py, by default COMM_WORLD. `sizes`: processes along each dim.
    Raises SizeError if the product of the sizes is not the number of processes. If a process ends by an error, all
    processes end.
    """

    def __init__(self, sizes: Mapping[str, int] | None = None, /, comm: Any = None, **more: int) -> None:
        self.sizes = {check_name(d): n for d, n in {**(sizes or {}), **more}.items()}
        for d, n in self.sizes.items():
            if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
                raise ArgumentTypeError(f"xt.Mesh({d}={n!r}): a number of processes is needed, at least 1")
        mpi = _mpi()
        self.comm = mpi.COMM_WORLD if comm is None else comm
        wanted, there = math.prod(self.sizes.values()), self.comm.Get_size()
        if wanted != there:
            raise SizeError(
                f"{self!r} has {wanted} processes, and the communicator has {there}. Start the program with: "
                f"mpirun -n {wanted} python {Path(sys.argv[0]).name or 'program.py'}"
            )
        _connect(mpi)
        rank = self.comm.Get_rank()
        #: The place of this process along each dim.
        self.position: dict[str, int] = {}
        self.communicators: dict[str, tuple[int, int]] = {}  # of each dim: processes, the runtime's number
        self.comms: dict[str, Any] = {}  # of each dim, mpi4py's
        stride = wanted
        for d, n in self.sizes.items():
            stride //= n
            self.position[d] = rank // stride % n
            along = self.comms[d] = self.comm.Split(rank - self.position[d] * stride, self.position[d])
            along.Set_errhandler(mpi.ERRORS_ARE_FATAL)
            self.communicators[d] = n, _native.add_communicator(mpi._handleof(along), self.position[d], n)

    def __reduce__(self) -> Any:
        raise ArgumentTypeError(f"{self!r} cannot be pickled: each process makes its own, all of them together")

    def __repr__(self) -> str:
        return f"xt.Mesh({', '.join(f'{d}={n}' for d, n in self.sizes.items())})"


class Layout:
    """How the arrays of a program are split: each name along a dim of the mesh, or not at all."""

    def __init__(self, mesh: Any, split: Any) -> None:
        if not isinstance(mesh, Mesh):
            raise ArgumentTypeError(f"mesh= takes an xt.Mesh, got {type(mesh).__name__}")
        if not isinstance(split, Mapping):
            raise ArgumentTypeError(f"split= takes a dict from dims of arrays to dims of the mesh, got {split!r:.60}")
        self.mesh = mesh
        self.split = {check_name(d): along for d, along in split.items()}
        for d, along in self.split.items():
            if not isinstance(along, str):
                raise ArgumentTypeError(f"split={{{d!r}: {along!r}}}: the name of a dim of the mesh is needed")
            if along not in mesh.sizes:
                raise DimensionError(
                    f"split={{{d!r}: {along!r}}}: {mesh!r} has no dim {along!r}; its dims are "
                    f"{', '.join(map(repr, mesh.sizes))}"
                )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.mesh is other.mesh and self.split == other.split

    __hash__ = None  # type: ignore[assignment]

    def parts(self, dim: str) -> int:
        """The number of parts of a dim."""
        return self.mesh.sizes[self.split[dim]] if dim in self.split else 1

    def check_used(self, what: str, given: Sequence[Sequence[str]], program: str) -> None:
        """Refuses where no array of a program, here as text, has a dim that is split: it is a slip of the pen."""
        if any(d in program for d in self.split):
            return
        there = {d: None for dims in given for d in dims}
        raise DimensionError(
            f"{what}: no array has dim {', '.join(map(repr, self.split)) or 'of split'}; the arguments' dims are "
            f"{', '.join(map(repr, there)) or 'none'}"
        )

    def whole(self, part: Spec) -> Spec:
        """What all processes have together."""
        shape = [n if n is None else n * self.parts(d) for d, n in zip(part.dims, part.shape, strict=True)]
        return Spec(part.dims, shape, part.dtype, part.weak)

    def part(self, whole: Spec) -> Spec:
        """What each process has."""
        shape = [n if n is None else n // self.parts(d) for d, n in zip(whole.dims, whole.shape, strict=True)]
        return Spec(whole.dims, shape, whole.dtype, whole.weak)

    def split_dims(self, what: str, dims: Sequence[str], shape: Sequence[int]) -> dict[str, str]:
        """The dims of an array that are split, by the dim of the mesh."""
        found: dict[str, str] = {}
        for d in dims:
            if d not in self.split:
                continue
            other = found.setdefault(self.split[d], d)
            if other != d:
                raise DimensionError(
                    f"{what}: dims {other!r} and {d!r} of {describe(dims, shape)} are both split along "
                    f"{self.split[d]!r}"
                )
        return found

    def slice(self, what: str, dims: Sequence[str], shape: Sequence[int]) -> dict[str, slice]:
        """The elements of this process, of an array of these dims."""
        found = {}
        for along, d in self.split_dims(what, dims, shape).items():
            n = shape[dims.index(d)]
            if n % self.parts(d):
                raise SizeError(
                    f"{what}: dim {d!r} of {describe(dims, shape)} cannot be split over {self.parts(d)} processes: the "
                    "parts must have one size"
                )
            each = n // self.parts(d)
            found[d] = slice(self.mesh.position[along] * each, (self.mesh.position[along] + 1) * each)
        return found

    def agree(self, what: str, here: Any, told: str) -> None:
        """Refuses where the processes compile different programs; all would wait for ever otherwise."""
        all_told = self.mesh.comm.allgather((here, told))
        for rank, (there, text) in enumerate(all_told):
            if there != here:
                raise ArgumentError(
                    f"{what}: process {rank} of the mesh compiles another program than process "
                    f"{self.mesh.comm.Get_rank()}: {text}, and here {told}. All processes call the same function with "
                    "the same dims, sizes and dtypes, static values and arrays from outside, in the same order"
                )
