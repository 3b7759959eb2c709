"""Arrays of all processes, and the part that each has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import tree
from ..base.dims import describe_array
from ..base.errors import UnsupportedError
from ..call.arrays import array, as_array
from ..values.mesh import Layout, Mesh


def local(x: Any, mesh: Mesh, split: Mapping[str, str]) -> Any:
    """Returns this process's part of each array of the pytree `x`, which every process has as a whole.

    A dim that `split` maps to a dim of the mesh becomes shorter by the number of processes along it; other dims stay.
    It must divide; SizeError otherwise. ``xt.gather`` is the inverse.

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
    along it.

    Example:
    >>> mesh = xt.Mesh(data=1)
    >>> xt.gather(xt.array([1.0, 2.0], "sample"), mesh, {"sample": "data"}).values
    array([1., 2.])
    """
    layout = Layout(mesh, split)
    parts = tree.map(as_array, x)
    told = ", ".join(describe_array(p) for p in tree.leaves(parts))
    mesh.agree(layout.key(f"xt.gather {told}"), f"xt.gather of {told or 'no arrays'}")

    def whole(given: Any) -> Any:
        if given.meta is not None:
            raise UnsupportedError("xt.gather: labels of parts are not joined. Pass xt.array(x.values, x.dims)")
        values = given.values
        for along, d in layout.split_dims("xt.gather", given.dims, given.shape).items():
            values = np.concatenate(mesh.comms[along].allgather(values), given.dims.index(d))
        return array(values, given.dims)

    return tree.map(whole, parts)
