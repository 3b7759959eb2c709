"""Functions with control flow, as text: what they are differentiated by and where. A part of derivative_cases.py.

`%0`, `%1` ... are written `%a`, `%b` ... here; `<t: 5, f64>` stands for `!xtensor.array<t: 5, f64>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from cases import Exact
from inline import inlined
from op_case import Op
from xtensor.ir.context import context
from xtensor.mlir import ir

_TYPE = re.compile(r"(?<![\w.!])<((?:[^<>]*, )?(?:f64|f32|i64|i1))>")
NAMES = "abcdefgh"


def text(inputs: Sequence[str], body: str) -> Callable[..., list[ir.Value]]:
    """The ops of `body`, a function's text from its first op to its return, at the insertion point."""

    def emit(*values: ir.Value) -> list[ir.Value]:
        arguments = ", ".join(f"%{n}: !xtensor.array<{t}>" for n, t in zip(NAMES, inputs, strict=False))
        code = _TYPE.sub(r"!xtensor.array<\1>", body)
        result = code[code.index("return") :].partition(":")[2].strip()
        source = f"func.func @f({arguments}) -> ({result}) {{\n{code}\n}}"
        return inlined(source, values, context())

    return emit


def case(inputs: Sequence[str], body: str, **kw: object) -> Op:
    return Op(list(inputs), text(inputs, body), **kw)  # type: ignore[arg-type]


SCAN = [
    # Backwards; the second carry is active only through the first.
    case(
        ["i: 2, t: 4, f64", "i: 2, f64"],
        """
  %zero = xtensor.constant dense<0.5> : tensor<f64> as <f64>
  %init = xtensor.broadcast %zero : (<f64>) -> <i: 2, f64>
  %p, %q, %all = xtensor.scan along t reverse carry(%b, %init) over(%a) {
  ^bb0(%s: <i: 2, f64>, %r: <i: 2, f64>, %x: <i: 2, f64>):
    %u = xtensor.mul %s, %x : <i: 2, f64>, <i: 2, f64>
    %v = xtensor.sin %s : <i: 2, f64>
    %w = xtensor.add %r, %v : <i: 2, f64>, <i: 2, f64>
    %y = xtensor.mul %w, %u : <i: 2, f64>, <i: 2, f64>
    xtensor.yield %u, %w, %y : <i: 2, f64>, <i: 2, f64>, <i: 2, f64>
  } : (<i: 2, f64>, <i: 2, f64>, <i: 2, t: 4, f64>) -> (<i: 2, f64>, <i: 2, f64>, <t: 4, i: 2, f64>)
  return %p, %q, %all : <i: 2, f64>, <i: 2, f64>, <t: 4, i: 2, f64>""",
    ),
    # The carries change places.
    case(
        ["f64", "f64", "t: 5, f64"],
        """
  %p, %q = xtensor.scan along t carry(%a, %b) over(%c) {
  ^bb0(%s: <f64>, %r: <f64>, %x: <f64>):
    %u = xtensor.mul %s, %x : <f64>, <f64>
    %e = xtensor.exp %u : <f64>
    xtensor.yield %r, %e : <f64>, <f64>
  } : (<f64>, <f64>, <t: 5, f64>) -> (<f64>, <f64>)
  return %p, %q : <f64>, <f64>""",
    ),
    # Each step reads the whole array along the scanned dim, and keeps something that has it.
    case(
        ["t: 3, f64", "f64"],
        """
  %last = xtensor.scan along t carry(%b) over(%a) {
  ^bb0(%s: <f64>, %x: <f64>):
    %u = xtensor.mul %a, %s : <t: 3, f64>, <f64>
    %e = xtensor.exp %u : <t: 3, f64>
    %m = xtensor.reduce sum %e over [t] : <t: 3, f64>
    %v = xtensor.mul %m, %x : <f64>, <f64>
    %n = xtensor.sin %v : <f64>
    xtensor.yield %n : <f64>
  } : (<f64>, <t: 3, f64>) -> <f64>
  return %last : <f64>""",
    ),
    # A scan in a scan over the same dim.
    case(
        ["t: 3, f64", "f64"],
        """
  %last, %all = xtensor.scan along t carry(%b) over(%a) {
  ^bb0(%s: <f64>, %x: <f64>):
    %n = xtensor.scan along t carry(%s) over(%a) {
    ^bb0(%r: <f64>, %y: <f64>):
      %u = xtensor.mul %r, %y : <f64>, <f64>
      %v = xtensor.add %u, %x : <f64>, <f64>
      %w = xtensor.sin %v : <f64>
      xtensor.yield %w : <f64>
    } : (<f64>, <t: 3, f64>) -> <f64>
    xtensor.yield %n, %n : <f64>, <f64>
  } : (<f64>, <t: 3, f64>) -> (<f64>, <t: 3, f64>)
  return %last, %all : <f64>, <t: 3, f64>""",
    ),
    # Dynamic: the scanned dim and another one.
    case(
        ["t: ?, n: ?, f64", "n: ?, f64", "f64"],
        """
  %last, %all = xtensor.scan along t carry(%b) over(%a) {
  ^bb0(%s: <n: ?, f64>, %x: <n: ?, f64>):
    %u = xtensor.mul %s, %x : <n: ?, f64>, <n: ?, f64>
    %v = xtensor.sin %u : <n: ?, f64>
    %w = xtensor.mul %v, %c : <n: ?, f64>, <f64>
    %m = xtensor.reduce sum %w over [n] : <n: ?, f64>
    xtensor.yield %w, %m : <n: ?, f64>, <f64>
  } : (<n: ?, f64>, <t: ?, n: ?, f64>) -> (<n: ?, f64>, <t: ?, f64>)
  return %last, %all : <n: ?, f64>, <t: ?, f64>""",
    ),
    # No array to scan over, and one whose elements nobody reads.
    case(
        ["f64", "i: 2, f64"],
        """
  %p, %all = xtensor.scan along t carry(%a) over() length 4 {
  ^bb0(%s: <f64>):
    %u = xtensor.cos %s : <f64>
    %v = xtensor.mul %u, %b : <f64>, <i: 2, f64>
    xtensor.yield %u, %v : <f64>, <i: 2, f64>
  } : (<f64>) -> (<f64>, <t: 4, i: 2, f64>)
  return %p, %all : <f64>, <t: 4, i: 2, f64>""",
    ),
    case(
        ["t: ?, f64", "f64"],
        """
  %n = xtensor.size %a t : <t: ?, f64>
  %p = xtensor.scan along t carry(%b) over() size %n {
  ^bb0(%s: <f64>):
    %u = xtensor.cos %s : <f64>
    %v = xtensor.mul %u, %u : <f64>, <f64>
    xtensor.yield %v : <f64>
  } : (<f64>, <i64>) -> <f64>
  %q = xtensor.reduce sum %a over [t] : <t: ?, f64>
  %y = xtensor.mul %p, %q : <f64>, <f64>
  return %y : <f64>""",
    ),
    # An index is carried, and something is looked up at it.
    case(
        ["r: 4, f64", "f64"],
        """
  %zero = xtensor.constant dense<0> : tensor<i64> as <i64>
  %one = xtensor.constant dense<1> : tensor<i64> as <i64>
  %i, %p = xtensor.scan along t carry(%zero, %b) over() length 4 {
  ^bb0(%k: <i64>, %s: <f64>):
    %next = xtensor.add %k, %one : <i64>, <i64>
    %x = xtensor.gather raise %a at %k along [r] : <r: 4, f64>, <i64>
    %u = xtensor.mul %s, %x : <f64>, <f64>
    %v = xtensor.exp %u : <f64>
    xtensor.yield %next, %v : <i64>, <f64>
  } : (<i64>, <f64>) -> (<i64>, <f64>)
  return %p : <f64>""",
    ),
    # Outer products that are added up: the captured matrix is larger than the vectors.
    case(
        ["t: 3, b: 2, i: 3, f64", "i: 3, h: 4, f64", "h: 4, f64"],
        """
  %last = xtensor.scan along t carry(%c) over(%a) {
  ^bb0(%s: <h: 4, f64>, %x: <b: 2, i: 3, f64>):
    %p = xtensor.contract %x, %b over [i] : <b: 2, i: 3, f64>, <i: 3, h: 4, f64>
    %q = xtensor.tanh %p : <b: 2, h: 4, f64>
    %r = xtensor.contract %q, %s over [b] : <b: 2, h: 4, f64>, <h: 4, f64>
    %m = xtensor.contract %r, %b over [h] : <h: 4, f64>, <i: 3, h: 4, f64>
    %e = xtensor.contract %m, %b over [i] : <i: 3, f64>, <i: 3, h: 4, f64>
    %n = xtensor.sin %e : <h: 4, f64>
    xtensor.yield %n : <h: 4, f64>
  } : (<h: 4, f64>, <t: 3, b: 2, i: 3, f64>) -> <h: 4, f64>
  return %last : <h: 4, f64>""",
        low=0.1,
        high=0.4,
    ),
    # No step at all.
    case(
        ["t: 0, f64", "f64", "f64"],
        """
  %last, %all = xtensor.scan along t carry(%b) over(%a) {
  ^bb0(%s: <f64>, %x: <f64>):
    %u = xtensor.mul %s, %x : <f64>, <f64>
    %v = xtensor.mul %u, %c : <f64>, <f64>
    %w = xtensor.sin %v : <f64>
    xtensor.yield %w, %w : <f64>, <f64>
  } : (<f64>, <t: 0, f64>) -> (<f64>, <t: 0, f64>)
  return %last, %all : <f64>, <t: 0, f64>""",
    ),
]

_SWITCH = """
  %y, %z = xtensor.switch %c {
    %s = xtensor.sin %a : <i: 3, f64>
    %u = xtensor.mul %s, %b : <i: 3, f64>, <f64>
    xtensor.yield %u, %b : <i: 3, f64>, <f64>
  }, {
    xtensor.yield %a, %b : <i: 3, f64>, <f64>
  }, {
    %one = xtensor.constant dense<1.0> : tensor<f64> as <f64>
    %e = xtensor.exp %a : <i: 3, f64>
    %m = xtensor.mul %e, %e : <i: 3, f64>, <i: 3, f64>
    %w = xtensor.reduce prod %m over [i] : <i: 3, f64>
    xtensor.yield %e, %w : <i: 3, f64>, <f64>
  } : (<i64>) -> (<i: 3, f64>, <f64>)
  return %y, %z : <i: 3, f64>, <f64>"""

SWITCH = [
    *(case(["i: 3, f64", "f64", "i64"], _SWITCH, at={2: chosen}) for chosen in (0, 1, 2, 7, -1)),
    # A scan that chooses at each step, and a choice of scans.
    case(
        ["t: 4, f64", "f64", "t: 4, i64"],
        """
  %p, %all = xtensor.scan along t carry(%b) over(%a, %c) {
  ^bb0(%s: <f64>, %x: <f64>, %i: <i64>):
    %n = xtensor.switch %i {
      %u = xtensor.sin %s : <f64>
      %v = xtensor.mul %u, %x : <f64>, <f64>
      xtensor.yield %v : <f64>
    }, {
      %u = xtensor.exp %x : <f64>
      %v = xtensor.div %s, %u : <f64>, <f64>
      xtensor.yield %v : <f64>
    } : (<i64>) -> <f64>
    xtensor.yield %n, %n : <f64>, <f64>
  } : (<f64>, <t: 4, f64>, <t: 4, i64>) -> (<f64>, <t: 4, f64>)
  return %p, %all : <f64>, <t: 4, f64>""",
        at={2: [0, 1, 1, 0]},
    ),
    case(
        ["t: ?, f64", "f64", "i64"],
        """
  %y = xtensor.switch %c {
    %p = xtensor.scan along t carry(%b) over(%a) {
    ^bb0(%s: <f64>, %x: <f64>):
      %u = xtensor.mul %s, %x : <f64>, <f64>
      %v = xtensor.sin %u : <f64>
      xtensor.yield %v : <f64>
    } : (<f64>, <t: ?, f64>) -> <f64>
    xtensor.yield %p : <f64>
  }, {
    %e = xtensor.exp %a : <t: ?, f64>
    %f = xtensor.tanh %e : <t: ?, f64>
    %p = xtensor.reduce sum %f over [t] : <t: ?, f64>
    xtensor.yield %p : <f64>
  } : (<i64>) -> <f64>
  return %y : <f64>""",
        at={2: 1},
    ),
    # The branch that did not run contributes exactly 0, also to what was computed before it.
    case(
        ["f64"],
        """
  %zero = xtensor.constant dense<0> : tensor<i64> as <i64>
  %s = xtensor.sqrt %a : <f64>
  %n = xtensor.cast %a to i64 : <f64>
  %y = xtensor.switch %n {
    xtensor.yield %a : <f64>
  }, {
    xtensor.yield %s : <f64>
  } : (<i64>) -> <f64>
  return %y : <f64>""",
        smooth=False,
        exact=[Exact([0.0], 3.0, [3.0]), Exact([1.0], 3.0, [1.5])],
    ),
]

WHILE = [
    case(
        ["f64", "f64"],
        """
  %one = xtensor.constant dense<1> : tensor<i64> as <i64>
  %zero = xtensor.constant dense<0> : tensor<i64> as <i64>
  %three = xtensor.constant dense<3> : tensor<i64> as <i64>
  %i, %p = xtensor.while init(%zero, %a) max_steps 5 cond {
  ^bb0(%k: <i64>, %s: <f64>):
    %more = xtensor.compare lt %k, %three : <i64>, <i64>
    xtensor.yield %more : <i1>
  } body {
  ^bb0(%k: <i64>, %s: <f64>):
    %next = xtensor.add %k, %one : <i64>, <i64>
    %u = xtensor.mul %s, %b : <f64>, <f64>
    %v = xtensor.sin %u : <f64>
    xtensor.yield %next, %v : <i64>, <f64>
  } : (<i64>, <f64>) -> (<i64>, <f64>)
  return %p : <f64>""",
    ),
    # It goes on by a value that is differentiated; the bound cuts it off.
    *(
        case(
            ["i: 2, f64", "f64"],
            f"""
  %p = xtensor.while init(%a) max_steps {steps} cond {{
  ^bb0(%s: <i: 2, f64>):
    %m = xtensor.reduce sum %s over [i] : <i: 2, f64>
    %end = xtensor.constant dense<9.0> : tensor<f64> as <f64>
    %more = xtensor.compare lt %m, %end : <f64>, <f64>
    xtensor.yield %more : <i1>
  }} body {{
  ^bb0(%s: <i: 2, f64>):
    %u = xtensor.mul %s, %s : <i: 2, f64>, <i: 2, f64>
    %v = xtensor.add %u, %s : <i: 2, f64>, <i: 2, f64>
    %w = xtensor.mul %v, %b : <i: 2, f64>, <f64>
    xtensor.yield %w : <i: 2, f64>
  }} : (<i: 2, f64>) -> <i: 2, f64>
  return %p : <i: 2, f64>""",
            low=0.9,
            high=1.1,
        )
        for steps in (0, 2, 6)
    ),
    # In a scan, where each step repeats something.
    case(
        ["t: 3, f64", "f64"],
        """
  %last = xtensor.scan along t carry(%b) over(%a) {
  ^bb0(%c: <f64>, %x: <f64>):
    %p = xtensor.while init(%c) max_steps 3 cond {
    ^bb0(%s: <f64>):
      %end = xtensor.constant dense<1.5> : tensor<f64> as <f64>
      %more = xtensor.compare lt %s, %end : <f64>, <f64>
      xtensor.yield %more : <i1>
    } body {
    ^bb0(%s: <f64>):
      %u = xtensor.exp %x : <f64>
      %v = xtensor.mul %s, %u : <f64>, <f64>
      xtensor.yield %v : <f64>
    } : (<f64>) -> <f64>
    %y = xtensor.sin %p : <f64>
    xtensor.yield %y : <f64>
  } : (<f64>, <t: 3, f64>) -> <f64>
  return %last : <f64>""",
        at={0: [0.2, 0.3, 0.1], 1: 0.9},
    ),
]

CHECKPOINT = [
    case(
        ["i: 3, f64", "f64"],
        """
  %y, %z = xtensor.checkpoint {
    %s = xtensor.sin %a : <i: 3, f64>
    %u = xtensor.mul %s, %b : <i: 3, f64>, <f64>
    %e = xtensor.exp %u : <i: 3, f64>
    %f = xtensor.mul %e, %e : <i: 3, f64>, <i: 3, f64>
    xtensor.yield %f, %s : <i: 3, f64>, <i: 3, f64>
  } : <i: 3, f64>, <i: 3, f64>
  %x = xtensor.mul %y, %z : <i: 3, f64>, <i: 3, f64>
  return %x : <i: 3, f64>""",
    ),
    # Blocks of steps.
    case(
        ["o: 2, t: 3, f64", "f64"],
        """
  %last, %all = xtensor.scan along o carry(%b) over(%a) {
  ^bb0(%c: <f64>, %x: <t: 3, f64>):
    %p = xtensor.checkpoint {
      %q = xtensor.scan along t carry(%c) over(%x) {
      ^bb0(%s: <f64>, %y: <f64>):
        %u = xtensor.mul %s, %y : <f64>, <f64>
        %v = xtensor.sin %u : <f64>
        %w = xtensor.exp %v : <f64>
        xtensor.yield %w : <f64>
      } : (<f64>, <t: 3, f64>) -> <f64>
      xtensor.yield %q : <f64>
    } : <f64>
    xtensor.yield %p, %p : <f64>, <f64>
  } : (<f64>, <o: 2, t: 3, f64>) -> (<f64>, <o: 2, f64>)
  return %last, %all : <f64>, <o: 2, f64>""",
    ),
    # One in another, with a choice inside.
    case(
        ["t: ?, f64", "f64", "i64"],
        """
  %y = xtensor.checkpoint {
    %s = xtensor.sin %a : <t: ?, f64>
    %e = xtensor.checkpoint {
      %n = xtensor.switch %c {
        %u = xtensor.exp %s : <t: ?, f64>
        xtensor.yield %u : <t: ?, f64>
      }, {
        %u = xtensor.mul %s, %b : <t: ?, f64>, <f64>
        %v = xtensor.tanh %u : <t: ?, f64>
        xtensor.yield %v : <t: ?, f64>
      } : (<i64>) -> <t: ?, f64>
      xtensor.yield %n : <t: ?, f64>
    } : <t: ?, f64>
    %f = xtensor.mul %e, %s : <t: ?, f64>, <t: ?, f64>
    xtensor.yield %f : <t: ?, f64>
  } : <t: ?, f64>
  return %y : <t: ?, f64>""",
        at={2: 1},
    ),
]

_PRIMAL = """primal {
  ^bb0(%x: <i: 3, f64>, %w: <f64>):
    %p = xtensor.mul %x, %w : <i: 3, f64>, <f64>
    %q = xtensor.exp %p : <i: 3, f64>
    xtensor.yield %q, %x : <i: 3, f64>, <i: 3, f64>
  }"""
_PUSHFORWARD = """pushforward {
  ^bb0(%x: <i: 3, f64>, %w: <f64>, %dx: <i: 3, f64>, %dw: <f64>):
    %p = xtensor.mul %x, %w : <i: 3, f64>, <f64>
    %q = xtensor.exp %p : <i: 3, f64>
    %l = xtensor.mul %dx, %w : <i: 3, f64>, <f64>
    %m = xtensor.mul %x, %dw : <i: 3, f64>, <f64>
    %n = xtensor.add %l, %m : <i: 3, f64>, <i: 3, f64>
    %dq = xtensor.mul %q, %n : <i: 3, f64>, <i: 3, f64>
    xtensor.yield %q, %x, %dq, %dx : <i: 3, f64>, <i: 3, f64>, <i: 3, f64>, <i: 3, f64>
  }"""
_PULLBACK = """forward {
  ^bb0(%x: <i: 3, f64>, %w: <f64>):
    %p = xtensor.mul %x, %w : <i: 3, f64>, <f64>
    %q = xtensor.exp %p : <i: 3, f64>
    xtensor.yield %q, %x, %q, %x, %w : <i: 3, f64>, <i: 3, f64>, <i: 3, f64>, <i: 3, f64>, <f64>
  } backward {
  ^bb0(%q: <i: 3, f64>, %x: <i: 3, f64>, %w: <f64>, %ct: <i: 3, f64>, %cx: <i: 3, f64>):
    %g = xtensor.mul %q, %ct : <i: 3, f64>, <i: 3, f64>
    %h = xtensor.mul %g, %w : <i: 3, f64>, <f64>
    %m = xtensor.add %h, %cx : <i: 3, f64>, <i: 3, f64>
    %n = xtensor.contract %g, %x over [i] : <i: 3, f64>, <i: 3, f64>
    xtensor.yield %m, %n : <i: 3, f64>, <f64>
  }"""


def custom(*regions: str, wrt: list[int] | None = None) -> Op:
    return case(
        ["i: 3, f64", "f64"],
        f"""
  %s = xtensor.sin %a : <i: 3, f64>
  %y, %z = xtensor.custom_derivative at(%s, %b) {_PRIMAL} {" ".join(regions)} : (<i: 3, f64>, <f64>)
      -> (<i: 3, f64>, <i: 3, f64>)
  %u = xtensor.mul %y, %z : <i: 3, f64>, <i: 3, f64>
  %v = xtensor.mul %u, %s : <i: 3, f64>, <i: 3, f64>
  return %v : <i: 3, f64>""",
        wrt=wrt,
    )


CUSTOM = [
    custom(_PUSHFORWARD),
    custom(_PULLBACK),
    custom(_PUSHFORWARD, _PULLBACK),
    custom(_PUSHFORWARD, wrt=[0]),
    custom(_PULLBACK, wrt=[1]),
    # Rules with loops that carry primals beside tangents, and an index beside cotangents.
    case(
        ["f64", "f64"],
        """
  %y = xtensor.custom_derivative at(%a, %b) primal {
  ^bb0(%x: <f64>, %w: <f64>):
    %p = xtensor.scan along t carry(%x) over() length 3 {
    ^bb0(%s: <f64>):
      %u = xtensor.mul %s, %w : <f64>, <f64>
      %v = xtensor.sin %u : <f64>
      xtensor.yield %v : <f64>
    } : (<f64>) -> <f64>
    xtensor.yield %p : <f64>
  } pushforward {
  ^bb0(%x: <f64>, %w: <f64>, %dx: <f64>, %dw: <f64>):
    %p, %dp = xtensor.scan along t carry(%x, %dx) over() length 3 {
    ^bb0(%s: <f64>, %ds: <f64>):
      %u = xtensor.mul %s, %w : <f64>, <f64>
      %l = xtensor.mul %ds, %w : <f64>, <f64>
      %m = xtensor.mul %s, %dw : <f64>, <f64>
      %du = xtensor.add %l, %m : <f64>, <f64>
      %v = xtensor.sin %u : <f64>
      %c = xtensor.cos %u : <f64>
      %dv = xtensor.mul %c, %du : <f64>, <f64>
      xtensor.yield %v, %dv : <f64>, <f64>
    } : (<f64>, <f64>) -> (<f64>, <f64>)
    xtensor.yield %p, %dp : <f64>, <f64>
  } : (<f64>, <f64>) -> <f64>
  %e = xtensor.exp %y : <f64>
  return %e : <f64>""",
    ),
    case(
        ["r: 3, f64"],
        """
  %y = xtensor.custom_derivative at(%a) primal {
  ^bb0(%x: <r: 3, f64>):
    %p = xtensor.reduce sum %x over [r] : <r: 3, f64>
    %q = xtensor.mul %p, %p : <f64>, <f64>
    xtensor.yield %q : <f64>
  } forward {
  ^bb0(%x: <r: 3, f64>):
    %p = xtensor.reduce sum %x over [r] : <r: 3, f64>
    %q = xtensor.mul %p, %p : <f64>, <f64>
    xtensor.yield %q, %p : <f64>, <f64>
  } backward {
  ^bb0(%p: <f64>, %ct: <f64>):
    %zero = xtensor.constant dense<0> : tensor<i64> as <i64>
    %one = xtensor.constant dense<1> : tensor<i64> as <i64>
    %none = xtensor.constant dense<0.0> : tensor<f64> as <f64>
    %start = xtensor.broadcast %none : (<f64>) -> <r: 3, f64>
    %two = xtensor.add %p, %p : <f64>, <f64>
    %i, %g = xtensor.scan along t carry(%zero, %start) over() length 3 {
    ^bb0(%k: <i64>, %s: <r: 3, f64>):
      %next = xtensor.add %k, %one : <i64>, <i64>
      %u = xtensor.mul %two, %ct : <f64>, <f64>
      %v = xtensor.scatter add raise %s at %k with %u along [r] : <r: 3, f64>, <f64>, <i64>
      xtensor.yield %next, %v : <i64>, <r: 3, f64>
    } : (<i64>, <r: 3, f64>) -> (<i64>, <r: 3, f64>)
    xtensor.yield %g : <r: 3, f64>
  } : (<r: 3, f64>) -> <f64>
  %e = xtensor.sin %y : <f64>
  return %e : <f64>""",
    ),
    # In a loop.
    case(
        ["t: 3, f64", "f64"],
        """
  %last, %all = xtensor.scan along t carry(%b) over(%a) {
  ^bb0(%c: <f64>, %e: <f64>):
    %y = xtensor.custom_derivative at(%c, %e) primal {
    ^bb0(%x: <f64>, %w: <f64>):
      %q = xtensor.mul %x, %w : <f64>, <f64>
      xtensor.yield %q : <f64>
    } forward {
    ^bb0(%x: <f64>, %w: <f64>):
      %q = xtensor.mul %x, %w : <f64>, <f64>
      xtensor.yield %q, %x, %w : <f64>, <f64>, <f64>
    } backward {
    ^bb0(%x: <f64>, %w: <f64>, %ct: <f64>):
      %g = xtensor.mul %ct, %w : <f64>, <f64>
      %h = xtensor.mul %ct, %x : <f64>, <f64>
      xtensor.yield %g, %h : <f64>, <f64>
    } : (<f64>, <f64>) -> <f64>
    %n = xtensor.sin %y : <f64>
    xtensor.yield %n, %y : <f64>, <f64>
  } : (<f64>, <t: 3, f64>) -> (<f64>, <t: 3, f64>)
  return %last, %all : <f64>, <t: 3, f64>""",
    ),
]

CONTROL: dict[str, list[Op]] = {
    "scan": [*SCAN],
    "switch": [*SWITCH],
    "while": [*WHILE],
    "checkpoint": [*CHECKPOINT],
    "custom_derivative": [*CUSTOM],
}  # fmt: skip
