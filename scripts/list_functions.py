"""docs/functions.md: every public function of the package, by family, with the first sentence of what it says itself.

list_functions.py          prints the page
list_functions.py PAGE     writes it
"""

from __future__ import annotations

import argparse
import functools
import inspect
import re
import typing
from pathlib import Path
from typing import Any

import xtensor as xt
from xtensor.ops.coarsening import Coarsen
from xtensor.ops.grouped import GroupBy
from xtensor.ops.updates import Selection
from xtensor.ops.weights import Weighted
from xtensor.ops.windows import Rolling
from xtensor.surface.methods import ArrayMethods

HEAD = """# Functions

This page lists every public function, by family, with the first sentence of its docstring. `help(xt.sum)` prints the
whole docstring. If another library has a name that xtensor lacks, such as `xt.einsum`, `xt.vmap` or `xt.nanmean`, the
error says what to write. `scripts/list_functions.py` writes this page, and a test fails until it has run.
"""
# Titles of families, in order: a module of the package (whose functions are in `xt`), or a room in `xt`.
FAMILIES: dict[str, tuple[str, ...]] = {
    "Arrays in and out": ("values.array", "call.arrays", "values.dlpack", "storage", "values.spec"),
    "Creation": ("ops.creation",),
    "Elementwise, of one array": ("ops.elementwise", "ops.activations"),
    "Elementwise, of several arrays": ("ops.operators", "ops.comparisons"),
    "Special functions": ("ops.special", "ops.owens", "inverses"),
    "Products": ("ops.contraction",),
    "Reductions": ("ops.reductions",),
    "Running sums": ("ops.scans",),
    "Statistics": ("ops.statistics", "ops.quantiles"),
    "Samples along a dim": ("ops.sampled",),
    "Sorting and distinct values": ("ops.sorting", "ops.sets"),
    "Labels and groups": ("ops.by_label", "ops.grouping", "ops.weights", "ops.segments", "ops.segment_quantiles"),
    "Reading by position": ("ops.indexing",),
    "Names and order of dims": ("ops.shape", "ops.broadcasting"),
    "Moving and repeating": ("ops.moving", "ops.padding"),
    "Windows": ("ops.windows", "ops.coarsening"),
    "Linear algebra": ("linalg",),
    "Random numbers": ("random",),
    "Neural networks": ("nn",),
    "Signals": ("fft", "signal"),
    "Compiling": ("transforms.jit", "aot.bundle", "aot.export", "aot.load", "values.options", "values.devices"),
    "Derivatives": (
        "transforms.grad", "transforms.jacobian", "transforms.jvp", "transforms.vjp", "transforms.linearize",
        "transforms.custom", "transforms.checkpoint", "equations",
    ),
    "Batches": ("transforms.vectorize",),
    "Other libraries' arrays": ("bridges", "bridges.numpy", "transforms.callback"),
    "Several processes": ("values.mesh", "bridges.processes"),
    "Control flow": ("transforms.control",),
    "Optimizers": ("optim",),
    "Pytrees": ("tree",),
    "Looking inside": ("profiling.profile", "debug"),
    "Checks": ("testing",),
}  # fmt: skip
# What methods give that have methods themselves.
OBJECTS = {
    "x.at(time=0)": Selection, "x.rolling(time=3)": Rolling, "x.coarsen(time=3)": Coarsen, "x.groupby(..)": GroupBy,
    "x.weighted(w)": Weighted,
}  # fmt: skip
ROOMS = ("linalg", "random", "nn", "fft", "signal", "optim", "tree", "debug", "testing")


def families() -> dict[str, list[str]]:
    """The names of each family, as they are called in `xt`."""
    found: dict[str, list[str]] = {module: [] for modules in FAMILIES.values() for module in modules}
    for name in xt.__all__:
        thing = getattr(xt, name)
        module = str(getattr(thing, "__module__", "")).removeprefix("xtensor.")
        if callable(thing) and module != "xtensor":  # errors have a page of their own
            found[module].append(name)
    for room in ROOMS:
        found[room] = [f"{room}.{name}" for name in sorted(getattr(xt, room).__all__)]
    return {title: [n for m in modules for n in sorted(found[m])] for title, modules in FAMILIES.items()}


def called(thing: Any) -> str:
    """(x, dim=None, *, skipna=None)"""
    signature = inspect.signature((typing.get_overloads(inspect.unwrap(thing)) or [thing])[0])
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    text = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    return re.sub(r", /(?=[,)])", "", text).replace("(/, ", "(")


def first_sentence(thing: Any) -> str:
    paragraph = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    sentence = re.split(r"(?<=[^.])\. (?=[A-Z`])", paragraph)[0].removesuffix(".")
    if not sentence:
        raise SystemExit(f"{thing!r} has no docstring")
    return sentence


def entry(name: str, thing: Any) -> str:
    made_by_others = inspect.isclass(thing) and thing.__name__[0].isupper()
    takes = called(thing) if callable(thing) and not made_by_others else ""
    return f"* `{name}{takes}`: {first_sentence(thing)}"


def methods(cls: type) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_")]


def page() -> str:
    parts = [HEAD]
    for title, names in families().items():
        lines = [entry(f"xt.{name}", functools.reduce(getattr, name.split("."), xt)) for name in names]
        parts.append(f"\n## {title}\n\n" + "\n".join(lines) + "\n")
    own = [name for name in methods(xt.Array) if name not in (*xt.__all__, "meta", "type")]
    also = [name for name in methods(ArrayMethods) if name in xt.__all__]
    parts.append("\n## Methods of arrays\n\nThese are functions, too: " + ", ".join(f"`{n}`" for n in also) + ".\n\n")
    things = {name: inspect.getattr_static(xt.Array, name) for name in own}
    lines = [entry(f"x.{name}", thing) for name, thing in things.items() if inspect.getdoc(thing)]
    parts.append("\n".join(lines) + "\n")
    for what, cls in OBJECTS.items():
        parts.append(f"\nOf `{what}`: " + ", ".join(f"`{n}`" for n in methods(cls)) + ".\n")
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", metavar="PAGE", type=Path, nargs="?", help="the file to write")
    path = parser.parse_args().page
    if path:
        path.write_text(page())
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()
