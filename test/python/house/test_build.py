"""Building ops: constants of every dtype, and what the dialect refuses as an error of the right kind."""

import numpy as np
import pytest
import xtensor as xt
from xtensor.trace import build, program
from xtensor.values.spec import Spec

F4, I4 = np.dtype("f4"), np.dtype("i4")
ARGUMENTS = [
    Spec(("a", "b"), (3, 4), F4),
    Spec(("b",), (5,), F4),
    Spec(("b",), (4,), I4),
    Spec(("b",), (4,), F4),
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array(True), "dense<true> : tensor<i1> as <i1>"),
        (np.array([True, False]), "dense<[true, false]> : tensor<2xi1> as <x: 2, i1>"),
        (np.array(-3, "i1"), "dense<-3> : tensor<i8> as <i8>"),
        (np.array(2**64 - 1, "u8"), "dense<18446744073709551615> : tensor<ui64> as <ui64>"),
        (np.array([1, 2], "u2"), "dense<[1, 2]> : tensor<2xui16> as <x: 2, ui16>"),
        (np.array(1.5, xt.bfloat16), "dense<1.500000e+00> : tensor<bf16> as <bf16>"),
        (np.array([1.5, 2], xt.bfloat16), "dense<[1.500000e+00, 2.000000e+00]> : tensor<2xbf16>"),
        (np.array([1.5, 2], "f2"), "dense<[1.500000e+00, 2.000000e+00]> : tensor<2xf16>"),
        (np.array(np.inf), "dense<0x7FF0000000000000> : tensor<f64> as <f64>"),
        (np.zeros((2, 0)), "dense<> : tensor<2x0xf64> as <x: 2, y: 0, f64>"),
        (np.arange(4).reshape(2, 2).T, "dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>"),
    ],
)
def test_constants(value, text):
    traced = program.trace(lambda _: build.constant(value, tuple("xyz"[: value.ndim])), [])
    assert text in str(traced.module)


@pytest.mark.parametrize(
    ("kind", "words", "body"),
    [
        (xt.SizeError, ['"b"', "4 and 5"], lambda a: build.binary("add", a[0], a[1])),
        (xt.DTypeError, ["f32", "i32"], lambda a: build.binary("add", a[0], a[2])),
        (xt.DTypeError, ["floats"], lambda a: build.binary("div", a[2], a[2])),
        (xt.DimensionError, ['"q"', "a: 3"], lambda a: build.reduce("sum", a[0], ("q",))),
        (xt.DimensionError, ['"q"'], lambda a: build.contract([a[0], a[3]], ("q",))),
        (xt.SizeError, ["9 elements", "size 3"], lambda a: build.slice(a[0], {"a": (0, 9, 1)})),
        (xt.SizeError, ["size 3, not 1"], lambda a: build.squeeze(a[0], ("a",))),
        (xt.DTypeError, ["integers"], lambda a: build.gather("raise", a[0], {"a": a[3]})),
        (xt.DimensionError, ["lacks dim"], lambda a: build.broadcast(a[0], ("b",))),
    ],
)
def test_what_the_dialect_refuses(kind, words, body):
    with pytest.raises(kind) as caught:
        program.trace(body, ARGUMENTS)
    for word in [*words, f"at {__file__}:"]:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["batch", "f32", "index", "größe", "a b", 'quo"te', "back\\slash", "x-1", "日本"])
def test_any_name_survives_the_ir(name):
    x = xt.array(np.ones((2, 3), "f4"), dims=(name, "other"))
    traced = xt.jit(lambda v: v.rename({"other": name, name: "other"})).trace(x)
    assert traced.outputs[0].dims == ("other", name)


def test_an_op_costs_little_ir():
    traced = program.trace(lambda a: a[0] + a[3], ARGUMENTS)
    assert len(traced.main.regions[0].blocks[0].operations) == 2
