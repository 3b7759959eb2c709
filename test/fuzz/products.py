"""Products of matrices in random programs: batches of them, with factors and results in any order of memory."""

from __future__ import annotations

from typing import Any

from maker import Maker, makes
from named import FLOATS

_DTYPES = ("bfloat16", "bfloat16", "float16", "float32")
# Of rows, columns and the sum: large enough for the products of the runtime, and few enough for NumPy's long doubles.
_SIZES = (1, 4, 7, 16, 17, 32, 33, 40)
_BATCHES = (1, 2, 2, 3, 5)


def _factor(g: Maker, dtype: str, dims: list[str]) -> str:
    """An input whose memory has the dims in any order, read in another one."""
    g.rng.shuffle(dims)
    name = g.input(dtype, tuple(dims))
    if g.rng.random() < 0.5:
        return name
    g.rng.shuffle(dims)
    return g.add("transpose", [name], {"dims": tuple(dims)}) or name


@makes(2)
def _make_batch(g: Maker) -> Any:
    dtypes = [d for d in _DTYPES if d in g.kind.dtypes] or [d for d in FLOATS if d in g.kind.dtypes]
    if g.depth or not dtypes:
        return None
    dtype = g.rng.choice(dtypes)
    rows, inner, columns, batch = (g.new_dim(g.rng.choice(sizes)) for sizes in (_SIZES, _SIZES, _SIZES, _BATCHES))
    if len({rows, inner, columns, batch}) < 4:
        return None
    first = _factor(g, dtype, [batch, rows, inner])
    second = _factor(g, dtype, [*([batch] if g.rng.random() < 0.8 else []), inner, columns])
    y = g.add("dot", [first, second], {"dim": inner})
    if y is None:
        return None
    order = list(g.values[y].dims)
    g.rng.shuffle(order)
    return g.add("transpose", [y], {"dims": tuple(order)})
