"""Arrays in files: pytrees with their dims as safetensors; named arrays with their labels as netCDF and Zarr.

Only data is read: no file can run code.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .aot import structure as structures
from .aot.schema import RefusedError
from .base import tree
from .base.dims import as_names, brief
from .base.dtypes import as_dtype, bfloat16
from .base.errors import ArgumentError, ArgumentTypeError, DTypeError, Error, UnsupportedError, file_error
from .base.files import path_of, write_file
from .call.arrays import array, as_array
from .labels.dataset import Variables, is_dataset
from .labels.xarray import from_xarray, is_dataarray, to_xarray
from .ops.arguments import fail
from .trace.scope import tracing
from .values.array import Array

_KEY = "xtensor"  # what safetensors' metadata calls ours
_DTYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "U32": "u4", "I32": "i4", "U64": "u8", "I64": "i8",
    "F16": "f2", "BF16": "bfloat16", "F32": "f4", "F64": "f8", "C64": "c8",
}  # fmt: skip
_COMPLEX = np.dtype("c16")
_SUFFIXES = ".safetensors, .nc (netCDF) or .zarr"


def save(arrays: Any, path: str | os.PathLike[str]) -> None:
    """Writes a pytree of arrays to a file, whose suffix says the format; `load_arrays` reads it.

    ".safetensors": any pytree of dicts, lists, tuples, named tuples, dataclasses and None. The file keeps
    structure and dims, and loses labels, names and attributes. Needs safetensors.
    ".nc", ".zarr": one mapping of names, such as a dict or a Dataset, whose arrays are written with their coordinates
    and attributes by xarray. Needs what xarray writes with (netCDF4, h5netcdf or SciPy; zarr).

    Example:
    >>> xt.save({"w": xt.ones(row=2), "b": 0.5}, "weights.safetensors")
    >>> xt.load_arrays("weights.safetensors")["w"].dims
    ('row',)
    """
    if tracing():
        raise fail(ArgumentError, "save", "traced arrays have no values to write", instead="Save what the call returns")
    place = path_of(path, "save(path=)")
    if place.suffix == ".safetensors":
        _save_tensors(arrays, place)
    elif place.suffix in (".nc", ".zarr"):
        _save_dataset(arrays, place)
    else:
        raise fail(ArgumentError, "save", f"the suffix of {place.name!r} is not {_SUFFIXES}")


def load_arrays(path: str | os.PathLike[str], *, dims: Mapping[str, Any] | None = None) -> Any:
    """Returns the arrays of a file that `save`, or another program, wrote.

    ".safetensors": the pytree that was saved; named tuples and dataclasses come back as classes with the same fields.
    From a file of another program: a dict of names; `dims` is a dict from these names to the dims of each array, by
    default dim_0, dim_1 ..
    ".nc", ".zarr": a dict of names, whose arrays have their coordinates and attributes.
    Raises ArgumentError if the file is damaged, and MissingFileError, a FileNotFoundError, if it does not exist.

    Example:
    >>> xt.save({"w": xt.ones(row=2)}, "weights.safetensors")
    >>> xt.load_arrays("weights.safetensors")
    {'w': <xtensor.Array (row: 2) float64>
    [1. 1.]}
    """
    place = path_of(path, "load_arrays(path=)")
    if place.suffix == ".safetensors":
        return _load_tensors(place, dims or {})
    if place.suffix in (".nc", ".zarr"):
        if dims is not None:
            raise fail(ArgumentError, "load_arrays", f"{place.name} contains the names of dims: leave dims= out")
        return _load_dataset(place)
    raise fail(ArgumentError, "load_arrays", f"the suffix of {place.name!r} is not {_SUFFIXES}")


# -- safetensors ------------------------------------------------------------------------------------------------------


def _library(op: str) -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise fail(
            UnsupportedError, op, "safetensors is not installed", instead="Run pip install safetensors"
        ) from None
    return safetensors


def _leaf(x: Any, path: str, op: str = "save") -> Array:
    if isinstance(x, np.ndarray) and x.ndim:
        raise fail(ArgumentTypeError, op, f"the leaf{path and f' {path}'} is a NumPy array, whose axes have no names")
    try:
        return as_array(x)
    except Error:
        raise fail(ArgumentTypeError, op, f"the leaf{path and f' {path}'} is not an array but {brief(x)}",
                   instead="A .safetensors file holds any pytree of arrays") from None  # fmt: skip


def _names(paths: list[str]) -> list[str]:
    """As other programs write them: layers.0.w."""
    found: list[str] = []
    for path in paths:
        stem = path.replace("['", ".").replace("']", "").replace("[", ".").replace("]", "").strip(".") or "array"
        name, count = stem, 1
        while name in found or name == "__metadata__":  # which the format keeps for itself
            count += 1
            name = f"{stem}#{count}"
        found.append(name)
    return found


def _save_tensors(arrays: Any, place: Path) -> None:
    library = _library("save")
    leaves, structure = tree.flatten(arrays)
    paths = tree.paths(arrays)
    found = [_leaf(x, path) for x, path in zip(leaves, paths, strict=True)]
    names = _names(paths)
    try:
        shape = structures.to_json(structure, "the arrays")
    except UnsupportedError as error:
        text = error.parts[0].removeprefix("xt.export: ").partition(". Export")[0].replace("a bundle", "a file")
        raise fail(UnsupportedError, "save", text) from None
    about = {"structure": shape, "names": names, "dims": [list(x.dims) for x in found]}
    values = {n: np.ascontiguousarray(x.values) if x.dims else x.values for n, x in zip(names, found, strict=True)}
    # The format has no complex128: two numbers along a last axis.
    about["pairs"] = [n for n, v in values.items() if v.dtype == _COMPLEX]
    values |= {n: np.stack([values[n].real, values[n].imag], -1) for n in about["pairs"]}
    data = library.numpy.save(values, {_KEY: json.dumps(about)})
    _written("save", place, lambda: write_file(place, data))


def _written(op: str, place: Path, write: Any) -> Any:
    try:
        return write()
    except OSError as error:
        raise file_error(ArgumentError, f"xt.{op}: {place}: {error.strerror or error}", error) from None


def _load_tensors(place: Path, dims: Mapping[str, Any]) -> Any:
    library = _library("load_arrays")
    data = _written("load_arrays", place, place.read_bytes)
    try:
        tensors = dict(library.deserialize(data))
    except Exception as error:  # the library's own class of errors, which it does not promise
        raise fail(ArgumentError, "load_arrays", f"{place} is damaged: {error}") from None
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, tensor in tensors.items():
        dtype = _DTYPES.get(tensor["dtype"])
        if dtype is None:
            raise fail(DTypeError, "load_arrays", f"{name!r} is {tensor['dtype']}, which arrays do not hold")
        arrays[name] = np.frombuffer(tensor["data"], as_dtype(dtype)).reshape(tensor["shape"])
    length = int.from_bytes(data[:8], "little")
    about = json.loads(data[8 : 8 + length]).get("__metadata__", {}).get(_KEY)
    if about is None:
        return {name: _named(name, x, dims.get(name)) for name, x in arrays.items()}
    if dims:
        raise fail(ArgumentError, "load_arrays", f"{place.name} contains the names of dims: leave dims= out")
    return _as_saved(place, arrays, about)


def _named(name: str, x: np.ndarray[Any, Any], dims: Any) -> Array:
    names = tuple(f"dim_{i}" for i in range(x.ndim)) if dims is None else as_names(dims)
    if len(names) != x.ndim:
        raise fail(ArgumentError, "load_arrays", f"{name!r} has {x.ndim} axes, not {len(names)}")
    return array(x, dims=names)


def _as_saved(place: Path, arrays: Mapping[str, np.ndarray[Any, Any]], about: str) -> Any:
    """The pytree, whose structure is as little to be trusted as the rest of the file."""
    try:
        said = json.loads(about)
        structure = structures.as_structure(structures.tree(said["structure"], "structure"))
        pairs = {n: arrays[n].view(_COMPLEX)[..., 0] for n in said.get("pairs", [])}
        arrays = {**arrays, **pairs}
        leaves = [array(arrays[n], dims=tuple(d)) for n, d in zip(said["names"], said["dims"], strict=True)]
        return structure.unflatten(leaves)
    except (RefusedError, Error, LookupError, TypeError, ValueError, RecursionError) as error:
        raise fail(ArgumentError, "load_arrays", f"{place} is damaged: {error!s:.200}") from None


# -- by xarray --------------------------------------------------------------------------------------------------------


def _save_dataset(arrays: Any, place: Path) -> None:
    import xarray

    if isinstance(arrays, Variables):
        arrays = dict(arrays)
    if not is_dataset(type(arrays)):
        if not isinstance(arrays, Mapping) or not all(isinstance(k, str) for k in arrays):
            raise fail(
                ArgumentTypeError, "save", f"{place.suffix} holds a mapping of names, not {brief(arrays)}",
                instead='Write {"heat": heat}; .safetensors holds any pytree',
            )  # fmt: skip
        found = {k: x if is_dataarray(x) else to_xarray(_leaf(x, f"[{k!r}]")) for k, x in arrays.items()}
        try:
            arrays = xarray.Dataset({k: x.rename(None) for k, x in found.items()})
        except ValueError as error:
            raise fail(ArgumentError, "save", f"the arrays do not go into one Dataset: {error}") from None
    small = [k for k, x in arrays.data_vars.items() if x.dtype in (np.dtype("f2"), bfloat16)]
    if small:
        raise fail(
            DTypeError, "save", f"{small[0]!r} is {arrays[small[0]].dtype}, which {place.suffix} does not hold",
            instead='Write x.astype("f4"), or a .safetensors file',
        )  # fmt: skip
    both = [k for k, x in arrays.variables.items() if x.dtype.kind == "c"]
    if both and place.suffix == ".nc":
        raise fail(
            DTypeError, "save", f"{both[0]!r} is {arrays[both[0]].dtype}, which .nc does not hold",
            instead="Write x.real and x.imag, or a .zarr or .safetensors file",
        )  # fmt: skip
    groups = [k for k in (*arrays.variables, *arrays.dims) if "/" in str(k)]
    if groups:
        raise fail(ArgumentError, "save", f"the name {groups[0]!r} has a slash, which {place.suffix} takes for a group",
                   instead="Rename it; .safetensors holds any names")  # fmt: skip
    write = arrays.to_netcdf if place.suffix == ".nc" else arrays.to_zarr
    how = {} if place.suffix == ".nc" else {"mode": "w"}
    there = place.resolve()  # a store replaces a folder, and not a link to one
    _by_xarray("save", place, lambda: write(there, **how))


def _load_dataset(place: Path) -> dict[str, Array]:
    import xarray

    read = xarray.open_dataset if place.suffix == ".nc" else xarray.open_zarr

    def load() -> Any:
        with read(place) as opened:
            return opened.load()

    found = _by_xarray("load_arrays", place, load)
    return {str(k): from_xarray(x) for k, x in found.data_vars.items()}


def _by_xarray(op: str, place: Path, act: Any) -> Any:
    """What xarray and the libraries that it calls do, their errors as ours."""
    is_missing = not place.exists() if op == "load_arrays" else not place.resolve().parent.is_dir()
    if is_missing:
        problem = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
        raise file_error(ArgumentError, f"xt.{op}: {place}: {problem.strerror}", problem)
    try:
        return act()
    except (ImportError, ModuleNotFoundError) as error:
        raise fail(UnsupportedError, op, f"xarray needs another package for {place.suffix}: {error}") from None
    except (OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise fail(ArgumentError, op, f"{place}: {error!s:.300}") from None
