"""Pytrees: structure out, leaves out, both back in."""

from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import pytest
import xtensor as xt

Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    w: object
    b: object = None


def roundtrip(value):
    leaves, structure = xt.tree.flatten(value)
    return leaves, xt.tree.unflatten(structure, leaves)


@pytest.mark.parametrize(
    ("value", "leaves"),
    [
        (3, [3]),
        ((1, [2, {"a": 3}]), [1, 2, 3]),
        (Point(1, (2,)), [1, 2]),
        (Layer(1, [2, None]), [1, 2]),
        (None, []),
        ({"b": 1, "a": 2}, [1, 2]),
        ((), []),
    ],
)
def test_flatten_then_unflatten_gives_the_same(value, leaves):
    found, again = roundtrip(value)
    assert found == leaves
    assert again == value
    assert type(again) is type(value)


def test_structures_compare_by_kind_keys_and_shape():
    structure = xt.tree.structure
    assert structure((1, 2)) == structure((3, 4))
    assert hash(structure((1, 2))) == hash(structure((3, 4)))
    assert structure((1, 2)) != structure([1, 2])
    assert structure({"a": 1}) != structure({"b": 1})
    assert structure((1, None)) != structure((1, 2))


def test_map_matches_dicts_by_key():
    a, b = {"x": 1, "y": [2]}, {"y": [20], "x": 10}
    assert xt.tree.map(lambda p, q: p + q, a, b) == {"x": 11, "y": [22]}


def test_map_over_different_structures_is_an_error():
    with pytest.raises(xt.ArgumentError, match="different structures"):
        xt.tree.map(lambda p, q: p, {"x": 1}, {"x": (1, 2)})


def test_a_registered_class_is_a_tree():
    class Pair:
        def __init__(self, a, b, name):
            self.a, self.b, self.name = a, b, name

    xt.tree.register(Pair, lambda p: ((p.a, p.b), p.name), lambda name, ab: Pair(*ab, name))
    leaves, again = roundtrip(Pair(1, (2, 3), "p"))
    assert leaves == [1, 2, 3]
    assert (again.a, again.b, again.name) == (1, (2, 3), "p")


@dataclass
class Affine:
    w: object
    b: object


class Pair(namedtuple("Pair", "first second")):
    """Registered below, with what its fields do not say."""


xt.tree.register(Affine, lambda a: ((a.w, a.b), None), lambda rest, children: Affine(*children))
xt.tree.register(Pair, lambda p: ((p.second,), p.first), lambda first, children: Pair(first, *children))


@pytest.mark.parametrize(
    ("value", "paths"), [(Affine(1.0, {"k": 2.0}), ["[0]", "[1]['k']"]), (Pair("name", [3.0]), ["[0][0]"])]
)
def test_a_registered_class_is_flattened_as_it_said(value, paths):
    """Also where it is a dataclass or a named tuple, which would have fields."""
    assert xt.tree.paths(value) == paths
    f = xt.jit(lambda tree: sum(xt.tree.leaves(tree)) * 2.0)
    assert f(value).item() == 2.0 * sum(xt.tree.leaves(value))
    assert xt.tree.leaves(xt.grad(f)(value)) == [2.0] * len(paths)
    with pytest.raises(xt.UnsupportedError, match=f"hold an? {type(value).__name__}, a class that xt.tree.register"):
        xt.export(f, (value,), path="unused.xtb")


def test_paths_say_where_a_leaf_is():
    assert xt.tree.paths({"w": [1, 2], "p": Point(3, 4), "l": Layer(5)}) == [
        "['w'][0]",
        "['w'][1]",
        "['p'].x",
        "['p'].y",
        "['l'].w",
    ]


@pytest.mark.parametrize("value", [defaultdict(list, a=1, b=[2]), OrderedDict(b=1, a=2), Counter(a=3, b=4)])
def test_dicts_of_other_classes_come_back_as_they_are(value):
    _, again = roundtrip(value)
    assert type(again) is type(value)
    assert again == value
    assert xt.tree.map(lambda a, b: a + b, value, value) == xt.tree.map(lambda a: 2 * a, value)
    if isinstance(value, defaultdict):
        assert again["new"] == []
        assert xt.tree.structure(value) != xt.tree.structure(defaultdict(int, value))


def test_a_dict_that_needs_arguments_says_so():
    class Table(dict):
        def __init__(self, name):
            super().__init__()

    table = Table("t")
    table["a"] = 1
    with pytest.raises(xt.ArgumentTypeError, match="register"):
        roundtrip(table)


def test_a_tree_that_contains_itself_is_refused():
    loop = [1.0]
    loop.append(loop)
    with pytest.raises(xt.ArgumentError, match="contains itself"):
        xt.tree.flatten(loop)
    with pytest.raises(xt.ArgumentError, match="contains itself"):
        xt.jit(lambda v: v)(loop)


@pytest.mark.parametrize("leaves", [[], [1], [1, 2, 3]])
def test_the_leaves_are_as_many_as_the_structure_has(leaves):
    with pytest.raises(xt.ArgumentError, match="2 leaves"):
        xt.tree.unflatten(xt.tree.structure((1, 2)), leaves)
