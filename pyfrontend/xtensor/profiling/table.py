"""The table of a profile: a row for each kernel and each other use of time, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..explorer.memory import in_flops, in_units
from .limits import Limits

_SHORT, _LONG = 5e-6, 1e-4  # seconds of a run
_MOST = 20  # rows of the text
WORK = ("kernel", "routine", "launch")  # kinds of rows whose bytes and flops a machine limits


@dataclass
class Row:
    """Everything that ran under one name.

    kind: "kernel", "routine", "launch", "program", "transfer" or "other". program, device: where it ran. seconds: in
    all runs together. bytes and flops of all runs together, None where they are not known; those of a program are the
    bytes of its arguments and results, and all flops, those between its kernels, too. threads: how many worked at
    once on average. share: of what the machine can do at most, None where that is not known. help: what would help.
    is_first: whether its only run is the first one, on a device whose driver compiled the kernel meanwhile.
    """

    kind: str
    name: str
    where: str = ""
    program: str = ""
    device: str = "cpu"
    calls: int = 0
    seconds: float = 0.0
    bytes: float | None = 0.0
    flops: float | None = 0.0
    threads: float = 1.0
    share: float | None = None
    help: str = ""
    is_first: bool = field(default=False, repr=False)
    shared: float = field(default=0.0, repr=False)  # seconds of all threads together
    prepared: float = field(default=0.0, repr=False)  # seconds that the driver compiled, besides those of the row

    def judge(self, limits_of: Callable[[str], Limits], threads: int, total: float) -> None:
        """Fills in share and help. limits_of: of a device."""
        each = self.seconds / max(self.calls, 1)
        self.threads = max(self.shared / self.seconds, 1.0) if self.shared and self.seconds else 1.0
        known = self.kind in WORK and self.bytes is not None and self.flops is not None
        memory = arithmetic = 0.0
        if known and self.seconds:
            limits = limits_of(self.device)
            moved = self.bytes or 0.0
            memory = moved / limits.bytes_of(moved / max(self.calls, 1)) / self.seconds
            arithmetic = (self.flops or 0.0) / limits.flops / self.seconds
            self.share = max(memory, arithmetic)
        if self.seconds < 0.02 * total:
            return
        if self.is_first:
            self.help = "a first run: the driver compiles kernels in it. Call the program in a block before"
        elif self.kind == "transfer":
            self.help = "keep arrays on the device, and read fewer of them"
        elif self.kind == "launch" and each < 4 * _SHORT:
            self.help = "short launches: larger arrays, or more of the program in one loop"
        elif self.kind in ("kernel", "launch") and each < _SHORT:
            self.help = "short runs: longer dims, or xt.vectorize in place of a loop"
        elif memory >= 0.5 and memory >= arithmetic:
            self.help = "limited by memory: fewer passes over arrays, or float32 for float64"
        elif arithmetic >= 0.5:
            self.help = "limited by arithmetic: another algorithm, or float32 for float64"
        elif self.kind == "kernel" and self.device == "cpu" and self.threads < 0.6 * threads and each > _LONG:
            self.help = f"{self.threads:.1f} of {threads} threads work: more independent elements, or xt.vectorize"


def _number(n: float | None, scale: float) -> str:
    if n is None:
        return "?"
    return f"{n / scale:.3g}" if n else "-"


_HEAD = (
    "time ms", "%", "calls", "each us", "bytes", "flops", "GB/s", "Gflop/s", "limit %",
    "threads", "what", "where",
)  # fmt: skip
_LEFT = len(_HEAD) - 2  # the columns from here on are texts


def _cells(row: Row, total: float) -> tuple[str, ...]:
    calls, seconds = max(row.calls, 1), max(row.seconds, 1e-12)
    work = row.kind in (*WORK, "transfer")

    def each(all_runs: float | None, spelled: Callable[[float], str]) -> str:
        if not work and row.kind != "program":
            return ""
        return "?" if all_runs is None else spelled(all_runs / calls) if all_runs else "-"

    return (
        f"{1e3 * row.seconds:.3f}",
        f"{100 * row.seconds / total:.1f}",
        str(row.calls) if row.calls else "",
        f"{1e6 * seconds / calls:.1f}" if row.calls else "",
        each(row.bytes, in_units),
        each(row.flops, in_flops),
        _number(row.bytes, 1e9 * seconds) if work else "",
        _number(row.flops, 1e9 * seconds) if work else "",
        "" if row.share is None else f"{100 * row.share:.0f}",
        f"{row.threads:.1f}" if row.kind in ("kernel", "routine") and row.device == "cpu" else "",
        f"{row.name}" + (f" [{row.device}]" if row.device != "cpu" else ""),
        row.where,
    )


def text_of(rows: Sequence[Row], total: float, head: str) -> str:
    """The table for a terminal."""
    lines = [_HEAD, *(_cells(row, total) for row in rows[:_MOST])]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEAD))]
    texts = []
    for i, line in enumerate(lines):
        cells = [c.ljust(w) if k >= _LEFT else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths, strict=True))]
        texts.append("  ".join(cells).rstrip())
        if i and rows[i - 1].help:
            texts.append(" " * (widths[0] + 2) + f"-> {rows[i - 1].help}")
    more = [f"and {len(rows) - _MOST} rows of less time"] if len(rows) > _MOST else []
    return "\n".join([head, *texts, *more])


def html_of(rows: Sequence[Row], total: float, head: str) -> str:
    """The table for a notebook; every text is escaped."""
    import html

    def cells(tag: str, texts: Sequence[str]) -> str:
        sides = ["left" if k >= _LEFT else "right" for k in range(len(texts))]
        each = zip(texts, sides, strict=True)
        return "".join(f"<{tag} style='text-align:{side}'>{html.escape(t)}</{tag}>" for t, side in each)

    body = "".join(f"<tr>{cells('td', (*_cells(row, total), row.help))}</tr>" for row in rows)
    table = f"<table><thead><tr>{cells('th', (*_HEAD, 'what would help'))}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><div><b>profile</b> {html.escape(head)}</div>{table}</div>"
