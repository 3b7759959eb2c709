"""Optimizers against PyTorch's numbers, lbfgs against SciPy's, ravel and reduce of pytrees."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import xarray as xr
import xtensor as xt

pytestmark = pytest.mark.cpu_only("numbers are compared in float64")

W, B = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([0.25, -1.0])
STEPS = 7

CASES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "sgd": (xt.optim.sgd(0.1), lambda t: lambda p: t.optim.SGD(p, lr=0.1)),
    "sgd with decay": (
        xt.optim.sgd(0.1, weight_decay=0.2),
        lambda t: lambda p: t.optim.SGD(p, lr=0.1, weight_decay=0.2),
    ),
    "momentum": (xt.optim.momentum(0.1, 0.8), lambda t: lambda p: t.optim.SGD(p, lr=0.1, momentum=0.8)),
    "nesterov": (
        xt.optim.momentum(0.1, 0.8, nesterov=True),
        lambda t: lambda p: t.optim.SGD(p, lr=0.1, momentum=0.8, nesterov=True),
    ),
    "adam": (xt.optim.adam(0.1), lambda t: lambda p: t.optim.Adam(p, lr=0.1)),
    "adam, other numbers": (
        xt.optim.adam(0.1, 0.8, 0.9, 1e-3),
        lambda t: lambda p: t.optim.Adam(p, lr=0.1, betas=(0.8, 0.9), eps=1e-3),
    ),
    "adamw": (
        xt.optim.adamw(0.1, weight_decay=0.2),
        lambda t: lambda p: t.optim.AdamW(p, lr=0.1, weight_decay=0.2),
    ),
}


def loss(p: Any) -> Any:
    return ((p["w"] * 2.0 - 1.0) ** 2).sum() + (p["b"] ** 4).sum()


def start() -> dict[str, Any]:
    return {"w": xt.array(W, dims=("row", "col")), "b": xt.array(B, dims="col")}


@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is what steps are compared with")
    optimizer, theirs = CASES[name]
    p, state = start(), optimizer.init(start())
    step = xt.jit(lambda p, state: optimizer.update(p, xt.grad(loss)(p), state))
    w, b = (torch.tensor(x, requires_grad=True) for x in (W, B))
    other = theirs(torch)([w, b])
    for _ in range(STEPS):
        p, state = step(p, state)
        other.zero_grad()
        (((w * 2.0 - 1.0) ** 2).sum() + (b**4).sum()).backward()
        other.step()
    np.testing.assert_allclose(p["w"].values, w.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(p["b"].values, b.detach().numpy(), rtol=1e-12)
    assert state.count.item() == STEPS


def test_clipping_is_that_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is what clipping is compared with")
    for limit in (0.5, 100.0):
        clipped = xt.optim.clip_by_norm(start(), limit)
        w, b = (torch.tensor(x, requires_grad=True) for x in (W, B))
        w.grad, b.grad = torch.tensor(W), torch.tensor(B)
        norm = torch.nn.utils.clip_grad_norm_([w, b], limit)
        assert xt.optim.global_norm(start()).item() == pytest.approx(norm.item())
        np.testing.assert_allclose(clipped["w"].values, w.grad.numpy(), rtol=1e-5)
        np.testing.assert_allclose(clipped["b"].values, b.grad.numpy(), rtol=1e-5)


def test_schedules_are_those_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is what schedules are compared with")
    schedulers = torch.optim.lr_scheduler

    def rates(make: Callable[[Any], Any]) -> list[float]:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
        scheduler, found = make(optimizer), []
        for _ in range(9):
            found.append(scheduler.get_last_lr()[0])
            optimizer.step()
            scheduler.step()
        return found

    def ours(schedule: Callable[[Any], Any]) -> list[float]:
        compiled = xt.jit(schedule)
        return [compiled(i).item() for i in range(9)]

    cosine = xt.optim.cosine(0.5, 8, 0.1)
    np.testing.assert_allclose(ours(cosine), rates(lambda o: schedulers.CosineAnnealingLR(o, 8, 0.1)))
    falling = xt.optim.exponential(0.5, 0.9)
    np.testing.assert_allclose(ours(falling), rates(lambda o: schedulers.ExponentialLR(o, 0.9)))
    rising = [0.5 * i / 4 for i in range(4)]
    np.testing.assert_allclose(ours(xt.optim.warmup(4, falling)), rising + ours(falling)[:5])


def test_the_dtype_of_parameters_stays() -> None:
    p = {"w": xt.ones(i=3, dtype="f4"), "b": xt.array(1.0)}
    for optimizer in (xt.optim.adam(xt.optim.cosine(0.1, 10)), xt.optim.momentum(xt.optim.warmup(3, 0.1))):
        state = optimizer.init(p)
        q, state = xt.jit(optimizer.update)(p, p, state)
        assert [q["w"].dtype, state.first["w"].dtype, q["b"].dtype] == ["f4", "f4", "f8"]
    assert xt.optim.clip_by_norm(p, 1.0)["w"].dtype == "f4"


def test_a_step_in_a_scan_that_is_differentiated() -> None:
    def after(rate: Any) -> Any:
        optimizer = xt.optim.momentum(rate)
        xs = xt.zeros(step=5)
        first = (xt.array([1.0, 2.0], dims="i"), optimizer.init(xt.zeros(i=2)))
        (p, _), _ = xt.scan(lambda c, x: (optimizer.update(c[0], 2.0 * c[0], c[1]), x), first, xs, dim="step")
        return (p * p).sum()

    xt.testing.check_gradients(after, (0.07,), order=2)


def test_lbfgs_finds_what_scipy_finds() -> None:
    def rosenbrock(x: Any) -> Any:
        later, before = x.isel(i=slice(1, None)), x.isel(i=slice(None, -1))
        return (100.0 * (later - before**2) ** 2 + (1.0 - before) ** 2).sum()

    x0 = np.full(10, -1.2)
    found = xt.optim.lbfgs(rosenbrock, xt.array(x0, dims="i"), max_steps=300, tolerance=1e-8)
    theirs = scipy.optimize.minimize(
        scipy.optimize.rosen, x0, jac=scipy.optimize.rosen_der, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 0}
    )
    assert found.converged.item() and found.steps.item() < 2 * theirs.nit
    np.testing.assert_allclose(found.parameters.values, theirs.x, rtol=1e-6)

    random = np.random.default_rng(0)
    a = xt.array(random.normal(size=(50, 3)), dims=("row", "col"))
    y = xt.array(random.integers(0, 2, 50) * 2.0 - 1.0, dims="row")

    def logistic(p: Any) -> Any:
        return xt.softplus(-y * (a @ p["w"] + p["b"])).mean() + 0.01 * (p["w"] ** 2).sum()

    best = xt.jit(lambda p: xt.optim.lbfgs(logistic, p))({"w": xt.zeros(col=3), "b": 0.0})

    def by_numpy(v: np.ndarray) -> float:
        return np.logaddexp(0, -y.values * (a.values @ v[:3] + v[3])).mean() + 0.01 * (v[:3] ** 2).sum()

    want = scipy.optimize.minimize(by_numpy, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose([*best.parameters["w"].values, best.parameters["b"].item()], want.x, atol=1e-5)
    unfinished = xt.optim.lbfgs(rosenbrock, xt.array(x0, dims="i"), max_steps=2)
    assert not unfinished.converged.item() and unfinished.steps.item() == 2


def test_ravel_and_reduce() -> None:
    tree = {"a": xt.array([[1.0, 2.0], [3.0, 4.0]], dims=("x", "y"), dtype="f4"), "b": (5.0, xt.zeros(z=0))}
    vector, unravel = xt.tree.ravel(tree)
    assert vector.dims == ("parameter",) and vector.values.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    back = unravel(2.0 * vector)
    assert back["a"].dtype == "f4" and back["a"].values.tolist() == [[2.0, 4.0], [6.0, 8.0]] and back["b"][0] == 10.0
    assert xt.tree.structure(back) == xt.tree.structure(tree)
    inside = xt.jit(lambda t: xt.tree.ravel(t, "p")[0] * 2.0)(tree)
    assert inside.values.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    hessian = xt.hessian(lambda v: loss(xt.tree.ravel(start())[1](v)))(xt.tree.ravel(start())[0])
    np.testing.assert_allclose(np.diag(hessian.values), [8.0] * 4 + [*(12.0 * B**2)])
    many, _ = xt.tree.ravel({})
    assert many.sizes == {"parameter": 0}
    assert xt.tree.reduce(lambda a, b: a + b, {"a": 1, "b": [2, 3]}) == 6
    assert xt.tree.reduce(max, [], 7) == 7
    with pytest.raises(xt.ArgumentError, match="no leaves"):
        xt.tree.reduce(max, [])
    with pytest.raises(xt.ArgumentTypeError, match="'parameter' of size 5 is needed"):
        unravel(xt.zeros(parameter=4))


def test_complex_parameters_are_pairs_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    z = np.array([3j, 4.0, 1 - 2j])
    p, optimizer = xt.array(z, dims="i"), xt.optim.adamw(0.1)
    state = optimizer.init(p)
    q = torch.tensor(z, requires_grad=True)
    peer = torch.optim.AdamW([q], 0.1)
    for _ in range(3):
        p, state = optimizer.update(p, 2 * p, state)
        q.grad = 2 * q.detach()
        peer.step()
    np.testing.assert_allclose(p.values, q.detach().numpy(), rtol=1e-6)


def test_norms_of_complex_numbers_and_of_float16() -> None:
    z = {"a": xt.array([3j, 4.0], dims="i")}
    assert xt.optim.global_norm(z) == 5.0
    np.testing.assert_allclose(xt.optim.clip_by_norm(z, 1.0)["a"].values, [0.6j, 0.8])
    small = xt.array(np.array([300.0, 400.0], "f2"), dims="i")  # whose squares are beyond float16
    assert xt.optim.global_norm(small) == 500.0
    clipped = xt.optim.clip_by_norm(small, 1.0)
    assert clipped.dtype == "f2"
    np.testing.assert_allclose(clipped.values, [0.6, 0.8], rtol=1e-3)


@pytest.mark.parametrize(("factor", "steps"), [(-0.5, 1), (0.0, 1), (0.5, 0)])
def test_schedules_that_do_not_exist(factor: float, steps: int) -> None:
    with pytest.raises(xt.ArgumentError, match="factor is above 0 and steps 1 or more"):
        xt.optim.exponential(0.1, factor, steps)


@pytest.mark.parametrize("make", [lambda r: xt.optim.sgd(r, momentum=0.9), xt.optim.adam, xt.optim.adamw])
@pytest.mark.parametrize("rate", [0.1, xt.optim.warmup(2, xt.optim.cosine(1.0, 5)), xt.optim.exponential(1.0, 0.5)])
def test_optimizers_and_schedules_pickle(make: Any, rate: Any) -> None:
    optimizer = make(rate)
    again = pickle.loads(pickle.dumps(optimizer))
    p, g = xt.array([1.0, 2.0], "i"), xt.array([0.5, -1.0], "i")
    expected, got = (o.update(p, g, o.init(p)) for o in (optimizer, again))
    for a, b in zip(xt.tree.leaves(expected), xt.tree.leaves(got), strict=True):
        np.testing.assert_array_equal(a.values, b.values)


@pytest.mark.parametrize("how", [lambda f: f, xt.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("kind", [xt.as_array, lambda x: x], ids=["Array", "DataArray"])
def test_what_is_found_has_the_labels_of_the_parameters_and_not_of_the_data(how: Any, kind: Any) -> None:
    data = xr.DataArray(
        [1.0, 4.0, 9.0], dims="t", coords={"t": [10, 20, 30], "place": "coast"}, name="heat", attrs={"units": "K"}
    )

    def labels(x: Any) -> Any:
        return (*map(str, getattr(x, "coords", {})),), getattr(x, "name", None)

    def fit(data: Any, start: Any) -> Any:
        def loss(p: Any) -> Any:
            if labels(start["level"])[1]:
                assert p["level"].sel(t=20).dims == ()  # the function sees the labels
            return ((p["scale"] * data - p["level"]) ** 2).sum() + (p["scale"] - 2.0) ** 2

        return xt.optim.lbfgs(loss, start)

    found = how(fit)(kind(data), {"level": xt.zeros(t=3), "scale": 1.0})
    none = ((), None)
    assert [labels(x) for x in xt.tree.leaves((found.parameters, found.gradient))] == [none] * 4
    assert labels(found.steps) == labels(found.converged) == none
    assert labels(found.value) == (("place",), "heat")  # as of any function of the data
    np.testing.assert_allclose(found.parameters["level"], 2.0 * data.values, atol=1e-5)

    start = xr.DataArray(np.zeros(3), dims="t", coords={"t": [10, 20, 30]}, name="level")
    found = how(fit)(kind(data), {"level": kind(start), "scale": 1.0})
    assert labels(found.parameters["level"]) == labels(found.gradient["level"]) == (("t",), "level")
    assert labels(found.parameters["scale"]) == labels(found.gradient["scale"]) == none


def test_the_factor_of_a_clipped_leaf_has_the_labels_of_no_other() -> None:
    w = xt.as_array(xr.DataArray([6.0, 8.0], dims="i", coords={"i": [1, 2], "place": "coast"}, name="w"))
    clipped = xt.optim.clip_by_norm({"w": w, "b": xt.array(1.0)}, 5.0)
    assert [*clipped["w"].coords] == ["i", "place"] and not clipped["b"].coords


WIDE = np.float64(0.1)


@pytest.mark.parametrize(
    "optimizer",
    [
        xt.optim.sgd(WIDE, momentum=WIDE, weight_decay=WIDE),
        xt.optim.momentum(0.1, WIDE, nesterov=True),
        xt.optim.adam(0.1, b1=WIDE, b2=WIDE, eps=WIDE),
        xt.optim.adamw(weight_decay=WIDE, b2=xt.array(0.9)),
    ],
    ids=["sgd", "momentum", "adam", "adamw"],
)
def test_parameters_keep_their_dtype(optimizer: Any) -> None:
    """Whatever numbers and gradients they meet."""
    parameters = {"w": xt.ones(i=3, dtype="f4"), "b": xt.zeros(dtype="f2")}
    gradients = {"w": xt.ones(i=3, dtype="f8"), "b": xt.ones(dtype="f4")}
    for update in (optimizer.update, xt.jit(optimizer.update)):
        found, state = update(parameters, gradients, optimizer.init(parameters))
        assert [x.dtype for x in xt.tree.leaves(found)] == ["f4", "f2"]
        assert [x.dtype for x in xt.tree.leaves(state.first)] == ["f4", "f2"]


def test_updates_refuse_what_would_change_the_parameters() -> None:
    optimizer, p = xt.optim.adam(), {"w": xt.ones(i=3)}
    state = optimizer.init(p)
    for update in (optimizer.update, xt.jit(optimizer.update)):
        with pytest.raises(
            xt.DimensionError, match=r"the gradient of parameters\['w'\] has dim 'sample'.*float64 \(i: 3\)"
        ):
            update(p, {"w": xt.ones(sample=4, i=3)}, state)
        with pytest.raises(xt.ArgumentError, match=r"the gradients \{'v': \*\} are not those of \{'w': \*\}"):
            update(p, {"v": xt.ones(i=3)}, state)
        with pytest.raises(
            xt.ArgumentTypeError, match=r"the state is .*, not a dict. Write update\(parameters, gradients"
        ):
            update(p, state, p)


def test_calls_of_optimizers_and_schedules_that_lack_arguments() -> None:
    p = xt.zeros(i=2)
    optimizer = xt.optim.adam(0.1)
    update = "Write update(parameters, gradients, state)"
    calls: dict[str, Callable[[], Any]] = {
        f"xt.optim.Optimizer.update: missing a required argument: 'state'. {update}": lambda: optimizer.update(p, p),  # type: ignore[call-arg]
        f"xt.optim.Optimizer.update: too many positional arguments. {update}": lambda: optimizer.update(p, p, p, p),  # type: ignore[call-arg, arg-type]
        "xt.optim.Optimizer.init: missing a required argument: 'parameters'. Write init(parameters)": optimizer.init,
        "xt.optim.cosine: missing a required argument: 'count'. Write schedule(count)": xt.optim.cosine(0.1, 10),
        "xt.optim.exponential: missing a required argument: 'count'. Write schedule(count)": xt.optim.exponential(
            1, 0.5
        ),
        "xt.optim.warmup: missing a required argument: 'count'. Write schedule(count)": xt.optim.warmup(10, 0.1),
    }
    for text, call in calls.items():
        with pytest.raises(xt.ArgumentTypeError) as caught:
            call()
        assert caught.value.parts[0] == text
    by_name = optimizer.update(parameters=p, gradients=p, state=optimizer.init(parameters=p))  # type: ignore[call-arg]
    assert by_name[1].count.item() == 1
    assert xt.jit(optimizer.update)(p, p, optimizer.init(p))[1].count.item() == 1
    assert pickle.loads(pickle.dumps(optimizer)).update(p, p, optimizer.init(p))[1].count.item() == 1


@pytest.mark.parametrize("optimizer", [xt.optim.sgd(0.1), xt.optim.momentum(0.1), xt.optim.adam(0.1)])
def test_integers_are_not_parameters(optimizer: Any) -> None:
    for p, wanted in {
        "array": ({"w": xt.arange(2, dim="i")}, r"parameters\['w'\] is int64.*int64 \(i: 2\).*Write .astype\(\"f8\"\)"),
        "number": ({"w": 2}, r"parameters\['w'\] is int64, and a step makes floats. Write 2.0"),
        "bools": ({"w": xt.array([True], "i")}, r"parameters\['w'\] is bool"),
    }.values():
        floats = xt.tree.map(lambda x: 1.0 * x, p)
        state = optimizer.init(floats)
        with pytest.raises(xt.DTypeError, match=f"xt.optim.Optimizer.init: {wanted}"):
            optimizer.init(p)
        with pytest.raises(xt.DTypeError, match=f"xt.optim.Optimizer.update: {wanted}"):
            optimizer.update(p, floats, state)
        with pytest.raises(xt.DTypeError, match=r"xt.optim.Optimizer.update: parameters\['w'\] is "):
            xt.jit(lambda p, g, s: optimizer.update(p, g, s))(p, floats, state)
