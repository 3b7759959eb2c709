"""xt.linalg in libraries for C: by the LAPACK of the BLAS that the export names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from c_library import CODES, Context, Library, typed

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

D = ("r", "c")


def gram(a: Any) -> Any:
    return xt.dot(a, a.rename(r="t"), dim="c").rename(t="c")


def turned(a: Any) -> Any:
    """A complex matrix."""
    return xt.complex(a, 0.3 * a.rename(r="c", c="r"))


def parts(*zs: Any) -> tuple[Any, ...]:
    return tuple(p for z in zs for p in ((z.real, z.imag) if z.dtype.kind == "c" else (z,)))


def hermitian(z: Any) -> Any:
    return xt.dot(z, xt.conj(z.rename(r="t")), dim="c").rename(t="c")


_CASES: dict[str, Callable[..., Any]] = {
    "cholesky": lambda a, b: xt.linalg.cholesky(gram(a), dims=D),
    "cholesky tangent": lambda a, b: xt.jvp(lambda s: xt.linalg.cholesky(s, dims=D), (gram(a),), (a,))[1],
    "cholesky gradient": lambda a, b: xt.grad(lambda s: xt.sum(xt.linalg.cholesky(s, dims=D) ** 3))(gram(a)),
    "lu tangent": lambda a, b: xt.jvp(lambda s: xt.linalg.lu(s, dims=D)[1], (a,), (gram(a),))[1],
    "lu gradient": lambda a, b: xt.grad(lambda s: sum(xt.sum(f**3) for f in xt.linalg.lu(s, dims=D)[1:]))(a),
    "qr tangent": lambda a, b: xt.jvp(lambda s: xt.linalg.qr(s, dims=D)[0], (a,), (gram(a),))[1],
    "qr gradient": lambda a, b: xt.grad(lambda s: sum(xt.sum(f**3) for f in xt.linalg.qr(s, dims=D)))(a),
    "triangular gradient": lambda a, b: xt.grad(lambda s: xt.sum(xt.linalg.triangular_solve(s, b, dims=D) ** 3))(a),
    "upper gradient": lambda a, b: xt.grad(
        lambda s: xt.sum(xt.linalg.triangular_solve(0.05 * s, b, dims=D, lower=False, unit=True) ** 3)
    )(a),
    "solve": lambda a, b: xt.linalg.solve(a, b, dims=D),
    "triangular": lambda a, b: xt.linalg.triangular_solve(a, b, dims=D, lower=False),
    "lower": lambda a, b: xt.linalg.triangular_solve(a, b, dims=D, lower=True),
    "inv": lambda a, b: xt.linalg.inv(a, dims=D),
    "det": lambda a, b: xt.linalg.det(a, dims=D),
    "qr": lambda a, b: xt.linalg.qr(a, dims=D),
    "eigh": lambda a, b: xt.linalg.eigh(a + a.rename(r="c", c="r"), dims=D)[0],
    "svd": lambda a, b: xt.linalg.svd(a, dims=D),
    "pinv": lambda a, b: xt.linalg.pinv(a, dims=D),
    "complex cholesky": lambda a, b: parts(xt.linalg.cholesky(hermitian(turned(a)), dims=D)),
    "complex eig": lambda a, b: parts(*xt.linalg.eig(turned(a), dims=D)),
    "eig": lambda a, b: parts(*xt.linalg.eig(a, dims=D)),
    "complex eigh": lambda a, b: parts(*xt.linalg.eigh(turned(a), dims=D)),
    "complex lu": lambda a, b: parts(*xt.linalg.lu(turned(a), dims=D)),
    "complex qr": lambda a, b: parts(*xt.linalg.qr(turned(a), dims=D)),
    "complex svd": lambda a, b: parts(*xt.linalg.svd(turned(a), dims=D)),
    "complex solve": lambda a, b: parts(xt.linalg.solve(turned(a), b * 1j, dims=D)),
    "complex triangular": lambda a, b: parts(xt.linalg.triangular_solve(turned(a), b, dims=D, lower=False)),
    "complex gradient": lambda a, b: xt.grad(
        lambda a: sum(xt.sum(v**3) for v in parts(xt.linalg.solve(turned(a), b, dims=D)))
    )(a),
    "gradient": lambda a, b: xt.grad(lambda a: xt.sum(xt.linalg.solve(a, b, dims=D) ** 2))(a),
}


@pytest.fixture(scope="module", autouse=True)
def _lapack() -> None:
    """The library that this process has loaded already."""
    pytest.importorskip("scipy_openblas32")


@pytest.mark.sampled(34)
@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 5, 120])
def test_results_are_pythons(tmp_path: Path, name: str, dtype: str, n: int) -> None:
    f, batch = _CASES[name], 3 if n < 100 else 1
    dims = (("batch", "r", "c"), ("batch", "r", "k"))
    sizes = {"batch": batch, "r": n, "c": n, "k": 2}
    specs = [xt.spec({d: sizes[d] for d in names}, dtype=dtype) for names in dims]
    bundle = xt.export(f, args=specs, name="one", blas="scipy-openblas")
    is_element = (name, n) == ("det", 1)
    assert bundle.manifest.blas == (None if is_element else "scipy-openblas")
    library = Library(bundle, tmp_path)
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=[sizes[d] for d in names]).astype(dtype) for names in dims)
    a += 2 * np.sqrt(n) * np.eye(n, dtype=dtype)
    found = xt.load(bundle)(xt.array(a, dims[0]), xt.array(b, dims[1]))
    expected = found if isinstance(found, tuple) else (found,)
    results = [np.full(y.shape, np.nan, y.dtype) for y in expected]
    arrays = typed(a, *a.shape), typed(b, *b.shape), *(typed(y, *y.shape) for y in results)
    assert library(*arrays) == (0, "done")
    for y, wanted in zip(results, expected, strict=True):
        scale = np.abs(wanted.values).max()
        np.testing.assert_allclose(y, wanted.values, rtol=0, atol=scale * (1e-4 if dtype == "f4" else 1e-11))

    if is_element:
        return  # without temporaries
    library.context.allocate = Context.ALLOCATE(lambda _, size: None)
    code, message = library(*arrays)
    assert code == CODES["NO_MEMORY"]
    assert "bytes of temporaries" in message


def test_what_has_no_factors_is_nan(tmp_path: Path) -> None:
    def f(a: Any) -> Any:
        return xt.linalg.cholesky(a, dims=D), xt.linalg.inv(a, dims=D), xt.linalg.pinv(a, dims=D)

    library = Library(xt.export(f, args=(xt.spec(r=3, c=3),), name="one", blas="scipy-openblas"), tmp_path)
    for a in (-np.eye(3), np.full((3, 3), np.nan), np.zeros((3, 3))):
        results = [np.ones((3, 3)) for _ in range(3)]
        assert library(typed(a, 3, 3), *(typed(y, 3, 3) for y in results)) == (0, "done")
        for y, wanted in zip(results, f(xt.array(a, D)), strict=True):
            np.testing.assert_array_equal(y, wanted.values)


def test_open_sizes_that_make_no_square(tmp_path: Path) -> None:
    def f(a: Any) -> Any:
        return xt.linalg.cholesky(a, dims=D)

    library = Library(xt.export(f, args=(xt.spec(r=None, c=None),), name="one", blas="scipy-openblas"), tmp_path)
    y = np.zeros((2, 2))
    assert library(typed(np.eye(2), 2, 2), typed(y, 2, 2)) == (0, "done")
    np.testing.assert_array_equal(y, np.eye(2))
    code, message = library(typed(np.ones((2, 3)), 2, 3), typed(np.zeros((2, 3)), 2, 3))
    assert code == CODES["INDEX"]
    assert message.startswith("one_f: the matrix must be square: dims r c have sizes 2 and 3 at ")


@pytest.mark.parametrize(("blas", "lapack"), [("openblas", "libopenblas.so.0"), ("blas", "liblapack.so.3")])
def test_libraries_name_what_they_need(tmp_path: Path, blas: str, lapack: str) -> None:
    bundle = xt.export(_CASES["qr"], args=(xt.spec(r=4, c=4), xt.spec(k=2)), name="one", blas=blas)
    shared = bundle.extract(tmp_path) / str(bundle.manifest.targets[0].shared)
    assert lapack.encode() in shared.read_bytes()
