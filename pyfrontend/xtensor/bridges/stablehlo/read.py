"""Programs of StableHLO as functions of named arrays: the ops of the program, one by one, on tracers.

While it runs, a value has the dims `axis~0`, `axis~1` .. in the order of its axes. So elementwise ops match axes by
these names, and other ops rename them first. Names for users are those of arguments and results alone (names.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax.interpreters import mlir
from jax.tree_util import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten
from jaxlib.mlir import ir

from ...base.calls import counted, shown
from ...base.dims import as_names, describe
from ...base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, SizeError, UnsupportedError
from ...trace import build
from ...trace.lift import as_tracer
from ...trace.tracer import Tracer
from ...transforms.jit import jit
from .names import Axes, named
from .parts import shape_of, short_name
from .values import Reader, dtype_of, in_axes

Rules = dict[str, Callable[..., Any]]


class Imported:
    """The function `main` of a module, as one of named arrays."""

    def __init__(self, given: Any, dims: Sequence[Any] | None, rules: Rules) -> None:
        self.module, self.trees = _module(given)
        self.rules = rules
        self.functions = {f.attributes["sym_name"].value: f.operation for f in self.module.body.operations}
        main = self.functions.get("main")
        if main is None:
            raise ArgumentError(f"xt.from_stablehlo: the module has no function main, but {', '.join(self.functions)}")
        self.block = main.regions[0].blocks[0]
        name = self.module.operation.attributes
        self.__name__ = name["sym_name"].value.removeprefix("jit_") if "sym_name" in name else "main"
        self.kept = self._kept(given)
        self.paths = self._paths()
        self._name(dims)

    def _name(self, dims: Sequence[Any] | None) -> None:
        arguments = list(self.block.arguments)
        axes = Axes(self.functions)
        inputs = [axes.fresh(v) for v in arguments]
        for i, v in enumerate(arguments):
            if any(n < 0 for n in shape_of(v)):
                raise SizeError(
                    f"xt.from_stablehlo({self.__name__}): argument {i} is {v.type}, and sizes must be static. Lower "
                    "JAX's function at arrays of known shapes"
                )
        outputs = axes.run(self.block, inputs, {})
        given = None if dims is None else self._given(dims)
        found = named(axes, [*inputs, *outputs], given)
        self.dims, self.results = found[: len(inputs)], found[len(inputs) :]
        self.dtypes = [dtype_of(v) for v in arguments]
        self.shapes = [tuple(shape_of(v)) for v in arguments]

    def _given(self, dims: Sequence[Any]) -> list[tuple[str, ...]]:
        arguments = list(self.block.arguments)
        if isinstance(dims, str) or not isinstance(dims, (tuple, list)):
            raise ArgumentTypeError(f"xt.from_stablehlo(dims=): a list of the dims of each argument, not {shown(dims)}")
        every = dims
        if self.trees is not None and self.kept is not None and len(dims) == self.trees[0].num_leaves:
            every = [dims[i] for i in self.kept]
        if len(every) != len(arguments):
            raise ArgumentError(
                f"xt.from_stablehlo(dims=): {counted(len(dims), 'entry', 'entries')} for the "
                f"{counted(len(arguments), 'array')} that {self.__name__} takes"
            )
        found = []
        for i, (d, v) in enumerate(zip(every, arguments, strict=True)):
            names = as_names((d,) if isinstance(d, str) else tuple(d or ()))
            if len(names) != len(shape_of(v)):
                raise DimensionError(
                    f"xt.from_stablehlo(dims=): argument {self.paths[i]} of {self.__name__} is {v.type}, with "
                    f"{len(shape_of(v))} axes, and dims= gives it ({', '.join(names)})"
                )
            found.append(names)
        return found

    def _kept(self, given: Any) -> list[int] | None:
        """The arguments of JAX's function that the program has: JAX leaves those out that have no effect."""
        if self.trees is None:
            return None
        count, have = self.trees[0].num_leaves, len(self.block.arguments)
        if count == have:
            return list(range(count))
        lowering = getattr(given, "_lowering", None)
        kept = sorted(getattr(lowering, "compile_args", {}).get("kept_var_idx", ()))
        if len(kept) != have:
            raise ArgumentError(
                f"xt.from_stablehlo: {self.__name__} has {counted(count, 'array')} as arguments, and its program "
                f"{have}. Write jax.jit(f, keep_unused=True).lower(..)"
            )
        return kept

    def _paths(self) -> list[str]:
        """Where each array of the program is among the arguments: [0]['w'], or its number."""
        if self.trees is None or self.kept is None:
            return [str(i) for i in range(len(self.block.arguments))]
        args_and_kwargs = tree_unflatten(self.trees[0], [0] * self.trees[0].num_leaves)
        every = [keystr(tuple(path[1:])) for path, _ in tree_flatten_with_path(args_and_kwargs)[0]]
        return [every[i] for i in self.kept]

    # -- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = self._leaves(args, kwargs)
        arrays = [self._argument(i, x) for i, x in enumerate(leaves)]
        reader = Reader(self.rules, self.functions, self._lacking)
        found = reader.run(self.block, arrays, {})
        results = [self._labelled(x, dims) for x, dims in zip(found, self.results, strict=True)]
        if self.trees is not None:
            return tree_unflatten(self.trees[1], results)
        return results[0] if len(results) == 1 else tuple(results)

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if self.trees is None:
            if kwargs:
                raise ArgumentTypeError(
                    f"xt.from_stablehlo({self.__name__}): it takes its arguments by position, got {', '.join(kwargs)}="
                )
            if len(args) != len(self.dims):
                raise ArgumentTypeError(
                    f"xt.from_stablehlo({self.__name__}): it takes {len(self.dims)} "
                    f"array{'s' * (len(self.dims) != 1)}, got {len(args)}"
                )
            return list(args)
        leaves, structure = tree_flatten((args, kwargs))
        if structure != self.trees[0]:
            raise ArgumentTypeError(
                f"xt.from_stablehlo({self.__name__}): the arguments are {_told(structure)}, and those for which JAX "
                f"lowered it are {_told(self.trees[0])}"
            )
        assert self.kept is not None
        return [leaves[i] for i in self.kept]

    def _argument(self, number: int, x: Any) -> Tracer:
        dims, shape, dtype = self.dims[number], self.shapes[number], self.dtypes[number]
        what = f"{self.__name__}: argument {self.paths[number]}"
        wanted = describe(dims, shape)
        x = as_tracer(x)
        if {*x.dims} != {*dims}:
            raise DimensionError(
                f"{what} is {describe(x.dims, x.spec.shape)}, and the program takes {wanted}. Rename its dims, or give "
                "others: xt.from_stablehlo(.., dims=[..])"
            )
        if any(x.spec.sizes[d] != n for d, n in zip(dims, shape, strict=True)):
            raise SizeError(
                f"{what} is {describe(x.dims, x.spec.shape)}, and the program takes {wanted}. Lower JAX's function "
                "for these sizes"
            )
        if x.dtype != dtype:
            if not x.weak:
                raise DTypeError(
                    f"{what} is {x.dtype.name}, and the program takes {dtype.name}. Write x.astype({dtype.name!r}), or "
                    "lower JAX's function for this dtype"
                )
            x = build.cast(x, dtype)
        return in_axes(x, dims)

    def _labelled(self, x: Tracer, dims: tuple[str, ...]) -> Tracer:
        return build.rename(x, dict(zip(x.dims, dims, strict=True))) if dims else x

    def _lacking(self, op: Any, why: str, line: str | None) -> UnsupportedError:
        told = ", ".join(str(v.type) for v in op.operands)
        name = op.name
        if short_name(op) == "custom_call":
            name = f"custom_call @{op.attributes['call_target_name'].value}"
        return UnsupportedError(
            f"xt.from_stablehlo({self.__name__}): {name} of ({told}): {why or 'it has no counterpart in xtensor'}",
            line,
        )


def _module(given: Any) -> tuple[Any, Any]:
    """The module, and the structures of the arguments and the result where JAX's function tells them."""
    if hasattr(given, "compiler_ir") and hasattr(given, "in_tree"):
        return given.compiler_ir("stablehlo"), (given.in_tree, given.out_tree)
    if hasattr(given, "mlir_module") and hasattr(given, "in_tree"):  # jax.export.Exported
        return _parsed(given.mlir_module()), (given.in_tree, given.out_tree)
    if not isinstance(given, str):
        raise ArgumentTypeError(
            "xt.from_stablehlo: the text of a module is needed, or jax.jit(f).lower(..) itself, not " + shown(given)
        )
    return _parsed(given), None


def _parsed(text: str) -> Any:
    with mlir.make_ir_context():
        try:
            return ir.Module.parse(text)
        except ir.MLIRError as error:
            why = " ".join(str(error).strip().splitlines()[:3])
            raise ArgumentError(f"xt.from_stablehlo: this is not a module of StableHLO: {why}") from None


def function(given: Any, dims: Sequence[Any] | None, rules: Rules) -> Any:
    """What `xt.from_stablehlo` returns."""
    imported = Imported(given, dims, rules)

    def call(*args: Any, **kwargs: Any) -> Any:
        return imported(*args, **kwargs)

    call.__name__ = call.__qualname__ = imported.__name__
    pairs = zip(imported.dims, imported.shapes, imported.dtypes, strict=True)
    arguments = "; ".join(f"{describe(d, n)} {t.name}" for d, n, t in pairs)
    results = ", ".join(f"({', '.join(d)})" for d in imported.results)
    call.__doc__ = f"A program of StableHLO. Arguments: {arguments}. Dims of results: {results}."
    return jit(call)


def _told(structure: Any) -> str:
    """JAX's structure of arguments by position and by keyword, as a call has them."""
    told = str(structure).removeprefix("PyTreeDef((").removesuffix("))")
    return told.removesuffix(", {})").removesuffix(", {}")
