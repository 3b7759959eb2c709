"""xt.export: functions compiled into a bundle."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base import tree
from ..base.calls import in_words, shown
from ..base.errors import (
    ArgumentError,
    ArgumentTypeError,
    BundleError,
    CompileError,
    Error,
    UnsupportedError,
    users_frames,
)
from ..base.files import path_of
from ..call.arguments import signature_of
from ..compiler import supports
from ..compiler.executable import operands_of
from ..ir.context import compiler, diagnosed
from ..labels.origins import origins
from ..trace.callbacks import for_bundle
from ..transforms.jit import Jitted, jit
from ..values.devices import BACKENDS
from ..values.targets import target_named
from . import labels
from .bundle import Bundle
from .load import LoadedFunctions
from .manifest import AGAIN, LONGEST_DOC
from .signature import described, signature
from .structure import to_json

if TYPE_CHECKING:
    from ..call.arguments import Call
    from ..trace.program import Program


def export(
    f: Callable[..., Any] | Mapping[str, Sequence[Any]],
    /,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    targets: Sequence[str] | str = ("cpu",),
    path: str | os.PathLike[str] | None = None,
    blas: str | None = "openblas",
    c: bool = True,
    name: str | None = None,
) -> Bundle:
    """Compiles `f` ahead of time into a bundle, which `xt.load` and programs in C call.

    Several functions: `xt.export({"predict": (f, args), "loss": (g, args, kwargs)})`.

    args, kwargs: the arguments of the call, as arrays (for their types) or `xt.spec(batch=None, pixel=784,
    dtype="f4")`. A size of None stays open; one name is one size across all arguments. Arrays that `f` captures
    become part of the bundle.
    targets: "cpu" (machines like this one), "cpu:x86-64-v3", "cpu:aarch64-linux-gnu", "cpu:riscv64-linux-gnu" ..; a
    bundle may have several. "vulkan", "metal", "cuda" or a device's profile adds kernels, a list of launches for
    any program, and a host library for `xt.load`.
    path: the file to write.
    blas: the library that matrix products call in C: "openblas", "blas" or "scipy-openblas". None: the bundle has
    its own.
    c: whether the bundle has libraries and a header for C.
    name: the prefix of symbols in C; by default the name of the file.

    Raises:
        ArgumentError: a target or `blas` does not exist.
        UnsupportedError: the program calls Python.

    Example:
    >>> bundle = xt.export(lambda x: 2.0 * x, (xt.spec(batch=None, dtype="f4"),), path="double.xtb")
    >>> xt.load("double.xtb")(xt.ones(batch=3, dtype="f4"))
    <xtensor.Array (batch: 3) float32>
    [2. 2. 2.]
    """
    if not isinstance(kwargs, (Mapping, type(None))):
        raise ArgumentTypeError(f"xt.export(kwargs=): a dict is needed, got {in_words(kwargs)}")
    asked = _asked(f, args, kwargs)
    wanted = (targets,) if isinstance(targets, str) else targets
    if not isinstance(wanted, (tuple, list)) or not all(isinstance(t, str) for t in wanted):
        raise ArgumentTypeError(f"xt.export(targets=): names of targets are needed, got {shown(targets)}")
    if not isinstance(c, bool):
        raise ArgumentTypeError(f"xt.export(c=): True or False is needed, got {shown(c)}")
    if not isinstance(name, (str, type(None))):
        raise ArgumentTypeError(f"xt.export(name=): a name is needed, got {shown(name)}")
    if path is not None:
        path = path_of(path, "export")
    functions = []
    for x in asked:
        try:
            program, described = _traced(x)
            profiles = [_profile(t, program) for t in wanted]
        except Error as error:
            said = re.sub(r"^xt\.jit\b", "xt.export", str(error))
            if not x.args and not x.kwargs and " gets no argument and takes " in said:
                first, mark, where = said.partition("\n  at ")
                said = f"{first}. Say what it is called with: args=(xt.spec(time=4),){mark}{where}"
            if x.name is not None:
                said = f"xt.export: {x.name!r}: {said.removeprefix('xt.export: ')}"
            error.args = (said,)
            raise error.with_traceback(users_frames(error.__traceback__)) from None
        functions.append(described)
    label = name or (Path(path).stem if path is not None else functions[0]["name"] if len(functions) == 1 else "model")
    if not re.fullmatch(r"[A-Za-z_]\w*", label, re.ASCII) and name is not None:
        raise ArgumentError(f"xt.export(name=): {name!r:.60} is not a name in C: write letters, digits and _")
    if name is None:
        label = re.sub(r"\W", "_", label, flags=re.ASCII)[:_LONGEST_LABEL] or "model"
    options = {
        "name": label,
        "blas": blas or "",
        "for_c": c,
        "targets": profiles,
    }
    try:
        with diagnosed(CompileError):
            data = compiler().export_bundle(functions, options)
    except (ArgumentError, UnsupportedError) as error:  # of what it was asked for, rather than of itself
        said, _, where = str(error).partition("\n  at ")
        line = said.splitlines()[0].removeprefix("xt.export: ")
        raise type(error)(f"xt.export: {line}", where or None) from None
    bundle = _read(data, functions)
    if path is not None:
        bundle.save(path)
    return bundle


_UNUSABLE = "the exported bundle: manifest.json cannot be used: "


def _read(data: bytes, functions: Sequence[Mapping[str, Any]]) -> Bundle:
    """The bundle, once its reader has taken it: what it would refuse at a load is refused here."""
    try:
        bundle = Bundle(data, "the exported bundle")
        for f, asked in zip(bundle.manifest.functions, functions, strict=True):
            signature(f)
            if f.python_text != asked["python"]:
                raise ValueError(f"{f.name!r}: its parameters, arguments or results contain a string that is not UTF-8")
    except (BundleError, ValueError) as error:
        why = str(error).splitlines()[0].removesuffix(f". {AGAIN}").removeprefix(_UNUSABLE)
        number = re.match(r"functions\[(\d+)\]\.?", why)
        if number:
            why = f"{functions[int(number[1])]['name']!r}: in its manifest {why[number.end() :]}"
        raise ArgumentError(f"xt.export: the bundle that was written cannot be read: {why}") from None
    return bundle


class _Asked(NamedTuple):
    """A function, what it is called in the bundle (None: as it is), and what it is traced at."""

    f: Callable[..., Any]
    name: str | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _asked(f: Any, args: Any, kwargs: Any) -> list[_Asked]:
    if not isinstance(f, Mapping):
        return [_one(f, None, args, kwargs, "xt.export")]
    if not f or args or kwargs:
        raise ArgumentError(
            'xt.export: a dict gives the arguments of each function beside it: xt.export({"predict": (f, args), ..})'
        )
    taken = {"_functions", "_where"}.union(*map(vars, LoadedFunctions.__mro__))
    found = []
    for name, x in f.items():
        if not isinstance(name, str):
            raise ArgumentTypeError(f"xt.export: names of functions are strings, got {shown(name)}")
        if len(f) > 1 and name in taken:
            raise ArgumentError(
                f"xt.export: a function cannot be called {name!r}: xt.load gives several as a mapping, g[..] or "
                f"g.NAME, which has a {name!r} of its own. Use another name"
            )
        if not isinstance(x, (tuple, list)) or not 2 <= len(x) <= 3:
            raise ArgumentTypeError(
                f"xt.export: {name!r} needs (function, args) or (function, args, kwargs), got {shown(x)}"
            )
        found.append(_one(x[0], name, x[1], x[2] if len(x) == 3 else None, f"xt.export: {name!r}"))
    return found


def _one(f: Any, name: str | None, args: Any, kwargs: Any, what: str) -> _Asked:
    if not callable(f):
        raise ArgumentTypeError(f"{what} needs a function, got {shown(f)}")
    if not isinstance(args, (tuple, list)):
        raise ArgumentTypeError(
            f"{what}(args=): a tuple with an entry for each argument is needed, got {in_words(args)}. "
            "Write args=(xt.spec(..),)"
        )
    return _Asked(f, name, tuple(args), dict(kwargs or {}))


_LONGEST_LABEL = 120  # of names that were not chosen


def _checked_name(name: str) -> str:
    """A name is text in files; whether it is a line of it is the compiler's to see."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ArgumentError(
            f"xt.export: the name of a function must be valid UTF-8, not {name!a:.60}. Give the function another "
            'name: xt.export({"name": (f, args)})'
        ) from None
    return name


def _traced(asked: _Asked) -> tuple[Program, dict[str, Any]]:
    """The program, and what the compiler is told of it."""
    jitted = asked.f if isinstance(asked.f, Jitted) else jit(asked.f)
    if jitted.layout is not None:
        raise UnsupportedError(
            f"xt.export: {jitted.__name__} has mesh= and split=, and a bundle is the program of one process. Export "
            "xt.jit(f) without them"
        )
    with for_bundle():
        program, call, _ = jitted._compiler.abstract(*_by_position(jitted, asked.args, asked.kwargs), donates=False)
    weights = [a.to("cpu").to_numpy().tobytes() for a in program.captured]
    return program, {
        "module": program.module,
        "name": _checked_name(program.name if asked.name is None else asked.name),
        "doc": _doc(jitted),
        "python": json.dumps(_python(jitted, program, call), sort_keys=True),
        "inputs": [*_input_names(jitted, call, program), *(f"weight{i}" for i in range(len(weights)))],
        "outputs": _output_names(program),
        "weights": weights,
    }


def _by_position(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What may be passed by position is, so that the loaded function takes it both ways."""
    signature = signature_of(f)
    if signature is None:
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return args, kwargs  # tracing tells what is wrong
    return bound.args, bound.kwargs


def _profile(target: str, program: Program) -> str:
    """A device's name as the compiler is told of it; other targets as they are."""
    if target.split(":")[0].split(",")[0] not in BACKENDS:
        return target
    found = target_named(target)
    supports.check(found, program)
    return found.profile


def _doc(f: Any) -> str:
    """The docstring as it is, but for what no text in a file can hold."""
    found = f.__doc__ if isinstance(f.__doc__, str) else ""
    if len(found) > LONGEST_DOC:
        raise ArgumentError(
            f"xt.export: the docstring of {f.__name__} has {len(found)} characters; a bundle has {LONGEST_DOC} at most"
        )
    return found.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


_LONGEST_PLAIN = 1000  # with what makes it another one than the next one's, a name of an array has room for it


def _plain_name(path: str, otherwise: str) -> str:
    """`['layers'][0].w` as layers_0_w."""
    parts = re.findall(r"\w+", path, re.ASCII)
    return "_".join(parts)[:_LONGEST_PLAIN] or otherwise


def _unique(names: Sequence[str]) -> list[str]:
    out: dict[str, None] = {}
    for n in names:
        found, i = n, 1
        while found in out:
            found, i = f"{n}_{i}", i + 1
        out[found] = None
    return list(out)


def _input_names(jitted: Jitted[Any, Any], call: Call, program: Program) -> list[str]:
    """x, params_w1, ...: one per array that is passed."""
    positional, keywords = call.structure.unflatten([_Leaf(i) for i in range(len(program.inputs))])
    signature = signature_of(jitted)
    bound = {f"arg{i}": x for i, x in enumerate(positional)} | keywords
    if signature:
        bound = dict(signature.bind(*positional, **keywords).arguments)
    found: dict[int, str] = {}
    for name, value in bound.items():
        leaves = tree.leaves(value)
        for leaf, path in zip(leaves, tree.paths(value), strict=True):
            if isinstance(leaf, _Leaf):
                found[leaf.number] = _plain_name(f"{name}{path}", f"arg{leaf.number}")
    return _unique([found.get(i, f"arg{i}") for i in range(len(program.inputs))])


class _Leaf:
    def __init__(self, number: int) -> None:
        self.number = number


def _output_names(program: Program) -> list[str]:
    """One per value that is returned: its place in what the function returns."""
    leaves = program.tree.unflatten(range(program.tree.size))
    paths = tree.paths(leaves)
    names = []
    for i in range(len(program.outputs)):
        place = i if program.places is None else program.places.index(i)
        found = _plain_name(paths[place], "")
        names.append("result" if not found else f"result{found}" if found[0].isdigit() else found)
    return _unique(names)


def _python(jitted: Jitted[Any, Any], program: Program, call: Call) -> dict[str, Any]:
    """What a manifest says for xt.load beyond the arrays."""
    return {
        "operands": operands_of(program),
        "labels": labels.to_json(origins(program), program.outputs),
        "parameters": described(signature_of(jitted)),
        "arguments": to_json(call.structure, f"arguments of {program.name}"),
        "result": to_json(program.tree, f"results of {program.name}"),
        "places": None if program.places is None else list(program.places),
        "weak": [s.weak for s in program.inputs],
        "ranges": [[r.argument, r.dtype.name, r.where and Path(r.where).name, r.op] for r in program.ranges],
    }
