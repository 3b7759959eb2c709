"""xt.random as a whole: known answers, keys, the same numbers everywhere, errors, dropout."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from places import DEVICE
from xtensor.random import threefry
from xtensor.testing import check_gradients

r = xt.random
KEY = 0x123456789ABCDEF0

# -- known answers ----------------------------------------------------------------------------------------------------

# Of Random123's kat_vectors, threefry2x32 with 20 rounds: counter, key, result.
KNOWN = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_known_answers_of_threefry(counter: tuple[int, int], key: tuple[int, int], result: tuple[int, int]) -> None:
    words = [xt.array(np.uint32(w)) for w in (*key, *counter)]
    found = xt.jit(lambda a, b, c, d: tuple(threefry.threefry(threefry.Stream(a, b), c, d)))(*words)
    assert tuple(int(w) for w in found) == result


def test_the_first_number_is_the_cipher_of_counter_0() -> None:
    assert int(r.bits(r.key(0), dtype="u8")) == 0x6B20015999BA4EFE
    assert int(r.bits(r.key(0))) == 0x6B200159 ^ 0x99BA4EFE


def threefry_of_numpy(key: int, positions: np.ndarray, high: int = 0) -> np.ndarray:
    """The same by another program, of NumPy alone: the second word of the counter counts."""
    with np.errstate(over="ignore"):
        a, b = np.uint32(key >> 32), np.uint32(key & 0xFFFFFFFF)
        keys = [a, b, a ^ b ^ np.uint32(0x1BD11BDA)]
        x = np.full(positions.shape, high, "u4") + keys[0]
        y = positions.astype("u4") + keys[1]
        for block in range(5):
            for turn in [(13, 15, 26, 6), (17, 29, 16, 24)][block % 2]:
                x = x + y
                y = ((y << np.uint32(turn)) | (y >> np.uint32(32 - turn))) ^ x
            x = x + keys[(block + 1) % 3]
            y = y + keys[(block + 2) % 3] + np.uint32(block + 1)
    return (x.astype("u8") << np.uint64(32)) | y


def test_counters_are_positions_in_the_dims_sorted_by_name() -> None:
    got = r.bits(r.key(KEY), b=3, a=5, dtype="u8")
    assert got.dims == ("b", "a")
    want = threefry_of_numpy(KEY, np.arange(15).reshape(5, 3))
    np.testing.assert_array_equal(got.transpose("a", "b").values, want)


def test_positions_beyond_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the last three elements along each dim: nobody has memory for all of them."""

    def last(dim: str, size: int, dtype: Any) -> Any:
        return threefry.build.constant(np.arange(size - 3, size).astype(dtype), (dim,))

    monkeypatch.setattr(threefry.build, "iota", last)
    high, low = xt.jit(lambda: tuple(threefry.position({"b": 2**21, "a": 2**20})))()
    want = (np.arange(2**20 - 3, 2**20) * 2**21)[:, None] + np.arange(2**21 - 3, 2**21)
    got = (high.values.astype("i8") << 32) + low.values
    assert low.dims == ("b", "a")
    np.testing.assert_array_equal(got.T, want)


def test_words_of_new_keys() -> None:
    new = [int(k.words) for k in r.split(r.key(KEY), 3)]
    np.testing.assert_array_equal(new, threefry_of_numpy(KEY, np.arange(3), high=0x80000000))
    folded = r.fold_in(r.key(KEY), (5 << 32) + 7)
    assert int(folded.words) == int(threefry_of_numpy(KEY, np.array(7), high=0x40000005))


# -- keys -------------------------------------------------------------------------------------------------------------


def test_seeds() -> None:
    assert int(r.key(-1).words) == 2**64 - 1
    assert int(r.key(np.int32(5)).words) == 5
    many = r.key(xt.arange(3, dim="chain"))
    assert many.dims == ("chain",) and many.sizes == {"chain": 3} and many.shape == (3,)
    assert [int(k.words) for k in many] == [0, 1, 2]
    assert int(xt.jit(r.key)(7).words) == 7


def test_an_array_of_keys_has_the_keys_of_a_tuple() -> None:
    key = r.key(3)
    several, array = r.split(key, 4), r.split(key, sample=4)
    assert [int(k.words) for k in several] == array.words.values.tolist()
    assert len(r.split(key)) == 2 and r.split(key, 0) == ()
    grid = r.split(array, chain=2)
    assert grid.dims == ("sample", "chain")
    assert int(grid.isel(sample=1, chain=1).words) == int(r.split(several[1], 2)[1].words)
    assert grid[1].rename(chain="c").dims == ("c",) and grid.transpose("chain", "sample").dims == ("chain", "sample")


def test_every_derived_key_differs() -> None:
    key = r.key(0)
    steps = r.fold_in(key, xt.arange(-50, 50, dim="step"))
    assert steps.dims == ("step",)
    words = [*r.split(key, n=100).words.values, *steps.words.values, *r.bits(key, n=100, dtype="u8").values]
    assert len(set(words)) == 300
    assert int(steps[51].words) == int(r.fold_in(key, 1).words)


def test_a_key_is_a_value() -> None:
    key = r.key(5)
    assert repr(key) == "<xtensor.random.Key 0x0000000000000005>"
    assert repr(r.split(key, a=2)) == "<xtensor.random.Key (a: 2)>"
    assert bool(key) and len(r.split(key, a=2)) == 2
    assert int(pickle.loads(pickle.dumps(key)).words) == int(copy.deepcopy(key).words) == 5
    assert xt.tree.leaves({"key": key})[0].dtype == np.dtype("u8")


def test_loops_carry_keys_and_go_over_arrays_of_keys() -> None:
    key = r.key(1)

    def step(key: Any, _: Any) -> tuple[Any, Any]:
        key, part = r.split(key)
        return key, r.normal(part, a=2)

    _, got = xt.jit(lambda key: xt.scan(step, key, None, dim="t", length=3))(key)
    for t in range(3):
        key, part = r.split(key)
        np.testing.assert_array_equal(got.isel(t=t).values, r.normal(part, a=2).values)
    keys = r.split(key, s=3)
    each = np.stack([r.uniform(k, a=2).values for k in keys])
    np.testing.assert_array_equal(xt.map(lambda k: r.uniform(k, a=2), keys, dim="s").values, each)
    np.testing.assert_array_equal(xt.vectorize(lambda k: r.uniform(k, a=2), "s")(keys).values, each)
    chosen = xt.cond(True, lambda k: r.fold_in(k, 1), lambda k: k, key)
    assert int(chosen.words) == int(r.fold_in(key, 1).words)


# -- the same numbers -------------------------------------------------------------------------------------------------


def everything(key: Any) -> dict[str, Any]:
    c = xt.array(np.array([1.0, 2.0, 0.5], "f4"), dims="c")
    eye = xt.eye(2, dtype="f4")
    return {
        "uniform": r.uniform(key, a=3, b=2, dtype="f4"),
        "normal": r.normal(key, b=2, a=3, dtype="f4"),
        "truncated": r.truncated_normal(key, -1.0, c),
        "gamma": r.gamma(key, c, a=3),
        "dirichlet": r.dirichlet(key, c, dim="c"),
        "student_t": r.student_t(key, c, a=2),
        "multivariate": r.multivariate_normal(key, c.rename(c="b").expand_dims({"row": 2}), eye, n=2),
        "poisson": r.poisson(key, c * 9, a=3),
        "binomial": r.binomial(key, 20, c / 4, a=2),
        "bernoulli": r.bernoulli(key, c / 3, a=2),
        "categorical": r.categorical(key, c, dim="c", n=3),
        "choice": r.choice(key, c, dim="c", d=2),
        "distinct": r.choice(key, c, dim="c", d=2, replace=False),
        "permutation": r.permutation(key, c, dim="c"),
        "randint": r.randint(key, 0, 10, a=3),
    }


def same_numbers(got: dict[str, Any], want: dict[str, Any], exact: bool = True) -> None:
    for name, y in want.items():
        x = got[name]
        assert {*x.dims} == {*y.dims} and x.dtype == y.dtype, name
        x = x.transpose(*y.dims)
        if exact or y.dtype != "f4" or name == "uniform":
            np.testing.assert_array_equal(x.values, y.values, err_msg=name)
        else:  # functions such as log are rounded in other ways there; sums in another order
            np.testing.assert_allclose(x.values, y.values, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.fixture(scope="module")
def each() -> list[dict[str, Any]]:
    """Of four keys, one after another."""
    with xt.option(device="cpu"):
        return [everything(k) for k in r.split(r.key(3), sample=4)]


def test_compiled_and_eager(each: list[dict[str, Any]]) -> None:
    same_numbers(xt.jit(everything)(r.split(r.key(3), 4)[2]), each[2], exact=DEVICE == "cpu")


@pytest.mark.parametrize("how", ["vectorize", "array of keys"])
def test_one_draw_for_each_of_many_keys(each: list[dict[str, Any]], how: str) -> None:
    keys = r.split(r.key(3), sample=4)
    got = xt.vectorize(everything, "sample")(keys) if how == "vectorize" else xt.jit(everything)(keys)
    for i, one in enumerate(each):
        same_numbers({n: x.isel(sample=i) for n, x in got.items()}, one, exact=False)


def test_dims_in_another_order_and_of_unknown_sizes() -> None:
    key = r.key(8)
    want = r.normal(key, a=3, b=4, dtype="f4").values
    got = r.normal(key, b=4, a=3, dtype="f4")
    assert got.dims == ("b", "a")
    np.testing.assert_array_equal(got.values.T, want)
    draw = xt.jit(lambda key, x: r.normal(key, x.sizes, dtype="f4"), dynamic_dims=("a", "b"))
    np.testing.assert_array_equal(draw(key, xt.zeros(b=4, a=3)).values.T, want)
    np.testing.assert_array_equal(draw(key, xt.zeros(a=3, b=4)).values, want)


def test_functions_of_arrays_of_unknown_size() -> None:
    def draws(key: Any, x: Any) -> Any:
        order = r.permutation(key, x.sizes["a"], dim="a")
        return (
            order, r.permutation(key, x, dim="a"), r.categorical(key, x, dim="a"), r.gamma(key, x + 1),
            r.poisson(key, x + 20), r.choice(key, x, dim="a", d=2), r.split(key, {"a": x.sizes["a"]}).words,
        )  # fmt: skip

    x = xt.array(np.arange(6, dtype="f4").reshape(2, 3), dims=("b", "a"))
    for got, want in zip(xt.jit(draws, dynamic_dims="a")(r.key(0), x), xt.jit(draws)(r.key(0), x), strict=True):
        assert got.dims == want.dims
        np.testing.assert_allclose(got.values, want.values, rtol=1e-6)


@pytest.mark.cpu_only("it compares a device with the CPU")
@pytest.mark.skipif(all(d.name != "vulkan" for d in xt.devices()), reason="this machine has no Vulkan device")
def test_a_device_draws_the_same_numbers(each: list[dict[str, Any]]) -> None:
    names = ("uniform", "normal", "gamma", "poisson", "categorical")
    draw = xt.jit(lambda key: {n: x for n, x in everything(key).items() if n in names})
    with xt.option(device="vulkan"):
        got = draw(r.split(r.key(3), 4)[2])
    assert got["normal"].device == "vulkan"
    same_numbers(got, {n: each[2][n] for n in names}, exact=False)


@pytest.mark.cpu_only("bundles for the CPU")
def test_bundles_take_and_give_keys(tmp_path: Path) -> None:
    def step(key: Any, x: Any) -> Any:
        key, part = r.split(key)
        return key, r.normal(part, x.sizes, dtype="f4") + x

    key, x = r.key(4), xt.zeros(b=2, a=3, dtype="f4")
    xt.export(step, args=(key, xt.spec(b=None, a=3, dtype="f4")), path=tmp_path / "m.xtb")
    new, got = xt.load(tmp_path / "m.xtb")(key, x)
    want, part = r.split(key)
    assert isinstance(new, r.Key) and int(new.words) == int(want.words)
    np.testing.assert_array_equal(got.values, r.normal(part, b=2, a=3, dtype="f4").values)


# -- dtypes, dims and parameters --------------------------------------------------------------------------------------


def test_dtypes() -> None:
    key = r.key(0)
    with xt.option(default_float="f4"):
        assert r.normal(key, a=2).dtype == r.gamma(key, 2.0, a=2).dtype == "f4"
    assert r.gamma(key, xt.ones(a=2, dtype="f4")).dtype == "f4"
    assert r.gamma(key, xt.ones(a=2, dtype="f4"), dtype="f8").dtype == "f8"
    assert r.uniform(key).dtype == "f8" and not r.uniform(key).weak
    for dtype, digits in (("f2", 11), ("bfloat16", 8), ("f4", 24)):
        x = r.uniform(key, a=5000, dtype=dtype).astype("f8").values * 2.0**digits
        assert (x == np.floor(x)).all() and x.min() >= 0 and x.max() < 2**digits
    for dtype in ("u1", "u2", "u4", "u8"):
        x = r.bits(key, a=500, dtype=dtype)
        assert x.dtype == dtype and np.bitwise_or.reduce(x.values) == np.iinfo(dtype).max


def test_sizes_and_the_dims_of_parameters() -> None:
    key, c = r.key(0), xt.array([1.0, 2.0, 3.0], dims="c")
    assert r.gamma(key, c, a=2).dims == ("a", "c")
    assert r.gamma(r.split(key, s=4), c, a=2).dims == ("s", "a", "c")
    assert r.gamma(key, c, {"a": 2}).sizes == {"a": 2, "c": 3}
    assert r.uniform(key, {"a": 2}).sizes == r.uniform(key, 0.0, 1.0, {"a": 2}).sizes == {"a": 2}
    assert r.uniform(key, 2.0, c, a=2).dims == ("a", "c")
    assert r.bernoulli(key, {"p": 2, "dtype": 3}).sizes == {"p": 2, "dtype": 3}
    assert r.normal(key).dims == () and r.normal(key, a=0).sizes == {"a": 0}
    # A parameter with the dim of the keys goes with them.
    keys, rates = r.split(key, s=3), c.rename(c="s")
    got = r.gamma(keys, rates, a=2)
    np.testing.assert_allclose(got.isel(s=1).values, r.gamma(keys[1], 2.0, a=2).values)


def test_parameters_out_of_range() -> None:
    key, bad = r.key(0), xt.array(np.array([-1.0, np.nan, 2.0], "f4"), dims="c")
    assert np.isnan(r.gamma(key, bad).values).tolist() == [True, True, False]
    assert np.isnan(r.student_t(key, bad).values).tolist() == [True, True, False]
    assert (r.poisson(key, bad).values == -1).tolist() == [True, True, False]
    assert (r.binomial(key, 5, bad).values == -1).tolist() == [True, True, True]
    assert r.binomial(key, xt.array([0, 5, 5], dims="c"), xt.array([0.5, 0.0, 1.0], dims="c")).values.tolist() == [
        0,
        0,
        5,
    ]
    assert r.poisson(key, 0.0).item() == 0
    assert r.randint(key, xt.array([5, 5], dims="c"), xt.array([5, 6], dims="c")).values.tolist() == [5, 5]
    far = r.truncated_normal(key, xt.array(np.array([50.0, -50.0, 1.0], "f4"), dims="c"), np.float32(40), dtype="f4")
    assert np.isnan(far.values[0]) and abs(far.values[1]) < 6 and 1 <= far.values[2] < 6


def test_labels_of_parameters_stay() -> None:
    xr = pytest.importorskip("xarray")
    rates = xr.DataArray(np.array([1.0, 2.0]), dims="c", coords={"c": ["x", "y"]})
    got = r.gamma(r.key(0), rates, a=3)
    assert got.coords["c"].values.tolist() == ["x", "y"] and got.dims == ("a", "c")


# -- choices ----------------------------------------------------------------------------------------------------------


def test_orders_and_choices_keep_rows_together() -> None:
    x = xt.array(np.arange(20.0).reshape(5, 4), dims=("a", "b"))
    rows = {tuple(v) for v in x.values.tolist()}
    shuffled = r.permutation(r.key(1), x, dim="a")
    assert shuffled.dims == ("a", "b") and {tuple(v) for v in shuffled.values.tolist()} == rows
    assert sorted(r.permutation(r.key(1), 6, dim="k").values.tolist()) == [*range(6)]
    drawn = r.choice(r.key(1), x, dim="a", d=3, replace=False)
    assert drawn.dims == ("d", "b") and len({tuple(v) for v in drawn.values.tolist()} & rows) == 3
    again = r.choice(r.key(1), x, dim="b", d=2, e=3)
    assert again.dims == ("a", "d", "e")
    by_key = r.choice(r.split(r.key(1), s=2), x, dim="a", d=3)
    assert by_key.dims == ("s", "d", "b")
    paired = r.permutation(r.split(r.key(1), b=4), x, dim="a")
    assert paired.dims == ("a", "b") and (np.sort(paired.values, 0) == x.values).all()


def test_what_has_no_probability_is_never_chosen() -> None:
    key, p = r.key(2), xt.array([0.0, 1.0, 3.0, 0.0], dims="i")
    assert {*r.choice(key, 4, p=p, n=500).values.tolist()} == {1, 2}
    assert {*r.choice(key, 4, p=p, n=2, replace=False).values.tolist()} == {1, 2}
    assert {*r.categorical(key, xt.log(p), dim="i", n=500).values.tolist()} == {1, 2}


# -- errors -----------------------------------------------------------------------------------------------------------

KEYS = r.split(r.key(0), s=3)
WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: r.normal(0, a=3), xt.ArgumentTypeError, "xt.random.normal: the first argument is a key, not 0"),
    (lambda: r.normal(r.Key(xt.ones(a=2))), xt.DTypeError, "the words of a key are uint64, not float64"),
    (lambda: r.bernoulli(r.key(0), p=1, a=3), xt.ArgumentTypeError, "Write xt.random.bernoulli(key, p, time=3)"),
    (lambda: r.uniform(r.key(0), low=0, high=1, a=3), xt.ArgumentTypeError, "takes 'low' by position"),
    (lambda: r.normal(r.key(0), loc=0, scale=1, a=3), xt.ArgumentTypeError, "loc=0 would be a dim"),
    (lambda: r.normal(r.key(0), 3), xt.ArgumentTypeError, "3 has none. Write xt.random.normal(key, row=3, col=4)"),
    (lambda: r.normal(KEYS, s=3), xt.DimensionError, "the keys have the dim 's'"),
    (lambda: r.normal(r.key(0), a=3, dtype="i4"), xt.DTypeError, "gives floats, not int32"),
    (lambda: r.uniform(r.key(0), {"a": 2}, 1.5), xt.ArgumentError, "sizes come last"),
    (lambda: r.key(1.5), xt.DTypeError, "a seed is an integer"),
    (lambda: r.key(2**64), xt.ArgumentError, "an int of 64 bits"),
    (lambda: r.key(r.key(0)), xt.ArgumentTypeError, "it is a key already"),
    (lambda: r.split(r.key(0), -1), xt.ArgumentError, "0 or more, not -1"),
    (lambda: r.fold_in(r.key(0), 0.5), xt.DTypeError, "data is an integer"),
    (lambda: len(r.key(0)), xt.ArgumentTypeError, "a single key has no length"),
    (lambda: [*r.key(0)], xt.ArgumentTypeError, "Write a, b = xt.random.split"),
    (lambda: xt.exp(r.key(0)), xt.ArgumentTypeError, "got a Key"),
    (lambda: r.bits(r.key(0), dtype="f4"), xt.DTypeError, "unsigned integers, not float32"),
    (lambda: r.randint(r.key(0), 5, 5), xt.ArgumentError, "low is 5 and high is 5"),
    (lambda: r.randint(r.key(0), 0, 300, dtype="u1"), xt.ArgumentError, "300 does not fit"),
    (lambda: r.randint(r.key(0), 0, 2.5), xt.DTypeError, "bounds are integers"),
    (lambda: r.categorical(r.key(0), xt.zeros(a=3), dim="a", a=2), xt.DimensionError, "the sizes have the dim 'a'"),
    (lambda: r.categorical(r.key(0), xt.zeros(a=0), dim="a"), xt.SizeError, "nothing to choose"),
    (lambda: r.categorical(KEYS, xt.zeros(s=3), dim="s"), xt.DimensionError, "the keys have the dim 's'"),
    (lambda: r.dirichlet(KEYS, xt.ones(s=3), dim="s"), xt.DimensionError, "the keys have the dim 's'"),
    (lambda: r.choice(r.key(0), 5, d=6, replace=False), xt.SizeError, "6 positions out of 5"),
    (lambda: r.choice(r.key(0), 5, replace=False), xt.ArgumentError, "takes one size"),
    (lambda: r.choice(r.key(0), 0), xt.ArgumentError, "nothing to choose from"),
    (lambda: r.choice(r.key(0), 5, p=xt.ones(i=4)), xt.SizeError, "p has 4 probabilities for 5"),
    (lambda: r.gamma(r.key(0), xt.ones(a=2), a=3), xt.SizeError, "dim 'a' has size 3 here and 2 there"),
    (lambda: r.poisson(r.key(0), 2.0, dtype="f4"), xt.DTypeError, "signed integers"),
    (lambda: r.key(0) + 1, xt.ArgumentTypeError, "arithmetic. Write xt.random.fold_in(key, i)"),
    (lambda: 2 * r.key(0), xt.ArgumentTypeError, "a key is not a number"),
    (lambda: xt.jit(lambda k: r.normal(k % 7))(r.key(0)), xt.ArgumentTypeError, "a key is not a number"),
    (lambda: r.multivariate_normal(r.key(0), 0.0, xt.eye(a=2, b=2)), xt.DimensionError, "has: dims=('a', 'b')"),
    (lambda: r.multivariate_normal(r.key(0), 0.0, xt.ones(a=2)), xt.DimensionError, "variance * xt.eye(row=3, col=3)"),
    (
        lambda: r.multivariate_normal(r.key(0), xt.zeros(p=2), xt.eye(a=2, b=2), dims=("a", "b")),
        xt.DimensionError,
        "lacks dim 'a' of the covariance, and has 'p' (operands: float64 (p: 2), float64 (a: 2, b: 2)). Write mean."
        "rename({'p': 'a'}); for one number along all of 'a', mean.expand_dims({'a': 2})",
    ),
    (lambda: r.multivariate_normal(KEYS, xt.zeros(q=3, p=2), xt.eye(2)), xt.DimensionError, "rename({'p': 'row'})"),
    (
        lambda: xt.jit(r.multivariate_normal, dynamic_dims="p")(r.key(0), xt.zeros(p=2), xt.eye(2)),
        xt.DimensionError,
        "mean.rename({'p': 'row'})",
    ),
    (lambda: r.multivariate_normal(r.key(0), 0.0, xt.eye(2), row=2), xt.DimensionError, "Leave row= out"),
    (lambda: r.multivariate_normal(r.key(0), xt.zeros(col=2), xt.eye(2)), xt.DimensionError, "Its dim is 'row'"),
    (lambda: xt.nn.dropout(r.key(0), xt.ones(a=2), 1.0), xt.ArgumentError, "from 0 to below 1, not 1.0"),
    (lambda: r.randn, AttributeError, "write xt.random.normal"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as error:
        call()
    assert text in str(error.value)


@pytest.mark.cpu_only("the memory of programs for the CPU")
def test_a_draw_fuses_into_what_reads_it() -> None:
    key, x = r.key(0), xt.ones(a=300, b=400, dtype="f4")
    programs: tuple[Callable[[Any, Any], Any], ...] = (
        lambda key, x: x + 0.1 * r.normal(key, x.sizes, dtype="f4"),
        lambda key, x: xt.mean(r.uniform(key, x.sizes, dtype="f4") * x),
        lambda key, x: xt.nn.softmax(x + r.normal(key, x.sizes, dtype="f4"), "b"),
        lambda key, x: r.categorical(key, x, dim="b"),
    )
    for program in programs:
        assert xt.jit(program).cost(key, x)["arena"] < 300 * 400


# -- dropout ----------------------------------------------------------------------------------------------------------


def test_dropout() -> None:
    key, x = r.key(6), xt.ones(a=300, b=200, dtype="f4")
    y = xt.nn.dropout(key, x, 0.25)
    assert y.dtype == "f4" and {*np.unique(y.values).tolist()} == {0.0, float(np.float32(1 / 0.75))}
    assert abs((y.values == 0).mean() - 0.25) < 0.01
    np.testing.assert_array_equal(xt.nn.dropout(key, x, 0.0).values, x.values)
    masks = xt.nn.dropout(r.split(key, s=2), xt.ones(a=64), 0.5)
    assert masks.dims == ("s", "a") and (masks.values[0] != masks.values[1]).any()
    check_gradients(lambda x: xt.nn.dropout(key, x, 0.3) ** 2, (xt.array(np.arange(1.0, 9), dims="i"),), order=2)


@pytest.mark.cpu_only("the memory of programs for the CPU")
def test_the_gradient_of_dropout_stores_no_mask() -> None:
    n, layers = 200, 3
    x, w = xt.ones(row=n, col=n, dtype="f4"), [xt.ones(col=n, k=n, dtype="f4") for _ in range(layers)]

    def loss(w: Any, x: Any, key: Any, drop: bool) -> Any:
        for i, v in enumerate(w):
            x = xt.tanh(xt.dot(x, v, dim="col").rename(k="col"))
            x = xt.nn.dropout(r.fold_in(key, i), x, 0.5) if drop else x
        return xt.sum(x)

    def arena(drop: bool) -> int:
        return int(xt.jit(lambda w, x, key: xt.grad(loss)(w, x, key, drop)).cost(w, x, r.key(0))["arena"])

    # Of each layer but the last one, what the next one multiplies is kept beside the tanh.
    assert arena(drop=True) < arena(drop=False) + (layers - 1) * n * n * 4 + 4096


def test_numbers_that_round_to_the_upper_bound_do_not_occur() -> None:
    x = xt.random.uniform(xt.random.key(0), 1.0, 2.0, i=100_000, dtype="f2").values
    assert x.min() == 1.0 and x.max() < 2.0
    assert (xt.random.uniform(xt.random.key(0), 3.0, 3.0, i=9).values == 3.0).all()


def test_infinitely_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    key = xt.random.key(1)
    got = xt.random.student_t(key, np.inf, i=5, dtype="f4")
    np.testing.assert_array_equal(got.values, xt.random.normal(key, i=5, dtype="f4").values)


@pytest.mark.float64
def test_dropout_of_complex_numbers() -> None:
    key, z = xt.random.key(3), np.array([1 + 1j, 2j, 3.0, 4.0])
    mask = xt.nn.dropout(key, xt.ones(i=4), 0.5).values
    np.testing.assert_array_equal(xt.nn.dropout(key, xt.array(z, dims="i"), 0.5).values, z * mask)


def test_a_mean_that_is_one_number_for_each_draw() -> None:
    key, cov = r.key(0), xt.eye(2)
    for found in (
        r.multivariate_normal(key, xt.array([0.0, 5.0, 9.0], "draw"), cov, draw=3),
        r.multivariate_normal(key, xt.array([0.0, 5.0, 9.0], "draw").expand_dims({"row": 2}), cov),
        r.multivariate_normal(key, xt.array([0.0, 5.0, 9.0], "draw"), cov * xt.ones(draw=3)),
        r.multivariate_normal(r.split(key, draw=3), xt.array([0.0, 5.0, 9.0], "draw"), cov),
    ):
        assert found.sizes == {"draw": 3, "row": 2}
    assert r.multivariate_normal(key, 3.0, cov, draw=3).sizes == {"draw": 3, "row": 2}


def test_draws_over_as_many_elements_as_a_word_counts() -> None:
    """No memory holds them, but a program that sums them may be traced."""
    for sizes in ({"n": 2**32}, {"a": 2**16, "b": 2**16}, {"a": 2**31, "b": 2}):
        text = xt.jit(lambda key, s=sizes: xt.sum(r.bits(key, s))).lower(r.key(0)).as_text("traced")
        assert re.search(r"iota : <\w: \d+, ui32>", text)  # positions of 32 bits


@pytest.mark.parametrize("compiled", [False, True])
def test_the_only_dim_is_the_one_that_is_shuffled(compiled: bool) -> None:
    x = xt.arange(5.0, dim="space")
    for f in (lambda x: r.permutation(r.key(0), x), lambda x: r.choice(r.key(0), x, draw=5, replace=False)):
        got = (xt.jit(f) if compiled else f)(x)
        assert got.dims in (("space",), ("draw",))
        assert sorted(got.values) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert r.permutation(r.key(0), 5).dims == ("i",)
