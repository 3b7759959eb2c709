"""xtensor: arrays with named dimensions, compiled.

import xtensor as xt

x = xt.array(data, dims=("sample", "pixel"))
xt.jit(lambda x, w: xt.tanh(xt.dot(x, w, dim="pixel")))(x, w)
"""

import sys as _sys
import typing as _typing
from types import FunctionType

from .base.blas import StartsAlone as _StartsAlone
from .base.collector import Paused as _Paused

with _Paused():
    with _StartsAlone():
        from . import _native as _native  # first: it starts to load the compiler

    _native.check_place()
    from . import debug, fft, linalg, nn, optim, random, signal, testing, tree
    from .aot.bundle import Bundle
    from .aot.export import export
    from .aot.load import Loaded, LoadedFunctions, load
    from .base import environment as _environment
    from .base.dtypes import bfloat16
    from .base.errors import (
        ArgumentError,
        ArgumentTypeError,
        AttributeError,
        BundleError,
        CompileError,
        DeviceError,
        DeviceMemoryError,
        DimensionError,
        DTypeError,
        Error,
        FunctionNameError,
        GradientError,
        IndexError,
        LabelError,
        MemoryError,
        MissingBundleError,
        MissingFileError,
        NonFiniteError,
        SizeError,
        TracerError,
        UnsupportedError,
    )
    from .bridges import (
        blocks,
        from_jax,
        from_stablehlo,
        gather,
        local,
        named,
        pytensor_mode,
        to_jax,
        to_pytensor,
        to_stablehlo,
        to_torch,
    )
    from .call.arrays import array, as_array
    from .call.dispatch import plain as _plain
    from .equations import implicit
    from .inverses import betaincinv, gammainccinv, gammaincinv
    from .ir.context import mlir as _mlir
    from .ops import *  # noqa: F403
    from .ops import __all__ as _ops
    from .profiling.profile import profile
    from .storage import load_arrays, save
    from .surface.attach import attach as _attach
    from .surface.hints import module_lookup as _module_lookup
    from .transforms.callback import callback
    from .transforms.checkpoint import checkpoint
    from .transforms.control import cond, fori_loop, map, scan, switch, while_loop
    from .transforms.custom import custom_derivative
    from .transforms.grad import grad, value_and_grad
    from .transforms.jacobian import hessian, hvp, jacobian
    from .transforms.jit import Jitted, jit
    from .transforms.jvp import jvp
    from .transforms.linearize import linearize
    from .transforms.vectorize import vectorize
    from .transforms.vjp import vjp
    from .values.array import Array
    from .values.devices import Device, devices
    from .values.dlpack import from_dlpack
    from .values.mesh import Mesh
    from .values.options import option
    from .values.spec import Spec, spec

    _attach()
    _environment.check()
    _mlir()  # last: by now a thread has loaded the libraries behind it


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if not _typing.TYPE_CHECKING:  # else any attribute would pass
    __getattr__ = _module_lookup(_sys.modules[__name__])


__version__ = _native.version()

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "Array",
    "AttributeError",
    "Bundle",
    "BundleError",
    "CompileError",
    "DTypeError",
    "Device",
    "DeviceError",
    "DeviceMemoryError",
    "DimensionError",
    "Error",
    "FunctionNameError",
    "GradientError",
    "IndexError",
    "LabelError",
    "MemoryError",
    "Mesh",
    "MissingBundleError",
    "MissingFileError",
    "Jitted",
    "Loaded",
    "LoadedFunctions",
    "NonFiniteError",
    "SizeError",
    "Spec",
    "TracerError",
    "UnsupportedError",
    "array",
    "as_array",
    "bfloat16",
    "betaincinv",
    "blocks",
    "callback",
    "checkpoint",
    "cond",
    "custom_derivative",
    "debug",
    "devices",
    "export",
    "fft",
    "fori_loop",
    "from_dlpack",
    "from_jax",
    "from_stablehlo",
    "gammainccinv",
    "gammaincinv",
    "gather",
    "grad",
    "hessian",
    "hvp",
    "implicit",
    "jacobian",
    "jit",
    "jvp",
    "linalg",
    "linearize",
    "load",
    "load_arrays",
    "local",
    "map",
    "named",
    "nn",
    "optim",
    "option",
    "profile",
    "pytensor_mode",
    "random",
    "save",
    "scan",
    "signal",
    "spec",
    "switch",
    "testing",
    "to_jax",
    "to_pytensor",
    "to_stablehlo",
    "to_torch",
    "tree",
    "value_and_grad",
    "vectorize",
    "vjp",
    "while_loop",
    *_ops,
]

for _name in __all__:
    if isinstance(globals()[_name], FunctionType):
        globals()[_name] = _plain(globals()[_name])
