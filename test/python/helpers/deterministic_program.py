"""Run by `mpirun -n N python deterministic_program.py`: programs whose bits do not depend on N.

Prints one line per case from process 0: its name, and the hash of all results, or what differs from one process.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from typing import Any

import distributed_program
import numpy as np
import xtensor as xt
from distributed_program import CASES, array, different, squares
from mpi4py import MPI

# Of sizes at which blocks take other code than whole arrays: vectors, library calls, odd rests.
X, W, V = array("float32", b=176, i=37), array("float32", i=37, h=48), array("float32", h=48, o=5)
T = array("float32", b=176, o=5)
BOTH = {"b": "data", "h": "model"}
A = array("float32", b=16, r=5, c=5)
INDEX = array("int64", b=176)


def scanned(x: Any) -> Any:
    return xt.scan(lambda c, s: (xt.tanh(c * 0.5 + s + s.sum()), None), xt.zeros(b=176), x, dim="i")[0].sum()


def descent(w: Any, x: Any, t: Any) -> Any:
    def loss(w: Any) -> Any:
        return ((xt.tanh(xt.dot(x, w, dim="i")) - t) ** 2).sum()

    return xt.fori_loop(0, 4, lambda _, w: w - 0.1 * xt.grad(loss)(w), w)


LARGE: dict[str, tuple[Any, tuple[Any, ...], dict[str, str]]] = {
    "sums": (lambda x: (x.sum("b"), x.sum(), x.mean("i"), xt.var(x), xt.prod(x + 1, "b")), (X,), {"b": "data"}),
    "float16": (lambda x: (x.sum("b"), xt.cumsum(x, "b"), x.sum("i")), (X.astype("f2"),), {"b": "data"}),
    "MLP": (xt.value_and_grad(distributed_program.loss), ((W, V), X, T), {"b": "data"}),
    "MLP, hidden": (xt.value_and_grad(distributed_program.loss), ((W, V), X, T), {"h": "data"}),
    "MLP, both": (xt.value_and_grad(distributed_program.loss), ((W, V), X, T), BOTH),
    "jvp": (lambda w, x: xt.jvp(lambda w: distributed_program.loss((w, V), x, T), (w,), (xt.cos(w),)), (W, X), BOTH),
    "Gram": (lambda x, y: xt.dot(x, y.rename(i="j"), dim="b"), (X, xt.sin(X)), {"b": "data"}),
    "scans": (
        squares(lambda x: xt.cumsum(x, "b") + xt.cumsum(x, "i", reverse=True) + xt.cumprod(xt.sin(x), "b")),
        (X,),
        {"b": "data"},
    ),
    "softmax": (squares(lambda x: xt.nn.softmax(x, "b") + xt.nn.softmax(x, "i")), (X,), {"b": "data"}),
    "Fourier": (squares(lambda x: xt.abs(xt.fft.rfft(x, "i"))), (X,), {"b": "data"}),
    "solve": (squares(lambda a: xt.linalg.solve(a, a.isel(c=0), dims=("r", "c"))), (A,), {"b": "data"}),
    "scatter": (
        xt.value_and_grad(lambda x, i: (xt.zeros(row=7, i=37, dtype="f4").at(row=i).add(x) ** 3).sum()),
        (X, INDEX),
        {"b": "data"},
    ),
    "convolution": (
        squares(lambda x: xt.nn.conv(x, xt.array([1.0, -2.0, 3.0], "tap"), {"b": "tap"}, padding="same")),
        (X,),
        {"b": "data"},
    ),
    "scan": (xt.grad(scanned), (X,), {"b": "data"}),
    "descent": (descent, (W, X, array("float32", b=176, h=48)), {"b": "data"}),
}  # fmt: skip


def digest(results: Any, mesh: Any, split: dict[str, str]) -> str:
    found = hashlib.sha256()
    for leaf in xt.tree.leaves(xt.gather(results, mesh, split)):
        found.update(f"{leaf.dtype} {leaf.sizes}".encode() + np.ascontiguousarray(leaf.values).tobytes())
    return found.hexdigest()[:16]


def main() -> None:
    comm = MPI.COMM_WORLD
    size = comm.Get_size()
    flat, grid = xt.Mesh(data=size), xt.Mesh(data=max(1, size // 2), model=min(2, size))
    only = sys.argv[1:]
    # Sizes of the first are small: 4 divides them, and 2 both dims of a grid.
    cases = [(name, *one, 2 if "model" in one[2].values() else 4) for name, one in CASES.items() if size <= 4]
    cases += [(f"large: {name}", *one, True) for name, one in LARGE.items()]
    for name, f, args, split, blocks in cases:
        if only and name not in only:
            continue
        mesh = grid if "model" in split.values() else flat
        try:
            got = xt.jit(f, mesh=mesh, split=split, deterministic=blocks)(*xt.local(args, mesh, split))
            found = digest(got, mesh, split)
            if not name.startswith("large"):
                found = different(got, xt.jit(f)(*args), mesh, split) or found
        except Exception as error:
            found = f"{type(error).__name__}: {error}" if not only else traceback.format_exc()
        told = comm.gather(found)
        if told is not None:
            print(f"{name}: {'; '.join(sorted(set(told)))}", flush=True)


if __name__ == "__main__":
    main()
