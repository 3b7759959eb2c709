"""Each function of the rooms, called with one wrong argument: an error of ours that is about the argument."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from wrong_calls import WORKING, function, wrong_calls

pytestmark = pytest.mark.cpu_only("arguments are refused before a device sees them")

# What a message says only if nobody wrote it for the argument.
INTERNAL = re.compile(r"NoneType|builtin|not iterable|has no attribute|unsupported operand|<lambda>|Tracer|~| at 0x")
ROOMS = ("fft", "linalg", "nn", "optim", "random", "signal")
MORE = {  # called as others of the table are
    "fft": ("hfft", "idct", "idst", "dst", "ifft", "ifftshift", "ihfft", "rfft", "rfftfreq"),
    "linalg": ("eigvals",),
    "random": ("cauchy", "exponential", "gumbel", "laplace", "logistic"),
}


def test_the_table_has_all_functions() -> None:
    here = {name for name, _, _ in WORKING}
    for room in ROOMS:
        names = {
            f"{room}.{n}" for n in getattr(xt, room).__all__ if not isinstance(getattr(getattr(xt, room), n), type)
        }
        assert names - here == {f"{room}.{n}" for n in MORE.get(room, ())}


@pytest.mark.parametrize("room", ROOMS)
def test_a_wrong_argument_is_told(room: str) -> None:
    refused = 0
    for name, args, kwargs in WORKING:
        if not name.startswith(f"{room}."):
            continue
        function(name)(*args, **kwargs)
        for what, call in wrong_calls(name, args, kwargs):
            try:
                call()
            except xt.Error as error:
                refused += 1
                assert not INTERNAL.search(str(error)), f"{what}: {error}"
            except Exception as error:
                raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    assert refused > 40


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: xt.random.normal(xt.random.key(0), (3, 4)), TypeError, r"normal\(key, row=3, col=4\)"),
        (
            lambda: xt.random.normal(xt.random.key(0), 3, 4),
            TypeError,
            r"\(3, 4\) has none. .*normal\(key, row=3, col=4\)",
        ),
        (lambda: xt.random.uniform(xt.random.key(0), (3, 4)), TypeError, r"uniform\(key, low, high, row=3, col=4\)"),
        (lambda: xt.random.normal(xt.random.key(0), shape=(3, 4)), TypeError, "sizes have names, and shape="),
        (lambda: xt.zeros((3, 4)), TypeError, r"Write xt.zeros\(row=3, col=4\)"),
        (lambda: xt.where(xt.ones(a=2) > 0), TypeError, r"xt.nonzero\(condition\)"),
        (lambda: xt.where(xt.ones(a=2) > 0, 1.0), TypeError, r"x.where\(condition\)"),
        (lambda: xt.optim.adam("fast"), TypeError, "rate is a number or a schedule, not the string 'fast'"),
        (lambda: xt.optim.adam(0.1, b1=None), TypeError, "b1 is a number, not None"),
        (lambda: xt.optim.adam(learning_rate=0.1), TypeError, r"xt.optim.adam: .* Write rate= for learning_rate="),
        (lambda: xt.optim.lbfgs(lambda x: x, None), TypeError, "parameters hold no array: None"),
        (
            lambda: xt.linalg.lu_solve((1, 2, 3), xt.ones(row=2), "row"),
            xt.DimensionError,
            "row and column dim, not 'row'",
        ),
        (lambda: xt.fft.fft(len), TypeError, "got the function len"),
    ],
)
def test_what_is_said(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says) as caught:
        call()
    assert isinstance(caught.value, xt.Error)


@pytest.mark.parametrize("wrong", [object(), np.random.default_rng(0), abs, "s"])
@pytest.mark.parametrize("name", ["head", "tail", "thin", "bincount", "unique", "nonzero", "square"])
def test_what_cannot_be_an_array_is_told(name: str, wrong: Any) -> None:
    with pytest.raises(xt.Error, match=rf"xt\.{name}: ") as caught:
        getattr(xt, name)(wrong)
    assert not INTERNAL.search(str(caught.value))


@pytest.mark.parametrize("wrong", [object(), np.random.default_rng(0), lambda: 0])
def test_objects_are_shown_without_their_addresses(wrong: Any) -> None:
    assert " at 0x" in repr(wrong).lower()
    x = xt.ones(i=3)
    for call in (
        lambda: xt.ones(i=3, dtype=wrong), lambda: xt.pad(x, i=1, mode=wrong), lambda: xt.diff(x, wrong),
        lambda: xt.arange(wrong), lambda: x.to(wrong), lambda: xt.random.normal(wrong, i=3),
        lambda: xt.take(x, wrong, "i"),
    ):  # fmt: skip
        with pytest.raises(xt.Error) as caught:
            call()
        assert " at 0x" not in str(caught.value).lower()


def test_an_array_of_one_integer_is_a_size() -> None:
    assert xt.zeros(t=xt.array(3)).sizes == xt.jit(lambda: xt.ones(t=xt.array(3)))().sizes == {"t": 3}
