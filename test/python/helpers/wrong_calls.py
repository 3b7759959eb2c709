"""Calls of the functions of the rooms that work, and what they are called with instead: wrong in one argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import xtensor as xt

Call: TypeAlias = tuple[str, tuple[Any, ...], dict[str, Any]]

KEY = xt.random.key(0)
V = xt.array([1.0, 2.0, 3.0], "i")
X = xt.array(np.arange(1.0, 7.0).reshape(2, 3), ("b", "i"))
A = xt.array(np.array([[4.0, 1.0], [1.0, 3.0]]), ("row", "col"))
LU = tuple(xt.linalg.lu(A))
B = xt.array([1.0, 2.0], "row")
TREE = {"w": V, "b": 0.5}
STEP = xt.optim.adam(0.1)
STATE = STEP.init(TREE)
NEW = xt.array([[1.0, 2.0], [3.0, 4.0]], ("band", "col"))
W = xt.ones(out=2, i=3, t=2)
SIGNAL = xt.array(np.arange(12.0).reshape(3, 4), ("i", "t"))
IMAGE = xt.array(np.arange(12.0).reshape(2, 3, 2), ("b", "t", "i"))

WORKING: list[Call] = [
    ("optim.adam", (0.1, 0.9, 0.999, 1e-8), {}),
    ("optim.adamw", (0.1,), {"weight_decay": 0.1}),
    ("optim.sgd", (0.1,), {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("optim.momentum", (0.1, 0.9), {}),
    ("optim.clip_by_norm", (TREE, 1.0), {}),
    ("optim.global_norm", (TREE,), {}),
    ("optim.cosine", (0.1, 10), {}),
    ("optim.exponential", (0.1, 0.5, 10), {}),
    ("optim.warmup", (10, 0.1), {}),
    ("optim.lbfgs", (xt.optim.global_norm, V), {"max_steps": 3, "tolerance": 1e-3, "memory": 2}),
    ("fft.fft", (X, "i"), {"n": 4, "norm": "ortho"}),
    ("fft.irfft", (X, "i"), {"n": 4, "norm": None}),
    ("fft.dct", (X, "i"), {"type": 2, "n": 4, "norm": "ortho"}),
    ("fft.fftfreq", (4, 0.5), {"dim": "i"}),
    ("fft.fftshift", (X, "i"), {}),
    ("random.key", (0,), {}),
    ("random.split", (KEY, 2), {}),
    ("random.fold_in", (KEY, 3), {}),
    ("random.bernoulli", (KEY, 0.5, {"t": 3}), {}),
    ("random.beta", (KEY, 1.0, 2.0, {"t": 3}), {}),
    ("random.binomial", (KEY, 4, 0.5, {"t": 3}), {}),
    ("random.bits", (KEY, {"t": 3}), {"dtype": "u4"}),
    ("random.categorical", (KEY, X, {"t": 3}), {"dim": "i"}),
    ("random.choice", (KEY, V, {"t": 3}), {"dim": "i", "replace": True}),
    ("random.dirichlet", (KEY, V, {"t": 3}), {"dim": "i"}),
    ("random.gamma", (KEY, 2.0, {"t": 3}), {}),
    ("random.multivariate_normal", (KEY, B, A, {"t": 3}), {"dims": ("row", "col")}),
    ("random.normal", (KEY, {"t": 3}), {"dtype": "f4"}),
    ("random.permutation", (KEY, V, "i"), {}),
    ("random.poisson", (KEY, 2.0, {"t": 3}), {}),
    ("random.randint", (KEY, 0, 9, {"t": 3}), {"dtype": "i4"}),
    ("random.student_t", (KEY, 2.0, {"t": 3}), {}),
    ("random.truncated_normal", (KEY, -1.0, 1.0, {"t": 3}), {}),
    ("random.uniform", (KEY, 0.0, 2.0, {"t": 3}), {}),
    ("nn.attention", (xt.ones(t=2, f=3), xt.ones(s=2, f=3), xt.ones(s=2, f=3), ("t", "s", "f")), {"causal": False}),
    ("nn.avg_pool", (X, {"i": 2}), {"stride": {"i": 1}, "padding": 0}),
    ("nn.max_pool", (X, {"i": 2}, 1), {}),
    ("nn.batch_norm", (X, "b", V, V), {"eps": 1e-5}),
    ("nn.layer_norm", (X, "i", V, V, 1e-5), {}),
    ("nn.rms_norm", (X, "i", V, 1e-5), {}),
    ("nn.group_norm", (IMAGE, 1, "i", "t"), {"eps": 1e-5}),
    ("nn.conv", (SIGNAL, W.rename(t="k"), {"t": "k"}, "i"), {"stride": 1, "padding": 0, "dilation": 1}),
    ("nn.conv_transpose", (SIGNAL, W.rename(t="k"), {"t": "k"}, "i"), {"stride": 2, "output_padding": 1}),
    ("nn.cross_entropy", (X, xt.array([0, 1], "b"), "i"), {}),
    ("nn.dropout", (KEY, X, 0.5), {}),
    ("nn.log_softmax", (X, "i"), {}),
    ("nn.one_hot", (xt.array([0, 1], "b"), 3, "class"), {"dtype": "f4"}),
    ("nn.softmax", (X, "i"), {}),
    ("nn.scaled_value_and_grad", (lambda x: x.sum(), 0, False), {}),
    ("linalg.block_diag", (A, A), {"dims": ("row", "col")}),
    ("linalg.cho_solve", (A, B, ("row", "col")), {}),
    ("linalg.cholesky", (A, ("row", "col")), {}),
    ("linalg.congruence", (A, A, ("row", "col")), {}),
    ("linalg.det", (A, ("row", "col")), {}),
    ("linalg.diagonal", (A, ("row", "col"), "new", 0), {}),
    ("linalg.eig", (A, ("row", "col"), "rank"), {}),
    ("linalg.eigh", (A, ("row", "col"), "rank"), {}),
    ("linalg.expm", (A, ("row", "col")), {}),
    ("linalg.inv", (A, ("row", "col")), {}),
    ("linalg.kron", (A, A, ("row", "col")), {}),
    ("linalg.lstsq", (A, B, ("row", "col")), {}),
    ("linalg.lu", (A, ("row", "col"), "rank"), {}),
    ("linalg.lu_solve", (LU, B, ("row", "col")), {}),
    ("linalg.matmul", (A, A), {"dims": ("row", "col")}),
    ("linalg.matrix_power", (A, 2, ("row", "col")), {}),
    ("linalg.matrix_rank", (A, ("row", "col")), {"rtol": 1e-9}),
    ("linalg.norm", (A, 2, ("row", "col")), {}),
    ("linalg.pinv", (A, ("row", "col")), {"rtol": 1e-9}),
    ("linalg.qr", (A, ("row", "col"), "rank", "reduced"), {}),
    ("linalg.quadratic_form", (A, B, B, ("row", "col")), {}),
    ("linalg.slogdet", (A, ("row", "col")), {}),
    ("linalg.solve", (A, B, ("row", "col")), {}),
    ("linalg.solve_banded", ((0, 1), NEW, xt.array([1.0, 2.0], "col"), ("band", "col")), {}),
    ("linalg.sqrtm", (A, ("row", "col")), {}),
    ("linalg.svd", (A, ("row", "col"), "rank", False), {}),
    ("linalg.toeplitz", (B, B.rename(row="col"), ("row", "col")), {}),
    ("linalg.trace", (A, ("row", "col")), {}),
    ("linalg.triangular_solve", (A, B, ("row", "col"), True, False), {}),
    ("linalg.tridiagonal_solve", (B, B, B, B, "row"), {}),
    ("linalg.tril", (A, 0, ("row", "col")), {}),
    ("linalg.triu", (A, 0, ("row", "col")), {}),
    ("signal.convolve", (V, V.rename(i="k"), ("i", "k"), "same", "auto"), {}),
]

WRONG: dict[str, Any] = {
    "an object": object(),
    "another dim": xt.array([1.0, 2.0], "other"),
    "an unknown dim": "nowhere",
    "bools": xt.array([True, False], "i"),
    "None": None,
    "a negative number": -3,
    "a tuple": (3, 4),
    "a NumPy array": np.ones(3),
}


def function(name: str) -> Callable[..., Any]:
    room, _, own = name.partition(".")
    found: Callable[..., Any] = getattr(getattr(xt, room), own)
    return found


def wrong_calls(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls with one wrong argument, each with a description."""
    f = function(name)
    for what, value in WRONG.items():
        for i in range(len(args)):
            yield f"{name}: {what} as argument {i}", partial(f, *args[:i], value, *args[i + 1 :], **kwargs)
        for k in kwargs:
            yield f"{name}: {what} as {k}=", partial(f, *args, **{**kwargs, k: value})
    for i in range(len(args)):
        yield f"{name}: {i} arguments", partial(f, *args[:i])
    if not any(p.kind == p.VAR_KEYWORD for p in inspect.signature(f).parameters.values()):
        yield f"{name}: a keyword too many", partial(f, *args, **kwargs, nothing=1)
    yield f"{name}: arguments too many", partial(f, *args, *[object()] * 4, **kwargs)
