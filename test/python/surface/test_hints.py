"""What to write instead: names that people bring from NumPy, JAX and PyTorch, and calls that mean another thing."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import xtensor as xt
from messages import Wrong, check_message
from xtensor.base import lacking
from xtensor.surface import elsewhere, further, peers, scipys
from xtensor.surface import hints as absent

X = xt.ones(time=4, space=3)
SQUARE = xt.array([[2.0, 1.0], [0.5, -3.0]], ("row", "col"))
DATASET = xr.Dataset({"a": ("time", np.ones(4))})


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(absent._FUNCTIONS) | set(absent._RENAMED)))
def test_a_name_that_is_not_here_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"^xt has no '{name}': ."):
        getattr(xt, name)


@pytest.mark.parametrize("name", sorted(set(absent._METHODS) | set(absent._EITHER)))
def test_a_method_that_is_not_here_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"^'Array' object has no attribute '{name}': ."):
        getattr(X, name)
    with pytest.raises(AttributeError, match=rf"^<traced float64 .*> has no attribute '{name}': (?!.*to_xarray)."):
        xt.jit(lambda x: getattr(x, name))(X)


@pytest.mark.parametrize(
    "space",
    [
        "numpy",
        "numpy.linalg",
        "numpy.random",
        "xarray",
        "jax.numpy",
        "jax.numpy.linalg",
        "jax.nn",
        "jax.random",
        "numpy.fft",
        "scipy.fft",
        "scipy.signal",
        "jax.numpy.fft",
    ],
)
def test_every_public_name_of_others_is_here_or_says_what_to_write(space: str) -> None:
    module = pytest.importorskip(space, reason=f"{space} is not installed")
    last = space.rpartition(".")[2]
    room, where = (
        (getattr(xt, last), f"xt.{last}") if last in ("linalg", "fft", "nn", "random", "signal") else (xt, "xt")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are about to go
        public = getattr(module, "__all__", dir(module))
        # A folder that some import has made an attribute, such as xarray.static, is not a name of the library.
        named = [n for n in dir(module) if n in public or not inspect.ismodule(getattr(module, n))]
        names = [n for n in {*named, *public} if not n.startswith("_")]
    silent = []
    for name in sorted(names):
        try:
            getattr(room, name)
        except AttributeError as error:
            if not str(error).startswith(f"{where} has no {name!r}: "):
                silent.append(name)
    assert len(names) > 15
    assert silent == []


@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("relu6", "relu6"), ("hard_tanh", "hardtanh"),
        ("hard_swish", "hardswish"), ("swish", "silu"), ("mish", "mish"),
        ("soft_sign", "softsign"), ("hardtanh", "hardtanh"),
    ],
)  # fmt: skip
def test_what_to_write_for_a_layer_is_pytorchs(name: str, peer: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    v = np.array([-800.0, -7.0, -3.1, -1.5, -0.5, 0.25, 1.5, 5.0, 7.0, 800.0])
    leaf = torch.tensor(v, requires_grad=True)
    y = getattr(functional, peer)(leaf)

    def written(x: Any) -> Any:
        return eval(further.LAYERS[name].removeprefix("write "), {"xt": xt, "x": x})

    x = xt.array(v, "i")
    np.testing.assert_allclose(written(x).values, y.detach().numpy(), rtol=1e-12, atol=1e-15)
    (slope,) = torch.autograd.grad(y.sum(), leaf)
    np.testing.assert_allclose(xt.grad(lambda x: written(x).sum())(x).values, slope.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "name", [*peers.METHODS, *sorted(peers.AS_FUNCTIONS), *(f"{name}_" for name in ("mul", "clamp", "zero", "add"))]
)
def test_a_method_of_peers_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"^'Array' object has no attribute '{name}': ."):
        getattr(X, name)


@pytest.mark.parametrize("name", [*peers.BOTH, *peers.FUNCTIONS])
def test_a_function_of_peers_says_what_to_write(name: str) -> None:
    for room, where in ((xt, "xt"), (xt.nn, "xt.nn"), (xt.tree, "xt.tree"), (xt.optim, "xt.optim")):
        with pytest.raises(AttributeError, match=rf"^{where} has no '{name}': ."):
            getattr(room, name)


LOSSES = (
    "l1_loss", "huber_loss", "smooth_l1_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "soft_margin_loss", "poisson_nll_loss", "nll_loss", "cosine_similarity", "normalize", "logsigmoid", "softmin",
    "hardshrink", "softshrink", "tanhshrink", "threshold", "prelu",
)  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_what_to_write_for_a_loss_is_pytorchs(name: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.05, 0.95, size=(2, 5, 3)) * (1 if "binary" in name else 3)
    x, y = xt.array(a, ("sample", "k")), xt.array(b, ("sample", "k"))
    more: tuple[Any, ...] = {"softmin": (1,), "threshold": (0.1, 20.0), "prelu": (torch.tensor([0.2]).double(),)}.get(
        name, ()
    )
    if name.endswith("loss") or "entropy" in name or "similarity" in name:
        more = (torch.tensor(b),)
    names = {"xt": xt, "x": x, "y": y, "a": 0.2}
    if name == "nll_loss":
        classes = np.array([0, 2, 1, 1, 0])
        more = (torch.tensor(classes),)
        names |= {"log_p": x.rename(k="class"), "labels": xt.array(classes, "sample")}
    if name == "softmin":
        names["x"] = x.rename(k="class")
    want = getattr(functional, name)(torch.tensor(a), *more).numpy()
    got = eval(peers.FUNCTIONS[name].removeprefix("write "), names)
    np.testing.assert_allclose(got.values, want, rtol=1e-9)


# Of classes of torch.nn: the constructor's arguments, and what the call gets besides `x`.
MODULES: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "LayerNorm": ((5,), ()), "CrossEntropyLoss": ((), ("classes",)), "MSELoss": ((), ("y",)), "L1Loss": ((), ("y",)),
    "BCELoss": ((), ("y",)), "BCEWithLogitsLoss": ((), ("y",)), "HuberLoss": ((), ("y",)),
    "SmoothL1Loss": ((), ("y",)), "NLLLoss": ((), ("classes",)), "BatchNorm1d": ((5,), ()),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_what_to_write_for_a_module_is_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, y, classes = rng.uniform(0.1, 0.9, (4, 5)), rng.uniform(0.1, 0.9, (4, 5)), np.array([0, 2, 4, 1])
    tensors = {n: torch.tensor(v) for n, v in {"y": y, "classes": classes}.items()}
    made, more = MODULES[name]
    want = getattr(torch.nn, name)(*made).double()(torch.tensor(x), *(tensors[n] for n in more))
    dim = "class" if "class" in further.LAYERS[name] else "feature"
    named = {"x": xt.array(x, ("batch", dim)), "y": xt.array(y, ("batch", dim)), "labels": xt.array(classes, "batch")}
    named |= {"logits": named["x"], "log_p": named["x"], "weight": xt.ones(**{dim: 5}), "bias": xt.zeros(**{dim: 5})}
    written = further.LAYERS[name].removeprefix("write ").replace('("batch", "h", "w")', '"batch"').partition(": ")[0]
    np.testing.assert_allclose(eval(written, {"xt": xt, **named}).values, want.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["cho_factor", "lu_factor"])
def test_what_to_write_for_a_factor_solves(name: str) -> None:
    a = xt.array([[4.0, 1.0], [1.0, 3.0]], ("row", "col"))
    names: dict[str, Any] = {"xt": xt, "a": a, "b": a[:, 0]}
    factors, solution = further.MATRICES[name].removeprefix("write ").split(", and ")
    exec(factors, names)
    np.testing.assert_allclose(eval(solution, names).values, [1, 0], atol=1e-12)


@pytest.mark.parametrize("name", ["Module", "Sequential", "Parameter", "functional", "Embedding", "GroupNorm"])
def test_rooms_know_what_pytorch_has(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^xt.nn has no '{name}': "):
        getattr(xt.nn, name)


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("pareto", ("pareto", 3.0)),
        ("rayleigh", ("rayleigh",)),
        ("maxwell", ("maxwell",)),
        ("weibull_min", ("weibull_min", 3.0)),
        ("triangular", ("triang", 0.25)),
        ("f", ("f", 5.0, 7.0)),
    ],
)
def test_what_to_write_for_a_distribution_has_it(name: str, distribution: tuple[Any, ...]) -> None:
    stats = pytest.importorskip("scipy.stats")
    given, n = {"a": 3.0, "scale": 1.0, "low": 0.0, "high": 1.0, "mode": 0.25, "d1": 5.0, "d2": 7.0}, 20_000
    k1, k2 = xt.random.split(xt.random.key(1))
    code = further.DRAWS[name].removeprefix("write ").replace("time=3", f"time={n}")
    code = re.sub(r"(d[12] / 2)\)", rf"\1, time={n})", code.partition(", and")[0].partition(", with")[0])
    c, u = (given["mode"] - given["low"]) / (given["high"] - given["low"]), xt.random.uniform(k1, time=n)
    y = eval(code, {"xt": xt, "key": k1, "k1": k1, "k2": k2, "c": c, "u": u, **given})
    kind, *shapes = distribution
    assert stats.kstest(y.values, getattr(stats, kind)(*shapes).cdf).pvalue > 1e-3


def test_what_to_write_for_signals_is_scipys() -> None:
    signal = pytest.importorskip("scipy.signal")
    n, m = 16, 8
    a, taps, window = np.random.default_rng(0).normal(size=(3, 50))
    taps, window = taps[:5] + 1j * taps[5:10], window[:n]
    names = {"xt": xt, "scipy": pytest.importorskip("scipy"), "np": np, "n": n, "x": xt.array(a, "time")}
    names |= {"k": xt.array(taps, "lag"), "window": xt.array(window, "lag"), "rank": 2}

    def written(name: str, **more: Any) -> Any:
        expression, _, given = scipys.SIGNAL[name].removeprefix("write ").partition(", with ")
        expression = expression.removesuffix(", of odd sizes")
        here = names | more
        if given:
            variable, _, value = given.partition(" = ")
            here[variable] = eval(value, here)
        return eval(expression.removeprefix("z = "), here)

    def close(got: Any, want: Any) -> None:
        np.testing.assert_allclose(np.asarray(got), want, atol=1e-12)

    close(written("correlate"), signal.correlate(a, taps))
    close(written("oaconvolve"), signal.oaconvolve(a, taps))
    close(written("detrend"), signal.detrend(a))
    for size in (35, 75):
        close(written("resample", m=size, x=xt.array(a[1:], "time")), signal.resample(a[1:], size))
    close(written("medfilt")[1:-1], signal.medfilt(a)[1:-1])
    close(written("order_filter")[1:-1], signal.order_filter(a, np.ones(3), 2)[1:-1])
    close(written("find_peaks"), signal.find_peaks(a)[0])
    close(written("argrelmin"), signal.argrelmin(a)[0])
    close(written("savgol_filter")[2:-2], signal.savgol_filter(a, 5, 2)[2:-2])
    close(written("get_window"), signal.get_window("hann", n))
    for size in (49, 50):
        close(written("hilbert", n=size, x=xt.array(a[:size], "time")), signal.hilbert(a[:size]))
    segments = eval(scipys.SIGNAL["welch"].partition(", and ")[0].removeprefix("write s = "), names)
    spectra = eval(scipys.SIGNAL["stft"].partition(", and ")[2], names | {"s": segments})
    _, power = signal.welch(a, window=window, nperseg=n, noverlap=n - m, detrend=False, return_onesided=False)
    close((abs(spectra) ** 2).mean("segment") / (window**2).sum(), power[: n // 2 + 1])


def test_what_to_write_for_sums_and_moments_is_scipys() -> None:
    integrate, stats = pytest.importorskip("scipy.integrate"), pytest.importorskip("scipy.stats")
    a = np.random.default_rng(0).normal(size=50) ** 2
    x = xt.array(a, "time")

    def close(name: str, want: Any) -> None:
        text = scipys.FUNCTIONS[name].removeprefix("write ").partition(", the ")[0]
        got = eval(text, {"xt": xt, "math": math, "x": x, "y": x**2, "dx": 0.1})
        np.testing.assert_allclose(got.values, want, rtol=1e-9)

    close("cumulative_trapezoid", integrate.cumulative_trapezoid(a**2, dx=0.1))
    for name in ("zscore", "skew", "kurtosis", "sem", "iqr"):
        close(name, getattr(stats, name)(a))
    close("pearsonr", stats.pearsonr(a, a**2).statistic)
    close("linregress", stats.linregress(a, a**2)[:2])


def test_what_to_write_for_counts_has_the_moments_of_numpys() -> None:
    k1, k2 = xt.random.split(xt.random.key(1))
    n, p, df, nonc = 4.0, 0.3, 5.0, 3.0
    y = xt.random.poisson(k1, xt.random.gamma(k2, n, time=20_000) * (1 - p) / p).values
    assert abs(y.mean() - n * (1 - p) / p) < 0.15 and abs(y.var() / (n * (1 - p) / p**2) - 1) < 0.06
    code = further.DRAWS["noncentral_chisquare"].removeprefix("write ").replace("time=3", "time=20_000")
    y = eval(code, {"xt": xt, "k1": k1, "k2": k2, "df": df, "nonc": nonc}).values
    assert abs(y.mean() / (df + nonc) - 1) < 0.03 and abs(y.var() / (2 * (df + 2 * nonc)) - 1) < 0.06


def test_a_factor_of_a_matrix_is_not_a_complex_number() -> None:
    with pytest.raises(AttributeError, match=r"^xt.linalg has no 'polar': write u, s, vh = xt.linalg.svd"):
        xt.linalg.polar  # noqa: B018
    with pytest.raises(AttributeError, match=r"^xt has no 'polar': write xt.complex"):
        xt.polar  # noqa: B018


# Names of others that mean something else here, and what.
HOMONYMS = {
    "cond": "control flow, not the condition number of a matrix",
    "gamma": "numbers of the gamma distribution, not the gamma function",
}


def test_no_hint_is_about_a_name_that_is_here() -> None:
    """A function that is added takes its hint away: the hint would be found before the function of another room."""
    rooms = (xt, *absent._ROOMS.values())
    tables = (elsewhere.TABLE, absent._FUNCTIONS, absent._EITHER, absent._RENAMED, peers.FUNCTIONS, peers.BOTH,
              scipys.FUNCTIONS, further.LAYERS)  # fmt: skip
    here = {name for table in tables for name in table if any(name in room.__all__ for room in rooms)}
    assert here == set(HOMONYMS)
    for room, table in further.ROOMS.items():
        assert table.keys().isdisjoint(absent._ROOMS[room].__all__)
    methods = {
        name for table in (absent._METHODS, absent._EITHER, peers.METHODS) for name in table if hasattr(xt.Array, name)
    }
    assert methods == set()


def test_what_is_advised_is_there() -> None:
    tables = (elsewhere.TABLE, absent._FUNCTIONS, absent._EITHER, peers.FUNCTIONS, peers.METHODS,
              scipys.FUNCTIONS, scipys.SIGNAL)  # fmt: skip
    for text in {text for table in tables for text in table.values()}:
        for name in re.findall(r"\bxt\.([A-Za-z_][\w.]*\w)\(", text):
            found: Any = xt
            for part in name.split("."):
                found = getattr(found, part)


def test_advice_of_other_names_works() -> None:
    """The expressions that stand for what is missing, against NumPy."""
    x, y = (xt.array(v, "time") for v in (np.array([-1.5, 0.25, np.nan, 3.0]), np.array([2.0, np.nan, 1.0, -2.0])))
    a, b = x.values, y.values
    pairs: dict[str, tuple[Any, Any]] = {
        "fmax": (xt.where(xt.isnan(x), y, xt.where(xt.isnan(y), x, xt.maximum(x, y))), np.fmax(a, b)),
        "fmod": (x - y * xt.trunc(x / y), np.fmod(a, b)),
        "heaviside": (xt.where(x == 0, y, (x > 0) * 1.0)[:2], np.heaviside(a, b)[:2]),
        "logspace": (10.0 ** xt.linspace(0.0, 3.0, 10, dim="i"), np.logspace(0.0, 3.0, 10)),
        "geomspace": (xt.exp(xt.linspace(math.log(2.0), math.log(5.0), 10, dim="i")), np.geomspace(2.0, 5.0, 10)),
        "tri": (xt.linalg.tril(xt.ones(row=3, col=3)), np.tri(3)),
        "rot90": (
            xt.flip(SQUARE, dim="col").rename(row="col", col="row").transpose("row", "col"),
            np.rot90(SQUARE.values),
        ),
        "vander": (y[2:] ** xt.arange(4, dim="degree"), np.vander(b[2:], 4, increasing=True)),
        "correlate": (xt.nn.conv(y[2:], y[2:].rename(time="lag"), {"time": "lag"}), np.correlate(b[2:], b[2:])),
        "spacing": (xt.nextafter(abs(y), math.inf) - abs(y), abs(np.spacing(b))),
        "cond": (
            xt.linalg.norm(SQUARE, 2) * xt.linalg.norm(xt.linalg.inv(SQUARE), 2),
            np.linalg.cond(SQUARE.values),
        ),
    }
    for name, (got, want) in pairs.items():
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12, err_msg=name)


def test_renamed_functions_are_there() -> None:
    rooms = (xt, xt.nn, xt.linalg, xt.random, xt.signal)
    assert [n for n in absent._RENAMED.values() if not any(hasattr(room, n) for room in rooms)] == []


def test_rooms_know_the_words_of_other_libraries() -> None:
    words = {xt.linalg: "logdet solve_triangular eigvalsh diag", xt.nn: "mse_loss Linear"}
    for room, names in words.items():
        for name in names.split():
            with pytest.raises(AttributeError, match=rf"has no '{name}': write ."):
                getattr(room, name)


def test_methods_of_numpys_functions_say_what_to_write() -> None:
    for function, methods in lacking._REDUCTIONS.items():
        for method, ours in methods.items():
            with pytest.raises(AttributeError, match=rf"has no attribute '{method}': write xt.{ours}\(x"):
                getattr(getattr(xt, function), method)
            assert callable(getattr(xt, ours))
    with pytest.raises(AttributeError, match=r"write x.at\(time=i\).add\(v\)"):
        xt.add.at(X, 0, 1.0)
    with pytest.raises(AttributeError, match=r"write xt.multiply\(x, y\)"):
        xt.multiply.outer(X, X)
    assert repr(X.at(time=0)).startswith("<x.at(time) of float64 (time: 4, space: 3); it has add, ")


def test_a_text_is_no_operand() -> None:
    for call in (lambda: X * "2", lambda: "2" * X, lambda: X + "2", lambda: X * b"2"):
        with pytest.raises(xt.ArgumentTypeError, match=r"a DataArray or a number, got .*time: 4"):
            call()
    assert (X == "2") is False


NUMPY: dict[str, tuple[Callable[[Any], Any], str]] = {
    "np.stack": (lambda x: np.stack([x, x]), r"xt.concat\(\[x, y\]"),
    "np.concatenate": (lambda x: np.concatenate([x, x]), r"xt.concat\(\[x, y\]"),
    "np.where": (lambda x: np.where(x > 0, x, 0), r"xt.where\(condition, x, y\)"),
    "np.split": (lambda x: np.split(x, 2), r"xt.split\(x, parts, dim\)"),
    "np.maximum": (lambda x: np.maximum(x, 0), r"xt.maximum\(x, y\)"),
    "np.dot": (lambda x: np.dot(x, x), r"xt.dot\(x, y\)"),
    "np.einsum": (lambda x: np.einsum("ij->i", x), r"xt.dot\(x, y, dim="),
    "np.outer": (lambda x: np.outer(x, x), r"x \* y"),
    "np.percentile": (lambda x: np.percentile(x, 50), r"xt.quantile\(x, 0.5"),
    "np.nanmean": (lambda x: np.nanmean(x), r"xt.mean\(x, skipna=True\)"),
    "np.linalg.inv": (lambda x: np.linalg.inv(x), r"xt.linalg.inv\(x\)"),
    "np.fft.fft": (lambda x: np.fft.fft(x), r"write xt.fft.fft\(x\)"),
    "np.lib.stride_tricks.sliding_window_view": (
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 2),
        "xt has no such function. Return the array",
    ),
}


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_on_a_traced_array_says_what_to_write(name: str) -> None:
    f, instead = NUMPY[name]
    with pytest.raises(xt.ArgumentTypeError, match=rf"^{name} of a named array: .*{instead}"):
        xt.jit(f)(X)


def test_a_ufunc_of_another_library_is_not_numpys() -> None:
    special = pytest.importorskip("scipy.special")
    with pytest.raises(xt.ArgumentTypeError, match=r"^ellipk of a named array: write np.asarray\(x\)"):
        special.ellipk(X)
    with pytest.raises(xt.ArgumentTypeError, match=r"^expit of a named array: write xt.sigmoid\(x\)"):
        xt.jit(special.expit)(X)


# -- calls ------------------------------------------------------------------------------------------------------------


class Foreign:
    """An array of another library, as DLPack shows it."""

    shape = (2, 3)

    def __dlpack__(self) -> None:
        raise AssertionError("nothing was to be read")


def assign(x: Any) -> None:
    x[0] += 1


CALLS: dict[str, Wrong] = {
    "array of traced": (
        lambda: xt.jit(lambda x: xt.array([x.sum(), x.mean()], dims="k"))(X),
        xt.ArgumentTypeError,
        r'xt.concat\(\[x, y\], dim="k"\)',
    ),
    "grad of an array": (lambda: xt.grad(lambda x: x.sum(), X), xt.ArgumentTypeError, r"write xt.grad\(f\)\(x\)"),  # type: ignore[arg-type]
    "axis=1": (lambda: X.mean(axis=1), xt.ArgumentTypeError, "write dim='space'\n"),  # type: ignore[call-arg]
    "axis=-1": (lambda: xt.nn.softmax(X, axis=-1), xt.ArgumentTypeError, "write dim='space'\n"),  # type: ignore[call-arg]
    "axis=(0, 1)": (lambda: xt.sum(X, axis=(1, 0)), xt.ArgumentTypeError, r"write dim=\('space', 'time'\)\n"),  # type: ignore[call-arg]
    "0": (lambda: X.mean(0), xt.ArgumentTypeError, r"write dim='time'\. Element by element"),  # type: ignore[arg-type]
    "-1": (lambda: xt.cumsum(X, -1), xt.ArgumentTypeError, "write dim='space'\n"),  # type: ignore[arg-type]
    "(0, 1)": (lambda: X.sum((1, 0)), xt.DimensionError, r"write dim=\('space', 'time'\)\n"),  # type: ignore[arg-type]
    "one dim": (lambda: xt.sort(X, 1), xt.ArgumentTypeError, r"not 1 .*\. .*write dim='space'\n"),  # type: ignore[arg-type]
    "a dim to join": (lambda: xt.concat([X, X], 1), xt.ArgumentTypeError, "write dim='space'\n"),  # type: ignore[arg-type]
    "axis=None": (lambda: xt.sum(X, axis=None), xt.ArgumentTypeError, "leave axis= out, which means all"),  # type: ignore[call-arg]
    "axis=7": (lambda: xt.sum(X, axis=7), xt.ArgumentTypeError, "write dim='time'\n"),  # type: ignore[call-arg]
    "pandas": (
        lambda: xt.grad(lambda s: s.sum())(pd.Series([1.0, 2.0])),
        xt.DimensionError,
        r"argument \[0\] of .*a pandas.*Series of shape \(2,\) .*xt.array\(x.values, dims=\(\"row\",\)\)",
    ),
    "DLPack": (
        lambda: xt.grad(lambda s: s.sum())(Foreign()),
        xt.DimensionError,
        r"Foreign of shape \(2, 3\) has no named dims. Name its axes: xt.array\(x, dims=\(\"row\", \"col\"\)\)",
    ),
    "a generator": (
        lambda: xt.scan(lambda c, x: (c, x), 0.0, (i for i in range(3)), dim="i"),
        xt.ArgumentTypeError,
        r"a generator is not an array. Write xt.array\(list\(..\), dims=...\)\n",
    ),
    "a text among parameters": (
        lambda: xt.grad(lambda p: p["x"].sum())({"x": X, "name": "foo"}),
        xt.ArgumentTypeError,
        r"^xt.grad: argument 'p'\['name'\] is 'foo'; .*wrt= does not name",
    ),
    "if of what is constant": (
        lambda: xt.grad(lambda x: x.sum() * (2.0 if (X > 0).all() else 1.0))(X),
        xt.ArgumentTypeError,
        "No argument has a part in it: compute it before the call",
    ),
    "if of what is traced": (
        lambda: xt.grad(lambda x: x.sum() * (2.0 if (x * X > 0).all() else 1.0))(X),
        xt.ArgumentTypeError,
        "Write xt.where",
    ),
    "scan over numbers": (
        lambda: xt.scan(lambda c, x: (c + x, None), 0.0, [1.0, 2.0], dim="i"),
        xt.DimensionError,
        r"Numbers in a row are one array: xt.array\(\[..\], 'i'\)",
    ),
    "scan of init": (
        lambda: xt.scan(lambda c, x: (c, x), init=0.0, xs=X, dim="time"),  # type: ignore[call-arg]
        xt.ArgumentTypeError,
        "Write carry= for init=",
    ),
    "cond of arrays": (
        lambda: xt.cond(True, X, X),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        r"needs functions, got an array, float64 \(time: 4, space: 3\). Write lambda: value\n",
    ),
    "mean of a Dataset": (lambda: xt.mean(DATASET), xt.ArgumentTypeError, r"xt.mean: .*xt.tree.map\(f, dataset"),  # type: ignore[arg-type]
    "cholesky of other dims": (
        lambda: xt.linalg.cholesky(xt.ones(i=3, j=3)),
        xt.DimensionError,
        r"dims= does not say .*Write dims=\('i', 'j'\)",
    ),
    "right-hand side": (
        lambda: xt.linalg.solve(xt.eye(row=3, col=3), xt.ones(i=3)),
        xt.DimensionError,
        r"lacks dim 'row': .*Write b.rename\(\{'i': 'row'\}\)",
    ),
    "right-hand side of columns": (
        lambda: xt.linalg.solve(xt.eye(row=3, col=3), xt.ones(col=3, k=2)),
        xt.DimensionError,
        r"lacks dim 'row': .*Write b.rename\(\{'col': 'row'\}\)",
    ),
    "NumPy in a result": (
        lambda: xt.jit(lambda x: (x.mean(), np.ones(3)))(X),
        xt.DimensionError,
        r"result\[1\] of <lambda>, a NumPy array of shape \(3,\) has no named dims",
    ),
    "float labels": (
        lambda: xt.nn.cross_entropy(xt.ones(n=3, c=2), xt.array([0.0, 1.0, 0.0], "n"), dim="c"),
        xt.DimensionError,
        r'xt.nn.cross_entropy: .*labels.astype\("i8"\)',
    ),
    "max() of traced": (lambda: xt.jit(lambda x: max(x.sum(), 0.0))(X), xt.ArgumentTypeError, "xt.maximum for max"),
    "math.sqrt of traced": (lambda: xt.jit(lambda x: math.sqrt(x.sum()))(X), xt.ArgumentTypeError, "xt.sqrt for math"),
    "range of traced": (lambda: xt.jit(lambda n: range(n))(3), xt.ArgumentTypeError, r"xt.fori_loop\(0, n, body"),
    "+= of elements": (lambda: assign(X), xt.ArgumentTypeError, r"at\(time=0\).set\(value\), or .add\(value\) for \+="),
    "where of one": (lambda: xt.where(X > 0), xt.ArgumentTypeError, r"xt.nonzero\(condition\)"),  # type: ignore[call-arg]
    "where that drops": (lambda: X.where(X > 0, drop=True), xt.ArgumentTypeError, r"x.isel\(time=mask\) drops"),  # type: ignore[call-arg]
    "a float index": (lambda: X.isel(time=1.0), xt.ArgumentTypeError, "1.0 is not an index for dim 'time'. Write 1\n"),
    "float indices": (lambda: X.isel(time=[1.0]), xt.ArgumentTypeError, r'Write index.astype\("i8"\)'),
    "a misspelt argument": (
        lambda: xt.grad(lambda weight, b: weight.sum(), wrt="weigth")(X, X),
        xt.ArgumentError,
        "^xt.grad: there is no argument 'weigth' .*'weight', 'b'; did you mean 'weight'",
    ),
    "static_argnums": (lambda: xt.jit(lambda x, n: x, static_argnums=1), xt.ArgumentTypeError, "Write static=1, of"),  # type: ignore[call-overload]
    "threads of jit": (lambda: xt.jit(lambda x: x, threads=2), xt.ArgumentTypeError, "XTENSOR_NUM_THREADS=2"),  # type: ignore[call-overload]
    "threads of option": (lambda: xt.option(num_threads=2), xt.ArgumentError, "XTENSOR_NUM_THREADS=2"),
    "threads of torch": (lambda: xt.set_num_threads(2), xt.AttributeError, "XTENSOR_NUM_THREADS sets"),  # type: ignore[attr-defined]
    "trees": (
        lambda: xt.tree.map(lambda a, b: a, {"a": 1, "b": (2, 3)}, {"a": 1, "b": (2,)}),
        xt.ArgumentError,
        r"structures, \{'a': \*, 'b': \(\*, \*\)\} and .*differ at \['b'\]: 2 and 1 entries",
    ),
    "hvp": (lambda: xt.hvp(lambda x: x.sum(), X, X), xt.ArgumentTypeError, r"^xt.hvp: primals .*write \(x,\), \(t,\)"),  # type: ignore[arg-type]
    "jvp": (lambda: xt.jvp(lambda x: x, X, X), xt.ArgumentTypeError, r"^xt.jvp: primals .*write \(x,\), \(t,\)"),  # type: ignore[arg-type]
    "a loss with dims": (lambda: xt.grad(lambda x: x)(X), xt.DimensionError, "^xt.grad needs a loss without dims"),
    **{
        f"{f.__name__} of no function": (
            lambda f=f, rest=rest: f(3, *rest),
            xt.ArgumentTypeError,
            f"^xt.{f.__name__} needs a function, got 3",
        )
        for f, rest in [
            (xt.grad, ()),
            (xt.jit, ()),
            (xt.jacobian, ()),
            (xt.vectorize, ("time",)),
            (xt.vjp, (X,)),
            (xt.linearize, (X,)),
            (xt.jvp, ((X,), (X,))),
            (xt.hvp, ((X,), (X,))),
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_mean_something_else_here(name: str) -> None:
    check_message(CALLS[name])


def test_the_norm_of_a_vector() -> None:
    v = xt.array([3.0, -4.0], "i")
    for norm in (xt.linalg.norm(v), xt.linalg.norm(v, dims="i"), xt.linalg.norm(v, dims=("i",))):
        assert norm.item() == 5.0
    assert xt.linalg.norm(v, 1).item() == 7.0
    m = xt.array([[3.0, 4.0], [0.0, 2.0]], ("i", "j"))
    np.testing.assert_array_equal(xt.linalg.norm(m, dims="j").values, [5.0, 2.0])


def test_words_and_orders_of_other_libraries() -> None:
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: xt.grad(lambda a: a)(), xt.ArgumentError, r"which has none; <lambda> takes \(a\)"),
        (lambda: xt.tree.map({"w": X}, abs), xt.ArgumentTypeError, r"^xt.tree.map: a function comes first"),  # type: ignore[arg-type]
        (lambda: X.max(keepdim=True), xt.ArgumentTypeError, "It is not needed"),  # type: ignore[call-arg]
        (
            lambda: xt.linalg.triangular_solve(xt.eye(2), xt.ones(row=2), trans=1),  # type: ignore[call-arg]
            xt.ArgumentTypeError,
            r'dims=\("col", "row"\)',
        ),
        (lambda: xt.vjp(xt.sin, X)[1](xt.ones(s=2)), xt.DimensionError, r"Where it was broadcast, write .sum\('s'\)"),
        (lambda: xt.vectorize(lambda x: x, "batch")(X), xt.DimensionError, r"^xt.vectorize: no argument"),
        (lambda: xt.jit(lambda x: x, static="n"), xt.ArgumentError, r"^xt.jit\(static='n'\): .* has no parameter 'n'"),
        (lambda: xt.jit(lambda x, mode: x, static="mdoe"), xt.ArgumentError, "it has 'x', 'mode'; did you mean 'mode'"),
        (lambda: X[np.ones(7, bool)], xt.SizeError, r"\(operands: .*\(time: 4, space: 3\)\)\. A mask has one"),
        (lambda: X[0, 1, 2], xt.IndexError, r"\(operands: .*\(time: 4, space: 3\)\)\. Give each dim one index at most"),
    ]
    for call, kind, message in refused:
        with pytest.raises(kind, match=message):
            call()
