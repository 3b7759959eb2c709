"""What one call of a program costs, counted from its types and its linalg form."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ..core.errors import UnsupportedError
from ..core.spec import Spec
from .executable import phase_text

if TYPE_CHECKING:
    from ..trace.program import Program

_ARITHMETIC = re.compile(r"\b(?:arith|math)\.(?!constant|index|extui|extsi|trunci|extf|truncf|cmpi|select)\w+")
_ALIAS = re.compile(r"^(#map\d*) = affine_map<\(([^)]*)\) -> \(([^)]*)\)>", re.MULTILINE)
_MAPS = re.compile(r"linalg\.generic \{indexing_maps = \[([^\]]*)\]")
_FOR = re.compile(r"scf\.for %\w+ = (%\w+) to (%\w+) step (%\w+)")
_INDEX = re.compile(r"^\s*(%\w+) = arith\.constant (\d+) : index", re.MULTILINE)
_TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)\w+>")


def _bytes(spec: Spec) -> int:
    if spec.is_dynamic:
        raise UnsupportedError("the cost of a program with dynamic dims depends on their sizes: lower it without")
    return math.prod(n or 0 for n in spec.shape) * spec.dtype.itemsize


def cost(program: Program) -> dict[str, int]:
    """flops: arithmetic ops times the elements and steps of their loops (a while loop counts as one step, a branch as
    all of its sides); bytes: of arguments and results; arena: temporaries."""
    moved = sum(_bytes(s) for s in (*program.all_inputs, *program.outputs))
    flops = _flops(phase_text(program, "linalg"))
    arena = re.search(r"xt_arena_acquire\(\s*%?\w*\)|arena_bytes = (\d+)", phase_text(program, "buffers"))
    return {"flops": flops, "bytes": moved, "arena": int(arena[1]) if arena and arena[1] else 0}


def _flops(linalg: str) -> int:
    aliases = {name: results.split(", ") for name, _, results in _ALIAS.findall(linalg)}
    known = {name: int(n) for name, n in _INDEX.findall(linalg)}
    flops, times = 0, [1]  # how often what stands here runs, by region
    for line in linalg.splitlines():
        text = line.strip()
        if text.startswith("}"):
            times.pop()
        elif not text.endswith(": index"):
            flops += len(_ARITHMETIC.findall(text)) * times[-1]
        if text.endswith("{"):
            times.append(times[-1] * _iterations(text, aliases, known))
    return flops


def _iterations(header: str, aliases: dict[str, list[str]], known: dict[str, int]) -> int:
    """Of the region that begins here: the iterations of a linalg op, told from the operands' sizes and indexing maps;
    the steps of a loop."""
    if loop := _FOR.search(header):
        start, end, step = (known.get(name, 0) for name in loop.groups())
        return len(range(start, end, step or 1))
    maps = _MAPS.search(header)
    if maps is None:
        return 1
    sizes: dict[str, int] = {}
    for name, shape in zip(maps[1].split(", "), _TENSOR.findall(header), strict=False):
        for expr, n in zip(aliases.get(name, []), shape.split("x"), strict=False):
            if re.fullmatch(r"d\d+", expr):
                sizes[expr] = int(n)
    return math.prod(sizes.values())
