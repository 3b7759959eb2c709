"""Run by `mpirun -n N python uneven_program.py [count] [seed]`: random programs on parts of different sizes.

Each program is a chain of ops on an array whose size along the split dim is any number up to 17. Its value, result
and gradient are compared with those of one process. Prints a line for each program from process 0.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import xtensor as xt
from distributed_program import check, tell
from mpi4py import MPI

SPLIT = {"b": "data"}
Step = Callable[[Any, Any, int], Any]


def padded(x: Any) -> Any:
    inner = x.isel(b=slice(1, None)) - 0.5 * x.isel(b=slice(-1))
    return xt.pad(inner, b=(1, 0), constant_values=0.25)


def swapped(x: Any, n: int) -> Any:
    """The other dim becomes the split one, and back."""
    return xt.sin(x.rename(b="i", i="b")).rename(b="i", i="b") + 0.1 * n


def system(x: Any) -> Any:
    m = x.sizes["i"]
    return xt.dot(x, x.rename(i="j"), dim="b") + 9.0 * (xt.arange(m, dim="i") == xt.arange(m, dim="j"))


STEPS: dict[str, Step] = {
    "sin": lambda x, k, n: xt.sin(x),
    "centred": lambda x, k, n: x - x.mean("b"),
    "softmax": lambda x, k, n: xt.nn.softmax(x, "b") * 3,
    "scaled": lambda x, k, n: x / (1 + xt.abs(x).max("b")),
    "least": lambda x, k, n: x - x.min(),
    "variance": lambda x, k, n: x * x.var("b"),
    "prod": lambda x, k, n: x + xt.prod(xt.cos(x), "b"),
    "any": lambda x, k, n: xt.where((x > 1).any("b"), x, 2 * x) * (x < 3).all("i"),
    "argmax": lambda x, k, n: x + xt.cos(x.argmax("b").astype("f8")) * x.argmin("i").astype("f8"),
    "kernel": lambda x, k, n: xt.dot(xt.tanh(xt.dot(x, x.rename(b="c"), dim="i")), x.rename(b="c"), dim="c") / n,
    "gram": lambda x, k, n: xt.dot(x, xt.dot(x, x.rename(i="j"), dim="b"), dim="i").rename(j="i") / n,
    "cumsum": lambda x, k, n: xt.cumsum(x, "b") / n,
    "cumsum back": lambda x, k, n: xt.cumsum(x, "b", reverse=True, exclusive=True) / n,
    "cumprod": lambda x, k, n: xt.cumprod(xt.cos(x), "b", reverse=True),
    "cummax": lambda x, k, n: xt.cummax(x, "b") + xt.cummin(x, "b", reverse=True, exclusive=True).where(x > 9, 0.0),
    "cumlogsumexp": lambda x, k, n: xt.cumlogsumexp(x, "b"),
    "cumlogsumexp back": lambda x, k, n: xt.cumlogsumexp(x, "b", reverse=True),
    "roll": lambda x, k, n: xt.roll(x, {"b": 2}) - x,
    "shift": lambda x, k, n: x.shift(b=-1, fill_value=0.5) * x,
    "padded": lambda x, k, n: padded(x),
    "flip": lambda x, k, n: xt.flip(x, "b") + x,
    "rolling": lambda x, k, n: x.rolling(b=2, min_periods=1).mean(),
    "concat": lambda x, k, n: xt.concat([x.isel(b=slice(1)), x], "b").isel(b=slice(n)),
    "sort": lambda x, k, n: xt.sort(x, "b"),
    "median": lambda x, k, n: x - xt.median(x, "b"),
    "fft": lambda x, k, n: xt.fft.irfft(xt.fft.rfft(x, "b") / 2, "b", n=n) if n % 2 else x,
    "swapped": lambda x, k, n: swapped(x, n),
    "gather": lambda x, k, n: x.isel(b=k) - x,
    "scatter": lambda x, k, n: xt.zeros(b=n, i=x.sizes["i"]).at(b=k).add(x) + x,
    "scatter set": lambda x, k, n: x.at(b=k).set(0.5) + x,
    "segments": lambda x, k, n: x + xt.segment_sum(x, k % 3, 3, into="row").isel(row=k % 3),
    "iota": lambda x, k, n: x + xt.arange(n, dim="b") * 0.1,
    "captured": lambda x, k, n: x * xt.array(np.linspace(0, 1, n), "b"),
    "scan": lambda x, k, n: xt.scan(lambda c, s: (0.5 * c + s, xt.sin(c)), xt.zeros(i=x.sizes["i"]), x, dim="b")[1],
    "loop": lambda x, k, n: xt.fori_loop(0, 2, lambda _, s: xt.sin(s) + s.mean("b"), x),
    "beside": lambda x, k, n: xt.scan(lambda c, s: (0.5 * c + s, c), xt.zeros(b=n), x, dim="i")[1],
    "cond": lambda x, k, n: xt.cond(x.sum() > 0, lambda: x - x.max("b"), lambda: x + x.min("b")),
    "solve": lambda x, k, n: xt.linalg.solve(system(x), x, dims=("i", "j")).rename(j="i"),
}


def program(names: list[str], n: int) -> Callable[..., Any]:
    def run(x: Any, k: Any) -> Any:
        def value(x: Any) -> Any:
            y = x
            for name in names:
                y = STEPS[name](y, k, n)
            return (xt.tanh(y) ** 2).sum(), y

        (v, y), gradient = xt.value_and_grad(value, has_aux=True)(x)
        return v, y, gradient

    return run


def main() -> None:
    comm = MPI.COMM_WORLD
    count, seed = (int(a) for a in (*sys.argv[1:3], *("40", "0")[len(sys.argv[1:3]) :]))
    mesh = xt.Mesh(data=comm.Get_size())
    rng = np.random.default_rng(seed)
    processes = comm.Get_size()
    sizes = [n for n in range(1, 18) if (processes - 1) * -(-n // processes) < n]  # each process has a part
    every = [[name] for name in STEPS]
    for number in range(count):
        n, m = int(rng.choice(sizes)), int(rng.integers(1, 7))
        names = [str(s) for s in rng.choice(list(STEPS), rng.integers(1, 4))]
        names = every[number] if number < len(every) else names
        x, k = rng.normal(size=(n, m)), rng.integers(0, n, n)
        args = xt.array(x, ("b", "i")), xt.array(k, "b")
        right = functools.partial(check, program(names, n), args, mesh, SPLIT, {"b": n})
        tell(comm, f"{number} {n} x {m} {', '.join(names)}", right, whole="-v" in sys.argv)


if __name__ == "__main__":
    main()
