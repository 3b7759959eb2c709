"""Runs the programs of test/python/surface/raises.txt, and prints as one line of JSON which raise something else.

raising.py SCRIPTS [--peers]    --peers: those that need JAX, PyTorch or PyTensor
raising.py SCRIPTS --members    those of docs/site/member_errors.txt
"""

from __future__ import annotations

import contextlib
import doctest
import functools
import io
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import xtensor as xt

import examples

PROGRAMS = Path(__file__).resolve().parent.parent / "surface" / "raises.txt"


def programs() -> dict[str, dict[str, list[str]]]:
    """function -> error -> programs: one at least for each, more where a line of `Raises:` has several conditions."""
    found: dict[str, dict[str, list[str]]] = {}
    name = ""
    for line in PROGRAMS.read_text().splitlines():
        if line.startswith("    "):
            error, _, program = line.strip().partition(": ")
            found[name].setdefault(error, []).append(program)
        elif line and not line.startswith("#"):
            name = line
            found.setdefault(name, {})
    return found


def twice(x: Any) -> Any:
    """`x` with a last dim twice as long."""
    return xt.concat([xt.as_array(x)] * 2, xt.as_array(x).dims[-1])


def renamed(x: Any) -> Any:
    """`x` with other dims."""
    return xt.as_dims(x, *(f"d{i}" for i in range(xt.as_array(x).ndim)))


def complaint(program: str, names: dict[str, Any], error: str) -> str:
    """What is wrong with a program that should raise an error: nothing, or what it does."""
    try:
        eval(program, names)
    except Exception as raised:
        kind = type(raised).__name__
        return "" if kind == error else f"{program}: {error} expected, got {kind}: {raised}"
    return f"{program}: {error} expected, got nothing"


def wrong(name: str, errors: dict[str, list[str]]) -> list[str]:
    names = {"xt": xt, "np": np, "xr": xr, "twice": twice, "renamed": renamed}
    thing = functools.reduce(getattr, name.split("."), xt)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(thing.__doc__ or ""):
            with contextlib.suppress(Exception):
                exec(compile(example.source, "<example>", "single"), names)
        every = ((error, program) for error, programs in errors.items() for program in programs)
        return [text for error, program in every if (text := complaint(program, names, error))]


def of_all(peers: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"programs": 0, "wrong": [], "not run": []}
    for name, errors in programs().items():
        if (name in examples.PEERS) != peers:
            continue
        if examples.lacking(name):
            found["not run"].append(f"{name}: {examples.NEEDS[name]}")
        else:
            found["programs"] += sum(map(len, errors.values()))
            found["wrong"] += wrong(name, errors)
    return found


def of_members() -> dict[str, Any]:
    """The programs of docs/site/member_errors.txt, after the lines that the examples of their class begin with."""
    import reference

    found: dict[str, Any] = {"programs": 0, "wrong": []}
    for name, methods in reference.member_errors().items():
        names = {"xt": xt, "np": np, "xr": xr}
        before = reference.member_examples().get(name, {}).get("", "") + "\n"
        for line in doctest.DocTestParser().get_examples(before):
            exec(compile(line.source, "<example>", "single"), names)
        programs = {(program, error) for errors in methods.values() for error, _, program in errors}
        found["programs"] += len(programs)
        found["wrong"] += [text for program, error in sorted(programs) if (text := complaint(program, names, error))]
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.path.insert(0, sys.argv[1])
    print(json.dumps(of_members() if "--members" in sys.argv else of_all(peers="--peers" in sys.argv)))
