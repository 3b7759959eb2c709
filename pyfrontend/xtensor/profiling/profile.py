"""`xt.profile`: records when each kernel, routine and transfer runs, and on which thread."""

from __future__ import annotations

import json
import os
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, cast

import numpy as np

from .. import _native
from ..base.calls import check_made, check_methods
from ..base.errors import ArgumentError, file_error, trimmed
from ..base.files import check_place, path_of, write_file
from ..compiler.profiled import Kernel, kernel_of, kernels_of, program_of
from ..values.options import profiled
from .limits import limits_of, measured_again
from .spans import KERNEL, SHARE, TRANSFERS, Named, covered, named, none, taken
from .table import Row, html_of, text_of

_lock = threading.Lock()
_active: list[profile] = []  # those that record
_SHOWN = 3  # programs that an error lists
_OVER = 1.05  # of a limit: more than noise
_first: dict[int, int] = {}  # when a kernel of a device ran for the first time, by its number


def _collect() -> None:
    """Hands the spans that the runtime has to all that record."""
    found = taken()
    runs = found.values[found.values["kind"] == KERNEL]
    for number in np.unique(runs["kernel"]).tolist():
        of = kernel_of(number)
        if number not in _first and of is not None and of[0].device != "cpu" and of[1].kind != "program":
            _first[number] = int(runs["begin"][runs["kernel"] == number].min())
    for p in _active:
        p._spans += found


class profile:  # noqa: N801 (used like a function)
    """Records where the time of programs goes: ``with xt.profile("trace.json") as p: .. ``, then ``print(p)``.

    path: a file for the events, in Chrome's format: chrome://tracing and ui.perfetto.dev open it. None: no file.
    Each kernel is an event: a nest of fused loops, a matrix product, a launch on a device. So is each call of a
    library, and each copy to or from a device. An event has its thread, bytes and flops, and the functions and lines
    that it is made of. Loops that threads share have an event for each thread's parts.

    In the block programs are compiled for themselves, with calls of a clock around each kernel, so the first calls in
    it compile. Programs outside of it have no such calls, and pay nothing. On a device, the program waits for each
    kernel, so that kernels do not overlap. Other threads of Python do not see the block. Neither do bundles, `Compiled`
    stages, and functions of `xt.vjp` and `xt.linearize` that were made before. At most 1,048,576 events of one thread
    are kept, and those of all programs. The table counts the others, too.

    p.table() is a text: for each kernel the time, the calls, bytes and flops, the share of what the machine can do at
    most (measured once), and what would help. `str(p)` is the same, and a notebook shows it. p.rows has it as objects,
    p.seconds the time of the block, and p.trace() the content of the file. ArgumentError if the file cannot be written.

    Raises:
        MissingFileError: the folder of the file does not exist.
        ArgumentError: the file cannot be written.

    Example:
    >>> f = xt.jit(lambda x: xt.sum(xt.exp(x)))
    >>> with xt.profile() as p:
    ...     y = f(xt.ones(i=1000))
    >>> [row.calls for row in p.rows if row.kind == "program" and row.program == "<lambda>"]
    [1]
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else path_of(path, "xt.profile")
        self._spans = none()
        self._block = ExitStack()
        self._begin = self._end = self._thread = 0
        self._entered = False

    @trimmed
    def __enter__(self) -> profile:
        if self._entered:
            raise ArgumentError("xt.profile: this one has recorded a block already; make another one")
        if self._path is not None:
            check_place(self._path, "xt.profile: ")
        self._entered = True
        self._block.enter_context(profiled())
        with _lock:
            _collect()  # what came before is not of this block
            _active.append(self)
            _native.profile_start()
        self._thread = threading.get_native_id()
        self._begin = time.monotonic_ns()
        return self

    @trimmed
    def __exit__(self, kind: object = None, error: BaseException | None = None, traceback: object = None) -> None:
        if not self._entered or self._end:
            raise ArgumentError("xt.profile: no block of this one is there to end")
        self._end = time.monotonic_ns()
        with _lock:
            _native.profile_stop()
            _collect()
            _active.remove(self)
        self._block.close()
        if self._path is None:
            return
        try:
            write_file(self._path, json.dumps(self.trace(), separators=(",", ":")).encode())
        except OSError as problem:
            text = f"xt.profile: {self._path} cannot be written: {problem.strerror}"
            if error is None:
                raise file_error(ArgumentError, text, problem) from None
            error.add_note(text)  # the block's own error is what matters

    @property
    def seconds(self) -> float:
        """Of the block, up to now while it runs."""
        return ((self._end or time.monotonic_ns()) - self._begin) / 1e9 if self._begin else 0.0

    @cached_property
    def _names(self) -> dict[int, Named | None]:
        values = self._spans.values
        numbers = np.concatenate([values["kernel"][values["kind"] <= SHARE], self._spans.sums["kernel"]])
        numbers = numbers[numbers >= 0]
        return {int(n): named(int(n)) for n in np.unique(numbers)}

    @cached_property
    def _programs(self) -> list[int]:
        """The numbers of the kernels that are whole programs."""
        return [number for number, of in self._names.items() if of is not None and of.kernel.kind == "program"]

    # -- the table ----------------------------------------------------------------------------------------------------

    @property
    @trimmed
    def rows(self) -> list[Row]:
        """A `Row` for each kernel and other use of time, those of most time first."""
        self._check_done("rows")
        return self._rows

    @cached_property
    def _rows(self) -> list[Row]:
        rows = self._kernel_rows()
        rows += self._transfer_rows()
        # A program may run in a callback of another one, and programs of several threads at once.
        values = self._spans.values
        runs = values[values["kind"] == KERNEL]
        is_program = np.isin(runs["kernel"], self._programs)
        inside, below = (
            sum(covered(some[some["thread"] == thread]) for thread in np.unique(some["thread"]))
            for some in (runs[is_program], runs[~is_program])
        )
        below += sum(self._spans.dropped_of(number, KERNEL)[1] for number in self._names)
        prepared = sum(row.prepared for row in rows)
        if prepared:
            rows.append(Row("other", "first runs of kernels: the driver compiles them", seconds=prepared))
        rows.append(Row("other", "between the kernels of programs", seconds=max(inside - below, 0.0)))
        copies = values[np.isin(values["kind"], [*TRANSFERS])]
        outside = max(self.seconds - covered(np.concatenate([runs[is_program], copies])), 0.0)
        rows.append(Row("other", "outside of programs: Python, compiling", seconds=outside))
        threads, total = _native.num_threads(), self.seconds
        _judge(rows, threads, total)
        if rows[-2].seconds > 0.2 * total:
            rows[-2].help = "many short steps: fewer and larger ops, or xt.vectorize"
        if inside and rows[-1].seconds > 0.5 * total:
            rows[-1].help = "call programs before the block, so that they are compiled; put more into one xt.jit"
        return sorted((row for row in rows if row.calls or row.kind == "other"), key=lambda row: -row.seconds)

    def _kernel_rows(self) -> list[Row]:
        found: dict[tuple[object, ...], Row] = {}
        programs: dict[int, Row] = {}
        for number, of in self._names.items():  # ascending: a program is before its kernels
            if of is None:
                continue
            key = (of.program.name, of.program.device, of.kernel)
            before = found[key].flops if key in found else 0.0
            row = found[key] = self._row_of(number, of, found.get(key))
            if row.kind == "program":
                programs[program_of(number)] = row
            elif whole := programs.get(program_of(number)):
                whole.flops = _plus(_plus(whole.flops, row.flops), _times(before, -1))
        return [*found.values()]

    def _row_of(self, number: int, of: Named, row: Row | None = None) -> Row:
        """The runs of a kernel, in a row of their own, or besides those that `row` has."""
        values, kernel, program = self._spans.values, of.kernel, of.program
        mine = values[values["kernel"] == number]
        runs = mine[mine["kind"] == KERNEL]
        shares = mine[mine["kind"] == SHARE]
        if row is None:
            kind = {"program": "program", "loops": "kernel", "launch": "launch"}.get(kernel.kind, "routine")
            row = Row(kind, of.name, of.where, program.name, program.device)
        durations = (runs["end"] - runs["begin"]) / 1e9
        is_first = runs["begin"] == _first.get(number, -1)
        if is_first.any():
            # What the driver compiled meanwhile is what the run took more than others take.
            others = durations[~is_first]
            compiled = max(0.0, float(durations[is_first].sum() - np.median(others))) if len(others) else 0.0
            row.is_first = not len(others)
            row.prepared += compiled
            row.seconds -= compiled
        more, more_seconds = self._spans.dropped_of(number, KERNEL)
        calls = len(runs) + more
        row.calls += calls
        row.seconds += float(durations.sum()) + more_seconds
        row.shared += float((shares["end"] - shares["begin"]).sum()) / 1e9 + self._spans.dropped_of(number, SHARE)[1]
        for name, new in zip(("flops", "bytes"), self._work(number, of, runs, more), strict=True):
            so_far = getattr(row, name)
            setattr(row, name, None if new is None or so_far is None else so_far + new)
        return row

    def _work(self, number: int, of: Named, runs: Any, more: int) -> tuple[float | None, float | None]:
        """The flops and bytes of all runs of a kernel together, of which `more` found no room."""
        kernel, calls = of.kernel, len(runs) + more
        if not of.program.open_dims:
            return _times(kernel.flops, calls), _times(kernel.bytes, calls)
        asked = Counter(self._sizes_at(number, *run) for run in runs[["thread", "begin"]].tolist())
        if more and len(asked) == 1:
            asked[next(iter(asked))] += more
        elif more:
            return None, None
        flops: float | None = 0.0
        moved: float | None = 0.0
        for sizes, count in asked.items():
            each_flops, each_bytes = of.work(sizes)
            flops, moved = _plus(flops, _times(each_flops, count)), _plus(moved, _times(each_bytes, count))
        return flops, moved

    def _sizes_at(self, number: int, thread: int, begin: int) -> tuple[int, ...]:
        """The open sizes of the run of a program that a kernel ran in."""
        starts, sizes = self._sizes.get(program_of(number), {}).get(thread, ([], []))
        place = bisect_right(starts, begin)
        return sizes[place - 1] if place else ()

    @cached_property
    def _sizes(self) -> dict[int, dict[int, tuple[list[int], list[tuple[int, ...]]]]]:
        """For each program with open sizes, and each thread: when it began, in order, and with which sizes."""
        found: dict[int, dict[int, dict[int, list[int]]]] = {}
        for number, begin, size, _, thread in self._spans.sizes.tolist():
            found.setdefault(program_of(number), {}).setdefault(thread, {}).setdefault(begin, []).append(size)
        return {
            number: {thread: ([*runs], [tuple(sizes) for sizes in runs.values()]) for thread, runs in threads.items()}
            for number, threads in found.items()
        }

    def kernels(self, name: str, device: str, types: tuple[str, ...]) -> list[tuple[Kernel, Row]]:
        """Returns each kernel of a program that ran, with what was measured of it, in the order of their first runs.

        The first one is the program itself.
        The program is the latest one with this name that ran on `device` for arguments of these types. The page of
        ``f.explore(x, profile=p)`` shows the result. ArgumentError if there is none.
        """
        self._check_done("kernels(..)")
        wanted = (name, device, types)
        for number, of in reversed(self._names.items()):
            if of is None or of.kernel.kind != "program":
                continue
            if (of.program.name, of.program.device, of.program.types) == wanted:
                rows = [
                    (k, self._row_of(n, cast(Named, self._names[n]))) for n, k in self._by_begin(kernels_of(number))
                ]
                rows[0][1].seconds -= sum(row.prepared for _, row in rows)
                _judge([row for _, row in rows], _native.num_threads(), rows[0][1].seconds)
                return rows
        ran = [of.program for of in self._names.values() if of]
        others = sorted({f"{p.name}({', '.join(p.types)}) on {p.device}" for p in ran})
        listed = "; ".join(others[:_SHOWN]) + (f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else "")
        raise ArgumentError(
            f"xt.profile: no call of {name}({', '.join(types)}) on {device} ended in the block. "
            f"Calls of these programs did: {listed or 'none'}. Call it in the block with arrays of the same dims, "
            "sizes and dtypes"
        )

    def _by_begin(self, kernels: Sequence[tuple[int, Kernel]]) -> list[tuple[int, Kernel]]:
        """In the order of their first runs: the compiler numbers kernels in another one."""
        values = self._spans.values
        begins = values[values["kind"] == KERNEL]
        first = {n: begins["begin"][begins["kernel"] == n] for n, _ in kernels}
        return sorted(((n, k) for n, k in kernels if len(first[n])), key=lambda pair: int(first[pair[0]].min()))

    def _transfer_rows(self) -> list[Row]:
        values, rows = self._spans.values, []
        for kind, name in TRANSFERS.items():
            mine = values[values["kind"] == kind]
            if len(mine):
                seconds = float((mine["end"] - mine["begin"]).sum()) / 1e9
                rows.append(Row("transfer", name, calls=len(mine), seconds=seconds, bytes=float(mine["kernel"].sum())))
        return rows

    def _check_done(self, what: str) -> None:
        if not self._end:
            raise ArgumentError(f"xt.profile: {what} can be read after the block: with xt.profile() as p: ...")

    def _head(self) -> str:
        dropped = f"; {self._dropped()}" if self._spans.dropped else ""
        devices = sorted({row.device for row in self.rows if row.share is not None})
        limits = ", ".join(
            f"{d}: {limits_of(d).bytes / 1e9:.3g} GB/s, {limits_of(d).flops / 1e9:.3g} Gflop/s" for d in devices
        )
        limits = f"; limits of {limits}" if limits else ""
        return f"{1e3 * self.seconds:.3f} ms in the block{limits}{dropped}"

    def _dropped(self) -> str:
        """What is told of events that found no room."""
        dropped, counted = self._spans.dropped, int(self._spans.sums["begin"].sum())
        text = f"{dropped:,} events found no room: only the table counts them"
        return text if dropped == counted else f"{text}, except for {dropped - counted:,}"

    def table(self) -> str:
        """Returns the rows as a text for a terminal."""
        self._check_done("table()")
        return text_of(self.rows, self.seconds, self._head())

    def __str__(self) -> str:
        return self.table() if self._end else repr(self)

    def __repr__(self) -> str:
        state = f"{1e3 * self.seconds:.3f} ms" if self._end else "records" if self._entered else "not entered"
        return f"<profile: {state}>"

    def _repr_html_(self) -> str:
        return html_of(self.rows, self.seconds, self._head()) if self._end else ""

    # -- the trace ----------------------------------------------------------------------------------------------------

    def trace(self) -> dict[str, Any]:
        """Returns the events in Chrome's format, times in microseconds since the block began."""
        self._check_done("trace()")
        pid = os.getpid()
        events: list[dict[str, Any]] = []
        threads: dict[int, str] = {self._thread: "Python"}
        for span in self._spans.values.tolist():
            number, begin, end, kind, thread = span
            event = {
                "ph": "X",
                "pid": pid,
                "tid": thread,
                "ts": (begin - self._begin) / 1e3,
                "dur": (end - begin) / 1e3,
            }
            if kind in TRANSFERS:
                event |= {"name": TRANSFERS[kind], "cat": "transfer", "args": {"bytes": number}}
            else:
                of = self._names[number]
                event |= _event_of(of, kind == SHARE, self._sizes_at(number, thread, begin))
            events.append(event)
            if kind != SHARE and thread != self._thread:
                threads[thread] = f"Python, thread {thread}"
            threads.setdefault(thread, f"worker {thread}")
        for thread, name in threads.items():
            events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": thread, "args": {"name": name}})
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": "xtensor"}})
        if self._spans.dropped:
            end = (self._end - self._begin) / 1e3
            events.append({"ph": "i", "s": "p", "name": self._dropped(), "pid": pid, "tid": self._thread, "ts": end})
        return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"dropped": self._spans.dropped}}


def _judge(rows: Sequence[Row], threads: int, total: float) -> None:
    """Fills in shares of limits, which are measured again if a kernel is over them."""
    again = True
    while again:
        for row in rows:
            row.judge(limits_of, threads, total)
        over = {row.device for row in rows if row.calls > 1 and row.share is not None and row.share > _OVER}
        again = sum(map(measured_again, over)) > 0


def _times(each: float | None, count: int) -> float | None:
    return None if each is None else each * count


def _plus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def _event_of(of: Named | None, is_share: bool, sizes: tuple[int, ...]) -> dict[str, Any]:
    """sizes: those of the run, of a program with open sizes."""
    if of is None:
        return {"name": "loops of another program", "cat": "share", "args": {}}
    kernel = of.kernel
    if is_share:
        return {"name": of.name, "cat": "share", "args": {"where": of.where}}
    lines = [f"{file}:{line}" for file, line in kernel.lines]
    told = {"program": of.program.name, "device": of.program.device, "lines": lines, "ops": list(kernel.ops)}
    flops, moved = of.work(sizes) if of.program.open_dims else (kernel.flops, kernel.bytes)
    if kernel.kind == "program":
        flops = None  # most of them are those of its kernels
    work = {key: n for key, n in (("bytes", moved), ("flops", flops)) if n is not None}
    return {"name": of.name, "cat": kernel.kind, "args": {**told, **work}}


check_made(profile, "profile")
check_methods(profile, "profile")
