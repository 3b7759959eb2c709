"""Derivatives through xt.linalg against JAX, PyTorch and differences, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import finished
from linalg_cases import SHAPES, close, definite, matrix, random

GRADIENTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any], tuple[int, ...]]] = {
    # ours, JAX's or PyTorch's given their linalg and the array, the matrix's shape
    "cholesky": (lambda a: xt.linalg.cholesky(a), lambda m, a: m.linalg.cholesky(a), (3, 4, 4)),
    "inv": (lambda a: xt.linalg.inv(a), lambda m, a: m.linalg.inv(a), (3, 4, 4)),
    "det": (lambda a: xt.linalg.det(a), lambda m, a: m.linalg.det(a), (3, 4, 4)),
    "slogdet": (lambda a: xt.linalg.slogdet(a)[1], lambda m, a: m.linalg.slogdet(a)[1], (3, 4, 4)),
    "eigenvalues": (lambda a: xt.linalg.eigh(a)[0], lambda m, a: m.linalg.eigh(a)[0], (3, 4, 4)),
    "eigenvectors": (lambda a: xt.linalg.eigh(a)[1] ** 2, lambda m, a: m.linalg.eigh(a)[1] ** 2, (4, 4)),
    "singular values": (lambda a: xt.linalg.svd(a)[1], lambda m, a: m.linalg.svd(a, full_matrices=False)[1], (3, 5, 4)),
    "left vectors": (lambda a: xt.linalg.svd(a)[0] ** 2, lambda m, a: m.linalg.svd(a, full_matrices=False)[0] ** 2,
                     (5, 4)),
    "right vectors": (lambda a: xt.linalg.svd(a)[2] ** 2, lambda m, a: m.linalg.svd(a, full_matrices=False)[2] ** 2,
                      (4, 5)),
    "q": (lambda a: xt.linalg.qr(a)[0], lambda m, a: m.linalg.qr(a)[0], (5, 4)),
    "r": (lambda a: xt.linalg.qr(a)[1], lambda m, a: m.linalg.qr(a)[1], (5, 4)),
    "pinv": (lambda a: xt.linalg.pinv(a), lambda m, a: m.linalg.pinv(a), (5, 4)),
    "pinv wide": (lambda a: xt.linalg.pinv(a), lambda m, a: m.linalg.pinv(a), (4, 5)),
    "power": (lambda a: xt.linalg.matrix_power(a, 3), lambda m, a: m.linalg.matrix_power(a, 3), (4, 4)),
}  # fmt: skip


def point(name: str, shape: tuple[int, ...]) -> np.ndarray:
    return definite(*shape) if name in ("cholesky", "eigenvalues", "eigenvectors") else random(*shape)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_against_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    ours, theirs, shape = GRADIENTS[name]
    a = point(name, shape)
    w = random(*np.shape(ours(matrix(a))))
    jax.config.update("jax_enable_x64", True)
    expected = jax.grad(lambda v: (theirs(jax.numpy, v) * w).sum())(jax.numpy.asarray(a))
    weights = xt.array(w, ours(matrix(a)).dims)
    close(xt.grad(lambda v: xt.sum(ours(v) * weights))(matrix(a)), expected)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_against_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs, shape = GRADIENTS[name]
    a = point(name, shape)
    w = random(*np.shape(ours(matrix(a))))
    v = torch.tensor(a, requires_grad=True)
    symmetric = name in ("cholesky", "eigenvalues", "eigenvectors")
    (theirs(torch, (v + v.mT) / 2 if symmetric else v) * torch.tensor(w)).sum().backward()
    weights = xt.array(w, ours(matrix(a)).dims)
    close(xt.grad(lambda v: xt.sum(ours(v) * weights))(matrix(a)), v.grad)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [*SHAPES, (4, 16, 16), (4, 17, 17), (96, 96), (97, 97), (2, 200, 200), (300, 300)])
def test_cholesky_in_both_modes(shape: tuple[int, ...], dtype: str) -> None:
    """Small matrices by kernels, large ones in blocks of columns: against L phi(L^-1 dA L^-T)."""
    a, t = definite(*shape), random(*shape)
    l, turned = np.linalg.cholesky(a), (*range(len(shape) - 2), -1, -2)  # noqa: E741
    half = np.tril(np.ones(shape[-2:])) - 0.5 * np.eye(shape[-1])
    inverse = np.linalg.inv(l)
    tangent = l @ (half * (inverse @ (t + t.transpose(turned)) / 2 @ inverse.transpose(turned)))
    x = inverse.transpose(turned) @ (half * (l.transpose(turned) @ np.tril(t))) @ inverse
    point, along = matrix(a.astype(dtype)), matrix(t.astype(dtype))
    for order in (point.dims, (*point.dims[:-2], "col", "row")):
        value, got = xt.jvp(xt.linalg.cholesky, (point.transpose(*order),), (along.transpose(*order),))
        close(value.transpose(*point.dims), l, dtype)
        close(got.transpose(*point.dims), tangent, dtype)
        assert (np.triu(got.transpose(*point.dims).values, 1) == 0).all()
        _, back = xt.vjp(xt.linalg.cholesky, point.transpose(*order))
        (gradient,) = back(along.transpose(*order))
        close(gradient.transpose(*point.dims), (x + x.transpose(turned)) / 2, dtype)
        np.testing.assert_array_equal(gradient.values, gradient.values.transpose(turned))


@pytest.mark.parametrize("n", [8, 32, 64, 120])
def test_gradient_of_large_batches(n: int) -> None:
    torch = pytest.importorskip("torch")
    a, w, u = definite(4, n, n), random(4, n, n), random(4, n, n)
    v = torch.tensor(a, requires_grad=True)
    (g,) = torch.autograd.grad((torch.linalg.cholesky((v + v.mT) / 2) * torch.tensor(w)).sum(), v, create_graph=True)
    weights, along = matrix(w), matrix(u)
    ours = xt.grad(lambda v: xt.sum(xt.linalg.cholesky(v) * weights))
    close(ours(matrix(a)), g.detach())
    (second,) = torch.autograd.grad((g * torch.tensor(u)).sum(), v)
    close(xt.grad(lambda v: xt.sum(ours(v) * along))(matrix(a)), second)
    close(xt.jvp(ours, (matrix(a),), (along,))[1], second)


def test_one_factor_and_many_tangents() -> None:
    a, t = definite(3, 3), random(4, 3, 3)
    many = xt.array(t, ("k", "col", "row"))
    one = [xt.jvp(xt.linalg.cholesky, (matrix(a),), (many.isel(k=i).transpose("row", "col"),))[1] for i in range(4)]
    f = xt.vectorize(lambda t: xt.jvp(xt.linalg.cholesky, (matrix(a),), (t.transpose("row", "col"),))[1], "k")
    close(f(many), np.stack([x.values for x in one]))
    jacobian = xt.jacobian(xt.linalg.cholesky)(matrix(a))
    assert sorted(jacobian.sizes.values()) == [3, 3, 3, 3]


def test_derivatives_where_there_is_no_factor() -> None:
    a, t = definite(3, 4, 4), random(3, 4, 4)
    whole = xt.jvp(xt.linalg.cholesky, (matrix(a),), (matrix(t),))[1].values
    gradient = xt.grad(lambda v: xt.sum(xt.linalg.cholesky(v) * matrix(t)))
    back = gradient(matrix(a)).values
    for spoil in (-a[1], np.full((4, 4), np.nan)):
        a[1] = spoil
        tangent = xt.jvp(xt.linalg.cholesky, (matrix(a),), (matrix(t),))[1].values
        assert np.isnan(tangent[1][np.tril_indices(4)]).all()
        assert (np.triu(tangent[1], 1) == 0).all()
        np.testing.assert_array_equal(tangent[[0, 2]], whole[[0, 2]])
        assert np.isnan(gradient(matrix(a)).values[1]).all()
        np.testing.assert_array_equal(gradient(matrix(a)).values[[0, 2]], back[[0, 2]])


def test_gradient_of_cholesky_of_open_sizes() -> None:
    gradient = xt.grad(lambda v: xt.sum(xt.linalg.cholesky(v) ** 3))
    run = xt.jit(gradient, dynamic_dims=("b1", "row", "col"))
    for n in (3, 1, 5):
        a = matrix(definite(n, n, n))
        close(run(a), gradient(a).values)
    with pytest.raises(xt.SizeError, match="must be square: dims 'row' and 'col' have sizes 3 and 2"):
        finished(run(matrix(np.ones((1, 3, 2)))))


def test_equal_eigenvalues() -> None:
    a = matrix(np.diag([2.0, 2.0, 5.0]))
    close(xt.grad(lambda v: xt.sum(xt.linalg.eigh(v)[0]))(a), np.eye(3))
    close(xt.grad(lambda v: xt.sum(xt.linalg.svd(v)[1]))(a), np.eye(3))
    close(xt.grad(lambda v: xt.linalg.norm(v, "nuc"))(a), np.eye(3))
    # Their vectors have no derivative, and that is seen.
    for f in (lambda v: xt.linalg.eigh(v)[1], lambda v: xt.linalg.svd(v)[0]):
        weights = xt.array(random(3, 3), f(a).dims)
        assert not np.isfinite(xt.grad(lambda v, f=f, w=weights: xt.sum(f(v) * w))(a).values).all()


def test_vjp_keeps_factors() -> None:
    a = matrix(definite(3, 3))
    y, back = xt.vjp(lambda v: xt.linalg.slogdet(v)[1], a)
    (g,) = back(xt.array(1.0))
    close(g, np.linalg.inv(a.values).T)
    assert y.dims == ()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5, 5), (33, 33), (2, 70, 70), (97, 97), (2, 130, 130), (300, 300)])
def test_inverses_of_all_sizes(shape: tuple[int, ...], dtype: str) -> None:
    """Small ones by kernels of ours, large ones by LAPACK, a part of the columns at a time; with pivots."""
    a = random(*shape, dtype="f8")
    a = (a[..., ::-1, :] + shape[-1] ** 0.5 * np.eye(shape[-1])[::-1]).astype(dtype)
    x, want = matrix(a), np.linalg.inv(a.astype("f8"))
    scale = np.abs(want).max()
    batch = x.dims[:-2]
    for got in (xt.linalg.inv(x), xt.jit(xt.linalg.inv)(x)):
        close(got.transpose(*batch, "col", "row") / scale, want / scale, dtype)
    turned = xt.linalg.inv(x.transpose(*batch, "col", "row"))
    close(turned.transpose(*batch, "col", "row") / scale, want / scale, dtype)
    g = xt.grad(lambda x: xt.sum(xt.linalg.slogdet(x)[1]))(x)
    assert g.dims == x.dims
    close(g / scale, np.swapaxes(want, -1, -2) / scale, dtype)
    eye = xt.eye(row=shape[-1], k=shape[-1], dtype=dtype)
    close(xt.linalg.solve(x, eye).transpose(*batch, "col", "k") / scale, want / scale, dtype)


def test_inverses_of_singular_matrices() -> None:
    for n in (4, 120):
        a = random(n, n)
        a[:, 1] = 0
        assert not np.isfinite(xt.linalg.inv(matrix(a)).values).all()
        a[0, 0] = np.nan
        assert np.isnan(xt.linalg.inv(matrix(a)).values).all()


def test_a_gradient_costs_under_three_values() -> None:
    a = matrix(random(64, 64))
    f = lambda a: xt.linalg.slogdet(a)[1]  # noqa: E731
    value, both = (xt.jit(g).cost(a)["flops"] for g in (f, xt.value_and_grad(f)))
    assert both <= 3 * value
    f = lambda a: xt.sum(xt.linalg.cholesky(a) ** 2)  # noqa: E731
    value, both = (xt.jit(g).cost(a)["flops"] for g in (f, xt.value_and_grad(f)))
    assert both <= 3 * value


def test_cost() -> None:
    a = matrix(definite(3, 8, 8))
    b = xt.array(random(3, 8, 2), ("b1", "row", "k"))
    assert xt.jit(xt.linalg.cholesky).cost(a)["flops"] == round(3 * 8**3 / 3)
    tangent = xt.jit(lambda a, t: xt.jvp(xt.linalg.cholesky, (a,), (t,)))
    assert tangent.cost(a, a)["flops"] == 3 * 8**3
    many = xt.vectorize(lambda a, t: xt.jvp(xt.linalg.cholesky, (a,), (t,))[1], "k")
    more = xt.array(random(5, 3, 8, 8), ("k", *a.dims))
    assert xt.jit(many).cost(a, more)["flops"] == round(3 * 8**3 / 3) + round(5 * 3 * 8**3 * 2 / 3)
    assert xt.jit(xt.linalg.triangular_solve).cost(a, b)["flops"] == 3 * 8**2 * 2
    assert xt.jit(xt.linalg.solve).cost(a, b)["flops"] == round(3 * 2 * 8**3 / 3) + 2 * 3 * 8**2 * 2
