"""Random programs at sizes that are no multiples of vectors: values against xarray, derivatives against complex steps.

Each program is text that both libraries run; a failure prints it. XTENSOR_RANDOM_PROGRAMS=2000 runs more of them."""

import os

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

SIZES = (1, 3, 7, 25, 33, 50, 101, 257)
COUNT = int(os.environ.get("XTENSOR_RANDOM_PROGRAMS", "180"))
GROUPS = 12
LARGEST = 30_000  # elements of one array

UNARY = ("sin({0})", "tanh({0})", "exp(-{0} * {0})", "{0} * {0}", "sqrt(1.5 + {0} * {0})", "0.5 * {0} - 1.0")
BINARY = ("{0} + {1}", "{0} * {1}", "{0} - {1}", "{0} / (2.0 + {1} * {1})")

KINDS = ("unary", "unary", "binary", "binary", "at", "slice", "rows", "sum", "cumsum", "rename", "dot")


class Program:
    """Statements over named arrays, and the dims and sizes of each value so far."""

    def __init__(self, rng):
        self.rng = rng
        self.lines, self.values, self.known = [], {}, {}
        for name in ("i", "j", "k")[: rng.integers(2, 4)]:
            self.known[name] = int(rng.choice(SIZES))
        self.inputs = {}
        for n in range(rng.integers(1, 4)):
            dims = rng.permutation(list(self.known))[: rng.integers(1, 3)]
            self.inputs[f"x{n}"] = self.values[f"x{n}"] = {str(d): self.known[d] for d in dims}
        while len(self.lines) < rng.integers(3, 10):
            self.step()
        # Whatever nothing reads yet goes into the result.
        read = "\n".join(line.partition("=")[2] for line in self.lines)
        ends = [v for v in self.values if v not in read.replace("(", " ").replace(",", " ").replace(".", " ").split()]
        self.result = ends[-2:] or [list(self.values)[-1]]

    def pick(self, some):
        return some[self.rng.integers(len(some))]

    def add(self, text, sizes):
        if np.prod(list(sizes.values()), dtype=float) > LARGEST or len(sizes) > 3:
            return
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values[name] = sizes

    def new_dim(self, size):
        """A dim of `size`: one that is there already, or another."""
        same = [d for d, n in self.known.items() if n == size]
        if same and self.rng.random() < 0.4:
            return self.pick(same)
        name = f"d{len(self.known)}"
        self.known[name] = size
        return name

    def replaced(self, v, dim, size):
        """The sizes of `v` with another dim for `dim`, and that dim's name."""
        new = self.new_dim(size)
        if new in self.values[v] and new != dim:
            new = f"d{len(self.known)}"
            self.known[new] = size
        return new, {new if d == dim else d: size if d == dim else n for d, n in self.values[v].items()}

    def step(self):
        rng, v = self.rng, self.pick(list(self.values))
        sizes = self.values[v]
        kind = self.pick(
            ["unary", "unary", "binary", "binary", "at", "slice", "rows", "sum", "cumsum", "rename", "dot"]
        )
        if kind == "unary":
            return self.add(self.pick(UNARY).format(v), sizes)
        if kind in ("binary", "dot"):
            w = self.pick(list(self.values))
            both = {**sizes, **self.values[w]}
            if kind == "binary":
                return self.add(self.pick(BINARY).format(v, w), both)
            shared = [d for d in sizes if d in self.values[w]]
            if shared and np.prod(list(both.values()), dtype=float) < 1e6:
                dim = self.pick(shared)
                self.add(f"({v} * {w}).sum({dim!r}) / {both.pop(dim)}.0", both)
            return None
        if not sizes:
            return None
        dim = self.pick(list(sizes))
        n, rest = sizes[dim], {d: m for d, m in sizes.items() if d != dim}
        if kind == "at":
            self.add(f"{v}.isel({dim}={rng.integers(-n, n)})", rest)
        elif kind == "slice":
            start, step = int(rng.integers(0, max(n // 2, 1))), int(self.pick([1, 1, 2, 3, -1, -2]))
            text = f"slice({start}, None, {step})" if step > 0 else f"slice({n - 1 - start}, None, {step})"
            new, after = self.replaced(v, dim, len(range(start, n, abs(step))))
            self.add(f"{v}.isel({dim}={text})" + (f".rename({dim}={new!r})" if new != dim else ""), after)
        elif kind == "rows":
            count = int(self.pick([2, 5, 33]))
            new, after = self.replaced(v, dim, count)
            self.add(f"{v}.isel({dim}=index({rng.integers(-n, n, count).tolist()}, {new!r}))", after)
        elif kind == "sum":
            self.add(f"{v}.sum({dim!r}) / {n}.0", rest)
        elif kind == "cumsum":
            self.add(f"{v}.cumsum({dim!r}) / {n}.0", sizes)
        elif kind == "rename":
            new, after = self.replaced(v, dim, n)
            if new != dim:
                self.add(f"{v}.rename({dim}={new!r})", after)
        return None

    def __str__(self):
        head = [f"# {name}: {sizes}" for name, sizes in self.inputs.items()]
        return "\n".join([*head, *self.lines, f"result = ({', '.join(self.result)},)"])

    def function(self, names):
        code = compile(str(self), "<random program>", "exec")

        def run(*inputs):
            scope = {**names, **dict(zip(self.inputs, inputs, strict=True))}
            exec(code, scope)
            return scope["result"]

        return run


OURS = {
    **{f: getattr(xt, f) for f in ("sin", "tanh", "exp", "sqrt")},
    "index": lambda rows, dim: xt.array(rows, dim),
}
THEIRS = {
    **{f: getattr(np, f) for f in ("sin", "tanh", "exp", "sqrt")},
    "index": lambda rows, dim: xr.DataArray(rows, dims=dim),
}


def check(seed):
    rng = np.random.default_rng(seed)
    program = Program(rng)
    ours, theirs = program.function(OURS), program.function(THEIRS)
    shapes = [(tuple(s), tuple(s.values())) for s in program.inputs.values()]
    points = [xr.DataArray(rng.standard_normal(shape), dims=dims) for dims, shape in shapes]
    along = [xr.DataArray(rng.standard_normal(shape), dims=dims) for dims, shape in shapes]
    arrays, tangents = ([xt.array(x.values, x.dims) for x in xs] for xs in (points, along))
    message = f"seed {seed}\n{program}"

    want = theirs(*points)
    got = xt.jit(ours)(*arrays)
    for y, w in zip(got, want, strict=True):
        w = w.transpose(*y.dims)
        np.testing.assert_allclose(y.values, w.values, rtol=1e-10, atol=1e-10, err_msg=message)
    weights = [rng.standard_normal(w.shape) / w.size**0.5 for w in want]

    def loss(*xs):
        return sum(((y * y + y) * xt.array(c, w.dims)).sum() for y, w, c in zip(ours(*xs), want, weights, strict=True))

    def reference(*xs):
        """The loss, at complex points too."""
        return sum(
            complex(((y * y + y).transpose(*w.dims).values * c).sum())
            for y, w, c in zip(theirs(*xs), want, weights, strict=True)
        )

    def slope(shift):
        """The derivative along the direction, exact to rounding."""
        moved = [x + shift * v + 1e-30j * v for x, v in zip(points, along, strict=True)]
        return reference(*moved).imag / 1e-30

    gradients = xt.grad(loss, wrt=tuple(range(len(arrays))))(*arrays)
    terms = [float((g.values * v.transpose(*g.dims).values).sum()) for g, v in zip(gradients, along, strict=True)]
    scale = 1 + sum(map(abs, terms)) + abs(reference(*points))
    np.testing.assert_allclose(sum(terms), slope(0.0), rtol=1e-9, atol=1e-9 * scale, err_msg=message)
    if seed % 3 == 0:
        products = xt.hvp(loss, tuple(arrays), tuple(tangents))
        products = products if len(arrays) > 1 else (products,)
        curve = sum(float((p * t).sum()) for p, t in zip(products, tangents, strict=True))
        difference = (slope(1e-4) - slope(-1e-4)) / 2e-4
        assert np.isclose(curve, difference, rtol=1e-4, atol=1e-4 * (scale + abs(difference))), message
    if seed % 3 == 1:
        first = arrays[0]
        if first.size <= 101:
            hessian = xt.hessian(loss)(*arrays)
            assert hessian.dims[: first.ndim] == first.dims, message
            flat = hessian.values.reshape(first.size, first.size)
            np.testing.assert_allclose(flat, flat.T, rtol=1e-8, atol=1e-9 * (1 + np.abs(flat).max()), err_msg=message)


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs_and_their_derivatives_are_those_of_xarray(group):
    for seed in range(group, COUNT, GROUPS):
        check(seed)
