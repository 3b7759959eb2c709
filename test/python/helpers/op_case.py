"""A case of one op of the dialect, or of several: a function of IR values, and short forms of frequent ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import xtensor as xtn
from cases import Arg, Case, Exact
from xtensor.ir.context import context
from xtensor.mlir import ir
from xtensor.mlir.dialects import xtensor as xt
from xtensor.trace.lift import as_tracer
from xtensor.trace.scope import current
from xtensor.trace.tracer import Tracer


@dataclass
class Op:
    """A function of IR values. `inputs` are their types as text without `!xtensor.array`."""

    inputs: list[str]
    fn: Callable[..., ir.Value | list[ir.Value]]
    wrt: list[int] | None = None  # the others are constants; None: all that are f64
    low: float = 0.3
    high: float = 0.9
    at: dict[int, object] = field(default_factory=dict)  # arguments that are not random floats
    smooth: bool = True
    exact: list[Exact] = field(default_factory=list)  # `at` has every input here

    def case(self, name: str) -> Case:
        wrt = self.wrt if self.wrt is not None else [i for i, t in enumerate(self.inputs) if "f64" in t]
        args = [self._arg(i) for i in range(len(self.inputs))]
        rng = np.random.default_rng(0)
        fixed = {i: args[i].array(rng) for i in range(len(args)) if i not in wrt}

        def f(*given: xtn.Array) -> tuple[Tracer, ...]:
            values = fixed | dict(zip(wrt, given, strict=True))
            operands = [as_tracer(values[i]).value for i in range(len(args))]
            with current().ip, ir.Location.unknown(context()):
                results = self.fn(*operands)
            return tuple(Tracer(v) for v in (results if isinstance(results, list) else [results]))

        exact = [Exact([e.at[i] for i in wrt], e.ct, e.gradients) for e in self.exact]
        dynamic = tuple(dict.fromkeys(d for text in self.inputs for d, n in _dims(text) if n == "?"))
        return Case(name, f, tuple(args[i] for i in wrt), dynamic=dynamic, open=bool(dynamic), smooth=self.smooth,
                    exact=tuple(exact), public=False)  # fmt: skip

    def _arg(self, i: int) -> Arg:
        sizes = {d: 4 if n == "?" else int(n) for d, n in _dims(self.inputs[i])}
        return Arg(sizes, self.low, self.high, at=self.at.get(i))


def _dims(text: str) -> list[tuple[str, str]]:
    pairs = (part.split(":") for part in text.split(",")[:-1])
    return [(dim.strip(), size.strip()) for dim, size in pairs]


def array(text: str) -> ir.Type:
    return ir.Type.parse(f"!xtensor.array<{text}>", context())


def number(value: float, element: str = "f64") -> ir.Value:
    type_ = ir.Type.parse(element, context())
    attribute = ir.FloatAttr.get(type_, value) if element[0] in "fb" else ir.IntegerAttr.get(type_, int(value))
    dense = ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get([], type_), attribute)
    return xt.constant(array(element), dense)


def vector(op: Callable[..., ir.Value]) -> Op:
    return Op(["a: 3, f64"], op)


def tie(op: Callable[..., ir.Value], *exact: Exact) -> Op:
    """Vectors, and only what is known of them: a function among gradient_cases.py is smooth."""
    return Op(["a: 3, f64"] * len(exact[0].at), op, smooth=False, exact=list(exact))


def flat(op: Callable[..., ir.Value]) -> Op:
    """Piecewise constant: no tangent passes, at the jump neither."""
    return tie(op, Exact([[0.0, 0.5, 2.0]], [1.0, 1.0, 1.0], [[0.0, 0.0, 0.0]]))
