"""Values of a program of StableHLO as tracers, whose dims are their axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from ...base.dtypes import DType, as_dtype
from ...trace import build
from ...trace.tracer import Tracer
from .parts import line_of, shape_of, short_name

_ELEMENTS = {"i1": "bool", "bf16": "bfloat16", "complex<f32>": "complex64", "complex<f64>": "complex128"}


def axes(count: int) -> tuple[str, ...]:
    return tuple([f"axis~{i}" for i in range(count)])


def dtype_of(value: Any) -> DType:
    text = str(ir.RankedTensorType(value.type).element_type)
    if text in _ELEMENTS:
        return as_dtype(_ELEMENTS[text])
    return as_dtype(text.replace("ui", "uint") if text[0] == "u" else text.replace("i", "int").replace("f", "float"))


def given(x: Tracer, names: Sequence[str]) -> Tracer:
    """The axes of `x` under other names."""
    return build.rename(x, dict(zip(axes(len(names)), names, strict=True))) if names else x


def in_axes(x: Tracer, order: Sequence[str]) -> Tracer:
    """`x` with its dims in this order as axes."""
    x = build.broadcast(x, tuple(order))
    return build.rename(x, dict(zip(order, axes(len(order)), strict=True))) if order else x


def filled(value: Tracer, shape: Sequence[int]) -> Tracer:
    """`value`, which has no dims, in all places of an array."""
    return build.broadcast(value, axes(len(shape)), dict(zip(axes(len(shape)), shape, strict=True)))


def integer(value: int, dtype: DType | None = None) -> Tracer:
    return build.constant(np.asarray(value, dtype or np.int64))


class RefusedError(Exception):
    """An op that a rule does not serve, and why."""

    def __init__(self, why: str) -> None:
        self.why = why


class Reader:
    """Runs a program on tracers."""

    def __init__(self, rules: Mapping[str, Callable[..., Any]], functions: Mapping[str, Any], lacking: Any) -> None:
        self.rules, self.functions, self.lacking = rules, functions, lacking
        self.calls: list[str | None] = []  # the lines of the calls that are open: JAX's helpers have none

    def run(self, block: Any, arguments: Sequence[Tracer], outside: Mapping[Any, Tracer]) -> list[Tracer]:
        """What the block returns."""
        known = {**outside, **dict(zip(block.arguments, arguments, strict=True))}
        for view in block.operations:
            op = view.operation
            if op.name in ("func.return", "stablehlo.return"):
                return [known[v] for v in op.operands]
            xs = [known[v] for v in op.operands]
            for v, y in zip(op.results, self.op(op, xs, known), strict=True):
                known[v] = y
        return []

    def op(self, op: Any, xs: Sequence[Tracer], known: Mapping[Any, Tracer]) -> list[Tracer]:
        name = short_name(op)
        if op.name in ("func.call", "stablehlo.composite"):
            callee = op.attributes["callee" if op.name == "func.call" else "decomposition"].value
            self.calls.append(line_of(op))
            found = self.run(self.functions[callee].regions[0].blocks[0], xs, {})
            self.calls.pop()
            return found
        rule = self.rules.get(name) if op.name.partition(".")[0] in ("stablehlo", "chlo") else None
        if rule is None:
            raise self._refused(op, "")
        try:
            found = rule(self, op, known, *xs) if op.regions else rule(op, *xs)
        except RefusedError as refused:
            raise self._refused(op, refused.why) from None
        made = list(found) if isinstance(found, (tuple, list)) else [found]
        # An op of elements may have the dims of its operands in another order, or lack those of a result.
        return [self._fitted(y, v) for y, v in zip(made, op.results, strict=True)]

    def _refused(self, op: Any, why: str) -> Exception:
        lines = [line for line in (*self.calls, line_of(op)) if line]
        found: Exception = self.lacking(op, why, lines[-1] if lines else None)
        return found

    @staticmethod
    def _fitted(y: Tracer, value: Any) -> Tracer:
        shape = shape_of(value)
        return filled(y, shape) if y.dims != axes(len(shape)) else y
