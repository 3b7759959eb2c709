"""A function may catch what an op with a region raises, and trace on: nothing of the op stays in the program."""

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

X = xt.array([0.5, 1.0, 2.0], "t")


def fails(*_):
    raise KeyError("of the user")


def unlike(x):
    """The branches differ once both are traced."""
    return xt.cond(x.sum() > 0, lambda: x, lambda: x.sum())


RAISING = {
    "callback": lambda x: xt.callback(np.sort, x, result=x, derivative=lambda x: None),
    "checkpoint": lambda x: xt.checkpoint(fails)(x),
    "cond": unlike,
    "custom_derivative": lambda x: xt.custom_derivative(fails)(x),
    "grad": lambda x: xt.grad(fails)(x),
    "jvp": lambda x: xt.jvp(fails, (x,), (x,)),
    "nested": lambda x: xt.vectorize(lambda v: xt.scan(fails, v, xt.zeros(k=2), dim="k"), "t")(x),
    "scan": lambda x: xt.scan(fails, 0.0, x, dim="t"),
    "switch": lambda x: xt.switch(x.argmax("t"), [lambda: x, fails]),
    "vectorize": lambda x: xt.vectorize(fails, "t")(x),
    "while_loop": lambda x: xt.while_loop(lambda c: c < 3, lambda c: x, 0.0),
}


@pytest.mark.parametrize("kind", RAISING)
def test_a_function_goes_on(kind):
    def attempt(x):
        with pytest.raises((KeyError, xt.Error)):
            RAISING[kind](x)
        return x * 2.0

    expected = X.values * 2.0
    np.testing.assert_array_equal(xt.jit(attempt)(X).values, expected)
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(attempt(x)))(X).values, [2.0, 2.0, 2.0])
    carry, each = xt.jit(lambda x: xt.scan(lambda c, _: (attempt(c), c.sum()), x, xt.zeros(k=2), dim="k"))(X)
    np.testing.assert_array_equal(carry.values, 2.0 * expected)
    np.testing.assert_array_equal(each.values, [3.5, 7.0])


def test_labels_stay_with_their_values():
    def sliced(d):
        before = d.isel(t=slice(1, 3))
        with pytest.raises(KeyError):
            xt.vectorize(lambda v: fails(v * 2.0), "t")(before)
        after = before.isel(t=slice(1, 2))
        return before + 1.0, after + 1.0

    d = xr.DataArray([1.0, 2.0, 3.0], dims="t", coords={"t": [10, 20, 30]})
    before, after = xt.jit(sliced)(d)
    assert list(before.t.values) == [20, 30]
    assert list(after.t.values) == [30]


def test_a_value_of_the_op_is_refused():
    kept = []

    def leak(x):
        with pytest.raises(KeyError):
            xt.vectorize(lambda v: kept.append(v * 2.0) or fails(), "t")(x)
        return x + kept[0]

    with pytest.raises(xt.TracerError, match="was used outside of the function"):
        xt.jit(leak)(X)
