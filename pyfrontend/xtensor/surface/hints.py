"""Says what to write for a name that does not exist here, but in NumPy, JAX, PyTorch or xarray."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from .. import _native, debug, fft, linalg, nn, ops, optim, random, signal
from ..base.calls import GRAD
from ..base.lacking import missing
from . import dataarrays, elsewhere, further, peers, scipys

_BY_NAMES = 'x.stack(z=("a", "b")) makes one dim of several, x.unstack(z={"a": 2, "b": 3}) several of one'
_DOT = 'write xt.dot(x, y, dim="k"): names say which dims are contracted, and all others go together'
_ORDER = 'write x.transpose("b", "a")'
_DTYPE = 'dtypes are strings or NumPy\'s: "f4", "f8", "i8", np.float32'
_JOIN = 'write xt.concat([x, y], dim="time"); a new name makes a new dim'
_NO_LABELS = "it has no labels: pass those that the function computes with, f(x, xt.as_array(x.coords['time']))"
_RETURNED = "it has no values while it is traced; the array that the call returns has values"
_SUMS = "write xt.zeros(bin=10, dtype=x.dtype).at(bin=index).add(x), or .add(1): updates of one position accumulate"
_KEY = "write key = xt.random.key(0): functions that draw take a key"

_THERE = "write it of the DataArray, x.to_xarray(), and take the result by xt.as_array"
_OF_DATAARRAYS = ("ffill", "bfill", "rolling_exp", "curvefit", "interpolate_na")
_SCIPY = "it is not there. Outside of derivatives, xt.callback calls SciPy's function of the values"

_CARRIED = "x.to_xarray() has what the DataArray had"

_SKIPPING = ("sum", "prod", "mean", "std", "var", "max", "min", "median", "argmax", "argmin", "cumsum", "cumprod")

# Of arrays alone.
_METHODS = {
    "view": _BY_NAMES, "iloc": "write x.isel(time=0)",
    "numpy": "write x.values", "tolist": "write x.values.tolist()", "cpu": 'write x.to("cpu")',
    "cuda": 'write x.to("cuda")', "detach": "write xt.stop_gradient(x)",
    "copy": "arrays do not change: x itself will do",
    "mT": 'names say which side is which: x.rename(row="col", col="row") swaps two',
    "backward": GRAD, "grad": GRAD, "requires_grad": GRAD,
    "index_add": _SUMS, "scatter_add": _SUMS,
    "pipe": "write f(x)", "encoding": _CARRIED,
    "float": 'write x.astype("f4")', "double": 'write x.astype("f8")', "half": 'write x.astype("f2")',
    "int": 'write x.astype("i4")', "long": 'write x.astype("i8")', "bool": "write x != 0",
    "dropna": "write x.isel(time=~xt.isnan(x)), of an x(time) outside of a traced function",
    "plot": "write x.to_xarray().plot()", "to_netcdf": "write x.to_xarray().to_netcdf(..)",
    "to_dataframe": "write x.to_xarray().to_dataframe(..)", "to_pandas": "write x.to_xarray().to_pandas()",
    **dict.fromkeys(_OF_DATAARRAYS, _THERE),
    "reset_coords": "write x.drop_vars(\"time\")",
    **dataarrays.VALUES,
}  # fmt: skip
# What changes an array in PyTorch, by its name without the underscore.
_IN_PLACE = {
    "requires_grad": GRAD, "zero": "arrays do not change: write xt.zeros_like(x)",
    "fill": "arrays do not change: write xt.full_like(x, value)", "copy": "arrays do not change: write y in its place",
    "detach": "write xt.stop_gradient(x)",
    **dict.fromkeys(("index_add", "scatter_add", "scatter", "index_copy", "index_put", "index_fill"),
                    "arrays do not change: write x.at(time=index).add(v), or .set(v)"),
    **dict.fromkeys(("masked_fill", "masked_scatter"), "arrays do not change: write xt.where(mask, value, x)"),
}  # fmt: skip
# Of traced arrays alone, before the others.
_TRACED = {
    "numpy": _RETURNED, "tolist": _RETURNED,
    "coords": _NO_LABELS, "indexes": _NO_LABELS, "data": _RETURNED,
    "name": "it has no labels: give the result its name, y.to_xarray().rename(x.name)",
    "attrs": "it has no labels: attributes go from the arguments to the results",
    **dict.fromkeys(("plot", "to_netcdf", "to_dataframe", "to_pandas"), _RETURNED),
    **dict.fromkeys(("encoding",), "what the call returns has them"),
    **dict.fromkeys(_OF_DATAARRAYS, "write it of the DataArray, before the call"),
    **dataarrays.TRACED,
}  # fmt: skip
# Of arrays and of the package.
_EITHER = {
    "reshape": _BY_NAMES, "ravel": _BY_NAMES, "flatten": _BY_NAMES,
    "permute": _ORDER, "swapaxes": _ORDER, "moveaxis": _ORDER, "permute_dims": _ORDER,
    "unsqueeze": "write x.expand_dims(new=1)",
    "einsum": _DOT, "tensordot": _DOT, "inner": _DOT, "mm": _DOT, "bmm": _DOT,
    **dict.fromkeys(("vdot", "vecdot"), 'write xt.dot(xt.conj(x), y, dim="k"): xt.dot does not conjugate'),
    "outer": "write x * y, of two arrays with different names",
    "broadcast_to": "write x.broadcast_like(y), or x.expand_dims(time=3)",
    **dataarrays.EITHER,
}  # fmt: skip
# Of the package alone.
_FUNCTIONS = {
    "DataArray": "write xr.DataArray(..): it goes in wherever an array does; or xt.array(x, dims=(\"a\", \"b\"))",
    **dict.fromkeys(("Tensor", "ndarray", "from_numpy", "as_tensor"), 'write xt.array(x, dims=("a", "b"))'),
    **dict.fromkeys(("argwhere", "flatnonzero"), "write xt.nonzero(x), the positions along each dim"),
    "topk": 'write xt.top_k(x, 3, dim="time")',
    "asarray": 'write xt.array(x, dims=("a", "b")), or xt.as_array(x) of a DataArray',
    "float16": _DTYPE, "float32": _DTYPE, "float64": _DTYPE, "int32": _DTYPE, "int64": _DTYPE, "bool_": _DTYPE,
    "complex64": _DTYPE, "complex128": _DTYPE, "polar": "write xt.complex(r * xt.cos(angle), r * xt.sin(angle))",
    "isreal": "write z.imag == 0", "iscomplex": "write z.imag != 0", "real_if_close": "write z.real",
    **dict.fromkeys(("iscomplexobj", "isrealobj", "is_complex"), 'write z.dtype.kind == "c"'),
    **{f"nan{kind}": f"write xt.{kind}(x, skipna=True)" for kind in _SKIPPING},
    "percentile": 'write xt.quantile(x, 0.5, dim="time"), of parts from 0 to 1',
    "nanpercentile": 'write xt.quantile(x, 0.5, dim="time", skipna=True), of parts from 0 to 1',
    "nanquantile": "write xt.quantile(x, q, skipna=True)",
    "ix_": "write x.isel(a=[0, 1], b=[2, 3]): indices with different names",
    "tree_map": "write xt.tree.map(f, tree)", "tree_leaves": "write xt.tree.leaves(tree)",
    "eval_shape": "write xt.jit(f).trace(xt.spec(time=4)).outputs",
    "ShapeDtypeStruct": 'write xt.spec(time=4, dtype="f4")',
    "allclose": "write xt.isclose(x, y).all()", "array_equal": "write (x == y).all()",
    "device_put": 'write x.to("cuda")',
    "empty": "write xt.zeros(time=4): arrays do not change", "empty_like": "write xt.zeros_like(x)",
    **{name: f"write math.{name}, or np.{name}" for name in ("pi", "e", "inf", "nan")},
    "notnull": "write ~xt.isnan(x)", "differentiate": 'write xt.gradient(x, "time", places)',
    "integrate": 'write xt.trapezoid(x, places, dim="time")',
    "newaxis": "names say which dims go together; x.expand_dims(new=1) adds one",
    "asnumpy": "write x.values",
    "concatenate": _JOIN, "cat": _JOIN, "hstack": _JOIN, "vstack": _JOIN,
    "tensor": 'write xt.array(x, dims=("a", "b"))', "detach": "write xt.stop_gradient(x)",
    "no_grad": "it is not needed: derivatives are taken where xt.grad says so; xt.stop_gradient(x) is constant",
    "value_and_gradient": "write xt.value_and_grad(f)", "index_add": _SUMS, "scatter_add": _SUMS,
    "diag": "write xt.linalg.diagonal(x), or x * xt.eye(row=3, col=3, dtype=x.dtype) of a vector x(row)",
    "logdet": "write xt.linalg.slogdet(a)[1]", "eigvalsh": "write xt.linalg.eigh(a)[0]",
    **dict.fromkeys(("fft2", "fftn"), 'write xt.fft.fft(x, ("y", "x"))'),
    **dict.fromkeys(("ifft2", "ifftn"), 'write xt.fft.ifft(z, ("y", "x"))'),
    **dict.fromkeys(("rfft2", "rfftn"), 'write xt.fft.rfft(x, ("y", "x")), which halves x'),
    **dict.fromkeys(("irfft2", "irfftn"), 'write xt.fft.irfft(z, ("y", "x")), which x was halved for'),
    **dict.fromkeys(("hfft2", "hfftn"), 'write xt.fft.hfft(z, ("y", "x"))'),
    **dict.fromkeys(("ihfft2", "ihfftn"), 'write xt.fft.ihfft(x, ("y", "x"))'),
    "dctn": 'write xt.fft.dct(x, ("y", "x"))', "idctn": 'write xt.fft.idct(x, ("y", "x"))',
    "dstn": 'write xt.fft.dst(x, ("y", "x"))', "idstn": 'write xt.fft.idst(x, ("y", "x"))',
    **dict.fromkeys(("fht", "ifht", "fhtoffset"), "there is no Hankel transform here: use SciPy's"),
    **dict.fromkeys(("next_fast_len", "prev_fast_len"), "write SciPy's, and pass n="),
    **dict.fromkeys(("get_workers", "set_workers", "set_backend", "skip_backend", "set_global_backend",
                     "register_backend", "set_num_threads", "get_num_threads", "num_threads", "threads"),
                    "the threads are those that XTENSOR_NUM_THREADS sets"),
    "fftconvolve": 'write xt.signal.convolve(x, k, dims=("time", "lag"), method="fft")',
    "svdvals": "write xt.linalg.svd(a)[1]",
    **dict.fromkeys(("conv1d", "Conv1d"), 'write xt.nn.conv(x, w, {"time": "tap"}, dim="channel")'),
    **dict.fromkeys(("conv2d", "Conv2d"), 'write xt.nn.conv(x, w, {"h": "kh", "w": "kw"}, dim="channel")'),
    **dict.fromkeys(("conv3d", "Conv3d"), 'write xt.nn.conv(x, w, {"d": "kd", "h": "kh", "w": "kw"}, dim="channel")'),
    **dict.fromkeys(("max_pool1d", "MaxPool1d"), 'write xt.nn.max_pool(x, {"time": 2})'),
    **dict.fromkeys(("max_pool2d", "MaxPool2d"), 'write xt.nn.max_pool(x, {"h": 2, "w": 2})'),
    **dict.fromkeys(("avg_pool1d", "AvgPool1d"), 'write xt.nn.avg_pool(x, {"time": 2})'),
    **dict.fromkeys(("avg_pool2d", "AvgPool2d"), 'write xt.nn.avg_pool(x, {"h": 2, "w": 2})'),
    "mse_loss": "write xt.mean((x - y) ** 2)",
    **dict.fromkeys(("Linear", "dense", "Dense"), 'write xt.dot(x, w, dim="feature") + b'),
    "vmap": 'write xt.vectorize(f, "batch")', "jacrev": "write xt.jacobian(f)",
    "jacfwd": 'write xt.jacobian(f, mode="forward")',
    "custom_vjp": "write xt.custom_derivative(f)", "custom_jvp": "write xt.custom_derivative(f)",
    "trapz": "write xt.trapezoid(y, x, dim=\"time\")",
    "corrcoef": "write xt.corr(x, x.rename(channel=\"channel2\"), \"time\")",
    "fori": "write xt.fori_loop(0, n, body, init)", "block_until_ready": "write x.values, which waits",
    **dict.fromkeys(("PRNGKey", "default_rng", "RandomState", "manual_seed", "seed"), _KEY),
    "lognormal": "write xt.exp(mean + sigma * xt.random.normal(key, time=3))",
    "chisquare": "write 2 * xt.random.gamma(key, df / 2)",
    "weibull": "write xt.random.exponential(key, time=3) ** (1 / a)",
    "geometric": "write xt.floor(xt.random.exponential(key, time=3) / -xt.log1p(-p)) + 1",
    "rademacher": "write xt.where(xt.random.bernoulli(key, time=3), 1, -1)",
    "multinomial": "draw xt.random.categorical(key, logits, dim=\"class\", trial=n), and count",
    "jv": "write xt.j0(x) or xt.j1(x)", "yv": "write xt.y0(x) or xt.y1(x)",
    "gamma": "write xt.exp(xt.lgamma(x)) for x > 0; numbers of the gamma distribution are xt.random.gamma(key, a)",
    "factorial": "write xt.exp(xt.lgamma(n + 1))",
    "comb": "write xt.exp(xt.lgamma(n + 1) - xt.lgamma(k + 1) - xt.lgamma(n - k + 1))",
    "special": "special functions are in xt itself: xt.lgamma(x), xt.betainc(a, b, x)",
    **dict.fromkeys(("lambertw", "expi", "exp1", "kv", "iv", "kn", "erfi", "dawsn", "fresnel", "ellipk", "ellipe",
                     "hyp2f1", "logm"), _SCIPY),
    "betaincc": "write 1 - xt.betainc(a, b, x)", "betainccinv": "write xt.betaincinv(a, b, 1 - q)",
    "remat": "write xt.checkpoint(f)", "lax": "control flow is xt.scan, xt.cond, xt.while_loop",
}  # fmt: skip
# Of the package alone: another name for the same.
_RENAMED = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "arctan2": "atan2", "power": "pow", "float_power": "pow", "rint": "round",
    "amax": "max", "amin": "min", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
    "conjugate": "conj", "degrees": "rad2deg", "radians": "deg2rad", "true_divide": "divide", "mod": "remainder",
    "around": "round", "expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "loggamma": "lgamma",
    "randn": "normal", "standard_normal": "normal", "rand": "uniform", "standard_cauchy": "cauchy",
    "standard_exponential": "exponential", "standard_gamma": "gamma", "standard_t": "student_t",
    "randperm": "permutation", "shuffle": "permutation", "integers": "randint", "logcumsumexp": "cumlogsumexp",
    "take_along_axis": "take_along",
    "solve_triangular": "triangular_solve", "isnull": "isnan", "cumulative_sum": "cumsum", "cumulative_prod": "cumprod",
}  # fmt: skip
# NumPy's functions whose name means something else here.
_NUMPY = {"stack": _JOIN}
_ROOMS = {
    "xt": ops,
    "xt.fft": fft,
    "xt.nn": nn,
    "xt.linalg": linalg,
    "xt.random": random,
    "xt.signal": signal,
    "xt.debug": debug,
    "xt.optim": optim,
}


def method_instead(name: str, traced: bool, dims: Sequence[str] = ()) -> str | None:
    """What to write for a method that arrays lack, which have these dims."""
    if name.startswith("_"):
        return None
    if name in dims:
        labels = "" if traced else f", its labels, if there are any, x.coords[{name!r}]"
        return f"it is a dim: its size is x.sizes[{name!r}]{labels}"
    return (
        in_place(name)
        or (_TRACED.get(name) if traced else None)
        or _METHODS.get(name)
        or _EITHER.get(name)
        or _function(name, "(x, ..)")
        or peers.METHODS.get(name)
        or (name in peers.AS_FUNCTIONS and (_FUNCTIONS.get(name) or elsewhere.TABLE.get(name)))
        or None
    )


def in_place(name: str) -> str | None:
    """What to write for a method of PyTorch's that changes its array: x.add_(v)."""
    if not name.endswith("_"):
        return None
    own = name[:-1]
    if found := _IN_PLACE.get(own) or _METHODS.get(own):
        return found
    found = _function(own, "(x, ..)") or peers.METHODS.get(own, "")
    return f"arrays do not change: {found.replace('write ', 'write x = ')}" if found.startswith("write ") else None


def numpy_instead(name: str, traced: bool) -> str:
    """What to write for a function of NumPy's, by its name in `np`."""
    room, _, last = name.rpartition(".")
    if room == "linalg" and last in linalg.__all__:
        return f"write xt.linalg.{last}(x)"
    known = _FUNCTIONS.get(last)
    found = _NUMPY.get(last) or (known if known != _SCIPY else None) or _EITHER.get(last) or _function(last, call=True)
    if found is None and not room:
        found = elsewhere.TABLE.get(last)
    if found is None and traced:
        return "xt has no such function. Return the array, and pass the result of the call to NumPy"
    return found or "write np.asarray(x) to pass its values, without names, to NumPy"


def torch_instead(name: str) -> str:
    """What to write for a function of PyTorch's, by its own name, such as linalg_det."""
    name = name.removeprefix("linalg_").removeprefix("special_").removeprefix("fft_")
    found = _FUNCTIONS.get(name) or _EITHER.get(name) or _function(name, call=True) or peers.of_module(name)
    return found or "write it with functions of xt. A tensor becomes an array by xt.array(x, dims=..)"


def _function(name: str, arguments: str = "", call: bool = False) -> str | None:
    """A function of that name, wherever it is. `call`: with what it needs."""
    name = _RENAMED.get(name, name)
    for room, module in _ROOMS.items():
        if name in module.__all__:
            if call:
                needed = inspect.signature(getattr(module, name)).parameters.values()
                names = (
                    "x, y" if p.kind is p.VAR_POSITIONAL else p.name
                    for p in needed
                    if p.default is p.empty and p.kind is not p.VAR_KEYWORD
                )
                arguments = f"({', '.join(names)})"
            return f"write {room}.{name}{arguments}"
    return None


def other_names() -> dict[str, str]:
    """Names of functions that other libraries have and xt lacks, with what to write, in the order of the alphabet."""
    tables = (_FUNCTIONS, _EITHER, _RENAMED, elsewhere.TABLE, further.LAYERS, peers.FUNCTIONS, peers.BOTH,
              scipys.FUNCTIONS, scipys.SIGNAL)  # fmt: skip
    names = sorted({name for table in tables for name in table}, key=lambda name: (name.lower(), name))
    found = {name: _FUNCTIONS.get(name) or _EITHER.get(name) or _function(name, "(..)") for name in names}
    for name, text in found.items():
        found[name] = text or elsewhere.TABLE.get(name) or further.anywhere(name) or peers.of_module(name)
        found[name] = found[name] or scipys.SIGNAL.get(name)
    return {name: text for name, text in found.items() if text}


def module_lookup(module: ModuleType) -> Callable[[str], Any]:
    """The `__getattr__` of a module: always an error, with what to write."""

    def look_up(name: str) -> Any:
        here = module.__name__.replace("xtensor", "xt")
        if name.startswith("_"):
            raise AttributeError(f"{here} has no {name!r}", name=name, obj=module)
        instead = further.instead(here, name) or _FUNCTIONS.get(name) or _EITHER.get(name) or _function(name)
        instead = instead or elsewhere.TABLE.get(name) or further.anywhere(name) or peers.of_module(name)
        if instead is None and name != name.lower():  # a class of PyTorch's or of optax's
            instead = _function(name.lower())
        raise missing(f"{here} has no {name!r}", name, module, module.__all__, instead)

    return _native.Function(look_up)
