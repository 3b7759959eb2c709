"""What `f.memory` gives: the arena of a program, drawn as text and as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..base.calls import counted
from ..base.errors import UnsupportedError
from ..compiler.memory import Plan, Step, Temporary, plan_of
from ..compiler.origins import where

if TYPE_CHECKING:
    from ..trace.program import Program
    from ..values.targets import Target

_WIDTH = 32  # characters of a drawing
_MOST = 12  # temporaries that the text lists
_SIDE, _HEIGHT = 640, 240  # of the SVG
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#bab0ac")


def in_units(n: float) -> str:
    """A number of bytes, as people write it."""
    return _scaled(n, {"B": ".0f", "kB": ".1f", "MB": ".1f", "GB": ".2f"})


def in_flops(n: float) -> str:
    """A number of arithmetic operations, as people write it."""
    return _scaled(n, {"flop": ".0f", "kflop": ".3g", "Mflop": ".3g", "Gflop": ".3g"})


def _scaled(n: float, formats: Mapping[str, str]) -> str:
    """In the unit that leaves less than 1000, or else in the last one; each is 1000 of the one before."""
    *smaller, largest = formats
    for unit in smaller:
        if n < 1000:
            return f"{n:{formats[unit]}} {unit}"
        n /= 1000
    return f"{n:{formats[largest]}} {largest}"


def called(ops: Sequence[str], most: int = 3) -> str:
    """A list of functions, the first ones of a long one."""
    text = ", ".join(ops[:most])
    return text + (f" and {len(ops) - most} more" if len(ops) > most else "")


class Memory:
    """The memory that one call of a program needs. Made by `f.memory(x)`; print it, or show it in a notebook.

    arguments, results: their bytes. arena: the bytes for temporaries, and inner: of those that parallel loops take
    besides. reused: bytes of results that lie in the memory of donated arguments. peak: all of these together.
    temporaries: each with bytes, offset, begin, end (steps), dtype, shape, ops and lines. steps: what the program does,
    in order, each with ops and lines.

    Example:
    >>> f = xt.jit(lambda x: xt.sort(xt.exp(x), "i"))
    >>> memory = f.memory(xt.spec(i=1000))
    >>> memory.arguments, memory.results
    (8000, 8000)
    >>> memory.peak == 16000 + memory.arena + memory.inner
    True
    """

    def __init__(self, plan: Plan) -> None:
        self.name = plan.name
        self.arguments, self.results, self.reused = plan.arguments, plan.results, plan.reused
        self.arena, self.inner = plan.arena, plan.inner
        self.temporaries: tuple[Temporary, ...] = plan.temporaries
        self.steps: tuple[Step, ...] = plan.steps

    @property
    def peak(self) -> int:
        return self.arguments + self.results - self.reused + self.arena + self.inner

    def _summary(self) -> str:
        parts = [f"arguments {in_units(self.arguments)}", f"results {in_units(self.results)}"]
        parts.append(f"arena {in_units(self.arena)}")
        if self.inner:
            parts.append(f"loops {in_units(self.inner)}")
        less = f" - reused {in_units(self.reused)}" if self.reused else ""
        ratio = self.peak / max(self.arguments + self.results, 1)
        return f"{in_units(self.peak)} = {' + '.join(parts)}{less}; {ratio:.1f} times arguments and results"

    def _text(self, t: Temporary) -> str:
        made = f"{called(t.ops)} {where(t.lines)}".strip()
        return f"{in_units(t.bytes)} {t.dtype}[{', '.join(map(str, t.shape))}] {made}, steps {t.begin} to {t.end}"

    def _bar(self, t: Temporary) -> str:
        scale = _WIDTH / max(len(self.steps), 1)
        first, last = int(t.begin * scale), max(int((t.end + 1) * scale), int(t.begin * scale) + 1)
        return "." * first + "#" * (last - first) + "." * (_WIDTH - last)

    def __str__(self) -> str:
        lines = [f"memory of {self.name}: {self._summary()}"]
        largest = sorted(self.temporaries, key=lambda t: -t.bytes)
        if largest:
            together = in_units(sum(t.bytes for t in largest))
            found = counted(len(largest), "temporary has", f"temporaries of {together} share")
            lines.append(f"{found} {in_units(self.arena)}:")
            lines.append(f"{'size':>10}  {'at':>10}  {'from the first step to the last':<{_WIDTH}}  made by")
        for t in largest[:_MOST]:
            line = (
                f"{in_units(t.bytes):>10}  {in_units(t.offset):>10}  {self._bar(t)}  {called(t.ops)} {where(t.lines)}"
            )
            lines.append(line.rstrip())
        if len(largest) > _MOST:
            lines.append(f"and {len(largest) - _MOST} smaller ones")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Memory of {self.name}: {self._summary()}>"

    def _repr_html_(self) -> str:
        import html

        steps, size = max(len(self.steps), 1), max(self.arena, 1)
        boxes = []
        for i, t in enumerate(self.temporaries):
            boxes.append(
                f"<rect x='{_SIDE * t.begin / steps:.1f}' y='{_HEIGHT * (1 - (t.offset + t.bytes) / size):.1f}' "
                f"width='{_SIDE * (t.end + 1 - t.begin) / steps:.1f}' height='{_HEIGHT * t.bytes / size:.1f}' "
                f"fill='{_COLOURS[i % len(_COLOURS)]}' stroke='currentColor' stroke-width='0.5'>"
                f"<title>{html.escape(self._text(t))}</title></rect>"
            )
        drawing = (
            f"<svg role='img' aria-label='the arena over the steps of the program' viewBox='0 0 {_SIDE} {_HEIGHT}' "
            f"width='{_SIDE}' height='{_HEIGHT}' style='max-width:100%;border:1px solid currentColor'>"
            f"{''.join(boxes)}</svg>"
        )
        text = f"<pre>{html.escape(str(self))}</pre>"
        head = f"<div><b>memory</b> of {html.escape(self.name)}: {html.escape(self._summary())}</div>"
        return f"<div>{head}{drawing if boxes else ''}<details><summary>temporaries</summary>{text}</details></div>"


def memory_of(program: Program, target: Target, shapes: Sequence[Sequence[int | None]] = ()) -> dict[str, Any] | None:
    """What the page of the explorer shows of the arena; None if there are no temporaries, or if the shapes of the
    arguments leave a size open.

    "summary", a text; "arena", bytes; "steps", their number. "temporaries", those that begin first in front, each with
    bytes, offset, begin, end, at (file, line) and a text.
    """
    try:
        memory = Memory(plan_of(program, target, shapes))
    except UnsupportedError:
        return None
    if not memory.temporaries:
        return None
    place = ("bytes", "offset", "begin", "end")
    temporaries = [
        {**{key: getattr(t, key) for key in place}, "at": t.lines, "text": memory._text(t)}
        for t in sorted(memory.temporaries, key=lambda t: (t.begin, t.offset))
    ]
    steps = max(len(memory.steps), 1)
    return {"summary": memory._summary(), "arena": memory.arena, "steps": steps, "temporaries": temporaries}
