"""Fail when a page has a sentence of more than 25 words, or prose wider than 100 columns. Pages are those in Markdown,
and the descriptions in TableGen files.

    check_prose.py [FILE ..]      by default all that git tracks

A paragraph, a list item and a table cell each end a sentence, and so does a colon or a semicolon. A code span counts as
one word, and so does a list of code spans. Code blocks are not read.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

WORDS, COLUMNS = 25, 100
GENERATED = {"docs/functions.md"}  # scripts/list_functions.py writes it, from docstrings

ITEM = re.compile(r"\s*(?:[*+-]|\d+\.)\s+")
SPANS = re.compile(r"`[^`]+`(?:(?:,| and| or|, and|, or) `[^`]+`)*")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"(?<=[.!?:;])[\"')*]*\s+")
DESCRIPTION = re.compile(r"let description = \[\{\n(.*?)\}\]", re.S)
WORD = re.compile(r"\w[\w'.,/-]*")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Each line that is not code, with its number."""
    is_code, before = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        is_fence = line.lstrip().startswith("```")
        is_code ^= is_fence
        is_block = line.startswith("    ") and (not before.strip() or before.startswith("    "))
        if not (is_code or is_fence) and (not is_block or ITEM.match(line)):
            yield number, line
        else:
            yield number, ""
        before = line


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Each paragraph, list item and table cell, with the number of its first line."""
    first, block = 0, list[str]()
    for number, line in [*prose(text), (0, "")]:
        is_row = line.lstrip().startswith("|")
        if block and (not line.strip() or is_row or ITEM.match(line) or line.startswith("#")):
            yield first, " ".join(block)
            block = []
        if is_row:
            yield from ((number, cell) for cell in line.strip().strip("|").split(" | "))
        elif line.strip() and not line.startswith("#"):
            first = first if block else number
            block.append(ITEM.sub("", line.strip(), count=1) if ITEM.match(line) else line.strip())


def problems(page: str, text: str) -> list[str]:
    found = []
    for number, block in blocks(text):
        for sentence in END.split(LINK.sub(r"\1", SPANS.sub("code", block))):
            if (count := len(WORD.findall(sentence))) > WORDS:
                found.append(f"{page}:{number}: {count} words, {WORDS} at most: {sentence[:60]}..")
    for number, line in prose(text):
        is_free = line.lstrip().startswith("|") or "](" in line  # rows of tables, and links, which do not break
        if len(line) > COLUMNS and not is_free:
            found.append(f"{page}:{number}: {len(line)} columns, {COLUMNS} at most")
    return found


def markdown(page: str) -> str:
    """The text of a page. Of a TableGen file, the descriptions, at the lines where they are."""
    text = Path(page).read_text()
    if not page.endswith(".td"):
        return text
    lines = [""] * (text.count("\n") + 1)
    for found in DESCRIPTION.finditer(text):
        first = text.count("\n", 0, found.start(1))
        description = textwrap.dedent(found[1]).splitlines()
        lines[first : first + len(description)] = description
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="*", help="by default all pages that git tracks")
    files = parser.parse_args().files
    command = ["git", "ls-files", "*.md", "*.td"]
    tracked = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    pages = files or [page for page in tracked if page not in GENERATED]
    found = [problem for page in pages for problem in problems(page, markdown(page))]
    if found:
        sys.exit("prose that is hard to read:\n  " + "\n  ".join(found))
    print(f"sentences of {len(pages)} pages have {WORDS} words at most")


if __name__ == "__main__":
    main()
