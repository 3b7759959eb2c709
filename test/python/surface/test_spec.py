"""xt.Spec: the constructor checks what it is given, and the result is like that of xt.spec."""

import pickle

import numpy as np
import pytest
import xtensor as xt

F4 = xt.spec(i=3, dtype="f4")


@pytest.mark.parametrize("dtype", ["f4", "float32", np.float32, np.dtype("f4")])
@pytest.mark.parametrize("dims", ["i", ("i",), ["i"]])
def test_spellings_are_equal(dims, dtype):
    spec = xt.Spec(dims, [np.int64(3)], dtype)
    assert spec == F4 == pickle.loads(pickle.dumps(spec))
    assert hash(spec) == hash(F4)
    assert repr(spec) == "Spec(i: 3, float32)"


def test_it_serves_where_a_type_is_asked_for():
    spec = xt.Spec(("i",), (3,), "f4")
    x = xt.array([3.0, 1.0, 2.0], "i", dtype="f4")
    f = xt.jit(lambda x: xt.callback(lambda x: np.sort(x.values), x, result=spec))
    assert f(x).values.tolist() == [1.0, 2.0, 3.0]
    assert f.lower(spec).outputs == (spec,)


WRONG = {
    "dtype": (("i", (3,), "f3"), xt.DTypeError, "'f3' is not a dtype"),
    "negative": (("i", (-3,), "f4"), xt.ArgumentError, "the size of 'i' is a non-negative int or None, got -3"),
    "fraction": (("i", (3.0,), "f4"), xt.ArgumentError, "got 3.0"),
    "bool": (("i", (True,), "f4"), xt.ArgumentError, "got True"),
    "large": (("i", (2**63,), "f4"), xt.ArgumentError, "above"),
    "count": ((("i", "j"), (3,), "f4"), xt.SizeError, r"the dims are \(i, j\), and the sizes \(3,\). Give one size"),
    "number": (("i", 3, "f4"), xt.ArgumentTypeError, r"a size for each of \(i\), and is not 3. Write xt.Spec"),
    "dict": (("i", {"i": 3}, "f4"), xt.ArgumentTypeError, "Write xt.Spec"),
    "set": ((("i", "j"), {3, 4}, "f4"), xt.ArgumentTypeError, "a set has no order"),
    "twice": ((("i", "i"), (3, 3), "f4"), xt.DimensionError, "name 'i' twice"),
    "axis": (((0,), (3,), "f4"), xt.ArgumentTypeError, "There are no axis numbers"),
    "internal": (("i~", (3,), "f4"), xt.DimensionError, "must not be empty or contain '~'"),
    "weak": (("i", (3,), "f4", "yes"), xt.ArgumentTypeError, "weak is True or False, not the string 'yes'"),
    "missing": (("i", (3,)), xt.ArgumentTypeError, "missing a required argument: 'dtype'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    arguments, kind, message = WRONG[name]
    with pytest.raises(kind, match=f"xt.Spec: .*{message}"):
        xt.Spec(*arguments)


@pytest.mark.parametrize("use", [xt.sin, xt.sum, xt.zeros_like, lambda s: xt.ones(i=3) + s])
def test_it_has_no_values(use):
    with pytest.raises(xt.ArgumentTypeError, match=r"Spec\(i: 3, float32\) has no values"):
        use(F4)


@pytest.mark.parametrize("cls", [xt.Spec, xt.Array])
def test_a_class_is_not_an_array(cls):
    for f in (xt.sin, xt.jit(lambda x: x), lambda c: xt.jit(lambda x: c)(1.0)):
        with pytest.raises(xt.ArgumentTypeError, match=f"the class {cls.__name__}"):
            f(cls)


def test_a_class_that_a_function_reads_is_no_reason_to_fail():
    kind = xt.Spec
    for n in (2, 3):
        xt.jit(lambda x: xt.callback(lambda x: x, x, result=kind(x.dims, x.shape, "f8")))(xt.ones(i=n))
