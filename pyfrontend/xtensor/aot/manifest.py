"""manifest.json of a bundle, read and checked: nothing of it is believed before it is a manifest, and nothing that it
says of code before the code says the same."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _native
from ..core.errors import BundleError

SCHEMA = 1
_DTYPES = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    ]
)
# A size: a number, the name of an open one, or a product of both.
Size = int | str | list[int | str]


@dataclass(frozen=True)
class Parameter:
    """An array that goes in or comes out."""

    name: str
    dtype: str
    dims: tuple[str, ...]
    sizes: tuple[Size, ...]
    member: str | None = None  # where the values of a weight are

    @property
    def pattern(self) -> Any:
        """As _native.Executable takes it."""
        return self.dtype, self.dims, [list(n) if isinstance(n, list) else n for n in self.sizes]

    @property
    def shape(self) -> tuple[int | None, ...]:
        return tuple(n if isinstance(n, int) else None for n in self.sizes)

    def __str__(self) -> str:
        sizes = ", ".join(f"{_quoted(d)}: {_text(n)}" for d, n in zip(self.dims, self.sizes, strict=True))
        return f"{self.dtype}{{{sizes}}}"


@dataclass(frozen=True)
class Target:
    """What code of a bundle runs on, and the members that hold it."""

    target: str
    triple: str
    kernel: str
    entry: str
    signature: str
    shared: str | None = None
    archive: str | None = None
    # Of devices: what they must have, what their host runs on, the list of launches or why there is none.
    profile: str | None = None
    host: str | None = None
    launches: str | None = None
    why: str | None = None

    @property
    def is_device(self) -> bool:
        return self.profile is not None

    @property
    def processor(self) -> str:
        return (self.host or self.target).removeprefix("cpu:")


@dataclass(frozen=True)
class Exported:
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
    python: Mapping[str, Any] = field(default_factory=dict)
    nonempty: tuple[tuple[Size, str, str], ...] = ()  # size, message, location
    symbol: str | None = None  # in C

    def said(self) -> str:
        """The signature that code for this function carries."""
        inputs = ", ".join(f"{_quoted(p.name)}: {p}" for p in (*self.arguments, *self.weights))
        text = f"{_quoted(self.name)}({inputs}) -> ({', '.join(map(str, self.results))})"
        text += "".join(f" where {_text(left)} = {_text(right)}" for left, right, *_ in self.equal)
        return text + "".join(f" where {_text(size)} > 0" for size, *_ in self.nonempty)


@dataclass(frozen=True)
class Manifest:
    schema: int
    compiler: str
    name: str
    blas: str | None
    function: Exported
    targets: tuple[Target, ...]
    module: str
    members: Mapping[str, tuple[int, str]]  # bytes, SHA-256
    header: str | None = None


def _quoted(name: str) -> str:
    """A name in which nothing can be taken for the text around it (compiler/Interface.cpp)."""
    return re.sub(r"([\\,:{}*()?])", r"\\\1", name)


def _text(size: Size) -> str:
    factors = size if isinstance(size, list) else [size]
    return "*".join(f"?{_quoted(n)}" if isinstance(n, str) else str(n) for n in factors)


class _RefusedError(Exception):
    """What is wrong, without the file's name."""


def _get(table: Any, key: str, kind: Any, *default: Any) -> Any:
    if not isinstance(table, dict):
        raise _RefusedError(f"an object is expected around {key!r}")
    if key not in table:
        if default:
            return default[0]
        raise _RefusedError(f"{key!r} is missing")
    found = table[key]
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise _RefusedError(f"{key!r} is {found!r:.60}")
    return found


def _texts(table: Any, key: str) -> tuple[str, ...]:
    found = _get(table, key, list)
    if not all(isinstance(x, str) for x in found):
        raise _RefusedError(f"{key!r} holds something else than text")
    return tuple(found)


def _is_size(n: Any) -> bool:
    return isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**63


def _size(n: Any, known: Sequence[str]) -> Size:
    if _is_size(n) or (isinstance(n, str) and n in known):
        return n
    if (
        isinstance(n, list)
        and n
        and len(n) <= 64
        and all(_is_size(f) or (isinstance(f, str) and f in known) for f in n)
    ):
        return n
    raise _RefusedError(f"{n!r:.60} is no size")


def _parameter(table: Any, known: Sequence[str], is_input: bool) -> Parameter:
    dims, sizes = _texts(table, "dims"), _get(table, "sizes", list)
    dtype = _get(table, "dtype", str)
    if dtype not in _DTYPES or len(sizes) != len(dims) or len(dims) > 64 or len(set(dims)) != len(dims) or "" in dims:
        raise _RefusedError(f"{table!r:.80} is no array")
    if _get(table, "layout", str) != "row-major":
        raise _RefusedError("a layout other than row-major")
    checked = tuple(_size(n, known) for n in sizes)
    if is_input and any(not isinstance(n, int) and n != d for d, n in zip(dims, checked, strict=True)):
        raise _RefusedError("an argument's open size has the name of its dim")
    fixed = math.prod(n for n in checked if isinstance(n, int))
    if fixed >= 2**59:
        raise _RefusedError(f"{table!r:.80} is larger than memory")
    return Parameter(_get(table, "name", str), dtype, dims, checked, _get(table, "member", str, None))


def _function(table: Any) -> Exported:
    known = _texts(table, "open")
    arguments, weights, results = (
        tuple(_parameter(p, known, key != "results") for p in _get(table, key, list))
        for key in ("arguments", "weights", "results")
    )
    there = list(dict.fromkeys(n for p in arguments for n in p.sizes if isinstance(n, str)))
    if tuple(there) != known or any(p.member is None or None in p.shape for p in weights):
        raise _RefusedError("open sizes are those of the arguments, in their order")
    equal = []
    for e in _get(table, "equal", list):
        left, right = _get(e, "sizes", list)
        said = _get(e, "dim", str), _get(e, "op", str, ""), _get(e, "location", str, "")
        equal.append((_size(left, known), _size(right, known), *said))
    nonempty = tuple(
        (_size(_get(e, "size", object), known), _get(e, "message", str), _get(e, "location", str, ""))
        for e in _get(table, "nonempty", list, [])
    )
    sites = tuple(
        (_get(s, "dim", str), _get(s, "location", str), _get(s, "op", str)) for s in _get(table, "sites", list)
    )
    found = Exported(
        _get(table, "name", str),
        _get(table, "doc", str),
        _get(table, "signature", str),
        arguments,
        weights,
        results,
        known,
        tuple(equal),
        sites,
        _get(table, "python", dict, {}),
        nonempty,
        _get(table, "symbol", str, None),
    )
    if found.said() != found.signature:
        raise _RefusedError("the signature says something else than the arrays")
    return found


def _target(table: Any) -> Target:
    found = {key: _get(table, key, str) for key in ("target", "triple", "kernel", "entry", "signature")}
    symbol = found["entry"].removesuffix("_entry")
    if not re.fullmatch(r"\w+", symbol, re.ASCII) or found["signature"] != f"{symbol}_signature":
        raise _RefusedError("the code's symbols are NAME_entry and NAME_signature")
    more = ("shared", "archive", "profile", "host", "launches", "why")
    return Target(**found, **{key: _get(table, key, str, None) for key in more})


def _manifest(table: Any) -> Manifest:
    functions = _get(table, "functions", list)
    if len(functions) != 1:
        raise _RefusedError("a bundle of this schema has one function")
    members = {
        name: (_get(m, "bytes", int), _get(m, "sha256", str)) for name, m in _get(table, "members", dict).items()
    }
    found = Manifest(
        _get(table, "schema", int),
        _get(table, "compiler", str),
        _get(table, "name", str),
        _get(table, "blas", (str, type(None)), None),
        _function(functions[0]),
        tuple(_target(t) for t in _get(table, "targets", list)),
        _get(table, "module", str),
        members,
        _get(table, "header", str, None),
    )
    named = [found.module, found.header, *(w.member for w in found.function.weights)]
    named += [m for t in found.targets for m in (t.kernel, t.shared, t.archive, t.launches)]
    for name in named:
        if name is not None and name not in members:
            raise _RefusedError(f"member {name!r} is named and not listed")
    return found


class File:
    """The bytes of a bundle with its manifest: `member(name)` checks the hash of what it gives."""

    def __init__(self, data: bytes, where: str) -> None:
        self.where = where
        self.data = memoryview(data)
        try:
            self.places = _native.read_zip(data)
        except ValueError as error:
            raise BundleError(f"{where} is no bundle that can be used: {error}") from None
        if "manifest.json" not in self.places:
            raise BundleError(f"{where} is no bundle: it has no manifest.json")
        begin, end = self.places["manifest.json"]
        try:
            table = json.loads(bytes(self.data[begin:end]))
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{where}: manifest.json is no JSON: {error}") from None
        schema = table.get("schema") if isinstance(table, dict) else None
        if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
            raise BundleError(f"{where}: manifest.json names no schema")
        if schema > SCHEMA:
            by = table.get("compiler")
            raise BundleError(
                f"{where} was made by {by if isinstance(by, str) else 'a newer compiler'} with schema {schema}; this "
                f"version reads schemas up to {SCHEMA}. Update xtensor, or export the function with this version"
            )
        try:
            self.manifest = _manifest(table)
            self._check_members()
        except (_RefusedError, TypeError, ValueError) as error:
            raise BundleError(f"{where}: manifest.json cannot be used: {error}") from None

    def _check_members(self) -> None:
        listed = self.manifest.members
        if set(self.places) != {*listed, "manifest.json"}:
            raise _RefusedError("it lists other members than there are")
        for name, (size, _) in listed.items():
            begin, end = self.places[name]
            if end - begin != size:
                raise _RefusedError(f"member {name!r} has {end - begin} bytes, not {size}")

    def member(self, name: str) -> memoryview:
        begin, end = self.places[name]
        part = self.data[begin:end]
        if _native.sha256(part) != self.manifest.members[name][1]:
            raise BundleError(
                f"{self.where}: member {name} is damaged: its SHA-256 is another one. Nothing of it is used"
            )
        return part
