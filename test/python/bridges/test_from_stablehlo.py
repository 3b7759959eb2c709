"""xt.from_stablehlo: programs of jax.jit as functions of named arrays, held against JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import jax_or_skip

jax = jax_or_skip()
jnp, lax = jax.numpy, jax.lax
linalg, special = jax.scipy.linalg, jax.scipy.special

pytestmark = pytest.mark.cpu_only("JAX runs on the CPU here")

R = np.random.default_rng(0)
x, y, w, v = (R.standard_normal(shape) for shape in ((5, 4), (5, 4), (4, 3), 4))
n, m = R.integers(-9, 9, (5, 4)), R.integers(1, 5, (5, 4))
z = x + 1j * y
at, two = np.array([3, 0, 0, -1]), np.int64(2)
definite = x.T @ x + np.eye(4)
image, kernel = R.standard_normal((2, 3, 8, 7)), R.standard_normal((4, 3, 3, 2))
odd = np.array([np.nan, 1.0, -np.inf, 3.0, np.nan, 1.0, -0.0])
params = {"w": w, "b": R.standard_normal(3)}


def attention(q: Any, k: Any) -> Any:
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1), k)


def lstm(p: Any, x: Any) -> Any:
    def step(c: Any, a: Any) -> Any:
        return (jax.nn.sigmoid(a @ p["w"]) * c[0] + jnp.tanh(a @ p["w"] + p["b"]), c[1] + 1), c[0]

    return lax.scan(step, (jnp.zeros(3), 0), x)


def transposed_convolution(x: Any, k: Any) -> Any:
    return lax.conv_transpose(x, k.transpose(2, 3, 1, 0), (2, 2), "SAME", dimension_numbers=("NCHW", "HWIO", "NCHW"))


SMOOTH = {
    "tanh": (jnp.tanh, x),
    "layers": (lambda p, x: jax.nn.softmax(jax.nn.gelu(x @ p["w"]) + p["b"]), params, x),
    "arithmetic": (lambda x, y: (x + y, x - y, x * y, x / y, x**2, abs(x) ** y, jnp.maximum(x, y)), x, y),
    "angles": (lambda x, y: (jnp.arctan2(x, y), jnp.hypot(x, y)), x, y),
    "remainders": (lambda x, y: (jnp.fmod(x, y), x % y), x, y),
    "special functions": (
        lambda x: (special.erf(x), special.gammaln(x), special.digamma(abs(x) + 0.1), special.i1e(x)),
        x,
    ),
    "inverse error function": (lambda x: special.erfinv(jnp.tanh(x)), x),
    "sigmoids": (lambda x: (special.expit(x), jnp.logaddexp(x, 1.0), jax.nn.silu(x), special.logsumexp(x, 1)), x),
    "trigonometry": (lambda x: (jnp.sin(x), jnp.cos(x), jnp.tan(x), jnp.arcsin(jnp.tanh(x)), jnp.sinh(x)), x),
    "logarithms": (lambda x: (jnp.cbrt(x), jnp.log2(x * x), jnp.exp2(x), jnp.log1p(x * x), jnp.expm1(x)), x),
    "inverses": (lambda x: (jnp.arccosh(1 + x * x), jnp.arctanh(jnp.tanh(x)), jnp.arcsinh(x), jnp.arctan(x)), x),
    "reductions": (lambda x: (x.sum(), x.mean(0), x.prod(1), x.max(), x.min(0), x.var(1), x.std()), x),
    "norms": (lambda x: (jnp.linalg.norm(x), jnp.median(x, 1)), x),
    "axes": (
        lambda x: (x.T, x.reshape(2, 10), x.reshape(-1), x[None, :, None], x.reshape(5, 2, 2).transpose(2, 0, 1)),
        x,
    ),
    "slices": (lambda x: (x[::2], x[:, ::-1], x[1:3, 1], x[2]), x),
    "ends": (lambda x: (jnp.pad(x, ((1, 2), (0, 1))), jnp.stack([x, x]), jnp.tile(x, (2, 1)), jnp.roll(x, 1, 0)), x),
    "negative pads": (lambda x: lax.pad(x, 0.0, ((-1, 2, 1), (1, -1, 0))), x),
    "products": (lambda x, w, v: (x @ w, x @ v, jnp.outer(v, v), x @ x.T, jnp.einsum("ij,ij->i", x, x)), x, w, v),
    "batches of products": (lambda a: jnp.einsum("bij,bjk->bik", a, a), R.standard_normal((2, 3, 3))),
    "sort": (lambda x: (jnp.sort(x, 1), lax.top_k(x, 2)), x),
    "running": (lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 0), lax.cumsum(x, 1, reverse=True)), x),
    "positions": (lambda x, i: (x[i], x[:, i], x[i, i], x[i][:, i]), x, at),
    "pairs": (lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), x),
    "updates": (lambda x, i: (x.at[i].set(1.0), x.at[i].add(2.0), x.at[1:3].set(0.0), x.at[0, 1].add(1.0)), x, at),
    "products by position": (lambda x, i: (x.at[:, i].multiply(3.0), x.at[i, i].max(0.5)), x, at),
    "dynamic positions": (
        lambda x, k: (x[k], lax.dynamic_slice(x, (k, 1), (2, 2)), lax.dynamic_update_slice(x, x[:2, :2], (k, k))),
        x,
        two,
    ),
    "choices": (lambda x: (jnp.where(x > 0, x, 0.0), jnp.clip(x, -1, 1)), x),
    "convolutions": (
        lambda x, k: (
            lax.conv(x, k, (1, 1), "SAME"),
            lax.conv_general_dilated(x, k, (2, 1), ((1, 2), (0, 3)), rhs_dilation=(2, 1)),
            transposed_convolution(x, k),
        ),
        image,
        kernel,
    ),
    "convolutions by group": (
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "VALID", feature_group_count=3),
        image,
        R.standard_normal((6, 1, 3, 2)),
    ),
    "pooling": (
        lambda x: (
            lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
            lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 1, 1), "SAME"),
        ),
        image,
    ),
    "scan": (lambda x: lax.scan(lambda c, a: (c * 0.5 + jnp.tanh(a), c * 2), jnp.zeros(4), x), x),
    "a loop in a loop": (
        lambda x: lax.fori_loop(0, 5, lambda i, c: c + lax.fori_loop(0, 2, lambda j, d: d * x[i], c), v),
        x,
    ),
    "lstm": (lstm, params, x),
    "branches": (
        lambda x, k: (
            lax.cond(k > 1, lambda: x, lambda: -x),
            lax.switch(k, [lambda: x, lambda: x * 2, lambda: x * 3]),
        ),
        x,
        two,
    ),
    "cholesky": (
        lambda a, b: (
            jnp.linalg.cholesky(a),
            linalg.solve_triangular(jnp.linalg.cholesky(a), b, lower=True, trans=1),
            linalg.cho_solve((jnp.linalg.cholesky(a), True), b),
        ),
        definite,
        v,
    ),
    "log density": (lambda a, b: jax.scipy.stats.multivariate_normal.logpdf(b, jnp.zeros(4), a), definite, v),
    "hessian": (jax.hessian(lambda v: (jnp.tanh(x @ v) ** 2).sum()), v),
    "gradient": (jax.grad(lambda p, x: (jnp.tanh(x @ p["w"]) ** 2).sum()), params, x),
    "vmap": (jax.vmap(lambda a, b: a[b]), x, np.array([0, 1, 2, 3, 0])),
    "attention": (attention, R.standard_normal((2, 5, 2, 4)), R.standard_normal((2, 6, 2, 4))),
    "segments": (lambda x, i: jax.ops.segment_sum(x, i, num_segments=3), x, np.array([0, 2, 0, 5, 1])),
    "interpolation": (lambda a: jnp.interp(a, jnp.arange(5.0), jnp.arange(5.0) ** 2), x),
}
OTHER = {
    "while": (lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2 + 1, abs(x)), x),
    "integers": (
        lambda n, m: (n // m, n % m, lax.div(n, m), lax.rem(n, m), n << 1, n >> 1, n & m, n | m, n ^ m, ~n),
        n,
        m,
    ),
    "integers without sign": (lambda n, m: (lax.shift_right_logical(n, m), n.astype("u4") // 3), n, m),
    "rounding": (
        lambda x: (jnp.trunc(x), jnp.round(x * 3), lax.round(x * 3), jnp.floor(x), jnp.ceil(x), jnp.sign(x)),
        x,
    ),
    "tests of floats": (lambda x: (jnp.isnan(x), jnp.isfinite(x), jnp.isinf(x), jnp.nan_to_num(x)), odd),
    "NaN": (lambda x: (jnp.sort(x), jnp.argsort(x), x.max(), x.argmax(), jnp.nansum(x), jnp.maximum(x, 0.0)), odd),
    "extremes": (
        lambda x, n: (x.argmax(1), x.argmin(0), n.argmax(), n.argmin(1), (x > 0).any(0), (x > -9).all()),
        x,
        n,
    ),
    "sorts of integers": (lambda n: (jnp.sort(n, 0), jnp.argsort(n, 1), jnp.sort(n, 0, descending=True)), n),
    "counts": (lambda n: (jnp.bincount(n, length=5), jnp.searchsorted(jnp.sort(v), x[0])), m.ravel()),
    "transforms": (
        lambda z, x: (jnp.fft.fft(z), jnp.fft.ifft(z, axis=0), jnp.fft.rfft(x), jnp.fft.irfft(z, n=6)),
        z,
        x,
    ),
    "complex": (
        lambda z: (
            z * z,
            jnp.exp(z),
            abs(z),
            z.real,
            z.imag,
            z.conj(),
            jnp.angle(z),
            z * (1 + 2j),
            z[0] * jnp.array([1j, 2.0, complex(np.inf, 0), 4]),
        ),
        z,
    ),
    "casts": (lambda x: (x.astype("f4"), x.astype(int), x.astype(bool), (x > 0).astype("i1")), x),
    "narrow floats": (lambda x: (x.astype(jnp.bfloat16).astype("f4"), lax.reduce_precision(x, 5, 10)), x),
    "random numbers": (
        lambda k: (jax.random.normal(k, (3,)), jax.random.uniform(k, (2, 2))),
        jax.random.key_data(jax.random.key(3)),
    ),
    "dropout": (lambda x: jnp.where(jax.random.bernoulli(jax.random.key(0), 0.5, x.shape), x, 0.0), x),
    "gammainc": (lambda x: special.gammainc(2.0, abs(x)), x),
    "unused": (lambda x, u, y: x + y, x, v, y),
    "no elements": (lambda x: (x[:0], x[:0].sum(0), jnp.concatenate([x[:0], x])), x),
}


def imported(f: Any, args: Any) -> tuple[Any, Any]:
    """The function of named arrays, and its arguments."""
    lowered = jax.jit(f, keep_unused=True).lower(*args)
    g = xt.from_stablehlo(lowered)
    leaves = iter(dims_of(g))
    return g, jax.tree.map(lambda a: xt.array(np.asarray(a), next(leaves)), args)


def dims_of(g: Any) -> list[tuple[str, ...]]:
    """The dims of the arguments, as the docstring of the function tells them."""
    told = g.__doc__.partition("Arguments: ")[2].partition(". Dims of results")[0]
    groups = [part.partition(")")[0].strip("( ") for part in told.split("; ")]
    return [tuple(p.partition(":")[0].strip() for p in group.split(",")) if group else () for group in groups]


def compare(found: Any, wanted: Any, tolerance: float = 1e-10) -> None:
    found, wanted = jax.tree.leaves(found), jax.tree.leaves(wanted)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a.values, np.asarray(b), rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", [*SMOOTH, *OTHER])
def test_a_program_of_jax_gives_the_same_numbers(name: str) -> None:
    f, *args = (SMOOTH | OTHER)[name]
    g, arrays = imported(f, tuple(args))
    compare(g(*arrays), jax.jit(f)(*args))


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", SMOOTH)
def test_and_the_same_gradients(name: str) -> None:
    f, *args = SMOOTH[name]
    g, arrays = imported(f, tuple(args))
    flat, structure = jax.tree.flatten(tuple(args))
    named = jax.tree.leaves(arrays)
    floats = [i for i, a in enumerate(flat) if a.dtype.kind == "f"]

    def loss(call: Any, sin: Any, leaves: Any) -> Any:
        def of(*moved: Any) -> Any:
            every = list(leaves)
            for i, a in zip(floats, moved, strict=True):
                every[i] = a
            results = jax.tree.leaves(call(*jax.tree.unflatten(structure, every)))
            return sum(sin(y).sum() for y in results if jnp.issubdtype(y.dtype, jnp.floating))

        return of

    wrt = tuple(range(len(floats)))
    found = xt.jit(xt.grad(loss(g, xt.sin, named), wrt=wrt))(*[named[i] for i in floats])
    wanted = jax.grad(loss(f, jnp.sin, flat), wrt)(*[flat[i] for i in floats])
    compare(found, wanted, 1e-7)


# -- names --------------------------------------------------------------------------------------------------------


def test_axes_that_match_get_one_name() -> None:
    lowered = jax.jit(lambda x, w, b: x @ w + b).lower(x, w, params["b"])
    g = xt.from_stablehlo(lowered)
    assert dims_of(g) == [("d0", "d1"), ("d1", "d2"), ("d2",)]
    assert g(xt.array(x, ("d0", "d1")), xt.array(w, ("d1", "d2")), xt.array(params["b"], "d2")).dims == ("d0", "d2")


def test_results_have_the_names_of_the_arguments() -> None:
    lowered = jax.jit(lambda x: (x.T @ x, x.sum(0), x.reshape(2, 10), jnp.concatenate([x, x]))).lower(x)
    g = xt.from_stablehlo(lowered, dims=[("time", "place")])
    found = g(xt.array(x, ("time", "place")))
    assert [a.dims for a in found] == [("place", "place'"), ("place",), ("d0", "d1"), ("d2", "place")]


def test_arguments_align_by_name() -> None:
    g = xt.from_stablehlo(jax.jit(lambda x: x[:, 0]).lower(x), dims=[("a", "b")])
    np.testing.assert_array_equal(g(xt.array(x.T, ("b", "a"))).values, x[:, 0])


def test_two_names_for_axes_that_match() -> None:
    g = xt.from_stablehlo(jax.jit(lambda x, y: x + y).lower(x, y), dims=[("a", "b"), ("c", "d")])
    assert g(xt.array(x, ("a", "b")), xt.array(y, ("c", "d"))).dims == ("a", "b")


# -- what works on it ---------------------------------------------------------------------------------------------


def test_text_takes_arrays_by_position() -> None:
    text = jax.jit(lambda p, x: {"y": x @ p["w"]}).lower({"w": w}, x).as_text()
    g = xt.from_stablehlo(text)
    assert g.__name__ == "_lambda"
    compare(g(xt.array(w, ("d0", "d1")), xt.array(x, ("d2", "d0"))), x @ w)


def test_an_exported_program() -> None:
    exported = jax.export.export(jax.jit(lambda p, x: {"y": x @ p["w"]}))({"w": w}, x)
    found = xt.from_stablehlo(exported)({"w": xt.array(w, ("d0", "d1"))}, xt.array(x, ("d2", "d0")))
    compare(found, {"y": x @ w})


def test_keywords() -> None:
    g = xt.from_stablehlo(jax.jit(lambda x, k: x * k).lower(x, k=2.0), dims=[("a", "b"), ()])
    compare(g(xt.array(x, ("a", "b")), k=3.0), x * 3.0)


def test_vectorize_and_jacobian() -> None:
    g = xt.from_stablehlo(jax.jit(lambda v, w: jnp.tanh(v @ w)).lower(v, w), dims=["i", ("i", "o")])
    batch, weights = xt.array(x, ("b", "i")), xt.array(w, ("i", "o"))
    compare(xt.vectorize(g, "b")(batch, weights), np.tanh(x @ w))
    jacobian = xt.vectorize(xt.jacobian(g), "b")(batch, weights)
    compare(jacobian, jax.vmap(jax.jacobian(lambda v: jnp.tanh(v @ w)))(x))


def test_a_bundle(tmp_path: Any) -> None:
    g = xt.from_stablehlo(jax.jit(lambda x, w: jnp.tanh(x @ w)).lower(x, w))
    xt.export(g, (xt.spec(d0=5, d1=4), xt.spec(d1=4, d2=3)), path=tmp_path / "f.xtb")
    compare(xt.load(tmp_path / "f.xtb")(xt.array(x, ("d0", "d1")), xt.array(w, ("d1", "d2"))), np.tanh(x @ w))


@pytest.mark.parametrize("name", ["layers", "positions", "updates", "cholesky", "running", "convolutions", "complex"])
def test_there_and_back(name: str) -> None:
    """JAX's program, as a text of ours, as a function again."""
    f, *args = (SMOOTH | OTHER)[name]
    g, arrays = imported(f, tuple(args))
    text = xt.to_stablehlo(g, *arrays)
    again = xt.from_stablehlo(text, dims=[a.dims for a in jax.tree.leaves(arrays)])
    compare(again(*jax.tree.leaves(arrays)), jax.jit(f)(*args))


# -- errors -------------------------------------------------------------------------------------------------------


def test_an_op_without_counterpart_is_named_with_its_line() -> None:
    def f(x: Any) -> Any:
        return jnp.linalg.eigh(x)

    g = xt.from_stablehlo(jax.jit(f).lower(definite))
    with pytest.raises(xt.UnsupportedError) as caught:
        g(xt.array(definite, dims_of(g)[0]))
    assert "xt.from_stablehlo(f): custom_call @lapack_dsyevd_ffi of (tensor<4x4xf64>): it calls a library" in str(
        caught.value
    )
    assert str(caught.value).endswith(f"\n  at {__file__}:{f.__code__.co_firstlineno + 1}")


@pytest.mark.parametrize(
    ("argument", "kind", "message"),
    [
        (
            xt.array(x, ("a", "c")),
            xt.DimensionError,
            r"argument \[0\] is \(a: 5, c: 4\), and the program takes \(a: 5, b: 4\)",
        ),
        (xt.array(x[:3], ("a", "b")), xt.SizeError, r"\(a: 3, b: 4\), and the program takes \(a: 5, b: 4\)"),
        (
            xt.array(x.astype("f4"), ("a", "b")),
            xt.DTypeError,
            r"argument \[0\] is float32, and the program takes float64. Write x.astype\('float64'\)",
        ),
    ],
)
def test_an_argument_that_does_not_fit(argument: Any, kind: Any, message: str) -> None:
    g = xt.from_stablehlo(jax.jit(jnp.tanh).lower(x), dims=[("a", "b")])
    with pytest.raises(kind, match=message):
        g(argument)


def test_an_error_gives_the_place_of_an_argument_in_its_pytree() -> None:
    """JAX sorts the keys of dicts, and leaves out arguments without effect."""
    lowered = jax.jit(lambda p, unused, y: p["w"] @ p["b"] * y).lower({"w": x, "b": x[0]}, x, y=x[0, 0])
    g = xt.from_stablehlo(lowered, ["b", ("a", "b"), ()])
    p = {"w": xt.array(x, ("a", "b")), "b": xt.array(x[0], "b")}
    compare(g(p, p["w"], y=xt.array(x[0, 0])), x @ x[0] * x[0, 0])
    for wrong, said in (
        ({"b": xt.array(x[0], "c")}, r"argument \[0\]\['b'\]"),
        ({"w": p["b"]}, r"argument \[0\]\['w'\]"),
    ):
        with pytest.raises(xt.DimensionError, match=said):
            g({**p, **wrong}, p["w"], y=xt.array(x[0, 0]))
    with pytest.raises(xt.DimensionError, match=r"argument \['y'\]"):
        g(p, p["w"], y=p["b"])


def test_other_arguments_than_those_of_the_function_of_jax() -> None:
    g = xt.from_stablehlo(jax.jit(lambda p, x: p["a"] * x).lower({"a": x}, x))
    message = r"xt.from_stablehlo\(_lambda\): the arguments are \({'b': \*}, \*\), and those .* are \({'a': \*}, \*\)\n"
    with pytest.raises(xt.ArgumentTypeError, match=message):
        g({"b": 1.0}, 2.0)
    with pytest.raises(xt.ArgumentTypeError, match=r"the arguments are \(\), and those for which JAX lowered it are"):
        g()
    of_text = xt.from_stablehlo(jax.jit(jnp.tanh).lower(x).as_text())
    with pytest.raises(xt.ArgumentTypeError, match=r"xt.from_stablehlo\(\w+\): it takes 1 array, got 2"):
        of_text(1.0, 2.0)


@pytest.mark.parametrize(
    ("program", "dims", "message"),
    [
        ("func.func @f() { return }", None, "the module has no function main, but f"),
        ("nonsense", None, "this is not a module of StableHLO"),
        (3, None, "the text of a module is needed"),
        (jax.jit(jnp.tanh).lower(x), [("a",)], r"argument \[0\] of tanh is tensor<5x4xf..>, with 2 axes"),
        (jax.jit(jnp.tanh).lower(x), [("a", "b"), ()], "2 entries for the 1 array that"),
        (jax.jit(jnp.tanh).lower(x), "ab", "a list of the dims of each argument"),
    ],
)
def test_a_program_that_is_refused(program: Any, dims: Any, message: str) -> None:
    with pytest.raises((xt.ArgumentError, xt.ArgumentTypeError, xt.DimensionError), match=message):
        xt.from_stablehlo(program, dims)


def test_reads_out_of_range_have_the_values_and_gradients_of_jax() -> None:
    """A read takes the nearest element, and its derivative is 0 there."""
    places = np.array([1, 7, -9, -2, 3])
    reads = {
        "elements": lambda a, i: (a[i] ** 2).sum(),
        "rows": lambda a, i: (a[:, i] ** 2).sum(),
        "several axes": lambda a, i: (a[i % 3, i] ** 2).sum(),
        "filled": lambda a, i: (a.at[i].get(mode="fill", fill_value=2.0) ** 2).sum(),
        "batched": lambda a, i: jax.vmap(lambda r, k: (r[k] ** 2).sum(), (0, None))(a, i).sum(),
    }
    for name, f in reads.items():
        g = xt.from_stablehlo(jax.jit(f).lower(x, places), [("a", "b"), "i"])
        given, index = xt.array(x, ("a", "b")), xt.array(places, "i")
        a, i = jnp.asarray(x), jnp.asarray(places)
        np.testing.assert_allclose(g(given, index).values, f(a, i), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(xt.grad(g)(given, index).values, jax.grad(f)(a, i), rtol=1e-12, err_msg=name)
    text = xt.jit(g).lower(given, index).as_text("differentiated")
    assert "select" not in text or "stop_gradient" not in text
