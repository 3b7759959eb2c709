"""Under outer="forbid", each function of several arrays refuses two that each have a dim the other lacks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("arrays are refused before a device sees them")

Call = Callable[[], Any]
KEY = xt.random.key(0)


def arr(*dims: str, size: int = 2) -> xt.Array:
    return xt.array(np.random.default_rng(0).uniform(0.2, 0.8, [size] * len(dims)), dims)


def ints(*dims: str) -> xt.Array:
    return xt.zeros(dict.fromkeys(dims, 2), dtype="i8")


def matrix(*batch: str) -> xt.Array:
    return arr(*batch, "row", "col") + 3.0 * xt.eye(2)


def factors(*batch: str) -> Any:
    return xt.linalg.lu(matrix(*batch))


X, Y = arr("t", "p"), arr("t", "q")
TRUE = X > 0.5
B = arr("q", "row")

REFUSED: dict[str, Call] = {
    "average": lambda: xt.average(arr("p"), None, arr("q")),
    "betainc": lambda: xt.betainc(arr("t"), arr("p"), arr("q")),
    "betaincinv": lambda: xt.betaincinv(arr("t"), arr("p"), arr("q")),
    "bincount": lambda: xt.bincount(ints("p"), arr("q"), length=2, dim="p"),
    "clip": lambda: xt.clip(arr("t"), X, Y),
    "concat": lambda: xt.concat([X, Y], "t"),
    "concat of other sizes": lambda: [xt.concat([arr("t", "p", size=n), arr("t", "q", size=n)], "t") for n in (2, 3)],
    "corr": lambda: xt.corr(arr("p"), arr("q"), "p"),
    "cov": lambda: xt.cov(arr("p"), arr("q"), "p"),
    "cross": lambda: xt.cross(X, Y, dim="t"),
    "dot": lambda: xt.dot(X, arr("q")),
    "histogram": lambda: xt.histogram(arr("p"), 3, weights=arr("q")),
    "interp": lambda: xt.interp(arr("u"), xt.arange(2.0, dim="t") + X, Y, dim="t"),
    "linspace": lambda: xt.linspace(arr("p"), arr("q"), 3),
    "matmul": lambda: xt.matmul(arr("p"), arr("q")),
    "nan_to_num": lambda: xt.nan_to_num(arr("p"), nan=arr("q")),
    "polyfit": lambda: xt.polyfit(X, Y, 1, "t"),
    "polyval": lambda: xt.polyval(arr("p"), arr("degree", "q")),
    "select": lambda: xt.select([TRUE], [Y]),
    "select of choices": lambda: xt.select([arr("t") > 0.5], [X], Y),
    "gradient": lambda: xt.gradient(X, "t", Y),
    "trapezoid": lambda: xt.trapezoid(X, Y, dim="t"),
    "weighted": lambda: xt.weighted(arr("p"), arr("q")).mean(),
    "where": lambda: xt.where(TRUE, Y, 0.0),
    "where, a method": lambda: arr("t").where(TRUE, Y),
    "fillna": lambda: X.fillna(Y),
    "linalg.block_diag": lambda: xt.linalg.block_diag(matrix("p"), matrix("q")),
    "linalg.cho_solve": lambda: xt.linalg.cho_solve(matrix("p"), B),
    "linalg.congruence": lambda: xt.linalg.congruence(matrix("p"), matrix("q")),
    "linalg.kron": lambda: xt.linalg.kron(matrix("p"), matrix("q")),
    "linalg.lstsq": lambda: xt.linalg.lstsq(matrix("p"), B),
    "linalg.lu_solve": lambda: xt.linalg.lu_solve(factors("p"), B),
    "linalg.matmul": lambda: xt.linalg.matmul(matrix("p"), matrix("q")),
    "linalg.quadratic_form": lambda: xt.linalg.quadratic_form(matrix(), arr("p", "row"), B),
    "linalg.solve": lambda: xt.linalg.solve(matrix("p"), B),
    "linalg.solve_banded": lambda: xt.linalg.solve_banded((1, 0), arr("p", "band", "col"), arr("q", "col")),
    "linalg.toeplitz": lambda: xt.linalg.toeplitz(arr("p", "row"), arr("q", "col")),
    "linalg.triangular_solve": lambda: xt.linalg.triangular_solve(matrix("p"), B),
    "linalg.tridiagonal_solve": lambda: xt.linalg.tridiagonal_solve(arr("t"), X, arr("t"), Y, dim="t"),
    "nn.attention": lambda: xt.nn.attention(arr("p", "s", "f"), arr("q", "k", "f"), arr("q", "k"), ("s", "k", "f")),
    "nn.batch_norm": lambda: xt.nn.batch_norm(X, "t", Y),
    "nn.cross_entropy": lambda: xt.nn.cross_entropy(arr("p", "class"), ints("q"), "class"),
    "nn.group_norm": lambda: xt.nn.group_norm(arr("t", "c", "p"), 1, "c", (), arr("c", "q")),
    "nn.layer_norm": lambda: xt.nn.layer_norm(X, "t", Y),
    "nn.rms_norm": lambda: xt.nn.rms_norm(X, "t", Y),
    "random.beta": lambda: xt.random.beta(KEY, arr("p"), arr("q")),
    "random.binomial": lambda: xt.random.binomial(KEY, ints("p"), arr("q")),
    "random.choice": lambda: xt.random.choice(KEY, X, n=2, dim="t", p=Y),
    "random.multivariate_normal": lambda: xt.random.multivariate_normal(KEY, arr("p", "row"), matrix("q")),
    "random.randint": lambda: xt.random.randint(KEY, ints("p"), 4 + ints("q")),
    "random.truncated_normal": lambda: xt.random.truncated_normal(KEY, arr("p"), 2.0 + arr("q")),
    "random.uniform": lambda: xt.random.uniform(KEY, arr("p"), 2.0 + arr("q")),
}  # fmt: skip
# What they are for: such pairs, or a look-up at new places.
FREE = {
    "broadcast", "broadcast_like", "meshgrid", "searchsorted", "unique", "nn.conv", "nn.conv_transpose",
    "signal.convolve",
}  # fmt: skip
# They refuse a dim that the first array lacks under all options.
ALWAYS = {"full_like", "shift", "fori_loop", *(n for n in xt.__all__ if n.startswith("segment_"))}
INTEGERS = ("bitwise", "logical")


def of_several(room: Any, prefix: str) -> dict[str, int]:
    """The functions of a room with several parameters for arrays, and how many of these they need."""
    found = {}
    for name in room.__all__:
        f = getattr(room, name)
        if not callable(f) or isinstance(f, type):
            continue
        taken = [p for p in inspect.signature(f).parameters.values() if "ArrayLike" in str(p.annotation)]
        several = any(p.kind is p.VAR_POSITIONAL or "Sequence" in str(p.annotation) for p in taken)
        if len(taken) > 1 or several:
            found[prefix + name] = sum(p.default is p.empty for p in taken)
    return found


NEED = of_several(xt, "") | {
    n: k for r in ("linalg", "nn", "random", "signal") for n, k in of_several(getattr(xt, r), f"{r}.").items()
}
PLAIN = sorted(n for n in NEED if n not in REFUSED and n not in FREE | ALWAYS)


def refuses(call: Call) -> None:
    call()
    with xt.option(strict=True):
        for _ in range(2):
            with pytest.raises(xt.DimensionError, match=r"(is|are) forbidden by xt.option .*operands: "):
                call()


@pytest.mark.parametrize("name", REFUSED)
def test_two_arrays_with_dims_of_their_own_are_refused(name: str) -> None:
    refuses(REFUSED[name])


@pytest.mark.parametrize("name", PLAIN)
def test_functions_of_elements_refuse_them_too(name: str) -> None:
    x, y = (ints("p"), ints("q")) if name.startswith(INTEGERS) else (arr("p"), arr("q"))
    refuses(lambda: getattr(xt, name)(x, y))


def test_a_dim_that_one_alone_has_is_no_pair() -> None:
    with xt.option(strict=True):
        assert xt.concat([X, arr("t")], "t").dims == ("t", "p")
        assert xt.linalg.solve(matrix("p"), arr("row")).dims == ("p", "col")
        assert xt.linalg.solve(matrix(), B).dims == ("q", "col")
        assert xt.linalg.matmul(matrix("p"), matrix(), matrix("p")).dims == ("p", "row", "col")
        assert xt.cov(X, Y, "t").dims == xt.dot(X, Y, dim="t").dims == ("p", "q")
        assert xt.interp(arr("u"), xt.arange(2.0, dim="t"), X, dim="t").dims == ("u", "p")


def test_strict_refuses_to_sum_a_dim_of_one_operand() -> None:
    w = arr("u", "q")
    assert xt.dot(X, Y, dim=("t", "q")).dims == ("p",)
    with xt.option(outer="forbid"):
        assert xt.dot(X, Y, dim=("t", "q")).dims == ("p",)
    with xt.option(strict=True):
        for call in (lambda: xt.dot(X, Y, dim=("t", "q")), lambda: xt.dot(X, w, arr("p", "u"), dim="t")):
            with pytest.raises(xt.DimensionError, match=r"one operand alone has it.*first: x.sum\('(q|t)'\)"):
                call()
        assert xt.dot(X, Y.sum("q"), dim="t").dims == ("p",)
        assert xt.dot(X, Y, dim=...).dims == ()
        assert xt.dot(X, 2.0, dim="t").dims == ("p",)
