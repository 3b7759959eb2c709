"""`xt.option(nan="raise")`: where a NaN or an infinity comes from."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array([1.0, 4.0, -1.0, 9.0, 16.0], "t")


@pytest.fixture(autouse=True)
def raises() -> Iterator[None]:
    with xt.option(nan="raise"):
        yield


def message(f: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(xt.NonFiniteError) as told:
        f(*args, **kwargs)
    assert isinstance(told.value, FloatingPointError)
    return str(told.value)


def test_op_line_position_operands_and_values_around() -> None:
    @xt.jit
    def f(x: Any, w: Any) -> Any:
        y = x - w
        z = xt.sqrt(y)
        return xt.sum(z * 2, "t")

    first = f.__wrapped__.__code__.co_firstlineno
    text = message(f, X + 2, xt.array(2.5, ()))
    assert text == (
        "xt.sqrt made nan of finite operands at t=2 (1 of 5 elements of (t: 5))\n"
        f"  operand 0, of xt.subtract in line {first + 2}: float64 (t: 5), -1.5; t=0 to 4: 0.5, 3.5, -1.5, 8.5, 15.5\n"
        "  result: float64 (t: 5), nan; t=0 to 4: 0.707107, 1.87083, nan, 2.91548, 3.937\n"
        f"  at {__file__}:{first + 3}"
    )
    assert float(f(X + 2, xt.array(0.5, ()))) > 0


def test_parameters_have_their_names_and_numbers_their_places() -> None:
    text = message(xt.jit(lambda a, b: a / (b - 3.0)), X, xt.array([[3.0, 1.0]], ("s", "t2")).rename(t2="u"))
    assert "xt.divide made inf of finite operands at t=0, s=0, u=0 (5 of 10 elements of (t: 5, s: 1, u: 2))" in text
    assert "operand 0, a: float64 (t: 5), 1; t=0 to 2: 1, 4, -1" in text


def test_calls_of_single_functions() -> None:
    line = sys._getframe().f_lineno + 1
    text = message(lambda: xt.log(X))
    assert text.startswith("xt.log made nan of finite operands at t=2") and text.endswith(f"{__file__}:{line}")
    assert "made inf" in message(lambda: xt.exp(xt.array(1000.0, ())))


def test_derivatives_name_the_op_that_is_differentiated() -> None:
    x = xt.array([1.0, 0.0, 2.0], "t")
    calls = (
        lambda: xt.grad(lambda x: xt.sum(xt.sqrt(x)))(x),
        lambda: xt.vjp(lambda x: xt.sum(xt.sqrt(x)), x)[1](1.0),
        lambda: xt.jvp(xt.sqrt, (x,), (x + 1,)),
        lambda: xt.linearize(xt.sqrt, x)[1](x + 1),
    )
    for call in calls:
        text = message(call)
        assert text.startswith("in the derivative of xt.sqrt, xt.divide made inf of finite operands at t=1"), text
        assert "of xt.sqrt in line" in text


def test_elements_that_where_does_not_choose_are_passed_over() -> None:
    x = xt.array([-1.0, 0.5, 3.0], "t")
    made = "xt.sqrt made nan of finite operands at t=1 (1 of 3 elements of (t: 3))"
    row = xt.array([1.0, 2.0], "s")
    for f in (
        lambda x: xt.where(x > 0, xt.sqrt(x - 1), x),
        lambda x: xt.where(x < 0, x, xt.sqrt(x - 1) * 2.0),
        lambda x: xt.where(x > -5, xt.where(x > 0, xt.sqrt(x - 1), x), xt.log(x)),
        lambda x: (lambda y: xt.where(x > 2, y, xt.where(x > 0, y, 1.0)))(xt.sqrt(x - 1)),
        lambda x: (lambda y: xt.where(x > 0, xt.where(x > 2, y, y), 1.0))(xt.sqrt(x - 1)),
        lambda x: xt.where(x > 0, row * (xt.sqrt(x - 1) + 1.0), 0.0),
        lambda x: xt.sum(xt.where(x > 0, xt.sqrt(x - 1), xt.log(x * 0.0 + 1.0)), "t"),
    ):
        assert made in message(xt.jit(f), x)
    # The first branch has NaN only where the other one is chosen.
    text = message(xt.jit(lambda x: xt.where(x > 2, xt.sqrt(x - 1), xt.log(x))), x)
    assert text.startswith("xt.log made nan of finite operands at t=0 (1 of 3")


def _grad_sum(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return xt.grad(lambda x: xt.sum(f(x)))


@pytest.mark.parametrize(
    ("name", "function", "at", "made"),
    [
        ("xt.sqrt", xt.sqrt, 0.0, "xt.divide made inf"),
        ("xt.cbrt", xt.cbrt, 0.0, "xt.divide made inf"),
        ("xt.log", xt.log, 0.0, "xt.divide made inf"),
        ("xt.log1p", xt.log1p, -1.0, "xt.divide made inf"),
        ("xt.log2", xt.log2, 0.0, "xt.divide made inf"),
        ("xt.asin", xt.asin, 1.0, "xt.rsqrt made inf"),
        ("xt.acos", xt.acos, -1.0, "xt.rsqrt made inf"),
        ("xt.acosh", xt.acosh, 1.0, "xt.rsqrt made inf"),
        ("xt.atanh", xt.atanh, 1.0, "xt.divide made inf"),
        ("xt.pow", lambda x: x**0.3, 0.0, "xt.pow made inf"),
        ("xt.pow", lambda x: x**0.5, 0.0, "xt.divide made inf"),
        ("xt.xlogy", lambda x: xt.xlogy(2.0, x), 0.0, "xt.divide made inf"),
        ("xt.atan2", lambda x: xt.atan2(x, x), 0.0, "xt.divide made inf"),
        ("xt.logit", xt.logit, 0.0, "xt.divide made inf"),
        ("xt.lgamma", xt.lgamma, 0.0, "xt.digamma made -inf"),
        ("xt.sqrt", lambda x: xt.sqrt(xt.sum(xt.square(x * xt.ones(k=2)), "k")), 0.0, "xt.divide made inf"),
    ],
)
def test_derivative_that_is_infinite_at_a_point(name: str, function: Any, at: float, made: str) -> None:
    text = message(_grad_sum(function), xt.array([1.5 if at > 0.9 and name == "xt.acosh" else 0.5, at], "t"))
    assert text.startswith(f"in the derivative of {name}, {made}") and " at t=1" in text, text


def test_ops_of_one_line_and_column_are_told_apart() -> None:
    """A product begins where its first factor does."""
    x = xt.array([1.0, 0.0], "t")

    def f(y: Any) -> Any:
        return xt.sqrt(y) * y

    for call in (
        lambda: _grad_sum(f)(x),
        lambda: xt.vectorize(xt.grad(f), "t")(x),
        lambda: xt.jvp(xt.grad(lambda x: xt.sum(f(x))), (x,), (x,)),
        lambda: xt.jacobian(f)(x),
        lambda: xt.hessian(lambda x: xt.sum(f(x)))(x),
        lambda: xt.grad(xt.grad(lambda x: f(x) * x))(0.0),
        lambda: xt.grad(xt.checkpoint(f))(0.0),
    ):
        text = message(call)
        assert text.startswith("in the derivative of xt.sqrt, xt.divide made inf of finite operands"), text


def test_functions_of_several_ops() -> None:
    large = xt.array([1e308, 1e308], "t")
    assert message(xt.jit(xt.mean), large).startswith("in xt.mean, xt.sum made inf of finite operands")
    assert message(xt.mean, large).startswith("in xt.mean, xt.sum made inf of finite operands")
    assert message(xt.jit(xt.std), large).startswith("in xt.std, xt.sum made inf")
    assert message(lambda: xt.cumsum(large, "t")).startswith("xt.cumsum made inf of finite operands at t=1")
    assert message(xt.jit(lambda x: x.at(t=0).add(x[{"t": 0}])), large).startswith("in x.at.add, xt.add made inf")
    singular = xt.jit(lambda a, b: xt.linalg.solve(a, b, dims=("i", "j")))
    assert message(singular, xt.zeros(i=2, j=2), xt.ones(i=2)).startswith("xt.linalg.solve made nan")


def test_instances_that_do_not_take_a_branch_are_passed_over() -> None:
    """In vectorize, a branch is computed for all instances where some take it."""
    x = xt.array([[-1.0, -2.0], [4.0, -9.0], [4.0, 9.0]], ("b", "t"))

    def told(branch: Callable[[Any], Any], other: Callable[[Any], Any] = lambda r: r) -> str:
        taken = xt.vectorize(lambda r: xt.cond(r[{"t": 0}] > 0, lambda: branch(r), lambda: other(r)), "b")
        return message(taken, x)

    for branch, other in (
        (lambda r: xt.sqrt(r), lambda r: r),
        (lambda r: xt.sum(xt.sqrt(r)), xt.sum),
        (lambda r: xt.sort(xt.sqrt(r), "t"), lambda r: r),
        (lambda r: xt.dot(xt.sqrt(r), r), xt.sum),
        (lambda r: xt.cumsum(xt.sqrt(r), "t"), lambda r: r),
    ):
        assert "xt.sqrt made nan of finite operands at b=1, t=1 (1 of 6 elements" in told(branch, other)
    text = told(lambda r: xt.scan(lambda c, v: (c + xt.sqrt(v), None), 0.0, r, dim="t")[0], lambda r: 0.0)
    assert "xt.sqrt made nan of finite operands at b=1 (1 of 3 elements" in text and "in step 1 of xt.scan" in text
    text = told(lambda r: xt.scan(lambda c, v: (c + v, xt.sqrt(v)), 0.0, r, dim="t")[1])
    assert "xt.sqrt made nan of finite operands at b=1 (1 of 3 elements" in text

    each = xt.vectorize(lambda x: xt.while_loop(lambda s: s < 5.0, lambda s: s + 1 / (s - 3.0), x), "b")
    assert "xt.divide made inf of finite operands at b=1 (1 of 3" in message(each, xt.array([6.0, 3.0, 4.0], "b"))

    one = xt.grad(lambda x: xt.cond(x > 0.7, lambda: xt.sqrt(x - 1.0) * x, lambda: xt.sqrt(x + 2.0)))
    text = message(xt.vectorize(one, "b"), xt.array([-1.0, 0.5, 1.0], "b"))
    assert text.startswith("in the derivative of xt.sqrt, xt.divide made inf of finite operands at b=2 (1 of 3")

    pick = xt.vectorize(lambda i, x: xt.switch(i, [lambda: x, lambda: xt.log(x), lambda: xt.sqrt(x)]), "b")
    text = message(pick, xt.array([0, 2, 1], "b"), xt.array([-1.0, 1.0, 0.0], "b"))
    assert text.startswith("xt.log made -inf of finite operands at b=2 (1 of 3")


def test_values_that_a_loop_or_a_branch_reads_from_around_it() -> None:
    def in_scan(x: Any) -> Any:
        y = xt.log(x)
        return xt.scan(lambda c, v: (c + y, None), 0.0, xt.ones(k=2), dim="k")[0]

    def in_while(x: Any) -> Any:
        y = xt.log(x)
        return xt.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] + y), (0, x))[1]

    def in_cond(x: Any) -> Any:
        y = xt.log(x)
        return xt.cond(x < 0, lambda: y + 1, lambda: x)

    for f in (in_scan, in_while, in_cond):
        assert message(xt.jit(f), -1.0).startswith("xt.log made nan of finite operands\n  operand 0, x:")


def test_complex_functions_and_their_derivatives() -> None:
    z = xt.array([0j, 1 + 0j, 2j], "t")
    assert message(xt.jit(lambda z: z**-1.5), z).startswith("xt.pow made nan of finite operands at t=0 (1 of 3")
    chosen = xt.jit(lambda z: xt.where(xt.real(z) < 1, xt.log(z), 1 / z))
    assert message(chosen, z).startswith("xt.log made -inf of finite operands at t=0 (1 of 3")
    taken = xt.vectorize(lambda z: xt.cond(xt.real(z) < 1, lambda: z, lambda: xt.log(z - 1)), "t")
    assert message(taken, z).startswith("xt.log made -inf of finite operands at t=1 (1 of 3")
    product = message(xt.jit(lambda z: z * z), xt.array([1e200 + 1e200j], "t"))
    assert product.startswith("xt.multiply made inf") and "operand 0, a part of z: float64 (t: 1), 1e+200" in product
    for name, f in (
        ("xt.log", xt.log),
        ("xt.sqrt", xt.sqrt),
        ("xt.sqrt", lambda z: xt.sqrt(z) * z),
        ("xt.pow", lambda z: z**0.5),
        ("xt.divide", lambda z: 1 / z * z),
    ):
        text = message(xt.grad(lambda z, f=f: xt.real(f(z))), 0j)
        assert text.startswith(f"in the derivative of {name}, xt.divide made"), text


def test_complex_values_whose_parts_lie_apart() -> None:
    """Inside of a program, the dim of the parts of complex numbers may be any one."""
    z = xt.array([1 + 1j, 2, 0], "t")
    text = message(xt.jit(lambda z: xt.log(z)), z)
    assert text.startswith("xt.log made -inf of finite operands at t=2 (1 of 3 elements of (t: 3))")
    assert "float64 (t: 3), 0; t=0 to 2: 1, 2, 0" in text
    assert message(lambda: xt.log(z)).startswith("xt.log made -inf of finite operands at t=2 (1 of 3")
    for at in range(12):
        grid = xt.array(np.where(np.arange(12).reshape(3, 4) == at, 0j, 1 + 2j), ("a", "b"))
        for f in (xt.log, lambda z: xt.fft.fft(xt.log(z), "a"), lambda z: xt.real(xt.log(z).transpose("b", "a")) * 2):
            text = message(xt.jit(f), grid)
            assert text.startswith(f"xt.log made -inf of finite operands at a={at // 4}, b={at % 4} (1 of 12"), text
    text = message(xt.jit(lambda x, y: x / y), xt.array([1j, 3j, 2j], "t"), xt.array([1, 1j, 0j], "t"))
    assert text.startswith("xt.divide made nan of finite operands at t=2 (1 of 3") and "(complex" not in text
    row = xt.jit(lambda z: xt.scan(lambda c, v: (c + xt.log(v), None), 0j, xt.exp(z) - 1, dim="t")[0])
    assert "in step 1 of xt.scan" in message(row, xt.array([1 + 1j, 0, 2j], "t"))
    with xt.option(jit=False):
        assert message(xt.jit(lambda z: xt.log(z)), z).startswith("xt.log made -inf of finite operands at t=2 (1 of 3")


def test_nan_in_an_argument_does_not_hide_another() -> None:
    """An elementwise op tells what it makes of elements that are finite, also where others are not."""
    x = xt.array([np.nan, 4.0, -1.0], "t")
    made = "xt.sqrt made nan of finite operands at t=2 (1 of 3 elements of (t: 3))"
    assert made in message(xt.jit(lambda x: xt.sum(xt.sqrt(x) + 1.0)), x)
    assert made in message(xt.jit(lambda x: xt.sort(xt.sqrt(x), "t")), x)
    text = message(xt.jit(lambda x, y: x / y), x, xt.array([1.0, 0.0], "u"))
    assert "xt.divide made inf of finite operands at t=1, u=1 (2 of 6 elements of (t: 3, u: 2))" in text
    step = xt.jit(lambda x: xt.scan(lambda c, _: (xt.sqrt(c) - 3.0, None), x, dim="s", length=2)[0])
    assert "xt.sqrt made nan of finite operands at t=2" in message(step, x)
    same = xt.jit(lambda x: xt.sort(xt.roll(x, t=1) * 2.0, "t"))
    assert np.isnan(same(x).values).sum() == 1


def test_calls_with_effects_are_not_repeated() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x.values

    def g(ordered: bool) -> Any:
        return xt.jit(lambda x: xt.log(xt.callback(f, x, result=x, ordered=ordered)))

    text = message(g(True), X)
    assert "The op was not found: a second run would call the function of xt.callback(ordered=True) again" in text
    assert len(calls) == 1
    assert "xt.log made nan of finite operands at t=2" in message(g(False), X)
    assert np.isnan(g(True)(X * np.nan).values).all()


def test_functions_that_are_made_anew_when_a_program_is_traced_again(capsys: pytest.CaptureFixture[str]) -> None:
    """A lambda, a method or a partial function in a function is another object each time, and is the same one here."""
    seen: list[Any] = []

    def plus(n: int, a: Any) -> Any:
        return a.values + n

    one = {"result": xt.spec()}
    for f in (
        lambda x: (xt.debug.callback(seen.append, x), xt.log(x))[1],
        lambda x: (xt.debug.callback(lambda a: seen.append(a), x), xt.log(x))[1],
        lambda x: (xt.debug.print("{}", x), xt.log(x))[1],
        lambda x: xt.log(xt.callback(lambda a: a.values, x, **one)),
        lambda x: xt.log(xt.callback(functools.partial(plus, 0), x, **one)),
        lambda x: [xt.log(xt.callback(lambda a, i=i: a.values + i, x, **one)) for i in range(3)],
    ):
        text = message(xt.jit(f), -1.0)
        assert text.startswith("xt.log made nan of finite operands\n"), text
    assert len(seen) == 2  # the second run does without
    shifts = [0.0, -3.0]

    def moved(x: Any) -> Any:
        shift = shifts.pop()
        return xt.log(xt.callback(lambda a: a.values + shift, x, **one))

    text = message(xt.jit(moved), 1.0)
    assert text.startswith("xt.log made nan") and "float64 (), -2\n" in text  # what ran is what is looked at


def test_function_that_returns_other_values_when_it_is_called_again() -> None:
    factors = [1.0, np.nan]
    text = message(xt.jit(lambda x: xt.callback(lambda a: a.values * factors.pop(), x, result=xt.spec()) * 2), 1.0)
    assert "a function of xt.callback returned other values" in text and "ordered=True" in text


factor = -1.0  # of a function whose second tracing gives another program


def test_function_that_is_another_program_when_it_is_traced_again() -> None:
    global factor
    f = xt.jit(lambda x: xt.log(x * factor))
    assert np.isfinite(f(-2.0).item())
    factor = 1.0
    try:
        text = message(f, 2.0)
        assert "gave another program" in text and "factor, which it reads from outside, was -1.0, now 1.0" in text
        assert "made nan" not in text and "sums in another order" not in text
        text = message(xt.jit(lambda x: xt.log(x * factor)), -2.0)
        assert text.startswith("xt.log made nan")
    finally:
        factor = -1.0

    signs = iter([-1.0, -2.0, -3.0, 1.0])
    text = message(xt.jit(lambda x: xt.log(x * next(signs))), 1.0)
    assert "xtensor does not know on what" in text and "in the other program, xt.log made nan" in text
    text = message(xt.jit(lambda x: xt.log(x * next(signs))), 1.0)
    assert "xtensor does not know on what" in text and "made nan" not in text

    held = [X]  # what was captured is what counts
    g = xt.jit(lambda x: xt.log(x * held[0]))
    text = message(g, 1.0)
    held[0] = X + 5.0
    assert message(g, 1.0) == text


@pytest.mark.parametrize("options", [{"donate": 0}, {"dynamic_dims": "t"}, {}], ids=str)
def test_programs_of_the_same_function_are_the_same(options: Any) -> None:
    """Also with ops whose code knows their places."""

    def f(x: Any, i: Any) -> Any:
        y = xt.linalg.solve(xt.eye(row=2, col=2), x[{"t": i}].rename(k="row"), dims=("row", "col"))
        return xt.log(y), xt.cumprod(x, "t"), xt.linalg.cholesky(xt.eye(row=2, col=2), ("row", "col"))

    x = xt.array(np.array([1.0, -1.0, 2.0]), "t", copy=True)
    assert message(xt.jit(f, **options), x, xt.array([1, 0], "k")).startswith("xt.log made nan of finite operands")


def test_steps_of_loops() -> None:
    scan = xt.jit(lambda x: xt.scan(lambda c, v: (c - v, xt.log(c - v)), 2.5, x, dim="t"))
    text = message(scan, xt.array([1.0, 0.5, 3.0], "t"))
    assert text.startswith("xt.log made nan of finite operands\n  in step 2 of xt.scan at ")
    back = xt.jit(lambda x: xt.scan(lambda c, v: (xt.sqrt(v), None), 1.0, x, dim="t", reverse=True)[0])
    assert "in step 0 of xt.scan" in message(back, xt.array([-1.0, 0.5, 3.0], "t"))
    double = xt.jit(lambda x: xt.while_loop(lambda c: c < 1e300, lambda c: xt.exp(c), x))
    assert re.search(r"xt\.exp made inf of .*\n  in step 2 of xt\.while_loop", message(double, xt.array(2.0, ())))
    nested = xt.jit(
        lambda x: xt.scan(lambda c, v: (c, xt.fori_loop(0, 3, lambda i, d: xt.log(d - i), v)), 0.0, x, dim="t")
    )
    text = message(nested, xt.array([30.0, 1.5], "t"))
    assert re.search(r"in step 0 of xt\.scan at .*\n  in step 2 of xt\.fori_loop at", text), text


def test_loops_and_their_arguments_have_the_names_of_the_user() -> None:
    x = xt.array([1.0, -1.0, 2.0], "t")
    by_number = xt.jit(lambda x: xt.fori_loop(0, 5, lambda i, s: xt.log(s) - i * 2, x))
    text = message(by_number, 3.0)
    assert "in step 2 of xt.fori_loop" in text and "operand 0, s: float64 (), -1.9" in text, text
    bounded = xt.jit(lambda x, n: xt.fori_loop(1, n, lambda i, s: {"a": xt.log(s["a"]) - i}, {"a": x}))
    text = message(bounded, 3.0, 9)
    assert "in step 2 of xt.fori_loop" in text and "operand 0, s['a']: float64 ()" in text, text
    from_one = xt.jit(lambda x: xt.fori_loop(1, 4, lambda i, s: s / (i - 1.0), x))
    assert "in step 0 of xt.fori_loop" in message(from_one, 3.0)
    each = message(xt.jit(lambda x: xt.map(lambda v: xt.log(v), x, dim="t")), x)
    assert "in step 1 of xt.map" in each and "operand 0, v: float64 (), -1" in each
    rows = xt.jit(lambda x: xt.scan(lambda total, row: (total * row["u"], xt.log(row["u"])), 1.0, {"u": x}, dim="t"))
    assert "operand 0, row['u']: float64 (), -1" in message(rows, x)
    totals = xt.jit(lambda x: xt.scan(lambda total, row: (total * row, xt.log(total)), 1.0, x, dim="t"))
    assert "in step 2 of xt.scan" in message(totals, x) and "operand 0, total: float64 (), -1" in message(totals, x)
    running = xt.jit(lambda x: xt.while_loop(lambda q: q[0] > -2.0, lambda q: (xt.log(q[0]), q[1]), (x, 1.0)))
    assert np.isfinite(running(3.0)[0].item())
    text = message(xt.jit(lambda x: xt.while_loop(lambda q: q[0] < 9, lambda q: (q[0] + 1, xt.log(q[1])), (0, x))), 3.0)
    assert "in step 3 of xt.while_loop" in text and "operand 0, q[1]: float64 (), -" in text, text
    for turned in (xt.grad(lambda x: xt.sum(xt.map(xt.sqrt, x, dim="t"))), lambda x: xt.map(xt.log, x, dim="t")):
        assert "in step 1 of xt.map" in message(xt.jit(turned), xt.array([1.0, 0.0], "t"))
    text = message(xt.vectorize(lambda x: xt.fori_loop(0, 2, lambda i, s: xt.log(s), x), "t"), x * x - 1)
    assert "in step 0 of xt.fori_loop" in text and "operand 0, s: float64 (t: 3), 0" in text, text


def test_arguments_of_transformed_loops_have_the_names_of_the_user() -> None:
    x = xt.array([1.0, 0.0, 2.0], "t")
    rows = xt.array([[1.0, 0.0], [2.0, 3.0]], ("t", "s"))
    last = xt.vectorize(
        lambda x: xt.while_loop(lambda q: q["n"] < 3.0, lambda q: {"n": q["n"] + 1.0, "v": xt.log(q["v"])}, x), "t"
    )
    assert "operand 0, q['v']: float64 (t: 3), 0" in message(last, {"n": x, "v": x})  # instances end at their own steps
    each = xt.vectorize(lambda r: xt.scan(lambda total, row: (total, xt.log(row)), 1.0, r, dim="s")[1], "t")
    assert "operand 0, row: float64 (t: 2), 0" in message(each, rows)

    def roots(x: Any) -> Any:
        return xt.while_loop(lambda q: q[0] < 4, lambda q: (q[0] + 1, xt.sqrt(q[1])), (0, x), max_steps=8)[1]

    assert "operand 1, of xt.while_loop in line" in message(xt.grad(roots), 0.0)  # the value after a step
    grown = xt.grad(lambda w: xt.scan(lambda c, v: (c * v, None), w, x * 1e200 + 1e200, dim="t")[0])
    text = message(xt.jit(grown), 1.0)
    assert re.search(r"operand \d, (cotangent of c|v): float64", text) and "of the body" not in text, text
    pushed = xt.jit(
        lambda w: xt.jvp(lambda w: xt.scan(lambda c, v: (c * v, None), w, x + 1e200, dim="t")[0], (w,), (w,))
    )
    text = message(pushed, 1.0)
    assert re.search(r"operand \d, (tangent of c|c|v): float64", text) and "of the body" not in text, text


def test_parts_of_arguments_have_their_names() -> None:
    given = {"w": xt.array([0.0, 1.0], "t"), "b": [xt.ones(s=1)]}
    assert "operand 0, p['w']: float64" in message(xt.jit(lambda p, n: xt.log(p["w"]) * n), given, 2.0)
    assert "operand 0, p['w']: float64" in message(xt.jit(lambda *, p: xt.log(p["w"])), p=given)


def test_steps_of_derivatives_of_loops() -> None:
    def loss(x: Any) -> Any:
        return xt.scan(lambda c, v: (c * xt.sqrt(v), None), 1.0, x, dim="t")[0]

    text = message(xt.grad(loss), xt.array([1.0, 0.0, 4.0], "t"))
    assert text.startswith("in the derivative of xt.sqrt") and "in step 1 of xt.scan" in text


def test_loops_and_dims_have_the_names_of_the_user() -> None:
    """In a derivative a while loop is a scan, and a dim may have a name that nobody can write."""

    def f(x: Any) -> Any:
        return xt.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] / (3.0 - s[0])), (0, x), max_steps=8)[1]

    assert "in step 3 of xt.while_loop at" in message(xt.grad(f), 1.0)
    text = message(xt.jit(lambda a: xt.linalg.inv(a, ("i", "j"))), xt.zeros(i=2, j=2))
    assert text.startswith("xt.linalg.inv made nan of finite operands at j=0, i=0 (4 of 4 elements of (j: 2, i: 2))")
    assert "~" not in text and ": float64 (i: 2, i': 2), 0 to 1" in text


def test_branch_that_is_taken() -> None:
    f = xt.jit(lambda x: xt.cond(x.sum() > 0, lambda: xt.log(x), lambda: x / (x - 1)))
    assert message(f, X).startswith("xt.log made nan")
    assert message(f, xt.array([1.0, -9.0], "t")).startswith("xt.divide made inf of finite operands at t=0")


def test_instances_checkpoints_and_rules() -> None:
    assert message(xt.vectorize(lambda v: xt.log(v), "t"), X).startswith("xt.log made nan of finite operands at t=2")
    assert message(xt.jit(xt.checkpoint(lambda x: xt.sqrt(x))), X).startswith("xt.sqrt made nan")
    ruled = xt.custom_derivative(lambda x: xt.sqrt(x))
    ruled.defpushforward(lambda p, t: (xt.sqrt(p[0]), t[0] * 2))
    assert message(xt.jit(lambda x: ruled(x)), X).startswith("xt.sqrt made nan")


def test_complex_and_narrow_numbers() -> None:
    z = xt.array(np.array([1 + 1j, 0j]), "t")
    assert "t=1" in message(xt.jit(lambda z: 1 / z), z)
    assert "xt.exp made inf" in message(xt.jit(lambda x: xt.exp(x)), xt.array([1.0, 90.0], "t", dtype="f4"))
    assert "made inf" in message(xt.jit(lambda x: x * x), xt.array([1.0, 300.0], "t", dtype="f2"))
    assert "made inf" in message(xt.jit(lambda x: x * x), xt.array([1e30], "t").astype("bfloat16"))


def test_what_is_not_finite_before_is_no_error() -> None:
    nan = xt.array([1.0, np.nan, np.inf], "t")
    assert np.isnan(xt.jit(lambda x: x * 2)(nan).values[1])
    assert np.isinf(xt.jit(lambda x: xt.where(x > 0, x, -np.inf))(X).values[2])
    assert np.isnan(xt.jit(lambda x: x + nan)(xt.ones(t=3)).values[1])
    masked = xt.jit(lambda x: xt.nn.softmax(xt.where(x > 0, x, -np.inf), dim="t"))(X)
    assert np.isfinite(masked.values).all()
    assert xt.jit(lambda x: xt.where(x > 0, xt.log(x), 0.0))(X).values[2] == 0  # only results count


def test_what_ops_fill_with_nan_is_no_error() -> None:
    for f in (lambda x: x.shift(t=1), lambda x: x.where(x > 2), lambda x: x.rolling("t", 2).mean() * 2):
        assert np.isnan(xt.jit(f)(X).values).any()


def test_arguments_that_a_call_takes_over_and_numbers() -> None:
    f = xt.jit(lambda p, n: xt.sqrt(p * n), donate="p")
    text = message(f, xt.array(np.array([1.0, -1.0]), "t", copy=True), 2.0)
    assert text.startswith("xt.sqrt made nan of finite operands at t=1")


def test_prints_are_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    def step(c: Any, v: Any) -> Any:
        xt.debug.print("{:.1f}", v)
        return xt.log(v - 1), None

    f = xt.jit(lambda x: [xt.debug.print("first"), xt.scan(step, 0.0, x, dim="t")[0]][1])
    assert "in step 1 of xt.scan" in message(f, xt.array([2.0, 0.5], "t"))
    assert capsys.readouterr().out == "first\n2.0\n0.5\n"


def test_loop_whose_derivative_has_open_sizes() -> None:
    def f(x: Any) -> Any:
        return xt.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, xt.sqrt(c[1]) * c[1]), (0, x))[1].sum()

    text = message(xt.grad(f), xt.array([1.0, 0.0], "t"))
    assert "is not finite. The op was not found: it may be in a while loop without max_steps=" in text


def test_nan_of_infinities_that_are_given() -> None:
    """The op that makes NaN is told, and that its operands are not finite."""
    text = message(xt.jit(lambda x: x * np.inf), X - 1)
    assert text.startswith("xt.multiply made nan of operands that hold infinities at t=0 (1 of 5 elements"), text
    masked = xt.array([-1.0, -4.0], "t")
    for name, f in (
        ("xt.subtract", lambda x: xt.where(x > 0, x, -np.inf) - (-np.inf)),
        ("in xt.nn.softmax, xt.subtract", lambda x: xt.nn.softmax(xt.where(x > 0, x, -np.inf), "t")),
        ("xt.dot", lambda x: xt.dot(xt.where(x > -2, 0.0, -np.inf), xt.where(x > -2, 1.0, 0.0), dim="t")),
        ("xt.sum", lambda x: xt.sum(xt.where(x > -2, np.inf, -np.inf), "t")),
    ):
        text = message(xt.jit(f), masked)
        assert text.startswith(f"{name} made nan of operands that hold infinities"), text
    given = xt.array([np.nan, 1.0, np.inf], "t")
    step = xt.jit(lambda x: xt.scan(lambda c, v: (c, v - v), 0.0, x, dim="t")[1])
    for name, f in (
        ("xt.subtract", lambda x: x - x),
        ("xt.multiply", lambda x: x * 0.0),
        ("xt.subtract", lambda x: xt.cond(True, lambda: x - x, lambda: x)),
    ):
        text = message(xt.jit(f), given)
        assert text.startswith(f"{name} made nan of operands that hold infinities at t=2 (1 of 3 elements"), text
    assert "in step 2 of xt.scan" in message(step, given)
    text = message(xt.jit(lambda x: xt.nn.softmax(x, "t")), xt.array([-np.inf, -np.inf], "t"))
    assert text.startswith("in xt.nn.softmax, xt.subtract made nan of operands that hold infinities"), text
    with xt.option(nan="raise"):  # nothing here is made of the infinity, or of the NaN
        assert np.isnan(xt.jit(lambda x: xt.exp(x) + 1.0)(given).values[0])
    made = message(xt.jit(lambda x: xt.exp(x) - xt.exp(x)), xt.array([1000.0, 1.0], "t"))
    assert made.startswith("xt.exp made inf of finite operands at t=0 (1 of 2")


def test_open_sizes() -> None:
    f = xt.jit(lambda x: xt.sum(xt.sqrt(x), "t"), dynamic_dims="t")
    assert message(f, X).startswith("xt.sqrt made nan of finite operands at t=2")


def test_op_by_op() -> None:
    def step(c: Any, v: Any) -> Any:
        return c - v, xt.log(c - v)

    with xt.option(jit=False), pytest.raises(xt.NonFiniteError, match=r"xt\.log made nan") as told:
        xt.scan(step, 2.5, xt.array([1.0, 0.5, 3.0], "t"), dim="t")
    assert told.value.__notes__ == ["in step 2 of xt.scan(step)"]
    assert str(told.value).endswith(f"{__file__}:{step.__code__.co_firstlineno + 1}")


def test_labelled_arrays() -> None:
    xr = pytest.importorskip("xarray")
    text = message(xt.sqrt, xr.DataArray([1.0, -1.0], dims="t"))
    assert text.startswith("xt.sqrt made nan of finite operands at t=1")


def test_programs_are_not_compiled_again() -> None:
    f = xt.jit(lambda x: x + 1)
    with xt.option(nan="allow"):
        f(X)
    f(X)
    assert len(f.compilations) == 1


def test_long_programs_and_values_that_are_used_often() -> None:
    def f(x: Any) -> Any:
        a, b = xt.log(x), xt.log(x + 1.0)
        for _ in range(150):
            a, b = xt.sin(a) + 0.1 * xt.cos(b), xt.sin(b) * xt.cos(a)
        return a + b

    assert message(xt.jit(f), X).startswith("xt.log made nan of finite operands at t=2 (1 of 5")
    nan = xt.array([1.0, np.nan], "t")  # it comes from an argument: each op is looked at once
    assert np.isnan(xt.jit(f)(nan).values[1])


def test_programs_of_several_parts() -> None:
    """A long block is run in parts; a loop in a late one reads what an early one gives."""

    def f(x: Any) -> Any:
        first, z = xt.sin(x), x * (1 + 0.1j)
        for i in range(200):
            x = xt.sin(x) * x + 0.001 * i
        late = xt.scan(lambda c, v: (c * v, xt.log(c * first)), 1.0, xt.ones(k=3), dim="k")[1]
        return x, xt.real(z), late

    text = message(xt.jit(f), X)
    assert text.startswith("xt.log made nan of finite operands at t=1 (3 of 5") and "in step 0 of xt.scan" in text
    text = message(xt.grad(lambda x: xt.sum(xt.sqrt(x) * f(x)[0])), xt.array([1.0, 0.0], "t"))
    assert text.startswith("in the derivative of xt.sqrt, xt.divide made inf of finite operands at t=1"), text


def test_the_first_op_is_told() -> None:
    x = xt.array([0.0, 1.0], "t")
    text = message(xt.jit(lambda x: (1.0 / x) + xt.log(x - 1.0)), x)
    assert text.startswith("xt.divide made inf of finite operands at t=0")
