"""Makes random programs: one statement after another, each evaluated in NumPy as it is made, so that what is there is
known with its dims, sizes and values."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import named
import numpy as np
from named import COMPLEX, FLOATS, INTS, Named, RefusedError, UnknownError
from program import OPERATIONS, Block, Program, Statement, Values, pruned

SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33)
LARGEST = 4000  # elements of one array
VERY_LARGE = 150_000  # of those of programs that run on several threads
DIMS = ("i", "j", "k")


@dataclass(frozen=True)
class Kind:
    """What programs may hold."""

    dtypes: tuple[str, ...] = ("bool", *INTS, *FLOATS, *COMPLEX)
    sizes: tuple[int, ...] = SIZES
    opened: bool = False  # some dims have sizes that the program does not know
    smooth: bool = False  # made to be differentiated
    specials: bool = True  # NaN and infinities among the inputs
    statements: tuple[int, int] = (2, 9)
    control: bool = True
    largest: int = LARGEST


Making = Callable[["Maker"], Statement | None]
MAKING: list[tuple[Making, float]] = []  # and how often
CONTROL: list[tuple[Making, float]] = []


def makes(weight: float, control: bool = False) -> Callable[[Making], Making]:
    def add(f: Making) -> Making:
        (CONTROL if control else MAKING).append((f, weight))
        return f

    return add


class Maker:
    def __init__(self, seed: int | str, kind: Kind) -> None:
        self.rng, self.kind, self.count, self.depth = random.Random(seed), kind, 0, 0
        self.numbers = np.random.default_rng(self.rng.randrange(1 << 60))
        self.values: Values = {}
        self.statements: list[Statement] = []
        self.sizes = {d: self.rng.choice(kind.sizes) for d in DIMS[: self.rng.randint(1, 3)]}
        self.open: frozenset[str] = frozenset()
        if kind.opened:
            count = self.rng.randint(1, len(self.sizes))
            self.open = frozenset(self.rng.sample(sorted(self.sizes), count))
        self.inputs: Values = {}
        self.positions: dict[str, str] = {}  # inputs that are positions along a dim

    # Names and choices.

    def fresh(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def new_dim(self, size: int) -> str:
        """A dim of that size, which may be there already."""
        same = [d for d, n in self.sizes.items() if n == size and d not in self.open]
        if same and self.rng.random() < 0.4:
            return self.rng.choice(same)
        name = f"d{len(self.sizes)}"
        self.sizes[name] = size
        return name

    def pick(self, want: Callable[[Named], bool] = lambda a: True) -> str | None:
        """Something that is there and not complex: late ones more often."""
        return self._one_of(lambda a: a.dtype not in COMPLEX and want(a))

    def pick_complex(self, want: Callable[[Named], bool] = lambda a: True) -> str | None:
        return self._one_of(lambda a: a.dtype in COMPLEX and want(a))

    def _one_of(self, want: Callable[[Named], bool]) -> str | None:
        names = [n for n, a in self.values.items() if self.fits(a) and want(a)]
        if not names:
            return None
        return self.rng.choice(names[-4:] if self.rng.random() < 0.6 else names)

    def fits(self, a: Named) -> bool:
        """Its dims have the sizes that their names stand for: a slice has to be renamed first."""
        return all(self.sizes.get(d) == n for d, n in a.sizes.items())

    def pick_float(self) -> str | None:
        return self.pick(lambda a: named.is_float(a.dtype))

    def pick_with_dim(self, want: Callable[[Named], bool] = lambda a: True) -> tuple[str, str] | None:
        name = self.pick(lambda a: bool(a.dims) and want(a))
        return (name, self.rng.choice(self.values[name].dims)) if name else None

    # Values.

    def data(self, dtype: str, shape: Sequence[int]) -> np.ndarray:
        if dtype == "bool":
            return self.numbers.random(shape) < 0.5
        if dtype in INTS:
            small = self.numbers.integers(0 if dtype[0] == "u" else -9, 10, shape)
            if self.rng.random() < 0.2:
                limits = np.iinfo(dtype)
                return self.numbers.integers(limits.min, limits.max, shape, dtype, endpoint=True)
            return small.astype(dtype)
        values = self.numbers.standard_normal(shape)
        if dtype in COMPLEX:
            return values + 1j * self.numbers.standard_normal(shape)
        if self.kind.smooth:
            return values
        how = self.rng.random()
        if how < 0.3:
            values = np.round(values * 2)
        elif how < 0.4 and self.kind.specials and values.size:
            flat = values.reshape(-1)
            for _ in range(self.rng.randint(1, 3)):
                flat[self.rng.randrange(flat.size)] = self.rng.choice((np.nan, np.inf, -np.inf, 0.0, -0.0, 1e4, 1e-7))
        return values

    def rounded(self, values: np.ndarray, dims: Sequence[str], dtype: str) -> Named:
        if named.is_float(dtype):
            values = values.astype(named.native(dtype)).astype("float64")
        return named.exact(values, dims, dtype)

    def input(self, dtype: str | None = None, dims: Sequence[str] | None = None) -> str:
        dtype = dtype or self.rng.choice(self.kind.dtypes)
        if dims is None:
            dims = self.rng.sample(
                sorted(self.sizes), self.rng.randint(0 if self.inputs else 1, min(3, len(self.sizes)))
            )
            while np.prod([self.sizes[d] for d in dims]) > max(self.kind.largest, 33**3):
                dims = dims[1:]
        name = f"x{len(self.inputs)}"
        shape = [self.sizes[d] for d in dims]
        self.inputs[name] = self.values[name] = self.rounded(self.data(dtype, shape), dims, dtype)
        return name

    def position_input(self, dim: str, dims: Sequence[str], unsigned: bool = False) -> str | None:
        """An integer input of positions along a dim, negative ones among them."""
        n = self.sizes[dim]
        shape = [self.sizes[d] for d in dims]
        if n == 0 or self.depth or np.prod(shape) > self.kind.largest:
            return None
        dtypes = [d for d in self.kind.dtypes if d in INTS]
        name = f"x{len(self.inputs)}"
        dtype = self.rng.choice(dtypes or ["int64"])
        low = 0 if dtype[0] == "u" else -n
        values = self.numbers.integers(low, n, shape)
        self.inputs[name] = self.values[name] = named.exact(values, dims, dtype)
        self.positions[name] = dim
        return name

    def scaled(self, opened: dict[str, int]) -> Values | None:
        """Inputs of the same program at other sizes of its open dims."""
        found: Values = {}
        sizes = {**self.sizes, **opened}
        for name, a in self.inputs.items():
            shape = [sizes[d] for d in a.dims]
            if name in self.positions:
                n = sizes[self.positions[name]]
                if n == 0 and np.prod(shape, dtype=int) > 0:
                    return None
                low = 0 if a.dtype[0] == "u" else -n
                found[name] = named.exact(self.numbers.integers(low, max(n, 1), shape), a.dims, a.dtype)
            else:
                found[name] = self.rounded(self.data(a.dtype, shape), a.dims, a.dtype)
        return found

    # Statements.

    def add(
        self,
        op: str,
        args: Sequence[str],
        params: dict[str, Any] | None = None,
        blocks: Sequence[Block] = (),
        outs: int = 1,
    ) -> str | None:
        """The statement's (first) result, or None where it is not to be had."""
        s = Statement(tuple(self.fresh() for _ in range(outs)), op, tuple(args), params or {}, tuple(blocks))
        return s.outs[0] if self.accept(s) else None

    def accept(self, s: Statement) -> bool:
        try:
            with np.errstate(all="ignore"):
                results = OPERATIONS[s.op].meaning(s, [self.values[a] for a in s.args], self.values)
        except (UnknownError, RefusedError, MemoryError):  # the last: NumPy, on the way to a small result
            return False
        for a in results:
            too_large = a.value.size > self.kind.largest or len(a.dims) > 4
            lacking = a.dtype not in self.kind.dtypes
            if too_large or lacking or (a.value.size and np.isinf(a.error).all()):
                return False
            if (
                self.kind.smooth
                and (named.is_float(a.dtype) or a.dtype in COMPLEX)
                and not (np.abs(a.value) <= 1e4).all()
            ):
                return False
        self.values.update(zip(s.outs, results, strict=True))
        self.statements.append(s)
        return True

    def step(self) -> None:
        control = self.kind.control and self.depth < 2 and self.rng.random() < 0.08
        table = CONTROL if control else MAKING
        making = self.rng.choices([m for m, _ in table], [w for _, w in table])[0]
        before = len(self.statements)
        values = dict(self.values)
        if making(self) is None:
            # What it had added on the way does no harm, but is of no use.
            del self.statements[before:]
            fresh = {} if self.depth else {n: a for n, a in self.inputs.items() if n not in values}
            self.values = values | fresh

    @contextmanager
    def block(self, arguments: Sequence[Named]) -> Iterator[tuple[tuple[str, ...], list[Statement]]]:
        """Statements that are made inside go into a block with parameters like `arguments`."""
        outer, values = self.statements, self.values
        self.statements, self.values, self.depth = [], dict(values), self.depth + 1
        names = tuple(self.fresh("p") for _ in arguments)
        self.values.update(zip(names, arguments, strict=True))
        yield names, self.statements
        self.statements, self.values, self.depth = outer, values, self.depth - 1

    def some_steps(self, most: int = 3) -> None:
        if self.rng.random() < 0.1:  # a large body
            most = 12
        for _ in range(self.rng.randint(1, most)):
            self.step()

    def fitted(self, name: str, like: Named) -> str | None:
        """What `name` gives, made into the dims, sizes and dtype of `like`, or None."""
        at: str | None = name
        for d in [d for d in self.values[name].dims if d not in like.dims]:
            at = self.add("reduce", [at], {"kind": "sum", "dim": d}) if at else None
        if at and named.is_float(self.values[at].dtype):
            at = self.add("unary", [at], {"fn": "tanh"})
        if at and self.values[at].dtype != like.dtype:
            at = self.add("cast", [at], {"dtype": like.dtype})
        return at

    def joined(self, base: str, name: str | None) -> str | None:
        """`base` and something of `name`, of the type of `base`."""
        like = self.values[base]
        part = self.fitted(name, like) if name else None
        if part is None or like.dtype == "bool":
            result = part if part and self.values[part].type == like.type else None
        else:
            if named.is_float(like.dtype):
                half = self.add("scalar", [base], {"op": "*", "number": 0.5, "left": False})
            else:
                half = base
            result = self.add("binary", [half, part], {"op": "+"}) if half else None
        return result if result and self.values[result].type == like.type else None

    def program(self) -> Program:
        for _ in range(self.rng.randint(1, 3)):
            self.input("float64" if self.kind.smooth else None)
        wanted = self.rng.randint(*self.kind.statements)
        for _ in range(4 * wanted):
            if len(self.statements) >= wanted:
                break
            self.step()
        read = {a for s in self.statements for a in s.args}
        ends = [o for s in self.statements for o in s.outs if o not in read]
        results = tuple(ends[-4:] or list(self.values)[-1:])
        p = pruned(Program(dict(self.inputs), tuple(self.statements), results, self.open))
        self.inputs = p.inputs
        dims = {d for a in p.inputs.values() for d in a.dims}
        return dataclasses.replace(p, open=p.open & dims)
