"""Arguments whose dims go by position: the dims of each, as `args=` of a bridge gives them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ..base import tree
from ..base.calls import call_with, counted, shown
from ..base.dims import as_names, describe
from ..base.dtypes import as_dtype
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, SizeError
from ..call.arguments import name_of, needs_function, signature_of
from ..labels.xarray import is_dataarray
from ..trace.program import result_leaves
from ..trace.tracer import Tracer
from ..values.array import Array
from ..values.spec import Spec, spec


class _Words(NamedTuple):
    """What a user of another library writes there."""

    made: str  # an array of a list of numbers
    cast: str  # x with the dtype {}
    transposed: str  # x with its axes in the order that follows
    of_array: str  # xtensor's array
    of_numpy: str  # the NumPy array {}
    of_number: str


_WORDS = {
    "to_jax": _Words(
        made="jnp.array([1.0, 2.0])",
        cast='x.astype("{}")',
        transposed="x.transpose",
        of_array="x.values",
        of_numpy="{}",
        of_number="jnp.asarray(x)",
    ),
    "to_torch": _Words(
        made="torch.tensor([1.0, 2.0])",
        cast="x.to(torch.{})",
        transposed="x.permute",
        of_array="torch.from_dlpack(x)",
        of_numpy="torch.as_tensor({})",
        of_number="torch.tensor(x)",
    ),
}


class Positional:
    """A function of pytrees of named arrays as one of a list of arrays. `specs`: the types of these arrays.

    What is not an array in `args` is a constant of the function. parameters: whether the first argument is the pytree
    of parameters, which a caller does not give.
    """

    def __init__(self, bridge: str, f: Callable[..., Any], args: Any, parameters: bool = False) -> None:
        needs_function(bridge, f)
        if not isinstance(args, (tuple, list)):
            args = (args,)
        self.bridge, self.f, self.name, self.words = bridge, f, name_of(f), _WORDS.get(bridge, _WORDS["to_jax"])
        leaves, self.structure = tree.flatten(tuple(args))
        self.leaves = [_spec(bridge, x) for x in leaves]
        self.specs = [x for x in self.leaves if isinstance(x, Spec)]
        if not self.specs and self.leaves:
            raise ArgumentTypeError(
                f"xt.{bridge}({self.name}): args= has the type of no array, but {shown(self.leaves[0])}. Give the type "
                'of each argument, xt.spec(batch=None, pixel=784, dtype="f4"), or an array as an example'
            )
        self.hidden = int(parameters)
        self.every = tree.paths(tuple(args[self.hidden :]))
        if parameters:
            self.every = [f"parameters{path}" for path in tree.paths(args[0])] + self.every
        self.paths = [p for p, x in zip(self.every, self.leaves, strict=True) if isinstance(x, Spec)]
        self.shape: tree.TreeDef | None = None  # of the result; known once the function was traced

    def __call__(self, *arrays: Any) -> list[Any]:
        """The results of the function, in a list."""
        given = iter(arrays)
        args = self.structure.unflatten([next(given) if isinstance(x, Spec) else x for x in self.leaves])
        out, self.shape = result_leaves(call_with(self.bridge, self.f, args), self.name)
        return out

    def by_position(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call, those by keyword in the places of the function's parameters."""
        if not keywords:
            return args
        signature = signature_of(self.f)
        bound = None
        if signature is not None:
            with suppress(TypeError):
                bound = signature.bind(*args, **keywords)
        if bound is None or bound.kwargs:
            raise ArgumentTypeError(
                f"xt.{self.bridge}({self.name}): {next(iter(keywords))}= is given by keyword, and is not one of the "
                "arguments that args= lists by position. Give these in their order"
            )
        return bound.args

    def arrays_of(self, args: tuple[Any, ...]) -> list[Any]:
        """The arrays in the arguments of a call."""
        given, structure = tree.flatten(args)
        if structure != self.structure:
            # The order of keys does not matter: other libraries sort them.
            paths = tree.paths(args[self.hidden :])
            hidden = len(given) - len(paths)  # those of parameters are there as they are
            by_path = dict(zip([*self.every[:hidden], *paths], given, strict=True))
            given = [by_path[p] for p in self.every if p in by_path]
            if not len(given) == len(by_path) == len(self.every):
                raise self._refused(structure)
        found = []
        for x, known, path in zip(given, self.leaves, self.every, strict=True):
            if isinstance(known, Spec):
                found.append(x)
            elif x is not known and not (type(x) is type(known) and x == known):
                raise ArgumentError(
                    f"xt.{self.bridge}({self.name}): argument {path} is {shown(x)}, and args= says {shown(known)}. "
                    f"What is not an array is a constant: call xt.{self.bridge} for each value, or pass an array"
                )
        return found

    def _refused(self, structure: tree.TreeDef) -> ArgumentTypeError:
        def told(whole: tree.TreeDef) -> str:
            return f"({', '.join(map(str, whole.children[self.hidden :]))})"

        return ArgumentTypeError(
            f"xt.{self.bridge}({self.name}): the arguments are {told(structure)}, and those of args= are "
            f"{told(self.structure)}. Give one array for each * of args=: a list of numbers is {self.words.made}"
        )

    def instead(self, x: Any) -> str:
        """What to write in place of an object that is not an array of the library; "" for the rest."""
        if isinstance(x, Tracer):
            return f". xtensor traces it: call the function of named arrays itself, {self.name}(..)"
        if is_dataarray(x):
            return f". Write {self.words.of_numpy.format('x.values')}, or call the function of named arrays itself"
        if isinstance(x, Array):
            return f". Write {self.words.of_array}, or call the function of named arrays itself"
        if isinstance(x, np.ndarray):
            return f". Write {self.words.of_numpy.format('x')}"
        if isinstance(x, (bool, int, float, complex, np.generic)):
            return f". Write {self.words.of_number}"
        return ""

    def check(self, number: int, dtype: str, sizes: Sequence[int]) -> None:
        """Refuses an array of a call that differs from what `args` says, by its dtype and sizes."""
        wanted = self.specs[number]
        what = f"xt.{self.bridge}({self.name}): argument {self.paths[number]}"
        if dtype != wanted.dtype.name:
            text = f"{what} is {dtype}, and args= says {wanted.dtype.name}"
            if self.paths[number].startswith("parameters"):
                raise DTypeError(f"{text}. Its module was converted: make it from parameters= of {dtype} instead")
            cast = self.words.cast.format(wanted.dtype.name)
            raise DTypeError(f'{text}. Write {cast}, or say dtype="{dtype}" in args=')
        if not _fits(sizes, wanted.shape):
            named = describe(wanted.dims, wanted.shape)
            raise SizeError(f"{what} has the shape {tuple(sizes)}, and args= says {named}. {self._axes(sizes, wanted)}")

    def _axes(self, sizes: Sequence[int], wanted: Spec) -> str:
        """What to do about a shape that does not fit."""
        if len(sizes) != wanted.ndim:
            return "Give it one axis for each dim, in this order"
        for order in itertools.permutations(range(len(sizes))) if len(sizes) <= 4 else ():
            if _fits([sizes[i] for i in order], wanted.shape):
                return f"If its axes have another order, write {self.words.transposed}{order}"
        return "In args=, None stands for any size"


def _fits(sizes: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(sizes) == len(wanted) and all(m in (None, n) for n, m in zip(sizes, wanted, strict=True))


def with_names(bridge: str, args: Any, dims: Any) -> Any:
    """`args` with a type in place of each array without names. dims: its names, in the order of these arrays. A type
    without values, such as jax.ShapeDtypeStruct, fixes the sizes, and an array as an example leaves them open."""
    if isinstance(dims, str) or not isinstance(dims, (tuple, list)):
        raise ArgumentTypeError(
            f"xt.{bridge}(dims=): a list with the names of each array is needed, got {shown(dims)}. Write "
            'dims=[("batch", "pixel"), "pixel"]'
        )
    leaves, structure = tree.flatten(args)
    bare = [i for i, x in enumerate(leaves) if hasattr(x, "shape") and hasattr(x, "dtype") and not hasattr(x, "dims")]
    if len(bare) != len(dims):
        raise ArgumentError(
            f"xt.{bridge}(dims=): there are names for {counted(len(dims), 'array')}, and args= has {len(bare)} without "
            "names"
        )
    for i, given in zip(bare, dims, strict=True):
        x, names = leaves[i], as_names(given)
        if len(names) != len(x.shape):
            raise DimensionError(f"xt.{bridge}(dims=): {names} does not name the dims of shape {tuple(x.shape)}")
        sizes = [None] * len(names) if hasattr(x, "__array__") else list(x.shape)
        leaves[i] = Spec._of(tuple(names), tuple(sizes), as_dtype(x.dtype))
    return structure.unflatten(leaves)


def _spec(bridge: str, x: Any) -> Any:
    """The type of an example; what is not an array stays."""
    if isinstance(x, Spec):
        return x
    if hasattr(x, "dims") and hasattr(x, "dtype") and hasattr(x, "sizes"):
        return spec({str(d): None for d in x.dims}, dtype=x.dtype)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        further = ', or name the dims of each by dims=[("batch", "pixel"), ..]' if bridge == "to_jax" else ""
        raise ArgumentTypeError(
            f"xt.{bridge}: args= holds an array without named dims, of shape {tuple(x.shape)}. Write "
            f'xt.spec(batch=None, pixel=784, dtype="f4") in its place{further}'
        )
    return x
