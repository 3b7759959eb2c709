"""What a loaded function is made of: its code on each device, and the slow path of its calls."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from .. import _native
from ..base import tree
from ..base.calls import shown
from ..base.dims import describe, describe_array, suggestion
from ..base.dtypes import is_complex
from ..base.errors import (
    ArgumentTypeError,
    BundleError,
    DeviceError,
    DimensionError,
    Error,
    SizeError,
    UnsupportedError,
)
from ..base.ranges import Range, of_ints
from ..base.refusals import not_an_array, unnamed
from ..call.arguments import Static
from ..call.spelling import spelling
from ..compiler.executable import sites_with
from ..compiler.sizes import equality, nonempty
from ..labels.origins import origins
from ..labels.relabel import Relabel
from ..labels.xarray import Followed, labels_of
from ..trace.scope import tracing
from ..values import options, targets
from ..values.kinds import NUMBER, NUMBERS, kind_of
from . import foreign
from .bundle import spec_of
from .code import Opened, check_profile, chosen, listed
from .fitting import CLASSES, as_number, beyond, wrong_dtype
from .inline import inlined, program_of
from .labels import check_labels
from .manifest import Exported, Parameter, Target
from .schema import printable
from .signature import Unknown, signature
from .structure import as_structure, fitted

_LEAF = tree.structure(0)
_MOST_SPELLINGS = 64  # of calls of one function: memory does not grow with them


class _Mark:
    """Stands for an argument, to see where it goes."""

    def __init__(self, number: int) -> None:
        self.number = number


class Core:
    """What a loaded function is made of, and the slow path of its calls."""

    def __init__(
        self,
        opened: Opened,
        f: Exported,
        target: Target,
        device: _native.Device | None,
        asked: str | None,
        native: bool = True,
    ) -> None:
        self.opened, self.file, self.target = opened, opened.file, target
        self.device = device  # where calls run that have no array elsewhere
        self.asked = asked  # arrays are moved there, as by jit(device=)
        self.native = native  # else its code is compiled here
        self.function = f
        python = f.python
        leaves = ("*",) * len(f.arguments)
        try:
            self.arguments = as_structure((leaves, {}) if python.arguments is None else python.arguments)
            single = "*" if len(f.results) == 1 else ("*",) * len(f.results)
            self.result = as_structure(single if python.result is ... else python.result)
            self.places = python.places
            self.weak = python.weak or (False,) * len(leaves)
            self.ranges = [Range(a, np.dtype(d), w and printable(w), o) for a, d, w, o in python.ranges]
            self.signature = signature(f)
            self._check()
        except ValueError as error:
            raise BundleError(f"{self.file.where}: manifest.json describes no function: {error}") from None
        code = opened.code(f, target) if native else None
        self.specs = tuple(spec_of(p, w) for p, w in zip(f.arguments, self.weak, strict=True))
        self.weights = [opened.weight(w) for w in f.weights]
        self.loaded: Any = None  # the function that is called
        self.learned: set[Any] = set()  # how calls were spelled that C++ was told of, or cannot read
        self.code: dict[Any, tuple[Any, list[Any]]] = {device: self._place(code, target, device)}

    def _place(self, code: Any, target: Target, device: _native.Device | None) -> tuple[Any, list[Any]]:
        """An executable, and the weights where it runs."""
        made = self._mapped(code, target, device) if self.native else foreign.compiled(self, device)
        return made, [_native.to_device(w, device) for w in self.weights]

    def _mapped(self, code: Any, target: Target, device: _native.Device | None) -> Any:
        """The bundle's own code."""
        f = self.function
        if device is not None:
            check_profile(self.file.where, target, device)
        owners: dict[str, tuple[str, str]] = {}
        for p in f.arguments:
            for d, n in zip(p.dims, p.sizes, strict=True):
                if isinstance(n, str):
                    owners.setdefault(n, (p.name, d))
        return _native.Executable(
            code.entry,
            [_native_type(p) for p in (*f.arguments, *f.weights)],
            [_native_type(p) for p in f.results],
            sites_with(f.python.operands, [(dim, printable(where), op) for dim, where, op in f.sites]),
            code,
            False,
            equal=[*(equality(*e, owners, f.name) for e in f.equal), *(nonempty(*e) for e in f.nonempty)],
            device=device,
            name=f.name,
        )

    def _at(self, device: _native.Device | None) -> tuple[Any, list[Any]]:
        """The code for a device, loaded when an array is met there."""
        if device not in self.code and not self.native:
            name = "cpu" if device is None else device.name
            foreign.try_out(self.file, name, self.function.name)
            self.code[device] = self._place(None, foreign.place(name)[0], device)
            self.register(self.loaded, device)
        if device not in self.code:
            wanted = "cpu" if device is None else device.backend
            try:
                target = chosen(self.file, wanted)
            except BundleError:
                lacks = f"nothing for target {wanted!r}; it has {listed(self.file)}"
                if wanted == "cpu":
                    lacks = "no code for this machine's CPU"
                raise DeviceError(
                    f"{self.function.name}: an argument is on {wanted!r}, and {self.file.where} has {lacks}. Move it "
                    f"to {self.target.target.partition(':')[0]!r} by x.to(..), or export for {wanted!r}, too"
                ) from None
            self.code[device] = self._place(self.opened.code(self.function, target), target, device)
            self.register(self.loaded, device)
        return self.code[device]

    def _check(self) -> None:
        """The Python part must fit the arrays."""
        f, count = self.function, len(self.function.results)
        if self.arguments.size != len(f.arguments) or len(self.weak) != len(f.arguments):
            raise ValueError("other arguments than arrays")
        if self.arguments.kind is not tuple or [c.kind for c in self.arguments.children] != [tuple, dict]:
            raise ValueError("arguments are a tuple and a dict")
        leaves = count if self.places is None else len(self.places)
        if self.result.size != leaves:
            raise ValueError("other results than arrays")
        if self.places is not None and not all(i < count for i in self.places):
            raise ValueError("places of results that are not there")
        for p, weak in zip(f.arguments, self.weak, strict=True):
            if weak and (p.dims or p.dtype not in CLASSES):
                raise ValueError("numbers with dims")
        if any(r.argument >= len(f.arguments) for r in self.ranges):
            raise ValueError("ranges of arguments that are not there")

    @functools.cached_property
    def followed(self) -> Followed:
        """Which coordinates results keep; a bundle that was made without Python tells by its program alone."""
        return self.function.python.labels or origins(program_of(self))

    @functools.cached_property
    def relabel(self) -> Relabel:
        return Relabel(self.followed, self.function.name)

    # -- calls --------------------------------------------------------------------------------------------------------

    @property
    def _is_single(self) -> bool:
        return self.places is None and self.result == tree.structure(0)

    def _unflatten(self, results: Sequence[Any]) -> Any:
        return self.result.unflatten(results if self.places is None else [results[i] for i in self.places])

    def register(self, function: Any, device: _native.Device | None) -> None:
        """Calls by position with arrays and numbers, one each, are C++'s from the first one on."""
        positional, keywords = self.arguments.children
        if keywords.size or any(c != _LEAF for c in positional.children):
            return
        if any(s.weak and is_complex(s.dtype) for s in self.specs):
            return
        self._add(function, device, [CLASSES[s.dtype.name] if s.weak else None for s in self.specs])

    def _add(self, function: Any, device: _native.Device | None, numbers: list[Any], spelled: Any = None) -> None:
        """`numbers`: the classes of arguments that are Python numbers, None for arrays."""
        types: list[Any] | None = numbers
        if not any(s.is_dynamic for s in self.specs):
            types = [cls or _native_type(p) for cls, p in zip(numbers, self.function.arguments, strict=True)]
        elif not any(numbers):
            types = None
        wrapper = None if self._is_single else self._unflatten
        executable, weights = self.code[device]
        function.add(types, executable, self._is_single, wrapper, weights, of_ints(self.ranges), spelled)

    def _learn(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], arrays: Sequence[Any], device: _native.Device | None
    ) -> None:
        """A call that is spelled like this one, and was right, is C++'s from now on."""
        given, structure = tree.flatten((args, kwargs))
        key = (options.current(), device, structure, *map(type, given))
        if key in self.learned or len(self.learned) >= _MOST_SPELLINGS:
            return
        self.learned.add(key)

        def leaves_with(marks: Collection[int]) -> list[Any]:
            return self._leaves(*structure.unflatten([_Mark(i) if i in marks else x for i, x in enumerate(given)]))

        def is_argument(i: int) -> bool:
            """Not a value that the function was exported with."""
            try:
                return any(isinstance(x, _Mark) for x in leaves_with({i}))
            except Error:
                return False

        marks = {i for i, x in enumerate(given) if isinstance(x, _native.Array) or is_argument(i)}
        leaves = leaves_with(marks)
        places = {x.number: p for p, x in enumerate(leaves) if isinstance(x, _Mark)}
        fixed = {p: x for p, x in enumerate(leaves) if type(x) in NUMBERS}
        if places.keys() != marks or len(places) + len(fixed) != len(leaves):
            return
        values = {**{p: given[i] for i, p in places.items()}, **fixed}
        numbers = [type(values[p]) if type(values[p]) in NUMBERS else None for p in range(len(leaves))]
        if any(n and is_complex(s.dtype) for n, s in zip(numbers, self.specs, strict=True)):
            return  # C++ has no complex numbers among the arguments that it takes
        if any(x is not values[p] or x._device != device for p, x in enumerate(arrays) if not numbers[p]):
            return  # moved, or with other dims first
        if any(numbers[r.argument] is not int for r in self.ranges):
            return
        spelled = spelling(
            tree.structure(structure.unflatten([0 if i in marks else Static(x) for i, x in enumerate(given)])),
            [places[i] for i in sorted(marks)],
            fixed,
        )
        if spelled is not None:
            self._add(self.loaded, device, numbers, spelled)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        leaves = self._leaves(args, kwargs)
        if tracing():
            return inlined(self, leaves)
        return self._run(leaves, args, kwargs)

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments as the exported call had them."""
        name, parameters = self.function.name, self.signature.parameters
        positional, keywords = self.arguments.children
        exported: tuple[Any, ...] = keywords.meta  # type: ignore[assignment]
        unknown = [k for k in kwargs if k not in parameters]
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            near = suggestion(unknown[0], list(parameters))
            raise ArgumentTypeError(
                f"{name}: there is no parameter {unknown[0]!r}; its parameters are {self.signature}{near}"
            )
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentTypeError(f"{name}: {error}. Its parameters are {self.signature}") from None
        given = set(bound.arguments)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
        labels = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        rest = next((p.name for p in parameters.values() if p.kind is p.VAR_POSITIONAL), "argument")
        count = max(len(args), len(positional.children))
        labels += [f"{rest}[{i}]" for i in range(count - len(labels))]
        for i, (n, x) in enumerate(zip(labels, args, strict=False)):
            if i >= len(positional.children) and n not in exported:
                self._refuse_unless_default(n, x, n in given or n not in parameters)
        for k, x in kwargs.items():
            if k not in exported:
                self._refuse_unless_default(k, x, k in given or k not in parameters)
        by_name = {**dict(zip(labels, args, strict=False)), **kwargs}
        wanted = {k: self._fitted(s, by_name, k) for k, s in zip(exported, keywords.children, strict=True)}
        by_name = dict(zip(labels, args, strict=False))
        parts = tuple(self._fitted(s, by_name, n) for n, s in zip(labels, positional.children, strict=False))
        return tree.leaves_at(self.arguments, (parts, wanted))

    def _fitted(self, structure: tree.TreeDef, given: dict[str, Any], n: str) -> Any:
        """One argument in the structure of the exported one."""
        name = self.function.name
        if n not in given:
            raise ArgumentTypeError(f"{name}: argument {n} is missing: it was exported with one")
        if isinstance(given[n], Unknown):
            raise ArgumentTypeError(
                f"{name}: argument {n} is missing. Its default {given[n]!r} is neither a number nor a string, so the "
                "bundle does not contain it"
            )
        x = fitted(structure, given[n], f"{name}: {n}")
        there = tree.structure(x)
        if there == structure:
            return x
        if structure == tree.structure(0):
            raise ArgumentTypeError(f"{name}: argument {n} is {shown(x)}; an array is needed, as it was exported")
        raise ArgumentTypeError(f"{name}: argument {n} is {there}; {structure} is needed, as it was exported")

    def _refuse_unless_default(self, n: str, value: Any, is_given: bool) -> None:
        name = self.function.name
        if n not in self.signature.parameters:
            raise UnsupportedError(
                f"{name}: {n} was not an argument when the function was exported. Export the function with it"
            )
        if is_given and not self._is_default(n, value):
            raise UnsupportedError(
                f"{name}: {n} was exported at its default. To pass another value, export the function with a value for "
                "it"
            )

    def _is_default(self, parameter: str, value: Any) -> bool:
        default = self.signature.parameters[parameter].default
        return type(value) is type(default) and type(value) in (bool, int, float, str, type(None)) and value == default

    def _run(self, leaves: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arrays = [self._array(i, x) for i, x in enumerate(leaves)]
        kinds = [kind_of(x) for x in leaves]
        labelled = {i: x for i, (x, kind) in enumerate(zip(leaves, kinds, strict=True)) if kind and kind.labelled(x)}
        for i in labelled.keys() & self.followed.consulted.keys():
            check_labels(self.function, i, labels_of(labelled[i]), self.followed)
        for r in self.ranges:
            r.check(int(arrays[r.argument]), False)
        self._check_sizes(arrays)
        device = self.device
        free = {i for i, kind in enumerate(kinds) if kind is None or kind.free}
        if (device is None or self.asked is None) and len(free) < len(arrays):
            found = targets.where(arrays, free, lambda i: f"argument {self.function.arguments[i].name}")
            if found is not None or any(a.ndim for i, a in enumerate(arrays) if i not in free):
                device = found
        executable, weights = self._at(device)
        try:
            results: Any = executable.run([*(_native.to_device(a, device) for a in arrays), *weights])
        except TypeError as error:
            raise ArgumentTypeError(f"{self.function.name}: {error}") from None
        if labelled:
            results = self.relabel(results, labelled, [*arrays, *self.weights])
        else:
            self._learn(args, kwargs, arrays, device)
        return results[0] if self._is_single else self._unflatten(results)

    def _array(self, i: int, given: Any) -> Any:
        """One argument as an array of the type that the code takes."""
        x = given
        spec, parameter = self.specs[i], self.function.arguments[i]
        what = f"{self.function.name}: argument {parameter.name}"
        kind = kind_of(x)
        if kind is NUMBER and not spec.ndim:
            return _native.from_buffer(as_number(x, spec, what), ())
        if kind is None:
            raise unnamed(x, f"{what}, a NumPy array") if isinstance(x, np.ndarray) else not_an_array(x, f"{what}: ")
        x = kind.array(x)
        if set(x.dims) != set(spec.dims) or len(x.dims) != len(spec.dims):
            raise DimensionError(
                f"{what} is {describe_array(x)}; {describe(spec.dims, spec.shape)} is needed{beyond(spec.dims, x.dims)}"
            )
        if x.dtype != spec.dtype:
            raise wrong_dtype(what, x.dtype, spec)
        if x.dims != spec.dims:
            order = [x.dims.index(d) for d in spec.dims]
            device = x._device
            x = _native.from_buffer(np.ascontiguousarray(np.transpose(x.to_numpy(), order)), spec.dims)
            x = _native.to_device(x, device)
        return x

    def _check_sizes(self, arrays: Sequence[Any]) -> None:
        """One name is one size across all arguments."""
        sizes: dict[str, tuple[int, str]] = {}
        for spec, p, x in zip(self.specs, self.function.arguments, arrays, strict=True):
            for d, n, m in zip(spec.dims, spec.shape, x.shape, strict=True):
                if n is None and d not in sizes:
                    sizes[d] = m, p.name
                wanted = sizes[d][0] if n is None else n
                if m == wanted:
                    continue
                by = f", the size that argument {sizes[d][1]} has" if n is None else ", as it was exported"
                raise SizeError(
                    f"{self.function.name}: argument {p.name}: dim {d!r} has size {m}; it must be {wanted}{by}"
                )


def _native_type(p: Parameter) -> Any:
    try:
        if None in p.shape:
            dtype, dims, sizes = p.pattern
            return dtype, dims, [None if isinstance(n, str) and n == d else n for d, n in zip(dims, sizes, strict=True)]
        return _native.ArrayType(p.dtype, p.dims, [n for n in p.sizes if isinstance(n, int)])
    except (ValueError, OverflowError) as error:
        raise BundleError(f"{p}: {error}") from None
