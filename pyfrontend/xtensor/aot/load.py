"""xt.load: the function of a bundle, called from C++ without any compiler; inside of a trace its IR is inlined."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..base.dims import suggestion
from ..base.errors import (
    ArgumentError,
    ArgumentTypeError,
    BundleError,
    FunctionNameError,
    MissingBundleError,
)
from ..base.files import path_of
from ..base.lacking import LOOKS, lacks
from ..call.entry import Function
from ..values import devices
from ..values.spec import Spec
from . import foreign
from .bundle import Bundle
from .code import Opened, chosen
from .core import Core
from .manifest import File, opened


class Loaded(Function):
    """The function of a bundle. Called as the one that was exported; differentiable as it is.

    Example:
    >>> double = xt.load(xt.export(lambda x: 2.0 * x, (xt.spec(i=None),), c=False))
    >>> isinstance(double, xt.Loaded), xt.grad(lambda x: xt.sum(double(x)))(xt.ones(i=2)).values
    (True, array([2., 2.]))
    """

    __name__: str
    __qualname__: str
    __signature__: inspect.Signature
    _core: Core

    def __new__(cls, core: Core) -> Loaded:
        self = super().__new__(cls, core)
        self._core = core
        self.__name__ = self.__qualname__ = core.function.name
        self.__doc__ = core.function.doc or None
        self.__signature__ = core.signature
        core.loaded = self
        core.register(self, core.device)
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            instead = f"write xt.jit(f).{name}(..), which compiles its program here" if name in LOOKS else None
            raise lacks(self, name, instead)

    @property
    def target(self) -> str:
        """What the code that runs was compiled for, where arrays do not say it."""
        return self._core.target.target

    @property
    def inputs(self) -> tuple[Spec, ...]:
        return self._core.specs

    def __repr__(self) -> str:
        return f"<loaded {self._core.function}>"

    def __copy__(self) -> Loaded:
        return self

    def __deepcopy__(self, memo: object) -> Loaded:
        return self

    def __reduce__(self) -> Any:
        """Other processes get the bundle's bytes, whatever becomes of its file."""
        core = self._core
        return _again, (core.file.all(), core.file.where, core.asked, core.function.name, core.native)


class LoadedFunctions(Mapping[str, Loaded]):
    """The functions of a bundle that has several, by name: `g["predict"]` or `g.predict`.

    Example:
    >>> both = {"double": (lambda x: 2.0 * x, (xt.spec(i=None),)), "half": (lambda x: 0.5 * x, (xt.spec(i=None),))}
    >>> functions = xt.load(xt.export(both, c=False))
    >>> sorted(functions), functions.half(xt.ones(i=2)).values
    (['double', 'half'], array([0.5, 0.5]))
    """

    def __init__(self, functions: Mapping[str, Loaded], where: str) -> None:
        self._functions, self._where = dict(functions), where

    def __call__(self, /, *args: Any, **kwargs: Any) -> NoReturn:
        first = next(iter(self._functions))
        write = f"g.{first}(..)" if first.isidentifier() else f"g[{first!r}](..)"
        raise ArgumentTypeError(
            f"{self._where} has {len(self)} functions, {', '.join(self)}; call one of them, as {write}"
        )

    def __copy__(self) -> LoadedFunctions:
        return self

    def __deepcopy__(self, memo: object) -> LoadedFunctions:
        return self

    def __reduce__(self) -> Any:
        core = next(iter(self._functions.values()))._core
        return _again, (core.file.all(), core.file.where, core.asked, None, core.native)

    def __getitem__(self, name: str) -> Loaded:
        if name not in self._functions:
            raise _unknown(name, self._where, self._functions)
        return self._functions[name]

    def __getattr__(self, name: str) -> Loaded:
        if name.startswith("__") or name == "_functions":
            raise AttributeError(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __repr__(self) -> str:
        lines = "".join(f"\n  {f._core.function}" for f in self._functions.values())
        return f"<{len(self)} loaded functions:{lines}>"


def _unknown(name: Any, where: str, there: Iterable[str]) -> FunctionNameError:
    names = list(there)
    near = suggestion(name, names) if isinstance(name, str) else ""
    return FunctionNameError(f"{where} has no function {name!r:.60}; it has {', '.join(names)}{near}")


def load(
    bundle: str | os.PathLike[str] | bytes | Bundle,
    *,
    target: str | None = None,
    function: str | None = None,
    native: bool = True,
    expect: str | None = None,
) -> Loaded | LoadedFunctions | Any:
    """Returns the function of a bundle: a path, bytes, or what `xt.export` returned. If the bundle has several
    functions, returns all of them by name, or the one that `function` names.

    The function has the names, defaults, dims and docstring with which it was exported. Nothing is compiled. Of the
    bundle's targets for CPUs, the one that uses most features of this machine runs. If the arguments are on a device,
    the code for this device runs. `target` selects a target, and arguments are then moved there. The function also
    works inside of jit, grad and vectorize, because the bundle contains the IR.

    native=False: for a bundle from a source that you do not trust (docs/security.md). The IR is checked, then compiled
    in another process within limits of time and memory, then compiled in this process. Code of the bundle is not
    loaded. `target` is then "cpu" or a device. expect: "sha256:" and the 64 digits that `sha256sum` prints for the
    file: any other file is refused.

    Raises:
        BundleError: the bundle is damaged, of a newer version, for other machines, or not the expected file.
        MissingBundleError: the file does not exist.
        FunctionNameError: the bundle does not have `function`.
        ArgumentError: `expect` is not a digest.

    Example:
    >>> bundle = xt.export(lambda x: 2.0 * x, (xt.spec(i=None),), c=False)
    >>> xt.load(bundle)(xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [2. 4.]
    """
    if expect is not None and not (isinstance(expect, str) and re.fullmatch(r"sha256:[0-9a-f]{64}", expect, re.ASCII)):
        raise ArgumentError(
            f'xt.load: expect={expect!r:.80} is not "sha256:" and 64 digits (0-9, a-f) of the whole file'
        )
    if isinstance(bundle, Bundle):
        file = bundle._file
    elif isinstance(bundle, (bytes, bytearray, memoryview)):
        file = File(bytes(bundle), "the bundle")
    else:
        path = path_of(bundle, "xt.load")
        try:
            file = File(opened(path), str(path))
        except BundleError as error:
            if path.suffix not in (".nc", ".safetensors", ".zarr") or isinstance(error, MissingBundleError):
                raise
            raise BundleError(f"xt.load: {path} is not a bundle. Write xt.load_arrays(path) for arrays") from None
    if expect is not None or not native:
        data = file.all()  # a file may change while it is looked at
        if expect is not None:
            _check_hash(data, expect, file.where)
        file = File(data, file.where)
    return loaded(file, target, function, native)


def _check_hash(data: bytes, expect: str, where: str) -> None:
    found = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if found != expect:
        raise BundleError(f"{where} is not the file that was expected: it has {found}, and not {expect}")


def _again(data: bytes, where: str, target: str | None, function: str | None, native: bool = True) -> Any:
    """What was pickled, on the machine where it is needed."""
    return loaded(File(data, where), target, function, native)


def loaded(
    file: File, target: str | None, function: str | None, native: bool = True, tried: bool = False
) -> Loaded | LoadedFunctions:
    there = {f.name: f for f in file.manifest.functions}
    if function is not None and function not in there:
        raise _unknown(function, file.where, there)
    if native:
        found = chosen(file, target)
        device = devices.named(target or found.target) if found.is_device else None
    else:
        found, device = foreign.place(target)
        if not tried:
            foreign.try_out(file, target, function)
    shared = Opened(file)
    wanted = there if function is None else {function: there[function]}
    functions = {n: Loaded(Core(shared, f, found, device, target, native)) for n, f in wanted.items()}
    return LoadedFunctions(functions, file.where) if len(functions) > 1 else next(iter(functions.values()))
