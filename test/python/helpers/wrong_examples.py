"""The examples of public functions and methods, with one argument replaced by a wrong one: what errors say.

wrong_examples.py SCRIPTS [--members] [--all]: a process of its own, because an example may write files or set options.
Prints a JSON object: how many calls were refused, and what is wrong with messages.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import doctest
import functools
import io
import json
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import xtensor as xt
from places import frames_of_the_package

FILE = "a user's program"
# What a message says only if nobody wrote it for the argument.
INTERNAL = re.compile(
    r"NoneType|builtin_|not iterable|has no attribute|unsupported operand|Tracer|~\d|object is not|<\w+\.\w+ object"
)
OTHERS = re.compile(r"torch|jax|dask|pytensor|mpi|breakpoint")  # they need other packages, several processes or a user
# Their errors name the user's function, which they call, and the argument.
NAMED_BY_THE_USER = {"load", "Loaded", "Jitted"}
# What the statement of an example calls, too.
ALSO = {
    "nextafter": ("subtract",), "Array.assign_coords": ("sel",), "optim.clip_by_norm": ("isel",),
    "stop_gradient": ("grad",), "Array.weighted": ("item",),
}  # fmt: skip

WRONG: dict[str, Any] = {"an object": object(), "a word": "nowhere", "None": None, "a NumPy array": np.ones(3)}
MORE: dict[str, Any] = {
    "a negative number": -3, "a float": 1.5, "a tuple": (3, 4), "a list": [1, 2], "a dict": {"a": 1}, "a set": {"a"},
    "another dim": xt.array([1.0, 2.0], "other"), "a bool": True, "a class": float, "a function": len, "bytes": b"x",
    "NaN": float("nan"),
}  # fmt: skip


def in_place_of(value: Any, wrong: dict[str, Any]) -> dict[str, Any]:
    found = dict(wrong)
    if callable(value):  # these are functions, which run
        found = {what: v for what, v in found.items() if not callable(v)}
    if isinstance(value, xt.Array) and value.dims and value.dtype.kind == "f":
        found["a longer array"] = value.pad({value.dims[0]: (0, 1)})
        found["complex numbers"] = value.astype("c16")
    return found


def changed(call: ast.Call, where: Any, wrong: ast.expr) -> None:
    """Puts `wrong` where the argument was, or adds it."""
    kind, i = where
    if kind == "argument":
        call.args[i] = wrong
    elif kind == "keyword":
        call.keywords[i].value = wrong
    elif kind == "too many":
        call.args.append(wrong)
    else:
        call.keywords.append(ast.keyword("nothing", wrong))


def run(tree: ast.AST, names: dict[str, Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, FILE, "exec"), names)  # type: ignore[arg-type]


def calls(
    steps: list[str], is_it: Callable[[ast.Call], bool], wrong: dict[str, Any]
) -> Iterator[tuple[str, ast.AST, Callable[[], dict[str, Any]]]]:
    """Statements with one wrong argument, described, and what makes the names that they use."""
    for s, step in enumerate(steps):
        tree = ast.parse(step)
        found = [c for c in ast.walk(tree) if isinstance(c, ast.Call) and is_it(c)]
        for c, call in enumerate(found):

            def names(s: int = s) -> dict[str, Any]:
                made: dict[str, Any] = {"xt": xt, "np": np, "xr": xr}
                for before in steps[:s]:
                    run(ast.parse(before), made)
                return made

            places: list[Any] = [("argument", i) for i, a in enumerate(call.args) if not isinstance(a, ast.Starred)]
            places += [("keyword", i) for i in range(len(call.keywords))] + [("too many", 0), ("unknown", 0)]
            for place in places:
                given = None
                if place[0] in ("argument", "keyword"):
                    old = call.args[place[1]] if place[0] == "argument" else call.keywords[place[1]].value
                    with contextlib.suppress(Exception):  # it may use a name of its own statement
                        given = eval(compile(ast.Expression(copy.deepcopy(old)), FILE, "eval"), names())
                many = in_place_of(given, wrong) if place[0] in ("argument", "keyword") else {"an object": object()}
                for what, value in many.items():
                    new = copy.deepcopy(tree)
                    here = [x for x in ast.walk(new) if isinstance(x, ast.Call) and is_it(x)][c]
                    changed(here, place, ast.Name("WRONG", ast.Load()))
                    ast.fix_missing_locations(new)
                    yield (
                        f"{ast.unparse(new):.150} (WRONG is {what})",
                        new,
                        functools.partial(lambda names, value: {**names(), "WRONG": value}, names, value),
                    )


def problem(name: str, error: BaseException, stems: tuple[str, ...]) -> str | None:
    """What is wrong with the error that a call raised; None if nothing is."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    if not isinstance(error, xt.Error):
        return None if frames[-1].filename == FILE else f"{type(error).__name__}: {error}"
    text, _, line = str(error).partition("\n  at ")
    if not line.startswith(FILE):
        return f"no line of the user's: {error}"
    if INTERNAL.search(text):
        return f"words of the package's own: {text}"
    asked = error.asked
    if (asked is not None and asked.co_name != "<module>") or name.partition(".")[0] in NAMED_BY_THE_USER:
        return None  # it was raised for a line of the function that the user gave
    head = text.partition(" (operands")[0][:200]
    if not any(re.search(rf"(?<![\w]){re.escape(stem)}(?!\w)", head) for stem in stems):
        return f"the message does not name {name}: {text}"
    inside = len(frames_of_the_package(error))
    return f"{inside} frames of the package: {text}" if inside > 1 else None


def tried(
    name: str, steps: list[str], is_it: Callable[[ast.Call], bool], wrong: dict[str, Any]
) -> tuple[int, list[str]]:
    refused, found = 0, []
    for what, tree, names in calls(steps, is_it, wrong):
        given = names()
        try:
            run(tree, given)
        except Exception as error:
            refused += 1
            if said := problem(name, error, (name.rpartition(".")[2], *ALSO.get(name, ()))):
                found.append(f"{what}: {said}")
    return refused, found


def steps_of(text: str) -> list[str]:
    return [example.source for example in doctest.DocTestParser().get_examples(text)]


def of_functions(wrong: dict[str, Any]) -> Iterator[tuple[int, list[str]]]:
    import list_functions
    import reference

    for name in (name for names in list_functions.families().values() for name in names):
        example = reference.parsed(functools.reduce(getattr, name.split("."), xt), name).example
        if not OTHERS.search(example) and not OTHERS.search(name):

            def is_it(call: ast.Call, name: str = name) -> bool:
                return ast.unparse(call.func) == f"xt.{name}"

            yield tried(name, steps_of(example), is_it, wrong)


def of_members(wrong: dict[str, Any], site: Path) -> Iterator[tuple[int, list[str]]]:
    for block in re.split(r"\n(?=@)", (site / "members.txt").read_text())[1:]:
        cls, _, rest = block.partition("\n")
        begin, *parts = re.split(r"\n\n", rest) if rest.startswith(">>>") else ("", *re.split(r"\n\n", rest))
        for part in parts:
            member, _, example = part.strip().partition("\n")

            def is_it(call: ast.Call, member: str = member) -> bool:
                return isinstance(call.func, ast.Attribute) and call.func.attr == member

            if example and not OTHERS.search(begin + example):
                yield tried(f"{cls[1:]}.{member}", steps_of(f"{begin}\n{example}\n"), is_it, wrong)


def main(scripts: str, *options: str) -> None:
    sys.path.insert(0, scripts)
    warnings.simplefilter("ignore")
    wrong = {**WRONG, **MORE} if "--all" in options else WRONG
    found = of_members(wrong, Path(scripts).parent / "docs" / "site") if "--members" in options else of_functions(wrong)
    results = list(found)
    print(
        json.dumps({"refused": sum(n for n, _ in results), "wrong": [text for _, texts in results for text in texts]})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
