"""The user's Python in the page: lines of the files that locations name, and what to colour in them."""

from __future__ import annotations

import keyword
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from ..ir.location import absolute, text_of

# The letter is the class of a span in page.css.
_KINDS = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}


def _kind(token: tokenize.TokenInfo) -> str | None:
    if token.type == tokenize.NAME:
        return "k" if keyword.iskeyword(token.string) else None
    if tokenize.tok_name[token.type].startswith(("FSTRING", "TSTRING")):
        return "s"
    return _KINDS.get(token.type)


def _tokens(lines: Sequence[str]) -> Iterator[tokenize.TokenInfo]:
    """Those before the first thing that is not Python: a cell of a notebook may have commands."""
    try:
        yield from tokenize.generate_tokens(iter([*(f"{line}\n" for line in lines), ""]).__next__)
    except (tokenize.TokenError, SyntaxError, StopIteration):
        return


def spans(lines: Sequence[str]) -> list[list[Any]]:
    """For each line [start, end, kind, start, end, kind ..]: k keyword, s string, c comment, n number."""
    found: list[list[Any]] = [[] for _ in lines]
    for token in _tokens(lines):
        kind = _kind(token)
        if kind is None:
            continue
        (first, start), (last, end) = token.start, token.end
        for i in range(first, min(last, len(lines)) + 1):
            begin, stop = start if i == first else 0, end if i == last else len(lines[i - 1])
            if stop > begin:
                found[i - 1] += [begin, stop, kind]
    return found


def _names(paths: Sequence[str]) -> list[str]:
    """The files' names, with as many of their folders as tell them apart."""
    parts = [Path(path).parts for path in paths]
    for count in range(1, max(map(len, parts), default=1)):
        names = ["/".join(p[-count:]) for p in parts]
        if len(set(names)) == len(names):
            return names
    return list(paths)


_UNKNOWN = "its text is not known, only the numbers of its lines"


def files_of(places: Iterable[tuple[str, int]], code: CodeType | None = None) -> dict[str, dict[str, Any]]:
    """By path, in order: {"name", "lines", "spans", "note"} of the files (or cells of notebooks) of places, (file,
    line). The note says that the file has changed, where that matters, or that it cannot be read: then its lines are
    empty. `code`: of a function in one of them."""
    own = absolute(code.co_filename) if code else None
    last: dict[str, int] = {}
    for path, line in places:
        last[path] = max(line, last.get(path, 0))
    texts = {path: text_of(path, code if path == own else None) for path in last}
    texts = {path: (lines, note) if lines else ([""] * last[path], _UNKNOWN) for path, (lines, note) in texts.items()}
    there = [path for path, (lines, _) in texts.items() if lines]
    files = {}
    for path, name in zip(there, _names(there), strict=True):
        lines, note = texts[path]
        files[path] = {"name": name, "lines": lines, "spans": spans(lines), **({"note": note} if note else {})}
    return files
