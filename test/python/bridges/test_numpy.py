"""xt.named: functions of named arrays, as SciPy calls them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares, minimize, rosen

pytestmark = pytest.mark.cpu_only("SciPy computes in float64")


def rosenbrock(x: Any) -> Any:
    head, tail = x.isel(i=slice(None, -1)), x.isel(i=slice(1, None))
    return (100.0 * (tail - head**2) ** 2 + (1.0 - head) ** 2).sum()


def test_minimize_takes_values_gradients_and_hessian_products() -> None:
    start = np.array([-1.2, 1.0, 0.7])
    fun = xt.named(xt.jit(xt.value_and_grad(rosenbrock)), "i")
    value, gradient = fun(start)
    assert isinstance(value, np.float64) and value == pytest.approx(rosen(start), rel=1e-14)
    assert type(gradient) is np.ndarray
    hessp = xt.named(xt.jit(lambda x, p: xt.hvp(rosenbrock, (x,), (p,))), ["i", "i"])
    for method in ("BFGS", "L-BFGS-B", "Newton-CG"):
        found = minimize(fun, start, jac=True, method=method, hessp=hessp if method == "Newton-CG" else None, tol=1e-10)
        np.testing.assert_allclose(found.x, np.ones(3), atol=1e-6)


def test_solve_ivp_takes_a_derivative_by_time_and_state() -> None:
    decay = xt.named(xt.jit(lambda t, y, rate: -rate * y + 0 * t), [(), "state"])
    found = solve_ivp(decay, (0.0, 2.0), np.array([1.0, 2.0]), args=(0.5,), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.y[:, -1], np.exp(-1.0) * np.array([1.0, 2.0]), rtol=1e-8)


def test_least_squares_takes_residuals_and_a_jacobian() -> None:
    t = xt.array(np.linspace(0.0, 1.0, 9), dims="time")
    data = 2.0 * xt.exp(-3.0 * t)

    def residuals(p: Any) -> Any:
        return p.isel(k=0) * xt.exp(-p.isel(k=1) * t) - data

    jacobian = xt.named(xt.jit(xt.jacobian(residuals)), "k")
    found = least_squares(xt.named(xt.jit(residuals), ["k"]), np.ones(2), jac=jacobian)
    np.testing.assert_allclose(found.x, [2.0, 3.0], rtol=1e-8)


def test_arrays_are_shared_and_no_result_shares_memory_with_an_argument() -> None:
    seen: list[Any] = []

    def same(x: Any) -> Any:
        seen.append(x)
        return {"same": x, "twice": 2 * x, "shape": x.shape}

    given = np.arange(6.0).reshape(2, 3)
    found = xt.named(same, [("a", "b")])(given)
    assert np.shares_memory(seen[0].values, given) and seen[0].dims == ("a", "b")
    assert not np.shares_memory(found["same"], given)
    given[:] = 0
    np.testing.assert_array_equal(found["twice"], 2 * np.arange(6.0).reshape(2, 3))
    assert found["shape"] == (2, 3)


def anomaly(x: Any, weights: Any) -> Any:
    return x - (x * weights).sum("time")


def test_apply_ufunc_calls_it_as_a_function_of_numpy() -> None:
    rng = np.random.default_rng(0)
    x = xr.DataArray(rng.normal(size=(3, 4, 1, 5)), dims=("a", "time", "c", "b"), coords={"b": np.arange(5)})
    w = xr.DataArray(rng.normal(size=(5, 4)), dims=("b", "time"))
    f = xt.named(xt.jit(anomaly), [(..., "time"), (..., "time")])
    core = {"input_core_dims": [["time"], ["time"]], "output_core_dims": [["time"]]}
    want = xr.apply_ufunc(lambda x, w: x - (x * w).sum(-1, keepdims=True), x, w, **core)
    xr.testing.assert_allclose(xr.apply_ufunc(f, x, w, **core), want)
    total = xt.named(xt.jit(lambda x: x.sum("time")), [(..., "time")])
    xr.testing.assert_allclose(xr.apply_ufunc(total, x, input_core_dims=[["time"]]), x.sum("time"))
    flat = x.isel(a=0, b=0, c=0)
    xr.testing.assert_allclose(xr.apply_ufunc(total, flat, input_core_dims=[["time"]]), flat.sum("time"))
    double = xt.named(lambda x: 2 * x, [(...,)])
    xr.testing.assert_identical(xr.apply_ufunc(double, x), 2 * x)


def test_arrays_with_names_are_matched_by_name() -> None:
    first = xt.named(lambda x: (x.isel(a=0), 2 * x), [("a", "b")])
    values = np.arange(6.0).reshape(2, 3)
    for x in (xr.DataArray(values.T, dims=("b", "a")), xt.array(values.T, ("b", "a")), values):
        row, twice = first(x)
        np.testing.assert_array_equal(row, values[0])
        np.testing.assert_array_equal(twice, 2 * values)
    with pytest.raises(xt.DimensionError, match=r"0 is float64 \(b: 2, c: 3\), and dims= says 'a', 'b'. Rename"):
        first(xr.DataArray(values, dims=("b", "c")))
    total = xt.named(lambda x: x.sum("a"), [(..., "a")])
    assert total(xr.DataArray(np.ones(3), dims="a")) == 3
    with pytest.raises(xt.DimensionError, match=r"dims= says any leading dims, which have no names, and 'a'. Rename"):
        total(xr.DataArray(values, dims=("b", "a")))
    with pytest.raises(xt.DimensionError, match=r"float64 \(a: 3\), and dims= says no dims"):
        xt.named(lambda x: x, [()])(xt.ones(a=3))


def test_dots_at_the_end_are_the_axes_that_vectorized_adds() -> None:
    rates = np.array([[-1.0, 0.2], [0.1, -20.0]])
    seen = set()

    def slope(t: Any, y: Any) -> Any:
        seen.add(y.ndim)
        return xt.dot(xt.array(rates, ("to", "state")), y, dim="state").rename(to="state")

    given = {"t_span": (0, 1), "y0": np.ones(2), "method": "BDF", "vectorized": True, "rtol": 1e-8}
    found = solve_ivp(xt.named(slope, [None, ("state", ...)]), **given)
    np.testing.assert_allclose(found.y, solve_ivp(lambda t, y: rates @ y, **given).y, rtol=1e-6)
    assert seen == {1, 2}
    a, b = np.arange(12.0).reshape(3, 1, 4), np.arange(15.0).reshape(3, 5, 1)
    both = [("i", ...), ("i", ...)]
    np.testing.assert_array_equal(xt.named(lambda a, b: a * b, both)(a, b), a * b)
    np.testing.assert_array_equal(xt.named(lambda a, b: (a * b).sum("i"), both)(a, b[:, 0, 0]), (a * b[:, :1]).sum(0))
    with pytest.raises(xt.DimensionError, match=r"dims= says any trailing dims, which have no names, and 'i'. Rename"):
        xt.named(xt.exp, [("i", ...)])(xr.DataArray(a[0], dims=("i", "k")))
    with pytest.raises(xt.ArgumentTypeError, match=r'`...` in its dims, which is first or last: write \(..., "time"\)'):
        xt.named(xt.exp, [("i", ..., "j")])
    with pytest.raises(xt.ArgumentError, match=r"`\.\.\.` is first in one entry of dims=, and last in another"):
        xt.named(xt.add, [(..., "i"), ("i", ...)])


def test_a_dataset_is_not_an_array_of_dask() -> None:
    dataset = xr.Dataset({"heat": ("i", np.ones(2))})
    for f in (xt.named(xt.exp), xt.named(xt.exp, "i")):
        with pytest.raises(xt.ArgumentTypeError, match=r"argument 0 is a Dataset, .*Write xr.apply_ufunc\(xt.named"):
            f(dataset)
    called = xr.apply_ufunc(xt.named(xt.exp), dataset)
    xr.testing.assert_allclose(called, np.exp(dataset))


def test_arrays_in_chunks_are_not_computed_silently() -> None:
    pytest.importorskip("dask", reason="Dask is not installed")
    double = xt.named(lambda x: 2 * x, "i")
    x = xr.DataArray(np.ones(4), dims="i").chunk(i=2)
    with pytest.warns(UserWarning, match=r"in chunks, float64 \(i: 4\), is computed here"):
        double(x)
    with pytest.raises(xt.ArgumentTypeError, match=r"argument 0 is a dask.array.*x.compute\(\).*dask=\"parallelized\""):
        double(x.data)


def test_errors_name_the_argument() -> None:
    double = xt.named(lambda x: 2 * x, dims=["i"])
    with pytest.raises(xt.DimensionError, match=r"xt.named\(<lambda>\): argument 0 has shape \(2, 2\).*\('i',\)"):
        double(np.ones((2, 2)))
    with pytest.raises(xt.ArgumentError, match="0 arguments by position, and dims= has 1"):
        double()
    with pytest.raises(xt.ArgumentTypeError, match="dims= is a list with the dims of each argument, not 3"):
        xt.named(lambda x: x, 3)  # type: ignore[arg-type]
    with pytest.raises(xt.ArgumentTypeError, match="needs a function"):
        xt.named(3, "i")  # type: ignore[arg-type]
    for other, kind in ((np.array(["a"]), "<U1"), (np.array([None]), "object")):
        with pytest.raises(
            xt.DTypeError, match=rf"xt.named\(<lambda>\): argument 0: arrays of {kind} are not supported"
        ):
            double(other)


def test_without_dims_functions_work_element_by_element() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    np.testing.assert_allclose(xt.named(xt.exp)(a), np.exp(a))
    np.testing.assert_allclose(xt.named(xt.hypot)(a, b), np.hypot(a, b))
    np.testing.assert_allclose(xt.named(xt.jit(lambda x, y, s: x * y + s))(a, a[:, :1], 2.0), a * a[:, :1] + 2)
    np.testing.assert_allclose(xt.named(xt.clip)(a, 1.0, max=3.0), np.clip(a, 1, 3))
    assert xt.named(xt.exp)(np.array(0.0)) == 1.0
    with pytest.raises(xt.SizeError, match="leading"):
        xt.named(xt.add)(a, np.arange(2.0))


def test_functions_of_xtensor_in_apply_ufunc() -> None:
    xr = pytest.importorskip("xarray", reason="xarray is not installed")
    da = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("a", "b"), coords={"b": [1, 2, 3]})
    row, column = da.isel(a=0), da.isel(b=1)
    xr.testing.assert_allclose(xr.apply_ufunc(xt.named(xt.exp), da), np.exp(da))
    for x, y in ((da, row), (da, column), (row, column), (da, 2.0)):
        xr.testing.assert_allclose(xr.apply_ufunc(xt.named(xt.hypot), x, y), xr.apply_ufunc(np.hypot, x, y))
    total = xt.named(lambda x: xt.sum(x, "core"), [(..., "core")])
    xr.testing.assert_allclose(xr.apply_ufunc(total, da, input_core_dims=[["b"]]), da.sum("b"))
    with pytest.raises(xt.DimensionError, match=r"or xt.named\(f\) if f works element by element. Or call f\(da\)"):
        xr.apply_ufunc(xt.exp, da)
