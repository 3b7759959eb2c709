#!/usr/bin/env python3
"""Fails if a function has more than 100 lines, or a source file more than 650.

Python functions are found by `ast`. A C or C++ function is found in code that clang-format has formatted: it starts at
a line with the head of a function, and ends at the next line with a brace in the same column.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUNCTION_LINES, FILE_LINES = 100, 650
SUFFIXES = (".py", ".c", ".cpp", ".h", ".td")
END = re.compile(r"[;{}]$|^\s*(//|#|\w+:$)|//.*[.;]$|\*/$")
# Blocks with a head that is not a function's.
OTHER = re.compile(r"\s*(namespace|class|struct|union|enum|extern|if|else|for|while|do|switch|case|default|return)\b")


def python_functions(text: str) -> Iterator[tuple[int, int, str]]:
    """(first line, number of lines, name)"""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield first, (node.end_lineno or first) - first + 1, node.name


def c_functions(text: str) -> Iterator[tuple[int, int, str]]:
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        first = i
        if not lines[i].endswith("{"):
            i += 1
            continue
        # The head may be wrapped: it begins after the line that ends what is before it.
        while first and lines[first - 1].strip() and not END.search(lines[first - 1]):
            first -= 1
        head = " ".join(line.strip() for line in lines[first : i + 1])
        indent = re.match(r"\s*", lines[first])
        assert indent
        # Unequal: the end of a condition, or a lambda among arguments, which its function contains.
        if 0 < head.count("(") == head.count(")") and not OTHER.match(head):
            end = next((j for j in range(i + 1, len(lines)) if lines[j].startswith(indent[0] + "}")), i)
            name = re.search(r"([\w:~]+(?: ?[=<>+*/!-]+)?)\(", head)
            yield first + 1, end - first + 1, name[1] if name else head
        i += 1


def problems(name: str, text: str) -> list[str]:
    """What of this file is too long."""
    found = []
    if (count := text.count("\n")) > FILE_LINES:
        found.append(f"{name}: {count} lines; a file has at most {FILE_LINES}")
    if name.endswith(".td"):
        return found
    functions = python_functions if name.endswith(".py") else c_functions
    return found + [
        f"{name}:{first}: {what} has {count} lines; a function has at most {FUNCTION_LINES}"
        for first, count, what in functions(text)
        if count > FUNCTION_LINES
    ]


def all_problems() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.splitlines() if name.endswith(SUFFIXES) and (ROOT / name).exists()]
    return [problem for name in names for problem in problems(name, (ROOT / name).read_text())]


if __name__ == "__main__":
    found = all_problems()
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
