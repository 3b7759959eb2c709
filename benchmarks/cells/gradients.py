"""Gradients of ops: a call is the op and the gradient of a weighted sum of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cells.case import Arg, Case, case
from cells.peers import jax_nn, lax
from cells.windows import jax_window

Op = Callable[[Any, Any], Any]


def _ours(op: Op) -> Any:
    return lambda xt, x, w: xt.value_and_grad(lambda x: xt.sum(op(xt, x) * w))(x)


def _jax(op: Op) -> Any:
    def call(m: Any, x: Any, w: Any) -> Any:
        import jax

        return jax.value_and_grad(lambda x: m.sum(op(m, x) * w))(x)

    return call


def _torch(op: Op) -> Any:
    def call(m: Any, x: Any, w: Any) -> Any:
        x = x.detach().requires_grad_()
        y = m.sum(op(m, x) * w)
        return y.detach(), m.autograd.grad(y, x)[0]

    return call


def gradient_case(name: str, x: Arg, result: tuple[tuple[int, ...], str], ours: Op, jax: Op, torch: Op) -> Case:
    """The case of the op and its gradient; `result` has the sizes and the dims of what the op gives."""
    sizes, dims = result
    args = x, Arg(sizes, x.dtype, dims)
    return case(f"gradient of {name}", args, ours=_ours(ours), jax=_jax(jax), torch=_torch(torch))


def gradients() -> Iterator[Case]:
    """Gradients of elementwise ops, reductions, scans, sorts, windows and ops on matrices."""
    for dtype in ("f4", "f8"):
        flat = Arg((1 << 20,), dtype)
        for name in ("exp", "tanh", "sin", "sqrt", "log1p", "square"):
            # All of them are defined for these numbers.
            op: Op = lambda m, x, name=name: getattr(m, name)(m.abs(x) if name in ("sqrt", "log1p") else x)  # noqa: E731
            yield gradient_case(name, flat, ((1 << 20,), "a"), op, op, op)
        for sizes, axis in (((1024, 1024), 1), ((1024, 1024), 0), ((1 << 18, 4), 1), ((64, 256, 64), 1)):
            yield from _along(Arg(sizes, dtype), axis)
    for n, count in ((4, 10_000), (32, 500)):
        yield from _of_matrices(Arg((count, n, n), "f8", "nij", spd=True))


def _along(x: Arg, axis: int) -> Iterator[Case]:
    """Gradients of ops along a dim."""
    dim, same = "abc"[axis], (x.sizes, "abc"[: len(x.sizes)])
    left = tuple(s for a, s in enumerate(x.sizes) if a != axis), same[1].replace(dim, "")
    for name in ("sum", "mean", "max", "var", "prod"):
        torch = {"max": "amax"}.get(name, name)
        extra: dict[str, Any] = {"correction": 0} if name == "var" else {}
        yield gradient_case(
            f"{name} {dim}",
            x,
            left,
            lambda xt, x, name=name: getattr(xt, name)(x, dim=dim),  # type: ignore[misc]
            lambda m, x, name=name: getattr(m, name)(x, axis=axis),  # type: ignore[misc]
            lambda m, x, name=torch, extra=extra: getattr(m, name)(x, axis, **extra),  # type: ignore[misc]
        )
    yield gradient_case(
        f"logsumexp {dim}",
        x,
        left,
        lambda xt, x: xt.logsumexp(x, dim=dim),
        lambda m, x: jax_nn().logsumexp(x, axis=axis),
        lambda m, x: m.logsumexp(x, axis),
    )
    yield gradient_case(
        f"softmax {dim}",
        x,
        same,
        lambda xt, x: xt.nn.softmax(x, dim=dim),
        lambda m, x: jax_nn().softmax(x, axis=axis),
        lambda m, x: m.softmax(x, axis),
    )
    yield gradient_case(
        f"cumsum {dim}",
        x,
        same,
        lambda xt, x: xt.cumsum(x, dim=dim),
        lambda m, x: m.cumsum(x, axis=axis),
        lambda m, x: m.cumsum(x, axis),
    )
    yield gradient_case(
        f"cummax {dim}",
        x,
        same,
        lambda xt, x: xt.cummax(x, dim=dim),
        lambda m, x: lax().cummax(x, axis),
        lambda m, x: m.cummax(x, axis)[0],
    )
    yield gradient_case(
        f"sort {dim}",
        x,
        same,
        lambda xt, x: xt.sort(x, dim=dim),
        lambda m, x: m.sort(x, axis=axis),
        lambda m, x: m.sort(x, axis)[0],
    )
    if x.sizes[axis] >= 256:
        window = tuple(s - 29 if a == axis else s for a, s in enumerate(x.sizes)), same[1]
        for name in ("mean", "max"):
            torch = {"max": "amax"}.get(name, name)
            yield gradient_case(
                f"rolling {name} of 30 {dim}",
                x,
                window,
                lambda xt, x, name=name: getattr(xt.rolling(x, {dim: 30}), name)().isel(  # type: ignore[misc]
                    {dim: slice(29, None)}
                ),
                jax_window(name, axis, 30),
                lambda m, x, name=torch: getattr(m, name)(x.unfold(axis, 30, 1), -1),  # type: ignore[misc]
            )


def _of_matrices(a: Arg) -> Iterator[Case]:
    count, n, _ = a.sizes
    for name in ("cholesky", "inv"):
        yield gradient_case(
            name,
            a,
            (a.sizes, "nij"),
            lambda xt, a, name=name: getattr(xt.linalg, name)(a, dims=("i", "j")),  # type: ignore[misc]
            lambda m, a, name=name: getattr(m.linalg, name)(a),  # type: ignore[misc]
            lambda m, a, name=name: getattr(m.linalg, name)(a),  # type: ignore[misc]
        )
    det: Op = lambda m, a: m.linalg.det(a)  # noqa: E731
    log: Op = lambda m, a: m.linalg.slogdet(a)[1]  # noqa: E731
    result = (count,), "n"
    yield gradient_case("det", a, result, lambda xt, a: xt.linalg.det(a, dims=("i", "j")), det, det)
    yield gradient_case("slogdet", a, result, lambda xt, a: xt.linalg.slogdet(a, dims=("i", "j"))[1], log, log)
    values: Op = lambda m, a: m.linalg.eigh(a)[0]  # noqa: E731
    ours: Op = lambda xt, a: xt.linalg.eigh(a, dims=("i", "j"), inner="k")[0]  # noqa: E731
    ours: Op = lambda xt, a: xt.linalg.eigh(a, dims=("i", "j"), inner="k")[0]  # noqa: E731
    yield gradient_case("eigenvalues", a, ((count, n), "nk"), ours, values, values)
