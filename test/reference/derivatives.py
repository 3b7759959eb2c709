"""Requests for derivatives, nested to any order, around traced functions.

A `Function` maps IR values to IR values: `traced` makes one of a function of arrays. `pull` and `push` make functions
of functions, `compiled` runs the derivative passes over one and gives back something to call with NumPy arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import xtensor as xt
from evaluate import Evaluator
from inline import inlined
from xtensor.mlir import ir, passmanager
from xtensor.mlir.dialects import func
from xtensor.mlir.dialects import xtensor as xtd

PASSES = (
    "xtensor-differentiate",
    "xtensor-simplify",
    "xtensor-verify-differentiated",
)

Values = Sequence[ir.Value]


@functools.cache
def context() -> ir.Context:
    made = ir.Context()
    for dialect in ("func", "xtensor"):
        _ = made.dialects[dialect]  # loads it
    return made


@dataclass
class Function:
    """`emit` maps values of types `inputs` (as text without `!xtensor.array`) to values."""

    inputs: list[str]
    emit: Callable[..., Values]

    def types(self) -> list[ir.Type]:
        return [ir.Type.parse(f"!xtensor.array<{t}>", context()) for t in self.inputs]

    @functools.cached_property
    def outputs(self) -> list[ir.Type]:
        """Types of the results, found by emitting once."""
        module = ir.Module.create(ir.Location.unknown(context()))
        return [v.type for v in _emit(self, module, "f")]


def _emit(fn: Function, module: ir.Module, name: str) -> Values:
    with ir.InsertionPoint(module.body), ir.Location.unknown(context()):
        op = func.FuncOp(name, (fn.types(), []))
        entry = op.add_entry_block()
        with ir.InsertionPoint(entry):
            results = fn.emit(*entry.arguments)
            func.ReturnOp(results)
        signature = ir.FunctionType.get(fn.types(), [v.type for v in results])
        op.attributes["function_type"] = ir.TypeAttr.get(signature)
    return results


def traced(f: Callable[..., object], args: Sequence[xt.Array], dynamic: Sequence[str] = ()) -> tuple[Function, list]:
    """The program of a function of arrays, and the values of the arrays that it captures: its last inputs."""
    stage = xt.jit(f, dynamic_dims=tuple(dynamic)).trace(*args)
    text = stage.as_text()
    main = ir.Module.parse(text, context())
    inputs = [_text(a.type) for a in main.body.operations[0].regions[0].blocks[0].arguments]

    def emit(*values: ir.Value) -> Values:
        return inlined(text, values, context())

    return Function(inputs, emit), [np.asarray(a) for a in stage.program.captured]


def is_float(type_: ir.Type) -> bool:
    return "f" in str(xtd.ArrayType(type_).element_type)


def _body(region: ir.Region, fn: Function) -> None:
    block = region.blocks.append(*fn.types())
    with ir.InsertionPoint(block):
        xtd.yield_(fn.emit(*block.arguments))


def pull(fn: Function, wrt: Sequence[int]) -> Function:
    """(arguments, cotangents of the float results) -> cotangents of the arguments `wrt`."""
    floats = [t for t in fn.outputs if is_float(t)]
    gradients = [fn.types()[i] for i in wrt]

    def emit(*values: ir.Value) -> Values:
        n = len(fn.inputs)
        handle = xtd.LinearType.get(floats, gradients, context())
        op = xtd.PullbackOp(fn.outputs, handle, values[:n], wrt)
        _body(op.regions[0], fn)
        return list(xtd.ApplyOp(gradients, op.back, values[n:]).results)

    return Function([*fn.inputs, *map(_text, floats)], emit)


def push(fn: Function, wrt: Sequence[int]) -> Function:
    """(arguments, tangents of the arguments `wrt`) -> tangents of the float results."""
    floats = [t for t in fn.outputs if is_float(t)]

    def emit(*values: ir.Value) -> Values:
        n = len(fn.inputs)
        op = xtd.PushforwardOp([*fn.outputs, *floats], values[:n], wrt, values[n:])
        _body(op.regions[0], fn)
        return list(op.results)[len(fn.outputs) :]

    return Function([*fn.inputs, *(fn.inputs[i] for i in wrt)], emit)


def kept(fn: Function, wrt: Sequence[int]) -> Function:
    """The results and, last, the handle of the pullback itself."""
    floats = [t for t in fn.outputs if is_float(t)]
    gradients = [fn.types()[i] for i in wrt]

    def emit(*values: ir.Value) -> Values:
        handle = xtd.LinearType.get(floats, gradients, context())
        op = xtd.PullbackOp(fn.outputs, handle, values, wrt)
        _body(op.regions[0], fn)
        return list(op.results)

    return Function(fn.inputs, emit)


def _text(type_: ir.Type) -> str:
    return str(type_).removeprefix("!xtensor.array<").removesuffix(">")


def module_of(fn: Function) -> ir.Module:
    module = ir.Module.create(ir.Location.unknown(context()))
    _emit(fn, module, "f")
    assert module.operation.verify()
    return module


def expanded(fn: Function, passes: Sequence[str] = PASSES) -> ir.Module:
    module = module_of(fn)
    passmanager.PassManager.parse(f"builtin.module({','.join(passes)})", context()).run(module.operation)
    return module


def compiled(fn: Function) -> Callable[..., list[np.ndarray]]:
    return functools.partial(Evaluator(expanded(fn)).call, "f")
