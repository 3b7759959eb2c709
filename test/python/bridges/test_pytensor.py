"""xt.to_pytensor: values and derivatives beside PyTensor's own ops, graphs, modes, memory, pickles, errors."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from places import ROOT

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed (XTENSOR_PEERS=1)")
pytestmark = pytest.mark.cpu_only("PyTensor's arrays are on the CPU")

import pytensor.tensor as pt  # noqa: E402
import pytensor.xtensor as px  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from pytensor.gradient import DisconnectedInputError, verify_grad  # noqa: E402
from pytensor.graph.replace import vectorize_graph  # noqa: E402
from pytensor.xtensor.vectorization import vectorize_graph as vectorize_named  # noqa: E402

PLAIN = Mode(linker="py", optimizer="fast_run")  # compiles nothing of PyTensor's own
SLOW = Mode(linker="py", optimizer=None)


def layer(p: Any, x: Any) -> Any:
    h = xt.tanh(xt.dot(x, p["w"], dim="i") + p["b"])
    return {"y": h, "best": xt.argmax(h, "o"), "loss": (h * h).sum()}


def layer_of_pytensor(w: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    h = pt.tanh(x @ w + b)
    return h, h.argmax(1), (h * h).sum()


def product(x: Any, y: Any) -> Any:
    return xt.dot(xt.sin(x), y, dim="i")


def with_zeros(x: Any) -> Any:
    return xt.zeros(k=2)


def values(*shape: int, seed: int = 0, dtype: str = "f8") -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def calls(run: Any) -> list[str]:
    """Our ops in the graph of a compiled function."""
    return [str(n.op) for n in run.maker.fgraph.toposort() if str(n.op).startswith("xtensor{")]


def pushed(y: Any, x: Any, t: Any, by_op: bool) -> Any:
    if hasattr(pytensor, "pushforward"):
        return pytensor.pushforward(y, x, t, use_op_pushforward=by_op)
    return pytensor.gradient.Rop(y, x, t, use_op_rop_implementation=by_op)  # of PyTensor 2


def close(found: Any, wanted: Any, rtol: float = 1e-10) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("mode", [PLAIN, SLOW])
def test_values_and_two_derivatives_are_those_of_pytensor(mode: Any) -> None:
    w, b, x = pt.dmatrix("w"), pt.dvector("b"), pt.dmatrix("x")
    g = xt.to_pytensor(layer, dims=[{"w": ("i", "o"), "b": "o"}, ("batch", "i")])
    ours = g({"w": w, "b": b}, x)

    def derivatives(y: Any, best: Any, loss: Any) -> list[Any]:
        found = [y, best, loss]
        total = loss + (y**3).sum()
        for _ in range(2):
            gradients = pytensor.grad(total, [w, b, x])
            found += gradients
            total = sum((d * d).sum() for d in gradients)
        return found

    arrays = values(3, 4), values(4, seed=1), values(5, 3, seed=2)
    got = pytensor.function([w, b, x], derivatives(ours["y"], ours["best"], ours["loss"]), mode=mode)
    want = pytensor.function([w, b, x], derivatives(*layer_of_pytensor(w, b, x)), mode=mode)
    close(got(*arrays), want(*arrays))
    shorter = *arrays[:2], values(2, 3)  # the same code for another size
    close(got(*shorter), want(*shorter))


def test_named_variables_keep_their_names_and_known_sizes() -> None:
    x = px.xtensor("x", dims=("time", "space"), shape=(None, 3))
    y = px.xtensor("y", dims=("space",))
    met: list[dict[str, Any]] = []

    def f(x: Any, y: Any) -> Any:
        met.append(dict(x.sizes))
        return xt.exp(x - y), (x * y).sum("time")

    a, s = xt.to_pytensor(f)(x, y)
    assert (a.type.dims, a.type.shape) == (("time", "space"), (None, 3))
    assert (s.type.dims, s.type.shape) == (("space",), (3,))
    assert all(isinstance(sizes["time"], type(met[0]["time"])) and sizes["space"] == 3 for sizes in met)
    assert not isinstance(met[0]["time"], int)  # open
    given = values(4, 3), values(3, seed=1)
    wanted = px.math.exp(x - y) * 2, (x * y).sum("time")
    got = pytensor.function([x, y], [a * 2, s], mode=PLAIN)
    close(got(*given), pytensor.function([x, y], wanted, mode=PLAIN)(*given))
    traced = len(met)
    assert got(values(9, 3), given[1])[0].shape == (9, 3) and len(met) == traced


def test_gradients_of_graphs_of_named_ops() -> None:
    x, y = px.xtensor("x", dims=("a", "i")), px.xtensor("y", dims=("i", "b"))
    given = values(2, 3), values(3, 4, seed=1)

    def run(z: Any) -> Any:  # PyTensor's named ops have gradients once they are lowered
        cost = (z * z).sum().values
        cost = pytensor.graph.rewriting.utils.rewrite_graph(cost, include=("lower_xtensor",))
        return pytensor.function([x, y], pytensor.grad(cost, [x, y]), mode=PLAIN)(*given)

    close(run(xt.to_pytensor(product)(px.math.cos(x), y)), run((px.math.sin(px.math.cos(x)) * y).sum("i")))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_verify_grad_by_finite_differences(dtype: str) -> None:
    g = xt.to_pytensor(product, dims=[("a", "i"), ("i", "b")])
    rng = np.random.default_rng(0)
    points = [values(2, 3, dtype=dtype), values(3, 2, seed=1, dtype=dtype)]
    verify_grad(g, points, rng=rng, mode=PLAIN)
    if dtype == "f8":
        verify_grad(lambda x, y: pytensor.grad((g(x, y) ** 3).sum(), x), points, rng=rng, mode=PLAIN)


def test_pushforward_by_the_op_and_through_the_pullback() -> None:
    x, y, t = pt.dmatrix("x"), pt.dmatrix("y"), pt.dmatrix("t")
    z = xt.to_pytensor(product, dims=[("a", "i"), ("i", "b")])(x, y)
    given = values(2, 3), values(3, 4, seed=1), values(2, 3, seed=2)
    for by_op in (False, True):
        (found,) = pytensor.function([x, y, t], [pushed(z, x, t, by_op)], mode=PLAIN)(*given)
        np.testing.assert_allclose(found, (np.cos(given[0]) * given[2]) @ given[1])
    run = pytensor.function([x, y, t], [z, pushed(z, x, t, True)], mode=PLAIN)
    assert calls(run) == ["xtensor{product.push}"]


def test_a_call_and_its_gradient_are_one_program() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    given = values(3), values(3, seed=1)
    s = xt.to_pytensor(lambda x, y: (xt.sin(x) * y).sum(), dims=["i", "i"])(x, y)
    run = pytensor.function([x, y], [s, *pytensor.grad(s, [x, y])], mode=PLAIN)
    assert calls(run) == ["xtensor{<lambda>.back}"]
    wanted = (np.sin(given[0]) * given[1]).sum(), np.cos(given[0]) * given[1], np.sin(given[0])
    close(run(*given), wanted)
    alone = pytensor.function([x, y], pytensor.grad(s, x), mode=PLAIN)
    assert calls(alone) == ["xtensor{<lambda>.back}"]
    (node,) = [n for n in alone.maker.fgraph.toposort() if str(n.op).startswith("xtensor{")]
    assert len(node.outputs) == 1  # nobody asks for the other


def test_a_cotangent_of_the_result_takes_residuals() -> None:
    x, c = pt.tensor("x", shape=(3,)), xt.array([2.0, 0.5, 1.0], "i")  # read from outside
    y, n = xt.to_pytensor(lambda x: (xt.exp(c * xt.sin(x)), xt.cos(x)), dims=["i"])(x)
    cost = (y**2).sum()
    run = pytensor.function([x], [cost, n, pytensor.grad(cost, x)], mode=PLAIN)
    assert calls(run) == ["xtensor{<lambda>}", "xtensor{<lambda>.back}"]
    _, back = [k for k in run.maker.fgraph.toposort() if str(k.op).startswith("xtensor{")]
    assert any(str(v.owner.op) == "xtensor{<lambda>}" for v in back.inputs if v.owner)
    v, k = values(3), np.array([2.0, 0.5, 1.0])
    e = np.exp(k * np.sin(v))
    close(run(v), [(e**2).sum(), np.cos(v), 2 * e * e * k * np.cos(v)])
    two = pytensor.function([x], [cost, pytensor.grad(cost, x), pytensor.grad(n.sum(), x)], mode=PLAIN)
    close(two(v), [(e**2).sum(), 2 * e * e * k * np.cos(v), -np.sin(v)])


def test_shapes_are_known_without_a_call() -> None:
    x, y = pt.dmatrix("x"), pt.dvector("y")
    g = xt.to_pytensor(
        lambda x, y: (xt.transpose(x * y, "b", "a"), x.stack(p=("a", "b")), x.sum(), xt.ones(k=7) * y),
        dims=[("a", "b"), "b"],
    )
    run = pytensor.function([x, y], [z.shape for z in g(x, y)], mode=PLAIN)
    assert not calls(run)
    shapes = [tuple(s) for s in run(values(2, 3), values(3))]
    assert shapes == [z.shape for z in pytensor.function([x, y], g(x, y), mode=PLAIN)(values(2, 3), values(3))]


def test_like_calls_are_one_and_others_are_not() -> None:
    x = pt.dvector("x")

    def scaled(x: Any, k: Any) -> Any:
        return k * xt.exp(x)

    first, second = (xt.to_pytensor(scaled, dims=["i"]) for _ in range(2))
    assert first(x, 2).owner.op == second(x, 2).owner.op
    run = pytensor.function([x], [first(x, 2), second(x, 2), second(x, 2.0), second(x, 3)], mode=PLAIN)
    assert len(calls(run)) == 3
    a, b, c, d = run(np.zeros(2))
    assert (a[0], b[0], c[0], d[0]) == (2, 2, 2, 3)
    assert len(calls(pytensor.function([x], [first(x, 2), xt.to_pytensor(scaled, dims=["j"])(x, 2)], mode=PLAIN))) == 2


def test_results_have_the_structure_that_their_arguments_give() -> None:
    g = xt.to_pytensor(lambda x: x if x.dtype == "f4" else {"y": x}, dims="i")
    for _ in range(2):
        assert g(pt.fvector("x")).type.dtype == "float32"
        assert g(pt.dvector("x"))["y"].type.dtype == "float64"


def test_pickles_and_copies_of_a_compiled_function() -> None:
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    z = xt.to_pytensor(product, dims=[("a", "i"), ("i", "b")])(x, y)
    cost = (z**2).sum()
    run = pytensor.function([x, y], [cost, pytensor.grad(cost, x)], mode=PLAIN)
    given = values(2, 3), values(3, 4, seed=1)
    wanted = run(*given)
    close(pickle.loads(pickle.dumps(run))(*given), wanted)
    close(run.copy()(*given), wanted)
    with xt.option(default_float="f4"):
        narrow = xt.to_pytensor(with_zeros, dims="i")(pt.dvector("v")).owner.op
    assert pickle.loads(pickle.dumps(narrow)).code([pt.dvector("v").type]).outputs[0].dtype == "f4"
    op = z.owner.op
    again = pickle.loads(pickle.dumps(op))
    assert again == op and hash(again) == hash(op)


def test_memory_is_shared_both_ways_and_results_may_be_written_to() -> None:
    x = pt.dmatrix("x")
    z, _, _ = xt.to_pytensor(lambda x: (xt.exp(x), x, xt.ones(i=2)), dims=[("a", "i")])(x)
    (node,) = [z.owner]
    code = node.op.at(node)
    a = values(4, 2)
    code([a])
    run, seen = code._run, []

    def spy(arrays: Any) -> Any:
        found = run(arrays)
        seen.append(([v.ctypes.data for v in arrays], [y._pointer for y in found]))
        return found

    code._run = spy
    cells: list[list[Any]] = [[None], [None], [None]]
    node.op.perform(node, [a], cells)
    (given, made), results = seen[0], [cell[0] for cell in cells]
    assert given == [a.ctypes.data]
    assert [r.ctypes.data for r in results] == made and len({*given, *made}) == 4
    for r in results:
        assert r.flags.writeable and r.flags.c_contiguous
        r[...] = 0
    node.op.perform(node, [a[:, ::-1]], cells)  # a view whose rows are not contiguous
    np.testing.assert_array_equal(cells[1][0], a[:, ::-1])
    assert (cells[2][0] == 1).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int64", "bool", "complex128"])
def test_dtypes(dtype: str) -> None:
    x = pt.vector("x", dtype=dtype)
    array = np.array([1, 0, 3]).astype(dtype)
    (got,) = pytensor.function([x], [xt.to_pytensor(lambda x: x, dims=["i"])(x)], mode=PLAIN)(array)
    assert got.dtype == dtype and (got == array).all()


def test_integers_have_no_gradient_and_floats_beside_them_do() -> None:
    x, k = pt.dvector("x"), pt.lvector("k")
    y, best = xt.to_pytensor(lambda x, k: (x.isel(i=k), xt.argmax(x, "i")), dims=["i", "j"])(x, k)
    run = pytensor.function([x, k], pytensor.grad((y**2).sum() + best, x), mode=PLAIN)
    np.testing.assert_array_equal(run(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2])), [2, 0, 12])
    with pytest.raises(DisconnectedInputError):
        pytensor.grad(y.sum(), k)
    with pytest.raises(DisconnectedInputError):
        pytensor.grad(best.astype("float64"), x)
    z = pt.zvector("z")
    with pytest.raises(xt.UnsupportedError, match=r"no derivatives of complex arrays.*complex128 \(i: \?\)"):
        pytensor.grad(xt.to_pytensor(lambda z: xt.abs(z), dims=["i"])(z).sum(), z)


def test_a_batch_of_calls_is_one_call() -> None:
    x, w = pt.dvector("x"), pt.dvector("w")
    y = xt.to_pytensor(lambda x, w: (xt.tanh(x) * w).sum("i"), dims=["i", "i"])(x, w)
    many, weights = pt.tensor("many", shape=(None, 1, None)), pt.tensor("weights", shape=(4, None))
    batched = vectorize_graph(y, {x: many, w: weights})
    run = pytensor.function([many, weights], [batched, pytensor.grad(batched.sum(), many)], mode=PLAIN)
    assert calls(run) == ["xtensor{<lambda>.back}"]
    a, b = values(5, 1, 3), values(4, 3, seed=1)
    close(run(a, b), [(np.tanh(a) * b).sum(-1), (1 - np.tanh(a) ** 2) * b.sum(0)])
    named = px.xtensor("named", dims=("i",))
    z = vectorize_named(xt.to_pytensor(lambda x: xt.tanh(x).sum("i"))(named), {named: px.xtensor("n", dims=("c", "i"))})
    assert z.type.dims == ("c",)


def test_the_default_mode_and_that_of_jax() -> None:
    x, y = px.xtensor("x", dims=("a", "i")), px.xtensor("y", dims=("i", "b"))
    z = xt.to_pytensor(product)(x, y)
    cost = (z.values**2).sum()
    modes: list[Any] = [None]
    if importlib.util.find_spec("jax"):
        modes.append("JAX")
    given = values(2, 3), values(3, 4, seed=1)
    wanted = pytensor.function([x, y], [z, *pytensor.grad(cost, [x, y])], mode=PLAIN)(*given)
    for mode in modes:
        run = pytensor.function([x, y], [z, *pytensor.grad(cost, [x, y])], mode=mode)
        close(run(*given), wanted)
        with pytest.raises(ValueError, match=r"(?i)size|shape"):
            run(given[0], values(2, 4))


def schools(mu: Any, log_tau: Any, eta: Any, y: Any, sigma: Any) -> Any:
    """The log density of eight schools, without constants."""
    theta = mu + xt.exp(log_tau) * eta
    prior = -0.5 * ((mu / 5.0) ** 2 + (eta * eta).sum()) - xt.log1p((xt.exp(log_tau) / 5.0) ** 2) + log_tau
    return prior - 0.5 * (((y - theta) / sigma) ** 2).sum()


def test_a_model_of_pymc_has_the_density_and_gradient_of_its_own_ops() -> None:
    pm = pytest.importorskip("pymc", reason="PyMC is not installed (for Python 3.11 it needs PyTensor 2)")
    y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model() as own:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        eta = pm.Normal("eta", shape=8)
        pm.Normal("y", mu + tau * eta, sigma, observed=y)
    with pm.Model() as ours:
        mu, log_tau, eta = pm.Flat("mu"), pm.Flat("log_tau"), pm.Flat("eta", shape=8)
        density = xt.to_pytensor(schools, dims=[None, None, "school", "school", "school"])
        pm.Potential("density", density(mu, log_tau, eta, y, sigma))
    point = {"mu": 1.5, "eta": values(8)}

    def at(model: Any, name: str, point: Any) -> tuple[Any, Any]:
        point = {"mu": np.array(point["mu"]), name: np.array(point[name]), "eta": point["eta"]}
        return model.compile_logp(mode=PLAIN)(point), model.compile_dlogp(mode=PLAIN)(point)

    found = [at(ours, "log_tau", {**point, "log_tau": t}) for t in (0.3, -1.0)]
    wanted = [at(own, "tau_log__", {**point, "tau_log__": t}) for t in (0.3, -1.0)]
    for (_, gradient), (_, other) in zip(found, wanted, strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-10, atol=1e-12)
    # Up to a constant.
    np.testing.assert_allclose(found[0][0] - found[1][0], wanted[0][0] - wanted[1][0], rtol=1e-10)
    with ours:
        settings = {
            "chains": 1,
            "cores": 1,
            "random_seed": 1,
            "progressbar": False,
            "compute_convergence_checks": False,
        }
        draws = pm.sample(20, tune=20, compile_kwargs={"mode": PLAIN}, **settings)
    assert np.isfinite(draws.posterior["eta"].values).all() and draws.posterior["eta"].std() > 0


def test_a_model_of_pymc_with_named_dims_takes_a_function_of_named_arrays() -> None:
    pm = pytest.importorskip("pymc", reason="PyMC is not installed (for Python 3.11 it needs PyTensor 2)")
    pmd = pytest.importorskip("pymc.dims", reason="this PyMC has no pymc.dims")
    y, sigma = (px.as_xtensor(values(8, seed=s) ** 2 + 1, dims=("school",)) for s in (1, 2))

    def model(mean: Any) -> Any:
        with pm.Model(coords={"school": range(8)}) as made:
            mu, tau = pmd.Normal("mu", 0, 5), pmd.HalfNormal("tau", 5)
            eta = pmd.Normal("eta", 0, 1, dims="school")
            pmd.Normal("y", mean(mu, tau, eta), sigma, observed=y)
        return made

    point = {"mu": np.array(1.0), "tau_log__": np.array(0.2), "eta": values(8)}
    own, ours = (
        [made.compile_logp(mode=PLAIN)(point), made.compile_dlogp(mode=PLAIN)(point)]
        for made in (model(lambda m, t, e: m + t * e), model(xt.to_pytensor(lambda m, t, e: m + t * e)))
    )
    close(ours, own)


def test_short_programs_are_called_at_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    x, k = pt.tensor("x", shape=(3,)), pt.lscalar("k")
    c = xt.array([2.0, 0.5, 1.0], "i")

    def f(x: Any, k: Any) -> Any:
        both = xt.concat([x, c * x], "run")
        return both, x > 0, x.isel(i=k), xt.ones(j=0) * x

    run = pytensor.function([x, k], xt.to_pytensor(f, dims=["i"])(x, k), mode="NUMBA")
    slow = []
    code = sys.modules["xtensor.bridges.pytensor"]._Code
    by_python = code.__call__
    monkeypatch.setattr(code, "__call__", lambda self, arrays: slow.append(len(arrays)) or by_python(self, arrays))
    a, weights = values(3), np.array([2.0, 0.5, 1.0])
    wanted = [np.stack([a, weights * a]), a > 0, a[1], np.ones((0, 3))]
    first = run(a, 1)
    for got in (first, run(a, 1)):
        close(got, wanted)
        for y in got:
            y[...] = 0  # in memory of its own
    assert not slow and not np.shares_memory(first[0], run(a, 1)[0])
    for bad, text in (((a, 7), "index 7 is out of range for size 3"), ((values(4), 1), "shape|size")):
        with pytest.raises((IndexError, ValueError, TypeError), match=text):
            run(*bad)
    wide = values(6)[::2]
    close(run(wide, 1)[:1], [np.stack([wide, weights * wide])])
    assert slow


def test_errors_name_arguments_with_dims_and_sizes() -> None:
    named, plain = px.xtensor("x", dims=("i",)), pt.tensor("p", shape=(None, 3))
    with pytest.raises(xt.DimensionError, match=r"argument \[0\] is a tensor of shape \(\?, 3\) without") as e:
        xt.to_pytensor(layer)(plain, named)
    assert e.value.parts[1] is not None and e.value.parts[1].startswith(__file__)
    with pytest.raises(xt.DimensionError, match=r"shape \(\?, 3\), and dims= names its dims \(i\)"):
        xt.to_pytensor(layer, dims=["i"])(plain)
    with pytest.raises(xt.DimensionError, match=r"argument \[0\] is \(i: \?\), and dims= says \(k\)"):
        xt.to_pytensor(layer, dims=["k"])(named)
    with pytest.raises(xt.ArgumentTypeError, match="dims= has entries for 2 arguments by position, and the call has 1"):
        xt.to_pytensor(layer, dims=["k", "l"])(named)
    with pytest.raises(xt.ArgumentTypeError, match="dims= has 3 for an argument that is"):
        xt.to_pytensor(layer, dims=[3])(named)
    with pytest.raises(xt.ArgumentTypeError, match=r"dims= is a list with the dims of each argument, not 3"):
        xt.to_pytensor(layer, dims=3)  # type: ignore[arg-type]
    with pytest.raises(xt.ArgumentTypeError, match="must have a hash"):
        xt.to_pytensor(lambda x, k: x)(named, {1, 2})
    with pytest.raises(xt.ArgumentTypeError, match=r"needs a function, got 3"):
        xt.to_pytensor(3)  # type: ignore[arg-type]
    with pytest.raises(xt.SizeError, match=r"dim 'i' has size 2 in \(i: 2\) and 3 in \(i: 3\)"):
        xt.to_pytensor(product)(px.xtensor("x", dims="i", shape=(2,)), px.xtensor("y", dims="i", shape=(3,)))
    with pytest.raises(xt.DimensionError, match=r"concat: .*leaves sizes open: float64 \(i: \?\). Give the variable"):
        xt.to_pytensor(lambda x: xt.concat([x, x], "i"))(named)
    with pytest.raises(xt.SizeError, match=r"dim \"i\" has sizes .*leaves sizes open: float64 \(i: \?\)"):
        xt.to_pytensor(lambda x: x * xt.ones(i=3))(named)
    with pytest.raises(xt.DTypeError, match=r"result 0 is bfloat16, which PyTensor lacks"):
        xt.to_pytensor(lambda x: x.astype("bfloat16"))(named)
    with pytest.raises(xt.ArgumentTypeError, match=r"<lambda> gets 2 arguments.* and takes \(x\)\n"):
        xt.to_pytensor(lambda x: x)(named, named)
    if any(d.name == "vulkan" for d in xt.devices()):
        c = xt.ones(i=3).to("vulkan")
        with pytest.raises(xt.DeviceError, match=r"reads float64 \(i: 3\) from outside, which is on 'vulkan"):
            xt.to_pytensor(lambda x: x * c)(px.xtensor("x", dims="i", shape=(3,)))
    y = px.xtensor("y", dims=("i",))
    run = pytensor.function([named, y], xt.to_pytensor(product)(named, y), mode=PLAIN)
    with pytest.raises(xt.SizeError, match=r"equal names have equal sizes, and the arrays are \(i: 2\), \(i: 3\)"):
        run(values(2), values(3))


def test_a_variable_is_not_an_array() -> None:
    named, plain = px.xtensor("u", dims=("i",), shape=(3,)), pt.dvector("u")
    said = r"the variable u of PyTensor has no values yet. Write g = xt.to_pytensor\(f\)"
    for u in (named, plain):
        for f in (xt.tanh, xt.jit(lambda x: x), lambda x: xt.ones(i=3) + x, xt.as_array, xt.grad(xt.sum)):
            with pytest.raises(xt.ArgumentTypeError, match=said):
                f(u)


def test_the_page_runs() -> None:
    command = [sys.executable, str(ROOT / "scripts/run_pages.py"), str(ROOT / "docs/pytensor.md")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "pytensor.md runs" in done.stdout, done.stdout + done.stderr
