"""Heat maps of sweep.py: one picture per family, a row per op and a column per array."""

from __future__ import annotations

import math
from pathlib import Path

from .results import Saved

Cells = dict[str, dict[str, float]]  # {row: {column: ours / fastest}}


def cells_of(found: dict[str, float]) -> Cells:
    """The cells of cases: the op is the row, sizes and dtype of its first array are the column."""
    cells: Cells = {}
    for key, ratio in found.items():
        name, _, array = key.rpartition(" ")
        cells.setdefault(name, {})[array] = ratio
    return cells


def draw_all(saved: Saved, folder: Path) -> None:
    """A picture of each family and number of threads."""
    folder.mkdir(parents=True, exist_ok=True)
    for family, by_threads in saved.families.items():
        for threads, results in by_threads.items():
            words = "1 thread" if threads == "1" else f"{threads} threads"
            title = f"time over that of the fastest of JAX, PyTorch and NumPy, {words}"
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
    figure = Figure(figsize=(2.8 + 0.34 * len(columns), 1.6 + 0.19 * len(rows)), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(values, cmap="RdBu_r", norm=TwoSlopeNorm(0, -3, 1), aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=6)
    axes.set_yticks(range(len(rows)), rows, fontsize=6)
    axes.set_title(f"{family}: {title}", fontsize=8)
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            if column in cells[row]:
                ratio = cells[row][column]
                light = ratio > 1.6 or ratio < 0.2
                shown = f"{ratio:.2f}".lstrip("0") if ratio < 10 else f"{ratio:.0f}"
                axes.text(x, y, shown, fontsize=5, ha="center", va="center", color="white" if light else "black")
    bar = figure.colorbar(image, ticks=[-3, -2, -1, 0, 1], shrink=0.6)
    bar.ax.set_yticklabels(["1/8", "1/4", "1/2", "1", "2"], fontsize=6)
    figure.savefig(path, dpi=110)
    with Image.open(path) as picture:  # of few colours: a fourth of the bytes
        picture.convert("RGB").quantize(64).save(path, optimize=True)
