"""What sweep.py found, as a file and as a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

CLIFF = 1.2
LEAST = 20e-6  # below this time, a call costs more than its op


class Result(NamedTuple):
    """Our time over that of the fastest peer, and our time in seconds."""

    ratio: float
    seconds: float

    @property
    def is_cliff(self) -> bool:
        return self.ratio > CLIFF and self.seconds > LEAST


def mean_of(results: Iterable[Result]) -> float:
    """The geometric mean of the ratios."""
    logarithms = [math.log(r.ratio) for r in results]
    return math.exp(sum(logarithms) / len(logarithms))


class Saved:
    """The results of each case: by family, and by number of threads."""

    def __init__(self) -> None:
        self.families: dict[str, dict[str, dict[str, Result]]] = {}

    @staticmethod
    def read(*paths: Path) -> Saved:
        """What these files have, as far as they are there."""
        saved = Saved()
        for path in paths:
            for family, by_threads in json.loads(path.read_text()).items() if path.exists() else ():
                for threads, cases in by_threads.items():
                    saved.add(family, threads, {key: Result(*values) for key, values in cases.items()})
        return saved

    def add(self, family: str, threads: int | str, results: dict[str, Result]) -> None:
        self.families.setdefault(family, {}).setdefault(str(threads), {}).update(results)

    def write(self, path: Path) -> None:
        rounded = {
            family: {
                threads: {key: [float(f"{v:.3g}") for v in result] for key, result in cases.items()}
                for threads, cases in by_threads.items()
            }
            for family, by_threads in self.families.items()
        }
        path.write_text(json.dumps(rounded, indent=1))

    def table(self) -> str:
        """A table in Markdown: a row per family, three columns per number of threads."""
        counts = sorted({threads for by_threads in self.families.values() for threads in by_threads}, key=int)
        titles = ["family", "cases"]
        for threads in counts:
            words = "1 thread" if threads == "1" else f"{threads} threads"
            titles += [f"mean, {words}", "cliffs", "greatest"]
        whole: dict[str, dict[str, Result]] = {}
        for family, by_threads in self.families.items():
            for threads, cases in by_threads.items():
                whole.setdefault(threads, {}).update({f"{family}: {key}": result for key, result in cases.items()})
        rows = [titles, ["---"] + ["--:"] * (len(titles) - 1)]
        for name, by_threads in {**self.families, "all": whole}.items():
            columns = [column for t in counts for column in _columns(list(by_threads.get(t, {}).values()))]
            rows.append([name, str(max(map(len, by_threads.values()))), *columns])
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def cliffs(self, least: float) -> str:
        """A table in Markdown: the cases whose ratio exceeds `least`, the greatest first, by number of threads."""
        found = [
            (result.ratio, key, family, threads)
            for family, by_threads in self.families.items()
            for threads, cases in by_threads.items()
            for key, result in cases.items()
            if result.is_cliff and result.ratio > least
        ]
        rows = ["| case | family | threads | time / fastest |", "| --- | --- | --: | --: |"]
        for ratio, key, family, threads in sorted(found, reverse=True):
            rows.append(f"| {key} | {family} | {threads} | {ratio:.1f} |")
        return "\n".join(rows)


def with_tables(page: str, tables: dict[str, str]) -> str:
    """The page with each table between the comments that carry its name."""
    for name, table in tables.items():
        begin, end = f"<!-- {name}: written by benchmarks/sweep.py -->\n", f"<!-- {name}: end -->\n"
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{table}\n\n{end}{rest.split(end)[1]}"
    return page


def _columns(results: list[Result]) -> list[str]:
    """The mean ratio, and of cases that take more than LEAST, how many are cliffs, and the greatest ratio."""
    if not results:
        return ["", "", ""]
    greatest = max((r.ratio for r in results if r.seconds > LEAST), default=math.nan)
    cliffs = sum(r.is_cliff for r in results)
    return [f"{mean_of(results):.2f}", str(cliffs), "" if math.isnan(greatest) else f"{greatest:.1f}"]
