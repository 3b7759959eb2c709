"""Arrays in files: pytrees with their dims as safetensors; named arrays with their labels as netCDF and Zarr.

Only data is read: no file can run code.
"""

from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .aot import structure as structures
from .aot.schema import RefusedError
from .base import tree
from .base.calls import in_words, with_article
from .base.dims import as_names, suggestion
from .base.dtypes import as_dtype, bfloat16
from .base.errors import ArgumentError, ArgumentTypeError, DTypeError, Error, LabelError, UnsupportedError, file_error
from .base.files import path_of, write_file
from .call.arrays import array, as_array
from .labels.dataset import Variables, combined, is_dataset
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

    ".safetensors": any pytree of dicts, lists, tuples, named tuples, dataclasses and None. The file keeps structure and
    dims, and loses labels, names and attributes. Needs safetensors. ".nc", ".zarr": one mapping of names, such as a
    dict or a Dataset, whose arrays are written with their coordinates and attributes by xarray. Needs what xarray
    writes with (netCDF4, h5netcdf or SciPy; zarr).

    Raises:
        ArgumentError: the suffix is another one.
        MissingFileError: the folder does not exist.
        DimensionError: labels differ in a file that has one set of labels for all arrays.

    Example:
    >>> xt.save({"w": xt.ones(row=2), "b": 0.5}, "weights.safetensors")
    >>> xt.load_arrays("weights.safetensors")["w"].dims
    ('row',)
    """
    if tracing():
        raise fail(ArgumentError, "save", "traced arrays have no values to write", instead="Save what the call returns")
    if isinstance(arrays, (str, os.PathLike)) and not isinstance(path, (str, os.PathLike)):
        raise fail(
            ArgumentTypeError, "save", f"the path of a file comes second, not {_kind(path)}",
            instead="Write xt.save(arrays, path)",
        )  # fmt: skip
    place = path_of(path, "save(path=)")
    if place.suffix == ".safetensors":
        _save_tensors(arrays, place)
    elif place.suffix in (".nc", ".zarr"):
        _save_dataset(arrays, place)
    else:
        raise fail(ArgumentError, "save", f"the suffix of {place.name!r} is not {_SUFFIXES}")


def load_arrays(
    path: str | os.PathLike[str], *, names: Iterable[str] | None = None, dims: Mapping[str, Any] | None = None
) -> Any:
    """Returns the arrays of a file that `save`, or another program, wrote.

    ".safetensors": the pytree that was saved; named tuples and dataclasses come back as classes with the same fields.
    From a file of another program: a dict of names; `dims` is a dict from these names to the dims of each array, by
    default dim_0, dim_1 .. ".nc", ".zarr": a dict of names, whose arrays have their coordinates and attributes.
    names: reads these arrays only, in this order, and returns a dict.

    Raises:
        LabelError: the file lacks one of `names`.
        ArgumentError: the file is damaged, or its suffix is another one.
        MissingFileError: the file does not exist.

    Example:
    >>> xt.save({"w": xt.ones(row=2)}, "weights.safetensors")
    >>> xt.load_arrays("weights.safetensors")
    {'w': <xtensor.Array (row: 2) float64>
    [1. 1.]}
    """
    place = path_of(path, "load_arrays(path=)")
    wanted = None if names is None else (names,) if isinstance(names, str) else tuple(names)
    if wanted is not None and not all(isinstance(name, str) for name in wanted):
        raise fail(ArgumentTypeError, "load_arrays", "names= are strings", instead='Write names=["heat", "rain"]')
    if place.suffix == ".safetensors":
        return _load_tensors(place, dims or {}, wanted)
    if place.suffix in (".nc", ".zarr"):
        if dims is not None:
            raise fail(ArgumentError, "load_arrays", f"{place.name} contains the names of dims: leave dims= out")
        return _load_dataset(place, wanted)
    raise fail(
        ArgumentError, "load_arrays", f"the suffix of {place.name!r} is not {_SUFFIXES}",
        instead="Write xt.load(path) for a bundle" if place.suffix == ".xtb" else "",
    )  # fmt: skip


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
        names = ", ".join(f'"{"xyz"[i]}"' if x.ndim < 4 else f'"dim_{i}"' for i in range(x.ndim))
        raise fail(
            ArgumentTypeError, op, f"the leaf{path and f' {path}'} is a NumPy array, whose axes have no names",
            instead=f"Write xt.array(a, dims=({names}{',' * (x.ndim == 1)}))",
        )  # fmt: skip
    try:
        return as_array(x)
    except Error:
        raise fail(ArgumentTypeError, op, f"the leaf{path and f' {path}'} is not an array but {_kind(x)}",
                   instead="A .safetensors file holds any pytree of arrays") from None  # fmt: skip


def _kind(x: Any) -> str:
    """A value in messages: a container by its class, as its text is long."""
    is_container = isinstance(x, (Mapping, list, tuple, set, frozenset, bytes))
    return with_article(type(x).__name__) if is_container else in_words(x)


def _check_names(place: Path, names: Iterable[str], there: Iterable[Any]) -> None:
    there = sorted(map(str, there))
    for name in names:
        if name not in there:
            has = ", ".join(map(repr, there[:10])) + ", .." * (len(there) > 10)
            problem = f"{place} has no array {name!r}; it has {has or 'none'}{suggestion(name, there)}"
            raise fail(LabelError, "load_arrays", problem)


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


def _load_tensors(place: Path, dims: Mapping[str, Any], wanted: tuple[str, ...] | None) -> Any:
    library = _library("load_arrays")
    data = _written("load_arrays", place, place.read_bytes)
    try:
        tensors = dict(library.deserialize(data))
    except Exception as error:  # the library's own class of errors, which it does not promise
        raise fail(ArgumentError, "load_arrays", f"{place} is damaged: {error}") from None
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    if wanted is not None:
        _check_names(place, wanted, tensors)
    for name, tensor in [(name, tensors[name]) for name in (tensors if wanted is None else wanted)]:
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
    return _as_saved(place, arrays, about, wanted)


def _named(name: str, x: np.ndarray[Any, Any], dims: Any) -> Array:
    names = tuple(f"dim_{i}" for i in range(x.ndim)) if dims is None else as_names(dims)
    if len(names) != x.ndim:
        raise fail(ArgumentError, "load_arrays", f"{name!r} has {x.ndim} axes, not {len(names)}")
    return array(x, dims=names)


def _as_saved(
    place: Path, arrays: Mapping[str, np.ndarray[Any, Any]], about: str, wanted: tuple[str, ...] | None
) -> Any:
    """The pytree, or a dict of those that are wanted. What the file says of them is as little to be trusted as the
    rest of it."""
    try:
        said = json.loads(about)
        pairs = {n: arrays[n].view(_COMPLEX)[..., 0] for n in said.get("pairs", []) if n in arrays or wanted is None}
        arrays = {**arrays, **pairs}
        names_and_dims = [*zip(said["names"], said["dims"], strict=True)]
        if wanted is not None:
            dims = dict(names_and_dims)
            return {n: array(arrays[n], dims=tuple(dims[n])) for n in wanted}
        structure = structures.as_structure(structures.tree(said["structure"], "structure"))
        return structure.unflatten([array(arrays[n], dims=tuple(d)) for n, d in names_and_dims])
    except (RefusedError, Error, LookupError, TypeError, ValueError, RecursionError) as error:
        raise fail(ArgumentError, "load_arrays", f"{place} is damaged: {error!s:.200}") from None


# -- by xarray --------------------------------------------------------------------------------------------------------

_NETCDF = (b"CDF", b"\x89HDF\r\n\x1a\n")  # how such a file begins: of version 3, of version 4
_LACKED_BY_3 = frozenset(map(np.dtype, ("i8", "u8", "u4", "u2", "u1")))


def _save_dataset(arrays: Any, place: Path) -> None:
    arrays = arrays if is_dataset(type(arrays)) else _dataset(arrays, place)
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
    several = [d for d, index in arrays.indexes.items() if index.nlevels > 1]
    if several:
        raise fail(
            ArgumentError, "save", f"dim {several[0]!r} has a MultiIndex, which {place.suffix} does not hold",
            instead=f'Write x.unstack("{several[0]}"), or leave its labels out',
        )  # fmt: skip
    there = place.resolve()  # a store replaces a folder, and not a link to one
    if place.suffix == ".zarr":
        _by_xarray("save", place, lambda: arrays.to_zarr(there, mode="w"))
        return
    how = {"engine": "scipy"} if _writes_version_3() else {}
    wide = [k for k, x in arrays.data_vars.items() if how and x.dtype in _LACKED_BY_3]
    if wide:
        raise fail(
            DTypeError, "save", f"{wide[0]!r} is {arrays[wide[0]].dtype}. Of the packages that write .nc, only SciPy "
            "is installed, which writes netCDF 3, without this dtype",
            instead='Run pip install netCDF4, or write x.astype("i4")',
        )  # fmt: skip
    _by_xarray("save", place, lambda: arrays.to_netcdf(there, **how))


def _writes_version_3() -> bool:
    """Whether SciPy is all that xarray has for .nc."""
    from xarray.backends import list_engines

    return list_engines().keys() & {"netcdf4", "h5netcdf", "scipy"} == {"scipy"}


def _dataset(arrays: Any, place: Path) -> Any:
    """A Dataset of a mapping of names to arrays, whose labels must agree."""
    if not isinstance(arrays, Mapping):
        raise fail(
            ArgumentTypeError, "save", f"{place.suffix} holds arrays by name, not {_kind(arrays)}",
            instead='Write {"heat": heat}; .safetensors holds any pytree',
        )  # fmt: skip
    for name, x in arrays.items():
        if not isinstance(name, str):
            raise fail(
                ArgumentTypeError, "save", f"names are strings, not {in_words(name)}",
                instead=f'Write {{"{name!s:.20}": ..}}; .safetensors holds dicts with other keys',
            )  # fmt: skip
        if tree.structure(x) != tree.structure(0.0):
            raise fail(
                ArgumentTypeError, "save", f"{name!r} is {_kind(x)}, and {place.suffix} holds one array for each name",
                instead="Give each array a name of its own; .safetensors holds any pytree",
            )  # fmt: skip

    def refuse(kind: type[Error], problem: str) -> Error:
        otherwise = "Write one file for each, or a .safetensors file, which does not keep labels"
        if "has the name of" in problem:
            otherwise = "Give it another name, or write a .safetensors file"
        elif "the coordinates" in problem:
            otherwise = f"Leave them out of one, with x.drop_vars(..). {otherwise}"
        return fail(kind, "save", f"the arrays do not go into one {place.suffix} file: {problem}", instead=otherwise)

    found = {k: x if is_dataarray(x) else to_xarray(_leaf(x, f"[{k!r}]")) for k, x in arrays.items()}
    return combined(found, arrays.attrs if isinstance(arrays, Variables) else {}, refuse)


def _load_dataset(place: Path, wanted: tuple[str, ...] | None) -> dict[str, Array]:
    import xarray

    read = xarray.open_dataset if place.suffix == ".nc" else xarray.open_zarr

    def load() -> Any:
        with read(place) as opened:
            if wanted is None:
                return {str(k): x.load() for k, x in opened.data_vars.items()}
            _check_names(place, wanted, opened.variables)
            return {k: opened[k].load() for k in wanted}

    found = _by_xarray("load_arrays", place, load)
    return {k: _loaded(place, k, x, [n for n, y in found.items() if y.dtype.kind in "biufc"]) for k, x in found.items()}


def _loaded(place: Path, name: str, x: Any, others: list[str]) -> Array:
    if x.dtype.kind in "biufc":
        return from_xarray(x)
    read = "open_dataset" if place.suffix == ".nc" else "open_zarr"
    kind = "strings" if x.dtype.kind in "OUST" else x.dtype
    only = f"names={others[:4]!r}" if len(others) < 5 else f"names={others[:4]!r} or more of them"
    raise fail(
        DTypeError, "load_arrays", f"{name!r} of {place} holds {kind}, and arrays hold bools and numbers",
        instead=f"xarray.{read}({str(place)!r})[{name!r}] reads it"
        + (f". Write {only} to load the others" if others else ""),
    )  # fmt: skip


def _by_xarray(op: str, place: Path, act: Any) -> Any:
    """What xarray and the libraries that it calls do, their errors as ours."""
    is_missing = not place.exists() if op == "load_arrays" else not place.resolve().parent.is_dir()
    if is_missing:
        problem = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
        raise file_error(ArgumentError, f"xt.{op}: {place}: {problem.strerror}", problem)
    try:
        with warnings.catch_warnings():
            # A store has its metadata also in one piece, or has not: both are right.
            warnings.filterwarnings("ignore", "Consolidated metadata is currently not part")
            warnings.filterwarnings("ignore", "Failed to open Zarr store with consolidated metadata")
            return act()
    except Error:
        raise
    except (ImportError, ModuleNotFoundError) as error:
        raise fail(UnsupportedError, op, f"xarray needs another package for {place.suffix}: {error}") from None
    except (OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise fail(ArgumentError, op, f"{place} {_what_is_wrong(op, place, error)}") from None


def _what_is_wrong(op: str, place: Path, error: Exception) -> str:
    """With a file. xarray's text is long: its first sentence says it."""
    if op == "load_arrays" and place.suffix == ".nc" and place.is_file():
        with place.open("rb") as file:
            start = file.read(8)
        if not start.startswith(_NETCDF):
            return "is not a netCDF file, which begins with CDF or HDF"
        if "did not find a match" in str(error):
            return "is damaged, or needs another package: pip install netCDF4 reads every version of netCDF"
    if op == "load_arrays" and place.suffix == ".zarr" and isinstance(error, FileNotFoundError):
        return "is not a Zarr store"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    said = (text.splitlines() or [type(error).__name__])[0].partition(". ")[0]
    return f"cannot be {'read' if op == 'load_arrays' else 'written'}: {said:.300}"
