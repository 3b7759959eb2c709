"""What a random program is run as, and what of it must agree with NumPy."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import complexes  # noqa: F401  (its ops)
import control  # noqa: F401
import counting  # noqa: F401
import drawing  # noqa: F401
import factors  # noqa: F401
import moving  # noqa: F401
import named
import numpy as np
import operations  # noqa: F401
import ordering  # noqa: F401
import products  # noqa: F401
import windows  # noqa: F401
import xtensor as xt
from maker import VERY_LARGE, Kind, Maker
from named import Named, RefusedError, UnknownError, native
from program import Program, Values


class WrongError(AssertionError):
    """The program gives something else than NumPy."""


@dataclass(frozen=True)
class Case:
    """A program in a mode, with all data: what a worker runs and the reducer changes."""

    mode: str
    program: Program
    others: tuple[Values, ...] = ()  # inputs at other sizes, or tangents
    device: str = "cpu"
    seed: int = 0
    batched: tuple[str, ...] = ()

    @property
    def how(self) -> str:
        """The call, for people."""
        opened = f", dynamic_dims={tuple(sorted(self.program.open))!r}" if self.program.open else ""
        device = f', device="{self.device}"' if self.device != "cpu" else ""
        calls = {
            "jit": f"xt.jit(f{device})({{arguments}})",
            "donate": f"xt.jit(f, donate={donated(self.program)}{device})({{arguments}})",
            "eager": "f({arguments})",
            "open": f"xt.jit(f{opened}{device})({{arguments}})  # and at other sizes",
            "bundle": f"xt.load(xt.export(f, ({{arguments}},)))({{arguments}})  # open: {sorted(self.program.open)}",
            "vectorize": f"xt.vectorize(f, 'batch')({{arguments}})  # instances of {self.batched}",
        }
        return calls.get(self.mode, f"xt.jit(f)({{arguments}})  # {self.mode}: the derivatives of f")


def donated(p: Program) -> tuple[int, ...]:
    """Every other argument."""
    return tuple(range(0, len(p.inputs), 2))


def array(a: Named, device: str = "cpu") -> Any:
    """Every third array is given as a view of NumPy's: backwards, or every other element of a longer one."""
    values = np.array(named.stored(a.value, a.dtype), order="C")
    how = sum(values.shape) % 6
    if values.ndim and how == 2:
        values = np.array(values[::-1], order="F")[::-1]
    elif values.ndim and how == 5:
        values = np.repeat(values, 2, -1)[..., ::2]
    made = xt.array(values, a.dims)
    return made if device == "cpu" else made.to(device)


def function(p: Program) -> Callable[..., Any]:
    scope: dict[str, Any] = {"xt": xt, "np": np}
    exec(compile(p.text(), "<program>", "exec"), scope)
    return scope["f"]


def compare(got: Any, want: Named, what: str) -> None:
    if not isinstance(got, xt.Array):  # a Python number that nothing was done to
        got = xt.array(got)
    if got.dtype != native(want.dtype):
        raise WrongError(f"{what}: dtype {got.dtype}, not {want.dtype}")
    if set(got.dims) != set(want.dims) or got.sizes != want.sizes:
        raise WrongError(f"{what}: {dict(got.sizes)}, not {want.sizes}")
    values = got.values.transpose([got.dims.index(d) for d in want.dims])
    if want.dtype in named.COMPLEX:
        with np.errstate(all="ignore"):
            bad = ~(np.abs(values.astype(np.clongdouble) - want.value) <= want.error) & (want.error != np.inf)
    elif not named.is_float(want.dtype):
        bad = (values != want.value) & (want.error == 0)
        if values.dtype == bool:  # any other byte than 0 and 1
            bad = bad | (np.array(values, order="C").view("u1") > 1)
    else:
        have = values.astype("float64").astype(np.longdouble)
        with np.errstate(all="ignore"):
            close = np.abs(have - want.value) <= want.error
        same = (have == want.value) | ((have != have) & (want.value != want.value)) | close
        # The nearest number of the dtype is right, too.
        same |= named.stored(want.value, want.dtype).astype("float64") == have.astype("float64")
        bad = ~same & (want.error != np.inf)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
        raise WrongError(
            f"{what}: {int(bad.sum())} of {bad.size} elements are wrong, the first at "
            f"{dict(zip(want.dims, place, strict=True))}: {values[place]!r}, not {want.value[place]!r} "
            f"(+- {float(want.error[place]):.3g})"
        )


def agree(results: Sequence[Any], wanted: Sequence[Named], names: Sequence[str], what: str) -> None:
    for got, want, name in zip(results, wanted, names, strict=True):
        compare(got, want, f"{what} {name}")


def expected(p: Program, inputs: Values | None = None) -> list[Named] | None:
    """None: an error is expected."""
    try:
        with np.errstate(all="ignore"):
            return p.evaluate(inputs)
    except RefusedError:
        return None


def owned(x: Any) -> Any:
    """The same values in memory of their own, as the result of a call has it."""
    return xt.jit(lambda y: y)(x)


def check_call(
    f: Callable[..., Any], p: Program, inputs: Values, device: str, what: str, taken: Sequence[int] = ()
) -> None:
    """taken: arguments that the call takes over. Some are views of NumPy's memory, which it copies."""
    want = expected(p, inputs)
    arrays = [array(inputs[n], device) for n in p.inputs]
    for i in taken:
        if arrays[i].size % 4:
            arrays[i] = owned(arrays[i])
    try:
        got = f(*arrays)
        [g.values for g in got if isinstance(g, xt.Array)]
    except (xt.DeviceError, xt.CompileError, MemoryError):
        raise
    except (xt.Error, IndexError, ValueError) as error:
        if want is None:
            return
        raise WrongError(f"{what}: {type(error).__name__}: {error!s:.300}") from None
    if want is None:
        raise WrongError(f"{what}: an error was expected (an index or an extremum over nothing)")
    agree(got, want, p.results, what)
    for i, (name, x) in enumerate(zip(p.inputs, arrays, strict=True)):
        check_taken(x, inputs[name], i in taken, f"{what} {name}")


def check_taken(x: Any, want: Named, is_taken: bool, what: str) -> None:
    """An argument after the call: using one that was taken over is an error, another one is as it was."""
    if not is_taken:
        compare(x, want, f"{what} after the call")
        return
    try:
        xt.isfinite(x)
    except xt.ArgumentError as error:
        if "took its memory" in str(error):
            return
    raise WrongError(f"{what}: a donated array is used, and there is no error")


def run_jit(c: Case) -> None:
    options: dict[str, Any] = {"donate": donated(c.program)} if c.mode == "donate" else {}
    f = function(c.program) if c.mode == "eager" else xt.jit(function(c.program), **options)
    taken = options.get("donate", ())
    check_call(f, c.program, c.program.inputs, c.device, c.mode, taken)
    check_call(f, c.program, c.program.inputs, c.device, f"{c.mode}, again", taken)


def run_open(c: Case) -> None:
    f = xt.jit(function(c.program), dynamic_dims=tuple(sorted(c.program.open)))
    for inputs in (c.program.inputs, *c.others, c.program.inputs):
        sizes = {d: n for a in inputs.values() for d, n in a.sizes.items() if d in c.program.open}
        check_call(f, c.program, inputs, c.device, f"open at {sizes}")


def run_bundle(c: Case) -> None:
    p = c.program
    specs = []
    for a in p.inputs.values():
        specs.append(xt.spec({d: None if d in p.open else n for d, n in a.sizes.items()}, dtype=a.dtype))
    if c.device == "cpu":
        loaded = xt.load(xt.export(function(p), tuple(specs), c=False, targets=bundle_target(c.seed)))
    else:
        loaded = xt.load(xt.export(function(p), tuple(specs), c=False, targets=(c.device,)), target=c.device)
    for inputs in (p.inputs, *c.others):
        check_call(loaded, p, inputs, c.device, "bundle")


@functools.cache
def processors() -> tuple[str, ...]:
    levels = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
    return ("cpu", *(f"cpu:{level}" for level in levels if xt._native.has_processor(level)))


def bundle_target(seed: int) -> str:
    """This machine's, and lesser ones: vectors of other widths."""
    return processors()[seed % len(processors())]


def run_vectorize(c: Case) -> None:
    """All instances at once give what NumPy gives for one after the other."""
    p, (batch,) = c.program, c.others
    count = next(iter(batch[n].sizes["batch"] for n in c.batched))
    wanted = []
    for i in range(count):
        inputs = {n: _instance(batch[n], i) if n in c.batched else a for n, a in p.inputs.items()}
        one = expected(p, inputs)
        if one is None:
            return
        wanted.append(one)
    arrays = [array(batch[n] if n in c.batched else a, c.device) for n, a in p.inputs.items()]
    results = xt.jit(xt.vectorize(function(p), "batch"))(*arrays)
    for r, (name, got) in enumerate(zip(p.results, results, strict=True)):
        parts = [w[r] for w in wanted]
        if "batch" not in got.dims:  # hangs on nothing that is batched
            compare(got, parts[0], f"vectorize {name}")
            continue
        value, error = np.stack([a.value for a in parts]), np.stack([a.error for a in parts])
        compare(got, Named(("batch", *parts[0].dims), parts[0].dtype, value, error), f"vectorize {name}")


def _instance(a: Named, i: int) -> Named:
    return named.moved(lambda v: v.take(i, a.axis("batch")), a, [d for d in a.dims if d != "batch"])


# Derivatives: of the sum of the results with weights, along a direction, by differences of the evaluation in long
# double.


@contextmanager
def _without_bounds() -> Any:
    named.bounds = False
    try:
        yield
    finally:
        named.bounds = True


def _weights(p: Program, wanted: Sequence[Named], seed: int) -> list[Named | None]:
    rng = np.random.default_rng(seed)
    return [
        named.exact(rng.standard_normal(w.value.shape), w.dims, "float64") if w.dtype == "float64" else None
        for w in wanted
    ]


def _loss_of(p: Program, weights: Sequence[Named | None], device: str) -> Callable[..., Any]:
    f = function(p)

    def loss(*xs: Any) -> Any:
        terms = [(y * array(w, device)).sum() for y, w in zip(f(*xs), weights, strict=True) if w is not None]
        return sum(terms[1:], terms[0])

    return loss


def _value(p: Program, weights: Sequence[Named | None], inputs: Values) -> Any:
    results = p.evaluate(inputs)
    return sum(
        ((y.value * w.value).sum() for y, w in zip(results, weights, strict=True) if w is not None), np.longdouble(0)
    )


def _moved_by(p: Program, along: Values, step: float) -> Values:
    return {
        n: Named(a.dims, a.dtype, a.value + np.longdouble(step) * along[n].value, a.error) if n in along else a
        for n, a in p.inputs.items()
    }


def _slopes(p: Program, weights: Sequence[Named | None], along: Values) -> tuple[float, float, float, float]:
    """The derivative, the second derivative along the direction, and how sure both are."""

    def at(step: float) -> Any:
        return _value(p, weights, _moved_by(p, along, step))

    with _without_bounds(), np.errstate(all="ignore"):
        here, h, k = at(0.0), 1e-6, 1e-4
        right, left = (at(h) - here) / h, (here - at(-h)) / h
        first = (at(h) - at(-h)) / (2 * h)
        half = (at(h / 2) - at(-h / 2)) / h
        second = (at(k) - 2 * here + at(-k)) / (k * k)
        finer = (at(k / 2) - 2 * here + at(-k / 2)) / (k * k / 4)
    scale = 1 + abs(float(here))
    curve = abs(float(finer)) * h
    kink = abs(float(right - left)) > 20 * curve + 1e-6 * (1 + abs(float(first)))
    unsure = abs(float(first - half)) * 8 + 1e-9 * scale
    return float(first), np.inf if kink else unsure, float(finer), abs(float(second - finer)) * 4 + 1e-5 * scale


def run_gradient(c: Case) -> None:
    p, (along,) = c.program, c.others
    wanted = p.evaluate()
    if any(w.error.size and w.error.max() > 1e-9 for w in wanted if w.dtype == "float64"):
        return
    weights = _weights(p, wanted, c.seed)
    if not any(w is not None for w in weights) or not along:
        return
    loss = _loss_of(p, weights, c.device)
    names = list(p.inputs)
    wrt = tuple(names.index(n) for n in along)
    arrays = [array(a, c.device) for a in p.inputs.values()]
    tangents = tuple(array(along[n], c.device) for n in along)
    # The modes are compared at kinks, too; differences say nothing there.
    gradients = xt.grad(loss, wrt=wrt)(*arrays)

    def of_some(*xs: Any) -> Any:
        full = list(arrays)
        for i, x in zip(wrt, xs, strict=True):
            full[i] = x
        return loss(*full)

    some = tuple(arrays[i] for i in wrt)
    value, forward = xt.jvp(of_some, some, tangents)
    for g, i in zip(gradients, wrt, strict=True):
        if g.dims != arrays[i].dims or g.dtype != arrays[i].dtype:
            raise WrongError(
                f"the gradient by {names[i]} is {g.dtype} {dict(g.sizes)}, the input {dict(arrays[i].sizes)}"
            )
    terms = [
        float((g.values * t.values.transpose([t.dims.index(d) for d in g.dims])).sum())
        for g, t in zip(gradients, tangents, strict=True)
    ]
    reverse, scale = sum(terms), 1 + sum(map(abs, terms)) + abs(float(value))
    if not abs(reverse - float(forward)) <= 1e-8 * scale:
        raise WrongError(f"reverse mode gives {reverse!r} along the direction, forward mode {float(forward)!r}")
    first, unsure, second, unsure2 = _slopes(p, weights, along)
    if np.isfinite(first) and np.isfinite(unsure) and not abs(reverse - first) <= unsure + 1e-7 * scale:
        raise WrongError(
            f"the derivative along the direction is {reverse!r}, by differences {first!r} (+- {unsure:.2g})"
        )
    if c.mode == "second" and np.isfinite(unsure):
        products = xt.hvp(of_some, some, tangents)
        products = products if isinstance(products, tuple) else (products,)
        if len(some) == 1 and some[0].size <= 30:
            square = xt.hessian(of_some)(*some).values.reshape(some[0].size, some[0].size)
            if not np.allclose(square, square.T, rtol=1e-7, atol=1e-8 * (scale + np.abs(square).max(initial=0.0))):
                raise WrongError(f"the Hessian differs from its transpose by {np.abs(square - square.T).max():.3g}")
        curve = sum(float((h * t).sum()) for h, t in zip(products, tangents, strict=True))
        if (
            np.isfinite(second)
            and unsure2 < 1e-2 * scale
            and not abs(curve - second) <= unsure2 * 4 + 1e-4 * (scale + abs(second))
        ):
            raise WrongError(
                f"the second derivative along the direction is {curve!r}, by differences {second!r} (+- {unsure2:.2g})"
            )


RUN: dict[str, Callable[[Case], None]] = {
    "jit": run_jit, "donate": run_jit, "eager": run_jit, "open": run_open, "bundle": run_bundle,
    "vectorize": run_vectorize, "gradient": run_gradient, "second": run_gradient,
}  # fmt: skip
# Not those that need float64: Metal has no such.
DEVICE_SHARES = {"jit": 6, "open": 4, "bundle": 1.5, "vectorize": 2, "donate": 0.5}
FAMILIES = (
    ("int64", "uint64", "float64", "bool"),
    ("float32", "float64", "complex64", "complex128", "bool"),
    ("bfloat16", "float16", "float32", "int8", "bool"),
    ("int8", "uint8", "int16", "uint64", "float16"),
)
"""dtypes that meet more often than by chance."""
SHARES = {"jit": 6, "open": 4, "bundle": 2, "gradient": 4, "second": 2, "vectorize": 3, "donate": 0.5, "eager": 0.3}
SMOOTH = ("bool", "int64", "int32", "uint8", "float64", "complex128")


def kind_of(mode: str, device: str, rng: random.Random) -> Kind:
    if mode in ("gradient", "second"):
        sizes = (1, 2, 3, 4, 5, 7, 9, 17, *((25, 50, 101) if rng.random() < 0.2 else ()))
        return Kind(dtypes=SMOOTH, smooth=True, specials=False, statements=(2, 7), sizes=sizes)
    dtypes = rng.choice(FAMILIES) if rng.random() < 0.25 else Kind.dtypes
    if device == "metal":
        dtypes = tuple(d for d in dtypes if d not in ("float64", "complex128"))
    opened = mode in ("open", "bundle")
    if mode in ("jit", "open", "donate") and rng.random() < 0.02:  # several threads take part
        return Kind(dtypes, (3, 257, 300, 401), opened, statements=(2, 5), control=False, largest=VERY_LARGE)
    sizes = (1, 2, 3, 5, 8, 13) if mode == "vectorize" else Kind.sizes
    return Kind(dtypes=dtypes, opened=opened, sizes=sizes)


def case(seed: int, device: str = "cpu", mode: str | None = None) -> Case:
    rng = random.Random(f"case {seed}")
    shares = SHARES if device == "cpu" else DEVICE_SHARES
    if device not in ("cpu", "metal"):
        shares = {**shares, "gradient": 2, "second": 0.5}
    drawn = rng.choices(list(shares), list(shares.values()))[0]
    mode = mode or drawn  # a program that failed is made again in the mode that was drawn
    maker = Maker(f"{seed} {mode}", kind_of(mode, device, rng))
    p = maker.program()
    others: list[Values] = []
    batched: tuple[str, ...] = ()
    if mode in ("open", "bundle"):
        for _ in range(2):
            sizes = {d: rng.choice((0, 1, 2, 3, 7, 16, 33, 64)) for d in sorted(p.open)}
            found = maker.scaled(sizes)
            if found is not None:
                others.append(found)
    elif mode in ("gradient", "second"):
        along = {n: a for n, a in p.inputs.items() if a.dtype == "float64"}
        others.append(
            {n: named.exact(maker.numbers.standard_normal(a.value.shape), a.dims, a.dtype) for n, a in along.items()}
        )
    elif mode == "vectorize":
        batched = tuple(rng.sample(list(p.inputs), rng.randint(1, len(p.inputs))))
        count = rng.randint(1, 4)
        stacked = [maker.scaled({}) for _ in range(count)]
        if all(s is not None for s in stacked):
            others.append({n: _stacked([s[n] for s in stacked if s is not None], rng) for n in batched})
    return Case(mode, p, tuple(others), device, seed, batched)


def _stacked(parts: Sequence[Named], rng: random.Random) -> Named:
    """Instances along a dim that lies anywhere."""
    axis = rng.randint(0, len(parts[0].dims))
    dims = list(parts[0].dims)
    dims.insert(axis, "batch")
    return Named(
        tuple(dims), parts[0].dtype, np.stack([a.value for a in parts], axis), np.stack([a.error for a in parts], axis)
    )


def check(c: Case) -> str:
    """Runs a case: "done", or why it says nothing. Raises WrongError for a wrong program."""
    try:
        RUN[c.mode](c)
    except UnknownError:
        return "unknown"
    except xt.DeviceError as error:
        if "has no" in str(error) or "steps that a kernel" in str(error):
            return "refused"
        raise
    except (xt.Error, ArithmeticError, IndexError, ValueError, TypeError) as error:
        raise WrongError(f"{c.mode}: {type(error).__name__}: {error!s:.400}") from error
    return "done"


def without(c: Case, program: Program) -> Case:
    """The case with another program."""
    others = tuple({n: a for n, a in values.items() if n in program.inputs} for values in c.others)
    return replace(c, program=program, others=others, batched=tuple(n for n in c.batched if n in program.inputs))
