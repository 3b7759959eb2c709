"""Arrays of all processes, and the part that each has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import tree
from ..base.dims import describe_array
from ..call.arrays import array, as_array
from ..labels.parts import joined
from ..labels.xarray import labels_of
from ..values.mesh import Layout, Mesh


def local(x: Any, mesh: Mesh, split: Mapping[str, str]) -> Any:
    """Returns this process's part of each array of the pytree `x`, which every process has as a whole.

    A dim that `split` maps to a dim of the mesh becomes shorter by the number of processes along it; other dims stay.
    Parts have one size, but the last ones may have less. ``xt.gather`` is the inverse.

    Raises:
        DimensionError: `split` names a dim that the mesh lacks.

    Example:
    >>> mesh = xt.Mesh(data=1)
    >>> xt.local(xt.array([1.0, 2.0], "sample"), mesh, {"sample": "data"}).values
    array([1., 2.])
    """
    layout = Layout(mesh, split)

    def part(leaf: Any) -> Any:
        given = as_array(leaf)
        return given.isel(layout.slice("xt.local", given.dims, given.shape))

    return tree.map(part, x)


def gather(x: Any, mesh: Mesh, split: Mapping[str, str]) -> Any:
    """Returns the whole of each array of the pytree `x`, of which every process has a part; all must call it.

    The inverse of ``xt.local``: a dim that `split` maps to a dim of the mesh becomes longer by the number of processes
    along it. Coordinates along such a dim are joined, too.

    Raises:
        DimensionError: `split` names a dim that the mesh lacks.

    Example:
    >>> mesh = xt.Mesh(data=1)
    >>> xt.gather(xt.array([1.0, 2.0], "sample"), mesh, {"sample": "data"}).values
    array([1., 2.])
    """
    layout = Layout(mesh, split)
    parts = tree.map(as_array, x)
    told = ", ".join(describe_array(p) for p in tree.leaves(parts))
    equal = ", ".join(f"{layout.equal(p)} {sorted(labels_of(p).coords)}" for p in tree.leaves(parts))
    mesh.agree(layout.key(f"xt.gather {equal}"), f"xt.gather of {told or 'no arrays'}")

    def whole(given: Any) -> Any:
        values = given.values
        split_dims = layout.split_dims("xt.gather", given.dims, given.shape)
        for along, d in split_dims.items():
            values = np.concatenate(mesh.comms[along].allgather(values), given.dims.index(d))
        made = array(values, given.dims)
        return made if given.meta is None else made._with_meta(joined("xt.gather", labels_of(given), split_dims, mesh))

    return tree.map(whole, parts)
