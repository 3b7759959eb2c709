"""Functions of named arrays as a primitive of JAX, with rules for derivatives, batches and code.

A call of the primitive has a `Program` as its parameter: a function of arrays of known sizes. Each rule makes another
program of it. The code runs as a custom call of XLA, by its foreign function interface, on XLA's memory.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir, partial_eval

from .. import _native
from ..base import dtypes
from ..base.calls import with_article
from ..base.errors import ArgumentTypeError, DTypeError, UnsupportedError
from ..base.latest import Latest
from ..call.arguments import Call
from ..call.opened import MOST
from ..compiler.executable import load
from ..ops.elementwise import conj
from ..trace import build
from ..trace import program as programs
from ..trace.inline import inline
from ..trace.lift import as_tracer
from ..transforms.derivative import Linearized
from ..transforms.split import Split
from ..transforms.vectorize import traced as vectorized
from ..transforms.vjp import vjp
from ..values import options
from ..values.spec import Spec
from .positions import Positional

_TARGET = "xtensor_program"
_X64 = 'JAX has numbers of 64 bits after jax.config.update("jax_enable_x64", True)'

_loaded = Latest(MOST)  # executables by the keys of their programs, until XLA has made its own of them


def function(given: Positional) -> Callable[..., Any]:
    """The function of JAX's arrays that `xt.to_jax` returns."""
    _register()
    known = Latest(MOST)

    def call(*args: Any, **keywords: Any) -> Any:
        arrays = [_array(given, i, x) for i, x in enumerate(given.arrays_of(given.by_position(args, keywords)))]
        shapes = tuple([x.shape for x in arrays])

        def make() -> Program:
            for i, x in enumerate(arrays):
                given.check(i, x.dtype.name, x.shape)
            specs = [Spec._of(s.dims, n, s.dtype) for s, n in zip(given.specs, shapes, strict=True)]
            made = Program(lambda *tracers: given(*tracers), specs, given.name)
            _check_results(given.name, made)
            return made

        key = (options.current(), jax.config.jax_enable_x64, shapes, tuple([x.dtype for x in arrays]))
        results = _call.bind(*arrays, program=known(key, make))
        assert given.shape is not None  # set as the program was traced
        return given.shape.unflatten(results)

    call.__name__ = call.__qualname__ = given.name
    call.__doc__ = given.f.__doc__
    return call


def _array(given: Positional, number: int, x: Any) -> Any:
    """An argument of a call as JAX has it."""
    wanted = given.specs[number].dtype
    what = f"xt.to_jax({given.name}): argument {given.paths[number]}"
    if not jax.config.jax_enable_x64 and _words(wanted):
        raise DTypeError(f"{what} is {wanted.name} in args=. {_X64}")
    if isinstance(x, jax.Array):
        return x
    if isinstance(x, (bool, int, float, complex)):
        return jnp.asarray(x, dtype=wanted)
    if not isinstance(x, (np.ndarray, np.generic)):
        kind = with_article(type(x).__name__)
        raise ArgumentTypeError(f"{what} is {kind}, not an array of JAX or NumPy{given.instead(x)}")
    given.check(number, x.dtype.name, x.shape)  # JAX may turn 64 bits into 32 without a word
    return jnp.asarray(x)


def _check_results(name: str, program: Program) -> None:
    if jax.config.jax_enable_x64:
        return
    for i, s in enumerate(program.results):
        if _words(s.dtype):
            narrow = s.dtype.name.replace("128", "64") if s.dtype.kind == "c" else s.dtype.name.replace("64", "32")
            raise DTypeError(
                f"xt.to_jax({name}): result {i} is {s.dtype.name}. Return y.astype({narrow!r}). Or else: {_X64}"
            )


# ---- programs --------------------------------------------------------------------------------------------------------


class Program:
    """A function of arrays of these types, and what JAX's rules make of it. `f` takes and gives tracers."""

    def __init__(self, f: Callable[..., Sequence[Any]], specs: Sequence[Spec], name: str, batches: int = 0) -> None:
        self.f, self.specs, self.name, self.batches = f, tuple(specs), name, batches
        self.traced = programs.trace(lambda tracers: list(f(*tracers)), self.specs, name)
        self.results: tuple[Spec, ...] = tuple(self.traced.leaves(self.traced.outputs))
        self.made: dict[Any, Any] = {}  # by the rules
        self.jitted: Any = jax.jit(lambda *arrays: _call.bind(*arrays, program=self))

    def __repr__(self) -> str:
        return self.name

    @functools.cached_property
    def constants(self) -> list[Any]:
        return [_constant(x) for x in self.traced.captured]

    @functools.cached_property
    def key(self) -> str:
        """What names the program in the code of XLA. Another process finds the same name for the same program."""
        text = self.traced.module.operation.get_asm(enable_debug_info=True)
        return hashlib.sha256(f"{options.current()}{text}".encode()).hexdigest()

    @functools.cached_property
    def executable(self) -> Any:
        return load(self.traced)

    def linearized(self, wrt: tuple[int, ...]) -> _Linear | _Gradient:
        if wrt not in self.made:
            self.made[wrt] = self._linearized(wrt)
        return self.made[wrt]

    def _linearized(self, wrt: tuple[int, ...]) -> _Linear | _Gradient:
        moving = [i for i, s in enumerate(self.results) if dtypes.is_inexact(s.dtype)]
        kinds = [self.specs[i].dtype for i in wrt] + [self.results[i].dtype for i in moving]
        if len(moving) == 1 and not self.results[moving[0]].dims and all(map(dtypes.is_float, kinds)):
            return _Gradient(self, wrt, moving[0])
        return _Linear(self, wrt)

    def transposed(self, wrt: tuple[int, ...], of: tuple[int, ...]) -> Program:
        """For a function that is linear in the arrays `wrt`: the other arrays and cotangents of the results `of` to
        cotangents of `wrt`."""
        key = "transposed", wrt, of
        if key not in self.made:
            self.made[key] = self._transposed(wrt, of)
        return self.made[key]

    def _transposed(self, wrt: tuple[int, ...], of: tuple[int, ...]) -> Program:
        others = [i for i in range(len(self.specs)) if i not in wrt]

        def back(*arrays: Any) -> list[Any]:
            fixed, cotangents = arrays[: len(others)], arrays[len(others) :]

            def chosen(*moving: Any) -> list[Any]:
                every = dict(zip((*others, *wrt), (*fixed, *moving), strict=True))
                found = self.f(*[every[i] for i in range(len(self.specs))])
                return [found[i] for i in of]

            _, pull = vjp(chosen, *[_zeros(self.specs[i]) for i in wrt])
            # JAX transposes without the conjugate that ours has.
            return [_conjugate(g) for g in pull([_conjugate(t) for t in cotangents])]

        specs = [*[self.specs[i] for i in others], *[self.results[i] for i in of]]
        return Program(back, specs, f"{self.name}.back", self.batches)

    def batched(self, axes: tuple[int | None, ...], size: int) -> Program:
        """For arrays that have the batch at `axes` besides; all results have it first."""
        key = "batched", axes, size
        if key not in self.made:
            dim = f"vmap {self.batches}"
            specs = [_with(s, dim, size, axis) for s, axis in zip(self.specs, axes, strict=True)]

            def all_of(*arrays: Any) -> list[Any]:
                return list(vectorized(lambda *xs: list(self.f(*xs)), (dim,), arrays, {}))

            self.made[key] = Program(all_of, specs, self.name, self.batches + 1)
        return self.made[key]

    def kept(self, which: tuple[int, ...]) -> Program:
        """The same with these results alone."""
        key = "kept", which
        if key not in self.made:

            def chosen(*arrays: Any) -> list[Any]:
                found = self.f(*arrays)
                return [found[i] for i in which]

            self.made[key] = Program(chosen, self.specs, self.name, self.batches)
        return self.made[key]


class _Linear:
    """A program at a point: `forward` gives its results and residuals, and `push` maps residuals and tangents of the
    arrays `wrt` to tangents of the results `moving`."""

    def __init__(self, program: Program, wrt: tuple[int, ...]) -> None:
        call = Call(program.specs, {}, program.f, abstract=True)
        split = Split(lambda *xs: list(program.f(*xs)), call, None, Linearized, wrt)

        def forward(*arrays: Any) -> list[Any]:
            return inline(split.forward_program, [*arrays, *map(as_tracer, split.captured)])

        def push(*arrays: Any) -> list[Any]:
            return inline(split.backward_program, list(arrays))

        self.forward = Program(forward, program.specs, program.name, program.batches)
        self.push = Program(push, split.backward_program.inputs, f"{program.name}.push", program.batches)
        self.moving = [i for i, _ in split.cotangents]
        self.count = len(split.results)
        self.places, self.captured, self.given = split.residuals, split.captured, len(program.specs)

    def residuals(self, arrays: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        """What `push` takes before the tangents."""
        found = []
        for i in self.places:
            j = -1 - i
            if i >= 0:
                found.append(outputs[i])
            else:
                found.append(arrays[j] if j < self.given else _constant(self.captured[j - self.given]))
        return found


class _Gradient:
    """The same for a program with one result that moves, a number: a loss. Its gradient is all that `push` needs, and
    `forward` computes both in one program, which keeps no other residuals. JAX's reverse mode then multiplies it by
    the cotangent."""

    def __init__(self, program: Program, wrt: tuple[int, ...], place: int) -> None:
        self.moving, self.count = [place], len(program.results)

        def forward(*arrays: Any) -> list[Any]:
            def chosen(*moved: Any) -> list[Any]:
                every = list(arrays)
                for i, x in zip(wrt, moved, strict=True):
                    every[i] = x
                return list(program.f(*every))

            results, pull = vjp(chosen, *[arrays[i] for i in wrt])
            one = build.constant(np.ones((), program.results[place].dtype))
            return [*results, *pull([one if i == place else None for i in range(self.count)])]

        def push(*arrays: Any) -> list[Any]:
            gradients, tangents = arrays[: len(wrt)], arrays[len(wrt) :]
            terms = [
                build.cast(build.contract((g, t), g.dims), program.results[place].dtype)
                for g, t in zip(gradients, tangents, strict=True)
            ]
            return [functools.reduce(lambda a, b: build.binary("add", a, b), terms)]

        specs = [program.specs[i] for i in wrt]
        self.forward = Program(forward, program.specs, program.name, program.batches)
        self.push = Program(push, [*specs, *specs], f"{program.name}.push", program.batches)

    def residuals(self, arrays: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        return list(outputs[self.count :])


def _with(spec: Spec, dim: str, size: int, axis: int | None) -> Spec:
    if axis is None:
        return spec
    dims, shape = list(spec.dims), list(spec.shape)
    dims.insert(axis, dim)
    shape.insert(axis, size)
    return Spec._of(tuple(dims), shape, spec.dtype)


def _zeros(spec: Spec) -> Any:
    sizes: Any = spec.sizes
    return build.broadcast(build.constant(np.zeros((), spec.dtype)), spec.dims, sizes)


def _conjugate(x: Any) -> Any:
    return conj(x) if dtypes.is_complex(x.dtype) else x


# ---- types -----------------------------------------------------------------------------------------------------------


def _words(dtype: Any) -> int:
    """How many words of 32 bits stand for an element where JAX has no type for it, else 0."""
    size: int = np.dtype(dtype).itemsize
    return size // 4 if size > (8 if np.dtype(dtype).kind == "c" else 4) else 0


def _aval(spec: Spec) -> Any:
    """The type that JAX knows. Residuals may have 64 bits where JAX has not: they are pairs of words then."""
    sizes = [n for n in spec.shape if n is not None]
    if (words := _words(spec.dtype)) and not jax.config.jax_enable_x64:
        return jax.core.ShapedArray((*sizes, words), np.dtype("uint32"))
    return jax.core.ShapedArray(tuple(sizes), np.dtype(spec.dtype))


def _constant(array: Any) -> Any:
    values = np.ascontiguousarray(array.values)
    if (words := _words(values.dtype)) and not jax.config.jax_enable_x64:
        values = values.reshape(*values.shape, 1).view(np.uint32).reshape(*values.shape, words)
    return jnp.asarray(values)


# ---- the primitive ---------------------------------------------------------------------------------------------------

_call: Any = Primitive("xtensor")
_call.multiple_results = True


def _run(*arrays: Any, program: Program) -> Any:
    return program.jitted(*arrays)


def _types(*avals: Any, program: Program) -> list[Any]:
    return [_aval(s) for s in program.results]


_call.def_impl(_run)
_call.def_abstract_eval(_types)


def _lowered(*arrays: Any, program: Program) -> Any:
    executable, key = program.executable, program.key
    _loaded(key, lambda: executable)
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in map(_aval, program.traced.outputs)]
    found = jax.ffi.ffi_call(_TARGET, types)(*arrays, *program.constants, program=key)
    return program.traced.leaves(list(found))


mlir.register_lowering(_call, mlir.lower_fun(_lowered, multiple_results=True), platform="cpu")


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, program: Program) -> tuple[Any, Any]:
    kinds = [s.dtype for s in program.specs]
    wrt = tuple([i for i, t in enumerate(tangents) if type(t) is not ad.Zero and dtypes.is_inexact(kinds[i])])
    linear = program.linearized(wrt)
    outputs = _call.bind(*primals, program=linear.forward)
    moved = _call.bind(*linear.residuals(primals, outputs), *[tangents[i] for i in wrt], program=linear.push)
    found = dict(zip(linear.moving, moved, strict=True))
    results = outputs[: linear.count]
    zeros = [ad.Zero(jax.typeof(y).to_tangent_aval()) for y in results]
    return results, [found.get(i, zero) for i, zero in enumerate(zeros)]


ad.primitive_jvps[_call] = _jvp


def _transpose(cotangents: Sequence[Any], *arrays: Any, program: Program) -> list[Any]:
    wrt = tuple([i for i, x in enumerate(arrays) if ad.is_undefined_primal(x)])
    of = tuple([i for i, t in enumerate(cotangents) if type(t) is not ad.Zero])
    back = program.transposed(wrt, of)
    others = [x for x in arrays if not ad.is_undefined_primal(x)]
    gradients: list[Any] = [None] * len(arrays)
    for i, g in zip(wrt, _call.bind(*others, *[cotangents[i] for i in of], program=back), strict=True):
        gradients[i] = g
    return gradients


ad.primitive_transposes[_call] = _transpose


def _batch(arrays: Sequence[Any], axes: Sequence[Any], *, program: Program) -> tuple[Any, Any]:
    size = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
    found = _call.bind(*arrays, program=program.batched(tuple(axes), size))
    return found, [0] * len(found)


batching.primitive_batchers[_call] = _batch


def _without_unused(used: Sequence[bool], equation: Any) -> tuple[list[bool], Any]:
    count = len(equation.invars)
    if not any(used):
        return [False] * count, None
    if all(used):
        return [True] * count, equation
    which = tuple([i for i, is_used in enumerate(used) if is_used])
    program = equation.params["program"].kept(which)
    outputs = [equation.outvars[i] for i in which]
    return [True] * count, equation.replace(outvars=outputs, params={"program": program})


partial_eval.dce_rules[_call] = _without_unused


def _find(key: str) -> Any:
    if key not in _loaded.known:
        raise UnsupportedError(
            "xt.to_jax: a program that JAX kept was not compiled in this process. Call the function by xt.to_jax"
        )
    return _loaded.known[key]


@functools.cache
def _register() -> None:
    """Makes the custom call known to XLA, once."""
    if not hasattr(_native, "jax_handlers"):
        raise UnsupportedError(
            "xt.to_jax: xtensor was built without JAX's headers. Install jaxlib, then build xtensor again: "
            "pip install --no-build-isolation --force-reinstall --no-deps xtensor-mlir"
        )
    handlers = _native.jax_handlers(_find)
    jax.ffi.register_ffi_type(_TARGET, {k: handlers[k] for k in ("type_id", "type_info")}, platform="cpu")
    stages = {k: handlers[k] for k in ("instantiate", "execute")}
    jax.ffi.register_ffi_target(_TARGET, stages, platform="cpu")
