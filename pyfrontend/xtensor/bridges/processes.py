"""Arrays of all processes, and the part that each has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import tree
from ..base.dims import describe_array
from ..base.errors import UnsupportedError
from ..call.arrays import array, as_array
from ..labels.xarray import Labels, labels_of
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
        return made if given.meta is None else made._with_meta(_joined(labels_of(given), split_dims, mesh))

    return tree.map(whole, parts)


def _joined(labels: Labels, split_dims: Mapping[str, str], mesh: Mesh) -> Labels:
    """The labels of the whole of an array; all processes have coordinates of the same names."""
    coords = {}
    for name in sorted(labels.coords):
        variable = labels.coords[name]
        for along, d in split_dims.items():
            if d not in variable.dims:
                continue
            if labels.levels:
                raise UnsupportedError(
                    f"xt.gather: labels of several levels along {d!r} are not joined. Pass x.reset_index(..), or "
                    "xt.array(x.values, x.dims)"
                )
            concat: Any = type(variable).concat
            variable = concat(mesh.comms[along].allgather(variable), d)
        coords[name] = variable
    return Labels({name: coords[name] for name in labels.coords}, labels.name, labels.attrs, labels.levels)
