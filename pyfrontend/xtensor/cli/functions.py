"""Functions of files that a command names, and what they are traced at."""

from __future__ import annotations

import inspect
import re
import runpy
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..base.calls import counted
from ..base.dims import as_names
from ..base.dtypes import as_dtype
from ..base.errors import ArgumentError, Error
from ..call.entry import Function
from ..values.spec import Spec


def load(target: str, module: dict[str, Any] | None = None) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A function of a file, which runs unless it is `module` already."""
    path, colon, name = target.rpartition(":")
    if not colon or not name:
        raise ArgumentError(f"name a function as FILE.py:FUNCTION, got {target!r}", where="")
    if not Path(path).is_file():
        raise ArgumentError(f"there is no file {path}", where="")
    if module is None:
        sys.path.insert(0, str(Path(path).resolve().parent))
        with users_code(path):
            module = runpy.run_path(path, run_name="__xtensor__")
    found: Any = module.get(name.split(".")[0])
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    if not callable(found):
        kinds = (types.FunctionType, Function)
        functions = sorted(k for k, v in module.items() if isinstance(v, kinds) and v.__module__ == "__xtensor__")
        raise ArgumentError(f"{path} has no function {name!r}; it has {', '.join(functions)}", where="")
    return found, module


class UserError(Exception):
    """What the user's own code raised, with its place in it."""


@contextmanager
def users_code(path: str | None = None) -> Iterator[None]:
    """Exceptions of the file that is looked at are told with its own frames; those of reading `path`, by its name."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        package = str(Path(__file__).parent.parent)
        own = [f for f in frames if not f.filename.startswith((package, "<frozen ")) and "runpy" not in f.filename]
        shown = "".join(traceback.format_list(own) + traceback.format_exception_only(error)).rstrip()
        if own:
            raise UserError(f"the file raised an exception\n{shown}") from None
        if path is None:
            raise
        raise UserError(f"{path} is not a program that Python can run\n{shown}") from None


@contextmanager
def of_option(name: str) -> Iterator[None]:
    """Errors are about an option of the command, not about a line of Python."""
    try:
        yield
    except Error as error:
        raise ArgumentError(f"{name}: {str(error).splitlines()[0]}", where="") from None


def check_count(function: Callable[..., Any], args: Sequence[Any]) -> None:
    try:
        inspect.signature(function).bind(*args)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        given = counted(len(args), "argument is", "arguments are")
        raise ArgumentError(f"{given} given to {name}{inspect.signature(function)}: {error}", where="") from None
    except ValueError:
        pass  # nothing tells its parameters: the call does


def parse_spec(text: str) -> Spec:
    """The Spec that "batch=64,time=?:f4" means."""
    dims, _, dtype = text.partition(":")
    sizes: dict[str, int | None] = {}
    for part in filter(None, (p.strip() for p in dims.split(","))):
        found = re.fullmatch(r"([^=]+)=(\d+|\?)", part)
        if not found:
            name, given, size = part.partition("=")
            what = f"{size.strip() or 'nothing'} is not a size of {name.strip()!r}: " if given and name.strip() else ""
            raise ArgumentError(
                f'--arg {text!r}: {what}write "batch=64,pixel=784:f4", with ? for a dynamic size',
                where="",
            )
        if found[1].strip() in sizes:
            raise ArgumentError(f"--arg {text!r}: dim {found[1].strip()!r} is named twice", where="")
        sizes[found[1].strip()] = None if found[2] == "?" else int(found[2])
        if found[2] != "?" and int(found[2]) >= 2**63:
            raise ArgumentError(f"--arg {text!r}: the size of {found[1].strip()!r} is above 2**63 - 1", where="")
    with of_option(f"--arg {text!r}"):
        return Spec._of(as_names(sizes), tuple(sizes.values()), as_dtype(dtype.strip() or "f8"))


def example_args_of(name: str, function: Callable[..., Any], module: dict[str, Any]) -> Sequence[Any]:
    """name: of the function, as the command line has it."""
    example = module.get("example_args")
    if callable(example):
        with users_code():
            example = example()
    if isinstance(example, dict):
        example = example.get(name, example.get(getattr(function, "__name__", "")))
    if example is not None:
        if not isinstance(example, (list, tuple)):
            raise ArgumentError(
                f"example_args of {name} are a tuple, one entry per argument, not {type(example).__name__}", where=""
            )
        return list(example)
    args = []
    for p in inspect.signature(function, eval_str=True).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY):
            continue
        if isinstance(p.annotation, Spec):
            args.append(p.annotation)
        elif p.default is not p.empty:
            args.append(p.default)
        else:
            raise ArgumentError(
                f"the type of {name}'s argument {p.name!r} is not known: give --arg for each argument, define "
                f"example_args in the file, or annotate it: {p.name}: xt.spec(batch=64, dtype='f4')",
                where="",
            )
    return args


@contextmanager
def without_line(here: str | None) -> Iterator[None]:
    """Errors tell lines of the user's, and not the one that runs this command."""
    try:
        yield
    except Error as error:
        text, _, where = str(error).partition("\n  at ")
        if where == here:
            raise type(error)(text, where="") from None
        raise
