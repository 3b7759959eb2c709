"""Wrong programs: the kind of error, the words that help, and the user's own line."""

import builtins
import copy
import inspect
import pickle
import re
import traceback
import warnings
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import finished
from xtensor.ir import context

x = xt.array(np.ones((3, 4), "f4"), dims=("a", "b"))
b5 = xt.array(np.ones(5, "f4"), dims="b")
ints = xt.array(np.arange(4), dims="b")
f4 = xt.ones(i=2, dtype="f4")


def complex_halves() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that they are experimental
        return torch().ones(3, dtype=torch().chalf)


def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'xtensor-mlir[test-peers]'")


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
        (xt.DeviceError, RuntimeError),
        (xt.BundleError, ValueError),
        (xt.CompileError, RuntimeError),
        (xt.GradientError, ValueError),
        (xt.NonFiniteError, FloatingPointError),
        (xt.TracerError, RuntimeError),
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


@pytest.mark.parametrize("ask", [lambda f: f(x), lambda f: f.lower(x).as_text("linalg")], ids=["call", "as_text"])
def test_a_compiler_that_fails_without_a_reason_is_a_compile_error_at_the_users_line(monkeypatch, ask):
    def fails(*_):
        raise context.mlir().MLIRError("compilation failed", [])

    for name in ("compile", "as_text"):
        monkeypatch.setattr(context.compiler(), name, fails)
    with pytest.raises(xt.CompileError, match="compilation failed, and no pass says why") as caught:
        ask(xt.jit(lambda x: xt.sinh(x) * 3.0))
    inside = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename != __file__]
    assert len(inside) <= 1, inside  # the method called
    assert f"{__file__}:" in str(caught.value)


def test_inside_a_traced_function_the_line_is_the_functions():
    def loss(x, y):
        z = x * 2.0
        return z + y  # inside

    with pytest.raises(xt.SizeError) as caught:
        xt.jit(loss)(x, b5)
    assert str(caught.value).endswith(f"{__file__}:{line_of('inside')}")


def leaked():
    kept = []
    xt.jit(lambda x: kept.append(x.sum()) or x).trace(x)
    return kept[0]


def user_error(x):
    raise KeyError("mine")  # raised


@pytest.mark.parametrize(
    ("frames", "program"),
    [
        (1, lambda: x + b5),
        (1, lambda: x.sum("c")),
        (1, lambda: x[7]),
        (0, lambda: xt.sum(x, "c")),
        (0, lambda: xt.zeros(3)),
        (0, lambda: xt.array(np.ones(2))),
        (0, lambda: xt.isel(x, a=7)),
        (0, lambda: xt.jit(lambda x, y: xt.add(x, y))(x, b5)),
        (0, lambda: xt.grad(lambda x: x)(x)),
        (0, lambda: xt.vjp(lambda x: xt.sum(x, "c"), x)),
        (0, lambda: xt.jit(user_error)(x)),
        (0, lambda: xt.grad(user_error)(x)),
        (0, lambda: xt.jvp(user_error, (x,), (x,))),
        (1, lambda: x.at(c=0).set(1.0)),
        (1, lambda: x.at(a=np.ones((3, 4), bool)).set(0.0)),
        (1, lambda: x.at(a=[0, 1]).add(b5)),
        (1, lambda: x.at(a=9).get()),
        (1, lambda: np.ones((3, 4)) + x),
        (1, lambda: np.ones((3, 4)) @ x),
        (1, lambda: float(leaked())),
        (1, lambda: x.nothing),
        (0, lambda: xt.nothing),
        (0, lambda: xt.jit(lambda x: x.nothing)(x)),
        (0, lambda: xt.jit(lambda x: xt.nothing)(x)),
        (0, lambda: xt.fori_loop(0, 3, lambda i, c: None, x)),
        (0, lambda: xt.switch(0, lambda: 1)),
    ],
)
def test_tracebacks_hold_the_users_frames(frames, program):
    with pytest.raises((xt.Error, KeyError)) as caught:
        program()
    found = traceback.extract_tb(caught.value.__traceback__)
    assert sum("xtensor" in f.filename and f.filename != __file__ for f in found) <= frames
    if isinstance(caught.value, KeyError):
        assert found[-1].lineno == line_of("raised")


def outer_product(n):
    a, b, d = (xt.ones({dim: n}, dtype="f4") for dim in "abd")
    return xt.jit(lambda a, b, d: xt.sort(a * b * d, "a").isel(a=0, b=0, d=0))(a, b, d)


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
    "long complex": (xt.DTypeError, ["complex256"], lambda: xt.array(np.ones(2, "c32"), "a")),
    "complex as float": (xt.DTypeError, ["a.real"], lambda: xt.array(np.ones(2, complex), "a", dtype="f8")),
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
    "tangent count": (xt.ArgumentError, ["1 primal and 2"], lambda: xt.jvp(xt.tanh, (x,), (x, x))),
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
    "width beyond memory": (xt.SizeError, ["xt.pad", "'a'"], lambda: xt.pad(x, a=2**63)),
    "range beyond memory": (xt.SizeError, ["xt.arange", "'i'"], lambda: xt.arange(2**63)),
    "points beyond memory": (xt.SizeError, ["xt.linspace", "'i'"], lambda: xt.linspace(0, 1, 2**63)),
    "eye beyond memory": (xt.SizeError, ["xt.eye", "address space"], lambda: xt.eye(2**40)),
    "strides beyond memory": (xt.SizeError, ["xt.zeros", "(a: 0, ", "address space"], lambda: xt.zeros(a=0, b=2**62)),
    "size of many digits": (xt.SizeError, ["'a'", "16610 bits"], lambda: xt.zeros(a=10**5000)),
    "index of many digits": (xt.IndexError, ["'b'", "16610 bits"], lambda: ints.isel(b=10**5000)),
    "too many dims": (xt.DimensionError, ["70 dims", "64"], lambda: xt.ones({f"d{i}": 1 for i in range(70)})),
    "int beyond floats": (xt.ArgumentError, ["xt.multiply", "1329 bits", "float32"], lambda: f4 * 10**400),
    "int beyond floats, compared": (xt.ArgumentError, ["xt.less", "1329 bits", "float"], lambda: f4 < 10**400),
    "int beyond floats, divides": (xt.ArgumentError, ["xt.divide", "1329 bits"], lambda: ints / 10**400),
    "int beyond floats, traced": (xt.ArgumentError, ["1329 bits"], lambda: xt.jit(lambda x: x + 10**400)(f4)),
    "array of a large int": (xt.ArgumentError, ["1329 bits", "64 bits"], lambda: xt.array([1, 10**400], "a")),
    "float of a large int": (xt.ArgumentError, ["larger", "float32"], lambda: xt.array(10**400, dtype="f4")),
    "filled by a large int": (xt.ArgumentError, ["xt.full", "1329 bits"], lambda: xt.full({"a": 2}, 10**400)),
    "range of a large int": (xt.ArgumentError, ["xt.arange", "larger"], lambda: xt.arange(10**400)),
    "product beyond memory": (xt.SizeError, ["mul", "d: 4194304", "address space"], lambda: outer_product(2**22)),
    "spec beyond memory": (xt.ArgumentError, ["'a'"], lambda: xt.spec(a=2**63)),
    "spec of a bool": (xt.ArgumentError, ["'a'", "True"], lambda: xt.spec(a=True)),
    "decimals": (xt.ArgumentError, ["xt.round", "400"], lambda: xt.round(x, 400)),
    "names from DLPack": (xt.DimensionError, ["('a', 'b')"], lambda: xt.from_dlpack(np.ones(2), dims=("a", "b"))),
    "device": (xt.DeviceError, ["no device", "cudda"], lambda: xt.jit(lambda x: x, device="cudda")),
    "spec called": (xt.ArgumentTypeError, ["lower"], lambda: xt.jit(lambda x: x)(xt.spec(a=3))),
    "range of full": (xt.ArgumentError, ["300", "uint8"], lambda: xt.full(300, i=3, dtype="u1")),
    "range of pad": (xt.ArgumentError, ["300", "int8"], lambda: xt.pad(ints.astype("i1"), b=1, constant_values=300)),
    "set of names": (xt.ArgumentTypeError, ["order", "'a', 'b'"], lambda: xt.array(np.ones((2, 3)), dims={"b", "a"})),
    "set of new dims": (xt.ArgumentTypeError, ["order"], lambda: x.expand_dims({"c", "d"})),
    "set of summed dims": (xt.ArgumentTypeError, ["order"], lambda: xt.sum(x, dim={"a", "b"})),
    "set to dot over": (xt.ArgumentTypeError, ["order"], lambda: xt.dot(x, x, dim={"a", "b"})),
    "set to DLPack": (xt.ArgumentTypeError, ["order"], lambda: xt.from_dlpack(np.ones((2, 3)), {"a", "b"})),
    "frozen set": (xt.ArgumentTypeError, ["order"], lambda: xt.flip(x, frozenset({"a", "b"}))),
    "select of arrays": (xt.ArgumentTypeError, ["list"], lambda: xt.select(x > 0, x, 0)),
    "static position": (xt.ArgumentError, ["7", "2 (x, n)"], lambda: xt.jit(lambda x, n: x, static=7)),
    "static kind": (xt.ArgumentTypeError, ["2.5"], lambda: xt.jit(lambda x, n: x, static=2.5)),
    "dynamic dim": (xt.DimensionError, ["'nope'", "'a', 'b'"], lambda: xt.jit(lambda x: x, dynamic_dims="nope")(x)),
    "dynamic kind": (xt.ArgumentTypeError, ["3"], lambda: xt.jit(lambda x: x, dynamic_dims=3)),
    "spec of a set": (xt.ArgumentTypeError, ["dict"], lambda: xt.spec({"a"})),
    "ufunc": (xt.ArgumentTypeError, ["np.arcsin", "xt.asin(x)"], lambda: np.arcsin(x)),
    "ufunc of traced": (xt.ArgumentTypeError, ["np.sin", "xt.sin(x)"], lambda: xt.jit(lambda x: np.sin(x))(x)),
    "numpy function of traced": (
        xt.ArgumentTypeError,
        ["np.mean", "xt.mean(x)"],
        lambda: xt.jit(lambda x: np.mean(x))(x),
    ),
    "numpy reads traced": (xt.ArgumentTypeError, ["np.sort"], lambda: xt.jit(lambda x: np.sort(x))(x)),
    "axis": (xt.ArgumentTypeError, ["xt.mean", "dim='a'"], lambda: x.mean(axis=0)),
    "axis of function": (xt.ArgumentTypeError, ["xt.mean", "dim='a'"], lambda: xt.mean(x, axis=0)),
    "axis of traced": (xt.ArgumentTypeError, ["dim='a'"], lambda: xt.jit(lambda x: x.mean(axis=0))(x)),
    "keepdims": (xt.ArgumentTypeError, ["by name"], lambda: x.max(keepdims=True)),
    "dims for dim": (xt.ArgumentTypeError, ["dim='a'"], lambda: x.sum(dims="a")),
    "several dims": (xt.ArgumentTypeError, ["dim=('a', 'b')"], lambda: x.sum("a", "b")),
    "positional sizes": (xt.ArgumentTypeError, ["xt.zeros(row=3"], lambda: xt.zeros(3, 4)),
    "argnums": (xt.ArgumentTypeError, ["wrt=0"], lambda: xt.grad(lambda x: x.sum(), argnums=0)),
    "concat of one": (xt.ArgumentTypeError, ["list", "(a: 3, b: 4)"], lambda: xt.concat(x, dim="a")),
    "concat of a number": (xt.ArgumentTypeError, ["list"], lambda: xt.concat(5, dim="a")),
    "concat along two": (xt.ArgumentTypeError, ["one name", "('a',)"], lambda: xt.concat([x, x], dim=("a",))),
    "list to sum": (xt.ArgumentTypeError, ["xt.sum", "xt.array([1, 2, 3]"], lambda: xt.sum([1, 2, 3])),
    "list to add": (xt.ArgumentTypeError, ["xt.add", "xt.array([1, 2]", "(a: 3, b: 4)"], lambda: xt.add(x, [1, 2])),
    "matrix to add": (xt.DimensionError, ["xt.add", "(3, 4)", "float32 (a: 3, b: 4)"], lambda: x + np.ones((3, 4))),
    "string to exp": (xt.ArgumentTypeError, ["xt.exp", "the string 'a'"], lambda: xt.exp("a")),
    "repeated dim": (xt.DimensionError, ["xt.transpose", "twice"], lambda: x.transpose("a", "a")),
    "other sizes": (xt.SizeError, ["xt.add", "isel(b=slice(4))"], lambda: x + b5),
    "size 1": (xt.SizeError, ["does not stretch"], lambda: x + b5.isel(b=[0])),
    "ddof": (xt.ArgumentTypeError, ["xt.std", "ddof", "'a'"], lambda: x.std(ddof="a")),
    "ddof list": (xt.ArgumentTypeError, ["xt.var", "[1]"], lambda: x.var(ddof=[1])),
    "eps": (xt.ArgumentTypeError, ["layer_norm", "eps"], lambda: xt.nn.layer_norm(x, dim="a", eps="a")),
    "room of the op": (xt.DimensionError, ["xt.nn.softmax: there is no dim 'c'"], lambda: xt.nn.softmax(x, "c")),
    "room, by fail": (xt.DimensionError, ["xt.nn.layer_norm: no dim"], lambda: xt.nn.layer_norm(x, dim=())),
    "option of jit": (xt.ArgumentTypeError, ["statics", "dynamic_dims"], lambda: xt.jit(lambda x: x, statics=1)),
    "int while it runs": (
        xt.ArgumentError,
        ["xt.multiply: 300 does not fit int8"],
        lambda: xt.jit(lambda x, n: x.astype("i1") * n)(x, 300),
    ),
    "names as sizes": (xt.ArgumentTypeError, ["xt.zeros({"], lambda: xt.zeros(("a", "b"))),
    "unstack of name": (xt.ArgumentTypeError, ["x.unstack(b={"], lambda: x.unstack("b", c=2, d=2)),
    "split in words": (xt.ArgumentTypeError, ["xt.split(x, 2, dim='b')"], lambda: xt.split(x, "b", 2)),
    "bytes as dim": (xt.ArgumentTypeError, ["b'a'"], lambda: xt.sum(x, dim=b"a")),
    "array as value": (xt.DimensionError, ["float32 (a: 3, b: 4)"], lambda: xt.full(x, c=2)),
    "dataset": (xt.ArgumentTypeError, ["dataset[name]"], lambda: xt.array(xr.Dataset({"v": ("i", [1.0])}))),
    "tensor with grad": (xt.ArgumentTypeError, ["detach"], lambda: xt.array(torch().ones(3, requires_grad=True), "i")),
    "half complex DLPack": (
        xt.DTypeError,
        ["xt.from_dlpack", "code 5, 32 bits"],
        lambda: xt.from_dlpack(complex_halves(), "i"),
    ),
    "index while it runs": (
        xt.IndexError,
        ["xt.isel: index 7", "float32 (a: 3, b: 4)", "int64 (k: 1)", "mode="],
        lambda: xt.jit(lambda x, i: x.isel(a=i))(x, xt.array([7], "k")),
    ),
    "index at once": (xt.IndexError, ["xt.isel", "index 7", "'a'", "mode="], lambda: x.isel(a=xt.array([7], "k"))),
    "cotangent tree": (xt.ArgumentError, ["structure (*, *), got *"], lambda: xt.vjp(lambda x: (x, x), x)[1](x)),
    "spec size": (xt.ArgumentError, ["-1"], lambda: xt.spec(a=-1)),
}


@pytest.mark.parametrize("name", CASES)
def test_wrong_programs(name):
    kind, words, program = CASES[name]
    with pytest.raises(kind) as caught:
        finished(program())
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


@pytest.mark.parametrize(
    "find",
    [lambda n: {0: 5.0, 1: 6.0}.get(n, 1.0), lambda n: {0: 5.0}[n], lambda n: n in {0, 1}, lambda n: {n: 5.0}, hash],
)
def test_a_traced_number_is_not_a_key(find):
    """It would never be found, and the default would be taken without a word."""
    message = r"looks for an array by its hash: .*static argument, or choose by xt.switch\(i, branches\)"
    with pytest.raises(xt.ArgumentTypeError, match=message):
        xt.jit(lambda n: xt.ones(i=1) * find(n))(1)
    with pytest.raises(xt.ArgumentTypeError, match=message):
        xt.fori_loop(0, 3, lambda i, c: c + find(i), 0.0)
    assert xt.jit(lambda n: xt.ones(i=1) * {0: 5.0, 1: 6.0}.get(n, 1.0), static="n")(1).item() == 6.0


WRONG = {
    "attribute": lambda: x.nothing,
    "function": lambda: xt.nothing,
    "dim": lambda: x.sum("c"),
    "sizes": lambda: x + b5,
    "index": lambda: x.isel(a=9),
    "label": lambda: xr.DataArray([1.0], dims="i", coords={"i": [0]}).pipe(lambda a: xt.sel(a, i=7)),
    "memory": lambda: xt.zeros(a=2**40, b=2**20),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_go_to_other_processes(name):
    """With their line; a pool of processes would wait for ever for the result of a call whose error cannot."""
    with pytest.raises(xt.Error) as caught:
        WRONG[name]()
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(again) is type(caught.value) and again.args == caught.value.args
        assert getattr(again, "name", None) == getattr(caught.value, "name", None)
        assert again.parts[1].startswith(f"{__file__}:")
