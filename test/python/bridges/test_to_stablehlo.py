"""xt.to_stablehlo: the text of a function, which JAX runs to the numbers of the function itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import jax_or_skip
from stablehlo_texts import run

jax = jax_or_skip()

pytestmark = pytest.mark.cpu_only("JAX runs on the CPU here")

R = np.random.default_rng(0)


def normal(dims: Any, *shape: int) -> Any:
    return xt.array(R.standard_normal(shape), dims)


x, k, s, square = normal(("s", "k"), 5, 7), normal("k", 7), normal("s", 5), normal(("k", "j"), 7, 7)
positive = xt.array(np.abs(x.values) + 0.1, x.dims)
image, kernel = normal(("b", "h", "w", "c"), 2, 6, 7, 3), normal(("kh", "kw", "c", "o"), 3, 2, 3, 4)
at = xt.array(np.array([3, -1, 0, 0]), "p")
z = xt.array(x.values + 1j * R.standard_normal((5, 7)), x.dims)
n, m = xt.array(R.integers(-9, 9, (5, 7)), x.dims), xt.array(R.integers(-3, 4, 7), "k")
u = xt.array(R.integers(0, 9, 7).astype("u4"), "k")
definite = xt.dot(square, square.rename({"k": "l"}), dim="j") + xt.eye(7, dims=("k", "l"))
odd = xt.array(np.array([np.nan, 1, -np.inf, 3, np.nan, 1, 2.0]), "k")
cholesky, triangular = xt.linalg.cholesky, xt.linalg.triangular_solve


def log_density(a: Any, y: Any) -> Any:
    factor = cholesky(a, dims=("k", "l"))
    half = triangular(factor, y, dims=("k", "l"))
    return -0.5 * xt.sum(half**2) - xt.sum(xt.log(xt.linalg.diagonal(factor, dims=("k", "l"))))


SMOOTH = {
    "arithmetic": (lambda x, k: x + k * 2 - 1 / k, x, k),
    "matrix product": (lambda x, y: x @ y, x, square),
    "product of three": (lambda x, y, s: xt.dot(x, y, s, dim=("k", "s")), x, square, s),
    "outer product": (lambda s, k: xt.dot(s, k, dim=()), s, k),
    "error functions": (lambda x: (xt.erf(x), xt.erfc(x), xt.lgamma(x), xt.digamma(x)), x),
    "trigonometry": (lambda x: (xt.atan(x), xt.asinh(x), xt.sinh(x), xt.cosh(x), xt.tan(x), xt.sin(x), xt.cos(x)), x),
    "arcs": (lambda x: (xt.asin(xt.tanh(x)), xt.acos(xt.tanh(x)), xt.atanh(xt.tanh(x)), xt.atan2(x, x + 1)), x),
    "logarithms": (
        lambda x: (xt.log2(x), xt.log10(x), xt.log1p(x), xt.exp2(x), xt.expm1(x), xt.acosh(x + 1)),
        positive,
    ),
    "roots": (lambda x: (xt.sqrt(x), xt.cbrt(x), xt.rsqrt(x), x**1.5), positive),
    "remainders": (lambda x, k: (x % k, x // k), x, k),
    "reductions": (lambda x: (xt.sum(x, "s"), xt.prod(x), xt.max(x, "k"), xt.min(x), xt.var(x, "k"), xt.std(x)), x),
    "running": (lambda x: (xt.cumsum(x, "k"), xt.cumprod(x, "s"), xt.cummax(x, "k")), x),
    "running back": (lambda x: xt.cumprod(x, "k", reverse=True, exclusive=True), x),
    "axes": (lambda x: (x.stack(z=("k", "s")), x.expand_dims("q"), x.rename({"s": "k", "k": "s"}), xt.flip(x, "k")), x),
    "unstack": (lambda x: x.stack(z=("k", "s")).unstack(z={"a": 5, "b": 7}), x),
    "slices": (lambda x: (x.isel(k=slice(1, 6, 2)), x.isel(k=3), x.isel(s=slice(None, None, -1))), x),
    "ends": (lambda x: (xt.pad(x, {"k": (1, 2)}, constant_values=3.0), xt.concat([x, x.T], "k"), x.roll(k=2)), x),
    "positions": (lambda x, i: (x.isel(k=i), x.isel(k=i, s=i)), x, at),
    "pairs": (lambda x: xt.take_along(x, xt.argsort(x, "k"), dim="k"), x),
    "updates": (lambda x, i: (x.at(s=i).set(9.0), x.at(s=i).add(x.isel(s=0)), x.at(k=i).max(0.5)), x, at),
    "sort": (lambda x: (xt.sort(x, "s"), xt.top_k(x, 3, dim="k")[0], xt.median(x, "k")), x),
    "convolution": (
        lambda x, w: xt.nn.conv(x, w, dims={"h": "kh", "w": "kw"}, dim="c", stride={"h": 2}, padding={"h": (1, 1)}),
        image,
        kernel,
    ),
    "pooling": (lambda x: xt.nn.max_pool(x, {"h": 2, "w": 3}), image),
    "windows": (lambda x: x.rolling("k", 3).mean().isel(k=slice(2, None)), x),
    "choices": (lambda x: (xt.where(x > 0, x, xt.zeros_like(x)), xt.clip(x, -1, 1), xt.abs(x)), x),
    "softmax": (lambda x: (xt.nn.softmax(x, "k"), xt.logsumexp(x, "k")), x),
    "cholesky": (lambda a: cholesky(a, dims=("k", "l")), definite),
    "lower system": (lambda a, b: triangular(a, b, dims=("k", "l"), lower=True), definite, square),
    "upper system": (lambda a, b: triangular(a, b, dims=("l", "k"), lower=False), definite, k.rename(k="l")),
    "log density": (log_density, definite, k),
    "checkpoint": (lambda x: xt.checkpoint(lambda x: xt.sum(xt.exp(xt.sin(x))))(x), x),
    "transforms": (
        lambda x: xt.abs(xt.fft.rfft(x, "k")) + xt.abs(xt.fft.fft(x.astype("c16"), "k").isel(k=slice(4))),
        x,
    ),
}
OTHER = {
    "rounding": (lambda x: (xt.floor(x * 3), xt.ceil(x * 3), xt.trunc(x * 3), xt.round(x * 3), xt.sign(x)), x),
    "tests of floats": (lambda x: (xt.isnan(x), xt.isinf(x), xt.isfinite(x), xt.copysign(1.0, -x)), odd),
    "integers": (lambda x, k: (x % k, x // k, x << 2, x >> 1, x & k, x | k, x ^ k, ~x, x**2), n, m),
    "unsigned": (lambda x: (x % 3, x // 3, x << 2, x >> 1, abs(x), xt.sign(x), xt.max(x)), u),
    "casts": (lambda x: (x.astype("i4"), x.astype(bool), x.astype("f4"), x.astype("i1"), x.astype("u1")), odd),
    "bools": (lambda x: (xt.any(x > 1, "s"), xt.all(x > -1), xt.count_nonzero(x > 0)), x),
    "first extremes": (lambda x: (xt.argmax(x, "k"), xt.argmin(x, "s")), x),
    "NaN first": (lambda x: (xt.argmax(x, "k"), xt.argmin(x, "k"), xt.max(x), xt.min(x)), odd),
    "NaN last": (lambda x: (xt.sort(x, "k"), xt.argsort(x, "k", descending=True)), odd),
    "products by position": (lambda x, i: x.at(k=i).multiply(2.0), x, at),
    "complex": (lambda z: (z * z, xt.exp(z), abs(z), xt.real(z), xt.conj(z), xt.fft.ifft(z, "k")), z),
    "real transforms": (lambda x: xt.fft.irfft(xt.fft.rfft(x, "k"), "k", n=7), x),
    "inverse of erfc": (
        xt.erfcinv,
        xt.array(np.array([0.0, 1e-300, 1e-40, 1e-5, 0.3, 0.5, 1.0, 1.2, 1.9, 2.0, 3.0]), "i"),
    ),
    "random numbers": (lambda x: x + xt.random.normal(xt.random.key(3), s=5, k=7), x),
    "half precision": (lambda x: x.astype("f2") * 2, x),
    "no elements": (lambda x: (x.isel(k=slice(0)), xt.sum(x.isel(k=slice(0)), "k")), x),
    "captured": (lambda x: x * k + 1, x),
    "vectorized": (xt.vectorize(lambda k: xt.sum(xt.cumsum(k, "k")), "s"), x),
}


def check(f: Any, args: tuple[Any, ...], tolerance: float = 1e-10) -> None:
    found = run(xt.to_stablehlo(f, *args), *[a.values for a in args])
    wanted = xt.tree.leaves(f(*args))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b.values, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", [*SMOOTH, *OTHER])
def test_jax_gives_the_same_numbers(name: str) -> None:
    f, *args = (SMOOTH | OTHER)[name]
    check(f, tuple(args))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", [name for name in SMOOTH if name not in ("arcs", "remainders")])
def test_and_the_same_gradients(name: str) -> None:
    f, *args = SMOOTH[name]

    def loss(*args: Any) -> Any:
        return sum(xt.sum(xt.sin(y)) for y in xt.tree.leaves(f(*args)))

    wrt = tuple(i for i, a in enumerate(args) if a.dtype.kind == "f")
    check(xt.value_and_grad(loss, wrt=wrt), tuple(args), 1e-8)


def test_the_second_derivative_of_a_cholesky_factor() -> None:
    check(xt.grad(lambda a, y: xt.sum(xt.grad(log_density)(a, y) ** 2)), (definite, k), 1e-7)


def test_a_text_names_arguments_and_results() -> None:
    text = xt.to_stablehlo(lambda p: {"y": p["a"] + p["b"]}, {"a": xt.spec(i=2, dtype="f4"), "b": xt.spec(dtype="f4")})
    assert text.splitlines()[:4] == ["// %arg0: (i: 2)", "// %arg1: ()", "// result 0: (i: 2)", "module @_lambda_ {"]


def test_a_result_that_is_returned_twice_is_there_twice() -> None:
    check(lambda x: (x, x + 1, x), (x,))


def test_an_op_without_counterpart_is_named_with_its_line() -> None:
    def f(x: Any) -> Any:
        return xt.linalg.svd(x, dims=("s", "k"))[1]

    with pytest.raises(xt.UnsupportedError) as caught:
        xt.to_stablehlo(f, x)
    line = f.__code__.co_firstlineno + 1
    assert str(caught.value) == (
        f"xt.to_stablehlo(f): xt.svd (svd) of (s: 5, k: 7): StableHLO does not have such an op\n  at {__file__}:{line}"
    )


def test_a_loop_is_refused() -> None:
    with pytest.raises(xt.UnsupportedError, match=r"xt.scan \(scan\) .* loops and branches are not exported"):
        xt.to_stablehlo(lambda x: xt.scan(lambda c, a: (c + a, c), 0.0, x, dim="k")[0], k)


def test_a_call_of_python_is_refused() -> None:
    g = xt.callback
    with pytest.raises(xt.UnsupportedError, match="a call of Python cannot be exported"):
        xt.to_stablehlo(lambda x: g(lambda a: a, x, result=xt.spec(k=7)), k)


def test_an_open_size_is_refused() -> None:
    with pytest.raises(xt.SizeError, match=r"the dim 't' has an open size.*Give one: xt.spec\(t=64\)"):
        xt.to_stablehlo(lambda x: xt.sum(x), xt.spec(t=None))
