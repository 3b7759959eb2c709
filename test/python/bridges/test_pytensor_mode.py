"""PyTensor's mode "XTENSOR": every op against PyTensor's own implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import pytensor.xtensor as px  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.compile.sharedvalue import shared  # noqa: E402
from pytensor.graph.basic import Variable  # noqa: E402
from pytensor.graph.rewriting.utils import rewrite_graph  # noqa: E402
from pytensor.ifelse import ifelse  # noqa: E402
from pytensor.typed_list import make_list  # noqa: E402

MODE = xt.pytensor_mode()
RNG = np.random.default_rng(0)
X, Y = RNG.uniform(0.1, 0.9, (3, 4)), RNG.uniform(0.2, 0.8, (3, 4))
SQUARE = RNG.normal(size=(2, 3, 3))
POSITIVE = SQUARE @ SQUARE.transpose(0, 2, 1) + 3 * np.eye(3)
POINTS, COLUMNS = np.array([[2, 0], [1, 1]]), np.array([1, 3])


def check(graphs: dict[str, Variable], values: dict[Variable, Any], rtol: float = 1e-10) -> None:
    """All graphs in one program, against PyTensor's interpreter."""
    outputs = list(graphs.values())
    inputs = list(values)
    found = pytensor.function(inputs, outputs, mode="XTENSOR", on_unused_input="ignore")(*values.values())
    wanted = pytensor.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")(*values.values())
    for name, f, w in zip(graphs, found, wanted, strict=True):
        assert np.shape(f) == np.shape(w), name
        assert np.asarray(f).dtype == np.asarray(w).dtype, name
        np.testing.assert_allclose(f, w, rtol=rtol, atol=1e-12, err_msg=name)


def with_gradients(graphs: dict[str, Variable], by: Variable) -> dict[str, Variable]:
    found = dict(graphs)
    for name, y in graphs.items():
        if y.type.dtype.startswith("float"):
            weights = pt.arange(1, 1 + y.size).reshape(y.shape) * 0.3 if y.type.ndim else 1.3
            found[f"gradient of {name}"] = pytensor.grad((y * weights).sum(), by)
    return found


x, y = pt.dmatrix("x"), pt.dmatrix("y")
UNARY = (
    "abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos", "cosh", "deg2rad", "erf",
    "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "gamma", "gammaln", "i0", "i1", "j0", "j1", "log", "log10",
    "log1mexp", "log1p", "log2", "neg", "psi", "rad2deg", "reciprocal", "sigmoid", "sign", "sin", "sinh", "softplus",
    "sqr", "sqrt", "tan", "tanh", "tri_gamma", "trunc", "isnan", "isinf", "round",
)  # fmt: skip


def shifted(name: str, v: Any) -> Any:
    return {"arccosh": v + 1, "log1mexp": -v, "ceil": 5 * v, "floor": 5 * v, "trunc": 5 * v, "round": 5 * v}.get(
        name, v
    )


def test_functions_of_one_number() -> None:
    smooth = {n: getattr(pt, n)(shifted(n, x)) for n in UNARY}
    no_gradient = {"i0", "i1", "j1", "ceil", "floor", "trunc", "round", "sign", "isnan", "isinf"}
    check({**smooth, **with_gradients({n: v for n, v in smooth.items() if n not in no_gradient}, x)}, {x: X})


def test_functions_of_two_numbers() -> None:
    graphs = {
        "add": x + y, "sub": x - y, "mul": x * y, "div": x / y, "mod": (5 * x) % y,
        "pow": x**y, "maximum": pt.maximum(x, y), "minimum": pt.minimum(x, y), "arctan2": pt.arctan2(x, y),
        "logaddexp": pt.logaddexp(x, y), "switch": pt.switch(x < y, x * y, y), "clip": pt.clip(x, 0.3, y),
        "clip, bounds crossed": pt.clip(x, 0.6, 0.4),
        "gammainc": pt.gammainc(x, y),
    }  # fmt: skip
    more = {
        "floor_divide": (5 * x) // y, "second": pt.second(x, y), "lt": x < y, "ge": x >= y, "eq": pt.eq(x, x),
        "neq": pt.neq(x, y), "and": pt.and_(x < y, y < 0.5),
        "or": pt.or_(x < y, y < 0.5), "invert": ~(x < y), "int and": pt.and_(pt.cast(9 * x, "int64"), 6),
        "betainc": pt.betainc(x, y, 0.4), "gammaincc": pt.gammaincc(x, y),
        "cast": pt.cast(9 * x, "int8"), "to bool": pt.cast(x, "bool"), "small ints": pt.cast(9 * x, "int8") + 3,
        "int and float": pt.cast(9 * x, "int32") * pt.cast(y, "float32"), "int division": pt.cast(9 * x, "int64") / 2,
        "column": x + y[:, :1].sum(axis=1, keepdims=True), "row": x * y[0], "outer": x[:, 0][:, None] * y[0][None, :],
    }  # fmt: skip
    check({**with_gradients(graphs, x), **more}, {x: X, y: Y})


def test_reductions() -> None:
    graphs: dict[str, Any] = {}
    for axis in (None, 0, 1, (0, 1)):
        for name in ("sum", "prod", "mean", "max", "min", "var", "std", "logsumexp"):
            graphs[f"{name} {axis}"] = getattr(pt, name)(x, axis=axis)
    more = {
        "all": pt.all(x > 0.2, axis=0), "any": pt.any(x > 0.8, axis=1), "keepdims": x.sum(axis=0, keepdims=True),
        "bools": (x > 0.5).sum(), "argmax": pt.argmax(x, axis=0), "argmin": pt.argmin(x), "argmax all": pt.argmax(x),
        "cumsum": pt.cumsum(x, axis=1), "cumprod flat": pt.cumprod(x), "sort": pt.sort(x, axis=0),
        "argsort": pt.argsort(x, axis=1), "softmax": pt.special.softmax(x, axis=1),
        "log_softmax": pt.special.log_softmax(x, axis=0), "searchsorted": pt.searchsorted(pt.sort(x[0]), y),
    }  # fmt: skip
    smooth = ("cumsum", "softmax", "log_softmax")
    check({**with_gradients(graphs, x), **more, **with_gradients({n: more[n] for n in smooth}, x)}, {x: X, y: Y})


def test_shapes() -> None:
    graphs = {
        "transpose": x.T, "dimshuffle": x.dimshuffle(1, "x", 0), "reshape": x.reshape((2, -1)), "ravel": x.ravel(),
        "to 0-d": x[:1, :1].reshape(()), "from 0-d": x.sum().reshape((1, 1)), "join": pt.concatenate([x, y], axis=1),
        "stack": pt.stack([x, y], axis=1), "broadcast": pt.broadcast_to(x[0], (5, 4)), "alloc": pt.alloc(x[0, 0], 2, 3),
        "tile": pt.tile(x, (2, 1)), "repeat": pt.repeat(x, 2, axis=0), "flip": x[::-1], "eye": pt.eye(3) * x[:, :3],
        "vector": pt.stack([x[0, 0], x[1, 1], 2.0]), "diagonal": pt.diagonal(x, offset=1), "diag": pt.diag(x[0]),
        "full": pt.full((2, x.shape[0]), 3.0) * x[:2, :3].T[0, 0], "arange": pt.arange(x.shape[1]) * x[0],
        "shape": x * x.shape[0], "squeeze": x[:1].squeeze(axis=0), "roll": pt.roll(x, 1, axis=0), "tri": pt.tril(x),
        "split": pt.split(x, [1, 3], n_splits=2, axis=1)[1], "pad": pt.pad(x, 1),
    }  # fmt: skip
    check(with_gradients(graphs, x), {x: X, y: Y})


def test_reads_and_updates_by_index() -> None:
    i, j, k = pt.lmatrix("i"), pt.lvector("j"), pt.lscalar("k")
    graphs = {
        "int": x[1], "negative": x[-1, -2], "slice": x[1:, ::2], "reversed": x[::-1, 3:0:-2], "scalar": x[k],
        "until": x[:k], "arrays": x[i, j], "rows": x[i], "columns": x[:, j], "array and slice": x[i, 1:],
        "broadcast": x[i, j[:1]], "mask": x[np.array([True, False, True])], "apart": pt.stack([x, y])[j // 2, :, j],
        "take": pt.take(x, j, axis=1),
        "set": pt.set_subtensor(x[1, :2], y[0, :2]), "inc": pt.inc_subtensor(x[:, 1:], y[:, :3]),
        "set array": pt.set_subtensor(x[j - 1], y[:2]), "inc duplicates": pt.inc_subtensor(x[i[1]], y[:2]),
        "set scalar": pt.set_subtensor(x[k], 7.0), "inc points": pt.inc_subtensor(x[i, j], 2.0),
        "set columns": pt.set_subtensor(x[:, j], y[:, :2]), "choose": pt.take_along_axis(x[:, :2], i, axis=0),
    }  # fmt: skip
    check(with_gradients(graphs, x), {x: X, y: Y, i: POINTS, j: COLUMNS, k: 1})


def test_products_and_matrices() -> None:
    a, p = pt.dtensor3("a"), pt.dtensor3("p")
    graphs = {
        "dot": x @ y.T, "vector": x @ y[0], "of vectors": x[0] @ y[0], "from the left": y[:, 0] @ x,
        "outer": pt.outer(x[0], y[0]),
    }  # fmt: skip
    batched = {"batched": pt.matmul(a, p), "tensordot": pt.tensordot(a, p, axes=[[1], [2]])}
    check(with_gradients(graphs, x) | with_gradients(batched, a), {x: X, y: Y, a: SQUARE, p: POSITIVE})
    la = pt.linalg
    graphs = {
        "cholesky": la.cholesky(p), "upper": la.cholesky(p, lower=False), "solve": la.solve(p, a[:, :, 0], b_ndim=1),
        "solve matrix": la.solve(p, a), "positive": la.solve(p, a, assume_a="pos"), "inv": la.inv(p), "det": la.det(p),
        "slogdet": la.slogdet(p)[1], "triangular": la.solve_triangular(la.cholesky(p), a, lower=True),
        "transposed": la.solve_triangular(la.cholesky(p).mT, a, lower=False), "eigenvalues": la.eigh(p)[0],
        "svd": la.svd(p, compute_uv=False), "one": la.cholesky(p[0]), "expm": la.expm(a[0]),
        "kron": la.kron(a[0], p[0]), "block": la.block_diag(a[0], p[0, :2]), "pinv": la.pinv(p[0]),
    }  # fmt: skip
    no_gradient = {"svd", "expm", "pinv"}
    smooth = with_gradients({n: v for n, v in graphs.items() if n not in no_gradient}, p)
    check({**graphs, **smooth}, {a: SQUARE, p: POSITIVE}, 1e-9)
    skew = a + 2 * pt.eye(3)  # not symmetric: an inverse is not its transpose
    inverses = {"inv": la.inv(skew), "det": la.det(skew), "slogdet": la.slogdet(skew)[1], "one": la.inv(skew[0])}
    wide = {"pinv": la.pinv(skew), "wide": la.pinv(a[:, :2]), "tall": la.pinv(a[0, :, :2])}
    check({**with_gradients(inverses, a), **wide}, {a: SQUARE, p: POSITIVE}, 1e-9)
    q, r = la.qr(a)
    u, s, vh = la.svd(a, full_matrices=False)
    w, v = la.eigh(p)
    check(
        {"qr": q @ r, "svd": (u * s[:, None, :]) @ vh, "eigh": (v * w[:, None, :]) @ v.mT},
        {a: SQUARE, p: POSITIVE},
        1e-9,
    )


def scanned(f: Callable[..., Any], **options: Any) -> Any:
    return pytensor.scan(f, **options, return_updates=False)


def test_scans() -> None:
    n = pt.lscalar("n")
    power = scanned(lambda c, a: c * a, outputs_info=pt.ones_like(x), non_sequences=x, n_steps=n)
    total = scanned(lambda e, c: c + pt.sin(e * c), sequences=x, outputs_info=pt.ones(4))
    two = scanned(
        lambda e, c2, c1: c1 * e + c2, sequences=x[:, 0], outputs_info={"initial": y[0, :2], "taps": [-2, -1]}
    )
    mapped = scanned(lambda e: e.sum(), sequences=x)
    pair = scanned(lambda e, c: (c + e, c * 2.0), sequences=x, outputs_info=[pt.zeros(4), None])
    back = scanned(lambda e, c: c * 0.5 + e, sequences=x, outputs_info=pt.zeros(4), go_backwards=True)
    short = scanned(lambda e, c: c * e, sequences=x[:, 0], outputs_info=pt.ones(()), truncate_gradient=2)
    graphs = {
        "truncated": short, "power": power, "last power": power[-1], "total": total, "two taps": two, "map": mapped,
        "pair": pair[0],
        "other of pair": pair[1], "backwards": back, "last": total[-1],
    }  # fmt: skip
    check(with_gradients(graphs, x), {x: X, y: Y, n: 3})
    second = pytensor.grad(pytensor.grad(total.sum(), x).sum(), x)
    check({"second derivative": second}, {x: X})


def test_sizes_that_follow_from_integers_are_static() -> None:
    n = pt.lscalar("n")
    run = pytensor.function([n, x], [pt.arange(n) * 2, pt.zeros((n, 2)), x[:n]], mode="XTENSOR")
    for count in (3, 2, 0):
        numbers, zeros, rows = run(count, X)
        assert numbers.tolist() == list(range(0, 2 * count, 2))
        assert zeros.shape == (count, 2)
        assert rows.shape == (count, 4)


def test_named_dims() -> None:
    a = px.xtensor("a", dims=("time", "space"), shape=(3, None))
    b = px.xtensor("b", dims=("space",))
    graphs = {
        "aligned": (a * b).values, "mean": a.mean("time").values, "dot": px.dot(a, b, dim="space").values,
        "concat": px.concat([a, a], dim="time").values, "transpose": a.transpose("space", "time").values,
        "isel": a.isel(time=1).values, "stack": a.stack({"z": ("time", "space")}).values,
        "softmax": px.math.softmax(a, "time").values,
        "cumsum": a.cumsum("space").values, "diff": a.diff("time").values, "where": px.where(a > b, a, b).values,
    }  # fmt: skip
    lowered = {n: rewrite_graph(v, include=("lower_xtensor",)) for n, v in graphs.items()}  # these have gradients
    gradients = with_gradients(lowered, a)
    check(graphs | {n: v for n, v in gradients.items() if n not in graphs}, {a: X, b: Y[0]})


def test_updates_checks_and_constants() -> None:
    w = shared(np.zeros(4))
    step = pytensor.function([x], (w**2).sum(), updates=[(w, w + x.sum(0))], mode="XTENSOR")
    assert step(X) == 0
    assert step(X) == pytest.approx((X.sum(0) ** 2).sum())
    np.testing.assert_allclose(w.get_value(), 2 * X.sum(0))
    checked = pytensor.raise_op.Assert("x must be positive")(x, (x > 0).all())
    run = pytensor.function([x], checked.sum(), mode="XTENSOR")
    assert run(X) == pytest.approx(X.sum())
    with pytest.raises(AssertionError, match="x must be positive"):
        run(-X)
    keep = pytensor.function([x], x, mode="XTENSOR")
    assert not np.shares_memory(keep(X), X)


def test_branches_and_functions_of_ours() -> None:
    c = pt.bscalar("c")
    f = xt.to_pytensor(lambda a: xt.sin(a).sum("j"), dims=[("i", "j")])
    graphs = {"branch": ifelse(c, x * 2, y), "ours": f(x)}
    for value in (0, 1):
        check(with_gradients(graphs, x), {x: X, y: Y, c: value})
    # The cotangent depends on the result of the call, whose sizes PyTensor's types do not know.
    slope = pytensor.grad((f(x) ** 2).sum(), x)
    check({"slope": slope, "second": pytensor.grad((slope**2).sum(), x)}, {x: X})


def test_random_variables() -> None:
    rng = shared(np.random.default_rng(7), name="rng")
    size = (20000,)
    cases: dict[str, tuple[Any, float, float]] = {  # the mean and the standard deviation
        "normal": (pt.random.normal(2.0, 3.0, size=size, rng=rng), 2, 3),
        "uniform": (pt.random.uniform(-1, 3, size=size, rng=rng), 1, 4 / np.sqrt(12)),
        "gamma": (pt.random.gamma(4.0, scale=0.5, size=size, rng=rng), 2, 1),
        "beta": (pt.random.beta(2.0, 2.0, size=size, rng=rng), 0.5, np.sqrt(0.05)),
        "exponential": (pt.random.exponential(2.0, size=size, rng=rng), 2, 2),
        "poisson": (pt.random.poisson(3.0, size=size, rng=rng), 3, np.sqrt(3)),
        "binomial": (pt.random.binomial(10, 0.3, size=size, rng=rng), 3, np.sqrt(2.1)),
        "bernoulli": (pt.random.bernoulli(0.3, size=size, rng=rng), 0.3, np.sqrt(0.21)),
        "laplace": (pt.random.laplace(1.0, 2.0, size=size, rng=rng), 1, np.sqrt(8)),
        "logistic": (pt.random.logistic(1.0, 1.0, size=size, rng=rng), 1, np.pi / np.sqrt(3)),
        "halfnormal": (pt.random.halfnormal(0.0, 1.0, size=size, rng=rng), np.sqrt(2 / np.pi), np.sqrt(1 - 2 / np.pi)),
        "invgamma": (pt.random.invgamma(6.0, 5.0, size=size, rng=rng), 1, 0.5),
        "geometric": (pt.random.geometric(0.4, size=size, rng=rng), 2.5, np.sqrt(0.6) / 0.4),
        "triangular": (pt.random.triangular(0.0, 1.0, 2.0, size=size, rng=rng), 1, np.sqrt(1 / 6)),
        "integers": (pt.random.integers(0, 5, size=size, rng=rng), 2, np.sqrt(2)),
        "categorical": (pt.random.categorical(np.array([0.2, 0.3, 0.5]), size=size, rng=rng), 1.3, np.sqrt(0.61)),
        "negative binomial": (pt.random.nbinom(5, 0.5, size=size, rng=rng), 5, np.sqrt(10)),
        "weibull": (pt.random.weibull(1.0, size=size, rng=rng), 1, 1),
        "pareto": (pt.random.pareto(6.0, 1.0, size=size, rng=rng), 1.2, np.sqrt(6 / 100)),
    }
    drawn = pytensor.function([], [v for v, *_ in cases.values()], mode="XTENSOR")()
    for (name, (v, mean, deviation)), values in zip(cases.items(), drawn, strict=True):
        assert values.dtype == v.type.dtype, name
        assert values.mean() == pytest.approx(mean, abs=5 * deviation / np.sqrt(size[0])), name
        assert values.std() == pytest.approx(deviation, rel=0.06), name


def test_generators_advance_and_batches_of_random_variables() -> None:
    rng = shared(np.random.default_rng(1), name="rng")
    after, draw = pt.random.normal(x, 0.1, rng=rng, return_next_rng=True)
    run = pytensor.function([x], draw, updates=[(rng, after)], mode="XTENSOR")
    first, second = run(X), run(X)
    assert np.abs(first - X).max() < 0.6
    assert not np.allclose(first, second)
    assert isinstance(rng.get_value(), np.random.Generator)
    same = shared(np.random.default_rng(1), name="rng")
    again = pytensor.function([x], pt.random.normal(x, 0.1, rng=same), mode="XTENSOR")
    np.testing.assert_array_equal(again(X), again(X))  # a generator without an update stays what it is
    mean = pt.random.multivariate_normal(np.zeros((2, 3)), POSITIVE, rng=same)
    simplex = pt.random.dirichlet(np.ones(3), size=(5,), rng=same)
    found = pytensor.function([], [mean, simplex, pt.random.permutation(np.arange(6), rng=same)], mode="XTENSOR")()
    assert found[0].shape == (2, 3)
    np.testing.assert_allclose(found[1].sum(-1), 1)
    assert sorted(found[2]) == list(range(6))


def test_what_it_does_not_have_is_named_before_anything_runs() -> None:
    with pytest.raises(NotImplementedError, match=r'the mode "XTENSOR" has no MakeList.*Compile this graph in another'):
        pytensor.function([x], make_list([x, x])[1], mode="XTENSOR")
    inside = scanned(lambda row: row[row > 0].sum(), sequences=x)
    late = pytensor.function([x], inside, mode="XTENSOR")
    with pytest.raises(ValueError, match="depends on the elements of an array"):
        late(X)
