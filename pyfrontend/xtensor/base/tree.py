"""Pytrees: nested dicts, lists, tuples, named tuples, dataclasses and None whose leaves are arrays. `register` adds
a class."""

from __future__ import annotations

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from .calls import call_with, check_methods, in_words, int_text, with_article
from .errors import ArgumentError, ArgumentTypeError

__all__ = ["TreeDef", "flatten", "leaves", "map", "paths", "reduce", "register", "structure", "unflatten"]

C = TypeVar("C", bound=type)
_Flatten = Callable[[Any], tuple[Sequence[Any], Hashable]]
_Unflatten = Callable[[Hashable, Sequence[Any]], Any]


def __dir__() -> list[str]:
    return sorted(__all__)


class TreeDef:
    """The structure of a pytree without its leaves. It is hashable, and equal for equal structures.

    Example:
    >>> xt.tree.structure({"w": [1.0, 2.0]}) == xt.tree.structure({"w": [3.0, 4.0]})
    True
    """

    __slots__ = ("_hash", "children", "kind", "meta", "size")

    def __init__(self, kind: Any, meta: Hashable, children: tuple[TreeDef, ...]) -> None:
        self.kind = kind
        self.meta = meta
        self.children = children
        self.size: int = 1 if kind is _LEAF else sum(c.size for c in children)
        self._hash = hash((kind, meta, children))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, TreeDef)
            and self._hash == other._hash
            and self.kind is other.kind
            and self.meta == other.meta
            and self.children == other.children
        )

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        try:
            left = iter(leaves)
        except TypeError:
            raise ArgumentTypeError(f"xt.tree.unflatten: the leaves are a list, not {in_words(leaves)}") from None
        try:
            built = _build(self, left)
        except StopIteration:
            raise ArgumentError(f"{self!r} has {self.size} leaves; fewer are given") from None
        if next(left, _LEAF) is not _LEAF:
            raise ArgumentError(f"{self!r} has {self.size} leaves; more are given")
        return built

    def steps(self) -> list[str]:
        """What a program writes after the tree to reach each child: `.field`, `['key']` or `[0]`."""
        kind, meta, count = self.kind, self.meta, len(self.children)
        if kind not in _registry and hasattr(kind, "_fields"):
            return [f".{name}" for name in kind._fields]
        if not isinstance(meta, tuple) or len(meta) != count:
            return [f"[{i}]" for i in range(count)]
        if kind not in _registry and dataclasses.is_dataclass(kind):
            return [f".{name}" for name in meta]
        return [f"[{int_text(key) if isinstance(key, int) else repr(key)}]" for key in meta]

    def __str__(self) -> str:
        return repr(self.unflatten(["*"] * self.size)).replace("'*'", "*")

    def __repr__(self) -> str:
        return f"TreeDef({self.unflatten(['*'] * self.size)!r})"


class _DefaultKeys(tuple[Any, ...]):
    """The keys of a defaultdict, with what it makes for a missing one."""

    factory: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DefaultKeys) and self.factory is other.factory and tuple.__eq__(self, other)

    def __hash__(self) -> int:
        return hash((self.factory, tuple.__hash__(self)))


class _Leaf:
    pass


_LEAF = _Leaf
_LEAF_DEF = TreeDef(_LEAF, None, ())
_registry: dict[type, tuple[_Flatten, _Unflatten]] = {}
_kinds: dict[type, type] = {}  # of a registered class: that whose instances its own are counted among
_leaf_types: set[type] = set()  # classes whose instances are known to be leaves


@functools.lru_cache(maxsize=4096)
def _structure(kind: Any, meta: Hashable, children: tuple[TreeDef, ...]) -> TreeDef:
    return TreeDef(kind, meta, children)


def register(cls: C, flatten: _Flatten | None = None, unflatten: _Unflatten | None = None) -> C:
    """Makes instances of `cls` pytrees.

    `flatten(x)` returns (children, rest), where rest is hashable. `unflatten(rest, children)` returns the instance.
    Dataclasses need not be registered.

    Raises:
        ArgumentError: only one of `flatten` and `unflatten` is given.

    Example:
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> Pair = xt.tree.register(Pair, lambda pair: ((pair.a, pair.b), None), lambda rest, children: Pair(*children))
    >>> xt.tree.leaves(Pair(1.0, 2.0))
    [1.0, 2.0]
    """
    if not isinstance(cls, type):
        raise ArgumentTypeError(f"xt.tree.register: a class comes first, not {in_words(cls)}")
    if flatten is None or unflatten is None:
        raise ArgumentError(f"xt.tree.register({cls.__name__}): give both flatten and unflatten")
    _registry[cls] = (flatten, unflatten)
    _leaf_types.discard(cls)
    return cls


def is_registered(kind: Any) -> bool:
    """Whether `register` was told how instances of this class are flattened."""
    return kind in _registry


_others: list[tuple[Callable[[type], bool], type]] = []


def register_others(is_one: Callable[[type], bool], like: type) -> None:
    """Makes instances of classes for which `is_one` holds pytrees of the kind of `like`, which is registered: of
    classes that another package has, which may not be imported yet."""
    _others.append((is_one, like))


def _children(x: Any) -> tuple[Any, Hashable, Sequence[Any]] | None:
    cls = type(x)
    if x is None:
        return None.__class__, None, ()
    if cls is tuple or cls is list:
        return cls, None, x
    if cls is dict:
        return dict, tuple(x), tuple(x.values())
    if cls in _registry:
        children, meta = _registry[cls][0](x)
        return _kinds.get(cls, cls), meta, children
    if isinstance(x, tuple) and hasattr(cls, "_fields"):
        return cls, None, x
    if isinstance(x, defaultdict):
        keys = _DefaultKeys(x)
        keys.factory = x.default_factory
        return cls, keys, tuple(x.values())
    if isinstance(x, dict):
        return cls, tuple(x), tuple(x.values())
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = tuple(f.name for f in dataclasses.fields(x) if f.init)
        return cls, names, tuple(getattr(x, n) for n in names)
    for is_one, like in _others:
        if is_one(cls):
            _registry[cls], _kinds[cls] = _registry[like], like
            return _children(x)
    return None


def _build(tree: TreeDef, leaves: Any) -> Any:
    kind = tree.kind
    if kind is _LEAF:
        return next(leaves)
    if kind is type(None):
        return None
    built = [_build(c, leaves) for c in tree.children]
    if kind is list:
        return built
    if kind is tuple:
        return tuple(built)
    if kind in _registry:
        return _registry[kind][1](tree.meta, built)
    if issubclass(kind, tuple):
        return kind(*built)
    names: Any = tree.meta
    if issubclass(kind, dict):
        return _mapping(kind, names, built)
    return kind(**dict(zip(names, built, strict=True)))


def _mapping(kind: Any, keys: Any, values: Iterable[Any]) -> Any:
    """A dict of class `kind`. What subclasses make of pairs is their own affair (Counter counts them)."""
    if kind is dict:
        return dict(zip(keys, values, strict=True))
    try:
        made = kind(keys.factory) if isinstance(keys, _DefaultKeys) else kind()
    except TypeError:
        raise ArgumentTypeError(
            f"{with_article(kind.__name__)} in a pytree cannot be made without arguments; tell xtensor how to make one "
            "by xt.tree.register"
        ) from None
    for key, value in zip(keys, values, strict=True):
        made[key] = value
    return made


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeDef]:
    """Returns the leaves from left to right, and the structure around them.

    Example:
    >>> leaves, structure = xt.tree.flatten({"w": [1.0, 2.0], "b": 3.0})
    >>> leaves, xt.tree.unflatten(structure, leaves)
    ([1.0, 2.0, 3.0], {'w': [1.0, 2.0], 'b': 3.0})
    """
    if is_leaf is not None and not callable(is_leaf):
        raise ArgumentTypeError(f"xt.tree.flatten: is_leaf is a function, not {in_words(is_leaf)}")
    out: list[Any] = []
    try:
        return out, _visit(tree, out, is_leaf)
    except RecursionError:
        name = _endless(tree)
        raise ArgumentError(f"a pytree contains itself, or is nested too deeply: {name}") from None


def _endless(tree: Any) -> str:
    """The container that contains itself, or else the outermost one, as errors name it."""
    above: list[Any] = []
    x = tree
    # Down the first branch that does not end: the arguments of a call are a tuple around what a user wrote.
    while isinstance(x, (dict, list, tuple)) and not any(x is y for y in above):
        above.append(x)
        inner = list(x.values()) if isinstance(x, dict) else x
        x = next((y for y in inner if isinstance(y, (dict, list, tuple)) and y), None)
    return with_article(type(tree if x is None else x).__name__)


def _visit(x: Any, out: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeDef:
    cls = type(x)
    if cls not in _leaf_types and (is_leaf is None or not is_leaf(x)):
        found = _children(x)
        if found is not None:
            kind, meta, children = found
            return _structure(kind, meta, tuple([_visit(c, out, is_leaf) for c in children]))
        _leaf_types.add(cls)
    out.append(x)
    return _LEAF_DEF


def unflatten(structure: TreeDef, leaves: Iterable[Any]) -> Any:
    """Returns a pytree of this structure with these leaves.

    Raises:
        ArgumentError: the number of leaves differs.

    Example:
    >>> xt.tree.unflatten(xt.tree.structure({"w": [1.0, 2.0]}), [3.0, 4.0])
    {'w': [3.0, 4.0]}
    """
    if not isinstance(structure, TreeDef):
        raise ArgumentTypeError(
            f"xt.tree.unflatten: the structure comes first, not {in_words(structure)}: write "
            "xt.tree.unflatten(xt.tree.structure(tree), leaves)"
        )
    return structure.unflatten(leaves)


def leaves(tree: Any) -> list[Any]:
    """Returns the leaves from left to right.

    Example:
    >>> xt.tree.leaves({"w": [1.0, 2.0], "b": 3.0})
    [1.0, 2.0, 3.0]
    """
    return flatten(tree)[0]


def structure(tree: Any) -> TreeDef:
    """Returns the structure around the leaves, which is hashable.

    Example:
    >>> xt.tree.structure({"w": [1.0, 2.0]})
    TreeDef({'w': ['*', '*']})
    """
    return flatten(tree)[1]


def paths(tree: Any) -> list[str]:
    """Returns one string per leaf, such as `['w'][0]`, for messages.

    Example:
    >>> xt.tree.paths({"w": [1.0, 2.0], "b": 3.0})
    ["['w'][0]", "['w'][1]", "['b']"]
    """
    return list(_paths(flatten(tree)[1], ""))


def _paths(shape: TreeDef, path: str) -> Iterator[str]:
    if shape.kind is _LEAF:
        yield path
        return
    for step, child in zip(shape.steps(), shape.children, strict=True):
        yield from _paths(child, path + step)


def map(fn: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Applies `fn` to every leaf, and to the leaves at the same place in each of `rest`. Dicts match by key.

    Raises:
        ArgumentError: the structures differ.

    Example:
    >>> xt.tree.map(lambda p, g: p - 0.5 * g, {"w": 1.0, "b": 2.0}, {"w": 2.0, "b": 0.0})
    {'w': 0.0, 'b': 2.0}
    """
    if not callable(fn):
        raise ArgumentTypeError(f"xt.tree.map: a function comes first, not {in_words(fn)}: write xt.tree.map(f, tree)")
    first, shape = flatten(tree)
    others = []
    for other in rest:
        found, other_shape = flatten(_in_order_of(tree, other))
        if other_shape != shape:
            raise ArgumentError(
                f"xt.tree.map: the trees have different structures, {shape} and {other_shape}; they differ "
                f"{difference(shape, other_shape)}"
            )
        others.append(found)
    return shape.unflatten([call_with("tree.map", fn, xs) for xs in zip(first, *others, strict=True)])


def reduce(fn: Callable[[Any, Any], Any], tree: Any, *initial: Any) -> Any:
    """Returns all leaves combined by `fn`, from left to right: `reduce(lambda a, b: a + b, tree)`.

    Starts with `initial` where it is given.

    Raises:
        ArgumentError: there are no leaves, and no `initial`.

    Example:
    >>> xt.tree.reduce(lambda a, b: a + b, {"w": [1.0, 2.0], "b": 3.0})
    6.0
    """
    if not callable(fn):
        raise ArgumentTypeError(
            f"xt.tree.reduce: a function comes first, not {in_words(fn)}: write xt.tree.reduce(f, tree)"
        )
    found = leaves(tree)
    if not found and not initial:
        raise ArgumentError("xt.tree.reduce: the tree has no leaves. Give an initial value: reduce(f, tree, initial)")
    return functools.reduce(lambda a, b: call_with("tree.reduce", fn, [a, b]), found, *initial)


def _in_order_of(tree: Any, other: Any) -> Any:
    if isinstance(tree, dict) and isinstance(other, dict) and tree.keys() == other.keys():
        _, keys, _ = _children(tree)  # type: ignore[misc]
        return _mapping(type(tree), keys, [_in_order_of(v, other[k]) for k, v in tree.items()])
    if type(tree) in (list, tuple) and type(other) is type(tree) and len(tree) == len(other):
        return type(tree)([_in_order_of(a, b) for a, b in zip(tree, other, strict=True)])
    return other


def difference(a: TreeDef, b: TreeDef, path: str = "") -> str:
    """Where two structures first differ."""
    at = path or "the top"
    if a.kind is not b.kind:
        return f"at {at}: {a} and {b}"
    if isinstance(a.meta, tuple) and isinstance(b.meta, tuple) and a.meta != b.meta:
        only = [f"{k!r}" for k in (*a.meta, *b.meta) if (k in a.meta) != (k in b.meta)]
        return f"at {at}: the keys {', '.join(only) or 'in another order'}"
    if len(a.children) != len(b.children):
        return f"at {at}: {len(a.children)} and {len(b.children)} entries"
    for i, (x, y) in enumerate(zip(a.children, b.children, strict=True)):
        if x != y:
            step = f"[{a.meta[i]!r}]" if isinstance(a.meta, tuple) else f"[{i}]"
            return difference(x, y, path + step)
    return f"at {at}"


def leaves_at(structure: TreeDef, tree: Any) -> list[Any]:
    """What `tree` has at the leaves of `structure`; None may stand for a leaf."""
    found = _children(tree)
    if structure.kind is _LEAF and (found is None or tree is None):
        return [tree]
    if tree is None and not structure.size:  # nothing is there: a static argument
        return []
    if found is None:
        raise ArgumentError(f"expected {structure}, got {tree!r:.80}")
    kind, meta, children = found
    if kind is dict and structure.kind is dict and meta != structure.meta:
        keys: Any = structure.meta
        if set(keys) == set(tree):
            meta, children = keys, [tree[k] for k in keys]
    if kind is not structure.kind or meta != structure.meta or len(children) != len(structure.children):
        raise ArgumentError(f"expected {structure}, got {tree!r:.80}")
    return [leaf for s, child in zip(structure.children, children, strict=True) for leaf in leaves_at(s, child)]


check_methods(TreeDef, "tree.TreeDef")
