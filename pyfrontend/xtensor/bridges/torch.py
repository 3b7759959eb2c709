"""Functions of named arrays as ops of PyTorch, which have derivatives and work under torch.compile."""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
import uuid
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
from .flat import Batched, Named
from .positions import Positional

_numbers = itertools.count()


class Function:
    """The function of tensors that `xt.to_torch` returns. Pickles and copies have what it was made of."""

    def __init__(self, given: Positional) -> None:
        self._given = given
        self.__name__ = self.__qualname__ = given.name
        self.__doc__ = given.f.__doc__
        ops = _Ops(given, given.name, given.specs)
        # An exported program finds its ops by name. In another process, this name must not be that of another function.
        exported = functools.cache(lambda: _Ops(given, given.name, given.specs, f"_{uuid.uuid4().hex}"))
        known = Latest(MOST)  # dtypes and sizes of calls that were found right

        def call(*args: Any, **keywords: Any) -> Any:
            tensors = given.arrays_of(given.by_position(args, keywords))
            known(tuple([_key(t) for t in tensors]), lambda: _check(given, tensors))
            results = (exported() if torch.compiler.is_exporting() else ops)(tensors)
            assert given.shape is not None  # set as the types of the results were found
            return given.shape.unflatten(results)

        # TorchDynamo leaves the call as it is in its graph. AOTAutograd then meets the ops.
        self._call = torch._dynamo.nonstrict_trace(call)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._call(*args, **keywords)

    def __repr__(self) -> str:
        return f"<to_torch of {self.__name__}>"

    def __reduce__(self) -> Any:
        given = self._given
        args = given.structure.unflatten(given.leaves)
        return _again, (given.f, args, bool(given.hidden))


def _again(f: Callable[..., Any], args: Any, parameters: bool) -> Function:
    return Function(Positional("to_torch", f, args, parameters))


def _key(t: Any) -> Any:
    return (t.dtype, t.device, t.layout, *map(int, t.shape)) if isinstance(t, torch.Tensor) else type(t)


def _check(given: Positional, tensors: Sequence[Any]) -> None:
    for number, (path, t) in enumerate(zip(given.paths, tensors, strict=True)):
        what = f"xt.to_torch({given.name}): argument {path}"
        if not isinstance(t, torch.Tensor):
            kind = with_article(type(t).__name__)
            raise ArgumentTypeError(f"{what} is {kind}, not a torch.Tensor{given.instead(t)}")
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
        self._call = Function(Positional("to_torch", f, (self._structure.unflatten(arrays), *args), parameters=True))

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

    def __init__(self, f: Callable[..., list[Any]], name: str, kinds: Sequence[Spec], token: str = "") -> None:
        self.f, self.name, self.token = f, name, token
        self.kinds = kinds  # dims and dtypes of the arguments
        self.count: int | None = None  # of the results
        self.value: Jitted[..., Any] = jit(lambda *arrays: f(*arrays))
        self.outputs, self.splits = Latest(MOST), Latest(MOST)  # by the sizes of the arguments
        self.second: _Ops | None = None
        self.batches = Latest(MOST)  # ops of a batch, by the arguments that have its dim

    def define(self, tensors: Sequence[torch.Tensor]) -> None:
        """Defines the ops, once: at the first call. Their names say which program they run: PyTorch keeps compiled
        graphs on disk, with the sizes and dtypes of results, and finds them by names of ops."""
        if self.count is not None:
            return
        program = self.value.trace(*self._specs(tensors)).program
        text = f"{options.current()}{program.module.operation.get_asm()}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        base = f"xtensor::{re.sub(r'[^A-Za-z0-9_]', '_', self.name)}_{next(_numbers)}_{digest}{self.token}"
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
        self.plain.register_vmap(self._mapped)
        self.back.register_vmap(self._back_mapped)
        self.count = len(self._results(tensors))

    def __call__(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        self.define(tensors)
        if any(torch.autograd.forward_ad.unpack_dual(t).tangent is not None for t in tensors):
            raise UnsupportedError(
                f"xt.to_torch({self.name}): a tensor has a tangent. Call xt.jvp inside of the function"
            )
        if any(map(_is_tracked, tensors)):
            raise UnsupportedError(
                f"xt.to_torch({self.name}): torch.func.grad and its like do not reach into the function. Use "
                "torch.autograd.grad, or transform the function itself: xt.to_torch(xt.grad(f), args)"
            )
        is_mapped = any(map(torch._C._functorch.is_batchedtensor, tensors))  # `of_batch` meets them once more
        if not is_mapped and torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return list(self.forward(tensors))[: self.count]
        return list(self.plain(tensors))

    # ---- types ----

    def _specs(self, tensors: Sequence[torch.Tensor]) -> list[Spec]:
        return [Spec._of(k.dims, tuple(map(int, t.shape)), k.dtype) for k, t in zip(self.kinds, tensors, strict=True)]

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

    # ---- batches ----

    def of_batch(self, mapped: tuple[bool, ...]) -> _Ops:
        """The ops of the function for a batch, whose dim comes first in these arguments and in all results."""

        def ops() -> _Ops:
            dim = next(d for i in itertools.count() if (d := f"vmap{i}") not in {x for k in self.kinds for x in k.dims})
            kinds = [
                Spec._of((dim, *k.dims), (None, *k.shape), k.dtype) if has_dim else k
                for k, has_dim in zip(self.kinds, mapped, strict=True)
            ]
            return _Ops(Batched(Named(self.name, self.f), (dim,)), self.name, kinds, self.token)

        found: _Ops = self.batches(mapped, ops)
        return found

    def mapped(self, xs: Sequence[torch.Tensor], axes: Sequence[int | None]) -> tuple[list[torch.Tensor], list[int]]:
        """What torch.vmap asks for: results, and where each has the dim of the batch."""
        results = self.of_batch(tuple([a is not None for a in axes]))(list(map(_moved, xs, axes)))
        return results, [0] * len(results)

    def _mapped(self, info: Any, axes: Any, xs: list[torch.Tensor]) -> Any:
        return self.mapped(xs, axes[0])

    def _back_mapped(
        self, info: Any, axes: Any, xs: list[torch.Tensor], residuals: Any, cotangents: list[torch.Tensor]
    ) -> Any:
        one = [x if a is None else x.select(a, 0) for x, a in zip(xs, axes[0], strict=True)]
        return self._pullback(one).mapped([*xs, *cotangents], [*axes[0], *axes[2]])

    # ---- derivatives ----

    def _pullback(self, xs: list[torch.Tensor]) -> _Ops:
        """The pullback as ops of a function of the arguments and the cotangents."""
        if self.second is None:
            cotangents = self._split(xs).cotangents
            f = _pullback_of(self.f, len(xs), [i for i, _ in cotangents])
            kinds = [*self.kinds, *(spec_of_type(t) for _, t in cotangents)]
            self.second = _Ops(f, f"{self.name}_back", kinds, self.token)
        return self.second

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
        pull = self._pulled_batch if any(map(_is_of_old_vmap, [*cotangents, *xs])) else self.back
        for i, g in zip(entry.moving, pull(xs, residuals, cotangents), strict=True):
            gradients[i] = g
        return gradients

    def _pulled_batch(self, xs: list[torch.Tensor], residuals: Any, cotangents: list[torch.Tensor]) -> Any:
        """As `back`, where torch.autograd.grad(is_grads_batched=True) maps over the cotangents. It does so by a vmap of
        its own, which does not ask ops for rules."""
        level = torch._C._vmapmode_increment_nesting() - 1
        torch._C._vmapmode_decrement_nesting()
        every = [*xs, *cotangents]
        axes = [0 if _is_of_old_vmap(t) else None for t in every]
        whole = [t if a is None else torch._remove_batch_dim(t, level, 1, 0) for t, a in zip(every, axes, strict=True)]
        one = [x if a is None else x[0] for x, a in zip(whole[: len(xs)], axes, strict=False)]
        results, _ = self._pullback(one).mapped(whole, axes)
        return [torch._add_batch_dim(r, 0, level) for r in results]

    def _backward_twice(self, ctx: Any, grads: Sequence[torch.Tensor | None]) -> Any:
        """The pullback of the pullback, as of a function of the arguments and the cotangents."""
        n = ctx.number
        both = list(ctx.saved_tensors)
        second = self._pullback(both[:n])
        second.define(both)
        gradients = second.pulled(both, second.forward(both), grads)
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


def _is_tracked(t: torch.Tensor) -> bool:
    """Whether a derivative of torch.func is taken with respect to it."""
    inner = torch._C._functorch
    while inner.is_batchedtensor(t):
        t = inner.get_unwrapped(t)
    return bool(inner.is_gradtrackingtensor(t))


def _is_of_old_vmap(t: torch.Tensor) -> bool:
    """Whether it is a batch of torch.autograd's own vmap."""
    return bool(torch._C._functorch.is_legacy_batchedtensor(t))


def _moved(t: torch.Tensor, axis: int | None) -> torch.Tensor:
    """A tensor that torch.vmap maps along `axis`, which is the first one now."""
    return t if axis is None else t.movedim(axis, 0)


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
