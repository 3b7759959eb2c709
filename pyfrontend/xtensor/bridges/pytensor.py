"""Functions of named arrays as ops of PyTensor, on its variables with and without names of dims.

All work is done by one op, on plain tensors: its properties are a function of a list of arrays (flat.py) and the dims
of each argument. Derivatives, batches and parts are the same op with another function.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.mode import optdb
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.features import Feature, ReplaceValidate
from pytensor.graph.op import Op
from pytensor.graph.replace import _vectorize_node
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.graph.traversal import apply_ancestors
from pytensor.link.numba.dispatch.basic import numba_funcify
from pytensor.tensor.type import TensorType, all_dtypes
from pytensor.xtensor import as_xtensor
from pytensor.xtensor.type import XTensorType

from ..base import dtypes, tree
from ..base.calls import counted, shown
from ..base.dims import as_names, describe, describe_array
from ..base.errors import ArgumentTypeError, DeviceError, DimensionError, DTypeError, Error, SizeError, UnsupportedError
from ..base.latest import Latest
from ..call.arguments import name_of
from ..call.opened import MOST
from ..compiler.executable import load
from ..compiler.sizes import Sizes
from ..trace import program as programs
from ..values import options
from ..values.kinds import kind_of
from ..values.spec import Spec
from .flat import Backward, Batched, Flat, Forward, Kept, OfPytrees, Parts, Pullback, Pushforward, floats
from .positions import Positional
from .pytensor_numba import call_of

_BRIDGE = "to_pytensor"


# ---- the function of variables ---------------------------------------------------------------------------------------


def function(f: Callable[..., Any], dims: str | Sequence[Any] | None) -> Callable[..., Any]:
    """The function of PyTensor's variables that `xt.to_pytensor` returns."""
    name = name_of(f)
    known = Latest(MOST)
    if not isinstance(dims, (str, list, tuple, type(None))):
        raise ArgumentTypeError(
            f"xt.{_BRIDGE}({name}): dims= is a list with the dims of each argument, not {shown(dims)}. Write "
            'dims=["time"]'
        )
    given = (dims,) if isinstance(dims, str) else dims if dims is None else tuple(dims)

    def call(*args: Any, **kwargs: Any) -> Any:
        whole = (args, kwargs)
        leaves, structure = tree.flatten(whole)
        # The dims of plain tensors, for each leaf.
        names = [*_names(name, given or (), args), *[None] * tree.structure(kwargs).size]
        paths = [*tree.paths(args), *tree.paths(kwargs)]
        inputs: list[Any] = []
        axes: list[tuple[str, ...]] = []
        constants = []
        for i, (x, n, path) in enumerate(zip(leaves, names, paths, strict=True)):
            found = _variable(f"xt.{_BRIDGE}({name}): argument {path}", x, n)
            if found is None:
                constants.append((i, type(x), x))
            else:
                inputs.append(found[0])
                axes.append(found[1])
        flat = OfPytrees(_BRIDGE, f, structure, tuple(constants))
        key = flat, tuple(axes), replace(options.current().of_programs, device=None)
        try:
            hash(key)
        except TypeError:
            raise ArgumentTypeError(
                f"xt.{_BRIDGE}({name}): an argument that is not an array is a constant of the function, and must have "
                f"a hash: {', '.join(shown(x) for _, _, x in constants)}"
            ) from None
        op = known(key, lambda: Call(*key))
        results = op(*inputs, return_list=True)
        code = op.code([x.type for x in inputs])
        if given is None:
            results = [as_xtensor(y, dims=s.dims) for y, s in zip(results, code.outputs, strict=True)]
        return code.structure.unflatten(results)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f.__doc__
    return call


def _names(name: str, dims: tuple[Any, ...], args: tuple[Any, ...]) -> list[Any]:
    """The entry of dims= for each leaf of the arguments."""
    if len(dims) > len(args):
        raise ArgumentTypeError(
            f"xt.{_BRIDGE}({name}): dims= has entries for {counted(len(dims), 'argument')} by position, and the "
            f"call has {len(args)}"
        )

    def spread(entry: Any, x: Any) -> list[Any]:
        if isinstance(entry, dict) and isinstance(x, dict):
            return [n for key, value in x.items() for n in spread(entry.get(key), value)]
        if isinstance(entry, list) and isinstance(x, (list, tuple)) and len(entry) == len(x):
            return [n for e, value in zip(entry, x, strict=True) for n in spread(e, value)]
        if entry is not None and not isinstance(entry, (str, tuple)):
            raise ArgumentTypeError(
                f"xt.{_BRIDGE}({name}): dims= has {shown(entry)} for an argument that is {shown(x)}. Write the names "
                'of its dims, ("time", "space"); for a dict or a list of arrays, a dict or a list of these'
            )
        return [None if entry is None else as_names(entry)] * tree.structure(x).size

    entries = (*dims, *[None] * (len(args) - len(dims)))
    return [n for entry, x in zip(entries, args, strict=True) for n in spread(entry, x)]


def _variable(what: str, x: Any, names: tuple[str, ...] | None) -> tuple[Any, tuple[str, ...]] | None:
    """An argument as a plain tensor and its dims; None: it is not an array."""
    if isinstance(x, Variable):
        if isinstance(x.type, XTensorType):
            _check_names(what, x.type, names)
            return x.values, x.type.dims
        try:
            x = pt.as_tensor(x)
        except (TypeError, NotImplementedError):
            raise ArgumentTypeError(f"{what} is a variable of type {x.type}, not of an array") from None
        return x, _positional(what, x.type.shape, names)
    kind = kind_of(x)
    if kind is not None and kind.named:
        array = kind.values(x)
        _check_names(what, array, names)
        return pt.as_tensor(array.values), array.dims
    if isinstance(x, (np.ndarray, np.generic)):
        return pt.as_tensor(x), _positional(what, np.shape(x), names)
    return None


def _check_names(what: str, x: Any, names: tuple[str, ...] | None) -> None:
    if names is not None and sorted(x.dims) != sorted(names):
        raise DimensionError(
            f"{what} is {describe(x.dims, x.shape)}, and dims= says {describe(names)}. A variable with named dims "
            "matches by name: rename its dims"
        )


def _positional(what: str, shape: Sequence[int | None], names: tuple[str, ...] | None) -> tuple[str, ...]:
    if names is None and not shape:
        return ()
    sizes = tuple("?" if n is None else n for n in shape)
    if names is None:
        raise DimensionError(
            f"{what} is a tensor of shape ({', '.join(map(str, sizes))}) without named dims. Name them: "
            f'xt.{_BRIDGE}(f, dims=[("time", "space")]), or pytensor.xtensor.as_xtensor(x, dims=("time", "space"))'
        )
    if len(names) != len(shape):
        raise DimensionError(
            f"{what} is a tensor of shape ({', '.join(map(str, sizes))}), and dims= names its dims {describe(names)}"
        )
    return names


# ---- the op ----------------------------------------------------------------------------------------------------------


class _Code:
    """A function at the types of its arguments: the types of its results, and what runs."""

    def __init__(self, f: Flat, specs: Sequence[Spec]) -> None:
        self.specs = tuple(specs)
        try:
            self.program = programs.trace(lambda tracers: list(f(*tracers)), self.specs, f.name)
        except Error as error:
            text, where = error.parts
            at_fault = not isinstance(error, ArgumentTypeError)
            if at_fault and any(s.is_dynamic for s in self.specs) and ("dynamic_dims=" in text or "?" in text):
                arrays = ", ".join(map(describe_array, self.specs))
                text += (
                    f". The call of xt.{_BRIDGE} leaves sizes open: {arrays}. Give the variable static sizes, "
                    "xtensor(dims=, shape=) or pt.specify_shape"
                )
                raise type(error)(text, where) from None
            raise
        if isinstance(f, OfPytrees):
            self.structure = f.results[0]
        self.outputs: tuple[Spec, ...] = tuple(self.program.leaves(self.program.outputs))
        for i, s in enumerate(self.outputs):
            if s.dtype.name not in all_dtypes:
                raise DTypeError(
                    f'xt.{_BRIDGE}({f.name}): result {i} is {s.dtype.name}, which PyTensor lacks. Return y.astype("f4")'
                )
        for x in self.program.captured:
            if x.device != "cpu":
                raise DeviceError(
                    f"xt.{_BRIDGE}({f.name}): the function reads {describe_array(x)} from outside, which is on "
                    f"{x.device!r}. PyTensor's arrays are on the CPU: move it by x.to('cpu')"
                )
        self.name = f.name
        self._run: Callable[..., Any] | None = None

    @property
    def sizes(self) -> list[Any]:
        """Of each result, its sizes in terms of the names of open ones."""
        return list(self.program.leaves(Sizes(self.program).results))

    def load(self) -> Callable[..., Any]:
        if self._run is None:
            self._run = load(self.program).run
        return self._run

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """Results in memory of their own, which the caller may write to."""
        run = self._run or self.load()
        given = [np.asarray(x, order="C") for x in arrays]
        try:
            found = run([*given, *self.program.captured])
        except TypeError:
            self._refuse(given)
            raise
        return [np.asarray(_Memory(y)) for y in self.program.leaves(found)]

    def __reduce__(self) -> Any:
        # Numba then refers to it by its address, and does not compile a copy.
        raise pickle.PicklingError("a program of this process")

    def _refuse(self, arrays: Sequence[Any]) -> None:
        for i, (x, s) in enumerate(zip(arrays, self.specs, strict=True)):
            if x.dtype != s.dtype:
                raise DTypeError(f"xt.{_BRIDGE}({self.name}): array {i} is {x.dtype}, not {s.dtype.name}")
            if any(m not in (None, n) for n, m in zip(x.shape, s.shape, strict=True)):
                raise SizeError(
                    f"xt.{_BRIDGE}({self.name}): array {i} is {describe(s.dims, x.shape)}, and was declared as "
                    f"{describe(s.dims, s.shape)}"
                )
        pairs = {(d, n) for x, s in zip(arrays, self.specs, strict=True) for d, n in zip(s.dims, x.shape, strict=True)}
        if len({d for d, _ in pairs}) < len(pairs):
            raise SizeError(
                f"xt.{_BRIDGE}({self.name}): equal names have equal sizes, and the arrays are "
                + ", ".join(describe(s.dims, x.shape) for x, s in zip(arrays, self.specs, strict=True))
            )


class _Memory:
    """The memory of a new result, for NumPy: nobody else knows it, so that PyTensor's ops in place may write there."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = {
            "data": (array._pointer, False), "shape": array.shape, "typestr": array.dtype.str, "version": 3,
        }  # fmt: skip


class Call(Op):
    """A call of `function` on tensors, whose axes are `dims`. `options`: under which the function is traced."""

    __props__ = ("function", "dims", "options")

    def __init__(self, function: Flat, dims: Sequence[tuple[str, ...]], options: Any) -> None:
        self.function, self.dims, self.options = function, tuple(dims), options
        self._codes = Latest(MOST)
        self._of_nodes: WeakKeyDictionary[Apply, _Code] = WeakKeyDictionary()

    def __reduce__(self) -> Any:
        return Call, (self.function, self.dims, self.options)

    def __str__(self) -> str:
        return f"xtensor{{{self.function.name}}}"

    def of(self, function: Flat, more: Sequence[tuple[str, ...]] = ()) -> Call:
        """A call of another function, of the same arguments and of more with these dims."""
        return Call(function, (*self.dims, *more), self.options)

    def code(self, types: Sequence[Any]) -> _Code:
        """The function at these types of tensors."""
        with self.under_options():
            specs = getattr(self.function, "specs", None) or self._specs(types)
            code: _Code = self._codes(specs, lambda: _Code(self.function, specs))
        return code

    def under_options(self) -> AbstractContextManager[None]:
        return options.under(self.options, device=None, profile=options.current().profile)

    def _specs(self, types: Sequence[Any]) -> tuple[Spec, ...]:
        """A size that is known for one argument is known for all."""
        sizes: dict[str, tuple[int, str]] = {}
        for dims, t in zip(self.dims, types, strict=True):
            for d, n in zip(dims, t.shape, strict=True):
                told = describe(dims, t.shape)
                there, first = sizes.setdefault(d, (n, told)) if n is not None else (n, told)
                if there != n:
                    raise SizeError(
                        f"xt.{_BRIDGE}({self.function.name}): equal names have equal sizes, and dim {d!r} has size "
                        f"{there} in {first} and {n} in {told}"
                    )
        return tuple(
            Spec._of(dims, [sizes[d][0] if d in sizes else None for d in dims], dtypes.as_dtype(t.dtype))
            for dims, t in zip(self.dims, types, strict=True)
        )

    def make_node(self, *inputs: Any) -> Apply:
        variables = [pt.as_tensor(x) for x in inputs]
        outputs = self.code([x.type for x in variables]).outputs
        return Apply(self, variables, [TensorType(s.dtype.name, shape=s.shape)() for s in outputs])

    def at(self, node: Apply) -> _Code:
        found = self._of_nodes.get(node)
        if found is None:
            found = self._of_nodes[node] = self.code([x.type for x in node.inputs])
        return found

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        for cell, y in zip(output_storage, self.at(node)(inputs), strict=True):
            cell[0] = y

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        code = self.at(node)
        known: dict[str, Any] = {}
        for s, shape in zip(code.specs, shapes, strict=True):
            for d, n in zip(s.dims, shape, strict=True):
                known.setdefault(d, n)

        def size(parts: Any) -> Any:
            product: Any = 1
            for part in parts if isinstance(parts, list) else [parts]:
                product = product * (known[part] if isinstance(part, str) else part)
            return pt.as_tensor(product, dtype="int64", ndim=0)

        return [tuple(map(size, sizes)) for sizes in code.sizes]

    # ---- derivatives ----

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        code = self.at(node)
        moving = [dtypes.is_inexact(s.dtype) for s in code.specs]
        return [[m and bool(dtypes.is_inexact(s.dtype)) for s in code.outputs] for m in moving]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        code = self._real(inputs)
        connected = _connected(cotangents)
        of = tuple(i for i in floats(code.outputs) if i in connected)
        results: list[Any] = [disconnected_type() for _ in inputs]
        if of and floats(code.specs):
            op = self.of(Pullback(self.function, len(inputs), of), [code.outputs[i].dims for i in of])
            moved = [pt.as_tensor(cotangents[i]).astype(code.outputs[i].dtype.name) for i in of]
            for i, g in zip(floats(code.specs), op(*inputs, *moved, return_list=True), strict=True):
                results[i] = g
        return results

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        code = self._real(inputs)
        connected = _connected(tangents)
        wrt = tuple(i for i in floats(code.specs) if i in connected)
        results: list[Any] = [disconnected_type() for _ in outputs]
        if wrt and floats(code.outputs):
            op = self.of(Pushforward(self.function, len(inputs), wrt), [code.specs[i].dims for i in wrt])
            moved = [pt.as_tensor(tangents[i]).astype(code.specs[i].dtype.name) for i in wrt]
            for i, t in zip(floats(code.outputs), op(*inputs, *moved, return_list=True), strict=True):
                results[i] = t
        return results

    # PyTensor 2 calls the two by other names.

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:  # noqa: N802
        return self.pullback(inputs, outputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:  # noqa: N802
        tangents = [disconnected_type() if t is None else t for t in eval_points]
        moved = self.pushforward(inputs, self.make_node(*inputs).outputs, tangents)
        return [None if isinstance(t.type, DisconnectedType) else t for t in moved]

    def _real(self, inputs: Sequence[Any]) -> _Code:
        code = self.code([x.type for x in inputs])
        if any(dtypes.is_complex(s.dtype) for s in (*code.specs, *code.outputs)):
            raise UnsupportedError(
                f"xt.{_BRIDGE}({self.function.name}): PyTensor has no derivatives of complex arrays, and the function "
                f"has {', '.join(map(describe_array, (*code.specs, *code.outputs)))}. Pass real and imaginary parts"
            )
        return code


def _connected(variables: Sequence[Any]) -> set[int]:
    return {i for i, x in enumerate(variables) if not isinstance(x.type, DisconnectedType)}


def _with_batches(op: Call, node: Apply, *inputs: Any) -> list[Any]:
    """For `vectorize_graph`: leading axes broadcast as NumPy's do."""
    batches = [x.type.ndim - old.type.ndim for x, old in zip(inputs, node.inputs, strict=True)]
    names = [f"batch {i}" for i in range(max(batches, default=0), 0, -1)]
    if not names:
        results: list[Any] = op(*inputs, return_list=True)
        return results
    given, dims = [], []
    for x, own, count in zip(inputs, op.dims, batches, strict=True):
        leading = names[len(names) - count :]
        stretched = [i for i in range(count) if x.type.shape[i] == 1]  # by name, such a dim is not there
        given.append(x.squeeze(stretched) if stretched else x)
        dims.append((*[d for i, d in enumerate(leading) if i not in stretched], *own))
    there = tuple(d for d in names if any(d in of for of in dims))
    batched = Call(Batched(op.function, there) if there else op.function, dims, op.options)
    results = batched(*given, return_list=True)
    lacking = [i for i, d in enumerate(names) if d not in there]
    return [pt.expand_dims(y, lacking) for y in results] if lacking else results


_vectorize_node.register(Call, _with_batches)


# ---- code of other modes ---------------------------------------------------------------------------------------------


def _for_numba(op: Call, node: Apply, **_: Any) -> Any:
    code = op.at(node)
    code.load()
    return call_of(code, code.program, [y.type for y in node.outputs])


numba_funcify.register(Call)(_for_numba)


class _ForXla(Feature):
    """Tells that XLA will run a graph: there, each size is known to our programs, and to PyTensor's types it is not."""


class _ForJax(GraphRewriter):
    """Makes the op known to PyTensor's JAX mode, which alone asks for this. It changes no graph."""

    def apply(self, fgraph: Any) -> None:
        fgraph.attach_feature(_ForXla())
        from pytensor.link.jax.dispatch.basic import jax_funcify

        if Call not in jax_funcify.registry:
            jax_funcify.register(Call)(_for_jax)


def _for_jax(op: Call, node: Apply, **_: Any) -> Callable[..., Any]:
    """XLA's code calls ours, by `xt.to_jax`."""
    from . import jax

    f = jax.function(Positional(_BRIDGE, _Named(op.function), op.at(node).specs))

    def call(*arrays: Any) -> Any:
        with op.under_options():
            found = f(*arrays)
        return found[0] if len(found) == 1 else tuple(found)

    return call


class _Named:
    """A function of a list of arrays with the name that errors tell."""

    def __init__(self, f: Flat) -> None:
        self.f, self.__name__ = f, f.name

    def __call__(self, *arrays: Any) -> list[Any]:
        return self.f(*arrays)


# ---- rewrites --------------------------------------------------------------------------------------------------------


class _Together(GraphRewriter):
    """Makes one program of a call and its pullback, or has the call keep residuals for it; drops unused results."""

    def add_requirements(self, fgraph: Any) -> None:
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: Any) -> None:
        for node in _calls(fgraph):
            if node in fgraph.apply_nodes:
                with node.op.under_options():
                    self._join(fgraph, node, [n for n in _calls(fgraph) if _is_derived(n, node)])
        for node in _calls(fgraph):
            used = tuple(i for i, y in enumerate(node.outputs) if fgraph.clients[y])
            if used and len(used) < len(node.outputs):
                results = node.op.of(Kept(node.op.function, used))(*node.inputs, return_list=True)
                _replace(fgraph, [node.outputs[i] for i in used], results)

    def _join(self, fgraph: Any, node: Apply, derived: list[Apply]) -> None:
        """`derived`: calls of derivatives of `node` at its arguments."""
        count = len(node.inputs)
        if len(derived) == 1 and node not in apply_ancestors(derived[0].inputs[count:]):
            (other,) = derived
            results = other.op.of(replace(other.op.function, valued=True))(*other.inputs, return_list=True)
            _replace(fgraph, [*node.outputs, *other.outputs], results)
            return
        back = [n for n in derived if isinstance(n.op.function, Pullback)]
        if not back or any(isinstance(f, _ForXla) for f in fgraph._features):
            return
        code = node.op.at(node)
        moving = floats(code.specs)
        wrt = [j for j, i in enumerate(moving) if any(fgraph.clients[n.outputs[j]] for n in back)]
        parts = Parts(node.op.function, code.specs, tuple(moving[j] for j in wrt))
        kept = node.op.of(Forward(parts))(*node.inputs, return_list=True)
        _replace(fgraph, node.outputs, kept[: len(node.outputs)])
        residuals = [kept[i] if i >= 0 else node.inputs[-1 - i] for i in parts.residuals]
        for n in back:
            given = dict(zip(n.op.function.of, n.inputs[count:], strict=True))
            cotangents = [given[i] if i in given else pt.zeros_like(kept[i]) for i in parts.moving]
            backward = Backward(parts)
            op = Call(backward, [s.dims for s in backward.specs], n.op.options)
            results = op(*residuals, *cotangents, return_list=True)
            _replace(fgraph, [n.outputs[j] for j in wrt], results)


def _calls(fgraph: Any) -> list[Apply]:
    return [node for node in fgraph.toposort() if isinstance(node.op, Call)]


def _is_derived(node: Apply, of: Apply) -> bool:
    function = node.op.function
    return (
        isinstance(function, (Pullback, Pushforward))
        and not function.valued
        and function.base == of.op.function
        and all(x is y for x, y in zip(node.inputs, of.inputs, strict=False))
    )


def _replace(fgraph: Any, old: Sequence[Any], new: Sequence[Any]) -> None:
    pairs = list(zip(old, new, strict=True))
    fgraph.replace_all_validate([(a, b) for a, b in pairs if a in fgraph.variables], reason="xtensor_together")


# After the merge that follows the fusion of ops, and before ops work in place.
optdb.register("xtensor_together", _Together(), "fast_run", "fast_compile", position=49.05)
optdb.register("xtensor_for_jax", _ForJax(), "jax", position=49.04)
