"""Python numbers give way to the dtype of what they meet, through a whole program: jit never changes a dtype."""

from __future__ import annotations

import inspect
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import jax_or_skip
from xtensor.call.dispatch import Op

NUMBERS: dict[str, Any] = {"a bool": True, "an int": 3, "a float": 0.75}
ARRAYS = {name: xt.array([1, 0], "a", dtype=name) for name in ("?", "u1", "i4", "i8", "f2", "f4")}
F4 = xt.array(np.array([2, 3], "f4"), "a")


MODULES = ("activations", "comparisons", "elementwise", "operators")


def elementwise() -> list[tuple[str, int]]:
    """The public functions of one, two or three arrays, element by element."""
    found = []
    for name in xt.__all__:
        f = getattr(xt, name)
        if name == "divmod":
            continue  # two functions of this list
        if isinstance(f, Op) and f.__module__.removeprefix("xtensor.ops.") in MODULES:
            given = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty]
            if all(str(p.annotation) == "ArrayLike" for p in given):
                found.append((name, len(given)))
    return found


def shown(x: Any) -> tuple[str, bool] | None:
    return None if x is None else (x.dtype.name, x.weak)


def attempt(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return f(*args)
    except (xt.DTypeError, xt.ArgumentError):
        return None


def same_in_both(f: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    """`f` gives the same dtypes and values, by itself and times a float32 array, called eagerly and in a function."""

    def both(*args: Any) -> list[Any]:
        y = attempt(f, *args)
        return [y, None if y is None else attempt(operator.mul, y, F4)]

    eager = [both(*call) for call in calls]
    compiled = xt.jit(lambda calls: [both(*call) for call in calls])(calls)
    for call, a, b in zip(calls, eager, compiled, strict=True):
        assert [shown(y) for y in a] == [shown(y) for y in b], call
        for y, z in zip(a, b, strict=True):
            if y is not None:
                np.testing.assert_allclose(y.values.astype("f8"), z.values.astype("f8"), 1e-2, err_msg=str(call))


@pytest.mark.sampled(24)
@pytest.mark.cpu_only("the front end chooses dtypes, for every device alike")
@pytest.mark.parametrize(("name", "count"), elementwise())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_jit_never_changes_a_dtype(name: str, count: int) -> None:
    numbers, arrays = list(NUMBERS.values()), list(ARRAYS.values())
    if count == 1:
        calls: list[tuple[Any, ...]] = [(n,) for n in numbers]
    else:
        calls = [(n, m) for n in numbers for m in numbers]
        calls += [pair for n in numbers for x in arrays for pair in ((n, x), (x, n))]
    if count == 3:
        calls = [(c, *pair) for c in (True, xt.array(True)) for pair in calls]
    same_in_both(getattr(xt, name), calls)


SIGNS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "eq")


@pytest.mark.parametrize("sign", SIGNS)
def test_operators_on_numbers_do_as_python(sign: str) -> None:
    same_in_both(lambda n, m: getattr(operator, sign)(n, m) * F4, [(n, m) for n in (3, 0.75) for m in (2, 0.5)])


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "a quotient": lambda p, n: (n / 50.0) * p,
    "a minimum": lambda p, n: xt.minimum(1.0, n) * p,
    "exp": lambda p, n: xt.exp(n) * p,
    "a power": lambda p, n: 0.9**n * p,
    "a comparison": lambda p, n: (n > 1) * 2.0 * p,
    "what is chosen": lambda p, n: xt.where(p.sum() > 1, n, 0.5) * p,
    "select": lambda p, n: xt.select([n > 1], [n], 0.5) * p,
    "as_array": lambda p, n: xt.as_array(n) * p,
    "cond": lambda p, n: xt.cond(n > 1, lambda: n * 2.0, lambda: 1.0) * p,
    "switch": lambda p, n: xt.switch(1, [lambda: n, lambda: 0.5]) * p,
    "a counter": lambda p, n: xt.fori_loop(0, 3, lambda i, c: c + n / (i + 1) * p, p),
    "a counter to a traced end": lambda p, n: xt.fori_loop(0, xt.array(3), lambda i, c: c * (0.5 / (i + 1)), p),
    "a carry of while_loop": lambda p, n: (
        xt.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 0.5), (n, 1.0))[1] * p
    ),
    "a carry of scan": lambda p, n: xt.scan(lambda c, x: (c * 0.5 + n, x * c), 1.0, p, dim="a")[0] * p,
    "ys of scan": lambda p, n: xt.scan(lambda c, x: (c * 0.5, x * c), n, p, dim="a")[1],
    "a gradient": lambda p, n: xt.grad(lambda q: q**2.0 * 3)(n * 1.0) * p,
    "a pullback": lambda p, n: xt.vjp(lambda q: q * 2.0, n * 1.0)[1](1.0)[0] * p,
    "a derivative": lambda p, n: xt.jvp(lambda q: q * 2.0, (n * 1.0,), (1.0,))[1] * p,
    "linearize": lambda p, n: xt.linearize(lambda q: q * 2.0, n * 1.0)[1](1.0) * p,
    "checkpoint": lambda p, n: xt.checkpoint(lambda q: q * 2.0)(n) * p,
    "vectorize": lambda p, n: xt.vectorize(lambda q, m: (m / 2) * q, "a")(p, n),
    "jit in jit": lambda p, n: xt.jit(lambda m: m / 2)(n) * p,
    "custom_derivative": lambda p, n: doubled(n * 1.0) * p,
}


@xt.custom_derivative
def doubled(x: Any) -> Any:
    return x * 2.0


doubled.defpushforward(lambda primals, tangents: (primals[0] * 2.0, tangents[0] * 2.0))


@pytest.mark.parametrize("n", [2, 1.5])
@pytest.mark.parametrize("name", [*PROGRAMS])
def test_numbers_stay_weak_through_a_program(name: str, n: float) -> None:
    program = PROGRAMS[name]
    eager, compiled = program(F4, n), xt.jit(program)(F4, n)
    assert eager.dtype == compiled.dtype == np.float32
    np.testing.assert_allclose(eager.values, compiled.values, 1e-6)
    # Every size in one compilation.
    np.testing.assert_allclose(xt.jit(program, dynamic_dims="a")(F4, n).values, eager.values, 1e-6)


@pytest.mark.float64
def test_a_training_step_keeps_its_dtypes() -> None:
    @xt.jit
    def step(p: Any, rate: Any, n: Any) -> Any:
        return p - rate / (1 + 0.1 * n) * xt.grad(lambda p: xt.square(p).sum())(p), rate * 0.9, n + 1

    state: Any = (F4, 0.1, 0)
    for _ in range(3):
        state = step(*state)
        assert [shown(x) for x in state] == [("float32", False), ("float64", True), ("int64", True)]
    assert step.size == 2  # Python numbers at first, then what the step gave
    assert float(state[1]) == pytest.approx(0.1 * 0.9**3) and int(state[2]) == 3


def test_a_number_that_says_how_far_may_be_an_argument() -> None:
    y = xt.array(np.array([1, 2, 4], "f4"), "t")
    f = xt.jit(lambda y, dx: xt.trapezoid(y, dx=dx))
    for dx in (2, 0.5, xt.as_array(0.5), xt.array(0.5)):
        assert f(y, dx).dtype == xt.trapezoid(y, dx=dx).dtype == np.float32
        assert f(y, dx).item() == xt.trapezoid(y, dx=dx).item() == 4.5 * float(dx)
    with pytest.raises(xt.ArgumentTypeError, match="dx is a number"):
        xt.trapezoid(y, dx=y)


def test_a_gradient_has_the_dtype_of_its_argument() -> None:
    n, p = 2.0, F4
    for _ in range(2):
        n = n - 0.1 * xt.grad(lambda n, p: ((n * p) ** 2).sum())(n, p)
        assert n.weak and (n * p).dtype == np.float32


@pytest.mark.float64
def test_what_is_converted_is_strong() -> None:
    weak = xt.exp(2.0)
    assert weak.weak and "weak float64" in repr(weak)
    strong = [
        weak.astype("f8"),
        xt.array(weak.values),
        pickle.loads(pickle.dumps(weak)),
        xt.array(2.0),
        xt.full({}, 2.0),
        xt.jit(lambda n: n.astype("f8"))(2.0),
        xt.jit(lambda n: xt.full({}, n))(2.0),
        xt.exp(np.float64(2)),
        xt.exp(xt.array(2.0)),
        xt.add(xt.array(2.0), 1.0),
    ]
    for x in strong:
        assert not x.weak and x.dtype == np.float64, x
        assert (x * F4).dtype == np.float64
    assert not xt.exp(2.0).broadcast_like(F4).weak  # with dims


def test_one_value_may_be_returned_as_both() -> None:
    a, b = xt.jit(lambda n: (n, n.astype("f8")))(2.0)
    assert (a.weak, b.weak) == (True, False) and float(a) == float(b) == 2


def test_arrays_without_dims_compile_apart_from_numbers() -> None:
    f = xt.jit(lambda x, p: x * p)
    for _ in range(2):  # the second time, C++ finds them
        assert f(2.0, F4).dtype == f(xt.exp(2.0), F4).dtype == np.float32
        assert f(xt.array(2.0), F4).dtype == f(np.float64(2), F4).dtype == np.float64
    open_ = xt.jit(lambda x, p: x * p, dynamic_dims="a")
    for _ in range(2):
        assert open_(xt.array(2.0), F4).dtype == np.float64
        assert open_(xt.exp(2.0), F4).dtype == open_(2.0, F4).dtype == np.float32


def test_a_weak_type_is_one_object_of_its_own() -> None:
    weak = xt._native.ArrayType("float64", (), (), weak=True)
    assert weak is xt._native.ArrayType("float64", (), (), True) and weak.weak
    assert weak is not xt._native.ArrayType("float64", (), ())
    assert repr(weak) == "ArrayType('float64', (), (), weak=True)"
    assert pickle.loads(pickle.dumps(weak)) is weak
    with pytest.raises(ValueError, match="with dims is not weak"):
        xt._native.ArrayType("float64", ("a",), (2,), weak=True)


def test_an_int_that_is_computed_wraps() -> None:
    small = xt.array(np.array([1], "u1"), "a")
    assert xt.jit(lambda u, n: u + (n + 1))(small, 255).values.tolist() == [1]
    with pytest.raises(xt.ArgumentError, match="256 does not fit uint8"):
        xt.jit(lambda u, n: u + n)(small, 256)
    # An argument is looked at, also where it is an array.
    assert (small + xt.add(100, 100)).values.tolist() == [201]
    for _ in range(2):
        with pytest.raises(xt.ArgumentError, match="300 does not fit uint8"):
            small + xt.add(100, 200)


@pytest.mark.float64
def test_weak_types_are_those_of_jax() -> None:
    jax = jax_or_skip()
    jnp = jax.numpy
    numbers = [3, 0.75]
    functions = ["add", "multiply", "minimum", "divide", "power", "arctan2", "exp", "sqrt", "negative", "square"]
    for name in functions:
        ours = getattr(xt, {"power": "pow", "arctan2": "atan2"}.get(name, name))
        theirs = getattr(jnp, name)
        one = name in ("exp", "sqrt", "negative", "square")
        calls: list[tuple[Any, ...]] = [(n,) for n in numbers] if one else [(n, m) for n in numbers for m in numbers]
        for call in calls:
            want = theirs(*call)
            assert shown(ours(*call)) == (want.dtype.name, want.weak_type), (name, call)
        for dtype in () if one else ("float16", "float32", "float64"):
            want = theirs(jnp.ones(2, dtype), numbers[1])
            assert shown(ours(xt.ones(a=2, dtype=dtype), numbers[1])) == (want.dtype.name, want.weak_type), name


@pytest.mark.cpu_only("text for a device that is not here")
@pytest.mark.parametrize("name", [*PROGRAMS])
def test_no_device_needs_a_cast_of_a_number(name: str) -> None:
    """Metal has no float64: all that is made of Python numbers is float32 there."""
    text = xt.jit(PROGRAMS[name]).lower(F4, 1.5, device="metal").as_text("traced")
    assert "f64" not in text


@pytest.mark.cpu_only("the front end chooses dtypes, for every device alike")
def test_bools_of_python_numbers_are_counted() -> None:
    """Python adds bools as ints, and so does a program in which they are comparisons of its numbers."""
    functions: list[Callable[..., Any]] = [
        lambda n: (n > 1) + (n > 2) + (n > 9), lambda n: sum([n > 1, n > 2]), lambda n: -(n > 1), lambda n: +(n > 1),
        lambda n: (n > 1) - (n > 9), lambda n: (n > 1) * (n > 2), lambda n: (n > 1) // (n > 2),
        lambda n: (n > 1) % (n > 2), lambda n: (n > 1) ** (n > 2), lambda n: abs(n > 1), lambda n: n + (n > 9),
    ]  # fmt: skip
    for k, f in enumerate(functions):
        for n in (5, True):
            if n is True and k in (6, 7):
                continue  # Python divides by False
            got = xt.jit(f)(n)
            assert (got.item(), got.dtype, got.weak) == (f(n), np.dtype("i8"), True), (k, n)
            assert (F4 * got).dtype == "f4"
    x = xt.array([True, False], dims="i")
    assert (x + x).dtype == bool
    assert xt.jit(lambda n: (n > 1) & (n > 2))(5).dtype == bool


@pytest.mark.parametrize("name", ["isel", "head", "tail", "sel", "drop_sel", "reindex", "assign_coords", "interp"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_what_reads_along_no_dim_keeps_weakness(name: str, kind: str) -> None:
    def read(x: Any) -> Any:
        return getattr(x, name)()

    x = xt.as_array(NUMBERS[kind])
    if (name, kind) not in {("interp", "a bool"), ("interp", "an int")}:  # refused; made float64
        assert read(x).weak
    same_in_both(read, [(x,)])
