"""`xtensor show` and `xtensor explore`: a function of a file, as it is after each phase."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import tree
from ..base.errors import ArgumentError, user_line
from ..call.arrays import array
from ..call.compilations import code_of
from ..compiler.options import PHASES, check_phase
from ..compiler.profiled import Kernel, types_of
from ..explorer.page import Explorer, explored
from ..profiling.profile import profile
from ..profiling.table import Row
from ..transforms.jit import Jitted, jit
from ..transforms.stages import Lowered
from ..values.array import Array
from ..values.options import option
from ..values.spec import Spec
from ..values.targets import Target, target_named
from .functions import check_count, example_args_of, load, of_option, parse_spec, users_code, without_line

_SHOW = """\
Prints a function of a file as it is after a phase of the compiler. What it is traced at is, in this order:
  --arg SPEC, once per argument: "batch=64,pixel=784:f4", "batch=?,pixel=784:f4", ":f8" for a number
  `example_args` in the file: a tuple, a dict from function names to tuples, or a function that gives either
  the function's own annotations and defaults, where these are arrays, numbers or xt.spec(...)
"""
_EXPLORE = "Writes one HTML file, which shows a function of a file beside its program after each phase"
_LEAST_CALLS, _MOST_CALLS, _SECONDS = 3, 1000, 0.5  # of a profile


def add_to(commands: Any) -> None:
    """Adds both to the command."""
    show = commands.add_parser(
        "show",
        help="print a function's IR after a phase",
        description=_SHOW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    show.add_argument("target", metavar="FILE.py:FUNCTION")
    show.add_argument("--phase", default="linalg", help=f"one of {', '.join(PHASES)} (default: linalg)")
    show.add_argument("--arg", action="append", metavar="SPEC", help="an argument's dims, sizes and dtype")
    show.add_argument("--device", metavar="NAME", help="what for: cpu (default), vulkan, metal, cuda")
    show.add_argument("--locations", action="store_true", help="print file:line of every op")
    show.set_defaults(run=_show)
    explore = commands.add_parser(
        "explore",
        help="write a page that shows a function after every phase",
        description=_SHOW.replace("Prints a function of a file as it is after a phase", _EXPLORE),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    explore.add_argument("target", metavar="FILE.py:FUNCTION")
    explore.add_argument("-o", "--output", metavar="PAGE.html", help="the page (default: FUNCTION.html)")
    explore.add_argument("--arg", action="append", metavar="SPEC", help="an argument's dims, sizes and dtype")
    explore.add_argument("--device", metavar="NAME", help="what for: cpu (default), vulkan, metal, cuda")
    explore.add_argument(
        "--profile", action="store_true", help="call the function, and show its kernels as measured (on the device)"
    )
    explore.set_defaults(run=_explore)


def _show(options: argparse.Namespace) -> int:
    with of_option("--device"):
        target = target_named(options.device or "cpu")
    with of_option("--phase"):
        check_phase(options.phase, target.backend)
    lowered, _, _ = _lowered(options, target)
    print(lowered.as_text(options.phase, locations=options.locations))
    return 0


def _explore(options: argparse.Namespace) -> int:
    with of_option("--device"):
        target = target_named(options.device or "cpu")
    lowered, jitted, args = _lowered(options, target)
    name = options.target.rpartition(":")[2]
    measured = _measured(jitted, args, lowered) if options.profile else ()
    page = Explorer(
        explored(lowered.program, lowered.target, code_of(jitted.__wrapped__), measured, lowered.call.shapes)
    )
    with without_line(user_line()):
        print(page.write(options.output or f"{name}.html"))
    return 0


def _lowered(options: argparse.Namespace, target: Target) -> tuple[Lowered, Jitted[..., Any], Sequence[Any]]:
    """The function of the command line at the arguments that it names, for its device if it names one."""
    function, module = load(options.target)
    name = options.target.rpartition(":")[2]
    args = [parse_spec(a) for a in options.arg] if options.arg else example_args_of(name, function, module)
    check_count(function, args)
    jitted = function if isinstance(function, Jitted) else jit(function)
    with users_code():
        lowered: Lowered = jitted.trace(*args).lower()
    if options.device:
        lowered.target = target
    return lowered, jitted, args


def _measured(jitted: Jitted[..., Any], args: Sequence[Any], lowered: Lowered) -> list[tuple[Kernel, Row]]:
    """The kernels of calls with such arguments. Each call gets arrays of its own: it may take their memory."""
    program, device = lowered.program, lowered.target.name
    if any(isinstance(leaf, Spec) and leaf.is_dynamic for leaf in tree.leaves(tuple(args))):
        raise ArgumentError("--profile: calls need sizes. Write a number in place of ? in --arg", where="")
    with of_option("--profile"), option(device=device), profile() as p:
        random = np.random.default_rng(0)
        begin = time.perf_counter()
        for calls in range(_MOST_CALLS):
            values = tree.map(lambda leaf: _value_of(leaf, device, random), tuple(args))
            with users_code():
                jitted(*values)
            if calls == 0:  # it compiled
                begin = time.perf_counter()
            elif calls >= _LEAST_CALLS and time.perf_counter() - begin > _SECONDS:
                break
    return p.kernels(program.name, device, types_of(program))


def _value_of(leaf: Any, device: str, random: np.random.Generator) -> Any:
    """An array in place of a type: numbers between 0 and 1, and zeros for integers, which may be positions."""
    if isinstance(leaf, Array):
        return array(leaf, copy=True).to(device)
    if not isinstance(leaf, Spec):
        return leaf
    kind, shape = np.dtype(leaf.dtype).kind, tuple(size or 0 for size in leaf.shape)
    values: Any = np.zeros(shape) if kind in "iu" else random.random(shape)
    if kind == "b":
        values = values < 0.5
    return array(values.astype(leaf.dtype), dims=leaf.dims).to(device)
