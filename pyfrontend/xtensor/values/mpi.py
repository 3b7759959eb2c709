"""The MPI library of this process: what the runtime calls, communicators, and how processes end together."""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import itertools
import os
import platform
import re
import socket
import sys
import time
from collections.abc import Mapping, Sequence
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
_FORWARD, _SOON = 0.5, 0.02


def connect(mpi: Any) -> None:
    """Tells the runtime what to call, once."""
    global _connected
    if _connected:
        return
    found = _shared_library()
    names = ["Allreduce", "Allgather", "Iallreduce", "Iallgather", "Isend", "Irecv", "Wait", "Test", "Op_create"]
    names += ["Iprobe", "Abort", "Finalized", "Start", "Request_free"]
    functions = [ctypes.cast(getattr(found, f"MPI_{name}"), ctypes.c_void_p).value or 0 for name in names]
    of_mpi_4 = getattr(found, "MPI_Allreduce_init", None)
    functions.append(ctypes.cast(of_mpi_4, ctypes.c_void_p).value or 0 if of_mpi_4 else 0)
    types = [mpi.INT8_T, mpi.INT16_T, mpi.INT32_T, mpi.INT64_T]
    types += [mpi.UINT8_T, mpi.UINT16_T, mpi.UINT32_T, mpi.UINT64_T, mpi.FLOAT, mpi.DOUBLE]
    ops = [mpi.SUM, mpi.PROD, mpi.MAX, mpi.MIN]
    handles, kinds = ([mpi._handleof(one) for one in some] for some in (types, ops))
    others = [mpi._handleof(mpi.COMM_WORLD), mpi._handleof(mpi.INFO_NULL)]
    _native.set_mpi(functions, handles, kinds, others, mpi.ANY_SOURCE)
    _connected = True
    if mpi.COMM_WORLD.Get_size() == 1:
        return
    before, process, told = sys.excepthook, os.getpid(), False

    def end_all(kind: Any, value: Any, trace: Any) -> None:
        """The others would wait for this process for ever."""
        before(kind, value, trace)
        rank = mpi.COMM_WORLD.Get_rank()
        print(f"xtensor: process {rank} ended by {kind.__name__}, so all processes end", file=sys.stderr, flush=True)
        # Where a process has died, the launcher kills this one soon, and may return 0.
        time.sleep(_SOON if any(one.is_gone for one in _agreements) else _FORWARD)
        mpi.COMM_WORLD.Abort(1)

    def tell_end() -> None:
        """The others may be about to call a function with this process."""
        nonlocal told
        if told or os.getpid() != process or mpi.Is_finalized():
            return
        told = True
        errors = [error for one in list(_agreements) if (error := one.end()) is not None]
        if errors:  # MPI would wait for ever in its own end
            print(f"xtensor: {errors[0]}", file=sys.stderr, flush=True)
            time.sleep(_FORWARD)
            mpi.COMM_WORLD.Abort(1)

    sys.excepthook = end_all
    atexit.register(tell_end)
    # A program that calls MPI.Finalize ends there.
    ends = mpi.Comm.Create_keyval(delete_fn=lambda comm, key, value: tell_end())
    mpi.COMM_SELF.Set_attr(ends, True)
    atexit.register(lambda: None if mpi.Is_finalized() else mpi.COMM_SELF.Delete_attr(ends))


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
        self.patience = PATIENCE
        self.meshes = itertools.count()  # all processes make them in one order
        here = _machine()
        server = _server() if here else None
        name = server.getsockname() if server else b""
        there = self._with.comm.allgather((here, os.getpid(), platform.node(), name))
        self._hosts = [f"pid {pid} on {node}" for _, pid, node, _ in there]
        near = {i: (pid, name) for i, (machine, pid, _, name) in enumerate(there) if here and machine == here}
        connections = _connected_with(server, near, comm.Get_rank())
        for i, (pid, _) in near.items():
            if i != comm.Get_rank():
                _native.watch_peer(self._with.number, i, pid, connections.get(i, -1))
        self.place([""] * len(there))
        #: Communicators of meshes that are garbage here, by their number.
        self._unused: dict[int, list[Communicator]] = {}
        _agreements.append(self)

    def leave(self, number: int, made: list[Communicator], owned: bool) -> None:
        """A mesh is garbage, perhaps while another thread calls MPI. Processes free a communicator together, so that
        waits until they make the next mesh. owned: the agreement was of this mesh alone."""
        self._unused[number] = made
        if owned:
            _left.append(self)

    def sweep(self) -> None:
        """Frees the communicators of meshes that are garbage in all processes. All call it."""
        everywhere = set.intersection(*map(set, self._with.comm.allgather(list(self._unused))))
        for number in sorted(everywhere):
            for one in self._unused.pop(number):
                one.free()

    def place(self, places: Sequence[str]) -> None:
        """Where in the mesh each process is."""
        for i, (place, host) in enumerate(zip(places, self._hosts, strict=True)):
            _native.name_peer(self._with.number, i, f"{place}; {host}" if place else host)

    def together(
        self, key: str, text: str, patience: float, checks: bool = True, equal: tuple[Any, ...] = ()
    ) -> _native.Together:
        """What the runtime compares of a call: `key` differs where the calls do, and `text` tells it."""
        tag = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little", signed=True)
        return self._with.number, tag or 1, text, patience, checks, equal

    def agree(self, key: str, text: str, patience: float) -> None:
        """Raises ArgumentError in all processes where these differ."""
        self.patience = min(self.patience, patience)
        if self._with.size > 1:
            _native.agree(self.together(key, text, patience))

    def end(self) -> ArgumentError | None:
        """This process ends. The error for which the others do not answer."""
        _native.peers_end(self._with.number)
        try:
            _native.agree((self._with.number, 0, "", self.patience, True, ()))
        except ArgumentError as error:  # or the others call something, and tell
            return error if self.is_gone else None
        return None

    @property
    def is_gone(self) -> bool:
        """Whether calls will never end: a process has died, for example."""
        return _native.is_gone(self._with.number)

    def free(self) -> None:
        _native.forget_peers(self._with.number)
        _agreements.remove(self)
        for one in (*itertools.chain(*self._unused.values()), self._with):
            one.free()


def _machine() -> str:
    """Equal in processes that see each other by pid and by sockets; empty: not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        return f"{boot} {os.readlink('/proc/self/ns/pid')} {os.readlink('/proc/self/ns/net')}"
    except OSError:
        return ""


def _server() -> socket.socket | None:
    try:
        made = socket.socket(socket.AF_UNIX)
        made.bind("")  # Linux finds a name
        made.listen(socket.SOMAXCONN)
    except OSError:
        return None
    return made


def _connected_with(server: socket.socket | None, near: Mapping[int, tuple[int, bytes]], rank: int) -> dict[int, int]:
    """A connection with each other process of this machine, by which it is known when that one dies."""
    found: dict[int, int] = {}
    if server is None or not all(name for _, name in near.values()):
        return found
    with server:
        server.settimeout(10)
        try:
            for i, (_, name) in near.items():
                if i < rank:
                    one = socket.socket(socket.AF_UNIX)
                    one.connect(name)
                    one.sendall(rank.to_bytes(4, "little"))
                    found[i] = one.detach()
            for _ in (i for i in near if i > rank):
                one = server.accept()[0]
                other = int.from_bytes(one.recv(4, socket.MSG_WAITALL), "little")
                found[other] = one.detach()
        except OSError:  # the pids must do
            pass
    return found


def _await_all(comm: Any, text: str, patience: float) -> None:
    """Until all processes of a communicator are here. Says so if that takes long."""
    request, begin, told = comm.Ibarrier(), time.monotonic(), False
    while not request.Test():
        waited = time.monotonic() - begin
        if waited > 0.01:
            time.sleep(0.001)
        if waited > patience and not told:
            told = True
            print(
                f"xtensor: process {comm.Get_rank()} of {comm.Get_size()} has waited {waited:.0f} s for the others to "
                f"make {text}. If one of them has failed before: mpirun -n {comm.Get_size()} python -m mpi4py "
                f"{Path(sys.argv[0]).name or 'program.py'} ends all of them",
                file=sys.stderr,
                flush=True,
            )


_agreements: list[Agreement] = []
_of_all: list[Agreement] = []  # that of COMM_WORLD
_left: list[Agreement] = []  # those whose mesh is garbage
# Seconds after which a process that waits for the others says so.
PATIENCE = 60.0


def agreement_of(mpi: Any, comm: Any, text: str, patience: float) -> tuple[Agreement, bool]:
    """For the meshes of a communicator, and whether it is of this one alone. All processes of it must call this."""
    if comm != mpi.COMM_WORLD:
        while _left:
            _left.pop().free()
        _await_all(comm, text, patience)
        return Agreement(mpi, comm), True
    if not _of_all:
        _await_all(comm, text, patience)
        _of_all.append(Agreement(mpi, comm))
    return _of_all[0], False


# Why calls differ: XT_PROGRAMS.. of runtime.h.
_PROGRAMS, _VALUES, _PATHS, _ENDED, _STUCK, _GONE, _THREADS = range(7)
_EQUAL = (
    "An argument without split dims, a Python number and a condition of xt.cond or xt.while_loop must be equal in all "
    "processes: xt.Mesh(.., check='arguments') compares arguments at each call"
)


def _raise_disagreement(why: int, here: str, texts: Sequence[str]) -> None:
    call = f"a call of {here}" if here else "the end of the program"
    if why == _STUCK:
        raise ArgumentError(f"the processes of the mesh wait for each other, and would for ever: {texts[0]}. {_EQUAL}")
    if why == _GONE:
        raise ArgumentError(f"{texts[0]}, and here is {call}, which needs all processes of the mesh")
    if why == _THREADS:
        raise ArgumentError(
            f"{here}: another thread calls {texts[0]} with the same mesh. One thread at a time calls programs of a "
            "mesh, in the same order in all processes: use a lock, or make all calls in one thread"
        )
    if why == _PATHS:
        *texts, before = texts
    other = next((i for i, text in enumerate(texts) if text != texts[0]), None)
    if why == _PATHS:
        told = "not the same ones" if other is None else f"process {other} {texts[other]}, and process 0 {texts[0]}"
        raise ArgumentError(
            f"the processes of the mesh have run different collective ops in the last call, of {before}, so its "
            f"results are wrong: {told}. {_EQUAL}"
        )
    ended = [i for i, text in enumerate(texts) if not text]
    if ended:
        raise ArgumentError(
            f"process {ended[0]} of the mesh has ended, by the end of its program or sys.exit, and here is a call of "
            f"{here}. All processes of a mesh call the same functions in the same order, and end after them"
        )
    if other is None:
        told = f"the processes of the mesh call {here}, but not the same program: what it reads or computes differs"
    else:
        told = f"process {other} of the mesh calls {texts[other]}, and process 0 calls {texts[0]}"
    if why == _VALUES:
        raise ArgumentError(f"{told}. Numbers and arrays without split dims are equal in all processes of a mesh")
    raise ArgumentError(
        f"{told}. All processes call the same function with the same dims, sizes and dtypes, static values and arrays "
        f"from outside, in the same order{_of_parts(texts[0], texts[0 if other is None else other])}"
    )


def _of_parts(first: str, other: str) -> str:
    """What to write if two calls differ in sizes only, as those of parts of different sizes do."""
    size = re.compile(r"(\w+): (\d+)")
    if size.sub(r"\1", first) != size.sub(r"\1", other):
        return ""
    pairs = zip(size.findall(first), size.findall(other), strict=True)
    dim = next((dim for (dim, n), (_, m) in pairs if n != m), None)
    return (
        ""
        if dim is None
        else f". If {dim!r} has parts of different sizes, give xt.jit its whole size: sizes={{{dim!r}: n}}"
    )


_native.set_disagreement(_raise_disagreement)
