"""Labels where each process has a part of the arrays: those of the whole, from which the labels of parts of results
follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.errors import UnsupportedError
from ..values.array import Array
from ..values.mesh import Layout, Mesh
from ..values.numpy import from_numpy
from ..values.spec import Spec
from .relabel import Relabel, fingerprint, is_same_argument, name_and_attrs
from .xarray import Labels, digests, is_dataarray, labels_of, to_xarray


def joined(what: str, labels: Labels, split_dims: Mapping[str, str], mesh: Mesh) -> Labels:
    """The labels of the whole of an array; all processes have coordinates of the same names. split_dims: by the dim of
    the mesh, as `Layout.split_dims` gives them."""
    coords = {}
    for name in sorted(labels.coords, key=str):
        variable = labels.coords[name]
        for along, d in split_dims.items():
            if d not in variable.dims:
                continue
            if labels.levels:
                raise UnsupportedError(
                    f"{what}: labels of several levels along {d!r} are not joined. Pass x.reset_index(..), or "
                    "xt.array(x.values, x.dims)"
                )
            concat: Any = type(variable).concat
            variable = concat(mesh.comms[along].allgather(variable), d)
        coords[name] = variable
    return Labels({name: coords[name] for name in labels.coords}, labels.name, labels.attrs, labels.levels)


class Whole:
    """Stands for the whole of an argument that has labels."""

    __slots__ = ("is_dataarray", "meta")

    def __init__(self, labels: Labels, is_dataarray: bool) -> None:
        self.meta, self.is_dataarray = labels, is_dataarray


class WholeLabels:
    """The labels of the whole of arguments, of the calls of one function. They are sent when they change."""

    def __init__(self, layout: Layout, name: str) -> None:
        self.layout, self.name = layout, name
        self.prints: list[tuple[Any, ...]] = []  # of the latest call
        self.found: dict[int, Any] = {}

    def of(self, labelled: Mapping[int, Any], specs: Sequence[Spec]) -> dict[int, Any]:
        """By number. All processes must call it."""
        if all(type(x) is Whole for x in labelled.values()):
            return dict(labelled)
        mesh = self.layout.mesh
        told = f"{self.name} with labels of argument {', '.join(map(str, labelled)) or 'none'}"
        mesh.agree(self.layout.key(told), told)
        prints = [(i, fingerprint(x), *name_and_attrs(x)) for i, x in labelled.items()]
        is_known = len(prints) == len(self.prints) and all(map(is_same_argument, prints, self.prints))
        if not all(mesh.comm.allgather(is_known)):
            self.found = self._joined(labelled, specs, told)
            self.prints = prints if all(found is not None for _, found, *_ in prints) else []
        return self.found

    def _joined(self, labelled: Mapping[int, Any], specs: Sequence[Spec], told: str) -> dict[int, Any]:
        given = {i: labels_of(x).copy() for i, x in labelled.items()}
        shapes: dict[int, Any] = {i: specs[i].shape for i in given}
        dims = {i: self.layout.split_dims(self.name, specs[i].dims, shapes[i]) for i in given}
        equal, texts = [], []  # in all processes
        for i, labels in given.items():
            split = {*dims[i].values()}
            beside = replace(labels, coords={k: v for k, v in labels.coords.items() if split.isdisjoint(v.dims)})
            names = sorted((str(k), v.dims) for k, v in labels.coords.items())
            found = sorted(digests(beside, specs[i].dims).items())
            equal.append((i, names, found, labels.levels, str(labels.name)))
            texts.append(", ".join([f"argument {i}", *(f"{k} {code[:6]}" for k, code in found)]))
        text = f"{self.name} with labels of {'; '.join(texts)} (hashes of labels)"
        self.layout.mesh.agree(self.layout.key(f"{told} {equal}"), text)
        what = f"xt.jit({self.name}, mesh=)"
        wholes = {i: joined(what, labels, dims[i], self.layout.mesh) for i, labels in given.items()}
        return {i: Whole(labels, is_dataarray(labelled[i])) for i, labels in wholes.items()}


class _Sizes:
    """Stands for the whole of a result."""

    def __init__(self, spec: Spec) -> None:
        self.sizes, self.shape, self.dims = spec.sizes, spec.shape, spec.dims


def label_parts(
    relabel: Relabel,
    results: Sequence[Array],
    outputs: Sequence[Spec],
    sources: Mapping[int, Any],
    arrays: Sequence[Array],
    given: int,
    layout: Layout,
) -> list[Any]:
    """The parts of results with labels. outputs: the wholes; sources: arguments with labels, also the wholes; arrays:
    `given` arguments as they are here, then what the program captured."""
    wholes: Any = [_Sizes(s) for s in outputs]
    made: list[Any] = []
    every = _with_positions(relabel, arrays, given, layout)
    for i, (result, labels) in enumerate(zip(results, relabel.labels(wholes, sources, every), strict=True)):
        if labels:
            result = result._with_meta(_cut(labels, outputs[i], layout))
        of_dataarray = any(getattr(x, "is_dataarray", False) for x in relabel.owned(i, sources).values())
        made.append(to_xarray(result) if of_dataarray else result)
    return made


def _with_positions(relabel: Relabel, arrays: Sequence[Array], given: int, layout: Layout) -> Sequence[Array]:
    """The arrays, but the whole of each whose values are positions that choose labels. All processes call this."""
    every = list(arrays)
    for i in sorted(relabel.read):
        x = arrays[i]
        split_dims = layout.split_dims(relabel.op, x.dims, x.shape) if i < given else {}
        values = x.values
        for along, d in split_dims.items():
            values = np.concatenate(layout.mesh.comms[along].allgather(values), x.dims.index(d))
        every[i] = from_numpy(values, x.dims) if split_dims else x
    return every


def _cut(labels: Labels, whole: Spec, layout: Layout) -> Labels:
    """Those of this process's part."""
    shape: Any = whole.shape
    places = layout.slice("labels", whole.dims, shape)
    coords = {k: v.isel({d: s for d, s in places.items() if d in v.dims}) for k, v in labels.coords.items()}
    return replace(labels, coords=coords)
