"""Which axes of a program of StableHLO are one dim: those that its ops match with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxlib.mlir.dialects import stablehlo

from .parts import blocks_of, integers, reshape_groups, shape_of, short_name


class Axes:
    """The axes of the values of one run through a program; a function that is called twice has two runs."""

    def __init__(self, functions: dict[str, Any]) -> None:
        self.functions = functions
        self.parent: list[int] = []
        self.sizes: list[int] = []

    def fresh(self, value: Any) -> list[int]:
        shape = shape_of(value)
        first = len(self.parent)
        self.parent += range(first, first + len(shape))
        self.sizes += shape
        return list(range(first, first + len(shape)))

    def find(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = i = self.parent[self.parent[i]]
        return i

    def tie(self, i: int, j: int) -> None:
        """One dim has one size."""
        if self.sizes[i] == self.sizes[j]:
            a, b = self.find(i), self.find(j)
            self.parent[max(a, b)] = min(a, b)

    def same(self, x: Sequence[int], y: Sequence[int]) -> None:
        if len(x) == len(y):
            for i, j in zip(x, y, strict=True):
                self.tie(i, j)

    def run(self, block: Any, arguments: Sequence[list[int]], outside: dict[Any, list[int]]) -> list[list[int]]:
        """The axes of what the block returns."""
        known = dict(outside)
        for v, axes in zip(block.arguments, arguments, strict=True):
            known[v] = axes
        for view in block.operations:
            op = view.operation
            xs = [known[v] for v in op.operands]
            if op.name in ("func.return", "stablehlo.return"):
                return xs
            if op.name in ("func.call", "stablehlo.composite"):
                callee = op.attributes["callee" if op.name == "func.call" else "decomposition"].value
                ys = self.run(self.functions[callee].regions[0].blocks[0], xs, {})
            else:
                ys = [self.fresh(v) for v in op.results]
                self.match(op, xs, ys, known)
            known |= dict(zip(op.results, ys, strict=True))
        return []

    def match(self, op: Any, xs: list[list[int]], ys: list[list[int]], known: dict[Any, list[int]]) -> None:
        name = short_name(op)
        rule = getattr(self, f"_{name}", None)
        if rule is not None:
            rule(op, xs, ys, known)
        elif not op.regions or name == "reduce_window":
            # Elementwise, or like slices and pads: an axis that keeps its size is the same dim.
            for y in ys:
                for x in xs:
                    self.same(x, y)

    def _while(self, op: Any, xs: list[list[int]], ys: list[list[int]], known: dict[Any, list[int]]) -> None:
        _, body = blocks_of(op)
        for x, y, z in zip(xs, ys, self.run(body, xs, known), strict=True):
            self.same(x, y)
            self.same(x, z)

    def _case(self, op: Any, xs: list[list[int]], ys: list[list[int]], known: dict[Any, list[int]]) -> None:
        for block in blocks_of(op):
            for y, z in zip(ys, self.run(block, [], known), strict=True):
                self.same(y, z)

    _if = _case

    def _broadcast_in_dim(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        for i, j in zip(xs[0], integers(op, "broadcast_dimensions"), strict=True):
            self.tie(i, ys[0][j])

    def _transpose(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        for y, i in zip(ys[0], integers(op, "permutation"), strict=True):
            self.tie(xs[0][i], y)

    def _reshape(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        for given, made in reshape_groups(shape_of(op.operands[0]), shape_of(op.results[0])):
            if len(given) == len(made) == 1:
                self.tie(xs[0][given[0]], ys[0][made[0]])

    def _reduce(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        gone = integers(op, "dimensions")
        for x in xs[: len(ys)]:
            self.same(xs[0], x)
        for y in ys:
            self.same([a for i, a in enumerate(xs[0]) if i not in gone], y)

    def _sort(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        for x in (*xs, *ys):
            self.same(xs[0], x)

    def _dot_general(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        n = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        lhs, rhs = xs
        both = list(zip(n.lhs_batching_dimensions, n.rhs_batching_dimensions, strict=True))
        summed = list(zip(n.lhs_contracting_dimensions, n.rhs_contracting_dimensions, strict=True))
        for i, j in (*both, *summed):
            self.tie(lhs[i], rhs[j])
        gone = {i for i, _ in (*both, *summed)}, {j for _, j in (*both, *summed)}
        free = [a for side, out in zip(xs, gone, strict=True) for i, a in enumerate(side) if i not in out]
        self.same([*(lhs[i] for i, _ in both), *free], ys[0])

    def _gather(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        n = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
        x, at = xs
        batch = [a for i, a in enumerate(at) if i != n.index_vector_dim]
        self.same(batch, [y for i, y in enumerate(ys[0]) if i not in n.offset_dims])
        gone = {*n.collapsed_slice_dims, *n.operand_batching_dims}
        kept = [a for i, a in enumerate(x) if i not in gone]
        self.same(kept, [ys[0][i] for i in n.offset_dims])
        for i, j in zip(n.operand_batching_dims, n.start_indices_batching_dims, strict=True):
            self.tie(x[i], at[j])

    def _scatter(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        for x, y in zip(xs, ys, strict=False):
            self.same(x, y)

    def _convolution(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        n = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        x, w, y = xs[0], xs[1], ys[0]
        self.tie(x[n.input_batch_dimension], y[n.output_batch_dimension])
        self.tie(w[n.kernel_output_feature_dimension], y[n.output_feature_dimension])
        self.tie(x[n.input_feature_dimension], w[n.kernel_input_feature_dimension])
        for i, j in zip(n.input_spatial_dimensions, n.output_spatial_dimensions, strict=True):
            self.tie(x[i], y[j])

    def _custom_call(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        for x, y in zip(xs[-1:], ys, strict=False):  # of a system, the right side
            self.same(x, y)

    def _triangular_solve(self, op: Any, xs: list[list[int]], ys: list[list[int]], _: Any) -> None:
        self.same(xs[1], ys[0])


def named(axes: Axes, values: Sequence[Sequence[int]], given: Sequence[Sequence[str]] | None) -> list[tuple[str, ...]]:
    """Names for the axes of each value. `given`: those of the first values. A name that a value has already gets a
    prime."""
    names: dict[int, str] = {}
    for value, dims in zip(values, given or (), strict=False):
        for i, d in zip(value, dims, strict=True):
            names.setdefault(axes.find(i), d)
    taken = {d for dims in given or () for d in dims}
    count, found = 0, []
    for number, value in enumerate(values):
        if given is not None and number < len(given):
            found.append(tuple(given[number]))
            continue
        dims = []
        for i in value:
            root = axes.find(i)
            while root not in names:
                if f"d{count}" not in taken:
                    names[root] = f"d{count}"
                count += 1
            d = names[root]
            while d in dims:
                d += "'"
            dims.append(d)
        found.append(tuple(dims))
    return found
