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
_GENERIC = re.compile(r"linalg\.generic \{indexing_maps = \[([^\]]*)\].*?\n\s*\} ->", re.DOTALL)
_TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)\w+>")


def _bytes(spec: Spec) -> int:
    if spec.is_dynamic:
        raise UnsupportedError("the cost of a program with dynamic dims depends on their sizes: lower it without")
    return math.prod(n or 0 for n in spec.shape) * spec.dtype.itemsize


def cost(program: Program) -> dict[str, int]:
    """flops: arithmetic ops times the elements of their loops; bytes: of arguments and results; arena: temporaries."""
    moved = sum(_bytes(s) for s in (*program.all_inputs, *program.outputs))
    linalg = phase_text(program, "linalg")
    aliases = {name: results.split(", ") for name, _, results in _ALIAS.findall(linalg)}
    flops = sum(_loop_flops(found, aliases) for found in _GENERIC.finditer(linalg))
    arena = re.search(r"xt_arena_acquire\(\s*%?\w*\)|arena_bytes = (\d+)", phase_text(program, "buffers"))
    return {"flops": flops, "bytes": moved, "arena": int(arena[1]) if arena and arena[1] else 0}


def _loop_flops(generic: re.Match[str], aliases: dict[str, list[str]]) -> int:
    """Arithmetic of the body times the iterations, told from the operands' sizes and indexing maps."""
    header, _, body = generic[0].partition("^bb0")
    shapes = _TENSOR.findall(header)
    sizes: dict[str, int] = {}
    for name, shape in zip(generic[1].split(", "), shapes, strict=False):
        for expr, n in zip(aliases.get(name, []), shape.split("x"), strict=False):
            if re.fullmatch(r"d\d+", expr):
                sizes[expr] = int(n)
    return len(_ARITHMETIC.findall(body)) * math.prod(sizes.values())
