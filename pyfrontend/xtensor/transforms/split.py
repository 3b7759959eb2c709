"""A linear map that outlives its call, as two programs.

The first returns results and residuals. The second maps residuals and cotangents to gradients, or residuals and
tangents to tangents. The compiler chooses the residuals (its pass split-pullbacks).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..base import dtypes, tree
from ..base.calls import call_with
from ..base.errors import Error
from ..base.latest import Latest
from ..call.arguments import Call, name_of
from ..call.compilations import History, code_of, key_of
from ..call.entry import moved
from ..call.opened import MOST
from ..compiler.executable import load, native_type
from ..ir import context as c
from ..ir import location
from ..trace.inline import inline
from ..trace.lift import as_tracer
from ..trace.program import Program, result_leaves
from ..trace.scope import Root, tracing
from ..trace.tracer import Tracer, spec
from ..values import options, targets
from ..values.spec import Spec
from .derivative import Linearized, Pullback

if TYPE_CHECKING:
    from ..mlir import ir

_PASSES = "builtin.module(xtensor-simplify,xtensor-differentiate,xtensor-split-pullbacks,xtensor-simplify)"


class Split:
    """`f` at the types of one call.

    forward gives the results, then residuals. `residuals` says where each input of backward is found: a result of
    forward by its number, an input of forward by -1 - its number. backward takes cotangents of the results in
    `cotangents` (number and type) after them, and gives the gradients of the arrays numbered in `moving`; with the
    request `Linearized` it takes tangents of these and gives tangents of the results. wrt: the numbers of the arrays
    that move; None: all floats.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        call: Call,
        device: _native.Device | None = None,
        request: type[Pullback] = Pullback,
        wrt: Collection[int] | None = None,
    ) -> None:
        name = name_of(f)
        self.request, self.wrt = request, wrt
        with c.diagnosed(Error):
            target = targets.target_of(device)
            module, captured = self._trace(f, call, name, target)
            if not call.is_placed:
                target = targets.target_of(targets.of_captured(captured))
                if target.arriving(self.specs) != self.specs:
                    module, captured = self._trace(f, call, name, target)
            main, back = (view.operation for view in module.body.operations)
            self.residuals = [int(i) for i in back.attributes["xtensor.residuals"]]
            del back.attributes["xtensor.residuals"], main.attributes["xtensor.back"]
            other = c.mlir().Module.create(location.of_user())
            apart = back.clone(ip=c.mlir().InsertionPoint(other.body))
            apart.attributes["sym_name"] = c.string_attribute("main")
            back.erase()
            forward = self._program(module, name, self.results)
            moved = [s for s in self.results if dtypes.is_inexact(s.dtype)]
            given = moved if request is Linearized else [self.specs[i] for i in self.moving]
            backward = self._program(other, f"{name}.back", given)
        self.device = target.device
        self.captured = [_native.to_device(a, self.device) for a in captured]
        self.forward_program, self.backward_program, self.target = forward, backward, target
        self.code: dict[str, Any] = {}
        self.history = History(name, (code_of(f),))
        self.reasons: tuple[str, ...] = ()
        device_name = self.device.name if self.device else "cpu"
        where = options.current().of_programs, device_name, call.structure, call.full_specs(), False
        self.key = key_of(f, *where, weak=call.weak_arrays())
        self.cotangents = [(i, native_type(s)) for i, s in enumerate(self.results) if dtypes.is_inexact(s.dtype)]

    @property
    def forward(self) -> Any:
        return self._loaded(self.forward_program)

    @property
    def backward(self) -> Any:
        return self._loaded(self.backward_program)

    def _loaded(self, program: Program) -> Any:
        """The code of one of the two, which is made when it is first needed."""
        made = self.code.get(program.name)
        if made is None:
            made = self.code[program.name] = load(program, self.target)
            self.history.add(program, self.key, self.reasons)
        return made

    def inputs(self, arrays: Sequence[Any]) -> list[Any]:
        """What `forward` takes: the arrays of a call and those read from outside, all where it runs."""
        for r in self.ranges:
            r.check(int(arrays[r.argument]), False)
        return [*moved(arrays, self.specs, self.device), *self.captured]

    def run_backward(self, residuals: Sequence[Any], moved: Sequence[Any]) -> Sequence[Any]:
        """backward at `residuals` and what `exact` made of the cotangents or tangents. Inside of a trace it becomes a
        part of that; the residuals are constants there."""
        inputs = [*residuals, *moved]
        if tracing():
            return inline(self.backward_program, [as_tracer(x) for x in inputs])
        found: Sequence[Any] = self.backward.run(inputs)
        return found

    def _trace(
        self, f: Callable[..., Any], call: Call, name: str, target: targets.Target
    ) -> tuple[ir.Module, list[Any]]:
        shapes: list[tree.TreeDef] = []
        op = "linearize" if self.request is Linearized else "vjp"
        with Root(call.full_specs(), target=target) as root:
            self.specs = specs = root.specs
            arguments = [
                Tracer(v, weak=s.weak, scope=root, spec=s) for v, s in zip(root.block.arguments, specs, strict=True)
            ]
            moving = [i for i, x in enumerate(arguments) if dtypes.is_inexact(x.dtype)]
            self.moving = [i for i in moving if self.wrt is None or i in self.wrt]

            def body(tracers: list[Tracer]) -> list[Tracer]:
                new = list(arguments)
                for i, tracer in zip(self.moving, tracers, strict=True):
                    new[i] = tracer
                args, _ = call.structure.unflatten(new)
                results, shape = result_leaves(call_with(op, f, args), name)
                shapes.append(shape)
                return results

            pullback = self.request(body, [arguments[i] for i in self.moving])
            root.finish([*(r.value for r in pullback.results), pullback.handle])
        self.shape, self.results = shapes[0], [spec(r) for r in pullback.results]
        captured = list(root.release())
        self.ranges, self.called = tuple(root.ranges.values()), frozenset(root.called)
        self.functions, self.operands = root.functions, root.operands
        c.verify(root.module)
        c.run_passes(root.module, _PASSES)
        return root.module, captured

    def _program(self, module: ir.Module, name: str, known: Sequence[Spec]) -> Program:
        """`known`: the first results, of which the module does not say whether they are weak."""
        main = module.body.operations[0].operation
        kind = main.attributes["function_type"].value
        inputs, outputs = (tuple(c.spec_of(t) for t in types) for types in (kind.inputs, kind.results))
        outputs = (*known, *outputs[len(known) :])
        structure = tree.structure([0] * len(outputs))
        about: Any = {"called": self.called, "functions": self.functions, "operands": self.operands}
        return Program(module, inputs, outputs, (), structure, name, **about)


class Splits:
    """The splits of one function for the types of its latest calls."""

    def __init__(self, request: type[Pullback]) -> None:
        self.request = request
        self.latest = Latest(MOST)
        self.history = History("")

    def __call__(self, f: Callable[..., Any], call: Call) -> Split:
        device = call.device()
        key = options.current().of_programs, device, call.key

        def make() -> Split:
            made = Split(f, call, device, self.request)
            made.reasons = self.history.reasons(made.key)
            return made

        found: Split = self.latest(key, make)
        return found
