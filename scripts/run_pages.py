"""Run the Python of Markdown pages: each page's ```python blocks, in order, are one program.

A statement with a comment `# SomeError: text` after it must raise that error, and its message must hold the text;
`...` in the text stands for anything. Comments go on over the lines below the statement.

A page that imports one of OPTIONAL is not run where that is not installed.

run_pages.py [PAGE ..]              runs pages, by default all
run_pages.py --write PAGE ..        runs pages, and writes what blocks print into the texts below them
run_pages.py --one PAGE [OUTPUT [FOLDER]]
                                    runs one in this process; OUTPUT receives what each block shows, as JSON, and FOLDER
                                    keeps the files that the page writes
"""

from __future__ import annotations

import argparse
import ast
import bisect
import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

OPTIONAL = ("jax", "pytensor", "torch")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
OWN_OUTPUT = re.compile(r"\s*(?:[^\n`]+:\n\s*)?^```(?:text|mlir)\n(.*?)^```", re.M | re.S)  # right below a block
EXPECTED = re.compile(r"#\s*(?:xt\.)?(\w*Error): (.*)")


def program_of(page: Path) -> str:
    """The page with everything that is not Python blanked out: lines keep their numbers."""
    text = page.read_text()
    kept = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        for i, line in enumerate(block[1].splitlines()):
            kept[first + i] = line
    return "\n".join(kept)


def expected_error(lines: list[str], statement: ast.stmt, until: int) -> tuple[str, str] | None:
    """The error that the comments between this statement and the next one promise."""
    last = statement.end_lineno or statement.lineno
    comments = [lines[last - 1][statement.end_col_offset :].strip()]
    for line in lines[last : until - 1]:
        if not line.startswith("#"):
            break
        comments.append(line)
    found = EXPECTED.match(comments[0]) or (EXPECTED.match(comments[1]) if len(comments) > 1 else None)
    if found is None:
        return None
    rest = comments[1 if EXPECTED.match(comments[0]) else 2 :]
    return found[1], " ".join([found[2], *(c.lstrip("# ") for c in rest)])


def holds(message: str, promised: str) -> bool:
    parts = [re.escape(" ".join(p.split())) for p in promised.split("...")]
    return re.search(".*?".join(parts), " ".join(message.split())) is not None


def lacking(page: Path) -> str | None:
    """An optional package that a page imports, and that is not installed."""
    program = program_of(page)
    imported = [name for name in OPTIONAL if re.search(rf"^import {name}\b", program, re.M)]
    return next((name for name in imported if importlib.util.find_spec(name) is None), None)


def shown_by(statement: ast.stmt, is_last: bool, page: Path, names: dict[str, Any]) -> str:
    """Run one statement: what it prints, and the value of an expression that ends its block, as in a notebook."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if is_last and isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
            if value is not None:
                print(repr(value))
        else:
            exec(compile(ast.Module([statement], []), str(page), "exec"), names)
    return printed.getvalue()


def run(page: Path) -> tuple[list[str], list[str]]:
    """What is wrong with the program of a page, and what each of its blocks shows."""
    text = page.read_text()
    source = program_of(page)
    lines = source.splitlines()
    ends = [text.count("\n", 0, block.end(1)) for block in BLOCK.finditer(text)]  # the last line of each block
    names: dict[str, Any] = {"__name__": "__main__"}
    wrong, shown = list[str](), [""] * len(ends)
    body = ast.parse(source, str(page)).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        place = f"{page}:{statement.lineno}"
        promised = expected_error(lines, statement, following.lineno if following else len(lines) + 1)
        block = bisect.bisect_left(ends, statement.lineno)
        is_last = following is None or following.lineno > ends[block]
        try:
            shown[block] += shown_by(statement, is_last, page, names)
        except Exception as error:
            if promised is None:
                wrong.append(f"{place}: {type(error).__name__}: {error}")
            elif type(error).__name__ != promised[0] or not holds(str(error), promised[1]):
                wrong.append(f"{place}: promised {': '.join(promised)}\n    but got {type(error).__name__}: {error}")
        else:
            if promised is not None:
                wrong.append(f"{place}: promised {promised[0]}, and nothing was raised")
    return wrong, shown


def write(page: Path) -> None:
    """Run a page, and replace the output below each of its blocks that has one."""
    wrong, shown = run(page)
    if wrong:
        sys.exit("\n".join(wrong))
    text = page.read_text()
    for block, output in reversed(list(zip(BLOCK.finditer(text), shown, strict=True))):
        own = OWN_OUTPUT.match(text, block.end())
        if own and output:
            text = f"{text[: own.start(1)]}{output.rstrip()}\n{text[own.end(1) :]}"
    page.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--one", action="store_true", help="run one page in this process")
    how.add_argument("--write", action="store_true", help="replace the output below blocks by what they show now")
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="by default all that git tracks")
    options = parser.parse_args()
    if options.one and not 1 <= len(options.pages) <= 3:
        parser.error("--one needs a page, and takes a file for what its blocks show, and a folder to run in")
    if options.one:
        page, *rest = (Path(a).resolve() for a in options.pages)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(rest[1] if len(rest) > 1 else folder)  # what a page writes
            wrong, shown = run(page)
        if rest:
            rest[0].write_text(json.dumps(shown))
        sys.exit("\n".join(wrong) if wrong else 0)
    if options.write:
        for name in options.pages:
            write(Path(name).resolve())
        return
    found = options.pages or subprocess.check_output(["git", "ls-files", "*.md"], text=True).split()
    pages = [p for p in found if BLOCK.search(Path(p).read_text())]
    for page in list(pages):
        if name := lacking(Path(page)):
            print(f"{page} is not run: {name} is not installed")
            pages.remove(page)
    alone = [sys.executable, __file__, "--one"]
    failed = [p for p in pages if subprocess.run([*alone, p], stdout=subprocess.DEVNULL).returncode]
    if failed:
        sys.exit(f"pages whose Python does not do what they say: {', '.join(failed)}")
    print(f"the Python of {', '.join(pages)} runs")


if __name__ == "__main__":
    main()
