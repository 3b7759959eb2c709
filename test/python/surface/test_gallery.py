"""The programs of the gallery find what they say, which NumPy, SciPy or scikit-learn finds, too."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpirun import mpirun
from places import ROOT

# Before matplotlib is imported: no window.
os.environ.setdefault("MPLBACKEND", "Agg")
plt = pytest.importorskip("matplotlib.pyplot", reason="the gallery draws with matplotlib")
xr = pytest.importorskip("xarray", reason="the gallery has labelled data")

pytestmark = pytest.mark.cpu_only("the gallery is one set of programs, whose ops other tests run on devices")
NOT_INSTALLED = "is not installed (scripts/setup.sh has it with XTENSOR_PEERS=1)"
GALLERY = sorted(set((ROOT / "examples").glob("*.py")) - {ROOT / "examples" / "digits.py"})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a program in its short form, and returns its names. It has drawn its picture."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GALLERY_SHORT", "1")

    def named(name: str) -> dict[str, Any]:
        names = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
        plt.close("all")
        assert (tmp_path / "out" / f"{name}.png").stat().st_size > 10_000
        return names

    return named


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_program_is_a_notebook(path: Path) -> None:
    """Cells as jupytext reads them: the first is text with a title, each cell of code is whole, and has no more
    than what a reader follows. A program has its row and its picture on the page of the gallery."""
    text = path.read_text()
    assert text.startswith("# %% [markdown]\n# # ")
    assert 40 <= len(text.splitlines()) <= 150
    cells = re.split(r"^# %%", text, flags=re.M)[1:]
    for cell in cells:
        kind, _, body = cell.partition("\n")
        assert kind in ("", " [markdown]")
        if kind:
            assert all(line.startswith("#") or not line for line in body.splitlines())
        else:
            compile(body, path.name, "exec")
    page = (ROOT / "docs" / "gallery.md").read_text()
    assert f"| [{path.name}](../examples/{path.name}) |" in page
    picture = re.search(rf"!\[[^]]+\]\((pictures/gallery/{path.stem}\.\w+)\)", page)
    assert picture and (ROOT / "docs" / picture[1]).is_file()


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_jupytext_makes_a_notebook_of_a_program(path: Path) -> None:
    jupytext = pytest.importorskip("jupytext", reason=f"jupytext {NOT_INSTALLED}")
    nbformat = pytest.importorskip("nbformat", reason=f"nbformat {NOT_INSTALLED}")
    notebook = jupytext.read(path)
    nbformat.validate(notebook)
    kinds = re.findall(r"^# %%( \[markdown\])?$", path.read_text(), re.M)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown" if kind else "code" for kind in kinds]
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(path.read_text()))


@pytest.mark.parametrize(
    ("name", "printed"), [("kalman", "the level falls most after 1898"), ("waves", "of the energy")]
)
def test_a_notebook_runs(name: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jupytext = pytest.importorskip("jupytext", reason=f"jupytext {NOT_INSTALLED}")
    nbclient = pytest.importorskip("nbclient", reason=f"nbclient {NOT_INSTALLED}")
    pytest.importorskip("ipykernel", reason=f"ipykernel {NOT_INSTALLED}")
    monkeypatch.setenv("GALLERY_SHORT", "1")
    monkeypatch.delenv("MPLBACKEND")  # a notebook shows pictures below their cells
    notebook = jupytext.read(ROOT / "examples" / f"{name}.py")
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert printed in "".join(output.text for output in outputs if output.output_type == "stream")
    assert "image/png" in outputs[-1].data
    assert (tmp_path / "out" / f"{name}.png").is_file()


def test_climate(run: Any) -> None:
    names = run("climate")
    assert abs(names["north"] - 0.03) < 0.003
    assert abs(names["tropics"] - 0.01) < 0.003
    assert min(names["found"].values()) > 0.95
    field = names["field"]
    anomaly = field.groupby("time.month") - field.groupby("time.month").mean()
    days = field.time.copy(data=names["years"].values)
    slope = xr.cov(anomaly, days, dim="time") / days.var() * (480 - 1) / 480  # cov divides by n - 1
    np.testing.assert_allclose(names["trend"], slope, atol=1e-12)
    rest = (anomaly - slope * (days - days.mean())).transpose("time", "lat", "lon")
    np.testing.assert_allclose(names["anomaly"].transpose("time", "lat", "lon"), rest, atol=1e-10)
    s = np.linalg.svd((rest * np.sqrt(names["area"])).values.reshape(480, -1), compute_uv=False)
    np.testing.assert_allclose(names["part"], s**2 / np.sum(s**2), atol=1e-12)


def test_gaussian_process(run: Any) -> None:
    """As scikit-learn's GaussianProcessRegressor with the same kernel."""
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    names = run("gaussian_process")
    p, x, y = names["p"], names["x"].values, names["y"].values
    assert names["last"] > names["first"] + 5
    assert names["explained"] > 0.4 and 0.85 < names["covered"] < 0.95
    signal, noise = np.exp(p["signal"].item()), np.exp(p["noise"].item())
    kernel = kernels.ConstantKernel(signal) * kernels.RBF(np.exp(p["length"].values)) + kernels.WhiteKernel(noise)
    peer = GaussianProcessRegressor(kernel, optimizer=None, alpha=0).fit(x, y)
    np.testing.assert_allclose(names["last"], peer.log_marginal_likelihood(kernel.theta), rtol=1e-9)
    mean, deviation = peer.predict(names["x_test"].values, return_std=True)
    np.testing.assert_allclose(names["mean"].values, mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(names["deviation"].values, deviation, rtol=1e-6)


def test_kalman(run: Any) -> None:
    """The smoother gives the mean and covariance of a normal distribution, given its noisy values."""
    names = run("kalman")
    assert abs(names["noise"] - 15099) < 10 and abs(names["drift"] - 1469) < 5  # Durbin and Koopman, 2001
    flow, noise, drift = names["flow"].values, names["noise"], names["drift"]
    n = len(flow)
    steps = np.minimum.outer(np.arange(n), np.arange(n))
    prior = 1e9 + drift * steps  # of a level about which nothing is known
    gain = prior @ np.linalg.inv(prior + noise * np.eye(n))
    np.testing.assert_allclose(names["mean"], gain @ flow, rtol=1e-4)
    np.testing.assert_allclose(names["deviation"], np.sqrt(np.diag(prior - gain @ prior)), rtol=1e-3)


def test_eight_schools(run: Any) -> None:
    """Given tau, all is normal: sums over a grid of tau give the exact posterior means and deviations."""
    names = run("eight_schools")
    y, variance = names["effect"].values, names["error"].values ** 2
    weights, means, squares = [], [], []
    for log_tau in np.linspace(-8, 7, 3000):
        tau = np.exp(log_tau)
        of_mean = np.sum(1 / (variance + tau**2)) + 1 / 25
        mu = np.sum(y / (variance + tau**2)) / of_mean
        total = np.diag(variance + tau**2) + 25
        score = -0.5 * (np.linalg.slogdet(total)[1] + y @ np.linalg.solve(total, y))
        weights.append(np.exp(score) * tau / (1 + (tau / 5) ** 2))
        known = tau**2 / (variance + tau**2)  # how much a school's own report counts
        mean = np.array([mu, tau, *(mu + known * (y - mu))])
        means.append(mean)
        squares.append(mean**2 + [1 / of_mean, 0, *(known * variance + (1 - known) ** 2 / of_mean)])
    exact = np.average(means, axis=0, weights=weights)
    deviation = np.sqrt(np.average(squares, axis=0, weights=weights) - exact**2)
    for found, want in ((names["mean"], exact), (names["deviation"], deviation)):
        np.testing.assert_allclose([found["mu"].item(), found["tau"].item(), *found["effect"].values], want, atol=0.15)
    assert names["r_hat"] < 1.01
    assert 0.7 < names["accepted"].values.mean() < 0.9

    # Paths turn back long before they have doubled ten times, and one chain alone draws what it draws among others.
    leaps = names["leaps"].values
    assert set(np.unique(leaps)) >= {1, 3, 7, 15} and 4 < leaps.mean() < 12 and leaps.max() < 128
    xt, scale = names["xt"], names["scale"]
    q = names["drawn"].isel(draw=-1)
    keys = xt.random.split(xt.random.key(5), chain=16, draw=1)
    many, (_, _, counts) = names["sample"](q, 0.5, scale, keys)
    for i in (0, 7, 15):
        one, (_, _, count) = names["draw"](q.isel(chain=i), 0.5, scale, keys[i][0])
        np.testing.assert_allclose(one.values, many.isel(chain=i).values, rtol=1e-9)
        assert count.item() == counts.isel(chain=i).item()


def test_heat(run: Any) -> None:
    """Temperatures solve the equation as SciPy does, and the implicit gradient is that of finite differences."""
    from scipy.optimize import fsolve

    names = run("heat")
    k, n = np.exp(names["true_log_k"].values), names["NODES"]
    for heating, truth in zip(names["heating"].values, names["truth"].values, strict=True):
        solved = fsolve(
            lambda u, h=heating: np.diff(k * np.diff(np.pad(u, 1))) * (n + 1) ** 2 + h - 2.0 * u**4, truth * 0 + 0.3
        )
        np.testing.assert_allclose(truth, solved, rtol=1e-6)
    along = np.sin(np.arange(n + 1.0))
    far, near = (names["misfit"](names["flat"] + names["xt"].array(s * along, "link")).item() for s in (1e-4, -1e-4))
    np.testing.assert_allclose(names["gradient"].values @ along, (far - near) / 2e-4, rtol=1e-5)
    assert names["misfit"](names["log_k"]).item() < 2 * n
    assert abs(names["error"]).mean() < 0.05


def test_deblur(run: Any) -> None:
    """The blur is SciPy's convolution with wrapped edges, and each method is better than the one before."""
    from scipy.ndimage import convolve

    names = run("deblur")
    kernel = np.roll(names["path"], (5, 5), (0, 1))[:11, :11]
    image = names["image"].values
    blurred = np.stack([convolve(image[..., i], kernel, mode="wrap") for i in range(3)], axis=-1)
    np.testing.assert_allclose(names["blur"](names["image"]).values, blurred, atol=2e-6)
    found = names["found"]
    assert found["total variation"] > found["Wiener's filter"] > found["shaken"] + 2


def test_neural_ode(run: Any) -> None:
    """SciPy integrates the learned equation to the same swings, which are near the true ones."""
    from scipy.integrate import solve_ivp

    names = run("neural_ode")
    w1, b1, w2, b2 = (names["p"][name].values.astype("f8") for name in ("w1", "b1", "w2", "b2"))
    times = 0.1 * np.arange(81)
    for start, predicted in zip(names["starts"], names["predicted"], strict=True):
        solved = solve_ivp(
            lambda t, u: np.tanh(u @ w1 + b1) @ w2 + b2, (0, 8), start, t_eval=times, rtol=1e-8, atol=1e-8
        )
        np.testing.assert_allclose(predicted, solved.y.T[1:], atol=2e-3)
    assert names["error"] < 0.2
    assert names["losses"][-1] < names["losses"][0] / 50


def test_nbody(run: Any) -> None:
    """The first step is what NumPy gives, and momentum is kept whatever the network learned."""
    names = run("nbody")
    x, v = names["x6"].values.astype("f8"), names["v6"].values.astype("f8")

    def acceleration(x: np.ndarray) -> np.ndarray:
        apart = x[None] - x[:, None]
        return np.sum(apart * (np.sum(apart**2, axis=-1, keepdims=True) + 0.3**2) ** -1.5, axis=1)

    middle = v + 0.025 * acceleration(x)
    x = x + 0.05 * middle
    v = middle + 0.025 * acceleration(x)
    moved, velocity = (a.isel(time=0).transpose("body", "axis").values for a in names["paths"][0])
    np.testing.assert_allclose(moved, x, atol=1e-6)
    np.testing.assert_allclose(velocity, v, atol=1e-5)
    assert names["drift"] < 1e-4
    assert names["error"] < 0.1


def test_transformer(run: Any) -> None:
    """Attention is what NumPy gives; no character sees a later one; and context is worth bits."""
    names = run("transformer")
    xt, params, context = names["xt"], names["params"], names["CONTEXT"]
    p = {name: value.values.astype("f8") for name, value in params["layers"][0].items()}
    x = np.random.default_rng(0).normal(size=(context, names["WIDTH"])).astype("f4")
    q, k, v = (np.einsum("tw,whf->htf", x, p[name]) for name in ("query", "key", "value"))
    scores = np.einsum("htf,hsf->hts", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(scores) * np.tri(context)
    mixed = np.einsum("hts,hsf->htf", weights / weights.sum(-1, keepdims=True), v)
    found = names["attend"](params["layers"][0], xt.array(x, ("time", "width"))).transpose("time", "width").values
    np.testing.assert_allclose(found, np.einsum("htf,whf->tw", mixed, p["out"]), atol=1e-4)

    codes = names["test_codes"][:context]
    other = np.append(codes[:-1], (codes[-1] + 1) % len(names["characters"]))
    one, two = (names["logits"](params, xt.array(c, "time")).transpose("time", "char").values for c in (codes, other))
    np.testing.assert_array_equal(one[:-1], two[:-1])
    assert not np.allclose(one[-1], two[-1])
    assert names["bits"] < names["without_context"] - 0.5
    assert len(names["written"]) == 20


def test_images(run: Any) -> None:
    names = run("images")
    assert names["accuracy"] > 0.9 and names["history"][-1] < names["history"][0] / 3
    image, p = names["test"][0].values[0], {k: v.values for k, v in names["p"].items()}
    padded = np.pad(image, 1)
    first = sum(padded[i : i + 8, j : j + 8, None] * names["p"]["edges"].transpose("dy", "dx", "edge").values[i, j]
                for i in range(3) for j in range(3))  # fmt: skip
    h = np.maximum(first + p["edge_bias"], 0).reshape(4, 2, 4, 2, 8).max((1, 3))
    padded = np.pad(h, ((1, 1), (1, 1), (0, 0)))
    parts = names["p"]["parts"].transpose("dy", "dx", "edge", "part").values
    second = sum(padded[i : i + 4, j : j + 4] @ parts[i, j] for i in range(3) for j in range(3))
    h = np.maximum(second + p["part_bias"], 0)
    read = names["p"]["read"].transpose("y", "x", "part", "digit").values
    want = np.einsum("yxp,yxpd->d", h, read) + p["bias"]
    found = names["scores"](names["p"], names["test"][0].isel(sample=0))
    np.testing.assert_allclose(found.values, want, rtol=1e-4, atol=1e-4)


def test_raspberry(run: Any) -> None:
    """The other machine finds what NumPy finds with the same weights."""
    names = run("raspberry")
    if names["missing"]:
        pytest.skip(f"{names['missing']} not installed (scripts/setup.sh has them with XTENSOR_PEERS=1)")
    w, b = names["model"]["w"].transpose("pixel", "digit").values, names["model"]["b"].values
    logits = names["images"][names["test"]] @ w + b
    probability = np.exp(logits - logits.max(1, keepdims=True))
    probability /= probability.sum(1, keepdims=True)
    np.testing.assert_array_equal(names["there"][0], logits.argmax(1))
    np.testing.assert_allclose(names["there"][1], probability.max(1), atol=1e-5)
    assert names["accuracy"] > 0.94


def test_waves(run: Any) -> None:
    """As NumPy computes them, in one process and in two."""
    names = run("waves")
    water, height = names["water"].astype("f4"), names["drop"].astype("f4")
    before = now = height
    for _ in range(names["STEPS"]):
        p = np.pad(now, 1)
        around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * now
        before, now = now, water * (2 * now - before + np.float32(0.25) * around)
    np.testing.assert_allclose(names["last"], now, atol=1e-5)
    np.testing.assert_allclose(names["energy"], names["energy"][0], rtol=1e-3)
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed: one process was tried")
    program = f"import runpy; n = runpy.run_path({str(ROOT / 'examples' / 'waves.py')!r}); "
    program += "print('sum', n['rank'], float((n['last'] ** 2).sum()))"
    printed = mpirun(2, "-c", program)
    assert "in 2 processes" in printed
    sums = [float(line.split()[2]) for line in printed.splitlines() if line.startswith("sum")]
    np.testing.assert_allclose(sums, [(now**2).sum()] * 2, rtol=1e-5)
