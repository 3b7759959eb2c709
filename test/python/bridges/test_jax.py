"""xt.to_jax: values, derivatives in both modes, batches, shared memory, lifetimes, errors."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native

jax = pytest.importorskip("jax", reason="JAX is not installed (XTENSOR_PEERS=1)")
jnp = jax.numpy
check_grads = pytest.importorskip("jax.test_util").check_grads
pytestmark = [
    pytest.mark.cpu_only("JAX's arrays are on the CPU"),
    pytest.mark.skipif(not hasattr(_native, "jax_handlers"), reason="xtensor was built without jaxlib"),
]


@pytest.fixture(autouse=True, params=[True], ids=["x64"])
def x64(request: pytest.FixtureRequest) -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)
    yield
    jax.config.update("jax_enable_x64", before)


in_32_bits = pytest.mark.parametrize("x64", [False], indirect=True)


def layer(p: Any, x: Any) -> Any:
    h = xt.tanh(xt.dot(x, p["w"], dim="i") + p["b"])
    return {"y": h, "best": xt.argmax(h, "o"), "loss": (h * h).sum()}


def layer_of_jax(p: Any, x: Any) -> Any:
    h = jnp.tanh(x @ p["w"] + p["b"])
    return {"y": h, "best": h.argmax(1), "loss": (h * h).sum()}


PARAMETERS = {"w": xt.spec(i=3, o=4, dtype="f8"), "b": xt.spec(o=4, dtype="f8")}
INPUT = xt.spec(batch=None, i=3, dtype="f8")


def values(*shape: int, seed: int = 0, dtype: str = "f8") -> Any:
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def arguments(batch: int = 5) -> tuple[Any, Any]:
    return {"w": values(3, 4), "b": values(4, seed=1)}, values(batch, 3, seed=2)


def same(got: Any, want: Any, rtol: float = 1e-9) -> None:
    def compare(a: Any, b: Any) -> None:
        assert a.dtype == b.dtype
        if a.dtype == jax.dtypes.float0:  # the tangent of an integer
            return
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)

    jax.tree.map(compare, got, want)


def third(f: Any) -> Any:
    def once(g: Any) -> Any:
        return lambda p, x: sum((d * d).sum() for d in jax.tree.leaves(jax.grad(g, (0, 1))(p, x)))

    return jax.grad(once(once(lambda p, x: f(p, x)["loss"] + (f(p, x)["y"] ** 3).sum())), (0, 1))


TRANSFORMS = {
    "value": lambda f: f,
    "jit": jax.jit,
    "grad": lambda f: jax.jit(jax.grad(lambda p, x: f(p, x)["loss"])),
    "third": third,
    "jvp": lambda f: lambda p, x: jax.jvp(f, (p, x), jax.tree.map(lambda a: a + 1, (p, x))),
    "jvp of one": lambda f: lambda p, x: jax.jvp(lambda x: f(p, x)["y"], (x,), (x,)),
    "linearize": lambda f: lambda p, x: jax.linearize(lambda x: f(p, x)["y"], x)[1](x),
    "hessian": lambda f: lambda p, x: jax.hessian(lambda x: f(p, x)["loss"])(x),
    "vmap": lambda f: lambda p, x: jax.vmap(f, (None, 0))(p, jnp.stack([x, 2 * x])),
    "vmap of an inner axis": lambda f: lambda p, x: jax.vmap(lambda p, x: f(p, x)["y"], (None, 1), 1)(
        p, jnp.stack([x, 2 * x], 1)
    ),
    "vmap of vmap": lambda f: lambda p, x: jax.vmap(jax.vmap(f, (None, 0)), (0, None))(
        jax.tree.map(lambda a: jnp.stack([a, 2 * a, 3 * a]), p), jnp.stack([x, 2 * x])
    ),
    "gradients of instances": lambda f: lambda p, x: jax.vmap(
        jax.grad(lambda p, x: f(p, x[None])["loss"]), (None, 0)
    )(p, x),
    "gradient of a vmap": lambda f: jax.grad(lambda p, x: jax.vmap(f, (None, 0))(p, x[:, None])["loss"].sum()),
    "remat": lambda f: jax.grad(jax.checkpoint(lambda p, x: f(p, x)["loss"])),
    "scan": lambda f: jax.grad(
        lambda p, x: jax.lax.scan(lambda c, x: (c + f(p, x[None])["loss"], None), 0.0, x)[0]
    ),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_it_gives_what_jax_gives(transform: str) -> None:
    g = xt.to_jax(layer, (PARAMETERS, INPUT))
    p, x = arguments()
    same(TRANSFORMS[transform](g)(p, x), jax.jit(TRANSFORMS[transform](layer_of_jax))(p, x))


def test_derivatives_against_finite_differences() -> None:
    g = xt.to_jax(lambda x, y: xt.dot(xt.sin(x), y, dim="i") / (1 + xt.max(x)), (xt.spec(a=None, i=3), xt.spec(i=3)))
    check_grads(g, (values(2, 3), values(3, seed=1)), order=2, modes=("fwd", "rev"))


def test_arguments_by_keyword() -> None:
    g = xt.to_jax(layer, (PARAMETERS, INPUT))
    p, x = arguments()
    same(jax.jit(g)(x=x, p=p), layer_of_jax(p, x))


def test_each_library_refuses_what_the_other_traces() -> None:
    x = values(2)
    for f in (xt.exp, xt.jit(lambda x: x), lambda x: xt.ones(a=2) + x, lambda x: xt.array(x, "a")):
        for transform in (jax.jit, jax.grad, jax.vmap):
            with pytest.raises(
                xt.ArgumentTypeError, match=r"a traced array of JAX, of shape .*Write g = xt.to_jax\(f, "
            ):
                transform(f)(x)
    with pytest.raises(xt.ArgumentTypeError, match=r"JAX was asked to read an array.*xt.tanh for jnp.tanh") as e:
        xt.jit(jnp.asarray)(xt.ones(a=2))
    assert e.value.parts[1] is not None and e.value.parts[1].startswith(__file__)
    with pytest.raises(TypeError) as other:
        xt.jit(lambda x: jnp.tanh(x))(xt.ones(a=2))
    assert isinstance(other.value.__cause__ or other.value.__context__, xt.ArgumentTypeError)
    np.testing.assert_array_equal(jnp.asarray(xt.ones(a=2)), np.ones(2))


def test_another_size_is_another_program() -> None:
    g = xt.to_jax(layer, (PARAMETERS, INPUT))
    for batch in (5, 1, 0, 5):
        p, x = arguments(batch)
        same(g(p, x)["y"], layer_of_jax(p, x)["y"])


def test_the_gradient_of_a_loss_is_all_that_its_forward_pass_keeps() -> None:
    def loss(w: Any, x: Any) -> Any:
        h = xt.tanh(xt.dot(x, w, dim="i"))
        return xt.sum(h * h), xt.argmax(h, "n")

    g = xt.to_jax(loss, (xt.spec(i=3), xt.spec(n=5, i=3)))
    w, x = np.linspace(0.1, 0.5, 3), np.linspace(-1.0, 1.0, 15).reshape(5, 3)

    def theirs(w: Any, x: Any) -> Any:
        h = jnp.tanh(x @ w)
        return (h * h).sum(), h.argmax()

    forward, back = jax.make_jaxpr(jax.grad(g, has_aux=True))(w, x).jaxpr.eqns
    assert [v.aval.shape for v in forward.outvars] == [(), (), (3,)]
    assert [v.aval.shape for v in back.invars] == [(3,), ()]
    for argument in (0, 1, (0, 1)):
        found = jax.value_and_grad(g, argument, has_aux=True)(w, x)
        jax.tree.map(np.testing.assert_allclose, found, jax.value_and_grad(theirs, argument, has_aux=True)(w, x))
    check_grads(lambda w, x: g(w, x)[0], (w, x), order=2)


def test_complex_arrays() -> None:
    g = xt.to_jax(lambda z: xt.abs(z * z) + xt.real(z) + xt.imag(z * z * z), xt.spec(a=None, dtype="c16"))

    def of_jax(z: Any) -> Any:
        return jnp.abs(z * z) + z.real + (z * z * z).imag

    z = values(3) + 1j * values(3, seed=1)
    same(jax.grad(lambda z: g(z).sum())(z), jax.grad(lambda z: of_jax(z).sum())(z))
    h = xt.to_jax(lambda z: z * z * xt.exp(z), xt.spec(a=None, dtype="c16"))
    same(jax.vjp(h, z)[1](z), jax.vjp(lambda z: z * z * jnp.exp(z), z)[1](z))
    same(jax.jvp(h, (z,), (z,)), jax.jvp(lambda z: z * z * jnp.exp(z), (z,), (z,)))


def test_arrays_that_the_function_reads_from_outside_and_integers() -> None:
    table = xt.array(np.arange(12.0).reshape(4, 3), ("row", "i"))
    g = xt.to_jax(lambda k, x: xt.dot(xt.take(table, k, dim="row"), x, dim="i"), (xt.spec(n=None, dtype="i4"), INPUT))
    k, x = jnp.asarray([3, 0, 3], "i4"), values(2, 3)
    want = jnp.asarray(table.values)[k] @ x.T
    same(jax.jit(g)(k, x), want)
    same(jax.grad(lambda x: (g(k, x) ** 2).sum())(x), jax.grad(lambda x: ((table.values[k] @ x.T) ** 2).sum())(x))
    same(jax.vmap(g, (0, None))(jnp.stack([k, k]), x), jnp.stack([want, want]))


@in_32_bits
def test_residuals_may_have_64_bits_where_jax_has_not() -> None:
    scale = xt.array([1.0, 3.0], "j")  # float64

    def f(x: Any) -> Any:
        return (xt.sort(x, dim="i").astype("f8") * scale).sum("j").astype("f4") * xt.max(x, "i")

    def of_jax(x: Any) -> Any:
        return jnp.sort(x, 1) * 4 * x.max(1, keepdims=True)

    g = xt.to_jax(f, xt.spec(a=None, i=3, dtype="f4"))
    x = values(2, 3, dtype="f4")
    for transform in (lambda f: f, lambda f: jax.grad(lambda x: f(x).sum()), lambda f: jax.jvp(f, (x,), (x,))):
        got, want = transform(g), transform(of_jax)
        same(*(got, want) if isinstance(got, tuple) else (got(x), want(x)), rtol=1e-5)
    got, want = (jax.vmap(jax.grad(lambda x, f=f: f(x).sum()), 1)(jnp.stack([x, 2 * x], 1)) for f in (g, of_jax))
    same(got, want, rtol=1e-5)


@in_32_bits
def test_types_that_jax_has_not() -> None:
    x = values(2, dtype="f4")
    with pytest.raises(xt.DTypeError, match=r"argument \[0\] is float64 in args=. JAX has numbers of 64 bits after"):
        xt.to_jax(lambda x: x, xt.spec(a=2))(x)
    with pytest.raises(xt.DTypeError, match=r"result 0 is int64. Return y.astype\('int32'\)"):
        xt.to_jax(lambda x: xt.argmax(x), xt.spec(a=2, dtype="f4"))(x)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int8", "uint8", "int64", "bool", "complex64"])
def test_dtypes(dtype: str) -> None:
    x = jnp.asarray([1, 0, 3]).astype(dtype)
    got = jax.jit(xt.to_jax(lambda x: xt.flip(x, "a"), xt.spec(a=3, dtype=dtype)))(x)
    assert got.dtype == x.dtype and bool((got == x[::-1]).all())


def test_the_code_works_on_the_memory_of_xla() -> None:
    g = xt.to_jax(lambda x: 2 * x, xt.spec(a=None))
    x = values(1000)
    bridge = sys.modules["xtensor.bridges.jax"]
    seen: list[list[int]] = []

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p)
    def entry(buffers: Any, sizes: Any, status: Any) -> None:
        seen.append([buffers[0], buffers[1]])

    kind = _native.ArrayType("float64", ("a",), (1000,))
    address = ctypes.cast(entry, ctypes.c_void_p).value
    spy = _native.Executable(address, [kind], [kind])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge, "load", lambda program: spy)
        y = jax.jit(g)(x)
        jax.block_until_ready(y)
    assert seen == [[x.unsafe_buffer_pointer(), y.unsafe_buffer_pointer()]]


def test_what_jax_compiled_outlives_the_function() -> None:
    g = xt.to_jax(lambda x: x * x, xt.spec(a=None))
    x = values(3)
    compiled = jax.jit(g).lower(x).compile()
    del g
    bridge = sys.modules["xtensor.bridges.jax"]
    bridge._loaded.known.clear()
    gc.collect()
    same(compiled(x), x * x)
    with pytest.raises(xt.UnsupportedError, match="was not compiled in this process"):
        bridge._find("no such program")


def test_errors_say_which_argument_and_what_args_has() -> None:
    g = xt.to_jax(layer, (PARAMETERS, INPUT))
    p, x = arguments()
    with pytest.raises(
        xt.DTypeError, match=r"argument \[1\] is float32, and args= says float64. Write x.astype\(.float64"
    ) as e:
        g(p, x.astype("f4"))
    assert e.value.parts[1] is not None and e.value.parts[1].startswith(__file__)
    with pytest.raises(xt.SizeError, match=r"shape \(5, 4\), and args= says \(batch: \?, i: 3\). In args=, N"):
        jax.jit(g)(p, values(5, 4))
    with pytest.raises(xt.SizeError, match=r"shape \(3, 5\).*another order, write x.transpose\(1, 0\)"):
        g(p, x.T)
    with pytest.raises(xt.SizeError, match=r"shape \(3,\).*Give it one axis for each dim"):
        g(p, x[0])
    with pytest.raises(xt.ArgumentTypeError, match=r"argument \[1\] is a str, not an array of JAX or NumPy"):
        g(p, "x")
    with pytest.raises(
        xt.ArgumentTypeError, match=r"the arguments are .* and those of args= are .*Give one array for each"
    ):
        g(p)
    with pytest.raises(xt.ArgumentTypeError, match=r"is a Tracer, .*named arrays itself, layer\("):
        xt.grad(lambda x: xt.sum(g(p, x)["y"]))(xt.ones(batch=5, i=3))
    with pytest.raises(xt.DTypeError, match=r"argument \[1\] is float32, and args= says float64"):
        g(p, np.ones((5, 3), "f4"))
    with pytest.raises(xt.ArgumentTypeError, match=r"an Array, not an array of JAX or NumPy. Write x.values"):
        g(p, xt.ones(batch=5, i=3))
    with pytest.raises(xt.ArgumentTypeError, match="z= is given by keyword, and is not one of the arguments"):
        g(p, z=x)
    with pytest.raises(xt.ArgumentTypeError, match=r"args= has the type of no array, but 'batch'. Give the type of"):
        xt.to_jax(layer, ("batch", "pixel"))
    h = xt.to_jax(lambda x, i: x.isel(a=i), (xt.spec(a=3), xt.spec(n=1, dtype="i4")))
    with pytest.raises(
        jax.errors.JaxRuntimeError, match=r"IndexError: .*index 7 is out of range for size 3 of dim 'a'"
    ):
        jax.block_until_ready(h(values(3), jnp.asarray([7], "i4")))


def test_names_beside_shapes() -> None:
    """A ShapeDtypeStruct fixes the sizes; an array as an example leaves them open."""
    a, b = jnp.arange(3.0), jnp.arange(6.0).reshape(2, 3)
    struct = jax.ShapeDtypeStruct((3,), a.dtype)
    g = xt.to_jax(lambda p, b: xt.dot(p["a"], b, dim="i"), ({"a": struct}, b), dims=["i", ("j", "i")])
    np.testing.assert_allclose(jax.jit(g)({"a": a}, b), b @ a)
    np.testing.assert_allclose(g({"a": a}, b[:1]), b[:1] @ a)
    np.testing.assert_allclose(jax.grad(lambda a: g({"a": a}, b).sum())(a), b.sum(0))
    with pytest.raises(xt.SizeError, match=r"has the shape \(2,\), and args= says \(i: 3\)"):
        g({"a": a[:2]}, b)
    mixed = xt.to_jax(lambda a, b: xt.dot(a, b, dim="i"), (xt.spec(i=None), b), dims=[("j", "i")])
    np.testing.assert_allclose(mixed(a, b), b @ a)
    with pytest.raises(xt.ArgumentError, match="names for 1 array, and args= has 2 without names"):
        xt.to_jax(lambda a, b: a, (a, b), dims=["i"])
    with pytest.raises(xt.DimensionError, match=r"\('i', 'j'\) does not name the dims of shape \(3,\)"):
        xt.to_jax(lambda a: a, a, dims=[("i", "j")])
    with pytest.raises(xt.ArgumentTypeError, match="a list with the names of each array is needed"):
        xt.to_jax(lambda a: a, a, dims="i")
    with pytest.raises(xt.ArgumentTypeError, match=r"or name the dims of each by dims="):
        xt.to_jax(lambda a: a, a)


def test_an_export_for_this_process() -> None:
    from jax import export

    g = xt.to_jax(lambda x: xt.sum(x * x, "i"), xt.spec(i=3))
    allowed = [export.DisabledSafetyCheck.custom_call("xtensor_program")]
    with pytest.raises(ValueError, match="custom call"):
        export.export(jax.jit(g))(jnp.ones(3))
    assert export.export(jax.jit(g), disabled_checks=allowed)(jnp.ones(3)).call(2 * jnp.ones(3)) == 12.0
