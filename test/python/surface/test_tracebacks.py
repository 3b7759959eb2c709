"""Tracebacks show the user's frames, and of the package at most the method that was called; what outlives its trace
says so."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from places import frames_of_the_package

X = xt.array([1.0, 2.0], "i")


def leaked(make: Callable[[Any], Any]) -> Any:
    """What a traced function left outside."""
    kept = []

    def f(x: Any) -> Any:
        kept.append(make(x))
        return xt.sum(x)

    xt.jit(f)(X)
    return kept[0]


ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "values": lambda t: t.values,
    "to_numpy": lambda t: t.to_numpy(),
    "to_xarray": lambda t: t.to_xarray(),
    "np.asarray": lambda t: np.asarray(t),
    "iteration": lambda t: list(t),
    "float": lambda t: float(t),
    "item": lambda t: t.item(),
    "addition": lambda t: t + 1,
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_leaked_tracer(name: str) -> None:
    with pytest.raises(xt.TracerError, match="was used outside of the function that it was traced in") as caught:
        ATTRIBUTES[name](leaked(lambda x: x * 2.0))
    assert len(frames_of_the_package(caught.value)) <= 1


@pytest.mark.parametrize("where", ["outside", "in another function"])
@pytest.mark.parametrize("name", ["vjp", "linearize"])
def test_a_leaked_derivative(name: str, where: str) -> None:
    derivative = leaked(lambda x: getattr(xt, name)(xt.sin, x)[1])
    called = "back" if name == "vjp" else "push"
    with pytest.raises(xt.TracerError, match=f"^xt.{name}: {called} was called outside of the function") as caught:
        derivative(X) if where == "outside" else xt.jit(derivative)(X)
    assert len(frames_of_the_package(caught.value)) <= 1


COTANGENTS: dict[str, Callable[[], Any]] = {
    "concrete": lambda: xt.vjp(xt.sin, X)[1](xt.ones(j=3)),
    "dataarray": lambda: xt.vjp(xt.sin, xr.DataArray([1.0, 2.0], dims="i"))[1]((1.0, 2.0)),
    "traced": lambda: xt.jit(lambda x: xt.vjp(xt.sin, x)[1](xt.ones(j=3)))(X),
    "linearize": lambda: xt.linearize(xt.sin, xr.DataArray([1.0, 2.0], dims="i"))[1](1.0, 2.0),
    "a rule": lambda: xt.custom_derivative(xt.sin).defpushforward(2.0),  # type: ignore[type-var]
    "rules": lambda: xt.custom_derivative(xt.sin).defpullback(lambda x: (x, None), 2.0),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", COTANGENTS)
def test_wrong_cotangents_and_rules(name: str) -> None:
    with pytest.raises(xt.Error) as caught:
        COTANGENTS[name]()
    assert len(frames_of_the_package(caught.value)) <= 1


def test_a_rule_that_is_missing_or_called_otherwise() -> None:
    f: Any = xt.custom_derivative(xt.sin)
    with pytest.raises(xt.ArgumentTypeError, match=r"^xt.custom_derivative.defpullback: .*'bwd'.*\(fwd, bwd\)"):
        f.defpullback(lambda x: (x, None))
    with pytest.raises(xt.ArgumentTypeError, match=r"'fwd'. Its parameters are \(fwd, bwd\)"):
        f.defpullback(forward=lambda x: (x, None), backward=lambda r, ct: (ct,))


def test_a_rule_that_returns_y_of_other_dims() -> None:
    f: Any = xt.custom_derivative(lambda x: x * 2.0)
    f.defpushforward(lambda p, t: (xt.sum(p[0]), 2.0 * t[0]))
    with pytest.raises(xt.DimensionError, match=r"returns float64 \(\) where <lambda> itself returns float64 \(i: 2\)"):
        xt.grad(lambda x: xt.sum(f(x)))(X)


WITH_FILES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "explore of a path": (
        xt.ArgumentTypeError,
        r"'trace\.json' is not a profile\. Write `with xt\.profile\(\) as p",
        lambda: xt.jit(xt.sin).explore(X, profile="trace.json"),
    ),
    "explore of another block": (xt.ArgumentError, "did: none", lambda: explored_elsewhere()),
    "memory": (xt.ArgumentTypeError, "gets 2 arguments", lambda: xt.jit(lambda x: x).memory(X, 1)),
    "update": (
        xt.ArgumentTypeError,
        "the state is what init",
        lambda: xt.optim.adam(0.1).update({"w": X}, {"w": X}, None),
    ),
    "profile": (
        xt.MissingFileError,
        "there is no folder /nope",
        lambda: xt.profile("/nope/a.json").__enter__(),
    ),
}


def explored_elsewhere() -> Any:
    with xt.profile() as p:
        pass
    return xt.jit(xt.sin).explore(X, profile=p)


@pytest.mark.parametrize("name", WITH_FILES)
def test_methods_leave_their_frames_out(name: str) -> None:
    kind, message, call = WITH_FILES[name]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert len(frames_of_the_package(caught.value)) <= 1
    if isinstance(caught.value, FileNotFoundError):
        assert caught.value.filename == "/nope/a.json"


def wrong(v: Any) -> Any:
    return v.mean("nowhere")


def body(v: Any) -> Any:
    return wrong(v)


def with_rule(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    made = xt.custom_derivative(f)
    made.defpushforward(lambda primals, tangents: (f(*primals), tangents[0]))
    return made


ROWS = xt.ones(time=4, i=2)
WITH_FUNCTIONS: dict[str, Callable[[], Any]] = {
    "jit": lambda: xt.jit(body)(X),
    "scan": lambda: xt.scan(lambda c, v: (body(v), v), 0.0, ROWS, dim="time"),
    "map": lambda: xt.map(body, ROWS, "time"),
    "cond": lambda: xt.cond(True, body, lambda v: v, X),
    "switch": lambda: xt.switch(0, [body], X),
    "while_loop": lambda: xt.while_loop(lambda c: c.sum() < 1, body, X),
    "fori_loop": lambda: xt.fori_loop(0, 3, lambda i, c: body(c), X),
    "checkpoint": lambda: xt.checkpoint(body)(X),
    "custom_derivative": lambda: with_rule(body)(X),
    "rolling.reduce": lambda: ROWS.rolling(time=2).reduce(lambda w, dim: body(w)),
    "coarsen.reduce": lambda: ROWS.coarsen(time=2).reduce(lambda w, dim: body(w)),
    "groupby.map": lambda: ROWS.groupby(xt.array([0, 0, 1, 1], "time"), num_groups=2).map(body),
    "lower": lambda: xt.jit(body).lower(X),
    "export": lambda: xt.export(body, (X,)),
    "to_stablehlo": lambda: xt.to_stablehlo(body, X),
    "named": lambda: xt.named(body, ["i"])(np.ones(2)),
    "tree.map": lambda: xt.tree.map(body, [X]),
}


@pytest.mark.parametrize("name", WITH_FUNCTIONS)
def test_frames_of_the_users_function_stay(name: str) -> None:
    """The traceback leads through the function that the user gave to the line in it that is wrong."""
    with pytest.raises(xt.DimensionError, match=r"^xt\.mean: there is no dim 'nowhere'") as caught:
        WITH_FUNCTIONS[name]()
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-2:] == ["body", "wrong"]
    assert len(frames_of_the_package(caught.value)) <= 1
    line = traceback.extract_tb(caught.value.__traceback__)[-1].lineno
    assert str(caught.value).endswith(f"{__file__}:{line}")


def test_the_line_is_the_users_and_not_that_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(xt.ArgumentTypeError, match="while it is traced") as caught:
        xt.jit(lambda x: (pandas.Series(x), x)[1])(X)
    assert f"at {__file__}:" in str(caught.value)


@pytest.mark.parametrize("read", ["from_dlpack", "tensor", "asarray"])
def test_pytorch_is_told_that_an_array_is_traced(read: str) -> None:
    torch = pytest.importorskip("torch")
    for call in (xt.jit(lambda x: (getattr(torch, read)(x), x)[1]), xt.grad(lambda x: getattr(torch, read)(x).sum())):
        with pytest.raises(xt.ArgumentTypeError, match=r"<traced float64 \(i: 2\)> has no values while it is traced"):
            call(X)
