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
_GENERIC = re.compile(r"linalg\.generic\b.*?\n\s*\} ->", re.DOTALL)


def _bytes(spec: Spec) -> int:
    if spec.is_dynamic:
        raise UnsupportedError("the cost of a program with dynamic dims depends on their sizes: lower it without")
    return math.prod(n or 0 for n in spec.shape) * spec.dtype.itemsize


def cost(program: Program) -> dict[str, int]:
    """flops: arithmetic ops times the elements of their loops; bytes: of arguments and results; arena: temporaries."""
    moved = sum(_bytes(s) for s in (*program.all_inputs, *program.outputs))
    flops = sum(_loop_flops(text) for text in _GENERIC.findall(phase_text(program, "linalg")))
    arena = re.search(r"xt_arena_acquire\(\s*%?\w*\)|arena_bytes = (\d+)", phase_text(program, "buffers"))
    return {"flops": flops, "bytes": moved, "arena": int(arena[1]) if arena and arena[1] else 0}


def _loop_flops(generic: str) -> int:
    """Arithmetic of the body times the iterations, told from the operands' sizes and indexing maps."""
    maps = re.findall(r"affine_map<\(([^)]*)\) -> \(([^)]*)\)>", generic)
    shapes = re.findall(r"tensor<((?:\d+x)*)\w+>", generic.split("{")[0] + generic.split("ins(")[-1].split("{")[0])
    sizes: dict[str, int] = {}
    for (_, results), shape in zip(maps, shapes, strict=False):
        for expr, n in zip(results.split(", "), shape.split("x"), strict=False):
            if re.fullmatch(r"d\d+", expr) and n:
                sizes[expr] = int(n)
    return len(_ARITHMETIC.findall(generic)) * math.prod(sizes.values())
