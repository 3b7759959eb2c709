"""Functions that a user hands over: with the wrong parameters, that never end, with rules that are no derivative."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor.testing import check_gradients

V = xt.array([1.0, 2.0, 3.0], "t", dtype="f4")
PACKAGE = os.path.dirname(xt.__file__)


def one(x: Any) -> Any:
    return x


def two(x: Any, y: Any) -> Any:
    return x + y


def none() -> Any:
    return V


back = xt.vjp(xt.sin, V)[1]
push = xt.linearize(xt.sin, V)[1]
ruled = xt.custom_derivative(lambda x: x * 2.0)
ruled.defpushforward(lambda p: p)  # type: ignore[misc]

MISFITS: dict[str, tuple[Callable[[], Any], str]] = {
    "cond": (lambda: xt.cond(True, none, one, V), r"xt.cond: the `yes` branch gets 1 argument, .* and takes none"),
    "cond's other": (lambda: xt.cond(True, one, two, V), r"xt.cond: the `no` branch gets 1 .* and takes \(x, y\)"),
    "switch": (lambda: xt.switch(0, [none], V), r"xt.switch: branch 0 \(none\) gets 1 argument"),
    "keep_on": (
        lambda: xt.while_loop(none, lambda s: s + 1, 1.0),
        r"xt.while_loop: none gets 1 argument, \(carry\), and takes none",
    ),
    "body": (lambda: xt.while_loop(lambda s: s < 3, two, 1.0), r"xt.while_loop: two gets 1 argument, \(carry\)"),
    "fori_loop": (
        lambda: xt.fori_loop(0, 3, one, 0.0),
        r"xt.fori_loop: one gets 2 arguments, \(i, carry\), and takes \(x\)",
    ),
    "fori_loop over traced bounds": (lambda: xt.fori_loop(xt.array(0), 3, one, 0.0), r"xt.fori_loop: one gets 2 "),
    "scan": (lambda: xt.scan(one, 0.0, V, dim="t"), r"xt.scan: one gets 2 arguments, \(carry, x\), and takes \(x\)"),
    "map": (lambda: xt.map(two, V, dim="t"), r"xt.map: two gets 1 argument, \(x\), and takes \(x, y\)"),
    "jit": (lambda: xt.jit(two)(V), r"xt.jit: two gets 1 argument, \(float32 \(t: 3\)\), and takes \(x, y\)"),
    "jit by name": (lambda: xt.jit(one)(V, n=2), r"xt.jit: one gets 2 arguments, .*, n=.* and takes \(x\)"),
    "vectorize": (lambda: xt.vectorize(two, "t")(V), r"xt.vectorize: two gets 1 argument, \(float32 \(\)\)"),
    "grad": (lambda: xt.grad(two)(V), r"xt.grad: two gets 1 argument"),
    "value_and_grad": (lambda: xt.value_and_grad(two)(V), r"xt.value_and_grad: two gets 1 argument"),
    "jacobian": (lambda: xt.jacobian(two)(V), r"xt.jacobian: two gets 1 argument"),
    "hessian": (lambda: xt.hessian(two)(V), r"xt.hessian: two gets 1 argument"),
    "hvp": (lambda: xt.hvp(two, (V,), (V,)), r"xt.hvp: two gets 1 argument"),
    "jvp": (lambda: xt.jvp(two, (V,), (V,)), r"xt.jvp: two gets 1 argument"),
    "vjp": (lambda: xt.vjp(two, V), r"xt.vjp: two gets 1 argument"),
    "linearize": (lambda: xt.linearize(two, V), r"xt.linearize: two gets 1 argument"),
    "checkpoint": (lambda: xt.checkpoint(two)(V), r"xt.checkpoint: two gets 1 argument"),
    "back": (lambda: back(V, V), "vjp: back takes one cotangent, of the structure of the result, got 2 arguments"),
    "push": (lambda: push(V, V), "linearize: 1 primal and 2 tangents"),
    "check_gradients": (lambda: check_gradients(one, V), r"args is a tuple.*check_gradients\(f, \(x,\)\)"),
    "a rule": (
        lambda: xt.jvp(ruled, (V,), (V,)),
        r"the pushforward rule of .* gets 2 arguments, \(primals, tangents\)",
    ),
    "what has a rule": (lambda: ruled(V, V), r"xt.custom_derivative: <lambda> gets 2 arguments"),
}


# check_gradients is no part of a program.
@pytest.mark.parametrize(
    ("name", "traced"),
    [(n, t) for n in MISFITS for t in (False, True) if not (t and n == "check_gradients")],
    ids=lambda x: x if isinstance(x, str) else "traced" if x else "eager",
)
def test_a_function_with_other_parameters_is_named_with_what_it_gets(name: str, traced: bool) -> None:
    call, message = MISFITS[name]
    with pytest.raises(xt.Error, match=f"(?s){message}.*test_callbacks.py") as found:
        xt.jit(lambda: call())() if traced else call()
    inside = [f for f in traceback.extract_tb(found.value.__traceback__) if f.filename.startswith(PACKAGE)]
    assert len(inside) <= 1, inside  # the method or handle called


def test_type_errors_of_the_functions_own_pass_through() -> None:
    with pytest.raises(TypeError, match="unsupported operand") as found:
        xt.scan(lambda c, e: (c + {}, e), 0.0, V, dim="t")  # type: ignore[operator]
    assert not isinstance(found.value, xt.Error)


# -- loops that never end ---------------------------------------------------------------------------------------------


def test_a_body_that_gives_its_carry_back_is_refused() -> None:
    with pytest.raises(xt.ArgumentError, match=r"returns its carry unchanged.*max_steps"):
        xt.while_loop(lambda s: s < 10, lambda s: s, 1.0)
    assert float(xt.while_loop(lambda s: s < 10, lambda s: s, 1.0, max_steps=3)) == 1.0


def test_an_endless_loop_does_not_end_with_an_answer() -> None:
    program = "import xtensor as xt; print('begin', flush=True)\n"
    program += "xt.while_loop(lambda s: s < 10, lambda s: s * 1.0, 1.0); print('end', flush=True)"
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "begin\n"
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(1.5)  # where an end was taken for granted, it came at once
    run.kill()
    assert run.communicate()[0] == ""


# -- rules that are no derivative -------------------------------------------------------------------------------------


def line_of(marker: str) -> str:
    with open(__file__) as f:
        return f":{next(i for i, text in enumerate(f, 1) if text.rstrip().endswith(f'# {marker}'))}"


def squares() -> Any:
    f = xt.custom_derivative(lambda x: x * 2.0)
    f.defpushforward(lambda p, t: (p[0] * 2.0, t[0] * t[0]))  # no linear rule
    return f


def clips() -> Any:
    f = xt.custom_derivative(lambda x: x * 1.0)

    def backward(_: Any, ct: Any) -> Any:
        return (xt.clip(ct, -1.0, 1.0),)  # clips

    f.defpullback(lambda x: (x * 1.0, None), backward)
    return f


def captures(x: Any) -> Any:
    f = xt.custom_derivative(lambda y: y * x)  # captures
    f.defpushforward(lambda p, t: (p[0] * x, t[0] * x))
    return f(xt.stop_gradient(x))


@pytest.mark.parametrize("ask", ["jvp", "linearize", "in a trace"])
@pytest.mark.parametrize(
    ("f", "message", "line"),
    [
        (squares(), "not linear in the tangents: xt.multiply multiplies 2 tangents", "no linear rule"),
        (clips(), "needed forwards.*not linear in the cotangents: give a pushforward rule", "clips"),
        (captures, "captures an array that is differentiated", "captures"),
    ],
    ids=["squares", "clips", "captures"],
)
def test_a_rule_that_is_no_derivative_is_the_users_error_at_its_line(f: Any, message: str, line: str, ask: str) -> None:
    asks = {
        "jvp": lambda: xt.jvp(f, (V,), (V,)),
        "linearize": lambda: xt.linearize(f, V),
        "in a trace": lambda: xt.jit(lambda v: xt.jvp(f, (v,), (v,))[1])(V),
    }
    with pytest.raises(xt.GradientError, match=f"(?s){message}.*test_callbacks.py{line_of(line)}") as found:
        asks[ask]()
    files = {frame.filename for frame in traceback.extract_tb(found.value.__traceback__)}
    assert files == {__file__}


# -- handles inside of other traces -----------------------------------------------------------------------------------


def test_handles_made_outside_of_a_trace_work_inside() -> None:
    x = xt.array(np.linspace(0.1, 1.0, 3), "t")

    def f(x: Any) -> Any:
        return xt.sin(x) * x.sum()

    back, push = xt.vjp(f, x)[1], xt.linearize(f, x)[1]
    cts = xt.array(np.random.default_rng(0).standard_normal((2, 3)), ("k", "t"))
    ct = cts.isel(k=0)
    np.testing.assert_array_equal(xt.jit(back)(ct)[0].values, back(ct)[0].values)
    np.testing.assert_array_equal(xt.jit(push)(ct).values, push(ct).values)
    rows = np.stack([back(cts.isel(k=i))[0].values for i in range(2)])
    np.testing.assert_allclose(xt.vectorize(back, "k")(cts)[0].values, rows, rtol=1e-15)
    rows = np.stack([push(cts.isel(k=i)).values for i in range(2)])
    np.testing.assert_allclose(xt.vectorize(push, "k")(cts).values, rows, rtol=1e-15)
    matrix = xt.jacobian(f)(x).values
    np.testing.assert_allclose(xt.jacobian(push)(ct).values, matrix, rtol=1e-14)
    np.testing.assert_allclose(xt.jacobian(lambda c: back(c)[0])(ct).values, matrix.T, rtol=1e-14)
    # What they keep is constant: the derivative of a map that is linear in its argument is itself.
    g = xt.grad(lambda c: (push(c) * push(c)).sum())(ct)
    np.testing.assert_allclose(g.values, 2 * matrix.T @ (matrix @ ct.values), rtol=1e-14)
    last, _ = xt.scan(lambda c, _: (push(c), None), ct, dim="step", length=2)
    np.testing.assert_allclose(last.values, matrix @ matrix @ ct.values, rtol=1e-14)


def test_handles_inside_of_a_trace_take_trees_and_leave_out_integers() -> None:
    def f(p: Any, n: Any) -> Any:
        return {"y": p["w"] * n, "n": n}

    w = xt.ones(t=3)
    _, back = xt.vjp(f, {"w": w}, xt.array(2))
    got, none = xt.jit(lambda c: back({"y": c, "n": None}))(w)
    assert none is None and got["w"].values.tolist() == [2, 2, 2]
    with pytest.raises(xt.DimensionError, match="vjp: the cotangent has dim 'q', which its array"):
        xt.jit(lambda c: back({"y": c, "n": None}))(xt.ones(q=3))
