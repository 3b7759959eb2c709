"""`xt.option(jit=False)`: programs op by op, with bodies of loops and branches in Python."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from gradient_cases import FUNCTIONS

# All with control flow, and a share of the rest; not those that are made of ops of the dialect by themselves.
KINDS = ("scan", "fori_loop", "cond", "switch", "while", "custom")
CONTROL = [c for c in FUNCTIONS if c.name.partition(" ")[0] in KINDS]
REST = [c for c in FUNCTIONS if c not in CONTROL and "build." not in inspect.getsource(c.f)][::9]
X = xt.array([1.0, 2.0, 3.0], "t", dtype="f4")


def both(f: Any, *args: Any) -> tuple[Any, Any]:
    """The results op by op, and those of a program."""
    with xt.option(jit=False):
        stepped = xt.jit(f)(*args)
    return stepped, xt.jit(f)(*args)


def check_equal(stepped: Any, compiled: Any) -> None:
    assert xt.tree.structure(stepped) == xt.tree.structure(compiled)
    for a, b in zip(xt.tree.leaves(stepped), xt.tree.leaves(compiled), strict=True):
        assert (a.dtype, a.weak, a.sizes) == (b.dtype, b.weak, b.sizes)
        np.testing.assert_allclose(a.values, b.transpose(*a.dims).values, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("case", [*CONTROL, *REST], ids=lambda c: c.name)
def test_same_results_as_programs(case: Any) -> None:
    check_equal(*both(case.f, *case.primals()))


LOOPS: dict[str, Any] = {
    "weak carry takes the dtype of the body": lambda x: xt.scan(lambda c, v: (c + v, c), 0.0, x, dim="t"),
    "one step": lambda x: xt.scan(lambda c, v: (c + v, c * 2), 0, x.isel(t=slice(1)), dim="t"),
    "backwards": lambda x: xt.scan(lambda c, v: (c * v, c + v), 1.0, x, dim="t", reverse=True),
    "without xs": lambda x: xt.scan(lambda c, _: (c * 2, {"y": c}), x, dim="s", length=3),
    "no step": lambda x: xt.scan(lambda c, v: (c + v, c), 0.0, x.isel(t=slice(0)), dim="t"),
    "int to float": lambda x: xt.fori_loop(0, 2, lambda i, c: c / 2, 3),
    "no turn": lambda x: xt.fori_loop(2, 2, lambda i, c: c + x.sum(), 0),
    "bounds that are arrays": lambda x: xt.fori_loop(0, xt.sum(x).astype("i8"), lambda i, c: c + i, 0),
    "while": lambda x: xt.while_loop(lambda c: c[0] < 20, lambda c: (c[0] * 2, c[1] + 1), (1.5, 0)),
    "while at most": lambda x: xt.while_loop(lambda c: True, lambda c: c + x, x, max_steps=3),
    "while not at all": lambda x: xt.while_loop(lambda c: c > 5, lambda c: c + x.sum(), 0),
    "branches of a step": lambda x: xt.scan(
        lambda c, v: (xt.cond(v > 1.5, lambda: c + v, lambda: 0), xt.cond(v < 2.5, lambda: 0.5, lambda: 1)),
        0.0,
        x,
        dim="t",
    ),
    "switch out of range": lambda x: xt.switch(7, [lambda v: v, lambda v: v * 2], x),
    "map": lambda x: xt.map(lambda v: (v, v * v), x, dim="t"),
    "nested": lambda x: xt.scan(lambda c, v: (xt.fori_loop(0, 2, lambda i, d: d * v + i, c), c), 1.0, x, dim="t"),
    "jit in jit": lambda x: xt.jit(lambda v: v + 1)(x) * 2,
    "Python number": lambda x: 3 * x.isel(t=0) + 0.5,
    "dict": lambda x: {"b": x, "a": (x.sum(), None)},
}


@pytest.mark.parametrize("name", LOOPS)
def test_types_of_loops(name: str) -> None:
    check_equal(*both(LOOPS[name], X))


A, B = xt.ones(a=2, b=3), xt.zeros(b=3, a=2)
F4 = xt.array(1.5, (), dtype="f4")
MOVING: dict[str, Any] = {
    "while": lambda: xt.while_loop(lambda c: c[0] < 2, lambda c: (c[1], c[2], c[2] * F4), (1, 2, 3)),
    "fori": lambda: xt.fori_loop(0, 1, lambda i, c: (c[1], c[2], c[2] * F4), (1, 2, 3)),
    "scan": lambda: xt.scan(lambda c, _: ((c[1], c[2], c[2] * F4), c[0]), (1, 2, 3), dim="t", length=1),
}


@pytest.mark.parametrize("name", MOVING)
def test_types_that_a_step_alone_does_not_give(name: str) -> None:
    """Numbers that move along a carry take several steps to their dtypes."""
    stepped, compiled = both(MOVING[name])
    check_equal(stepped, compiled)
    assert [x.dims for x in xt.tree.leaves(stepped)] == [x.dims for x in xt.tree.leaves(compiled)]


def test_bodies_see_values(capsys: pytest.CaptureFixture[str]) -> None:
    @xt.jit
    def f(x: Any) -> Any:
        if x.sum() > 1:  # a bool of Python
            print("sum", float(x.sum()))

        def step(c: Any, v: Any) -> Any:
            print("step", float(c), float(v))
            return c + v, None

        return xt.scan(step, 0.0, x, dim="t")[0]

    with xt.option(jit=False):
        assert float(f(X)) == 6.0
    assert capsys.readouterr().out == "sum 6.0\nstep 0.0 1.0\nstep 1.0 2.0\nstep 3.0 3.0\n"
    assert f.compilations == ()


def test_only_the_branch_that_is_taken_runs() -> None:
    """And that once, whatever it returns. So the other one does not decide dtypes and the order of dims."""
    runs: list[str] = []

    def wrong(*_: Any) -> Any:
        runs.append("wrong")
        raise AssertionError("this branch is not taken")

    def taken(result: Any) -> Any:
        def branch(*_: Any) -> Any:
            runs.append("taken")
            return result

        return branch

    with xt.option(jit=False):
        for result in (X.sum(), 1, 2.5, A, B, {"a": (A, 1), "b": None}):
            for found in (
                xt.cond(True, taken(result), wrong),
                xt.cond(False, wrong, taken(result), X),
                xt.switch(1, [wrong, taken(result), wrong]),
                xt.switch(7, [wrong, taken(result)], X),
                xt.jit(lambda x, result=result: xt.cond(x > 0, taken(result), wrong))(1.0),
            ):
                for a, b in zip(xt.tree.leaves(found), xt.tree.leaves(result), strict=True):
                    b = xt.as_array(b)
                    assert (a.dtype, a.dims) == (b.dtype, b.dims)
        assert set(runs) == {"taken"} and len(runs) == 6 * 5
        with pytest.raises(ZeroDivisionError):  # of the branch that is taken
            xt.cond(True, lambda: 1 / 0, lambda: 1)


def test_steps_that_return_other_types_are_errors() -> None:
    """Where each step takes a branch of its own, and a program would tell that the branches differ."""
    for error, text, one in (
        (xt.DTypeError, r"returns other types of y in other steps, float32 \(\) and float64 \(\)", F4.astype("f8")),
        (xt.ArgumentError, "returns other structures of y in other steps", (F4, F4)),
    ):

        def f(c: Any, v: Any, one: Any = one) -> Any:
            return c, xt.cond(v > 1, lambda: one, lambda: F4)

        with xt.option(jit=False), pytest.raises(error, match=text):
            xt.scan(f, 0.0, X, dim="t")
        with pytest.raises(error):
            xt.scan(f, 0.0, X, dim="t")


def test_programs_are_not_compiled_again() -> None:
    f, g = xt.jit(lambda x: x * 2), xt.grad(lambda x: xt.sum(x * x))
    f(X), g(X)
    with xt.option(jit=False):
        f(X)
        np.testing.assert_array_equal(g(X).values, [2, 4, 6])
    f(X), g(X)
    assert len(f.compilations) == 1 and len(g.compilations) == 1


def test_derivatives_are_traced() -> None:
    def loss(x: Any) -> Any:
        return xt.scan(lambda c, v: (c * v, c), 1.0, x, dim="t")[0]

    with xt.option(jit=False):
        np.testing.assert_allclose(xt.grad(loss)(X).values, [6, 3, 2])
        np.testing.assert_allclose(xt.vjp(loss, X)[1](1.0)[0].values, [6, 3, 2])
        assert float(xt.jvp(loss, (X,), (X,))[1]) == 18.0
        np.testing.assert_allclose(xt.linearize(loss, X)[1](X).values, 18)
        found = xt.nn.scaled_value_and_grad(lambda x: xt.sum(x * x))(8.0, X)
        np.testing.assert_allclose(found[1].values, [2, 4, 6])


M = xt.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], ("i", "j"))
INSTANCES: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "one dim": ("i", lambda r: (r * 2, {"sum": r.sum()}), (M,)),
    "two dims": (("k", "i"), lambda r, k: r * k, (M, xt.array([1, 2], "k"))),
    "nested": ("i", lambda r: xt.vectorize(lambda v: v * 2, "j")(r), (M,)),
    "shared": ("i", lambda r, w, n: r @ w + n, (M, xt.array([1.0, 2.0], "j"), 3)),
    "numbers": ("i", lambda r: (1, 2.5, True, xt.ones(q=2)), (M,)),
    "branches of two dtypes": ("i", lambda r: xt.cond(r.sum() > 3, lambda: 1, lambda: 2.0), (M,)),
    "loops": ("i", lambda r: xt.while_loop(lambda c: c.sum() < 20, lambda c: c * 2, r), (M,)),
    "scan": ("i", lambda r: xt.scan(lambda c, v: (c + v, c), 0, r, dim="j"), (M,)),
    "complex": ("i", lambda r: r * 1j, (M,)),
    "bool": ("i", lambda r: r > 2, (M,)),
    "no instance": ("i", lambda r: (r * 2, 1), (xt.zeros(i=0, j=2),)),
    "gradient inside": ("i", xt.grad(lambda r: xt.sum(r**3)), (M,)),
    "tangent inside": ("i", lambda r: xt.jvp(xt.grad(lambda q: xt.sum(q**3)), (r,), (r,)), (M,)),
    "gradient outside": ("j", lambda c: xt.grad(lambda c: xt.sum(xt.vectorize(xt.exp, "i")(c)))(c), (M,)),
    "pure callback": ("i", lambda r: xt.callback(lambda r: r.values[::-1].copy(), r, result=r), (M,)),
    "one callback for all": (
        "i",
        lambda r: xt.callback(lambda r: np.cumsum(r.values, r.dims.index("j")), r, result=r, together=True),
        (M,),
    ),
    "choices": ("i", lambda r, how: r * 2 if how == "twice" else r, (M, "twice")),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_are_those_of_the_program(name: str) -> None:
    dims, f, args = INSTANCES[name]
    with xt.option(jit=False):
        stepped = xt.vectorize(f, dims)(*args)
    check_equal(stepped, xt.vectorize(f, dims)(*args))


def test_instances_have_values(capsys: Any) -> None:
    def f(r: Any) -> Any:
        xt.debug.print("row {}", r)
        xt.grad(lambda r: (xt.debug.print("loss {}", r), r.sum())[1])(r)
        if r.sum() > 4:  # Python decides
            raise ValueError("large")
        return r

    with xt.option(jit=False), pytest.raises(ValueError, match="large") as raised:
        xt.vectorize(f, "i")(M)
    assert capsys.readouterr().out.splitlines() == [
        "[i: 0] row [1. 2.] (j: 2)",
        "[i: 0] loss [1. 2.] (j: 2)",
        "[i: 1] row [3. 4.] (j: 2)",
        "[i: 1] loss [3. 4.] (j: 2)",
    ]
    assert raised.value.__notes__ == ["in instance i=1 of xt.vectorize(f)"]


def test_instances_have_the_errors_of_programs() -> None:
    for f, args, error, text in (
        (lambda r: r, (X,), xt.DimensionError, "no argument of <lambda> has dim 'i'"),
        (lambda r, s: r, (M, xt.ones(i=2)), xt.SizeError, "dim 'i' has sizes 3 and 2"),
        (lambda r: r.sum("i"), (M,), xt.DimensionError, "'i' is batched outside, by vectorize"),
        (lambda r: r * xt.ones(i=3), (M,), xt.DimensionError, "the result .* of one instance has it, too"),
    ):
        for option in (False, True):
            with xt.option(jit=option), pytest.raises(error, match=text):
                xt.vectorize(f, "i")(*args)
    with xt.option(jit=False), pytest.raises(xt.ArgumentError, match="other structures for other instances"):
        xt.vectorize(lambda r: xt.cond(r.sum() > 4, lambda: r, lambda: (r, r)), "i")(M)


def test_instances_keep_labels() -> None:
    xr = pytest.importorskip("xarray")
    coords = {"i": [5, 6, 7], "j": ["a", "b"], "height": ("i", [1.0, 2.0, 3.0])}
    labelled = xr.DataArray(M.values, dims=("i", "j"), coords=coords, name="heat")
    for f in (lambda r: r * 2, lambda r: r.sel(j="b"), lambda r: xt.ones(k=2)):
        with xt.option(jit=False):
            stepped = xt.vectorize(f, "i")(labelled)
        xr.testing.assert_identical(stepped, xt.vectorize(f, "i")(labelled))


def test_instances_and_steps_keep_their_parts_of_a_coordinate() -> None:
    xr = pytest.importorskip("xarray")
    area = M.values + 7.0
    coords = {
        "i": [5, 6, 7], "j": ["a", "b"], "height": ("i", [1.0, 2.0, 3.0]), "kind": ("j", [8, 9]), "run": 4,
        "area": (("i", "j"), area), "back": (("j", "i"), area.T),
    }  # fmt: skip
    x = xr.DataArray(M.values, dims=("i", "j"), coords=coords, name="heat", attrs={"units": "K"})
    other = x.assign_coords(area=(("i", "j"), area * [[1.0], [2.0], [1.0]]))
    bodies: list[Any] = [
        lambda r: r * 2,
        lambda r: r.isel(j=[1]),
        lambda r: r.isel(j=0),
        lambda r: r.rename(j="z"),
        lambda r: xt.flip(r, "j"),
        lambda r: {"a": r, "b": r.sum("j")},
        lambda r: r + xt.as_array(x.isel(i=0)),  # of which the labels meet those of the instances
    ]
    programs: list[Any] = [lambda f=f: xt.vectorize(f, "i")(x) for f in bodies]
    programs += [
        lambda: xt.vectorize(lambda r: r * 2, "i")(x.transpose("j", "i")),
        lambda: xt.vectorize(lambda r: r * 2, ("i", "j"))(x),
        lambda: xt.vectorize(xt.vectorize(lambda r: r * 2, "j"), "i")(x),
        lambda: xt.vectorize(lambda r, s: r + s, "i")(x, other),
        lambda: xt.scan(lambda c, r: (c + r, r * c), xt.ones(j=2), x, dim="i"),
        lambda: xt.scan(lambda c, r: (c + xt.sum(r), r * 2), 0.0, x, dim="j"),
        lambda: xt.map(lambda r: r * 2, x, dim="i"),
    ]
    for program in programs:
        with xt.option(jit=False):
            stepped = program()
        for a, b in zip(xt.tree.leaves(stepped), xt.tree.leaves(program()), strict=True):
            xr.testing.assert_identical(a, b)


def test_labels_that_differ_between_instances_are_dropped() -> None:
    """Compiled or not: an instance reads at its own position, and no label is that of all."""
    xr = pytest.importorskip("xarray")
    x = xr.DataArray(M.values, dims=("i", "j"), coords={"i": [5, 6, 7], "j": ["a", "b"], "kind": ("j", [8, 9])})
    one, two = xt.array([0, 1, 1], "i"), xt.array([[0, 1], [1, 1], [0, 0]], ("i", "p"))
    inner = xt.jit(lambda r, k: r.isel(j=k))
    nested = xt.vectorize(xt.vectorize(inner, "p"), "i")
    for jit in (True, False):
        with xt.option(jit=jit):
            for at in (one, two):
                found = xt.vectorize(lambda r, k: r.isel(j=k), "i")(x, at)
                want = x.isel(j=xr.DataArray(at.values, dims=at.dims)).transpose(*found.dims)
                np.testing.assert_array_equal(found.values, want.values)
                assert {*found.coords} == {"i"}, jit
            assert {*xt.vectorize(lambda r, k: inner(r, k) * 2, "i")(x, one).coords} == {"i"}, jit
            assert {*nested(x, two).coords} == {"i"}, jit


def test_a_loop_has_the_labels_that_no_step_changes() -> None:
    """And a number that a carry starts with takes none from it."""
    xr = pytest.importorskip("xarray")
    coords = {"i": [5, 6, 7], "j": ["a", "b"], "run": 4}
    x = xr.DataArray(M.values, dims=("i", "j"), coords=coords, name="heat", attrs={"units": "K"})
    other = x.rename("cold")
    loops: list[Any] = [
        lambda x, y: xt.scan(lambda c, r: (c + r.sum(), c), 0.0, x, dim="i"),
        lambda x, y: xt.scan(lambda c, r: (c + r.sum(), c), 0.0, x, dim="i", reverse=True),
        lambda x, y: xt.scan(lambda c, r: (r, c), y.sum("i"), x, dim="i"),
        lambda x, y: xt.fori_loop(0, 3, lambda i, c: c + x.isel(i=i), xt.zeros(j=2)),
        lambda x, y: xt.fori_loop(0, 2, lambda i, c: c.isel(j=[1, 0]), x),
        lambda x, y: xt.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, x.isel(i=c[0])), (0, xt.zeros(j=2)))[1],
    ]
    for loop in loops:
        with xt.option(jit=False):
            stepped = xt.jit(loop)(x, other)
        for a, b in zip(xt.tree.leaves(stepped), xt.tree.leaves(xt.jit(loop)(x, other)), strict=True):
            xr.testing.assert_identical(a, b)


def test_labels_and_static_arguments() -> None:
    xr = pytest.importorskip("xarray")
    labelled = xr.DataArray(np.arange(3.0), dims="t", coords={"t": [5, 6, 7]}, name="heat")

    @xt.jit(static="n")
    def f(x: Any, n: int) -> Any:
        return {"scan": xt.scan(lambda c, v: (c + v, c), 0.0, x, dim="t")[1], "n": x * n}

    with xt.option(jit=False):
        stepped = f(labelled, n=3)
    compiled = f(labelled, n=3)
    for name in ("scan", "n"):
        xr.testing.assert_identical(stepped[name].drop_attrs(), compiled[name].drop_attrs())


def test_errors_are_those_of_programs() -> None:
    with xt.option(jit=False):
        with pytest.raises(xt.DTypeError, match=r"the carry changes its type.*float(32|64) \(\)") as told:
            xt.scan(lambda c, v: (c + 1.5, None), xt.array(1, ()), X, dim="t")
        assert told.value.__notes__ == ["in step 0 of xt.scan(<lambda>)"]
        with pytest.raises(ZeroDivisionError) as own:
            xt.scan(lambda c, v: (c + 1 // int(v.item() == 0.0), None), 0.0, xt.array([0.0, 1.0], "t"), dim="t")
        assert own.value.__notes__ == ["in step 1 of xt.scan(<lambda>)"]
        with pytest.raises(xt.DimensionError, match="there is no dim 's' in xs"):
            xt.scan(lambda c, v: (c, v), 0.0, X, dim="s")
        with pytest.raises(xt.ArgumentError, match="returns its carry unchanged"):
            xt.while_loop(lambda c: True, lambda c: c, X)
        with pytest.raises(xt.DimensionError, match=r"xt\.cond: the predicate"):
            xt.cond(X > 0, lambda: X, lambda: X)
        with pytest.raises(xt.ArgumentTypeError, match="a traced function returns arrays"):
            xt.jit(lambda x: "text")(X)


def test_where_it_runs() -> None:
    with xt.option(jit=False):
        made = xt.jit(lambda x: x + xt.ones(t=3, dtype="f4"), device="cpu")(X)
    assert made.device == "cpu"


def test_an_error_of_a_body_is_not_said_to_be_one_of_arguments() -> None:
    def body(c: Any, v: Any) -> Any:
        raise ValueError("of the body")

    with pytest.raises(ValueError, match="of the body"):
        xt.scan(body, 0.0, xt.ones(t=3), dim="t", reverse=1)
