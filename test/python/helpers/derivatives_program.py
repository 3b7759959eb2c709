"""Run by `mpirun -n N python derivatives_program.py`: derivatives of functions that xt.jit(mesh=) made, taken outside.

Each is compared with the derivative of the same function in one process. Prints one line per case from process 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
import xtensor as xt
from distributed_program import DATA, array, different, tell
from mpi4py import MPI

X, W, DX, DW, C = array(b=8, i=3), array(i=3), array(b=8, i=3), array(i=3), array(b=8)


def rows(w: Any, x: Any) -> Any:
    return xt.tanh(xt.dot(x, w, dim="i")) ** 2 / xt.sum(x * x)


def loss(w: Any, x: Any) -> Any:
    return xt.mean(rows(w, x) * xt.sin(x.mean("i")))


def power(w: Any, x: Any, n: int) -> Any:
    return rows(w, x) ** n


def both(w: Any, x: Any) -> Any:
    return {"rows": rows(w, x), "largest": x.argmax("b")}


def named(w: Any, x: Any, dx: Any, c: Any) -> tuple[Any, ...]:
    """The arrays with labels along the split dim."""
    days = np.datetime64("2026-01-01", "ns") + np.arange(x.sizes["b"]) * np.timedelta64(1, "D")
    return w, *(xr.DataArray(v.values, {"b": days}, v.dims) for v in (x, dx, c))


# A function, and what is taken of it in one process with whole arrays, and over a mesh with parts.
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "vjp": (rows, lambda f, w, x, dw, dx, c: [*_vjp(f, (w, x), c)]),
    "vjp along a number": (rows, lambda f, w, x, dw, dx, c: [*_vjp(f, (w, x), 1.5)]),
    "vjp twice": (loss, lambda f, w, x, dw, dx, c: [xt.vjp(f, w, x)[1](k) for k in (1.0, 2.0)]),
    "vjp, a static argument": (power, lambda f, w, x, dw, dx, c: xt.vjp(f, w, x, 3)[1](c)[:2]),
    "vjp, positions": (both, lambda f, w, x, dw, dx, c: xt.vjp(f, w, x)[1]({"rows": c, "largest": None})),
    "vjp, partial": (rows, lambda f, w, x, dw, dx, c: xt.vjp(functools.partial(f, w), x)[1](c)),
    "jvp": (rows, lambda f, w, x, dw, dx, c: xt.jvp(f, (w, x), (dw, dx))),
    "jvp along one": (loss, lambda f, w, x, dw, dx, c: xt.jvp(f, (w, x), (None, dx))),
    "jvp, a static argument": (power, lambda f, w, x, dw, dx, c: xt.jvp(f, (w, x, 3), (dw, dx, None))),
    "jvp, partial": (rows, lambda f, w, x, dw, dx, c: xt.jvp(functools.partial(f, w), (x,), (dx,))),
    "linearize": (rows, lambda f, w, x, dw, dx, c: _linear(f, (w, x), (dw, dx))),
    "linearize, a static argument": (power, lambda f, w, x, dw, dx, c: _linear(f, (w, x, 3), (dw, dx, None))),
    "hvp": (loss, lambda f, w, x, dw, dx, c: xt.hvp(f, (w, x), (dw, dx))),
    "jacobian": (rows, lambda f, w, x, dw, dx, c: xt.jacobian(f, (0, 1))(w, x)),
    "jacobian, forward": (rows, lambda f, w, x, dw, dx, c: xt.jacobian(f, (0, 1), mode="forward")(w, x)),
    "hessian": (loss, lambda f, w, x, dw, dx, c: xt.hessian(f, 1)(w, x)),
}


def _vjp(f: Callable[..., Any], primals: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
    value, back = xt.vjp(f, *primals)
    return value, *back(cotangent)


def _linear(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    value, push = xt.linearize(f, *primals)
    return value, push(*tangents)


def check(name: str, mesh: Any, size: int, deterministic: bool = False) -> str:
    f, derive = CASES[name]
    whole = tuple(v.isel(b=slice(size)) if "b" in v.dims else v for v in (W, X, DW, DX, C))
    given = xt.local(whole, mesh, DATA)
    sizes = {"b": size} if size % mesh.size else None
    static = ("n",) if f is power else ()
    over = xt.jit(f, mesh=mesh, split=DATA, sizes=sizes, deterministic=deterministic, static=static)
    one = xt.jit(f, static=static)
    return different(derive(over, *given), derive(one, *whole), mesh, DATA)


def check_labels(mesh: Any) -> str:
    w, x, dx, c = named(W, X, DX, C)
    given = xt.local((x, dx, c), mesh, DATA)
    over = xt.jit(rows, mesh=mesh, split=DATA)
    for name, derive in {
        "vjp": lambda f, x, dx, c: xt.vjp(f, w, x)[1](c)[1],
        "jvp": lambda f, x, dx, c: xt.jvp(f, (w, x), (None, dx))[1],
        "linearize": lambda f, x, dx, c: xt.linearize(f, w, x)[1](None, dx),
    }.items():
        got = xt.gather(derive(over, *given), mesh, DATA)
        want = derive(xt.jit(rows), x, dx, c)
        got = got if isinstance(got, xr.DataArray) else got.to_xarray()
        if not np.array_equal(got.b, want.b) or not np.allclose(got.values, want.values, rtol=1e-12):
            return f"{name}: {got}, not {want}"
    return ""


def main() -> None:
    comm = MPI.COMM_WORLD
    mesh = xt.Mesh(data=comm.Get_size())
    for name in CASES:
        tell(comm, name, functools.partial(check, name, mesh, 8), whole=False)
        tell(comm, f"{name}, parts of different sizes", functools.partial(check, name, mesh, 7), whole=False)
    tell(comm, "vjp, the same bits", functools.partial(check, "vjp", mesh, 8, True), whole=False)
    tell(comm, "labels", functools.partial(check_labels, mesh), whole=False)


if __name__ == "__main__":
    main()
