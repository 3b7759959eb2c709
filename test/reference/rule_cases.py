"""For each derivative rule, a function that uses the op and points at which it is differentiated.

`exact` holds gradients worked out by hand at ties and singular points, where no difference quotient helps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from derivatives import Function, context
from functions import FUNCTIONS
from xtensor.mlir import ir
from xtensor.mlir.dialects import xtensor as xt

K, M, C = xt.ReduceKind, xt.IndexMode, xt.CumulativeKind
R, S = xt.AccumulateKind, xt.ScatterKind
NAN, INF = float("nan"), float("inf")


@dataclass
class Exact:
    """Gradients by each argument in `wrt` at `at` for the cotangent `ct` (of the only result)."""

    at: list[object]
    ct: object
    gradients: list[object]


@dataclass
class Case:
    inputs: list[str]
    fn: Callable[..., ir.Value | list[ir.Value]]
    wrt: list[int] | None = None
    low: float = 0.3
    high: float = 0.9
    at: dict[int, object] = field(default_factory=dict)  # arguments that are not random floats
    smooth: bool = True
    exact: list[Exact] = field(default_factory=list)

    def function(self) -> Function:
        def emit(*values: ir.Value) -> list[ir.Value]:
            results = self.fn(*values)
            return results if isinstance(results, list) else [results]

        return Function(self.inputs, emit)

    def differentiated(self) -> list[int]:
        return self.wrt if self.wrt is not None else [i for i, t in enumerate(self.inputs) if "f64" in t]

    def values(self, rng: np.random.Generator, dynamic: int = 4) -> list[np.ndarray]:
        out = []
        for i, text in enumerate(self.inputs):
            shape = [int(s) if s.strip() != "?" else dynamic for _, s in (p.split(":") for p in text.split(",")[:-1])]
            out.append(np.asarray(self.at[i]) if i in self.at else rng.uniform(self.low, self.high, shape))
        return out


def array(text: str) -> ir.Type:
    return ir.Type.parse(f"!xtensor.array<{text}>", context())


def number(value: float, element: str = "f64") -> ir.Value:
    type_ = ir.Type.parse(element, context())
    attribute = ir.FloatAttr.get(type_, value) if element[0] in "fb" else ir.IntegerAttr.get(type_, int(value))
    dense = ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get([], type_), attribute)
    return xt.constant(array(element), dense)


def unary(op: Callable[..., ir.Value], low: float = 0.3, high: float = 0.9, **kw: object) -> Case:
    return Case(["a: 3, f64"], op, low=low, high=high, **kw)  # type: ignore[arg-type]


def flat(op: Callable[..., ir.Value]) -> Case:
    """Piecewise constant: no tangent passes, at the jump neither."""
    return unary(op, exact=[Exact([[0.0, 0.5, 2.0]], [1.0, 1.0, 1.0], [[0.0, 0.0, 0.0]])])


def binary(op: Callable[..., ir.Value], low: float = 0.3, high: float = 0.9, **kw: object) -> Case:
    """Two operands that share one dim and each broadcast over one of the other's."""
    return Case(["a: 3, b: 2, f64", "c: 2, a: 3, f64"], op, low=low, high=high, **kw)  # type: ignore[arg-type]


def vectors(op: Callable[..., ir.Value], *exact: Exact, **kw: object) -> Case:
    return Case(["a: 3, f64", "a: 3, f64"], op, exact=list(exact), **kw)  # type: ignore[arg-type]


# Far from singular, all singular values and eigenvalues apart, no two pivots close.
SQUARE = np.array([[0.7, 2.0, 0.4], [3.0, 0.6, 0.2], [0.5, 0.8, 1.1]])


def squared(x: ir.Value) -> ir.Value:
    """Of vectors whose signs are free."""
    return xt.mul(x, x)


def dominant(a: ir.Value) -> ir.Value:
    """`a`, small, plus 4 on the diagonal of r and c."""
    n = dict(xt.ArrayType(a.type).dims)["r"]
    i64 = [xt.iota(array(f"{d}: {n}, i64")) for d in ("r", "c")]
    return xt.add(a, xt.select(xt.compare(xt.ComparePredicate.eq, *i64), number(4.0), number(0.0)))


ONES = [1.0, 1.0, 1.0]
TIES = Exact([[3.0, 3, 1, 5, 5]], 4.0, [[0.0, 0, 0, 2, 2]])
SCANNED, WEIGHTS = [3.0, 3, 1, 5, 5], [1.0, 10, 100, 1000, 10000]


def running(kind: object, *gradients: list[float]) -> list[Case]:
    """Every form along every dim; then the gradients of SCANNED in each form."""
    forms = [(r, e) for r in (None, True) for e in (None, True)]

    def fn(dim: str, reverse: bool | None, exclusive: bool | None) -> Callable[..., ir.Value]:
        return lambda x: xt.cumulative(kind, x, dim, reverse=reverse, exclusive=exclusive)

    def finite(f: Callable[..., ir.Value]) -> Callable[..., ir.Value]:
        """The identity that an exclusive scan starts with may be infinite, which no difference can be of."""
        return lambda x: (lambda y: xt.select(xt.isfinite(y), y, number(0.0)))(f(x))

    return [
        *[Case(["a: 4, b: 3, f64"], finite(fn(dim, r, e)) if e else fn(dim, r, e)) for dim in "ab" for r, e in forms],
        Case(["t: ?, b: 2, f64"], fn("t", True, None)),
        *[
            Case(["t: 5, f64"], fn("t", *form), smooth=False, exact=[Exact([SCANNED], WEIGHTS, [g])])
            for form, g in zip([forms[0], forms[1], forms[2], forms[3]], gradients, strict=True)
        ],
    ]


def recurring(**form: bool) -> list[Case]:
    def fn(dim: str) -> Callable[..., ir.Value]:
        return lambda a, x: xt.recurrence(a, x, dim, **form)

    return [
        Case(["a: 4, b: 3, f64", "b: 3, a: 4, f64"], fn("a")),
        Case(["b: 3, f64", "a: 4, c: 2, f64"], fn("a")),
        Case(["a: 4, f64", "b: 3, f64"], fn("a"), wrt=[1]),
        Case(["t: ?, f64", "b: 2, t: ?, f64"], fn("t")),
        Case(["a: 5, f64", "a: 5, f64"], fn("a"), at={0: [0.5, 0, 2, 0, 0]}),
    ]


TIES_BELOW = Exact([[1.0, 3, 1, 5, 5]], 4.0, [[2.0, 0, 2, 0, 0]])

CASES: dict[str, list[Case]] = {
    **{name: [unary(getattr(xt, name), *f.between)] for name, f in FUNCTIONS.items()},
    "abs": [unary(xt.abs, exact=[Exact([[-2.0, 0.0, 2.0]], [1.0, 10, 100], [[-1.0, 0, 100]])])],
    "ceil": [flat(xt.ceil)],
    "floor": [flat(xt.floor)],
    "round": [flat(xt.round)],
    "sign": [flat(xt.sign)],
    "stop_gradient": [
        Case(
            ["a: 3, f64"],
            lambda x: xt.mul(x, xt.stop_gradient(x)),
            smooth=False,
            exact=[Exact([[2.0, 0, -1]], ONES, [[2.0, 0, -1]])],
        )
    ],
    "trunc": [flat(xt.trunc)],
    "atan2": [binary(xt.atan2, -2, 2)],
    "copysign": [
        binary(xt.copysign, -2, 2),
        vectors(xt.copysign, Exact([[0.0, -2, 2], [1.0, 1, -1]], ONES, [[0.0, -1, -1], [0.0, 0, 0]])),
    ],
    "div": [binary(xt.div), Case(["a: 3, f64"], lambda x: xt.div(x, x))],
    "beta_density_by": [
        Case(
            ["a: 3, f64"] * 3,
            lambda a, b, x, m=m, n=n: xt.beta_density_by(number(m), number(n), a, b, x),
            at={2: [0.3, 0.5, 0.8]},
            wrt=[0, 1, 2],
            low=1.2,
            high=3,
        )
        for m, n in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    ],
    "betainc": [Case(["a: 3, f64"] * 3, xt.betainc, at={2: [0.3, 0.5, 0.8]}, wrt=[0, 1, 2], low=0.6, high=3)],
    "betainc_by": [
        Case(
            ["a: 3, f64"] * 3,
            lambda a, b, x, m=m, n=n: xt.betainc_by(number(m), number(n), a, b, x),
            at={2: [0.3, 0.5, 0.8]},
            wrt=[0, 1, 2],
            low=1.2,
            high=3,
        )
        for m, n in ((1.0, 0.0), (0.0, 1.0))
    ],
    "gamma_density_by_a": [
        Case(["a: 3, f64", "a: 3, f64"], lambda a, x, n=n: xt.gamma_density_by_a(number(n), a, x), low=1.2, high=3)
        for n in (0.0, 1.0)
    ],
    "gammainc": [binary(xt.gammainc, 0.6, 3)],
    "gammainc_by_a": [
        Case(["a: 3, f64", "a: 3, f64"], lambda a, x, n=n: xt.gammainc_by_a(number(n), a, x), low=1.2, high=3)
        for n in (1.0, 2.0)
    ],
    "gammaincc": [binary(xt.gammaincc, 0.6, 3)],
    "floor_div": [vectors(xt.floor_div, Exact([[4.0, 1, -1], [2.0, 3, 3]], ONES, [[0.0] * 3, [0.0] * 3]))],
    "mod": [
        binary(xt.mod, at={0: [[7.3, -7.3], [1.2, 0.1], [5.5, -0.2]]}),
        vectors(xt.mod, Exact([[4.0, 7.0, -7.0], [2.0, 3, 3]], ONES, [ONES, [-2.0, -2, 3]])),
    ],
    "polygamma": [
        Case(["a: 3, f64"], lambda x: xt.polygamma(number(1.0), x), low=1.2, high=3),
        Case(["a: 3, f64"], lambda x: xt.polygamma(number(2.0), x), low=-1.8, high=-1.2),
    ],
    "pow": [
        binary(xt.pow, 0.3, 2),
        vectors(xt.pow, Exact([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]], ONES, [[1.0, 0, 0], [0.0, 0, 0]])),
        vectors(xt.pow, Exact([[-2.0, -2.0, 0.0], [2.0, 3.0, 3.0]], ONES, [[-4.0, 12, 0], [NAN, NAN, 0]])),
        Case(["a: 3, f64"], lambda x: xt.pow(x, number(3.0)), low=-2, high=2,
             exact=[Exact([[-2.0, 0, 1]], ONES, [[12.0, 0, 3]])]),
        Case(["a: 3, f64"], lambda x: xt.pow(x, x)),
    ],
    "maximum": [
        binary(xt.maximum),
        vectors(xt.maximum, Exact([[1.0, 2, 5], [1.0, 3, 4]], [2.0, 2, 2], [[1.0, 0, 2], [1.0, 2, 0]])),
        vectors(xt.maximum, Exact([[NAN, 1, NAN], [1.0, NAN, NAN]], ONES, [[1.0, 0, 0.5], [0.0, 1, 0.5]])),
        Case(["a: 3, f64"], lambda x: xt.maximum(x, number(0.0)), low=-1, high=1,
             exact=[Exact([[-1.0, 0, 1]], ONES, [[0.0, 0.5, 1]])]),
    ],
    "minimum": [
        binary(xt.minimum),
        vectors(xt.minimum, Exact([[1.0, 2, 5], [1.0, 3, 4]], [2.0, 2, 2], [[1.0, 2, 0], [1.0, 0, 2]])),
        vectors(xt.minimum, Exact([[NAN, 1, NAN], [1.0, NAN, NAN]], ONES, [[1.0, 0, 0.5], [0.0, 1, 0.5]])),
    ],
    # ---- linear --------------------------------------------------------------
    "add": [binary(xt.add), Case(["a: 3, f64"], lambda x: xt.add(x, x)),
            Case(["a: 3, f64", "b: 2, f64"], xt.add, wrt=[1])],
    "sub": [binary(xt.sub), Case(["a: 3, f64", "b: 2, f64"], xt.sub, wrt=[1])],
    "neg": [unary(xt.neg)],
    "mul": [
        binary(xt.mul),
        Case(["a: 3, f64"], lambda x: xt.mul(xt.mul(x, x), x)),
        Case(["a: 2, f64", "b: 3, f64"], lambda x, y: xt.reduce(K.sum, xt.mul(x, y), ["a", "b"]),
             exact=[Exact([[2.0, 5], [3.0, 4, 6]], 1.0, [[13.0, 13], [7.0, 7, 7]])]),
    ],
    "scale": [
        binary(xt.scale),
        vectors(xt.scale, Exact([[INF, NAN, 2.0], [0.0, 0, 3]], ONES, [[0.0, 0, 3], [INF, NAN, 2]])),
        vectors(xt.scale, Exact([[INF, NAN, 2.0], [0.0, 0, 3]], [0.0, 0, 1], [[0.0, 0, 3], [0.0, 0, 2]])),
    ],
    "select": [
        Case(["a: 3, i1", "a: 3, b: 2, f64", "c: 2, f64"], xt.select, at={0: [True, False, True]}),
        Case(["a: 3, i1", "f64", "b: 2, f64"], xt.select, at={0: [True, False, True]}, wrt=[1]),
        # The branch not chosen contributes exactly 0, to second order as well.
        Case(["a: 3, f64"], lambda x: xt.select(xt.compare(xt.ComparePredicate.gt, x, number(0.0)),
                                                xt.mul(x, xt.log(x)), number(0.0)),
             exact=[Exact([[0.0, -1, 1]], ONES, [[0.0, 0, 1]]), Exact([[NAN, -1, 1]], ONES, [[0.0, 0, 1]])]),
        Case(["a: 3, f64"], lambda x: xt.select(xt.compare(xt.ComparePredicate.gt, x, number(0.0)),
                                                xt.sqrt(x), x),
             exact=[Exact([[0.0, -1, 1]], ONES, [[1.0, 1, 0.5]])]),
        Case(["a: 3, f64", "f64"], lambda x, w: xt.select(xt.compare(xt.ComparePredicate.ne, x, number(0.0)),
                                                          xt.div(w, xt.mul(x, x)), w),
             exact=[Exact([[0.0, 1, 2], 1.0], ONES, [[0.0, -2, -0.25], 2.25])]),
    ],
    "cast": [Case(["a: 3, f64"], lambda x: xt.cast(xt.cast(x, ir.F64Type.get(context())), ir.F64Type.get(context()))),
             Case(["a: 3, f64"], lambda x: xt.cast(xt.cast(x, ir.F32Type.get(context())), ir.F64Type.get(context())),
                  smooth=False, exact=[Exact([[1.0, 2, 3]], [1.0, 2, 4], [[1.0, 2, 4]])]),
             Case(["a: 3, f64"], lambda x: xt.mul(x, xt.cast(xt.cast(x, ir.IntegerType.get_signless(32, context())),
                                                            ir.F64Type.get(context()))),
                  smooth=False, exact=[Exact([[1.5, -2.5, 0.5]], ONES, [[1.0, -2, 0]])])],
    "reduce sum": [Case(["a: 3, b: 2, f64"], lambda x: xt.reduce(K.sum, x, ["a"])),
                   Case(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.sum, xt.mul(x, x), ["t"])),
                   Case(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.sum, xt.rename(x, ["t"], ["u"]), ["u", "b"]))],
    "barrier": [Case(["a: 3, f64"], lambda x: xt.mul(xt.barrier(x, ir.StringAttr.get("first", context())), x))],
    "broadcast": [Case(["a: 3, f64"], lambda x: xt.broadcast(array("b: 2, a: 3, f64"), x, [])),
                  Case(["a: 3, f64", "n: ?, f64"],
                       lambda x, y: xt.broadcast(array("a: 3, n: ?, f64"), x, [xt.size(y, "n")]), wrt=[0])],
    "contract": [
        Case(["i: 2, k: 3, f64", "k: 3, j: 4, f64"], lambda x, y: xt.contract([x, y], ["k"])),
        Case(["i: 2, k: 3, f64", "k: 3, j: 4, f64"], lambda x, y: xt.contract([x, y], ["k"], order=["j", "i"])),
        Case(["i: 2, k: 3, f64", "k: 3, f64"], lambda x, y: xt.contract([x, y, x], ["k"])),
        Case(["i: 2, k: 3, f64", "j: 3, f64"], lambda x, y: xt.contract([x, y], ["k"])),
        Case(["b: 2, i: 2, k: 3, f64", "k: 3, j: 2, b: 2, f64"], lambda x, y: xt.contract([x, y], ["k"])),
        Case(["t: ?, k: 3, f64", "k: 3, t: ?, f64"], lambda x, y: xt.contract([x, y], ["k", "t"])),
    ],
    "rename": [Case(["a: 3, b: 3, f64", "a: 3, f64"], lambda x, y: xt.mul(xt.rename(x, ["a", "b"], ["b", "a"]), y))],
    "squeeze": [Case(["a: 3, b: 1, f64"], lambda x: xt.squeeze(x, ["b"]))],
    "slice": [Case(["a: 7, b: 2, f64"], lambda x: xt.slice(x, ["a", "b"], [1, 0], [2, 1], [3, 1])),
              Case(["a: 7, f64"], lambda x: xt.slice(x, ["a"], [3], [0], [1])),
              Case(["a: 7, t: ?, f64"], lambda x: xt.slice(x, ["a"], [0], [4], [2]))],
    "pad": [Case(["a: 3, b: 2, f64", "f64"], lambda x, v: xt.pad(x, v, ["a"], [1], [2], [1])),
            Case(["a: 3, b: 2, f64"], lambda x: xt.pad(x, number(1.0), ["b", "a"], [0, 1], [2, 0], [0, 3])),
            Case(["a: 3, b: 2, f64", "f64"], lambda x, v: xt.pad(x, v, ["a"], [1], [2], [1]), wrt=[1],
                 exact=[Exact([np.zeros((3, 2)), 0.0], np.array([[1.0, 2]] * 8), [5 * 3.0]),
                        Exact([np.zeros((3, 2)), 0.0], np.array([[0.0, 0], [INF, INF]] + [[1.0, 2]] * 6), [12.0])])],
    "concat": [Case(["a: 3, b: 2, f64", "b: 2, a: 1, f64"], lambda x, y: xt.concat([x, y, x], "a")),
               Case(["a: 3, t: ?, f64", "a: 2, t: ?, f64"], lambda x, y: xt.concat([x, y], "a"), wrt=[1])],
    "merge": [Case(["a: 3, b: 2, c: 2, f64"], lambda x: xt.merge(x, ["c", "a"], "z")),
              Case(["t: ?, b: 2, c: 2, f64"], lambda x: xt.merge(x, ["c", "t"], "z"))],
    "split": [Case(["z: 6, c: 2, f64"], lambda x: xt.split(x, "z", ["a", "b"], [2, 3]))],
    "reverse": [Case(["a: 3, b: 2, f64"], lambda x: xt.reverse(x, ["a"]))],
    "sized": [Case(["t: ?, f64"], lambda x: xt.sized(x.type, x, [xt.size(x, "t")]))],
    "gather": [
        Case(["r: 4, c: 3, f64", "p: 5, i64"], lambda x, i: xt.gather(M.raise_, x, [i], ["r"]),
             at={1: [0, 2, 2, -1, 0]}),
        Case(["r: 4, c: 3, f64", "p: 2, i32", "p: 2, i32"], lambda x, i, j: xt.gather(M.raise_, x, [i, j], ["r", "c"]),
             at={1: np.array([1, 1], np.int32), 2: np.array([2, 2], np.int32)}),
        Case(["r: 4, c: 3, f64", "p: 2, i64", "q: 2, i64"], lambda x, i, j: xt.gather(M.clip, x, [i, j], ["r", "c"]),
             at={1: [1, 9], 2: [0, -9]}),
        Case(["r: 4, c: 3, f64", "c: 3, i64"], lambda x, i: xt.gather(M.raise_, x, [i], ["r"]), at={1: [1, 1, 3]}),
        Case(["t: ?, c: 3, f64", "p: 2, i64"], lambda x, i: xt.gather(M.raise_, x, [i], ["t"]), at={1: [1, 1]}),
    ],
    "scatter add": [
        Case(["r: 4, c: 3, f64", "p: 3, i64", "p: 3, c: 3, f64"],
             lambda x, i, u: xt.scatter(xt.ScatterKind.add, M.drop, x, [i], u, ["r"]), at={1: [1, 1, -1]}),
        Case(["r: 4, c: 3, f64", "p: 3, i64", "c: 3, f64"],
             lambda x, i, u: xt.scatter(xt.ScatterKind.add, M.drop, x, [i], u, ["r"]), at={1: [1, 7, -9]},
             exact=[Exact([np.zeros((4, 3)), [1, 7, -9], [0.0, 0, 0]], np.arange(12.0).reshape(4, 3),
                          [np.arange(12.0).reshape(4, 3), [3.0, 4, 5]])]),
        Case(["r: 4, f64", "p: 3, i64", "p: 3, f64"],
             lambda x, i, u: xt.scatter(xt.ScatterKind.add, M.clip, x, [i], u, ["r"]), at={1: [1, 7, -9]}, wrt=[2]),
        Case(["t: ?, f64", "p: 3, i64", "p: 3, f64"],
             lambda x, i, u: xt.scatter(xt.ScatterKind.add, M.drop, x, [i], u, ["t"]), at={1: [1, 7, -9]}),
    ],
    "cumulative sum": running(C.sum, [11111.0, 11110, 11100, 11000, 10000], [11110.0, 11100, 11000, 10000, 0],
                              [1.0, 11, 111, 1111, 11111], [0.0, 1, 11, 111, 1111]),
    "recurrence": [*recurring(), *recurring(reverse=True), *recurring(exclusive=True), *recurring(late=True),
                   *recurring(reverse=True, exclusive=True), *recurring(reverse=True, late=True)],
    "window": [Case(["a: 7, b: 2, f64"], lambda x: xt.window(x, "a", "w", 3, 2, 1)),
               Case(["a: 7, b: 2, f64"], lambda x: xt.window(x, "a", "w", 3, 1, 2)),
               Case(["a: 8, t: ?, f64"], lambda x: xt.window(x, "a", "w", 2, 3, 1)),
               Case(["a: 2, f64"], lambda x: xt.window(x, "a", "w", 3, 1, 1))],
    "overlap_add": [Case(["a: 3, w: 3, b: 2, f64"], lambda x: xt.overlap_add(x, "a", "w", 7, 2, 1)),
                    Case(["w: 2, a: 3, t: ?, f64"], lambda x: xt.overlap_add(x, "a", "w", 9, 1, 3)),
                    Case(["a: 0, w: 3, f64"], lambda x: xt.overlap_add(x, "a", "w", 2, 1, 1))],
    "scatter set": [
        Case(["r: 4, c: 3, f64", "p: 3, i64", "p: 3, c: 3, f64"],
             lambda x, i, u: xt.scatter(S.set, M.raise_, x, [i], u, ["r"]), at={1: [1, 2, 1]}),
        Case(["r: 4, c: 3, f64", "p: 3, i64", "c: 3, f64"],
             lambda x, i, u: xt.scatter(S.set, M.drop, x, [i], u, ["r"]), at={1: [1, 7, -9]}),
        Case(["r: 4, c: 3, f64", "c: 3, i64", "f64"],
             lambda x, i, u: xt.scatter(S.set, M.drop, x, [i], u, ["r"]), at={1: [1, 9, -1]}),
        Case(["r: 4, f64", "q: 2, p: 2, i64", "p: 2, q: 2, f64"],
             lambda x, i, u: xt.scatter(S.set, M.clip, x, [i], u, ["r"]), at={1: [[1, -9], [1, 1]]}),
        Case(["t: ?, f64", "p: 3, i64", "p: 3, f64"],
             lambda x, i, u: xt.scatter(S.set, M.drop, x, [i], u, ["t"]), at={1: [1, 7, 1]}),
        Case(["r: 4, f64", "p: 2, i64", "p: 2, f64"], lambda x, i, u: xt.scatter(S.set, M.raise_, x, [i], u, ["r"]),
             at={1: [1, 1]}, exact=[Exact([np.ones(4), [1, 1], [5.0, 6]], [1.0, 2, 3, 4], [[1.0, 0, 3, 4], [0.0, 2]])]),
    ],
    "accumulate last": [
        Case(["r: 4, c: 2, f64", "p: 4, i64", "p: 4, c: 2, f64", "p: 4, f64"],
             lambda x, i, f, t: xt.accumulate(R.last, M.drop, x, t, f, [i], ["r"]), at={1: [1, 2, 1, 9]}),
        Case(["r: 4, f64", "p: 3, i64", "p: 3, f64", "f64"],
             lambda x, i, f, t: xt.accumulate(R.last, M.clip, x, t, f, [i], ["r"], reverse=True), at={1: [1, 1, 9]}),
        Case(["t: ?, f64", "p: 3, i64", "p: 3, f64", "p: 3, f64"],
             lambda x, i, f, t: xt.accumulate(R.last, M.raise_, x, t, f, [i], ["t"]), at={1: [1, 1, 0]}),
    ],
    "accumulate states": [
        Case(["r: 4, c: 2, f64", "p: 4, i64", "p: 4, c: 2, f64", "p: 4, f64"],
             lambda x, i, f, t: xt.accumulate(R.states, M.drop, x, t, f, [i], ["r"]), at={1: [1, 2, 1, 9]}),
        Case(["r: 4, f64", "p: 3, i64", "p: 3, f64", "f64"],
             lambda x, i, f, t: xt.accumulate(R.states, M.clip, x, t, f, [i], ["r"], reverse=True), at={1: [1, 1, 9]}),
    ],
    # ---- matrices ------------------------------------------------------------
    "solve": [
        Case(["r: 3, c: 3, f64", "r: 3, k: 2, f64"], lambda a, b: xt.solve(a, b, ["r", "c"]), at={0: SQUARE}),
        Case(["b: 2, r: 2, c: 2, f64", "n: 2, r: 2, f64"], lambda a, b: xt.solve(dominant(a), b, ["r", "c"])),
        Case(["r: 2, b: 2, c: 2, f64", "c: 2, b: 2, f64"],
             lambda a, b: xt.solve(dominant(a), b, ["r", "c"], transposed=True)),
    ],
    "triangular_solve": [
        Case(["r: 3, c: 3, f64", "r: 3, k: 2, f64"], lambda a, b: xt.triangular_solve(a, b, ["r", "c"]),
             at={0: SQUARE}),
        Case(["b: 2, r: 2, c: 2, f64", "n: 2, r: 2, f64"],
             lambda a, b: xt.triangular_solve(a, b, ["r", "c"], upper=True)),
        Case(["c: 3, r: 3, f64", "r: 3, f64"],
             lambda a, b: xt.triangular_solve(a, b, ["r", "c"], upper=True, unit=True)),
        Case(["c: 3, r: 3, f64", "r: 3, f64"], lambda a, b: xt.triangular_solve(a, b, ["r", "c"], unit=True)),
    ],
    "triangular_contract": [
        Case(["r: 3, c: 3, f64", "c: 3, k: 2, f64"], lambda a, b: xt.triangular_contract(a, b, ["c"], ["r", "c"])),
        Case(["c: 3, b: 2, k: 2, f64", "c: 3, r: 3, f64"],
             lambda a, b: xt.triangular_contract(a, b, ["c"], ["c", "r"], strict=True)),
        Case(["b: 2, r: 3, c: 3, f64", "n: 2, r: 3, f64"],
             lambda a, b: xt.triangular_contract(a, b, ["r"], ["r", "c"], strict=True)),
        Case(["r: 3, k: 2, b: 2, f64", "c: 3, k: 2, f64"],
             lambda a, b: xt.triangular_contract(a, b, ["k"], ["r", "c"])),
        Case(["b: 2, c: 2, k: 2, n: 2, f64", "n: 2, r: 2, b: 2, k: 2, f64"],
             lambda a, b: xt.triangular_contract(a, b, ["k", "n"], ["r", "c"], strict=True)),
        Case(["r: 3, f64", "c: 3, f64"], lambda a, b: xt.triangular_contract(a, b, [], ["c", "r"])),
    ],
    # ---- factors -------------------------------------------------------------
    "cholesky": [
        Case(["r: 3, c: 3, f64"], lambda a: xt.cholesky(dominant(a), ["r", "c"])),
        Case(["r: 2, b: 2, c: 2, f64"], lambda a: xt.cholesky(dominant(a), ["c", "r"])),
    ],
    "cholesky_tangent": [
        case
        for back in (False, True)
        for case in (
            Case(["r: 3, c: 3, f64", "r: 3, c: 3, f64"],
                 lambda f, t, b=back: xt.cholesky_tangent(dominant(f), t, ["r", "c"], transposed=b)),
            Case(["b: 2, r: 2, c: 2, f64", "c: 2, n: 2, r: 2, f64"],
                 lambda f, t, b=back: xt.cholesky_tangent(dominant(f), t, ["c", "r"], transposed=b)),
            Case(["r: 2, c: 2, f64", "r: 2, c: 2, n: 2, f64"],
                 lambda f, t, b=back: xt.cholesky_tangent(dominant(f), t, ["r", "c"], transposed=b), wrt=[1]),
        )
    ],
    "eigh": [
        Case(["r: 3, c: 3, f64"], lambda a: xt.eigh(a, ["r", "c"], "k")[0], at={0: SQUARE}),
        Case(["r: 3, c: 3, f64"], lambda a: squared(xt.eigh(a, ["r", "c"], "k")[1]), at={0: SQUARE}),
    ],
    "lu": [
        Case(["r: 3, c: 3, f64"], lambda a: xt.lu(a, ["r", "c"])[0], at={0: SQUARE}),
        Case(["r: 2, c: 3, f64"], lambda a: xt.lu(a, ["r", "c"])[0], at={0: SQUARE[:2]}),
        Case(["c: 2, r: 3, f64"], lambda a: xt.lu(a, ["r", "c"])[0], at={0: SQUARE[:2]}),
        Case(["b: 2, r: 2, c: 2, f64"], lambda a: xt.lu(a, ["r", "c"])[0],
             at={0: [[[0.1, 2.0], [1.0, 0.3]], [[3.0, 1.0], [0.5, 1.0]]]}),
    ],
    "lu_tangent": [
        case
        for back in (False, True)
        for case in (
            Case(["r: 3, c: 3, f64", "r: 3, c: 3, f64"],
                 lambda f, t, b=back: xt.lu_tangent(dominant(f), t, ["r", "c"], transposed=b)),
            Case(["r: 2, c: 3, f64", "c: 3, n: 2, r: 2, f64"],
                 lambda f, t, b=back: xt.lu_tangent(f, t, ["r", "c"], transposed=b), at={0: SQUARE[:2]}),
            Case(["r: 3, c: 2, f64", "b: 2, r: 3, c: 2, f64"],
                 lambda f, t, b=back: xt.lu_tangent(f, t, ["r", "c"], transposed=b), at={0: SQUARE[:, :2]}),
            Case(["b: 2, r: 2, c: 2, f64", "r: 2, c: 2, n: 2, f64"],
                 lambda f, t, b=back: xt.lu_tangent(dominant(f), t, ["c", "r"], transposed=b)),
            Case(["r: 2, c: 2, f64", "r: 2, c: 2, n: 2, f64"],
                 lambda f, t, b=back: xt.lu_tangent(dominant(f), t, ["r", "c"], transposed=b), wrt=[1]),
        )
    ],
    "pinv": [
        Case(["r: 3, c: 2, f64"], lambda a: xt.pinv(a, ["r", "c"]), at={0: SQUARE[:, :2]}),
        Case(["r: 2, c: 3, f64"], lambda a: xt.pinv(a, ["r", "c"]), at={0: SQUARE[:2]}),
    ],
    "qr": [
        Case(["r: 3, c: 2, f64"], lambda a: xt.qr(a, ["r", "c"], "k")[0], at={0: SQUARE[:, :2]}),
        Case(["r: 3, c: 2, f64"], lambda a: xt.qr(a, ["r", "c"], "k")[1], at={0: SQUARE[:, :2]}),
        Case(["r: 2, c: 3, f64"], lambda a: xt.qr(a, ["r", "c"], "k")[0], at={0: SQUARE[:2]}),
        Case(["c: 3, r: 2, f64"], lambda a: xt.qr(a, ["r", "c"], "k")[1], at={0: SQUARE[:, :2]}),
    ],
    "svd": [
        Case(["r: 3, c: 2, f64"], lambda a: squared(xt.svd(a, ["r", "c"], "k")[0]), at={0: SQUARE[:, :2]}),
        Case(["r: 3, c: 2, f64"], lambda a: xt.svd(a, ["r", "c"], "k")[1], at={0: SQUARE[:, :2]}),
        Case(["r: 2, c: 3, f64"], lambda a: squared(xt.svd(a, ["r", "c"], "k")[2]), at={0: SQUARE[:2]}),
        Case(["r: 3, c: 3, f64"], lambda a: squared(xt.svd(a, ["r", "c"], "k")[2]), at={0: SQUARE}),
    ],
    # ---- choosers ------------------------------------------------------------
    "cumulative max": [
        *running(C.max, [1.0, 110, 0, 1000, 10000], [10.0, 1100, 0, 10000, 0],
                 [0.0, 0, 0, 1111, 10000], [0.0, 0, 0, 111, 1000]),
        Case(["t: 4, f64"], lambda x: xt.cumulative(C.max, x, "t"), smooth=False,
             exact=[Exact([[1.0, NAN, 3, NAN]], [1.0, 10, 100, 1000], [[1.0, 110, 0, 1000]])]),
    ],
    "cumulative min": running(C.min, [1.0, 10, 11100, 0, 0], [10.0, 100, 11000, 0, 0],
                              [0.0, 0, 111, 1000, 10000], [0.0, 0, 11, 100, 1000]),
    "cumulative prod": [
        *running(C.prod, [765331.0, 765330, 2295900, 459000, 450000],
                 [153310.0, 153300, 459000, 90000, 0],
                 [75.0, 325, 3475, 5695, 15695],
                 [0.0, 25, 325, 565, 1565]),
        Case(["t: 5, f64"], lambda x: xt.cumulative(C.prod, x, "t"), at={0: [2.0, 0, 2, 2, 3]},
             exact=[Exact([[2.0, 0, 2, 2, 3]], [1.0] * 5, [[1.0, 38, 0, 0, 0]]),
                    Exact([[2.0, 0, 2, 0, 3]], [1.0] * 5, [[1.0, 6, 0, 0, 0]])]),
        Case(["t: 5, f64"], lambda x: xt.cumulative(C.prod, x, "t", exclusive=True), at={0: [2.0, 0, 2, 0, 3]},
             exact=[Exact([[2.0, 1, 2, 2, 3]], [1.0] * 5, [[8.0, 14, 6, 4, 0]])]),
    ],
    "reduce max": [Case(["a: 3, b: 2, f64"], lambda x: xt.reduce(K.max, x, ["a"])),
                   Case(["a: 5, f64"], lambda x: xt.reduce(K.max, x, ["a"]), smooth=False,
                        exact=[TIES, Exact([[NAN, 1.0, 9, NAN, 0]], 4.0, [[2.0, 0, 0, 2, 0]])])],
    "reduce min": [Case(["a: 3, b: 2, f64"], lambda x: xt.reduce(K.min, x, ["b", "a"])),
                   Case(["a: 5, f64"], lambda x: xt.reduce(K.min, x, ["a"]), smooth=False, exact=[TIES_BELOW])],
    "reduce prod": [
        Case(["a: 5, b: 2, f64"], lambda x: xt.reduce(K.prod, x, ["a"])),
        Case(["a: 3, b: 2, f64"], lambda x: xt.reduce(K.prod, x, ["a", "b"])),
        Case(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.prod, x, ["t"])),
        Case(["t: ?, b: 2, f64"], lambda x: xt.reduce(K.prod, x, ["t", "b"])),
        Case(["a: 11, b: 2, f64"], lambda x: xt.reduce(K.prod, x, ["a"])),
        Case(["b: 3, a: 9, f64"], lambda x: xt.reduce(K.prod, x, ["a", "b"])),
        Case(["a: 9, f64"], lambda x: xt.reduce(K.prod, x, ["a"]), at={0: [1.0, 2, 0, 3, 1, 1, 0, 1, 2]},
             exact=[Exact([[1.0, 2, 0, 3, 1, 1, 1, 1, 2]], 1.0, [[0.0, 0, 12, 0, 0, 0, 0, 0, 0]]),
                    Exact([[1.0, 2, 0, 3, 1, 1, 0, 1, 2]], 1.0, [[0.0] * 9])]),
        Case(["a: 4, f64"], lambda x: xt.reduce(K.prod, x, ["a"]), at={0: [0.0, 2, 0, 3]},
             exact=[Exact([[0.0, 2, 4, 3]], 1.0, [[24.0, 0, 0, 0]]), Exact([[0.0, 2, 0, 3]], 1.0, [[0.0] * 4])]),
        Case(["t: ?, f64"], lambda x: xt.reduce(K.prod, x, ["t"]), at={0: [0.0, 2, 0, 3]},
             exact=[Exact([[0.0, 2, 4, 3]], 1.0, [[24.0, 0, 0, 0]]), Exact([[0.0, 2, 0, 3]], 1.0, [[0.0] * 4])]),
    ],
    "scatter max": [
        Case(["r: 4, c: 3, f64", "p: 3, i64", "p: 3, c: 3, f64"],
             lambda x, i, u: xt.scatter(S.max, M.drop, x, [i], u, ["r"]), at={1: [1, 7, 1]}),
        Case(["t: ?, f64", "p: 3, i64", "p: 3, f64"],
             lambda x, i, u: xt.scatter(S.max, M.drop, x, [i], u, ["t"]), at={1: [1, 7, -1]}),
        Case(["r: 3, f64", "p: 2, i64", "p: 2, f64"], lambda x, i, u: xt.scatter(S.max, M.raise_, x, [i], u, ["r"]),
             at={1: [1, 1]}, smooth=False,
             exact=[Exact([np.zeros(3), [1, 1], [0.0, 0]], [1.0, 2, 3], [[1.0, 2 / 3, 3], [2 / 3, 2 / 3]]),
                    Exact([np.zeros(3), [1, 1], [NAN, 0]], [1.0, 2, 3], [[1.0, 0, 3], [2.0, 0]])]),
    ],
    "scatter min": [
        Case(["r: 4, c: 3, f64", "p: 3, i64", "p: 3, c: 3, f64"],
             lambda x, i, u: xt.scatter(S.min, M.clip, x, [i], u, ["r"]), at={1: [1, 7, 1]}),
        Case(["r: 3, f64", "p: 2, i64", "f64"], lambda x, i, u: xt.scatter(S.min, M.drop, x, [i], u, ["r"]),
             at={1: [1, 9]}, smooth=False, exact=[Exact([np.zeros(3), [1, 9], 0.0], [1.0, 2, 3], [[1.0, 1, 3], 1.0])]),
    ],
    "scatter mul": [
        Case(["r: 4, c: 3, f64", "p: 4, i64", "p: 4, c: 3, f64"],
             lambda x, i, u: xt.scatter(S.mul, M.drop, x, [i], u, ["r"]), at={1: [1, 7, 1, 1]}),
        Case(["r: 4, c: 3, f64", "c: 3, q: 2, i64", "c: 3, f64"],
             lambda x, i, u: xt.scatter(S.mul, M.clip, x, [i], u, ["r"]), at={1: [[1, 9], [0, 0], [2, -1]]}),
        Case(["t: ?, f64", "p: 3, i64", "p: 3, f64"],
             lambda x, i, u: xt.scatter(S.mul, M.raise_, x, [i], u, ["t"]), at={1: [1, 1, 1]}),
        Case(["r: 2, f64", "p: 3, i64", "p: 3, f64"], lambda x, i, u: xt.scatter(S.mul, M.raise_, x, [i], u, ["r"]),
             at={1: [1, 1, 1], 2: [0.0, 2, 3]},
             exact=[Exact([[7.0, 5], [1, 1, 1], [0.0, 2, 3]], [1.0, 10], [[1.0, 0], [300.0, 0, 0]]),
                    Exact([[7.0, 5], [1, 1, 1], [0.0, 0, 3]], [1.0, 10], [[1.0, 0], [0.0, 0, 0]])]),
    ],
}  # fmt: skip
