"""Heat maps of sweep.py: one picture per family, a row per op and its sizes, and a column per dtype."""

from __future__ import annotations

import math
from pathlib import Path

from .results import Saved

Cells = dict[str, dict[str, float]]  # {row: {column: ours / fastest}}


def cells_of(found: dict[str, float]) -> Cells:
    """The cells of cases: the op and the sizes of its first array are the row, the dtype of this array is the column.

    >>> cells_of({"sum last [64,9]f4": 0.5, "sum last [64,9]u1": 0.25})
    {'sum last [64,9]': {'f4': 0.5, 'u1': 0.25}}
    """
    cells: Cells = {}
    for key, ratio in found.items():
        row, _, dtype = key.rpartition("]")
        cells.setdefault(row + "]", {})[dtype] = ratio
    return cells


def draw_all(saved: Saved, folder: Path) -> None:
    """A picture of each family and number of threads."""
    folder.mkdir(parents=True, exist_ok=True)
    for family, by_threads in saved.families.items():
        for threads, results in by_threads.items():
            words = "1 thread" if threads == "1" else f"{threads} threads"
            title = f"{words}: time / fastest peer"
            ratios = {key: result.ratio for key, result in results.items()}
            draw(family, ratios, folder / f"{family}_{threads}.png", title)


def draw(family: str, found: dict[str, float], path: Path, title: str) -> None:
    """Writes a picture in which blue is faster than the fastest peer, and red slower."""
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.figure import Figure
    from PIL import Image

    cells = cells_of(found)
    rows, columns = list(cells), list(dict.fromkeys(c for row in cells.values() for c in row))
    values = [[math.log2(cells[r][c]) if c in cells[r] else math.nan for c in columns] for r in rows]
    width = 0.4 + 0.065 * max(map(len, rows)) + 0.45 * max(len(columns), 3)
    figure = Figure(figsize=(width, 0.8 + 0.155 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.imshow(values, cmap="RdBu_r", norm=TwoSlopeNorm(0, -3, 1), aspect="auto")
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), columns, fontsize=7)
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.tick_params(length=0)
    figure.suptitle(f"{family}, {title}", fontsize=8)
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            if column in cells[row]:
                ratio = cells[row][column]
                light = ratio > 1.6 or ratio < 0.2
                shown = f"{ratio:.2f}".lstrip("0") if ratio < 10 else f"{ratio:.0f}"
                axes.text(x, y, shown, fontsize=6, ha="center", va="center", color="white" if light else "black")
    figure.savefig(path, dpi=110)
    with Image.open(path) as picture:  # of few colours: a fourth of the bytes
        picture.convert("RGB").quantize(64).save(path, optimize=True)
