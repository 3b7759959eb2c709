"""The tables of accuracy in passes/CPU/README.md and passes/GPU/README.md, from test/python/helpers/functions.py
and special_functions.py.

list_bounds.py           says which page is not as it should be
list_bounds.py --write   writes the tables
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "python" / "helpers"))
from functions import FUNCTIONS, OF_TWO  # noqa: E402
from special_functions import SPECIAL  # noqa: E402

ROWS = FUNCTIONS | OF_TWO | SPECIAL

HEADS = {
    "passes/CPU/README.md": "| function | f32 | by | f64 |\n|---|---|---|---|\n",
    "passes/GPU/README.md": "| function | f32 and f64 |\n|---|---|\n",
}


def named(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def on_cpu() -> list[str]:
    """Those with a polynomial first, then by bounds."""
    rows = sorted(((f.by, *f.cpu), name) for name, f in ROWS.items())
    lines = [(key, [name for _, name in group]) for key, group in groupby(rows, key=lambda row: row[0])]
    return [f"| {named(names)} | {f32:g} | {by} | {f64:g} |" for (by, f32, f64), names in lines]


def on_devices() -> list[str]:
    found: dict[float, list[str]] = defaultdict(list)
    for name, f in ROWS.items():
        if f.device:
            found[max(f.device)].append(name)
    return [f"| {named(names)} | {bound:g} |" for bound, names in sorted(found.items())]


def pages() -> dict[Path, str]:
    """Each page with the table as it should be."""
    found = {}
    for (name, head), rows in zip(HEADS.items(), (on_cpu(), on_devices()), strict=True):
        text = (ROOT / name).read_text()
        before, _, rest = text.partition(head)
        end = rest.index("\n\n")
        found[ROOT / name] = before + head + "\n".join(rows) + rest[end:]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the tables")
    write = parser.parse_args().write
    wrong = {path: text for path, text in pages().items() if path.read_text() != text}
    if write:
        for path, text in wrong.items():
            path.write_text(text)
    elif wrong:
        sys.exit(f"run scripts/list_bounds.py --write: {', '.join(str(p.relative_to(ROOT)) for p in wrong)}")


if __name__ == "__main__":
    main()
