"""Computes the labels of results from the labels of arguments.

The result is kept: a call with the same labels, or with equal ones, does not look at the program again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from ..values.array import Array
from .xarray import (
    AS_CONDITION,
    AS_INDEX,
    OWNER,
    POINTS,
    WHOLE,
    Followed,
    Given,
    Labels,
    Origin,
    coordinates,
    dataarray,
    is_dataarray,
    labels_of,
    with_levels,
)

if TYPE_CHECKING:
    import xarray


class Relabel:
    """What labels the results of a program, as DataArrays where one went in (else as Arrays with labels): the
    coordinates that still apply, the name that all arguments share, the attributes in which they do not differ."""

    def __init__(self, followed: Followed, op: str = "") -> None:
        self.followed = followed
        self.op = op
        wholes = [[o for o in where.get(WHOLE, ()) if AS_INDEX not in o[2]] for where in followed.results]
        # Of each result: the arguments that it has a name from, and those that were only conditions.
        self.wholes = [_arguments(o for o in origins if AS_CONDITION not in o[2]) for origins in wholes]
        self.conditions = [_arguments(o for o in origins if AS_CONDITION in o[2]) for origins in wholes]
        self.owners = [_arguments(where.get(OWNER, ())) for where in followed.results]
        self.alike = _Alike(followed)
        every = [*followed.results, *(where for m in followed.meetings for _, where in m.operands)]
        # Arguments whose values are positions, which choose other labels at each call.
        self.read = frozenset(i for where in every for froms in where.values() for o in froms for i in reads(o))
        self.is_settled = not self.read
        self.kept: list[_Kept] = []  # latest first

    def __call__(self, results: Sequence[Array], sources: Mapping[int, Any], arrays: Sequence[Array]) -> list[Any]:
        """The results with labels. `sources`: arguments that have some, by number; `arrays`: all arguments."""
        if any(map(is_dataarray, sources.values())):
            return self.as_dataarrays(results, sources, arrays)
        found = self.labels(results, sources, arrays)
        return [r._with_meta(label) if label else r for r, label in zip(results, found, strict=True)]

    def labels(
        self, results: Sequence[Array], sources: Mapping[int, Array], arrays: Sequence[Array]
    ) -> Sequence[Labels | None]:
        """Of each result of arguments that are Arrays with labels, its own; None: it has none."""
        given = [x.meta for x in sources.values()]
        prints = [(i, label) for i, label in zip(sources, given, strict=True)]
        kept = self._find(prints, results)
        if kept is None:
            every = Given({**dict(zip(sources, given, strict=True)), **self.followed.own}, arrays)
            kept = self._keep(prints, results, self._worked_out(results, every))
        return kept.labels

    def remember(
        self, known: list[Any], results: Sequence[Array], arrays: Sequence[Array], sources: Mapping[int, Any]
    ) -> None:
        """Adds to `known` what C++ finds (native/Entry.h): labels of all arguments, those of the results."""
        if not self.is_settled or any(map(is_dataarray, sources.values())):
            return
        option = _keep_attrs() if any(x.meta.attrs for x in sources.values()) else None
        known.insert(0, (tuple(a.meta for a in arrays), tuple(r.meta for r in results), option))
        del known[_MOST:]

    def _worked_out(self, results: Sequence[Array], every: Given) -> list[Labels | None]:
        for meeting in self.followed.meetings:
            meeting.check(every)
        return [self.of(i, r.sizes, every) for i, r in enumerate(results)]

    def of(self, i: int, sizes: Mapping[str, int], every: Given) -> Labels | None:
        """The labels of result `i`. A gradient is labelled as the argument that it is by."""
        labels = Given(self.owned(i, every), every.arrays)
        name, attrs = self._name_and_attrs(i, labels)
        levels = {d: names for label in labels.values() for d, names in label.levels.items()}
        where = self.followed.results[i]
        coords, made = with_levels(where, coordinates(where, sizes, labels), sizes, labels)
        found = Labels(coords, name, attrs, levels | made)
        # One object for what is labelled alike: the next program, given it again, knows what to do.
        return next((label for label in labels.values() if _are_those_of(label, found)), found) or None

    def _name_and_attrs(self, i: int, labels: Mapping[int, Any]) -> tuple[Any, dict[Any, Any]]:
        """By Labels or DataArrays."""
        parts = [x for j, x in labels.items() if j in self.wholes[i]]
        parts = parts or [x for j, x in labels.items() if j in self.conditions[i]]
        if not parts:
            return None, {}
        if len(parts) == 1:
            name, attrs = parts[0].name, parts[0].attrs
            return name, dict(attrs) if attrs and keeps_attrs(self.op) else {}
        name = parts[0].name if all(_same(x.name, parts[0].name) for x in parts) else None
        return name, _attributes(parts) if keeps_attrs(self.op) else {}

    def as_dataarrays(self, results: Sequence[Array], sources: Mapping[int, Any], arrays: Sequence[Array]) -> list[Any]:
        """The results with labels, of which some are DataArrays. `arrays` are read where labels are not settled."""
        own = self.followed.own
        named = {**{i: x.meta if type(x) is Array else x for i, x in sources.items()}, **own}
        like = self.alike.find(results, sources)
        if like is not None:
            pairs = enumerate(zip(like, results, strict=True))
            return [_filled(x, r, *self._name_and_attrs(i, self.owned(i, named))) for i, (x, r) in pairs]
        prints = [(i, fingerprint(x)) for i, x in sources.items()]
        kept = self._find(prints, results)
        if kept is None:
            given = {i: labels_of(x).copy() if is_dataarray(x) else x.meta for i, x in sources.items()}
            kept = self._keep(prints, results, self._worked_out(results, Given({**given, **own}, arrays)))
        out: list[Any] = []
        for i, result in enumerate(results):
            owned = self.owned(i, named)
            if any(map(is_dataarray, owned.values())):
                out.append(kept.dataarray(i, result, *self._name_and_attrs(i, owned)))
            else:
                label = kept.labels[i]
                out.append(result._with_meta(label) if label else result)
        return out

    def owned(self, i: int, given: Mapping[int, Any]) -> Mapping[int, Any]:
        """The arguments that result `i` is labelled by: a gradient, by the one that it is by."""
        return {j: x for j, x in given.items() if j in self.owners[i]} if len(self.owners[i]) == 1 else given

    def _find(self, prints: Sequence[tuple[int, Any]], results: Sequence[Array]) -> _Kept | None:
        keeps = keeps_attrs(self.op)
        for n, kept in enumerate(self.kept):
            if kept.fits(prints, results, keeps):
                if n:
                    self.kept = [kept, *(k for k in self.kept if k is not kept)]
                return kept
        return None

    def _keep(
        self, prints: Sequence[tuple[int, Any]], results: Sequence[Array], found: Sequence[Labels | None]
    ) -> _Kept:
        kept = _Kept(prints, results, found, keeps_attrs(self.op))
        if self.is_settled and all(x is not None for _, x in prints):
            self.kept = [kept, *self.kept[: _MOST - 1]]
        return kept


def with_labels_of(given: Sequence[Any], results: Sequence[Array], op: str) -> list[Any]:
    """Results of a function that is not known, labelled as those of an op of the program that calls it. `given`: the
    Arrays and DataArrays that it got."""
    sources = {i: x for i, x in enumerate(given) if is_dataarray(x) or x.meta is not None}
    if not sources:
        return [*results]

    def where(result: Array) -> dict[str, frozenset[Origin]]:
        of = {d: [i for i, x in enumerate(given) if d in x.dims] for d in result.dims}
        return {d: frozenset((i, d, ()) for i in froms) for d, froms in {**of, WHOLE: [*range(len(given))]}.items()}

    return Relabel(Followed([where(r) for r in results], []), op)(results, sources, given)


def _filled(x: xarray.DataArray, result: Array, name: Any, attrs: dict[Any, Any]) -> xarray.DataArray:
    """The result with the coordinates of `x`, which share their variables as those of xarray's own arithmetic do."""
    import xarray

    inner: Any = x
    if _is_known(inner.__class__):
        # Checks nothing: the variable has the dims and the shape of `x`.
        variable = xarray.Variable(x.dims, result.values, attrs or None, fastpath=True)
        made: xarray.DataArray = inner._replace(variable, dict(inner._coords), name, indexes=dict(inner._indexes))
        return made
    made = x.isel()  # the least of what is public that makes a DataArray with a dict of its own
    made.data = result.values
    made.name, made.attrs, made.encoding = name, attrs, {}
    return made


@functools.lru_cache(maxsize=16)
def _is_known(cls: Any) -> bool:
    """Whether DataArrays of this class have what is private to those of the xarray that we know."""
    return all(hasattr(cls, private) for private in ("_replace", "_coords", "_indexes"))


_MOST = 8  # calls with different labels that are kept


class _Kept:
    """The labels of the results of one call, and what the labels of its arguments were."""

    def __init__(
        self, prints: Sequence[tuple[int, Any]], results: Sequence[Array], labels: Sequence[Labels | None], keeps: bool
    ) -> None:
        self.prints, self.labels, self.keeps = prints, labels, keeps
        self.shapes = [r.shape for r in results]
        self.templates: dict[int, tuple[xarray.DataArray, list[Any]]] = {}

    def fits(self, prints: Sequence[tuple[int, Any]], results: Sequence[Array], keeps: bool) -> bool:
        return (
            keeps == self.keeps
            and all(r.shape == shape for r, shape in zip(results, self.shapes, strict=True))
            and len(prints) == len(self.prints)
            and all(i == j and _same_print(a, b) for (i, a), (j, b) in zip(prints, self.prints, strict=True))
        )

    def dataarray(self, i: int, result: Array, name: Any, attrs: dict[Any, Any]) -> xarray.DataArray:
        """Result `i` with its coordinates."""
        found = self.templates.get(i)
        if found is None:
            made = dataarray(np.broadcast_to(np.int8(0), result.shape), result.dims, self.labels[i] or Labels())
            # A coordinate that is not an index can be written to, so results must not share it.
            found = self.templates[i] = made, [k for k in made.coords if k not in made.xindexes]
        template, own = found
        x: Any = template
        if own and not _is_known(x.__class__):
            x = template.copy(deep=True, data=result.values)
            x.name, x.attrs = name, attrs
            return x
        x = _filled(template, result, name, attrs)
        for k in own:
            x._coords[k] = _copied(x._coords[k])
        return x


def _copied(variable: xarray.Variable) -> xarray.Variable:
    """A deep copy."""
    data = getattr(variable, "_data", None)  # private to xarray
    if type(data) is not np.ndarray or data.dtype == object or variable.attrs or variable.encoding:
        return variable.copy()
    return type(variable)(variable.dims, data.copy(), fastpath=True)


class _Alike:
    """Finds results that have the dims of an argument as they are, and no more labels than it has."""

    def __init__(self, followed: Followed) -> None:
        plain = all(len(m.operands) > 1 and _is_plain(where) for m in followed.meetings for _, where in m.operands)
        self.candidates = [_candidates(where) if plain else frozenset() for where in followed.results]

    def find(self, results: Sequence[Array], sources: Mapping[int, Any]) -> list[xarray.DataArray] | None:
        """For each result such an argument; None: some result has none."""
        found: list[xarray.DataArray] = []
        for result, candidates in zip(results, self.candidates, strict=True):
            for j in candidates:
                x: Any = sources.get(j)
                if (
                    is_dataarray(x)
                    and x.dims == result.dims
                    and x.shape == result.shape
                    and (len(sources) == 1 or _covers(x, sources))
                ):
                    found.append(x)
                    break
            else:
                return None
        return found


def _covers(x: xarray.DataArray, sources: Mapping[int, Any]) -> bool:
    """Whether all coordinates of the others are those of `x`, too: the same objects."""
    own = _variables_of(x)
    for y in sources.values():
        if y is not x and not (is_dataarray(y) and all(own.get(k) is v for k, v in _variables_of(y).items())):
            return False
    return True


def _is_plain(where: Mapping[str, Iterable[Origin]]) -> bool:
    """Whether dims come from dims of their name, as they are."""
    if where.get(POINTS):
        return False
    every = ((d, x, steps) for d, froms in where.items() if d != OWNER for _, x, steps in froms)
    return all(x == d and steps in ((), (AS_CONDITION,)) for d, x, steps in every)


def _candidates(where: Mapping[str, Iterable[Origin]]) -> frozenset[int]:
    """The arguments that have all dims of a result."""
    dims = [_arguments(froms) for d, froms in where.items() if not d.startswith("~")]
    if not dims or not _is_plain(where):
        return frozenset()
    return frozenset.intersection(*dims) & (_arguments(where.get(OWNER, ())) or dims[0])


def _arguments(origins: Iterable[Origin]) -> frozenset[int]:
    return frozenset(i for i, _, _ in origins)


def reads(origin: Origin) -> frozenset[int]:
    """The arguments at whose positions a step on the way reads, by number."""
    found: set[int] = set()
    for kind, *rest in origin[2]:
        if kind == "take" and isinstance(rest[0], int):
            found.add(rest[0])
        elif kind == "concat":
            found.update(*map(reads, rest[0]))
    return frozenset(found)


# -- labels that are the same -----------------------------------------------------------------------------------------

_SMALL = 4096  # bytes of a coordinate that is not an index: larger ones are not compared with those of earlier calls


def fingerprint(x: Any) -> Any:
    """What tells coordinates from others: the labels of an Array, a tuple of a DataArray's; None: too much to tell."""
    if not is_dataarray(x):
        return x.meta
    found: list[tuple[Any, ...]] = []
    known, indexes = _known_indexes(), _indexes_of(x)
    for name, variable in _variables_of(x).items():
        index = indexes.get(name)
        if index is not None and type(index) in known:
            content: Any = index.index
        elif index is None and variable.dtype.kind in "biufmM" and variable.nbytes <= _SMALL:
            content = (variable.dtype, np.asarray(variable.values).tobytes())
        else:
            return None
        found.append((name, variable.dims, content, dict(variable.attrs)))
    return tuple(found)


@functools.cache
def _known_indexes() -> tuple[type, ...]:
    import xarray

    return xarray.indexes.PandasIndex, xarray.indexes.PandasMultiIndex


def _variables_of(x: Any) -> Mapping[Any, xarray.Variable]:
    """The coordinates of a DataArray, in their order."""
    found: Mapping[Any, xarray.Variable] = x._coords if _is_known(x.__class__) else x.coords.variables
    return found


def _indexes_of(x: Any) -> Mapping[Any, Any]:
    found: Mapping[Any, Any] = x._indexes if _is_known(x.__class__) else x.xindexes
    return found


def _same_print(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same_coordinate, a, b))
    return isinstance(a, Labels) and isinstance(b, Labels) and equal_labels(a, b)


def _same_coordinate(a: Any, b: Any) -> bool:
    (name, dims, content, attrs), (name_b, dims_b, content_b, attrs_b) = a, b
    if name != name_b or dims != dims_b or not _same(attrs, attrs_b) or type(content) is not type(content_b):
        return False
    if isinstance(content, tuple):
        return bool(content == content_b)
    return content is content_b or (content.dtype == content_b.dtype and content.equals(content_b))


class LabelsKey:
    """The labels of a call's arguments, as a part of a key."""

    __slots__ = ("_hash", "labels")

    def __init__(self, labelled: Mapping[int, Any], dynamic: frozenset[str] = frozenset()) -> None:
        """`dynamic`: dims whose labels do not count."""
        self.labels = {i: labels_of(x).copy() if is_dataarray(x) else labels_of(x) for i, x in labelled.items()}
        if dynamic:
            for i, x in self.labels.items():
                coords = {k: v for k, v in x.coords.items() if not dynamic.intersection(map(str, v.dims))}
                self.labels[i] = replace(x, coords=coords)
        shapes = [(i, tuple((k, v.dims, v.shape) for k, v in x.coords.items())) for i, x in self.labels.items()]
        self._hash = hash(tuple(shapes))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelsKey) or self.labels.keys() != other.labels.keys():
            return False
        return all(equal_labels(x, other.labels[i]) for i, x in self.labels.items())


class LatestLabels:
    """The keys of the calls that were made last: labels that are the same objects are not compared again."""

    def __init__(self, dynamic: frozenset[str]) -> None:
        self.dynamic = dynamic
        self.known: list[tuple[Any, LabelsKey]] = []  # latest first

    def key(self, labelled: Mapping[int, Any]) -> LabelsKey:
        given = [(i, fingerprint(x), *name_and_attrs(x)) for i, x in labelled.items()]
        for known, key in self.known:
            if len(known) == len(given) and all(map(is_same_argument, given, known)):
                return key
        key = LabelsKey(labelled, self.dynamic)
        if all(found is not None for _, found, *_ in given):
            self.known = [(given, key), *self.known[: _MOST - 1]]
        return key


def name_and_attrs(x: Any) -> tuple[Any, dict[Any, Any]]:
    return (x.name, dict(x.attrs)) if is_dataarray(x) else (None, {})


def is_same_argument(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    (i, found, name, attrs), (j, found_b, name_b, attrs_b) = a, b
    if i != j or type(name) is not type(name_b) or not _same(name, name_b) or not _same(attrs, attrs_b):
        return False
    return found is found_b or (isinstance(found, tuple) and _same_print(found, found_b))


def equal_labels(a: Labels, b: Labels) -> bool:
    if a is b:
        return True
    if [*a.coords] != [*b.coords] or a.levels != b.levels or not _same_name_and_attrs(a, b):
        return False
    pairs = zip(a.coords.values(), b.coords.values(), strict=True)
    return all(v is w or (v.dtype == w.dtype and v.identical(w)) for v, w in pairs)  # type: ignore[no-untyped-call]


def _are_those_of(label: Labels, found: Labels) -> bool:
    """Whether what was found are the labels of an argument, all of them."""
    if label.coords.keys() != found.coords.keys() or not _same_name_and_attrs(label, found):
        return False
    return label.levels == found.levels and all(found.coords[k] is v for k, v in label.coords.items())


def _same_name_and_attrs(a: Labels, b: Labels) -> bool:
    return type(a.name) is type(b.name) and _same(a.name, b.name) and _same(a.attrs, b.attrs)


def _attributes(labels: Iterable[Any]) -> dict[Any, Any]:
    """All attributes but those that differ."""
    kept: dict[Any, Any] = {}
    differing: set[Any] = set()
    for label in labels:
        for key, value in label.attrs.items():
            if key in kept and not _same(kept[key], value):
                differing.add(key)
            kept.setdefault(key, value)
    return {k: v for k, v in kept.items() if k not in differing}


def _same(a: Any, b: Any) -> bool:
    try:
        return a is b or bool(a == b)
    except ValueError:  # arrays as attributes
        return False


# Functions for which xarray keeps attributes although it drops them in arithmetic.
_KEEP = frozenset([
    "abs", "neg", "isel", "head", "tail", "thin", "transpose", "rename", "swap_dims", "expand_dims",
    "squeeze", "stack", "unstack", "broadcast_like", "pad", "roll", "shift", "flip", "astype",
    "clip", "round", "where", "cumsum", "cumprod", "sort", "real", "imag", "conj",
])  # fmt: skip


def keeps_attrs(op: str) -> bool:
    """As xarray is set: by default it keeps attributes always (2025.11 and later), or for some functions only."""
    option = _keep_attrs()
    if option != "default":
        return bool(option)
    return op in _KEEP or _keeps_always()


def _keep_attrs() -> Any:
    import xarray

    return xarray.get_options().get("keep_attrs", "default")  # type: ignore[no-untyped-call]


_native.set_label_option(_keep_attrs)


@functools.cache
def _keeps_always() -> bool:
    import xarray

    return tuple(int(p) for p in xarray.__version__.split(".")[:2]) >= (2025, 11)
