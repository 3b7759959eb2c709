"""Imports inside of the package point down: from a room to itself or to rooms below it, at the top of a module.

Fails in three cases: a module imports a room above its own, modules of one room need each other, or a function contains
an import that is not listed in LATE. Imports that only type checkers read (`if TYPE_CHECKING:`) may name any room.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "pyfrontend" / "xtensor"
# From below to above. A module that stands in no folder is a room of its own.
ROOMS = (
    "_native", "mlir", "base", "values", "ir", "labels", "trace", "compiler", "call", "explorer", "ops", "transforms",
    "debug", "profiling", "linalg", "random", "nn", "signal", "fft", "tree", "equations", "inverses", "optim",
    "aot", "storage", "bridges", "surface", "testing",
    "__init__", "cli", "demo", "programs",
)  # fmt: skip
# What may be imported inside of functions, and why.
LATE = {
    "dask.base": "optional: Dask asks for it",
    "mpi4py": "optional",
    "pandas": "optional: comes with xarray",
    "safetensors": "optional",
    "xarray": "optional",
    "xtensor.bridges.dask": "optional: needs dask",
    "xtensor.bridges.jax_inside": "optional: needs jax",
    "xtensor.bridges.jax": "optional: needs jax",
    "xtensor.bridges.pytensor": "optional: needs pytensor",
    "xtensor.bridges.pytensor_mode": "optional: needs pytensor",
    "xtensor.bridges.stablehlo": "optional: needs jax to read programs; start-up: few programs write them",
    "xtensor.bridges.torch": "optional: needs torch",
    "pytensor.link.jax.dispatch.basic": "optional: needs jax",
    "difflib": "start-up: only errors suggest names",
    "logging": "start-up: only programs that are asked to tell of compilations need it",
    "html": "start-up: only notebooks show arrays by it",
    "pdb": "start-up: only breakpoints need it",
    "resource": "not on every platform",
    "signal": "start-up: only bundles that are not trusted need it",
    "subprocess": "start-up: only bundles that are not trusted need it",
    "xtensor.mlir": "start-up: a thread loads the compiler's libraries meanwhile",
}


def room_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


def imports(node: ast.AST, package: str, late: bool = False) -> Iterator[tuple[str, list[str], int, bool]]:
    """(module, names, line, whether it stands in a function) of each import."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            found = imports(ast.Module(child.orelse, []), package, late)
            yield from found
        elif isinstance(child, ast.Import):
            yield from ((a.name, [], child.lineno, late) for a in child.names)
        elif isinstance(child, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - child.level + 1] if child.level else []
            yield ".".join([*above, *filter(None, [child.module])]), [a.name for a in child.names], child.lineno, late
        else:
            yield from imports(child, package, late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))


def problems(root: Path = PACKAGE) -> list[str]:
    paths = {p: ".".join(["xtensor", *p.relative_to(root).with_suffix("").parts]) for p in sorted(root.rglob("*.py"))}
    modules = {name.removesuffix(".__init__") for name in paths.values()} | {"xtensor._native", "xtensor.mlir"}
    wrong: list[str] = []
    needs: dict[str, set[str]] = {}
    for path, file in paths.items():
        here, package = file.removesuffix(".__init__"), file.rpartition(".")[0]
        room = room_of(here)
        if room not in ROOMS:
            wrong.append(f"{path}: {room!r} is not a room. Add it to ROOMS of scripts/check_imports.py")
            continue
        for base, names, line, late in imports(ast.parse(path.read_text()), package):
            there = {
                f"{base}.{n}" if f"{base}.{n}" in {*modules, "xtensor._native", "xtensor.mlir"} else base for n in names
            }
            for target in there or {base}:
                at = f"{path.relative_to(root.parent)}:{line}: {here} imports {target}"
                if late and not any(target == x or target.startswith(f"{x}.") for x in LATE):
                    wrong.append(f"{at} inside of a function. Import it at the top, or list it in LATE with a reason")
                if target.partition(".")[0] != "xtensor" or target == here:
                    continue
                if ROOMS.index(room_of(target)) > ROOMS.index(room):
                    wrong.append(f"{at}, which is above. Move what both need below")
                elif room_of(target) == room:
                    needs.setdefault(here, set()).add(target)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        wrong.append(f"modules need each other: {' -> '.join(error.args[1])}")
    return wrong


if __name__ == "__main__":
    sys.exit("\n".join(problems()) or None)
