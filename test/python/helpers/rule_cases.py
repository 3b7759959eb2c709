"""Ops of the dialect by themselves, by the builders that TableGen generates: each derivative rule where no public
function shows it (positions that are i32, open sizes, some operands without a derivative, ops that only derivatives
make), and gradients worked out by hand at ties and singular points, where no difference quotient helps.

`OPS` becomes a part of the one list of cases in derivative_cases.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from cases import Exact
from op_case import Op, array, flat, number, tie, vector
from xtensor.ir.context import context
from xtensor.mlir import ir
from xtensor.mlir.dialects import xtensor as xt

K, M, C, F = xt.ReduceKind, xt.IndexMode, xt.CumulativeKind, xt.FourierKind
R, S = xt.AccumulateKind, xt.ScatterKind
NAN, INF = float("nan"), float("inf")

# Far from singular, all singular values and eigenvalues apart, no two pivots close.
SQUARE = np.array([[0.7, 2.0, 0.4], [3.0, 0.6, 0.2], [0.5, 0.8, 1.1]])


def summed_squares(x: ir.Value, dim: str) -> ir.Value:
    return xt.reduce(K.sum, xt.mul(x, x), [dim])


def dominant(a: ir.Value) -> ir.Value:
    """`a`, small, plus 4 on the diagonal of r and c."""
    n = dict(xt.ArrayType(a.type).dims)["r"]
    i64 = [xt.iota(array(f"{d}: {n}, i64")) for d in ("r", "c")]
    return xt.add(a, xt.select(xt.compare(xt.ComparePredicate.eq, *i64), number(4.0), number(0.0)))


ONES = [1.0, 1.0, 1.0]
TIES = Exact([[3.0, 3, 1, 5, 5]], 4.0, [[0.0, 0, 0, 2, 2]])
SCANNED, WEIGHTS = [3.0, 3, 1, 5, 5], [1.0, 10, 100, 1000, 10000]


def running(kind: object, *gradients: list[float]) -> list[Op]:
    """Backwards and exclusive along every dim, and an open one; then the gradients of SCANNED in each form."""
    forms = [(r, e) for r in (None, True) for e in (None, True)]

    def fn(dim: str, reverse: bool | None, exclusive: bool | None) -> Callable[..., ir.Value]:
        return lambda x: xt.cumulative(kind, x, dim, reverse=reverse, exclusive=exclusive)

    def finite(f: Callable[..., ir.Value]) -> Callable[..., ir.Value]:
        """The identity that an exclusive scan starts with may be infinite, which no difference can be of."""
        return lambda x: (lambda y: xt.select(xt.isfinite(y), y, number(0.0)))(f(x))

    return [
        *[Op(["a: 4, b: 3, f64"], finite(fn(dim, True, True))) for dim in "ab"],
        Op(["t: ?, b: 2, f64"], fn("t", True, None)),
        *[
            Op(["t: 5, f64"], fn("t", *form), smooth=False, exact=[Exact([SCANNED], WEIGHTS, [g])])
            for form, g in zip([forms[0], forms[1], forms[2], forms[3]], gradients, strict=True)
        ],
    ]


def recurring(**form: bool) -> list[Op]:
    def fn(dim: str) -> Callable[..., ir.Value]:
        return lambda a, x: xt.recurrence(a, x, dim, **form)

    return [
        Op(["a: 4, b: 3, f64", "b: 3, a: 4, f64"], fn("a")),
        Op(["b: 3, f64", "a: 4, c: 2, f64"], fn("a")),
        Op(["a: 4, f64", "b: 3, f64"], fn("a"), wrt=[1]),
        Op(["t: ?, f64", "b: 2, t: ?, f64"], fn("t")),
        Op(["a: 5, f64", "a: 5, f64"], fn("a"), at={0: [0.5, 0, 2, 0, 0]}),
    ]


TIES_BELOW = Exact([[1.0, 3, 1, 5, 5]], 4.0, [[2.0, 0, 2, 0, 0]])

OPS: dict[str, list[Op]] = {
    "abs": [tie(xt.abs, Exact([[-2.0, 0.0, 2.0]], [1.0, 10, 100], [[-1.0, 0, 100]]))],
    "ceil": [flat(xt.ceil)],
    "floor": [flat(xt.floor)],
    "round": [flat(xt.round)],
    "sign": [flat(xt.sign)],
    "stop_gradient": [
        Op(
            ["a: 3, f64"],
            lambda x: xt.mul(x, xt.stop_gradient(x)),
            smooth=False,
            exact=[Exact([[2.0, 0, -1]], ONES, [[2.0, 0, -1]])],
        )
    ],
    "trunc": [flat(xt.trunc)],
    "copysign": [
        tie(xt.copysign, Exact([[0.0, -2, 2], [1.0, 1, -1]], ONES, [[0.0, -1, -1], [0.0, 0, 0]])),
    ],
    "div": [vector(lambda x: xt.div(x, x))],
    "floor_div": [tie(xt.floor_div, Exact([[4.0, 1, -1], [2.0, 3, 3]], ONES, [[0.0] * 3, [0.0] * 3]))],
    "mod": [
        tie(xt.mod, Exact([[4.0, 7.0, -7.0], [2.0, 3, 3]], ONES, [ONES, [-2.0, -2, 3]])),
    ],
    "pow": [
        tie(xt.pow, Exact([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]], ONES, [[1.0, 0, 0], [0.0, 0, 0]])),
        tie(xt.pow, Exact([[-2.0, -2.0, 0.0], [2.0, 3.0, 3.0]], ONES, [[-4.0, 12, 0], [NAN, NAN, 0]])),
        tie(lambda x: xt.pow(x, number(3.0)), Exact([[-2.0, 0, 1]], ONES, [[12.0, 0, 3]])),
        vector(lambda x: xt.pow(x, x)),
    ],
    "maximum": [
        tie(xt.maximum, Exact([[1.0, 2, 5], [1.0, 3, 4]], [2.0, 2, 2], [[1.0, 0, 2], [1.0, 2, 0]])),
        tie(xt.maximum, Exact([[NAN, 1, NAN], [1.0, NAN, NAN]], ONES, [[1.0, 0, 0.5], [0.0, 1, 0.5]])),
        tie(lambda x: xt.maximum(x, number(0.0)), Exact([[-1.0, 0, 1]], ONES, [[0.0, 0.5, 1]])),
    ],
    "minimum": [
        tie(xt.minimum, Exact([[1.0, 2, 5], [1.0, 3, 4]], [2.0, 2, 2], [[1.0, 2, 0], [1.0, 0, 2]])),
        tie(xt.minimum, Exact([[NAN, 1, NAN], [1.0, NAN, NAN]], ONES, [[1.0, 0, 0.5], [0.0, 1, 0.5]])),
    ],
    # ---- linear --------------------------------------------------------------
    "add": [vector(lambda x: xt.add(x, x)), Op(["a: 3, f64", "b: 2, f64"], xt.add, wrt=[1])],
    "sub": [Op(["a: 3, f64", "b: 2, f64"], xt.sub, wrt=[1])],
    "mul": [
        vector(lambda x: xt.mul(xt.mul(x, x), x)),
        Op(
            ["a: 2, f64", "b: 3, f64"],
            lambda x, y: xt.reduce(K.sum, xt.mul(x, y), ["a", "b"]),
            exact=[Exact([[2.0, 5], [3.0, 4, 6]], 1.0, [[13.0, 13], [7.0, 7, 7]])],
        ),
    ],
    "scale": [
        tie(xt.scale, Exact([[INF, NAN, 2.0], [0.0, 0, 3]], ONES, [[0.0, 0, 3], [INF, NAN, 2]])),
        tie(xt.scale, Exact([[INF, NAN, 2.0], [0.0, 0, 3]], [0.0, 0, 1], [[0.0, 0, 3], [0.0, 0, 2]])),
    ],
    "select": [
        Op(["a: 3, i1", "a: 3, b: 2, f64", "c: 2, f64"], xt.select, at={0: [True, False, True]}),
        Op(["a: 3, i1", "f64", "b: 2, f64"], xt.select, at={0: [True, False, True]}, wrt=[1]),
        # The branch not chosen contributes exactly 0, to second order as well.
        Op(
            ["a: 3, f64"],
            lambda x: xt.select(xt.compare(xt.ComparePredicate.gt, x, number(0.0)), xt.mul(x, xt.log(x)), number(0.0)),
            exact=[Exact([[0.0, -1, 1]], ONES, [[0.0, 0, 1]]), Exact([[NAN, -1, 1]], ONES, [[0.0, 0, 1]])],
        ),
        Op(
            ["a: 3, f64"],
            lambda x: xt.select(xt.compare(xt.ComparePredicate.gt, x, number(0.0)), xt.sqrt(x), x),
            exact=[Exact([[0.0, -1, 1]], ONES, [[1.0, 1, 0.5]])],
        ),
        Op(
            ["a: 3, f64", "f64"],
            lambda x, w: xt.select(xt.compare(xt.ComparePredicate.ne, x, number(0.0)), xt.div(w, xt.mul(x, x)), w),
            exact=[Exact([[0.0, 1, 2], 1.0], ONES, [[0.0, -2, -0.25], 2.25])],
        ),
    ],
    "cast": [
        Op(["a: 3, f64"], lambda x: xt.cast(xt.cast(x, ir.F64Type.get(context())), ir.F64Type.get(context()))),
        Op(
            ["a: 3, f64"],
            lambda x: xt.cast(xt.cast(x, ir.F32Type.get(context())), ir.F64Type.get(context())),
            smooth=False,
            exact=[Exact([[1.0, 2, 3]], [1.0, 2, 4], [[1.0, 2, 4]])],
        ),
        Op(
            ["a: 3, f64"],
            lambda x: xt.mul(
                x, xt.cast(xt.cast(x, ir.IntegerType.get_signless(32, context())), ir.F64Type.get(context()))
            ),
            smooth=False,
            exact=[Exact([[1.5, -2.5, 0.5]], ONES, [[1.0, -2, 0]])],
        ),
    ],
    "reduce sum": [
        Op(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.sum, xt.mul(x, x), ["t"])),
        Op(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.sum, xt.rename(x, ["t"], ["u"]), ["u", "b"])),
    ],
    "barrier": [Op(["a: 3, f64"], lambda x: xt.mul(xt.barrier(x, ir.StringAttr.get("first", context())), x))],
    "broadcast": [
        Op(["a: 3, f64"], lambda x: xt.broadcast(array("b: 2, a: 3, f64"), x, [])),
        Op(["a: 3, f64", "n: ?, f64"], lambda x, y: xt.broadcast(array("a: 3, n: ?, f64"), x, [xt.size(y, "n")])),
    ],
    "contract": [Op(["t: ?, k: 3, f64", "k: 3, t: ?, f64"], lambda x, y: xt.contract([x, y], ["k", "t"]))],
    "slice": [Op(["a: 7, t: ?, f64"], lambda x: xt.slice(x, ["a"], [0], [4], [2]))],
    "pad": [
        Op(
            ["a: 3, b: 2, f64", "f64"],
            lambda x, v: xt.pad(x, v, ["a"], [1], [2], [1]),
            wrt=[1],
            exact=[
                Exact([np.zeros((3, 2)), 0.0], np.array([[1.0, 2]] * 8), [5 * 3.0]),
                Exact([np.zeros((3, 2)), 0.0], np.array([[0.0, 0], [INF, INF]] + [[1.0, 2]] * 6), [12.0]),
            ],
        )
    ],
    "concat": [
        Op(["a: 3, t: ?, f64", "a: 2, t: ?, f64"], lambda x, y: xt.concat([x, y], "a")),
        Op(["a: 3, t: 2, f64", "a: 2, t: 2, f64"], lambda x, y: xt.concat([x, y], "a"), wrt=[1]),
    ],
    "merge": [Op(["t: ?, b: 2, c: 2, f64"], lambda x: summed_squares(xt.merge(x, ["c", "t"], "z"), "z"))],
    "fourier": [
        Op(["b: 3, t: 4, p: 2, f64"], lambda x: xt.fourier(F.forward, x, ["t", "b"], "p", scale=0.5)),
        Op(["t: ?, p: 2, f64"], lambda x: xt.fourier(F.backward, x, ["t"], "p")),
        Op(["b: 3, t: 4, f64"], lambda x: xt.fourier(F.real, x, ["b", "t"], "p")),
        Op(["p: 2, t: 3, f64"], lambda x: xt.fourier(F.hermitian, x, ["t"], "p", size=5)),
        Op(["b: 3, t: 3, p: 2, f64"], lambda x: xt.fourier(F.hermitian, x, ["b", "t"], "p", size=4)),
    ],
    "sized": [Op(["t: ?, f64"], lambda x: xt.sized(x.type, x, [xt.size(x, "t")]))],
    "gather": [
        Op(
            ["r: 4, c: 3, f64", "p: 2, i32", "p: 2, i32"],
            lambda x, i, j: xt.gather(M.raise_, x, [i, j], ["r", "c"]),
            at={1: np.array([1, 1], np.int32), 2: np.array([2, 2], np.int32)},
        ),
        Op(
            ["r: 4, c: 3, f64", "p: 2, i64", "q: 2, i64"],
            lambda x, i, j: xt.gather(M.clip, x, [i, j], ["r", "c"]),
            at={1: [1, 9], 2: [0, -9]},
        ),
        Op(["t: ?, c: 3, f64", "p: 2, i64"], lambda x, i: xt.gather(M.raise_, x, [i], ["t"]), at={1: [1, 1]}),
    ],
    "scatter add": [
        Op(
            ["r: 4, c: 3, f64", "p: 3, i64", "c: 3, f64"],
            lambda x, i, u: xt.scatter(S.add, M.drop, x, [i], u, ["r"]),
            at={1: [1, 7, -9]},
            exact=[
                Exact(
                    [np.zeros((4, 3)), [1, 7, -9], [0.0, 0, 0]],
                    np.arange(12.0).reshape(4, 3),
                    [np.arange(12.0).reshape(4, 3), [3.0, 4, 5]],
                )
            ],
        ),
        Op(
            ["r: 4, f64", "p: 3, i64", "p: 3, f64"],
            lambda x, i, u: xt.scatter(S.add, M.clip, x, [i], u, ["r"]),
            at={1: [1, 7, -9]},
            wrt=[2],
        ),
        Op(
            ["t: ?, f64", "p: 3, i64", "p: 3, f64"],
            lambda x, i, u: xt.scatter(S.add, M.drop, x, [i], u, ["t"]),
            at={1: [1, 7, -9]},
        ),
    ],
    "cumulative sum": running(
        C.sum,
        [11111.0, 11110, 11100, 11000, 10000],
        [11110.0, 11100, 11000, 10000, 0],
        [1.0, 11, 111, 1111, 11111],
        [0.0, 1, 11, 111, 1111],
    ),
    "recurrence": [
        *recurring(),
        *recurring(reverse=True),
        *recurring(exclusive=True),
        *recurring(late=True),
        *recurring(reverse=True, exclusive=True),
        *recurring(reverse=True, late=True),
    ],
    "window": [
        Op(["a: 7, b: 2, f64"], lambda x: xt.window(x, "a", "w", 3, 1, 2)),
        Op(["a: 8, t: ?, f64"], lambda x: xt.window(x, "a", "w", 2, 3, 1)),
        Op(["a: 2, f64"], lambda x: xt.window(x, "a", "w", 3, 1, 1)),
    ],
    "overlap_add": [
        Op(["w: 2, a: 3, t: ?, f64"], lambda x: xt.overlap_add(x, "a", "w", 9, 1, 3)),
        Op(["a: 0, w: 3, f64"], lambda x: xt.overlap_add(x, "a", "w", 2, 1, 1)),
    ],
    "scatter set": [
        Op(
            ["r: 4, c: 3, f64", "p: 3, i64", "c: 3, f64"],
            lambda x, i, u: xt.scatter(S.set, M.drop, x, [i], u, ["r"]),
            at={1: [1, 7, -9]},
        ),
        Op(
            ["r: 4, c: 3, f64", "c: 3, i64", "f64"],
            lambda x, i, u: xt.scatter(S.set, M.drop, x, [i], u, ["r"]),
            at={1: [1, 9, -1]},
        ),
        Op(
            ["r: 4, f64", "q: 2, p: 2, i64", "p: 2, q: 2, f64"],
            lambda x, i, u: xt.scatter(S.set, M.clip, x, [i], u, ["r"]),
            at={1: [[1, -9], [1, 1]]},
        ),
        Op(
            ["t: ?, f64", "p: 3, i64", "p: 3, f64"],
            lambda x, i, u: xt.scatter(S.set, M.drop, x, [i], u, ["t"]),
            at={1: [1, 7, 1]},
        ),
        Op(
            ["r: 4, f64", "p: 2, i64", "p: 2, f64"],
            lambda x, i, u: xt.scatter(S.set, M.raise_, x, [i], u, ["r"]),
            at={1: [1, 1]},
            exact=[Exact([np.ones(4), [1, 1], [5.0, 6]], [1.0, 2, 3, 4], [[1.0, 0, 3, 4], [0.0, 2]])],
        ),
    ],
    "accumulate last": [
        Op(
            ["r: 4, c: 2, f64", "p: 4, i64", "p: 4, c: 2, f64", "p: 4, f64"],
            lambda x, i, f, t: xt.accumulate(R.last, M.drop, x, t, f, [i], ["r"]),
            at={1: [1, 2, 1, 9]},
        ),
        Op(
            ["r: 4, f64", "p: 3, i64", "p: 3, f64", "f64"],
            lambda x, i, f, t: xt.accumulate(R.last, M.clip, x, t, f, [i], ["r"], reverse=True),
            at={1: [1, 1, 9]},
        ),
        Op(
            ["t: ?, f64", "p: 3, i64", "p: 3, f64", "p: 3, f64"],
            lambda x, i, f, t: xt.accumulate(R.last, M.raise_, x, t, f, [i], ["t"]),
            at={1: [1, 1, 0]},
        ),
    ],
    "accumulate states": [
        Op(
            ["r: 4, c: 2, f64", "p: 4, i64", "p: 4, c: 2, f64", "p: 4, f64"],
            lambda x, i, f, t: xt.accumulate(R.states, M.drop, x, t, f, [i], ["r"]),
            at={1: [1, 2, 1, 9]},
        ),
        Op(
            ["r: 4, f64", "p: 3, i64", "p: 3, f64", "f64"],
            lambda x, i, f, t: xt.accumulate(R.states, M.clip, x, t, f, [i], ["r"], reverse=True),
            at={1: [1, 1, 9]},
        ),
    ],
    # ---- matrices ------------------------------------------------------------
    "solve": [
        Op(["r: 3, c: 3, f64", "r: 3, k: 2, f64"], lambda a, b: xt.solve(a, b, ["r", "c"]), at={0: SQUARE}),
    ],
    "triangular_solve": [
        Op(["c: 3, r: 3, f64", "r: 3, f64"], lambda a, b: xt.triangular_solve(a, b, ["r", "c"], upper=True, unit=True)),
    ],
    "triangular_contract": [
        Op(["r: 3, c: 3, f64", "c: 3, k: 2, f64"], lambda a, b: xt.triangular_contract(a, b, ["c"], ["r", "c"])),
        Op(
            ["c: 3, b: 2, k: 2, f64", "c: 3, r: 3, f64"],
            lambda a, b: xt.triangular_contract(a, b, ["c"], ["c", "r"], strict=True),
        ),
        Op(
            ["b: 2, r: 3, c: 3, f64", "n: 2, r: 3, f64"],
            lambda a, b: xt.triangular_contract(a, b, ["r"], ["r", "c"], strict=True),
        ),
        Op(["r: 3, k: 2, b: 2, f64", "c: 3, k: 2, f64"], lambda a, b: xt.triangular_contract(a, b, ["k"], ["r", "c"])),
        Op(
            ["b: 2, c: 2, k: 2, n: 2, f64", "n: 2, r: 2, b: 2, k: 2, f64"],
            lambda a, b: xt.triangular_contract(a, b, ["k", "n"], ["r", "c"], strict=True),
        ),
        Op(["r: 3, f64", "c: 3, f64"], lambda a, b: xt.triangular_contract(a, b, [], ["c", "r"])),
    ],
    # ---- factors -------------------------------------------------------------
    "cholesky": [
        Op(["r: 2, b: 2, c: 2, f64"], lambda a: xt.cholesky(dominant(a), ["c", "r"])),
    ],
    "cholesky_tangent": [
        case
        for back in (False, True)
        for case in (
            Op(
                ["r: 3, c: 3, f64", "r: 3, c: 3, f64"],
                lambda f, t, b=back: xt.cholesky_tangent(dominant(f), t, ["r", "c"], transposed=b),
            ),
            Op(
                ["b: 2, r: 2, c: 2, f64", "c: 2, n: 2, r: 2, f64"],
                lambda f, t, b=back: xt.cholesky_tangent(dominant(f), t, ["c", "r"], transposed=b),
            ),
            Op(
                ["r: 2, c: 2, f64", "r: 2, c: 2, n: 2, f64"],
                lambda f, t, b=back: xt.cholesky_tangent(dominant(f), t, ["r", "c"], transposed=b),
                wrt=[1],
            ),
        )
    ],
    "lu": [
        Op(["r: 3, c: 3, f64"], lambda a: xt.lu(a, ["r", "c"])[0], at={0: SQUARE}),
        Op(["r: 2, c: 3, f64"], lambda a: xt.lu(a, ["r", "c"])[0], at={0: SQUARE[:2]}),
        Op(["c: 2, r: 3, f64"], lambda a: xt.lu(a, ["r", "c"])[0], at={0: SQUARE[:2]}),
        Op(
            ["b: 2, r: 2, c: 2, f64"],
            lambda a: xt.lu(a, ["r", "c"])[0],
            at={0: [[[0.1, 2.0], [1.0, 0.3]], [[3.0, 1.0], [0.5, 1.0]]]},
        ),
    ],
    "lu_tangent": [
        case
        for back in (False, True)
        for case in (
            Op(
                ["r: 3, c: 3, f64", "r: 3, c: 3, f64"],
                lambda f, t, b=back: xt.lu_tangent(dominant(f), t, ["r", "c"], transposed=b),
            ),
            Op(
                ["r: 2, c: 3, f64", "c: 3, n: 2, r: 2, f64"],
                lambda f, t, b=back: xt.lu_tangent(f, t, ["r", "c"], transposed=b),
                at={0: SQUARE[:2]},
            ),
            Op(
                ["r: 3, c: 2, f64", "b: 2, r: 3, c: 2, f64"],
                lambda f, t, b=back: xt.lu_tangent(f, t, ["r", "c"], transposed=b),
                at={0: SQUARE[:, :2]},
            ),
            Op(
                ["b: 2, r: 2, c: 2, f64", "r: 2, c: 2, n: 2, f64"],
                lambda f, t, b=back: xt.lu_tangent(dominant(f), t, ["c", "r"], transposed=b),
            ),
            Op(
                ["r: 2, c: 2, f64", "r: 2, c: 2, n: 2, f64"],
                lambda f, t, b=back: xt.lu_tangent(dominant(f), t, ["r", "c"], transposed=b),
                wrt=[1],
            ),
        )
    ],
    # ---- choosers ------------------------------------------------------------
    "cumulative max": [
        *running(
            C.max,
            [1.0, 110, 0, 1000, 10000],
            [10.0, 1100, 0, 10000, 0],
            [0.0, 0, 0, 1111, 10000],
            [0.0, 0, 0, 111, 1000],
        ),
        Op(
            ["t: 4, f64"],
            lambda x: xt.cumulative(C.max, x, "t"),
            smooth=False,
            exact=[Exact([[1.0, NAN, 3, NAN]], [1.0, 10, 100, 1000], [[1.0, 110, 0, 1000]])],
        ),
    ],
    "cumulative min": running(
        C.min, [1.0, 10, 11100, 0, 0], [10.0, 100, 11000, 0, 0], [0.0, 0, 111, 1000, 10000], [0.0, 0, 11, 100, 1000]
    ),
    "cumulative prod": [
        *running(
            C.prod,
            [765331.0, 765330, 2295900, 459000, 450000],
            [153310.0, 153300, 459000, 90000, 0],
            [75.0, 325, 3475, 5695, 15695],
            [0.0, 25, 325, 565, 1565],
        ),
        Op(
            ["t: 5, f64"],
            lambda x: xt.cumulative(C.prod, x, "t"),
            at={0: [2.0, 0, 2, 2, 3]},
            exact=[
                Exact([[2.0, 0, 2, 2, 3]], [1.0] * 5, [[1.0, 38, 0, 0, 0]]),
                Exact([[2.0, 0, 2, 0, 3]], [1.0] * 5, [[1.0, 6, 0, 0, 0]]),
            ],
        ),
        Op(
            ["t: 5, f64"],
            lambda x: xt.cumulative(C.prod, x, "t", exclusive=True),
            at={0: [2.0, 0, 2, 0, 3]},
            exact=[Exact([[2.0, 1, 2, 2, 3]], [1.0] * 5, [[8.0, 14, 6, 4, 0]])],
        ),
    ],
    "reduce max": [
        Op(
            ["a: 5, f64"],
            lambda x: xt.reduce(K.max, x, ["a"]),
            smooth=False,
            exact=[TIES, Exact([[NAN, 1.0, 9, NAN, 0]], 4.0, [[2.0, 0, 0, 2, 0]])],
        )
    ],
    "reduce min": [Op(["a: 5, f64"], lambda x: xt.reduce(K.min, x, ["a"]), smooth=False, exact=[TIES_BELOW])],
    "reduce prod": [
        Op(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.prod, x, ["t"])),
        Op(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.prod, x, ["t", "b"])),
        Op(
            ["a: 9, f64"],
            lambda x: xt.reduce(K.prod, x, ["a"]),
            at={0: [1.0, 2, 0, 3, 1, 1, 0, 1, 2]},
            exact=[
                Exact([[1.0, 2, 0, 3, 1, 1, 1, 1, 2]], 1.0, [[0.0, 0, 12, 0, 0, 0, 0, 0, 0]]),
                Exact([[1.0, 2, 0, 3, 1, 1, 0, 1, 2]], 1.0, [[0.0] * 9]),
            ],
        ),
        Op(
            ["a: 4, f64"],
            lambda x: xt.reduce(K.prod, x, ["a"]),
            at={0: [0.0, 2, 0, 3]},
            exact=[Exact([[0.0, 2, 4, 3]], 1.0, [[24.0, 0, 0, 0]]), Exact([[0.0, 2, 0, 3]], 1.0, [[0.0] * 4])],
        ),
        Op(
            ["t: ?, f64"],
            lambda x: xt.reduce(K.prod, x, ["t"]),
            at={0: [0.0, 2, 0, 3]},
            exact=[Exact([[0.0, 2, 4, 3]], 1.0, [[24.0, 0, 0, 0]]), Exact([[0.0, 2, 0, 3]], 1.0, [[0.0] * 4])],
        ),
    ],
    "scatter max": [
        Op(
            ["t: ?, f64", "p: 3, i64", "p: 3, f64"],
            lambda x, i, u: xt.scatter(S.max, M.drop, x, [i], u, ["t"]),
            at={1: [1, 7, -1]},
        ),
        Op(
            ["r: 3, f64", "p: 2, i64", "p: 2, f64"],
            lambda x, i, u: xt.scatter(S.max, M.raise_, x, [i], u, ["r"]),
            at={1: [1, 1]},
            smooth=False,
            exact=[
                Exact([np.zeros(3), [1, 1], [0.0, 0]], [1.0, 2, 3], [[1.0, 2 / 3, 3], [2 / 3, 2 / 3]]),
                Exact([np.zeros(3), [1, 1], [NAN, 0]], [1.0, 2, 3], [[1.0, 0, 3], [2.0, 0]]),
            ],
        ),
    ],
    "scatter min": [
        Op(
            ["r: 3, f64", "p: 2, i64", "f64"],
            lambda x, i, u: xt.scatter(S.min, M.drop, x, [i], u, ["r"]),
            at={1: [1, 9]},
            smooth=False,
            exact=[Exact([np.zeros(3), [1, 9], 0.0], [1.0, 2, 3], [[1.0, 1, 3], 1.0])],
        ),
    ],
    "scatter mul": [
        Op(
            ["r: 4, c: 3, f64", "c: 3, q: 2, i64", "c: 3, f64"],
            lambda x, i, u: xt.scatter(S.mul, M.clip, x, [i], u, ["r"]),
            at={1: [[1, 9], [0, 0], [2, -1]]},
        ),
        Op(
            ["t: ?, f64", "p: 3, i64", "p: 3, f64"],
            lambda x, i, u: xt.scatter(S.mul, M.raise_, x, [i], u, ["t"]),
            at={1: [1, 1, 1]},
        ),
        Op(
            ["r: 2, f64", "p: 3, i64", "p: 3, f64"],
            lambda x, i, u: xt.scatter(S.mul, M.raise_, x, [i], u, ["r"]),
            at={1: [1, 1, 1], 2: [0.0, 2, 3]},
            exact=[
                Exact([[7.0, 5], [1, 1, 1], [0.0, 2, 3]], [1.0, 10], [[1.0, 0], [300.0, 0, 0]]),
                Exact([[7.0, 5], [1, 1, 1], [0.0, 0, 3]], [1.0, 10], [[1.0, 0], [0.0, 0, 0]]),
            ],
        ),
    ],
}
