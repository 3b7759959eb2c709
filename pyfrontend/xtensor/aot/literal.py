"""Converts numbers, texts and None to text for a manifest, and back. The text cannot represent anything else."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..base.calls import int_text

LONGEST = 1000
# As repr writes them. Nothing nests: what parses it cannot run out of stack.
_LITERAL = re.compile(
    r"""None|True|False|-?\d+|-?\d+\.\d+|-?\d(?:\.\d+)?e[+-]\d+|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""", re.ASCII
)
_NO_NUMBERS = ("inf", "-inf", "nan")


KINDS = (bool, int, float, str, type(None))


def is_literal(value: Any) -> bool:
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        return False  # half characters are in no file
    return type(value) in KINDS and len(text := written(value)) <= LONGEST and not text.startswith("<")


def written(value: Any) -> str:
    """As repr has it, which writes no int of some thousand digits."""
    return f"<int {int_text(value)}>" if isinstance(value, int) and abs(value) >= 10**LONGEST else repr(value)


def value_of(text: str) -> Any:
    """What `repr` wrote; ValueError for everything else."""
    if text in _NO_NUMBERS:
        return float(text)
    if len(text) > LONGEST or not _LITERAL.fullmatch(text):
        raise ValueError(f"{text!a:.60} is neither a number nor a text")
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise ValueError(f"{text!a:.60} is neither a number nor a text") from None
    if isinstance(found, str) and any("\ud800" <= c <= "\udfff" for c in found):
        raise ValueError(f"{text!a:.60} is not a text in UTF-8")
    return found
