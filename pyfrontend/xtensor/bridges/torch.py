"""Functions of named arrays as ops of PyTorch, which have derivatives and work under torch.compile."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .. import _native
from ..base import tree
from ..base.calls import with_article
from ..base.errors import ArgumentTypeError, DeviceError, Error, UnsupportedError
from ..base.latest import Latest
from ..call.arguments import Call
from ..call.arrays import array, as_array
from ..call.opened import MOST
from ..compiler.executable import native_type
from ..transforms.jit import Jitted, jit
from ..transforms.split import Split
from ..transforms.vjp import exact, vjp
from ..values import options
from ..values.array import Array
from ..values.spec import Spec, spec_of_type
from .positions import Positional

_numbers = itertools.count()


def function(given: Positional) -> Callable[..., Any]:
    """The function of tensors that `xt.to_torch` returns."""
    ops = _Ops(given, given.name, given.specs)
    known = Latest(MOST)  # dtypes and sizes of calls that were found right

    def call(*args: Any, **keywords: Any) -> Any:
        tensors = given.arrays_of(given.by_position(args, keywords))
        known(tuple([_key(t) for t in tensors]), lambda: _check(given, tensors))
        results = ops(tensors)
        assert given.shape is not None  # set as the types of the results were found
        return given.shape.unflatten(results)

    call.__name__ = call.__qualname__ = given.name
    call.__doc__ = given.f.__doc__
    # TorchDynamo leaves the call as it is in its graph. AOTAutograd then meets the ops.
    left: Callable[..., Any] = torch._dynamo.nonstrict_trace(call)
    return left


def _key(t: Any) -> Any:
    return (t.dtype, t.device, t.layout, *map(int, t.shape)) if isinstance(t, torch.Tensor) else type(t)


def _check(given: Positional, tensors: Sequence[Any]) -> None:
    for number, (path, t) in enumerate(zip(given.paths, tensors, strict=True)):
        what = f"xt.to_torch({given.name}): argument {path}"
        if not isinstance(t, torch.Tensor):
            instead = ". Write torch.from_dlpack(x)" if hasattr(t, "__dlpack__") else ""
            raise ArgumentTypeError(f"{what} is {with_article(type(t).__name__)}, not a torch.Tensor{instead}")
        if t.device.type != "cpu":
            raise DeviceError(f"{what} is on {t.device}. Move it by x.cpu()")
        if t.layout != torch.strided:
            raise UnsupportedError(f"{what} is {t.layout}. Write x.to_dense()")
        given.check(number, str(t.dtype).removeprefix("torch."), [int(n) for n in t.shape])


class Module(torch.nn.Module):
    """A function whose first argument is a pytree of parameters."""

    def __init__(self, f: Callable[..., Any], parameters: Any, args: tuple[Any, ...]) -> None:
        super().__init__()
        leaves, self._structure = tree.flatten(parameters)
        self._names = []
        # Python numbers, too, are parameters and not constants.
        arrays = [_parameter(leaf, path) for leaf, path in zip(leaves, tree.paths(parameters), strict=True)]
        for path, leaf in zip(tree.paths(parameters), arrays, strict=True):
            name = re.sub(r"\W+", "_", path).strip("_") or "value"
            while hasattr(self, name):
                name += "_"
            tensor = torch.from_dlpack(leaf).clone()
            self.register_parameter(name, torch.nn.Parameter(tensor, requires_grad=_floating(tensor)))
            self._names.append(name)
        self._call = function(Positional("to_torch", f, (self._structure.unflatten(arrays), *args), parameters=True))

    def forward(self, *args: Any, **keywords: Any) -> Any:
        return self._call(self._structure.unflatten([getattr(self, name) for name in self._names]), *args, **keywords)


def _parameter(leaf: Any, path: str) -> Array:
    try:
        found: Array = as_array(leaf)
    except Error:
        kind = (
            f"{with_article(type(leaf).__name__)}{f' of shape {tuple(leaf.shape)}' if hasattr(leaf, 'shape') else ''}"
        )
        raise ArgumentTypeError(
            f"xt.to_torch(parameters=): parameters{path} is {kind}. It is a pytree of arrays with named dims, such as "
            '{"w": xt.ones(pixel=3)}; for a tensor write xt.array(x, dims=("pixel",))'
        ) from None
    return found


class _Ops:
    """The ops of one function of a list of arrays: its value, its value with residuals, and its pullback."""

    def __init__(self, f: Callable[..., list[Any]], name: str, kinds: Sequence[Spec]) -> None:
        self.f, self.name = f, name
        self.kinds = kinds  # dims and dtypes of the arguments
        self.count: int | None = None  # of the results
        self.value: Jitted[..., Any] = jit(lambda *arrays: f(*arrays))
        self.outputs, self.splits = Latest(MOST), Latest(MOST)  # by the sizes of the arguments
        self.second: _Ops | None = None
        base = f"xtensor::{re.sub(r'[^A-Za-z0-9_]', '_', name)}_{next(_numbers)}"
        define = torch.library.custom_op
        lists = "(Tensor[] xs) -> Tensor[]"
        self.plain = define(base, self._run, mutates_args=(), schema=lists)
        self.plain.register_fake(self._fake_value)
        self.forward = define(f"{base}_forward", self._run_forward, mutates_args=(), schema=lists)
        self.forward.register_fake(self._fake_forward)
        self.forward.register_autograd(self._backward, setup_context=_keep)
        self.back = define(
            f"{base}_back", self._run_back, mutates_args=(),
            schema="(Tensor[] xs, Tensor[] residuals, Tensor[] cotangents) -> Tensor[]",
        )  # fmt: skip
        self.back.register_fake(
            lambda xs, residuals, cotangents: [torch.empty(t.shape, dtype=t.dtype) for t in xs if _floating(t)]
        )
        self.back.register_autograd(self._backward_twice, setup_context=_keep_all)

    def __call__(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        if self.count is None:
            self.count = len(self._results(tensors))
        if any(torch.autograd.forward_ad.unpack_dual(t).tangent is not None for t in tensors):
            raise UnsupportedError(
                f"xt.to_torch({self.name}): a tensor has a tangent. Call xt.jvp inside of the function"
            )
        if any(map(_is_transformed, tensors)):
            raise UnsupportedError(
                f"xt.to_torch({self.name}): torch.func.grad, vmap and their like do not reach into the function. Use "
                "torch.autograd.grad, or transform the function itself: xt.to_torch(xt.grad(f), args), or "
                'xt.vectorize(f, "batch")'
            )
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return list(self.forward(tensors))[: self.count]
        return list(self.plain(tensors))

    # ---- types ----

    def _specs(self, tensors: Sequence[torch.Tensor]) -> list[Spec]:
        return [Spec(k.dims, tuple(map(int, t.shape)), k.dtype) for k, t in zip(self.kinds, tensors, strict=True)]

    def _results(self, tensors: Sequence[torch.Tensor]) -> tuple[Spec, ...]:
        """The types of the results."""

        def types() -> tuple[Spec, ...]:
            program = self.value.trace(*self._specs(tensors)).program
            return tuple(program.leaves(program.outputs))

        return self.outputs(_sizes(tensors), types)

    def _split(self, tensors: Sequence[torch.Tensor]) -> _Split:
        return self.splits(_sizes(tensors), lambda: _Split(self.f, self._specs(tensors)))

    def _fake_value(self, xs: list[torch.Tensor]) -> list[torch.Tensor]:
        return [_fake(s) for s in self._results(xs)]

    def _fake_forward(self, xs: list[torch.Tensor]) -> list[torch.Tensor]:
        return [_fake(s) for s in self._split(xs).forward_program.outputs]

    # ---- what runs ----

    def _arrays(self, tensors: Sequence[torch.Tensor]) -> list[Array]:
        return [_array(t, k.dims) for t, k in zip(tensors, self.kinds, strict=True)]

    def _run(self, xs: list[torch.Tensor]) -> list[torch.Tensor]:
        return _tensors(self.value(*self._arrays(xs)), xs)

    def _run_forward(self, xs: list[torch.Tensor]) -> list[torch.Tensor]:
        entry = self._split(xs)
        return _tensors(entry.forward.run(entry.inputs(self._arrays(xs))), xs)

    def _run_back(
        self, xs: list[torch.Tensor], residuals: list[torch.Tensor], cotangents: list[torch.Tensor]
    ) -> list[torch.Tensor]:
        entry = self._split(xs)
        inputs = entry.inputs(self._arrays(xs))
        known = {
            # The names of residuals may be the compiler's own.
            i: _array(x, [f"axis{n}" for n in range(len(t.dims))])._view(t)
            for (i, t), x in zip(entry.kept, residuals, strict=True)
        }
        found = [known[i] if i >= 0 else inputs[-1 - i] for i in entry.residuals]
        cts = [
            exact(_array(ct, t.dims), t, None, "xt.to_torch: the cotangent")
            for (_, t), ct in zip(entry.cotangents, cotangents, strict=True)
        ]
        return _tensors(entry.run_backward(found, cts), [*xs, *residuals, *cotangents])

    # ---- derivatives ----

    def _backward(self, ctx: Any, grads: Sequence[torch.Tensor | None]) -> Any:
        n, saved = ctx.number, ctx.saved_tensors  # read once: torch.utils.checkpoint gives them once
        return self.pulled(list(saved[:n]), saved[n:], grads)

    def pulled(
        self, xs: list[torch.Tensor], outputs: Sequence[torch.Tensor], grads: Sequence[torch.Tensor | None]
    ) -> list[torch.Tensor | None]:
        """The gradients by the arguments, of results and residuals as `forward` gives them."""
        entry = self._split(xs)
        residuals = [outputs[i] for i, _ in entry.kept]
        cotangents = []
        for i, _ in entry.cotangents:
            g = grads[i]
            cotangents.append(torch.zeros_like(outputs[i]) if g is None else g)
        gradients: list[torch.Tensor | None] = [None] * len(xs)
        for i, g in zip(entry.moving, self.back(xs, residuals, cotangents), strict=True):
            gradients[i] = g
        return gradients

    def _backward_twice(self, ctx: Any, grads: Sequence[torch.Tensor | None]) -> Any:
        """The pullback of the pullback, as of a function of the arguments and the cotangents."""
        n = ctx.number
        both = list(ctx.saved_tensors)
        if self.second is None:
            cotangents = self._split(both[:n]).cotangents
            f = _pullback_of(self.f, n, [i for i, _ in cotangents])
            kinds = [*self.kinds, *(spec_of_type(t) for _, t in cotangents)]
            self.second = _Ops(f, f"{self.name}_back", kinds)
        gradients = self.second.pulled(both, self.second.forward(both), grads)
        return gradients[:n], [None] * ctx.residuals, gradients[n:]


def _keep(ctx: Any, inputs: tuple[list[torch.Tensor]], output: list[torch.Tensor]) -> None:
    (xs,) = inputs
    ctx.number = len(xs)
    ctx.save_for_backward(*xs, *output)


def _keep_all(
    ctx: Any, inputs: tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]], output: list[torch.Tensor]
) -> None:
    xs, residuals, cotangents = inputs
    ctx.number, ctx.residuals = len(xs), len(residuals)
    ctx.save_for_backward(*xs, *cotangents)


def _pullback_of(f: Callable[..., list[Any]], n: int, numbers: Sequence[int]) -> Callable[..., list[Any]]:
    """The gradients by the first `n` arguments, as a function of these and of the cotangents of some results."""

    def pullback(*arrays: Any) -> list[Any]:
        def chosen(*xs: Any) -> list[Any]:
            found = f(*xs)
            return [found[i] for i in numbers]

        _, back = vjp(chosen, *arrays[:n])
        return [g for g in back(list(arrays[n:])) if g is not None]

    return pullback


class _Split(Split):
    """kept: the results of `forward` that the pullback needs, by number, with their types."""

    def __init__(self, f: Callable[..., Any], specs: Sequence[Spec]) -> None:
        super().__init__(f, Call(tuple(specs), {}, f, abstract=True))
        outputs = self.forward_program.outputs
        self.kept = [(i, native_type(outputs[i])) for i in sorted({i for i in self.residuals if i >= 0})]


def _sizes(tensors: Sequence[torch.Tensor]) -> Any:
    """A key of the sizes of arguments."""
    return options.current(), *[tuple(map(int, t.shape)) for t in tensors]


def _is_transformed(t: torch.Tensor) -> bool:
    """Whether it belongs to a transformation of torch.func."""
    inner = torch._C._functorch
    return bool(inner.is_batchedtensor(t) or inner.is_gradtrackingtensor(t))


def _floating(t: torch.Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def _fake(s: Spec) -> torch.Tensor:
    return torch.empty([n or 0 for n in s.shape], dtype=getattr(torch, s.dtype.name))


def _array(t: torch.Tensor, dims: Sequence[str]) -> Array:
    t = t.detach().resolve_conj().resolve_neg()
    # NumPy has no bfloat16.
    return array(t, dims=dims) if t.dtype == torch.bfloat16 else _native.from_buffer(t.numpy(), dims)


def _tensors(found: Sequence[Any], given: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Results as tensors that share no memory with the arguments, nor with each other: PyTorch's ops may not."""
    taken = {t.untyped_storage().data_ptr() for t in given}
    results = []
    for x in found:
        t = torch.from_dlpack(x).contiguous()
        start = t.untyped_storage().data_ptr()
        results.append(t.clone() if start in taken else t)
        taken.add(start)
    return results
