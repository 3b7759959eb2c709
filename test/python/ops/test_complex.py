"""Complex arrays: memory, dtypes, arithmetic and moves against NumPy, eagerly and compiled; what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

RNG = np.random.default_rng(5)
A = (RNG.standard_normal((4, 3)) + 1j * RNG.standard_normal((4, 3))).astype("c8")
B = (RNG.standard_normal(3) + 1j * RNG.standard_normal(3)).astype("c8")
R = RNG.standard_normal(4).astype("f4")


def _multiplied(a: np.ndarray, by: np.ndarray) -> np.ndarray:
    a = a.copy()
    np.multiply.at(a, [2, 2, 0], by[:, None])
    return a


# Each function of z(t, s), w(s) and the real r(t), and the same in NumPy with the dims of the result in that order.
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda z, w, r: z + w, lambda a, b, r: a + b),
    "difference": (lambda z, w, r: z - w * 2, lambda a, b, r: a - b * 2),
    "product": (lambda z, w, r: z * w * z, lambda a, b, r: a * b * a),
    "real factor": (lambda z, w, r: r * z, lambda a, b, r: r[:, None] * a),
    "real summand": (lambda z, w, r: z - r + 2, lambda a, b, r: a - r[:, None] + 2),
    "quotient": (lambda z, w, r: z / w, lambda a, b, r: a / b),
    "real divisor": (lambda z, w, r: z / r, lambda a, b, r: a / r[:, None]),
    "real dividend": (lambda z, w, r: r / z + 1 / w, lambda a, b, r: r[:, None] / a + 1 / b),
    "negative": (lambda z, w, r: -z, lambda a, b, r: -a),
    "conj": (lambda z, w, r: xt.conj(z) * z.conj() + xt.conj(w * z), lambda a, b, r: a.conj() ** 2 + (b * a).conj()),
    "parts": (lambda z, w, r: z.real + xt.imag(z * w), lambda a, b, r: a.real + (a * b).imag),
    "made of parts": (lambda z, w, r: xt.complex(r, z.imag), lambda a, b, r: r[:, None] + 1j * a.imag),
    "angle": (lambda z, w, r: xt.angle(z), lambda a, b, r: np.angle(a)),
    "abs": (lambda z, w, r: abs(z), lambda a, b, r: abs(a)),
    "sign": (lambda z, w, r: xt.sign(z), lambda a, b, r: a / abs(a)),
    "integer powers": (lambda z, w, r: z**5 + z**-2 + z**0, lambda a, b, r: a**5 + a**-2 + 1),
    "powers": (lambda z, w, r: z**w + w**0.5 + 2**z, lambda a, b, r: a**b + b**0.5 + 2**a),
    "where": (lambda z, w, r: xt.where(r > 0, z, w), lambda a, b, r: np.where(r[:, None] > 0, a, b)),
    "equal": (lambda z, w, r: (z == z.real) | (w != w), lambda a, b, r: (a == a.real) | (b != b)),
    "isfinite": (lambda z, w, r: xt.isfinite(z / 0) | xt.isnan(w), lambda a, b, r: np.zeros(a.shape, bool)),
    "mean": (lambda z, w, r: z.mean("t"), lambda a, b, r: a.mean(0)),
    "total": (lambda z, w, r: (z * w).sum(), lambda a, b, r: (a * b).sum()),
    "std": (lambda z, w, r: z.std("t"), lambda a, b, r: a.std(0)),
    "norm": (lambda z, w, r: xt.norm(z, "s"), lambda a, b, r: np.linalg.norm(a, axis=1)),
    "prod": (lambda z, w, r: xt.prod(z, "t"), lambda a, b, r: a.prod(0)),
    "cumsum": (lambda z, w, r: xt.cumsum(z, "t", reverse=True), lambda a, b, r: a[::-1].cumsum(0)[::-1]),
    "cumprod": (lambda z, w, r: xt.cumprod(z, "t", reverse=True), lambda a, b, r: a[::-1].cumprod(0)[::-1]),
    "dot": (lambda z, w, r: xt.dot(z, w), lambda a, b, r: a @ b),
    "dot with real": (lambda z, w, r: z @ r, lambda a, b, r: r @ a),
    "outer": (lambda z, w, r: xt.dot(w, r, dim=()), lambda a, b, r: np.multiply.outer(b, r)),
    "dot of three": (lambda z, w, r: xt.dot(r, z, w), lambda a, b, r: r @ a @ b),
    "transpose": (lambda z, w, r: z.transpose("s", "t"), lambda a, b, r: a.T),
    "stack": (lambda z, w, r: z.stack(k=("s", "t")), lambda a, b, r: a.T.reshape(-1)),
    "unstack": (lambda z, w, r: z.unstack(t={"p": 2, "q": 2}), lambda a, b, r: a.T.reshape(3, 2, 2)),
    "concat": (
        lambda z, w, r: xt.concat([z, z * w, r * xt.ones_like(z)], "k"),
        lambda a, b, r: np.stack([a, a * b, r[:, None] * np.ones_like(a)]),
    ),
    "pad": (lambda z, w, r: z.pad(t=(1, 0), constant_values=2j), lambda a, b, r: np.vstack([np.full((1, 3), 2j), a])),
    "roll": (lambda z, w, r: xt.roll(z, t=1), lambda a, b, r: np.roll(a, 1, 0)),
    "diff": (lambda z, w, r: z.diff("t"), lambda a, b, r: np.diff(a, axis=0)),
    "rolling": (lambda z, w, r: z.rolling(t=2).sum()[1:], lambda a, b, r: a[1:] + a[:-1]),
    "isel": (lambda z, w, r: z.isel(t=[3, 0], s=slice(None, None, -1)), lambda a, b, r: a[[3, 0], ::-1]),
    "set": (lambda z, w, r: z.at(t=1).set(w), lambda a, b, r: np.vstack([a[:1], b[None], a[2:]])),
    "multiply twice": (
        lambda z, w, r: z.at(t=[2, 2, 0]).multiply(1j + xt.complex(r, r).isel(t=[0, 1, 2])),
        lambda a, b, r: _multiplied(a, 1j + (1 + 1j) * r[:3]),
    ),
    "divide by position of each": (
        lambda z, w, r: z.at(t=xt.array([1, 0, 1], "s")).divide(w),
        lambda a, b, r: np.where(np.arange(4)[:, None] == [1, 0, 1], a / b, a),
    ),
    "add twice": (lambda z, w, r: z.at(t=[2, 2]).add(1j), lambda a, b, r: a + np.eye(4)[2][:, None] * 2j),
    "fill": (lambda z, w, r: w.at(s=[0, 7]).get(mode="fill", fill_value=1j), lambda a, b, r: np.array([b[0], 1j])),
    "cast": (lambda z, w, r: r.astype("c8") + (r > 0).astype("c8") * 1j, lambda a, b, r: r + 1j * (r > 0)),
    "ones": (lambda z, w, r: xt.ones_like(w) + xt.full(1j, s=3, dtype="c8"), lambda a, b, r: np.full(3, 1 + 1j)),
}  # fmt: skip


def _all(z: Any, w: Any, r: Any) -> dict[str, Any]:
    return {name: f(z, w, r) for name, (f, _) in CASES.items()}


def _inputs() -> tuple[Any, ...]:
    return xt.array(A, dims=("t", "s")), xt.array(B, dims="s"), xt.array(R, dims="t")


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    return dict(xt.jit(_all)(*_inputs()))


@pytest.mark.parametrize("name", CASES)
def test_as_numpy_does(name: str, compiled: dict[str, Any]) -> None:
    f, reference = CASES[name]
    want = np.asarray(reference(A, B, R))
    for got in (f(*_inputs()), compiled[name]):
        assert got.dtype == {"c": "c8", "f": "f4", "b": "?"}[want.dtype.kind]
        assert got.shape == want.shape
        np.testing.assert_allclose(got.values, want, rtol=2e-5, atol=2e-6)


def test_memory_is_shared() -> None:
    with xt.option(device="cpu"):
        z = xt.array(A, dims=("t", "s"))
        assert np.shares_memory(z.values, A)
        assert np.shares_memory(np.from_dlpack(z), A)
        assert np.shares_memory(xt.from_dlpack(A, dims=("t", "s")).values, A)
        assert memoryview(z).format == "Zf"
        assert (pickle.loads(pickle.dumps(z)).values == A).all()
        assert repr(xt.array([1 + 2j, -1j], "t")) == "<xtensor.Array (t: 2) complex128>\n[ 1.+2.j -0.-1.j]"


def test_dataarrays_keep_their_coordinates() -> None:
    a = xr.DataArray(A, dims=("t", "s"), coords={"t": [1, 2, 3, 5]}, name="field")
    with xt.option(device="cpu"):
        got = xt.conj(a) * 1j
    xr.testing.assert_allclose(got, (a.conj() * 1j).rename(got.name))


WEAK = {
    "f2": "c8", "f4": "c8", "f8": "c16", "i1": "c16", "i8": "c16", "c8": "c8", "c16": "c16", "?": "c16",
}  # fmt: skip


@pytest.mark.float64
@pytest.mark.parametrize("dtype", WEAK)
def test_python_numbers_are_weak(dtype: str) -> None:
    x = xt.array(np.ones(2, dtype), "a")
    for f in (lambda x, k: x * k, xt.jit(lambda x, k: x * k)):
        got = f(x, 2j)
        assert got.dtype == WEAK[dtype] == np.result_type(np.ones(2, dtype), 2j)
        np.testing.assert_array_equal(got.values, [2j, 2j])
        assert f(x, 3j).values[0] == 3j


@pytest.mark.float64
def test_numbers_among_themselves_stay_weak() -> None:
    assert xt.exp(1j).weak
    assert xt.jit(lambda k: k * 2 + 1)(1j).item() == 1 + 2j
    assert xt.as_array(1j).weak
    assert not xt.array(1j).weak
    looped = xt.jit(lambda x: x * xt.fori_loop(0, 3, lambda i, c: c * (1 + 1j), 1j))(xt.ones(a=1, dtype="f4"))
    assert looped.dtype == "c8"
    np.testing.assert_allclose(looped.values, [1j * (1 + 1j) ** 3], rtol=1e-6)


@pytest.mark.float64
def test_dtypes_promote_as_in_numpy() -> None:
    for one in ("c8", "c16", "f4", "f8", "i2", "i8"):
        for other in ("c8", "c16"):
            x, y = np.ones(2, one), np.ones(2, other)
            assert (xt.array(x, "a") * xt.array(y, "a")).dtype == (x * y).dtype
    assert xt.complex(xt.ones(a=1, dtype="i8"), 0.0).dtype == "c16"
    assert xt.complex(xt.ones(a=1, dtype="f2"), 0.0).dtype == "c8"
    np.testing.assert_allclose(xt.linspace(0, 1 + 1j, 3).values, np.linspace(0, 1 + 1j, 3))
    with xt.option(default_float="f4"):
        assert xt.array([1j], "a").dtype == xt.full(1j, a=2).dtype == "c8"
        assert (xt.ones(a=1, dtype="i8") * 1j).dtype == "c8"


NO_ORDER, NO_VALUES = "no order", "real numbers alone"
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "max": (lambda z: z.max(), NO_ORDER),
    "argmin": (lambda z: xt.argmin(z), NO_ORDER),
    "sort": (lambda z: xt.sort(z, "t"), NO_ORDER),
    "median": (lambda z: xt.median(z), NO_ORDER),
    "less": (lambda z: z < 1j, NO_ORDER),
    "maximum": (lambda z: xt.maximum(z, 0), NO_ORDER),
    "cummax": (lambda z: xt.cummax(z), NO_VALUES),
    "clip": (lambda z: xt.clip(z, 0, 1), NO_VALUES),
    "at.max": (lambda z: z.at(t=1).max(2j), NO_ORDER),
    "floor": (lambda z: xt.floor(z), NO_VALUES),
    "round": (lambda z: xt.round(z), NO_VALUES),
    "erf": (lambda z: xt.erf(z), NO_VALUES),
    "hypot": (lambda z: xt.hypot(z, 1), NO_VALUES),
    "remainder": (lambda z: z % 2, NO_VALUES),
    "sigmoid": (lambda z: xt.sigmoid(z), NO_VALUES),
    "nn.softmax": (lambda z: xt.nn.softmax(z, "t"), NO_VALUES),
    "logsumexp": (lambda z: xt.logsumexp(z), NO_VALUES),
    "bitwise_and": (lambda z: z & z, "integers or bools"),
    "astype": (lambda z: z.astype("f4"), "z.real"),
    "float": (lambda z: float(z.sum()), "z.real"),
    "at.set": (lambda z: z.real.at(t=1).set(2j), "complex number"),
    "full": (lambda z: xt.full(1j, t=2, dtype="f4"), "complex64"),
    "linspace": (lambda z: xt.linspace(0, 1j, 3, dtype="f4"), "float32"),
    "pad": (lambda z: z.real.pad(t=1, constant_values=2j), "complex number"),
    "grad": (lambda z: xt.grad(lambda z: z.sum())(z), "z.real"),
    "jacobian": (lambda z: xt.jacobian(lambda z: z)(z), "holomorphic=True"),
    "forward": (lambda z: xt.jacobian(lambda z: z, mode="forward")(z), "xt.complex"),
    "hessian": (lambda z: xt.hessian(lambda z: (abs(z) ** 2).sum())(z), "xt.complex"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    f, instead = REFUSED[name]
    z = xt.array(A, dims=("t", "s"))
    with pytest.raises(xt.DTypeError) as caught:
        f(z)
    assert instead in str(caught.value)
    assert "~" not in str(caught.value)


def test_open_sizes() -> None:
    f = xt.jit(lambda z, w: (xt.exp(z) * w, xt.prod(z, "t"), z @ w), dynamic_dims=("t", "s"))
    for rows in (4, 2, 1):
        a = A[:rows]
        got = f(xt.array(a, dims=("t", "s")), xt.array(B, dims="s"))
        for x, want in zip(got, (np.exp(a) * B, a.prod(0), a @ B), strict=True):
            np.testing.assert_allclose(x.values, want, rtol=2e-5, atol=2e-6)


def test_loops_and_branches() -> None:
    def step(c: Any, x: Any) -> tuple[Any, Any]:
        c = xt.where(abs(c) > 2, c / 2, c * 0.5j + x)
        return c, c

    z, w, _ = _inputs()
    c, states = B, []
    for row in A:
        c = np.where(abs(c) > 2, c / 2, c * 0.5j + row)
        states.append(c)
    np.testing.assert_allclose(xt.scan(step, w, z, dim="t")[1].values, states, rtol=2e-5, atol=2e-6)
    doubled = xt.while_loop(lambda c: abs(c).max() < 10, lambda c: c * 2j, w)
    count = int(np.ceil(np.log2(10 / abs(B).max())))
    np.testing.assert_allclose(doubled.values, B * 2j**count, rtol=2e-5)
    chosen = xt.jit(lambda p, z: xt.cond(p, lambda z: z * 2, xt.conj, z))(xt.array(False), z)
    np.testing.assert_array_equal(chosen.values, A.conj())


def test_vectorized() -> None:
    def f(z: Any, w: Any) -> Any:
        return (z * w).sum() / xt.norm(z) * z

    got = xt.vectorize(f, "t")(*_inputs()[:2])
    want = (A * B).sum(1, keepdims=True) / np.linalg.norm(A, axis=1, keepdims=True) * A
    assert got.dims == ("t", "s")
    np.testing.assert_allclose(got.values, want, rtol=2e-5, atol=2e-6)


PARTS_OF_OTHER_DIMS: dict[str, Callable[[Any], Any]] = {
    "imag": xt.imag,
    "sum": lambda z: z.sum("a"),
    "mean": lambda z: z.mean("a").real,
    "cumsum": lambda z: z.cumsum("a"),
    "rename": lambda z: z.rename(a="k"),
    "isel": lambda z: z.isel(a=1),
    "plus": lambda z: (z + 2j).sum("a"),
    "concat": lambda z: xt.concat([z, 2 * z], "a"),
    "dot": lambda z: xt.dot(z, z, dim="a"),
}


@pytest.mark.parametrize("name", PARTS_OF_OTHER_DIMS)
def test_parts_that_lack_dims(name: str) -> None:
    """Each part is broadcast before anything is done to both."""
    f = PARTS_OF_OTHER_DIMS[name]
    x = xt.array([1.0, 2.0, 3.0], dims="a")
    for y in (xt.array(2.0), xt.array([1.0, 5.0], dims="b")):
        want, got = f(xt.complex(x, y)), xt.jit(lambda x, y: f(xt.complex(x, y)))(x, y)
        assert got.sizes == want.sizes
        np.testing.assert_allclose(got.values, want.transpose(*got.dims).values)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_the_angle_of_zeros_and_numbers_that_are_not_finite(dtype: str) -> None:
    """-0.0 has the angle pi: it is a number below 0 that was rounded."""
    parts = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    x = parts.astype(dtype)
    if np.dtype(dtype).kind == "c":
        x = np.empty((7, 7), dtype)
        x.real, x.imag = parts, parts[:, None]
    for f in (xt.angle, xt.jit(xt.angle)):
        np.testing.assert_allclose(f(xt.array(x, dims=tuple("ij")[: x.ndim])).values, np.angle(x), rtol=1e-6)
