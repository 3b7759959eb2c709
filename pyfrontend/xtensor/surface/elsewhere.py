"""What to write for public names of NumPy, xarray and jax.numpy that are not here, or that there is nothing like it."""

from __future__ import annotations

_DTYPES = (
    "dtypes are strings or NumPy's, bool, integers of 8 to 64 bits, float16, bfloat16, float32, float64, complex64 and "
    "complex128"
)
_WRITTEN = 'dtypes are strings or NumPy\'s: dtype="f4", x.astype("i8")'
_NUMPYS = "it does not work on arrays: use NumPy's"
_XARRAYS = "use xarray's, before or after: xtensor's functions take and return DataArrays"
_LABELLED = "xarray works with labels: use its function, before or after"
_COMPLEX = 'complex dtypes are "c8" and "c16": write x.astype("c8"), or xt.complex(re, im)'
_DATES = 'arrays hold numbers: keep dates as coordinates, or as x.astype("datetime64[s]").astype("i8") of NumPy'
_TEXTS = "arrays hold numbers: keep texts as coordinates of a DataArray"
_FILES = 'read by NumPy or xarray, and pass the array: xt.array(values, dims=("a", "b"))'
_SAVED = 'write xt.save({"x": x}, "arrays.safetensors"), or np.savez(path, x=x.values)'
_NO_RANK = "dims have names, not places: x.expand_dims(new=1) adds one"
_STACKED = 'write xt.concat([x, y], dim="time"); a new name makes a new dim'
_PARTS = 'write xt.split(x, 3, dim="time"), or x.isel(time=slice(1, 4))'
_FROZEN = "arrays do not change: x.at(time=0).set(v) gives a new one"
_MEMORY = "arrays do not change, and their memory is shared read-only; xt.array(x, copy=True) copies"
_BITS = "there is no such function; bits are x & 1, x >> 1"
_POLYNOMIALS = "write np.polynomial's for coefficients; xt.polyval and xt.polyfit take arrays"
_WINDOW = 'write xt.array(np.hanning(n), dims="time"), or NumPy\'s other one'
_GRID = 'names make the grid: xt.arange(3, dim="x") + xt.arange(4, dim="y")'
_TRIANGLE = "write xt.linalg.tril(a) or triu(a) for a triangle, x.isel(xt.nonzero(mask)) for its elements"
_LOOP = 'write xt.vectorize(f, "time"), or xt.map(f, x, dim="time") for one after another'
_SETTING = "write xt.option(..) for settings of xtensor, and NumPy's function for those of NumPy"
_SETS = 'write xt.unique(xt.concat([x, y], dim="i")); whether elements are in y is (x == y.rename(i="j")).any("j")'
_UNIQUE = "write xt.unique(x, return_index=True, return_inverse=True, return_counts=True)"
_ORDERS = "write x.isel(time=key.argsort()); sort by the last key first, orders are stable"
_BINS = 'write xt.searchsorted(edges, x, side="right"), or xt.histogram(x, edges) for counts'
_FLAT = 'positions along dims come by name: x.argmax(...) is a dict; x.stack(z=("a", "b")) counts through both'

TABLE: dict[str, str] = {
    # dtypes and what asks for them
    **dict.fromkeys(
        ("byte", "ubyte", "short", "ushort", "intc", "uintc", "int_", "intp", "uint", "uintp", "long", "ulong",
         "longlong", "ulonglong", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "half", "single", "double",
         "float_", "bool", "dtype", "dtypes"), _WRITTEN,
    ),
    **dict.fromkeys(
        ("float128", "longdouble", "int1", "int2", "int4", "uint1", "uint2", "uint4", "float4_e2m1fn", "float6_e2m3fn",
         "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
         "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "void", "object_"), _DTYPES,
    ),
    **dict.fromkeys(
        ("generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "flexible",
         "complexfloating", "ScalarType", "can_cast", "common_type", "isdtype", "issubdtype", "min_scalar_type",
         "mintypecode", "promote_types", "sctypeDict", "typecodes", "typename", "finfo", "iinfo"),
        "write NumPy's of x.dtype, which is a dtype of NumPy's",
    ),
    "result_type": "write np.result_type(x.dtype, y.dtype), or (x + y).dtype",
    **dict.fromkeys(("True_", "False_"), "write True or False"),
    **dict.fromkeys(
        ("cdouble", "clongdouble", "complex128", "complex256", "complex64", "complex_", "csingle", "ComplexWarning",
         "emath"), _COMPLEX,
    ),
    "sort_complex": "complex numbers have no order: sort xt.abs(z), z.real or z.imag",
    **dict.fromkeys(
        ("datetime64", "timedelta64", "datetime_as_string", "datetime_data", "isnat", "busday_count", "busday_offset",
         "busdaycalendar", "is_busday"), _DATES,
    ),
    **dict.fromkeys(("bytes_", "str_", "char", "character", "strings"), _TEXTS),
    # arrays from elsewhere, and back
    **dict.fromkeys(("asanyarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "asmatrix", "matrix",
                     "bmat", "as_variable", "require"), 'write xt.array(x, dims=("a", "b")), or xt.as_array(x)'),
    **dict.fromkeys(("frombuffer", "fromfile", "fromfunction", "fromiter", "fromregex", "fromstring", "genfromtxt",
                     "loadtxt", "memmap"), _FILES),
    **dict.fromkeys(("savetxt", "savez", "savez_compressed"), _SAVED),
    **dict.fromkeys(("array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
                     "format_float_scientific"), "write repr(x), or NumPy's of x.values"),
    **dict.fromkeys(("copy", "copyto", "may_share_memory", "shares_memory"), _MEMORY),
    **dict.fromkeys(
        ("fill_diagonal", "place", "put", "put_along_axis", "putmask", "insert", "delete", "resize"), _FROZEN
    ),
    "append": _STACKED, "block": _STACKED, "column_stack": _STACKED, "dstack": _STACKED, "row_stack": _STACKED,
    "c_": _STACKED, "r_": _STACKED, "combine_nested": _STACKED, "bitwise_count": _BITS,
    **dict.fromkeys(("array_split", "dsplit", "hsplit", "vsplit"), _PARTS),
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), _NO_RANK),
    "broadcast_arrays": "write xt.broadcast(x, y)", "broadcast_shapes": "write (x + y).sizes",
    **dict.fromkeys(("index_exp", "s_"), "write x.isel(time=slice(1, 4))"),
    # sizes and order of dims
    "ndim": "write x.ndim", "shape": "write x.shape, or x.sizes by name", "size": "write x.size",
    **dict.fromkeys(("matrix_transpose", "rollaxis"), 'write x.transpose("b", "a"), or x.rename(row="col", col="row")'),
    "fliplr": 'write xt.flip(x, dim="col")', "flipud": 'write xt.flip(x, dim="row")',
    "rot90": 'write xt.flip(x, dim="col").rename(row="col", col="row")',
    # one element at a time
    "bitwise_not": "write ~x", "fix": "write xt.trunc(x)", "fmod": "write x - y * xt.trunc(x / y)",
    "fmax": "write xt.where(xt.isnan(x), y, xt.where(xt.isnan(y), x, xt.maximum(x, y)))",
    "fmin": "write xt.where(xt.isnan(x), y, xt.where(xt.isnan(y), x, xt.minimum(x, y)))",
    "heaviside": "write xt.where(x == 0, y, (x > 0) * 1.0)", "ldexp": "write x * 2.0**i",
    "modf": "write xt.trunc(x), and x - xt.trunc(x)",
    "logaddexp2": "write xt.log2(xt.exp2(x) + xt.exp2(y)), or xt.logaddexp of x * log(2) for large ones",
    "isneginf": "write x == -math.inf", "isposinf": "write x == math.inf",
    "spacing": "write xt.nextafter(abs(x), math.inf) - abs(x)",
    "frexp": "write xt.floor(xt.log2(abs(x))) for the exponent",
    **dict.fromkeys(("gcd", "lcm"), "there is no such function here: take NumPy's of x.values"),
    "unwrap": "write x - xt.cumsum(xt.round(d / (2 * math.pi))) * 2 * math.pi, with the differences d padded by a 0",
    "piecewise": "write xt.select([x < 0, x > 1], [-x, x], 0)", "choose": "write xt.select([i == 0, i == 1], [x, y])",
    # all elements
    "ptp": "write x.max() - x.min()", "array_equiv": "write (x == y).all()",
    "digitize": _BINS, "histogram_bin_edges": "write xt.histogram(x, 10)[1]",
    **dict.fromkeys(("histogram2d", "histogramdd"),
                    "write xt.zeros(a=3, b=4).at(a=i, b=j).add(1), with i and j from xt.searchsorted"),
    **dict.fromkeys(("intersect1d", "union1d", "setdiff1d", "setxor1d"), _SETS),
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), _UNIQUE),
    "lexsort": _ORDERS, "partition": 'write xt.sort(x, dim="time"), or xt.top_k(x, 3, dim="time") for the largest',
    "ediff1d": 'write x.diff("time")', "correlate": 'write xt.nn.conv(x, k, {"time": "lag"})',
    **dict.fromkeys(
        ("compress", "extract"), "write x.isel(time=mask) outside of a traced function, or x.where(mask, 0.0)"
    ),
    "trim_zeros": "write x.isel(time=slice(1, -1)); sizes do not depend on values in a traced function",
    **dict.fromkeys(("ravel_multi_index", "unravel_index"), _FLAT),
    **dict.fromkeys(("packbits", "unpackbits"), _BITS),
    # products and polynomials
    "vecdot": 'write xt.dot(x, y, dim="k")', "matvec": 'write xt.dot(a, x, dim="col")',
    "vecmat": 'write xt.dot(x, a, dim="row")', "einsum_path": "xt.dot multiplies the cheapest pair first",
    **dict.fromkeys(("poly", "poly1d", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polynomial", "polysub",
                     "roots"), _POLYNOMIALS),
    "vander": 'write x ** xt.arange(4, dim="degree")',
    # made from sizes
    "identity": "write xt.eye(row=3, col=3)", "tri": "write xt.linalg.tril(xt.ones(row=3, col=3))",
    "geomspace": 'write xt.exp(xt.linspace(math.log(a), math.log(b), 10, dim="i"))',
    "logspace": 'write 10.0 ** xt.linspace(0.0, 3.0, 10, dim="i")',
    **dict.fromkeys(("indices", "mgrid", "ogrid"), _GRID),
    **dict.fromkeys(("bartlett", "blackman", "hamming", "hanning", "kaiser"), _WINDOW),
    **dict.fromkeys(("diag_indices", "diag_indices_from"), "write xt.linalg.diagonal(a)"),
    "diagflat": "write x * xt.eye(row=3, col=3), of a vector x(row)",
    **dict.fromkeys(
        ("mask_indices", "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from"), _TRIANGLE
    ),
    "euler_gamma": "write np.euler_gamma",
    # functions of functions
    **dict.fromkeys(("apply_along_axis", "apply_over_axes", "apply_ufunc", "frompyfunc", "map_blocks",
                     "map_over_datasets"), _LOOP),
    # all else of NumPy's
    **dict.fromkeys(
        ("core", "ctypeslib", "exceptions", "f2py", "flatiter", "get_include", "info", "isfortran", "isscalar",
         "iterable", "lib", "little_endian", "ma", "ndenumerate", "ndindex", "nditer", "nested_iters", "rec",
         "recarray",
         "record", "show_config", "show_runtime", "test", "typing", "ufunc", "compat"), _NUMPYS,
    ),
    **dict.fromkeys(
        ("errstate", "geterr", "geterrcall", "getbufsize", "get_options", "get_printoptions", "printoptions",
         "set_options", "set_printoptions", "setbufsize", "seterr", "seterrcall"), _SETTING,
    ),
    # xarray's
    "Dataset": "write xr.Dataset(..): it is a pytree of its variables, and goes in wherever a dict of arrays does",
    "DataTree": "a DataTree is not a pytree: pass node.to_dataset(), or a dict of such Datasets",
    **dict.fromkeys(
        ("ALL_DIMS", "AlignmentError", "CFTimeIndex", "Context", "CoordinateValidationError", "Coordinates", "Index",
         "IndexSelResult", "IndexVariable", "InvalidTreeError", "MergeError", "NamedArray", "NotFoundInTreeError",
         "SerializationWarning", "TreeIsomorphismError", "Variable", "align", "cftime_range", "combine_by_coords",
         "date_range", "date_range_like", "group_subtrees", "groupers", "indexes", "infer_freq", "merge",
         "unify_chunks"), _LABELLED,
    ),
    **dict.fromkeys(
        ("backends", "coders", "coding", "computation", "conventions", "decode_cf", "load_dataarray", "load_dataset",
         "load_datatree", "namedarray", "open_dataarray", "open_dataset", "open_datatree", "open_groups",
         "open_mfdataset", "open_zarr", "plot", "register_dataarray_accessor", "register_dataset_accessor",
         "register_datatree_accessor", "save_mfdataset", "show_versions", "structure", "tutorial", "util"), _XARRAYS,
    ),
    "ufuncs": "they are functions of the package: xt.sin, xt.maximum",
    # of their rooms for linear algebra
    "LinAlgError": "no matrix raises an error: a singular one gives infinities or NaN",
    "cond": "write xt.linalg.norm(a, 2) * xt.linalg.norm(xt.linalg.inv(a), 2)",
    "matrix_norm": "write xt.linalg.norm(a)", "vector_norm": 'write xt.norm(x, dim="i")',
    "multi_dot": "write xt.linalg.matmul(a, b, c)",
    **dict.fromkeys(
        ("tensorinv", "tensorsolve"), 'make matrices of more dims: a.stack(row=("i", "j"), col=("k", "l"))'
    ),
}  # fmt: skip
