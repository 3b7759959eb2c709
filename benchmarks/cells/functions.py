"""Special functions, Fourier transforms, random numbers, and statistics of values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cells.case import Arg, Case, case
from cells.peers import jax_random, jax_special, scipy_special


def special() -> Iterator[Case]:
    """Special functions of 1 to 3 arguments."""
    names = {"erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "lgamma": "gammaln", "digamma": "digamma"}
    names |= {"i0e": "i0e", "i1e": "i1e", "ndtr": "ndtr", "log_ndtr": "log_ndtr", "ndtri": "ndtri", "entr": "entr"}
    for dtype in ("f4", "f8"):
        for size in (1 << 14, 1 << 20):
            x = Arg((size,), dtype, positive=True)
            for name, other in names.items():
                scipys = {"digamma": "psi"}.get(name, other)
                torchs = {"lgamma": "gammaln"}.get(name, name)
                yield case(
                    name,
                    x,
                    ours=lambda xt, x, name=name: getattr(xt, name)(x),
                    jax=lambda m, x, name=other: getattr(jax_special(), name)(x),
                    torch=lambda m, x, name=torchs: getattr(m.special, name)(x),
                    numpy=lambda m, x, name=scipys: getattr(scipy_special(), name)(x),
                )
            pair = x, x
            yield case(
                "xlogy",
                pair,
                ours=lambda xt, x, y: xt.xlogy(x, y),
                jax=lambda m, x, y: jax_special().xlogy(x, y),
                torch=lambda m, x, y: m.special.xlogy(x, y),
                numpy=lambda m, x, y: scipy_special().xlogy(x, y),
            )
            yield case(
                "gammainc",
                pair,
                ours=lambda xt, x, y: xt.gammainc(x, y),
                jax=lambda m, x, y: jax_special().gammainc(x, y),
                torch=lambda m, x, y: m.special.gammainc(x, y),
                numpy=lambda m, x, y: scipy_special().gammainc(x, y),
            )


def fourier() -> Iterator[Case]:
    """Fourier transforms of real and complex arrays."""
    shapes = (((1 << 10, 1 << 10), 1), ((1 << 10, 1 << 10), 0), ((1 << 20,), 0), ((1000, 1000), 1), ((1000, 997), 1))
    for dtype in ("f4", "f8"):
        for sizes, axis in shapes:
            x, dim = Arg(sizes, dtype), "ab"[axis]
            for name in ("rfft", "fft"):
                yield case(
                    f"{name} {dim}",
                    x,
                    ours=lambda xt, x, dim=dim, name=name: getattr(xt.fft, name)(x, dim=dim),
                    numpylike=lambda m, x, axis=axis, name=name: getattr(m.fft, name)(x, axis=axis),
                    torch=lambda m, x, axis=axis, name=name: getattr(m.fft, name)(x, dim=axis),
                )


def random() -> Iterator[Case]:
    """Random numbers: ours and JAX's by key, the others' by state."""
    for size in (1 << 14, 1 << 20):
        x = Arg((size,))
        for name, (of_torch, of_numpy) in _DRAWS.items():
            yield case(
                f"{name} like",
                x,
                ours=lambda xt, x, name=name, size=size: getattr(xt.random, name)(xt.random.key(0), a=size, dtype="f4"),
                jax=lambda m, x, name=name: getattr(jax_random(), name)(jax_random().key(0), x.shape, m.float32),
                torch=of_torch,
                numpy=lambda m, x, name=of_numpy: getattr(_generator(m), name)(x.shape, m.float32),
            )


# By the names that ours and JAX share: PyTorch's function, and the method of NumPy's generator.
_DRAWS: dict[str, tuple[Any, str]] = {
    "uniform": (lambda m, x: m.rand_like(x), "random"),
    "normal": (lambda m, x: m.randn_like(x), "standard_normal"),
    "exponential": (lambda m, x: m.empty_like(x).exponential_(), "standard_exponential"),
}
_GENERATORS: list[Any] = []


def _generator(m: Any) -> Any:
    if not _GENERATORS:
        _GENERATORS.append(m.random.default_rng(0))
    return _GENERATORS[0]


def statistics() -> Iterator[Case]:
    """Quantiles, histograms, sums by group, interpolation, covariances and norms."""
    for dtype in ("f4", "f8"):
        for sizes, axis in (((1000, 1000), 1), ((1000, 1000), 0), ((100_000,), 0)):
            x, dim = Arg(sizes, dtype), "ab"[axis]
            yield case(
                f"quantile of 2 {dim}",
                x,
                ours=lambda xt, x, dim=dim: xt.quantile(x, [0.25, 0.9], dim=dim),
                numpylike=lambda m, x, axis=axis: m.quantile(x, m.asarray([0.25, 0.9], x.dtype), axis=axis),
                torch=lambda m, x, axis=axis: m.quantile(x, m.tensor([0.25, 0.9], dtype=x.dtype), axis),
            )
            yield case(
                f"argsort {dim}",
                x,
                ours=lambda xt, x, dim=dim: xt.argsort(x, dim=dim),
                numpylike=lambda m, x, axis=axis: m.argsort(x, axis=axis),
                torch=lambda m, x, axis=axis: m.argsort(x, dim=axis),
            )
            yield case(
                f"norm {dim}",
                x,
                ours=lambda xt, x, dim=dim: xt.norm(x, dim=dim),
                numpylike=lambda m, x, axis=axis: m.linalg.norm(x, axis=axis),
                torch=lambda m, x, axis=axis: m.linalg.vector_norm(x, dim=axis),
            )
        values = Arg((1 << 20,), dtype)
        yield case(
            "histogram of 50",
            values,
            ours=lambda xt, x: xt.histogram(x, 50, range=(-4.0, 4.0))[0],
            numpylike=lambda m, x: m.histogram(x, 50, range=(-4.0, 4.0))[0],
            torch=lambda m, x: m.histc(x, 50, -4, 4),
        )
        for groups in (12, 1000):
            codes = Arg((1 << 20,), "i4", below=groups)
            yield case(
                f"sum of {groups} groups",
                (values, codes),
                ours=lambda xt, x, i, groups=groups: xt.segment_sum(x, i, groups),
                jax=lambda m, x, i, groups=groups: _jax_sum(x, i, groups),
                torch=lambda m, x, i, groups=groups: m.zeros(groups, dtype=x.dtype).index_add(0, i, x),
                numpy=lambda m, x, i, groups=groups: m.bincount(i, x, groups),
            )
        yield case(
            "covariance of rows",
            Arg((64, 10_000), dtype),
            ours=lambda xt, x: xt.cov(x, x.rename(a="c"), dim="b"),
            same=lambda m, x: m.cov(x),
        )


def _jax_sum(x: Any, i: Any, groups: int) -> Any:
    import jax

    return jax.ops.segment_sum(x, i, groups)
