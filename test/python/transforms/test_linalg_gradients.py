"""Derivatives through xt.linalg against JAX, PyTorch and differences, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import finished
from linalg_cases import ANY, SHAPES, close, definite, matrix, random

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


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_against_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    ours, theirs, shape = GRADIENTS[name]
    a = point(name, shape)
    w = random(*np.shape(ours(matrix(a))))
    jax.config.update("jax_enable_x64", True)
    expected = jax.jit(jax.grad(lambda v: (theirs(jax.numpy, v) * w).sum()))(a)
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


@pytest.mark.sampled(14)
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


def rolled(*shape: int) -> np.ndarray:
    """Well conditioned, and elimination exchanges its rows."""
    return np.roll(random(*shape) + max(shape[-2:]) * np.eye(*shape[-2:]), 1, -2)


def assert_transposed(forward: list[xt.Array], cts: list[xt.Array], t: xt.Array, back: xt.Array, dtype: str) -> None:
    """<ct, J t> = <J^T ct, t>"""

    def terms(xs: list[xt.Array], ys: list[xt.Array]) -> np.ndarray:
        return np.concatenate([np.ravel(x.values.astype("f8") * y.values) for x, y in zip(xs, ys, strict=True)])

    along, against = terms(forward, cts), terms([back], [t])
    tolerance = 1e-4 if dtype == "f4" else 1e-11
    assert abs(along.sum() - against.sum()) <= tolerance * max(np.abs(along).sum(), 1.0)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "shape",
    [*ANY, (4, 16, 16), (4, 17, 17), (32, 32), (33, 33), (2, 100, 100), (300, 300), (200, 90), (90, 200), (33, 32)],
)
def test_lu_in_both_modes(shape: tuple[int, ...], dtype: str) -> None:
    """Blocks of rows and columns: dL and dU are of the shape of L and U, and P (dL U + L dU) is dA."""
    point, along = matrix(rolled(*shape).astype(dtype)), matrix(random(*shape, dtype=dtype))
    for order in (point.dims, (*point.dims[:-2], "col", "row")):
        values, got = xt.jvp(xt.linalg.lu, (point.transpose(*order),), (along.transpose(*order),))
        p, l, u, dl, du = (xt.astype(v, "f8") for v in (*values, *got[1:]))  # noqa: E741
        change = xt.dot(p, l, du, dim=("row'", "rank")) + xt.dot(p, dl, u, dim=("row'", "rank"))
        close(change.transpose(*along.dims), along.values, dtype)
        assert (np.triu(dl.transpose(..., "row'", "rank").values) == 0).all()
        assert (np.tril(du.transpose(..., "rank", "col").values, -1) == 0).all()
        _, back = xt.vjp(lambda a: xt.linalg.lu(a)[1:], point.transpose(*order))
        cts = [xt.array(random(*v.shape, dtype=dtype), v.dims) for v in values[1:]]
        (gradient,) = back(tuple(cts))
        assert gradient.dims == order
        assert_transposed(list(got[1:]), cts, along.transpose(*order), gradient, dtype)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5, 3), (2, 3, 5), (2, 40, 40), (70, 34)])
def test_second_derivatives_of_lu(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    a, w, along = rolled(*shape), random(*shape), random(*shape)
    v = torch.tensor(a, requires_grad=True)
    _, l, u = torch.linalg.lu(v)  # noqa: E741
    k = min(shape[-2:])
    left, right = w[..., :k], w[..., :k, :]
    (g,) = torch.autograd.grad(
        (l**3 * torch.tensor(left)).sum() + (u**3 * torch.tensor(right)).sum(), v, create_graph=True
    )
    (second,) = torch.autograd.grad((g * torch.tensor(along)).sum(), v)

    def f(a: Any) -> Any:
        _, l, u = xt.linalg.lu(a)  # noqa: E741
        return xt.sum(l**3 * xt.array(left, l.dims)) + xt.sum(u**3 * xt.array(right, u.dims))

    close(xt.grad(f)(matrix(a)), g.detach())
    scale = max(1.0, float(second.abs().max()))
    close(xt.jvp(xt.grad(f), (matrix(a),), (matrix(along),))[1] / scale, second / scale)
    close(xt.grad(lambda a: xt.sum(xt.grad(f)(a) * matrix(along)))(matrix(a)) / scale, second / scale)


def test_tangents_of_lu_that_has_none() -> None:
    """Below a pivot that is 0 the factor has zeros, and stays; NaN is for its instance alone."""
    a = np.array([[[1.0, 2, 3], [0, 0, 4], [0, 0, 5]], [[1, 2, 3], [4, 5, 6], [7, 8, 10]], [[np.nan, 2, 3]] * 3])
    f = lambda a: xt.linalg.lu(a)[1:]  # noqa: E731
    _, (dl, du) = xt.jvp(f, (matrix(a),), (matrix(np.ones((3, 3, 3))),))
    assert dl.values[0, 2, 1] == 0
    assert np.isfinite(dl.values[:2]).all()
    assert np.isfinite(du.values[:2]).all()
    assert np.isnan(dl.values[2][np.tril_indices(3, -1)]).all()
    gradient = xt.grad(lambda a: sum(xt.sum(v**3) for v in f(a)))(matrix(a)).values
    assert np.isfinite(gradient[:2]).all()
    assert np.isnan(gradient[2]).any()
    close(xt.grad(lambda a: sum(xt.sum(v**3) for v in f(a)))(matrix(a[1])), gradient[1])


def test_gradient_of_lu_of_open_sizes() -> None:
    gradient = xt.grad(lambda v: sum(xt.sum(f**3) for f in xt.linalg.lu(v)[1:]))
    run = xt.jit(gradient, dynamic_dims=("b1", "row", "col"))
    for n in (3, 1, 5):
        a = matrix(rolled(n, n, n))
        close(run(a), gradient(a).values)


TRIANGLES = [(3, 3), (4, 5, 5), (1, 1), (2, 0, 0), (0, 3, 3), (95, 95), (97, 97), (2, 130, 130), (300, 300)]
TRIANGLES += [(37, 2, 2), (37, 5, 5), (37, 16, 16), (37, 17, 17)]  # up to 16 rows, one in each lane of a vector


@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("shape", TRIANGLES)
def test_triangular_solve_in_both_modes(shape: tuple[int, ...], lower: bool, unit: bool, dtype: str) -> None:
    """d(A^-1 B) = A^-1 (dB - dA X), of one triangle of dA; the other one's gradient is 0."""
    n = shape[-1]
    a = random(*shape) / max(n, 1) + 2 * np.eye(n)
    da, cut = random(*shape), (np.tril if lower else np.triu)
    read = cut(a, -1 if lower else 1) + np.eye(n) if unit else cut(a)
    moved = cut(da, -1 if lower else 1) if unit else cut(da)
    for rest in ((), (1,), (7,), (2, 3), (n + 1,)):
        b, db = random(*shape[:-1], *rest), random(*shape[:-1], *rest)
        dims = (*matrix(a).dims[:-1], *"kml"[: len(rest)])
        columns = (*shape[:-1], int(np.prod(rest)))
        x = np.linalg.solve(read, b.reshape(columns))
        dx = np.linalg.solve(read, db.reshape(columns) - moved @ x)
        f = lambda a, b: xt.linalg.triangular_solve(a, b, lower=lower, unit=unit)  # noqa: E731
        point = (matrix(a.astype(dtype)), xt.array(b.astype(dtype), dims))
        along = (matrix(da.astype(dtype)), xt.array(db.astype(dtype), dims))
        value, got = xt.jvp(f, point, along)
        close(got, dx.reshape(b.shape), dtype)
        ct = xt.array(random(*b.shape, dtype=dtype), value.dims)
        _, back = xt.vjp(f, *point)
        ga, gb = back(ct)
        u = np.linalg.solve(read.swapaxes(-1, -2), np.asarray(ct, "f8").reshape(columns))
        close(gb, u.reshape(b.shape), dtype)
        full = -(u @ x.swapaxes(-1, -2))
        close(ga, cut(full, -1 if lower else 1) if unit else cut(full), dtype)


def test_one_triangle_and_many_right_hand_sides() -> None:
    """What both lack is summed over, wherever it lies; batches of one alone are broadcast."""
    a, b, w = random(5, 5) + 4 * np.eye(5), random(2, 5, 3), random(2, 5, 3)
    weights = xt.array(w, ("v", "col", "k"))
    sides = xt.array(b, ("v", "row", "k"))
    each = xt.vectorize(lambda a, b, w: xt.sum(xt.linalg.triangular_solve(a, b) * w), "v")
    gradient = xt.grad(lambda a: xt.sum(each(a, sides, weights)))(matrix(a))
    x = np.linalg.solve(np.tril(a), b)
    close(gradient, np.tril(-np.einsum("vik,vjk->ij", np.linalg.solve(np.tril(a).T, w), x)))


@pytest.mark.sampled(20)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [*ANY, (100, 100), (100, 101), (101, 100), (2, 50, 200), (200, 100)])
def test_qr_in_both_modes(shape: tuple[int, ...], dtype: str) -> None:
    """dQ R + Q dR is dA, dR is of the shape of R, and Q^T dQ is skew-symmetric."""
    point, along = matrix(rolled(*shape).astype(dtype)), matrix(random(*shape, dtype=dtype))
    values, got = xt.jvp(xt.linalg.qr, (point,), (along,))
    (q, r), (dq, dr) = ([np.asarray(v, "f8") for v in both] for both in (values, got))
    close(dq @ r + q @ dr, along.values, dtype)
    turned = q.swapaxes(-1, -2) @ dq
    close(turned, -turned.swapaxes(-1, -2), dtype)
    assert (np.tril(dr, -1) == 0).all()
    cts = [xt.array(random(*v.shape, dtype=dtype), v.dims) for v in values]
    _, back = xt.vjp(xt.linalg.qr, point)
    (gradient,) = back(tuple(cts))
    assert_transposed(list(got), cts, along, gradient, dtype)


@pytest.mark.parametrize(
    "shape", [(37, 1, 1), (37, 2, 2), (37, 7, 7), (37, 16, 16), *((4, n, n) for n in (8, 32, 64, 120))]
)
def test_gradient_of_large_batches(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    a, w, u = definite(*shape), random(*shape), random(*shape)
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


def squares(*values: Any) -> Any:
    return sum(xt.sum(v * v) for v in values)


COSTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "slogdet": (lambda a: xt.linalg.slogdet(a)[1], [(96, 96)]),
    "cholesky": (lambda a: squares(xt.linalg.cholesky(a)), [(96, 96)]),
    "lu": (lambda a: squares(*xt.linalg.lu(a)[1:]), [(96, 96), (200, 96), (96, 200)]),
    "qr": (lambda a: squares(*xt.linalg.qr(a)), [(96, 96), (97, 96), (96, 97), (300, 96), (96, 300)]),
    "r": (lambda a: squares(xt.linalg.qr(a)[1]), [(96, 96), (97, 96), (96, 97), (300, 96), (96, 300)]),
    "triangular_solve": (
        lambda a: squares(xt.linalg.triangular_solve(a, a.rename(col="k"))),
        [(96, 96)],
    ),
    "of one side": (lambda a: squares(xt.linalg.triangular_solve(a, xt.ones(row=96))), [(96, 96)]),
}


@pytest.mark.parametrize("name", COSTS)
def test_a_gradient_costs_under_three_values(name: str) -> None:
    f, shapes = COSTS[name]
    for shape in shapes:
        value, both = _flops(f, shape)
        assert both <= 3 * value, shape


def _flops(f: Callable[..., Any], shape: tuple[int, ...]) -> tuple[float, float]:
    """Of a value, and of the value with its gradient."""
    a = matrix(random(*shape))
    value, both = (xt.jit(g).cost(a)["flops"] for g in (f, xt.value_and_grad(f)))
    return value, both


def test_a_determinant_is_factored_again_only_for_its_gradient() -> None:
    value, both = _flops(lambda a: xt.linalg.det(a), (96, 96))
    assert value < 0.7 * 96**3  # of one factorization: 2/3 n^3
    assert both < 2.8 * 96**3  # of two, one with a column moved, and of the derivative of one
    program = xt.jit(xt.grad(xt.linalg.det)).lower(matrix(random(96, 96))).as_text("differentiated")
    first, again = (line for line in program.splitlines() if " xtensor.lu %" in line)
    depth = [len(line) - len(line.lstrip()) for line in (first, again)]
    assert depth[0] < depth[1], "not in a branch, which regular matrices do not take"


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
