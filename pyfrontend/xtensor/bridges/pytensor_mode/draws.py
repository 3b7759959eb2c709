"""Random variables of PyTensor: the same distributions, drawn by the counters of `xt.random`.

A generator of NumPy gives a seed for each call of a program. Inside of the program, a key stands for it, and each node
draws with a part of the key. So the numbers are not those of PyTensor's other modes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from ... import ops, random
from ...base.errors import UnsupportedError
from .distributions import DISTRIBUTIONS, Draw
from .graph import Run, fixed, found, implements
from .values import axis, is_array, kept, longest, named, renamed, squeezed


@implements("PermutationRV", known=lambda node: node.inputs[1 : 2 + (not node.inputs[2].type.ndim)])
def permutation(op: Any, node: Apply) -> Run:
    type_ = node.inputs[2].type
    if op.batch_ndim(node):
        raise UnsupportedError(f'the mode "XTENSOR" has no batches of permutations, as in {node.outputs[1]}')

    def run(key: Any, _: Any, x: Any) -> Any:
        own, after = random.split(key, 2)
        if not type_.ndim:
            return [after, random.permutation(own, ops.arange(int(fixed(x, "the size", node)), dim=axis(0)), axis(0))]
        return [after, random.permutation(own, named(x, type_), axis(0))]

    return run


# Parameters that are sizes, by the name of the class.
_SIZES = {"StickBreakingWeightsRV": (1,)}


def _known(node: Apply) -> list[Any]:
    return [node.inputs[1], *(node.inputs[2 + i] for i in found(_SIZES, node.op) or ())]


@implements("RandomVariable", known=_known)
def random_variable(op: Any, node: Apply) -> Run:
    distribution = found(DISTRIBUTIONS, op)
    if distribution is None:
        raise UnsupportedError(f'the mode "XTENSOR" has no {type(op).__name__}, as in {node.outputs[1]}')
    out = node.outputs[1].type
    batch = out.ndim - op.ndim_supp
    dtype = out.dtype if np.dtype(out.dtype).kind == "f" else "f8"

    static = found(_SIZES, op) or ()

    def parameter(i: int, x: Any) -> Any:
        v, core = node.inputs[2 + i], op.ndims_params[i]
        if i in static:
            return np.asarray(fixed(x, "a size", node)).item()
        own = v.type.ndim - core
        names = {axis(i): axis(batch - own + i) for i in range(own)}
        return renamed(named(x, v.type), names | {axis(own + j): f"core{j}" for j in range(core)})

    def run(key: Any, sizes: Any, *given: Any) -> Any:
        own, after = random.split(key, 2)
        parameters = [parameter(i, x) for i, x in enumerate(given)]
        sizes_of_all = longest(x for x in parameters if is_array(x))
        wanted = {axis(i): sizes_of_all[axis(i)] for i in range(batch) if axis(i) in sizes_of_all}
        if sizes is not None and np.size(fixed(sizes, "the size", node)):
            wanted |= {axis(i): int(n) for i, n in enumerate(np.atleast_1d(sizes))}
        parameters = [squeezed(x, wanted) if is_array(x) else x for x in parameters]
        wanted = {d: n for d, n in wanted.items() if d in {axis(i) for i in kept(out)}}
        x = distribution(Draw(own, wanted, dtype), *parameters)
        return [after, renamed(x, {f"core{j}": axis(batch + j) for j in range(op.ndim_supp)})]

    return run
