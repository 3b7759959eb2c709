"""Elementary functions as kernels compute them: how far they are from the truth, in units in the last place.

`xtensor-expand-scalar-math` writes them as arithmetic; the CPU runs that arithmetic here, without any library and
without fused operations, as a device does: one whose quotients and roots are rounded correctly, and one whose are off
by 4 units.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import mpmath
import numpy as np
import pytest
from functions import FUNCTIONS, OF_TWO, Function
from special_functions import SPECIAL as SEVERAL
from special_functions import exactly as exactly_of_several
from test_accuracy import WIDER, arguments, check, exactly

# By the names of ops.
PAIRS = {
    "atan2": OF_TWO["atan2"],
    "divf": Function(np.divide, (0.5, 0.5), (0.501, 0.501)),
    "powf": OF_TWO["pow"],
}
EXACT = ["trunc", "round", "copysign", "remf"]
TWO_OPERANDS = {*PAIRS, "copysign", "remf"}
OF_ARITH = {"divf", "remf"}
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    1e30,
    -1e30,
    1e-30,
    3e38,
    1e-45,
]

Run = Callable[..., np.ndarray]

LOOP = """
func.func @{name}_{type}(%n: i64, %x: !llvm.ptr, %y: !llvm.ptr, %z: !llvm.ptr, %out: !llvm.ptr) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {{
    %at_x = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {type}
    %at_y = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {type}
    %at_z = llvm.getelementptr %z[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {type}
    %at_out = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {type}
    %a = llvm.load %at_x : !llvm.ptr -> {type}
    %b = llvm.load %at_y : !llvm.ptr -> {type}
    %c = llvm.load %at_z : !llvm.ptr -> {type}
    %r = {op} {operands} : {type}
    llvm.store %r, %at_out : {type}, !llvm.ptr
  }}
  return
}}
"""
OF_MATH = ("exp", "expm1")  # by arithmetic on the CPU, too, and yet ops of the dialect math
TO_LLVM = (
    "convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,"
    "convert-func-to-llvm,reconcile-unrealized-casts"
)


def loops() -> str:
    """One loop over arrays per function and type."""
    text = ""
    for name in [*FUNCTIONS, *PAIRS, *EXACT, *SEVERAL]:
        for kind in ("f32", "f64"):
            operands = "%a, %b" if name in TWO_OPERANDS else "%a"
            op = f"{'arith' if name in OF_ARITH else 'math'}.{name}"
            if name in SEVERAL:
                operands = ", ".join(["%a", "%b", "%c"][: SEVERAL[name].arity])
            if name in SEVERAL or (name in FUNCTIONS and FUNCTIONS[name].by == "arithmetic" and name not in OF_MATH):
                op = f'xtensor.elementary "{name}"'
            text += LOOP.format(name=name, type=kind, op=op, operands=operands)
    return text


def spoil(text: str) -> str:
    """Every quotient and root off by 2 to 4 units."""

    def off(match: re.Match[str]) -> str:
        number, operation, kind = match.groups()
        factor = 1 + 2.0 ** (-22 if kind == "f32" else -51)
        return (
            f"%raw{number} = {operation} : {kind}\n%factor{number} = arith.constant {factor!r} : {kind}\n"
            f"%{number} = arith.mulf %raw{number}, %factor{number} : {kind}"
        )

    return re.sub(r"%(\w+) = ((?:arith\.divf|math\.sqrt) .*) : (f32|f64)", off, text)


@pytest.fixture(scope="module", params=["exact", "inexact"])
def run(
    request: pytest.FixtureRequest, xtensor_opt: Callable[[str, str], str], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """Calls a function by name on arrays of f4 or f8."""
    tools = Path(os.environ.get("XTENSOR_LLVM_BIN", "/usr/lib/llvm-22/bin"))
    exact = request.param == "exact"
    arithmetic = xtensor_opt(f"--xtensor-expand-scalar-math={'' if exact else 'inexact=f32,f64'}", loops())
    assert set(re.findall(r"math\.\w+", arithmetic)) == {"math.absf", "math.floor", "math.sqrt"}
    if not exact:
        arithmetic = spoil(arithmetic)
        assert "%raw" in arithmetic
    module = xtensor_opt(f"--pass-pipeline=builtin.module({TO_LLVM})", arithmetic)
    command = [tools / "mlir-translate", "--mlir-to-llvmir"]
    code = subprocess.run(command, input=module, capture_output=True, text=True, check=True).stdout
    path = tmp_path_factory.mktemp("math") / "math.so"
    command = [
        tools / "clang",
        "-O1",
        "-ffp-contract=off",
        "-fPIC",
        "-shared",
        "-w",
        "-x",
        "ir",
        "-",
        "-lm",
        "-o",
        path,
    ]
    subprocess.run(command, input=code, text=True, check=True)
    library = ctypes.CDLL(os.fspath(path))

    def call(name: str, *operands: np.ndarray) -> np.ndarray:
        x, y, z = (np.ascontiguousarray(operands[min(i, len(operands) - 1)]) for i in range(3))
        out = np.empty_like(x)
        function = getattr(library, f"{name}_f{8 * x.itemsize}")
        function(ctypes.c_int64(x.size), *(ctypes.c_void_p(a.ctypes.data) for a in (x, y, z, out)))
        return out

    return call


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    x, y = arguments(dtype), arguments(dtype, seed=1)
    count = min(x.size, y.size)
    return x[:count], np.random.default_rng(2).permutation(y)[:count]


@pytest.mark.sampled(48)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_in_ulp(run: Run, name: str, dtype: str) -> None:
    x, exact = exactly(name, dtype)
    check(name, run(name, x), exact, FUNCTIONS[name].device[dtype == "f8"], x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_in_ulp(run: Run, name: str, dtype: str) -> None:
    f = PAIRS[name]
    x, y = pairs(dtype)
    if name == "powf":
        x = np.abs(x)
    with np.errstate(all="ignore"):
        exact = f.exact(x.astype(WIDER[dtype]), y.astype(WIDER[dtype]))
    check(name, run(name, x, y), exact, f.device[dtype == "f8"], x, y)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", SEVERAL)
def test_special_functions_in_ulp(run: Run, name: str, dtype: str) -> None:
    operands, exact = exactly_of_several(name, dtype)
    check(name, run(name, *operands), exact, SEVERAL[name].device[dtype == "f8"], *operands)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_powers_of_negative_numbers(run: Run, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = -rng.uniform(0.1, 10, 10_000).astype(dtype), rng.integers(-30, 30, 10_000).astype(dtype)
    y[::4] += 0.5
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(WIDER[dtype]), y.astype(WIDER[dtype]))
    check("powf", run("powf", x, y), exact, PAIRS["powf"].device[0], x, y)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(run: Run, name: str, dtype: str) -> None:
    """As C's libm, the sign of zero included."""
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL, dtype)
        f = FUNCTIONS[name]
        want = f.exact(x.astype("f8" if f.precise else WIDER[dtype])).astype(dtype)
    got = run(name, x)
    tiny = np.finfo(dtype).smallest_subnormal
    atol = 2 * np.finfo(dtype).eps if f.amplitude else tiny
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(dtype).eps, atol=atol)
    zero = (want == 0) & (got == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", [*PAIRS, "copysign", "remf"])
def test_special_pairs(run: Run, name: str, dtype: str) -> None:
    """As C's libm, the sign of zero included."""
    reference = {"copysign": np.copysign, "remf": np.fmod}.get(name) or PAIRS[name].exact
    with np.errstate(all="ignore"):
        x, y = (v.ravel() for v in np.meshgrid(*[np.array(SPECIAL, dtype)] * 2))
        want = reference(x.astype(WIDER[dtype]), y.astype(WIDER[dtype])).astype(dtype)
    got = run(name, x, y)
    np.testing.assert_allclose(got, want, rtol=2 * np.finfo(dtype).eps, atol=np.finfo(dtype).smallest_subnormal)
    zero = (want == 0) & (got == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_exact_functions(run: Run, dtype: str) -> None:
    x, y = pairs(dtype)
    np.testing.assert_array_equal(run("trunc", x), np.trunc(x))
    np.testing.assert_array_equal(run("copysign", x, y), np.copysign(x, y))
    away = np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0)
    np.testing.assert_array_equal(run("round", x), away)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run("remf", x, y), np.fmod(x, y))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_next_to_multiples_of_a_quarter(run: Run, name: str, dtype: str) -> None:
    """The floats nearest to multiples of pi/2, at every exponent: most places cancel."""
    with mpmath.workdps(400):
        multiples = [mpmath.pi / 2 * k * 2**e for e in range(0, 120, 7) for k in (1, 2, 3, 1001, 123457)]
        x = np.array([float(m) for m in multiples if dtype == "f8" or abs(m) < 3e38]).astype(dtype)
        if dtype == "f8":
            x = np.append(x, 6381956970095103.0 * 2.0**797)  # the worst of all
        exact = np.array([np.longdouble(str(getattr(mpmath, name)(mpmath.mpf(float(v))))) for v in x])
    check(name, run(name, x), exact.astype(WIDER[dtype]), FUNCTIONS[name].device[0], x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_powers_near_overflow(run: Run, dtype: str) -> None:
    """Where the exponent multiplies the logarithm's error most."""
    rng = np.random.default_rng(0)
    x = (1 + rng.uniform(-0.3, 0.45, 20_000)).astype(dtype)
    limit = 87 if dtype == "f4" else 708
    y = (rng.choice([-1, 1], x.size) * rng.uniform(limit / 2, limit, x.size) / np.log(x.astype("f8"))).astype(dtype)
    exact = np.power(x.astype(WIDER[dtype]), y.astype(WIDER[dtype]))
    check("powf", run("powf", x, y), exact, PAIRS["powf"].device[0], x, y)


def test_powers_of_the_base_have_exact_logarithms(run: Run) -> None:
    k = np.arange(-1074, 1024)
    np.testing.assert_array_equal(run("log2", np.ldexp(1.0, k)), k)
    np.testing.assert_array_equal(run("exp2", k.astype("f8")), np.ldexp(1.0, k))
    k = np.arange(-149, 128)
    np.testing.assert_array_equal(run("log2", np.ldexp(1.0, k).astype("f4")), k)
    np.testing.assert_array_equal(run("exp2", k.astype("f4")), np.ldexp(1.0, k).astype("f4"))
