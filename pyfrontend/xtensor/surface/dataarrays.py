"""What to write for methods of xarray's DataArray and of NumPy's ndarray that arrays do not have."""

from __future__ import annotations

_THERE = "write it of the DataArray, x.to_xarray(), and take the result by xt.as_array"
_BEFORE = "write it of the DataArray, before the call"
_HAS_VALUES = "it is not needed: an array has its values, x.values"
_WAITS = "an array is computed when its value is read: x.values waits for it"
_RETURNED = "it has no values while it is traced; the array that the call returns has values"
_EQUAL = "write (x == y).all() for the values"
_ATTRIBUTES = "attributes go from the arguments to the results, with and without xt.jit"
_CHUNKS = "arrays are not in chunks: xt.blocks(f)(x) computes with the chunks of a DataArray over Dask"
_FROZEN = "arrays do not change: x.at(time=0).set(v) gives a new one"
_MEMORY = "the memory of an array is shared read-only: write it of x.values, its NumPy array"
_PARTS = 'write it of x.coords["time"], the labels of a dim'

# Those that need nothing that a traced array lacks.
EITHER = {
    "count": "write x.notnull().sum(\"time\")",
    "reduce": "write f(x, \"time\"): functions take the names of dims, as xt.max(x, \"time\")",
    "isin": 'write (x == xt.array(values, dims="value")).any("value")',
    "drop": "write x.drop_vars(\"time\") for coordinates, x.drop_sel(time=labels) for elements",
    "drop_isel": "write x.isel(time=[i for i in range(n) if i not in dropped]), of the n positions",
    "get_axis_num": "write x.dims.index(\"time\")",
    "map_blocks": 'write xt.vectorize(f, "time"), or xt.blocks(f)(x) for chunks of Dask',
    "cumulative": "write xt.cumsum(x, \"time\"), xt.cummax(x, \"time\") or xt.cumprod(x, \"time\")",
    "query": "write x.isel(time=mask), of a mask over a dim, outside of a traced function",
    "drop_duplicates": "write xt.unique(x), or x.isel(time=positions) of the elements to keep",
    "combine_first": "write xt.where(x.notnull(), x, y)",
    "byteswap": "arrays have the byte order of the machine",
    **dict.fromkeys(("base", "ctypes", "flags", "setflags", "strides", "getfield", "flat", "resize"), _MEMORY),
    **dict.fromkeys(("fill", "put", "partition", "setfield"), _FROZEN),
    "itemsize": "write x.dtype.itemsize",
    "choose": "write xt.where(x == 0, a, b), or xt.take_along(choices, x, ..)",
    "compress": "write x.isel(time=mask), of a mask over a dim, outside of a traced function",
    "to_device": 'write x.to("cuda")',
    **dict.fromkeys(("chunk", "chunks", "chunksizes", "unify_chunks"), _CHUNKS),
}  # fmt: skip

# Of arrays that have values.
VALUES = {
    "polyfit": 'write xt.polyfit(x.coords["time"], x, 1)',
    "differentiate": 'write xt.gradient(x, "time", x.coords["time"])',
    "integrate": 'write xt.trapezoid(x, x.coords["time"], dim="time")',
    "cumulative_integrate": _THERE,
    **dict.fromkeys(("equals", "identical", "broadcast_equals"),
                    f"{_EQUAL}, x.to_xarray().equals(y.to_xarray()) with the labels"),
    **dict.fromkeys(("assign_attrs", "drop_attrs"), _THERE),
    **dict.fromkeys(("dt", "str"), _PARTS),
    **dict.fromkeys(("load", "load_async", "persist", "close", "set_close"), _HAS_VALUES),
    "compute": _WAITS,
    **{name: f"write x.to_xarray().{name}(..)" for name in (
        "to_series", "to_dict", "to_iris", "to_dask_dataframe", "to_dataset", "to_unstacked_dataset", "to_index",
        "to_masked_array")},
    "as_numpy": "write x.values", "tobytes": "write x.values.tobytes()",
    **dict.fromkeys(("dump", "dumps", "tofile"), 'write xt.save({"x": x}, "arrays.safetensors")'),
    "to_zarr": 'write xt.save({"x": x}, "arrays.zarr")',
    **dict.fromkeys(("from_dict", "from_series", "from_iris"), "write xt.as_array(xr.DataArray.from_series(..))"),
    "get_index": 'write x.indexes["time"]',
    "xindexes": 'write x.indexes["time"]; functions of xarray, such as xr.align, take x.to_xarray()',
    **dict.fromkeys(("convert_calendar", "interp_calendar", "set_index", "reset_index", "set_xindex", "reorder_levels",
                     "drop_indexes"), _THERE),
    **dict.fromkeys(("drop_encoding", "reset_encoding"), "arrays do not have an encoding: x.to_xarray() has"),
}  # fmt: skip

# Of traced arrays, in place of those.
TRACED = {
    "polyfit": "write xt.polyfit(t, x, 1), of places t that are an argument",
    "differentiate": 'write xt.gradient(x, "time", t), of places t that are an argument',
    "integrate": 'write xt.trapezoid(x, t, dim="time"), of places t that are an argument',
    **dict.fromkeys(("equals", "identical", "broadcast_equals"), _EQUAL),
    **dict.fromkeys(("assign_attrs", "drop_attrs"), _ATTRIBUTES),
    **dict.fromkeys(("dt", "str"), "it has no labels: pass parts of dates as an argument, f(x, xt.as_array(month))"),
    **dict.fromkeys(("load", "load_async", "persist", "close", "set_close", "compute", "to_series", "to_dict",
                     "to_iris", "to_dask_dataframe", "to_dataset", "to_unstacked_dataset", "to_index",
                     "to_masked_array", "as_numpy", "tobytes", "dump", "dumps", "tofile", "to_zarr"), _RETURNED),
    **dict.fromkeys(("cumulative_integrate", "get_index", "xindexes", "convert_calendar", "interp_calendar",
                     "set_index", "reset_index", "set_xindex", "reorder_levels", "drop_indexes", "drop_encoding",
                     "reset_encoding", "from_dict", "from_series", "from_iris"), _BEFORE),
}  # fmt: skip
