"""Calls as people spell them (by name, with dicts, lists, classes, numbers) are found in C++ from the second one on, of
jitted and of loaded functions alike; what differs in anything goes to Python."""

import dataclasses
import gc
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
import xtensor as xt
from xtensor.aot.core import Core
from xtensor.transforms.compiling import Compiler

A = xt.array(np.arange(3.0, dtype="f4"), "i")
B = xt.array(np.arange(3.0, dtype="f4") + 5, "i")
BYTES = xt.array(np.arange(3, dtype="u1"), "i")
OPEN = xt.spec(i=None, dtype="f4")


# Where arrays are: bundles have code for it.
TARGETS = tuple(dict.fromkeys(("cpu", A.device)))


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Layer:
    w: Any
    rest: Any = None


def two(x, y=2.0, *, z=None):
    return x - y if z is None else x - y + z


def tree(p, x):
    return {"a": p["w"] - x, "b": [p["list"][0] * 2.0, (x,)]}


def fields(p):
    return Pair(p.x - p.y.w, p.y.rest)


def chosen(x, how="add", *, n=3):
    return x + n if how == "add" else x * n


P = {"w": A, "list": [B]}
CASES = {
    "by name": (two, ((A, B), {}), ((A,), {"y": B}), ((), {"x": A, "y": B}), ((), {"y": B, "x": A})),
    "keyword only": (two, ((A, B), {"z": A}), ((A,), {"z": A, "y": B}), ((A,), {"y": B, "z": A})),
    "default": (two, ((A, 1.0), {}), ((A,), {}), ((), {"x": A}), ((A,), {"y": 4.0})),
    "dict": (tree, ((P, B), {}), (({"list": [B], "w": A}, A), {}), ((P,), {"x": A})),
    "classes": (fields, ((Pair(A, Layer(B, [A])),), {}), ((), {"p": Pair(A, Layer(B, [B]))})),
    "a text": (chosen, ((A, "mul"), {"n": 4}), ((A,), {"n": 5, "how": "mul"}), ((), {"x": A, "how": "mul", "n": 6})),
    "a ranged int": (chosen, ((BYTES,), {"n": 250}), ((BYTES,), {"n": 255}), ((), {"n": 0, "x": BYTES})),
}  # fmt: skip


def only_once(monkeypatch):
    """Python sees no second call of a function."""
    for cls, name in ((Core, "_run"), (Compiler, "call")):
        monkeypatch.setattr(cls, name, lambda *_: pytest.fail("this call is for C++"))


def same(got, want):
    assert xt.tree.structure(want).size == xt.tree.structure(got).size
    for a, b in zip(xt.tree.leaves(got), xt.tree.leaves(want), strict=True):
        assert (a.dims, a.dtype) == (b.dims, b.dtype)
        np.testing.assert_array_equal(a.values, b.values)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["jit", "loaded"])
def test_the_second_call_of_a_kind_is_found_in_cpp(monkeypatch, kind, name):
    f, *calls = CASES[name]
    g = xt.jit(f) if kind == "jit" else xt.load(xt.export(f, *calls[0], c=False, targets=TARGETS))
    wanted = [f(*args, **kwargs) for args, kwargs in calls]
    for (args, kwargs), want in zip(calls, wanted, strict=True):
        same(g(*args, **kwargs), want)
    only_once(monkeypatch)
    for (args, kwargs), want in zip(calls, wanted, strict=True):
        same(g(*args, **kwargs), want)
    if kind == "jit" and name in ("dict", "default"):
        for (args, kwargs), want in zip(calls, wanted, strict=True):
            assert repr(xt.tree.structure(g(*args, **kwargs))) == repr(xt.tree.structure(want))


@pytest.mark.parametrize("kind", ["jit", "loaded"])
def test_numbers_beside_open_sizes(monkeypatch, kind):
    g = (
        xt.jit(two, dynamic_dims="i")
        if kind == "jit"
        else xt.load(xt.export(two, args=(OPEN, 2.0), c=False, targets=TARGETS))
    )
    g(A, 1.0)
    g(A, y=1.0)
    only_once(monkeypatch)
    for n in (2, 7):
        x = xt.arange(n, dim="i", dtype="f4")
        same(g(x, 3.0), two(x, 3.0))
        same(g(x, y=4.0), two(x, 4.0))


@pytest.mark.parametrize("kind", ["jit", "loaded"])
def test_what_differs_goes_to_python(kind):
    make = xt.jit if kind == "jit" else lambda f: None
    g = make(chosen) or xt.load(xt.export(chosen, args=(BYTES,), kwargs={"n": 3}, c=False, targets=TARGETS))
    for _ in range(2):
        same(g(BYTES, n=7), chosen(BYTES, n=7))
        with pytest.raises(xt.Error, match=r"256.* uint8"):
            g(BYTES, n=256)
    g = make(tree) or xt.load(xt.export(tree, args=({"w": A, "list": [B]}, A), c=False, targets=TARGETS))
    for _ in range(2):
        same(g({"w": A, "list": [B]}, B), tree({"w": A, "list": [B]}, B))
        with pytest.raises((xt.Error, KeyError)):
            g({"w": A, "more": [B]}, B)
        if kind == "loaded":
            with pytest.raises(xt.ArgumentTypeError, match=r"argument p is .*list.* is needed, as it was exported"):
                g({"w": A, "list": [B, B]}, B)
            with pytest.raises(xt.ArgumentTypeError, match="there is no parameter 'y'"):
                g({"w": A, "list": [B]}, y=B)
        with pytest.raises(xt.SizeError):
            g({"w": A, "list": [B]}, xt.ones(i=4, dtype="f4"))
    g = make(chosen) or xt.load(xt.export(chosen, args=(A, "mul"), c=False, targets=TARGETS))
    for _ in range(2):
        same(g(A, how="mul"), A * 3)
        if kind == "jit":
            same(g(A, how="add"), A + 3)
        else:
            with pytest.raises(xt.UnsupportedError, match="exported as 'mul'"):
                g(A, how="add")


def test_options_and_traces_find_their_own():
    g = xt.load(xt.export(tree, args=({"w": A, "list": [B]}, A), c=False, targets=TARGETS))
    p = {"w": A, "list": [B]}
    for _ in range(2):
        same(g(p, B), tree(p, B))
        with xt.option(outer="allow"):
            same(g(p, x=B), tree(p, B))
        same(xt.jit(lambda w, x: g({"w": w, "list": [w]}, x=x))(A, B), tree({"w": A, "list": [A]}, B))
        same(xt.grad(lambda x: xt.sum(g(p, x=x)["a"]))(A), xt.full_like(A, -1.0))


def test_attributes_that_run_python_may_empty_the_function():
    @dataclasses.dataclass
    class Odd:
        w: Any

        def __getattribute__(self, name):
            if name == "w":
                f.clear()
            return object.__getattribute__(self, name)

    @dataclasses.dataclass
    class Broken:
        w: Any

        def __getattribute__(self, name):
            if name == "w" and fails:
                raise RuntimeError("not now")
            return object.__getattribute__(self, name)

    fails = False
    f = xt.jit(lambda o, x: o.w + x)
    for _ in range(4):
        same(f(Odd(A), B), A + B)
    g = xt.jit(lambda o, x: o.w + x)
    broken = Broken(A)
    same(g(broken, B), A + B)
    fails = True
    with pytest.raises(RuntimeError, match="not now"):
        g(broken, B)


def test_lists_that_change_while_the_code_runs_keep_what_was_passed():
    """Results are made before the arguments may go."""

    def f(xs):
        return xs[0] + xs[1]

    g = xt.jit(f)
    for _ in range(3):
        xs = [xt.ones(i=100_000), xt.ones(i=100_000)]
        wanted = f(xs)
        same(g(xs), wanted)
        xs.clear()


def test_a_function_keeps_no_class_alive():
    def make():
        @dataclasses.dataclass
        class Own:
            w: Any

        Own.f = xt.jit(lambda o: o.w * 2.0)
        for _ in range(2):
            Own.f(Own(A))
        return weakref.ref(Own)

    from xtensor.base import tree as core

    there = make()
    core._leaf_types.discard(there())
    core._structure.cache_clear()
    gc.collect()
    assert there() is None


def test_spellings_that_are_none_are_refused():
    f = xt.jit(two)
    f(A, B)
    entry = next(iter(f._compiler.entries.values()))
    for wrong in (
        1,
        ((0,), {}),
        ((0, "x"), {}, {}),
        ((0, -1), {}, {}),
        ((0, (int,)), {1.5: 2}, {}),
        ((0, (dict, (1.5,), (1,))), {}, {}),
        ((0, (dict, ("a",), ())), {}, {}),
        ((0, (int, None, (1,))), {}, {}),
        ((0,), {}, {}),  # a place too few
    ):
        with pytest.raises((ValueError, TypeError), match="spelling"):
            f.add([A.type, A.type], entry.executable, True, None, (), (), wrong)
    deep: Any = 0
    for _ in range(200):
        deep = (tuple, None, (deep,))
    with pytest.raises(ValueError, match="deep"):
        f.add([A.type, A.type], entry.executable, True, None, (), (), ((deep, 1), {}, {}))
