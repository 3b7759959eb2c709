"""Reads and checks manifest.json of a bundle.

A manifest is used only after it has the form that `_MANIFEST` describes. What it says about code is used only after
the code says the same.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import re
import stat
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..base.dims import describe
from ..base.errors import BundleError, file_error
from ..labels.xarray import Followed
from . import labels
from .schema import RefusedError, flag, items, mapping, number, one_of, optional, record, refuse, row, text
from .structure import tree

SCHEMA = 4
AGAIN = "Export it again, or copy it again"
_BYTECODE = b"ML\xefR"  # how MLIR's bytecode begins
_LONGEST = 1 << 26  # of manifests, in bytes
_PIECE = 1 << 18  # bytes that are read at once
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DTYPES = ("bool", *_INTEGERS, "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
# A size: a number, the name of an open one, or a product of both.
Size = int | str | list[int | str]


class Parameter(NamedTuple):
    """An array that goes in or comes out."""

    name: str
    dtype: str
    dims: tuple[str, ...]
    sizes: tuple[Size, ...]
    # Of a weight: where its values are.
    member: str | None = None
    offset: int = 0
    sha256: str = ""

    @property
    def pattern(self) -> Any:
        """As _native.Executable takes it."""
        return self.dtype, self.dims, [list(n) if isinstance(n, list) else n for n in self.sizes]

    @property
    def shape(self) -> tuple[int | None, ...]:
        return tuple(n if isinstance(n, int) else None for n in self.sizes)

    @property
    def shown(self) -> str:
        """As errors show arrays."""
        return f"{self.dtype} {describe(self.dims, self.shape)}"

    def __str__(self) -> str:
        sizes = ", ".join(f"{_quoted(d)}: {size_text(n)}" for d, n in zip(self.dims, self.sizes, strict=True))
        return f"{self.dtype}{{{sizes}}}"


class ForPython(NamedTuple):
    """What a signature of arrays does not tell of a function: all of it may be missing."""

    parameters: tuple[Mapping[str, Any], ...] | None = None
    arguments: Any = None  # trees with "*" for each array: (positional, keywords), and what comes back
    result: Any = ...  # None is what a function without results returns
    places: tuple[int, ...] | None = None
    weak: tuple[bool, ...] | None = None
    ranges: tuple[tuple[int, str, str | None, str], ...] = ()
    labels: Followed | None = None
    operands: Mapping[str, str] = MappingProxyType({})  # of ops that may fail


class Code(NamedTuple):
    """The code of a function for a target: the member and its symbols. Of devices also the list of launches, or why
    there is none."""

    kernel: str
    entry: str
    signature: str
    launches: str | None = None
    why: str | None = None


class Target(NamedTuple):
    """What code of a bundle runs on, and where it is: for each function, and for all of them in C."""

    target: str
    triple: str
    code: tuple[Code, ...]
    shared: str | None = None
    archive: str | None = None
    # Of devices: what they must have, and what their hosts run on.
    profile: str | None = None
    host: str | None = None

    @property
    def is_device(self) -> bool:
        return self.profile is not None

    @property
    def processor(self) -> str:
        return (self.host or self.target).removeprefix("cpu:")


class Exported(NamedTuple):
    """A function of a bundle."""

    name: str
    doc: str
    signature: str
    arguments: tuple[Parameter, ...]
    weights: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    open: tuple[str, ...]
    equal: tuple[tuple[Size, Size, str, str, str], ...]  # dim, op and location last
    sites: tuple[tuple[str, str, str], ...]
    module: str
    python: ForPython = ForPython()
    nonempty: tuple[tuple[Size, str, str], ...] = ()  # size, message, location
    symbol: str | None = None  # in C
    python_text: str = ""  # what is said for Python, as it was when it was exported

    def __str__(self) -> str:
        """What it takes and returns, for people."""
        inputs = ", ".join(f"{p.name}: {p.shown}" for p in self.arguments)
        results = ", ".join(p.shown for p in self.results)
        inside = f" with {len(self.weights)} weights inside" if len(self.weights) > 1 else ""
        inside = " with a weight inside" if len(self.weights) == 1 else inside
        return f"{self.name}({inputs}) -> {results if len(self.results) == 1 else f'({results})'}{inside}"

    def said(self) -> str:
        """The signature that code for this function carries."""
        inputs = ", ".join(f"{_quoted(p.name)}: {p}" for p in (*self.arguments, *self.weights))
        text = f"{_quoted(self.name)}({inputs}) -> ({', '.join(map(str, self.results))})"
        text += "".join(f" where {size_text(left)} = {size_text(right)}" for left, right, *_ in self.equal)
        return text + "".join(f" where {size_text(size)} > 0" for size, *_ in self.nonempty)


class Manifest(NamedTuple):
    schema: int
    compiler: str
    name: str
    functions: tuple[Exported, ...]
    targets: tuple[Target, ...]
    members: Mapping[str, tuple[int, str]]  # bytes, SHA-256
    blas: str | None = None
    header: str | None = None

    def contents(self, f: Exported) -> str:
        """SHA-256 of what goes with a function's code, which carries it: the program, the weights, what is said for
        Python."""
        hashes = [self.members[f.module][1], *(w.sha256 for w in f.weights)]
        hashes.append(hashlib.sha256(f.python_text.encode()).hexdigest())
        return hashlib.sha256("".join(hashes).encode()).hexdigest()


def _quoted(name: str) -> str:
    """A name in which nothing can be taken for the text around it (compiler/Interface.cpp)."""
    return re.sub(r"([\\,:{}*()?])", r"\\\1", name)


def size_text(size: Size) -> str:
    factors = size if isinstance(size, list) else [size]
    return "*".join(f"?{_quoted(n)}" if isinstance(n, str) else str(n) for n in factors)


# -- what a manifest is -----------------------------------------------------------------------------------------------

_NAME = text(1024, least=1)
_LINE = text(8192, is_line=False)
_SHA256 = text(64, r"[0-9a-f]{64}")
_MEMBER = text(255, r"[\w.-]+(/[\w.-]+)*")
_MANY = 1 << 16  # more arrays, sizes or sites than any function has
_FUNCTIONS = 1024  # of a bundle
LONGEST_DOC = 1 << 20
_FACTOR = number(0, 2**63 - 1)


def _factor(value: Any, where: str) -> int | str:
    found: int | str = (_NAME if isinstance(value, str) else _FACTOR)(value, where)
    return found


def _size(value: Any, where: str) -> Size:
    if isinstance(value, list):
        return list(items(_factor, most=64, least=1)(value, where))
    return _factor(value, where)


def _dim(value: Any, where: str) -> str:
    found: str = _NAME(value, where)
    if "~" in found:
        raise refuse(value, where, "the name of a dim")
    return found


def _identifier(value: Any, where: str) -> str:
    found: str = _NAME(value, where)
    if not found.isidentifier():
        raise refuse(value, where, "the name of a parameter")
    return found


def _array(layout: str, **fields: Any) -> Parameter:
    return Parameter(**fields)


def _function(value: Any, where: str) -> Exported:
    found: Exported = _FUNCTION(value, where)
    python = value.get("python")
    if python is None:
        return found
    try:
        return found._replace(python_text=json.dumps(python, sort_keys=True))
    except RecursionError:  # of what the schema does not know
        raise RefusedError(f"{where}.python is nested too deep") from None


_ARRAY = record(
    _array,
    {
        "name": _NAME,
        "dtype": one_of(_DTYPES),
        "dims": items(_dim, most=64),
        "sizes": items(_size, most=64),
        "layout": one_of(["row-major"]),
    },
    {"member": _MEMBER, "offset": number(0, 2**32 - 1), "sha256": _SHA256},
)
_PYTHON = record(
    ForPython,
    {},
    {
        "parameters": items(
            record(
                dict,
                {"name": _identifier, "kind": one_of([k.name for k in inspect._ParameterKind])},
                {"default": text(1024, is_line=False), "plain": flag},
            ),
            most=_MANY,
        ),
        "arguments": tree,
        "result": tree,
        "places": optional(items(number(0, _MANY), most=_MANY)),
        "weak": items(flag, most=_MANY),
        "labels": labels.followed,
        "operands": mapping(text(1024), _LINE, most=_MANY),
        "ranges": items(row(number(0, _MANY), one_of(_INTEGERS), optional(_LINE), _LINE), most=_MANY),
    },
)
_FUNCTION = record(
    Exported,
    {
        "name": _NAME,
        "doc": text(LONGEST_DOC, is_line=False),
        "signature": text(1 << 24, is_line=False),
        "arguments": items(_ARRAY, most=_MANY),
        "weights": items(_ARRAY, most=_MANY),
        "results": items(_ARRAY, most=_MANY),
        "open": items(_dim, most=_MANY),
        "equal": items(
            record(
                lambda dim, sizes, op="", location="": (*sizes, dim, op, location),
                {"dim": _NAME, "sizes": row(_size, _size)},
                {"op": text(1024), "location": _LINE},
            ),
            most=_MANY,
        ),
        "sites": items(
            record(
                lambda dim, location, op: (dim, location, op), {"dim": text(4096), "location": _LINE, "op": text(1024)}
            ),
            most=_MANY,
        ),
        "module": _MEMBER,
    },
    {
        "python": _PYTHON,
        "symbol": text(2048, least=1),
        "nonempty": items(
            record(
                lambda size, message, location="": (size, message, location),
                {"size": _size, "message": _LINE},
                {"location": _LINE},
            ),
            most=_MANY,
        ),
    },
)
_CODE = record(
    Code,
    {"kernel": _MEMBER, "entry": text(4096, r"\w+__entry"), "signature": text(4096, r"\w+__signature")},
    {"launches": _MEMBER, "why": _LINE},
)
_TARGET = record(
    Target,
    {
        "target": text(255, r"[\w:.,=+-]+"),
        "triple": text(255, r"[\w.-]+"),
        "code": items(_CODE, most=_FUNCTIONS, least=1),
    },
    {
        "shared": _MEMBER,
        "archive": _MEMBER,
        "profile": text(1024, r"[a-z]+(,[a-z]\w*(=\d{1,12})?)*"),
        "host": text(255, r"[\w:.-]+"),
    },
)
_MANIFEST = record(
    Manifest,
    {
        "schema": number(SCHEMA, SCHEMA),
        "compiler": text(255),
        "name": text(255),
        "functions": items(_function, most=_FUNCTIONS, least=1),
        "targets": items(_TARGET, most=64, least=1),
        "members": mapping(
            _MEMBER,
            record(
                lambda bytes, sha256: (bytes, sha256),
                {"bytes": number(0, 2**32 - 1), "sha256": _SHA256},
            ),
            most=4096,
        ),
    },
    {"blas": optional(text(255)), "header": _MEMBER},
)


# -- whether its parts say the same -----------------------------------------------------------------------------------


def _names(sizes: Iterable[Size]) -> Iterator[str]:
    """The open sizes among the factors."""
    for n in sizes:
        yield from (f for f in (n if isinstance(n, list) else [n]) if isinstance(f, str))


def _check_array(p: Parameter, known: Collection[str], is_input: bool) -> None:
    if len(p.sizes) != len(p.dims) or len(set(p.dims)) != len(p.dims):
        raise RefusedError(f"{p.name!r} has dims without sizes, or one of them twice")
    if any(n not in known for n in _names(p.sizes)):
        raise RefusedError(f"a size of {p.name!r} is open, and not among the open ones")
    if is_input and any(not isinstance(n, int) and n != d for d, n in zip(p.dims, p.sizes, strict=True)):
        raise RefusedError("an argument's open size has the name of its dim")
    if math.prod(n for n in p.sizes if isinstance(n, int)) >= 2**59:
        raise RefusedError(f"{p.name!r} is larger than memory")


def _check_function(f: Exported) -> None:
    known = frozenset(f.open)
    for p in (*f.arguments, *f.weights):
        _check_array(p, known, is_input=True)
    for p in f.results:
        _check_array(p, known, is_input=False)
    there = dict.fromkeys(n for p in f.arguments for n in p.sizes if isinstance(n, str))
    if tuple(there) != f.open or any(p.member is None or not p.sha256 or None in p.shape for p in f.weights):
        raise RefusedError("open sizes are those of the arguments, in their order")
    demanded = [n for left, right, *_ in f.equal for n in (left, right)] + [n for n, *_ in f.nonempty]
    if any(n not in known for n in _names(demanded)):
        raise RefusedError("sizes that a call must see to are open ones")
    dims = [p.dims for p in f.results]
    if f.python.labels and not labels.fits(f.python.labels, len(f.arguments) + len(f.weights), dims):
        raise RefusedError("labels are of arrays that are not there")
    if f.said() != f.signature:
        raise RefusedError("the signature says something else than the arrays")


def _check(m: Manifest) -> None:
    for f in m.functions:
        _check_function(f)
    if len({f.name for f in m.functions}) != len(m.functions):
        raise RefusedError("two functions have one name")
    for t in m.targets:
        if len(t.code) != len(m.functions):
            raise RefusedError(f"target {t.target!r} has code of other functions than there are")
        for c in t.code:
            if c.signature != c.entry.removesuffix("__entry") + "__signature":
                raise RefusedError("the code's symbols are NAME__entry and NAME__signature")
    named = [m.header, *(x for t in m.targets for x in (t.shared, t.archive))]
    named += [x for t in m.targets for c in t.code for x in (c.kernel, c.launches)]
    named += [x for f in m.functions for x in (f.module, *(w.member for w in f.weights))]
    for name in named:
        if name is not None and name not in m.members:
            raise RefusedError(f"member {name!r} is named and not listed")


# -- the file ---------------------------------------------------------------------------------------------------------


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. A key must not occur twice, because it could have two meanings."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a key twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number in JSON")


def opened(path: Path) -> int:
    """The descriptor of a file, which ends: a pipe or a device may not."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    except OSError as error:
        raise file_error(BundleError, f"{path} cannot be read: {error.strerror}", error) from None
    why = "Is a directory" if path.is_dir() else "it is not a regular file"
    raise BundleError(f"{path} cannot be read: {why}")


class File:
    """A bundle, as bytes or as the descriptor of an open file (which it closes), with its manifest. Of a file only
    what is asked for is read. `member(name)` checks the hash of what it gives; other members are not checked
    until `check`."""

    def __init__(self, source: bytes | int, where: str) -> None:
        self.where = where
        self._source: memoryview | int = source if isinstance(source, int) else memoryview(source)
        if isinstance(source, int):
            weakref.finalize(self, os.close, source)
        try:
            self.places = _native.read_zip(self._source, ("manifest.json",))
        except ValueError as error:
            raise BundleError(f"{where} is not a bundle that can be used: {error}. {AGAIN}") from None
        if "manifest.json" not in self.places:
            raise BundleError(f"{where} is not a bundle: it does not have a manifest.json")
        begin, end = self.places["manifest.json"]
        try:
            if end - begin > _LONGEST:
                raise ValueError(f"it has more than {_LONGEST} bytes")
            text = bytes(self._read(begin, end)).decode()
            table = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            said = str(error).encode("ascii", "backslashreplace").decode()
            raise BundleError(f"{where}: manifest.json is not JSON: {said}. {AGAIN}") from None
        self._check_schema(table)
        try:
            self.manifest: Manifest = _MANIFEST(table, "")
            _check(self.manifest)
            self._check_members()
        except RefusedError as error:
            raise BundleError(f"{where}: manifest.json cannot be used: {error}. {AGAIN}") from None

    @property
    def is_open(self) -> bool:
        """Whether members are read from a file, each time anew."""
        return isinstance(self._source, int)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._source).st_size if isinstance(self._source, int) else len(self._source)

    def all(self) -> bytes:
        """The file itself."""
        return bytes(self._read(0, self.size))

    def _read(self, begin: int, end: int, hashed: Any = None) -> memoryview:
        """Bytes that cannot change: a view of those in memory, or read from the file. `hashed` is updated."""
        if not isinstance(self._source, int):
            part = self._source[begin:end]
            if hashed is not None:
                hashed.update(part)
            return part
        room = np.empty(end - begin, "u1").data
        done = 0
        while done < len(room):  # hashed while it is in the cache
            got = os.preadv(self._source, [room[done : done + _PIECE]], begin + done)
            if not got:
                raise BundleError(f"{self.where} was cut off since it was opened. {AGAIN}")
            if hashed is not None:
                hashed.update(room[done : done + got])
            done += got
        return room

    def _check_schema(self, table: Any) -> None:
        schema = table.get("schema") if isinstance(table, dict) else None
        if type(schema) is not int or not 1 <= schema < 2**31:
            raise BundleError(f"{self.where}: manifest.json names no schema")
        if schema == SCHEMA:
            return
        by = table.get("compiler")
        if not isinstance(by, str) or not re.fullmatch(r"[\w .+-]{1,80}", by, re.ASCII):
            by = "a newer compiler" if schema > SCHEMA else "an older compiler"
        how = "Update xtensor, or export" if schema > SCHEMA else "Export"
        raise BundleError(
            f"{self.where} was made by {by} with schema {schema}; this version reads schema {SCHEMA}. {how} the "
            "function with this version"
        )

    def _check_members(self) -> None:
        listed = self.manifest.members
        if set(self.places) != {*listed, "manifest.json"}:
            raise RefusedError("it lists other members than there are")
        for name, (size, _) in listed.items():
            begin, end = self.places[name]
            if end - begin != size:
                raise RefusedError(f"member {name!r} has {end - begin} bytes, not {size}")
        for f in self.manifest.functions:
            begin, end = self.places[f.module]
            if self._read(begin, min(begin + len(_BYTECODE), end)) != _BYTECODE:
                raise RefusedError(f"member {f.module!r} is not MLIR bytecode")

    def member(self, name: str) -> memoryview:
        size, sha256 = self.manifest.members[name]
        return self.part(name, 0, size, sha256)

    def part(self, name: str, offset: int, size: int, sha256: str) -> memoryview:
        """Bytes of a member that have this hash."""
        begin, end = self.places[name]
        if offset + size > end - begin:
            raise BundleError(f"{self.where}: member {name} ends before what the manifest says is in it. {AGAIN}")
        hashed = hashlib.sha256()
        part = self._read(begin + offset, begin + offset + size, hashed)
        if hashed.hexdigest() != sha256:
            raise BundleError(
                f"{self.where}: member {name} is damaged: its SHA-256 is another one. Nothing of it is used. {AGAIN}"
            )
        return part

    def check(self) -> None:
        """Looks at every byte, also of what this machine has no use for."""
        try:
            _native.read_zip(self._source)
        except ValueError as error:
            raise BundleError(f"{self.where} is not a bundle that can be used: {error}. {AGAIN}") from None
        for name in self.manifest.members:
            self.member(name)
