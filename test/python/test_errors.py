"""Wrong programs: the kind of error, the words that help, and the user's own line."""

import builtins
import inspect
import re
import traceback

import numpy as np
import pytest
import xtensor as xt

x = xt.array(np.ones((3, 4), "f4"), dims=("a", "b"))
b5 = xt.array(np.ones(5, "f4"), dims="b")
ints = xt.array(np.arange(4), dims="b")


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (xt.DimensionError, ValueError),
        (xt.SizeError, ValueError),
        (xt.DTypeError, TypeError),
        (xt.IndexError, builtins.IndexError),
        (xt.ArgumentError, ValueError),
        (xt.ArgumentTypeError, TypeError),
        (xt.UnsupportedError, NotImplementedError),
        (xt.CompileError, RuntimeError),
    ],
)
def test_every_error_is_an_xt_error_and_the_builtin_people_expect(kind, base):
    assert issubclass(kind, xt.Error)
    assert issubclass(kind, base)
    assert kind.__module__ == "xtensor"


def line_of(marker):
    with open(__file__) as f:
        return next(i for i, text in enumerate(f, 1) if text.rstrip().endswith(f"# {marker}"))


def test_the_message_ends_with_the_line_that_is_wrong():
    with pytest.raises(xt.SizeError) as caught:
        x + b5  # here
    assert str(caught.value).endswith(f"{__file__}:{line_of('here')}")


def test_inside_a_traced_function_the_line_is_the_functions():
    def loss(x, y):
        z = x * 2.0
        return z + y  # inside

    with pytest.raises(xt.SizeError) as caught:
        xt.jit(loss)(x, b5)
    assert str(caught.value).endswith(f"{__file__}:{line_of('inside')}")


def test_tracebacks_hold_few_frames_of_the_package():
    for fail in (lambda: x + b5, lambda: xt.jit(lambda x, y: x + y)(x, b5)):
        try:
            fail()
        except xt.Error as error:
            ours = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
            assert len(ours) <= 2
        else:
            pytest.fail("no error")


CASES = {
    "sizes": (xt.SizeError, ["b", "4", "5"], lambda: x + b5),
    "unnamed operand": (xt.DimensionError, ["(2, 3)", "dims="], lambda: xt.tanh(np.ones((2, 3)))),
    "unnamed argument": (xt.DimensionError, ["(3,)", "dims="], lambda: xt.jit(lambda x: x)(np.ones(3))),
    "unnamed data": (xt.DimensionError, ["(2, 3)", "dims="], lambda: xt.array(np.ones((2, 3)))),
    "name count": (xt.DimensionError, ["(2, 3)", "'a'"], lambda: xt.array(np.ones((2, 3)), dims="a")),
    "name twice": (xt.DimensionError, ["'a'", "twice"], lambda: xt.array(np.ones((2, 3)), dims=("a", "a"))),
    "name empty": (xt.DimensionError, ["''"], lambda: xt.array([1.0], dims="")),
    "name reserved": (xt.DimensionError, ["~"], lambda: xt.array([1.0], dims="a~0")),
    "name no string": (xt.ArgumentTypeError, ["0"], lambda: xt.array([1.0], dims=(0,))),
    "unknown dim": (xt.DimensionError, ["'c'", "'a', 'b'"], lambda: xt.sum(x, dim="c")),
    "complex": (xt.DTypeError, ["complex128"], lambda: xt.array(np.ones(2, complex), "a")),
    "strings": (xt.DTypeError, ["<U1"], lambda: xt.array(["a"], "i")),
    "ragged": (xt.ArgumentError, ["xt.array"], lambda: xt.array([[1], [1, 2]], ("a", "b"))),
    "no dtype": (xt.DTypeError, ["float33", "float32"], lambda: xt.array([1.0], "a", dtype="float33")),
    "huge int": (xt.ArgumentError, ["64 bits"], lambda: xt.jit(lambda n: n)(2**70)),
    "bool of traced": (xt.ArgumentTypeError, ["xt.where"], lambda: xt.jit(lambda x: x if x.sum() > 0 else -x)(x)),
    "int of traced": (xt.ArgumentTypeError, ["static"], lambda: xt.jit(lambda n: list(range(n)))(3)),
    "float of traced": (xt.ArgumentTypeError, ["astype"], lambda: xt.jit(lambda x: float(x.sum()))(x)),
    "values of traced": (xt.ArgumentTypeError, ["no values"], lambda: xt.jit(lambda x: x.values)(x)),
    "numpy of traced": (xt.ArgumentTypeError, ["xt function"], lambda: xt.jit(np.asarray)(x)),
    "assignment": (xt.ArgumentTypeError, [".at("], lambda: xt.jit(lambda x: x.__setitem__(0, 1.0))(x)),
    "object argument": (xt.ArgumentTypeError, ["argument [1]", "static"], lambda: xt.jit(lambda x, o: x)(x, object())),
    "list operand": (xt.ArgumentTypeError, ["xt.array"], lambda: xt.tanh([1.0, 2.0])),
    "object result": (xt.ArgumentTypeError, ["returned", "str"], lambda: xt.jit(lambda x: (x, "done"))(x)),
    "loss with dims": (xt.DimensionError, ["'a', 'b'", ".sum()"], lambda: xt.grad(lambda x: x * 2)(x)),
    "loss of ints": (xt.DTypeError, ["int64"], lambda: xt.grad(lambda x: ints.sum())(x)),
    "loss of two": (xt.ArgumentTypeError, ["has_aux"], lambda: xt.grad(lambda x: (x.sum(), x))(x)),
    "aux missing": (xt.ArgumentTypeError, ["(loss, aux)"], lambda: xt.grad(lambda x: x.sum(), has_aux=True)(x)),
    "gradient by ints": (xt.DTypeError, ["'x'", "int64"], lambda: xt.grad(lambda x: x.sum())(ints)),
    "gradient by none": (xt.ArgumentError, ["'w'"], lambda: xt.grad(lambda x: x.sum(), wrt="w")(x)),
    "gradient by far": (xt.ArgumentError, ["3"], lambda: xt.grad(lambda x: x.sum(), wrt=3)(x)),
    "gradient twice": (xt.ArgumentError, ["twice"], lambda: xt.grad(lambda x: x.sum(), wrt=(0, 0))(x)),
    "tangent dims": (xt.DimensionError, ["'c'"], lambda: xt.jvp(xt.tanh, (x,), (xt.array([1.0], "c"),))),
    "tangent sizes": (xt.DimensionError, ["'b'"], lambda: xt.jvp(xt.tanh, (x,), (b5,))),
    "tangent of ints": (xt.DTypeError, ["None"], lambda: xt.jvp(lambda i: i * 2.0, (ints,), (ints,))),
    "tangent count": (xt.ArgumentError, ["1 primals and 2"], lambda: xt.jvp(xt.tanh, (x,), (x, x))),
    "static name": (xt.ArgumentError, ["'m'", "'n'"], lambda: xt.jit(lambda x, n: x, static="m")),
    "static unhashable": (xt.ArgumentTypeError, ["hashable"], lambda: xt.jit(lambda x, n: x, static="n")(x, n=[1])),
    "not a function": (xt.ArgumentTypeError, ["function"], lambda: xt.jit(3)),
    "phase": (xt.ArgumentError, ["'nope'", "linalg"], lambda: xt.jit(lambda x: x).lower(x).as_text("nope")),
    "option": (xt.ArgumentError, ["'inner'", "outer"], lambda: xt.option(inner="x")),
    "option value": (xt.ArgumentError, ["allow"], lambda: xt.option(outer="maybe")),
    "size is a bool": (xt.ArgumentTypeError, ["xt.zeros", "'a'", "True"], lambda: xt.zeros(a=True)),
    "size beyond memory": (xt.SizeError, ["xt.ones", "'a'", str(2**63)], lambda: xt.ones(a=2**63)),
    "bytes beyond memory": (xt.SizeError, ["(a: ", "address space"], lambda: xt.ones(a=2**40, b=2**40)),
    "result beyond memory": (xt.SizeError, ["(c: ", "address space"], lambda: x.expand_dims(c=2**62)),
    "complex from DLPack": (xt.DTypeError, ["128 bits"], lambda: xt.from_dlpack(np.ones(2, complex), dims="a")),
    "names from DLPack": (xt.DimensionError, ["('a', 'b')"], lambda: xt.from_dlpack(np.ones(2), dims=("a", "b"))),
    "device": (xt.UnsupportedError, ["cuda"], lambda: xt.jit(lambda x: x, device="cuda")),
    "spec called": (xt.ArgumentTypeError, ["lower"], lambda: xt.jit(lambda x: x)(xt.spec(a=3))),
    "spec size": (xt.ArgumentError, ["-1"], lambda: xt.spec(a=-1)),
}


@pytest.mark.parametrize("name", CASES)
def test_wrong_programs(name):
    kind, words, program = CASES[name]
    with pytest.raises(kind) as caught:
        program()
    message = str(caught.value)
    for word in words:
        assert word in message
    assert re.search(rf"{re.escape(__file__)}:\d+$", message), message


def test_a_tracer_that_outlives_its_trace_is_refused():
    kept = []
    xt.jit(lambda x: kept.append(x) or x).trace(x)
    for use in (lambda: kept[0] + 1.0, lambda: xt.jit(lambda y: y + kept[0])(x)):
        with pytest.raises(xt.Error, match="outside of the function"):
            use()


def test_a_tracer_of_a_gradients_body_is_refused_outside_of_it():
    kept = []

    def f(x):
        xt.grad(lambda v: kept.append(v) or v.sum())(x)
        return x + kept[0]

    with pytest.raises(xt.Error, match="outside of the function"):
        xt.jit(f)(x)


def test_an_error_leaves_nothing_behind():
    for _ in range(2):
        with pytest.raises(xt.SizeError):
            xt.jit(lambda x: xt.grad(lambda v: (v + b5).sum())(x))(x)
    assert xt.jit(lambda x: x).trace(x).outputs[0].dims == ("a", "b")


def test_errors_of_the_user_pass_through_tracing():
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        xt.jit(f)(x)
    assert inspect.isfunction(f)
