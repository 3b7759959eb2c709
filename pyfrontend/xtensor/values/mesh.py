"""Mesh: the processes of an MPI communicator, arranged along named dims; Layout: how arrays are split over them."""

from __future__ import annotations

import hashlib
import math
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.calls import in_words, shown
from ..base.dims import brief, check_name, describe
from ..base.errors import ArgumentTypeError, DimensionError, SizeError, trimmed
from .mpi import PATIENCE, Communicator, agreement_of, connect, library
from .spec import Spec

# Blocks of each split dim, of `deterministic=True`.
BLOCKS = 8


class Mesh:
    """The processes of an MPI communicator as a grid with named dims, for ``xt.jit(f, mesh=, split=)``.

    ``xt.Mesh(data=4, model=2)`` needs 8 processes, for example those that ``mpirun -n 8 python program.py`` starts. The
    last dim counts fastest: processes 0 and 1 differ in `model`. All processes of the communicator must make the mesh.

    comm: a communicator of mpi4py, by default COMM_WORLD. `sizes`: processes along each dim.
    check: whether the processes compare what they call, at each call of a program that sends something. This takes a
    message of 16 bytes. It also compares Python numbers, and which collective ops the call before has run. Without it,
    processes that make different calls may get wrong numbers. With "arguments", for debugging, the processes also
    compare the arguments that are not split: each call reads them once more.
    timeout: a process that waits for others says so on stderr after this many seconds. If all processes wait, but not
    for the same, all of them raise ArgumentError. If a process dies, the others end.

    Raises:
        SizeError: the product of the sizes is not the number of processes.

    Example:
    >>> mesh = xt.Mesh(data=1)  # of one process
    >>> mesh.sizes
    {'data': 1}
    """

    @trimmed
    def __init__(
        self,
        sizes: Mapping[str, int] | None = None,
        /,
        comm: Any = None,
        *,
        check: bool | str = True,
        timeout: float = PATIENCE,
        **more: int,
    ) -> None:
        self.sizes = _sizes(sizes, more)
        if not isinstance(check, bool) and check != "arguments":
            raise ArgumentTypeError(
                f"xt.Mesh(check={check!r}): write True or False, or 'arguments'. For a dim: xt.Mesh({{'check': 2}})"
            )
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
            raise ArgumentTypeError(f"xt.Mesh(timeout={timeout!r}): seconds are needed, more than 0")
        if comm is not None and not hasattr(comm, "Get_size"):
            raise ArgumentTypeError(f"xt.Mesh(comm={brief(comm)}): a communicator of mpi4py is needed")
        mpi = library()
        self.comm = mpi.COMM_WORLD if comm is None else comm
        wanted, there = math.prod(self.sizes.values()), self.comm.Get_size()
        if wanted != there:
            raise SizeError(
                f"{self!r} has {wanted} process{'es' * (wanted != 1)}, and the communicator has {there}. Start the "
                f"program with: mpirun -n {wanted} python {Path(sys.argv[0]).name or 'program.py'}"
            )
        connect(mpi)
        rank = self.comm.Get_rank()
        #: The place of this process along each dim.
        self.position: dict[str, int] = {}
        self.communicators: dict[str, tuple[int, int]] = {}  # of each dim: processes, the runtime's number
        self.comms: dict[str, Any] = {}  # of each dim, mpi4py's
        self.checks, self._timeout = check, float(timeout)
        #: The number of processes.
        self.size = wanted
        self._agreement, owned = agreement_of(mpi, self.comm, repr(self), self._timeout)
        self.agree(repr(self), repr(self))
        self.number = next(self._agreement.meshes)
        self._agreement.sweep()
        made: list[Communicator] = []
        stride = wanted
        for d, n in self.sizes.items():
            stride //= n
            self.position[d] = rank // stride % n
            along = Communicator(mpi, self.comm.Split(rank - self.position[d] * stride, self.position[d]))
            self.comms[d], self.communicators[d] = along.comm, (n, along.number)
            made.append(along)
        self._agreement.place([self._place_of(i) for i in range(wanted)])
        weakref.finalize(self, self._agreement.leave, self.number, made, owned).atexit = False

    def _place_of(self, process: int) -> str:
        at = np.unravel_index(process, tuple(self.sizes.values())) if self.sizes else ()
        return ", ".join(f"{d}={i}" for d, i in zip(self.sizes, at, strict=True))

    def together(self, key: str, text: str, equal: tuple[Any, ...]) -> Any:
        """What the processes compare before the first collective of a call; None: this is the only process. equal: of
        arguments whose values must be equal in all processes, number, name, dtype and bytes."""
        if self.size == 1:
            return None
        return self._agreement.together(key, text, self._timeout, bool(self.checks), equal if self.checks else ())

    def agree(self, key: str, text: str) -> None:
        """Compares now; raises ArgumentError in all processes where `key` differs."""
        self._agreement.agree(key, text, self._timeout)

    def __reduce__(self) -> Any:
        raise ArgumentTypeError(f"{self!r} cannot be pickled: each process makes its own, all of them together")

    def __repr__(self) -> str:
        return f"xt.Mesh({', '.join(f'{d}={n}' for d, n in self.sizes.items())})"


def hash_of(values: np.ndarray[Any, Any]) -> str:
    """Equal in processes that have equal values."""
    bits = np.ascontiguousarray(values).reshape(-1).view("u1").data
    return f"#{hashlib.blake2b(bits, digest_size=6).hexdigest()}"


def _sizes(given: Any, more: Mapping[str, Any]) -> dict[str, int]:
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"xt.Mesh({shown(given)}): a dict from dims to numbers of processes is needed. Write xt.Mesh(data=2)"
        )
    sizes = {check_name(d): n for d, n in {**(given or {}), **more}.items()}
    for d, n in sizes.items():
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ArgumentTypeError(f"xt.Mesh({d}={n!r}): a number of processes is needed, at least 1")
    return sizes


def _blocks(deterministic: Any, mesh: Mesh) -> int | None:
    """What ``deterministic=`` means: the number of blocks of each split dim, or None."""
    if deterministic is False:
        return None
    blocks = BLOCKS if deterministic is True else deterministic
    if not isinstance(blocks, (int, np.integer)) or blocks < 1:
        raise ArgumentTypeError(
            f"xt.jit(deterministic={deterministic!r}): write True, or the number of blocks of each split dim"
        )
    for d, n in mesh.sizes.items():
        if blocks % n:
            raise SizeError(
                f"xt.jit(deterministic={deterministic!r}): {mesh!r} has {n} processes along {d!r}, which do not divide "
                f"{blocks} blocks. Write deterministic={n * -(-blocks // n)}, for every number of processes"
            )
    return int(blocks)


class Layout:
    """How the arrays of a program are split: each name along a dim of the mesh, or not at all."""

    def __init__(self, mesh: Any, split: Any, deterministic: Any = False, sizes: Any = None) -> None:
        if not isinstance(mesh, Mesh):
            raise ArgumentTypeError(f"mesh= takes an xt.Mesh, got {in_words(mesh)}")
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

        #: The number of blocks of each split dim, where results have the same bits for any number of processes.
        self.blocks = _blocks(deterministic, mesh)
        #: Sizes of the whole of split dims, whose parts may differ by process.
        self.sizes = self._sizes(sizes)

    def _sizes(self, given: Any) -> dict[str, int]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(f"sizes= takes a dict from split dims to sizes of the whole, got {given!r:.60}")
        if self.blocks:
            raise ArgumentTypeError("xt.jit(sizes=, deterministic=): blocks have one size, so leave one of them out")
        for d, n in given.items():
            if d not in self.split:
                raise DimensionError(
                    f"sizes={{{d!r}: {n!r}}}: the dim is not split; those of split= are "
                    f"{', '.join(map(repr, self.split)) or 'none'}"
                )
            if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0:
                raise ArgumentTypeError(f"sizes={{{d!r}: {n!r}}}: the size of the whole is needed, an int")
        return {d: int(n) for d, n in given.items()}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layout)
            and self.mesh is other.mesh
            and self.split == other.split
            and self.blocks == other.blocks
            and self.sizes == other.sizes
        )

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

    def check_whole(self, what: str, dims: Sequence[str], shape: Sequence[Any]) -> None:
        """Refuses an array of all processes that cannot be cut into parts, of one size if `sizes` are not given."""
        for d, n in zip(dims, shape, strict=True):
            if n is None or d not in self.split:
                continue
            pieces, kind = self.blocks or self.parts(d), "processes" if self.blocks is None else "blocks"
            if n % pieces and not (self.sizes and self._reaches(d, n)):
                fewer = f", or write deterministic= with fewer than {pieces} blocks" if self.blocks else ""
                raise SizeError(
                    f"{what}: dim {d!r} of {describe(dims, shape)} is split along {self.split[d]!r} of {self.mesh!r}, "
                    f"and its size cannot be divided by {pieces} {kind}. Rename it to a dim that is not split{fewer}"
                    f"{self._hint(d, n)}"
                )

    def _hint(self, dim: str, size: int) -> str:
        there = self.blocks is None and self._reaches(dim, size)
        return f", or write xt.jit(.., sizes={{{dim!r}: {size}}}), for parts of different sizes" if there else ""

    def _place(self, dim: str, size: int) -> tuple[int, int]:
        """Where this process's part of a dim begins and ends: parts have one size, but the last ones may have less."""
        each = -(-size // self.parts(dim))
        first = self.mesh.position[self.split[dim]] * each
        return min(first, size), min(first + each, size)

    def _reaches(self, dim: str, size: int) -> bool:
        """Whether every process has a part of the dim."""
        n = self.parts(dim)
        return size % n == 0 or (n - 1) * -(-size // n) < size

    def _part(self, dim: str, size: int) -> int:
        if dim not in self.split:
            return size
        first, end = self._place(dim, size)
        return end - first

    def _whole(self, dim: str, part: int) -> int:
        whole, n = self.sizes.get(dim), self.parts(dim)
        if whole is None:
            return part * n
        if self._part(dim, whole) == part:
            return whole
        each = -(-whole // n)
        if part in (each, whole - (n - 1) * each):
            raise SizeError(
                f"sizes={{{dim!r}: {whole}}}: this process has {part} positions of dim {dim!r}, so the whole of an "
                f"argument has {part * n}. Another process would take such a part for one of {whole}. Rename the dim "
                "of the argument, or call a function with other sizes="
            )
        return part * n

    def whole(self, part: Spec) -> Spec:
        """What all processes have together."""
        shape = [n if n is None else self._whole(d, n) for d, n in zip(part.dims, part.shape, strict=True)]
        return Spec._of(part.dims, shape, part.dtype, part.weak)

    def part(self, whole: Spec) -> Spec:
        """What each process has."""
        shape = [n if n is None else self._part(d, n) for d, n in zip(whole.dims, whole.shape, strict=True)]
        return Spec._of(whole.dims, shape, whole.dtype, whole.weak)

    @property
    def numbers(self) -> dict[str, tuple[int, ...]]:
        """Of each dim of the mesh, what the compiler needs. If parts have one size, it is equal in all processes."""
        found: dict[str, tuple[int, ...]] = {}
        for d, numbers in self.mesh.communicators.items():
            found[d] = (*numbers, self.mesh.position[d]) if self.sizes else numbers
        return found

    def equal(self, x: Any) -> str:
        """What is equal in all processes that have a part of an array."""
        sizes = (f"{d}: parts" if d in self.split else f"{d}: {n}" for d, n in zip(x.dims, x.shape, strict=True))
        return f"{x.dtype} ({', '.join(sizes)})"

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
        for d in self.split_dims(what, dims, shape).values():
            n = shape[dims.index(d)]
            if not self._reaches(d, n):
                raise SizeError(
                    f"{what}: dim {d!r} of {describe(dims, shape)} cannot be split over {self.parts(d)} processes: the "
                    f"parts have {-(-n // self.parts(d))}, and the last process would have none. Rename it to a dim "
                    "that is not split, or start fewer processes"
                )
            found[d] = slice(*self._place(d, n))
        return found

    def key(self, program: str) -> str:
        """What is equal in all processes that run a program, here as text, together."""
        layout = f"{sorted(self.split.items())} {self.blocks} {sorted(self.sizes.items())}"
        return f"{self.mesh.number} {self.mesh!r} {layout} {program}"
