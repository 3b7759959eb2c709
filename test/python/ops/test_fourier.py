"""xt.fft: transforms of every kind against SciPy, with bounds on the error, and the order and labels of frequencies."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.fft as sf
import xarray as xr
import xtensor as xt
from places import DEVICE
from thread_count import threads

RNG = np.random.default_rng(11)
# One element, matrices, splits of one and more levels, two tables of factors, and Bluestein's, of larger primes, too,
# of which one in ten thousands takes a device that a CPU stands in for 25 s.
SIZES = (1, 2, 5, 30, 37, 64, 67, 74, 360, 1024, 2187, 10007 if DEVICE == "cpu" else 1009)
NORMS = ("backward", "ortho", "forward")
# Errors are root mean squares over those of the values, in units of eps.
BOUND = 4
EPS = {"f4": 2.0**-23, "f8": 2.0**-52}


def numbers(dtype: str, *shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def check(got: Any, want: np.ndarray, dtype: str, dims: tuple[str, ...]) -> None:
    assert got.dims == dims
    assert got.shape == want.shape
    assert got.dtype.itemsize == np.dtype(dtype).itemsize * (2 if want.dtype.kind == "c" else 1)
    error = np.sqrt(np.mean(np.abs(got.values - want) ** 2) / np.mean(np.abs(want) ** 2))
    assert error <= BOUND * EPS[dtype], f"{error / EPS[dtype]:.2f} eps"


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", SIZES)
def test_transforms_of_any_size(n: int, dtype: str) -> None:
    x = numbers("f8", 3, n).astype(dtype)
    z = (x + 1j * numbers("f8", 3, n)).astype("c8" if dtype == "f4" else "c16")
    xa, za = xt.array(x, ("b", "t")), xt.array(z, ("b", "t"))
    wide, wide_x = z.astype("c16"), x.astype("f8")

    def all_of(v: Any, w: Any) -> list[Any]:
        half = xt.fft.rfft(v, "t")
        return [xt.fft.fft(w, "t"), xt.fft.ifft(w, "t"), half, xt.fft.irfft(half, "t", n=n),
                xt.fft.hfft(w, "t", n=n), xt.fft.ihfft(v, "t")]  # fmt: skip

    want = [sf.fft(wide), sf.ifft(wide), sf.rfft(wide_x), wide_x, sf.hfft(wide, n=n), sf.ihfft(wide_x)]
    for got, expected in zip(xt.jit(all_of)(xa, za), want, strict=True):
        check(got, expected, dtype, ("b", "t"))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [2, 5, 64])
def test_cosines_and_sines(n: int, kind: int, norm: str) -> None:
    x = numbers("f8", n, 3)
    names = ("dct", "idct", "dst", "idst")
    got = xt.jit(lambda a: [getattr(xt.fft, f)(a, "t", type=kind, norm=norm) for f in names])(xt.array(x, ("t", "b")))
    for f, y in zip(names, got, strict=True):
        check(y, getattr(sf, f)(x, type=kind, norm=norm, axis=0), "f8", ("t", "b"))


def test_one_cosine() -> None:
    for kind in (2, 3, 4):
        got = xt.fft.dct(xt.array([3.0], "t"), type=kind)
        np.testing.assert_allclose(got.values, sf.dct([3.0], type=kind), rtol=1e-15)


def test_several_dims_sizes_and_norms() -> None:
    x = numbers("f8", 4, 6, 5)
    z = x + 1j * numbers("f8", 4, 6, 5)
    dims = ("b", "y", "x")
    xa, za = xt.array(x, dims), xt.array(z, dims)
    check(xt.fft.fft(za), sf.fftn(z), "f8", dims)
    check(xt.fft.fft(za, "y", n=4, norm="ortho"), sf.fft(z, 4, axis=1, norm="ortho"), "f8", dims)
    check(xt.fft.ifft(za, ("y", "x"), n={"y": 9}), sf.ifftn(z, (9, 5), axes=(1, 2)), "f8", dims)
    check(xt.fft.rfft(xa, ("x", "y")), sf.rfftn(x, axes=(2, 1)), "f8", dims)
    for norm in NORMS:
        half = xt.fft.rfft(xa, ("y", "x"), norm=norm)
        check(half, sf.rfftn(x, axes=(1, 2), norm=norm), "f8", dims)
        check(xt.fft.irfft(half, ("y", "x"), n={"x": 5}, norm=norm), x, "f8", dims)
        check(xt.fft.hfft(za, "x", norm=norm), sf.hfft(z, norm=norm), "f8", dims)
        check(xt.fft.fft(za, "x", norm=norm), sf.fft(z, norm=norm), "f8", dims)
    check(xt.fft.dct(xa, ("y", "x"), norm="ortho"), sf.dctn(x, axes=(1, 2), norm="ortho"), "f8", dims)
    check(xt.fft.dct(xa, "x", n=3), sf.dct(x, n=3), "f8", dims)


@pytest.mark.parametrize("dims", ["a", "b", "c", "ab", "bc", "ca", "abc"])
def test_all_numbers_of_a_real_array(dims: str) -> None:
    """Of which half are computed and half are mirrored, wherever the dims are stored; by sizes, too."""
    for shape in ((3, 4, 5), (1, 8, 2), (7, 6, 9)):
        x = numbers("f8", *shape)
        axes = tuple("abc".index(d) for d in dims)
        check(xt.fft.fft(xt.array(x, ("a", "b", "c")), tuple(dims)), sf.fftn(x, axes=axes), "f8", ("a", "b", "c"))
        sizes = {d: x.shape["abc".index(d)] + 2 for d in dims}
        want = sf.fftn(x, [sizes[d] for d in dims], axes)
        turned = xt.jit(lambda x, sizes=sizes: xt.fft.fft(xt.transpose(x, "c", "b", "a"), tuple(dims), n=sizes))
        check(turned(xt.array(x, ("a", "b", "c"))).transpose("a", "b", "c"), want, "f8", ("a", "b", "c"))
        sums = xt.jit(xt.grad(lambda x: xt.sum(xt.square(xt.abs(xt.fft.fft(x, tuple(dims)))))))
        count = np.prod([x.shape[a] for a in axes])
        slope = sums(xt.array(x, ("a", "b", "c"))).values
        np.testing.assert_allclose(slope, 2 * count * x, rtol=1e-10, atol=1e-12 * count)


def test_views_are_transformed_where_they_lie() -> None:
    """Steps, negative ones, permuted dims, and pairs that are not adjacent: the parts of a transposed array."""
    z = numbers("f8", 6, 5, 8) + 1j * numbers("f8", 6, 5, 8)
    za, dims = xt.array(z, ("b", "t", "s")), ("b", "t", "s")
    check(xt.fft.fft(za[::2, :, 1::3], "s"), sf.fft(z[::2, :, 1::3]), "f8", dims)
    check(xt.fft.ifft(za[::-1, ::-1], "t"), sf.ifft(z[::-1, ::-1], axis=1), "f8", dims)
    turned = xt.array(z.transpose(2, 0, 1)[:, ::-1, 1:], ("s", "b", "t"))
    check(xt.fft.fft(turned, ("t", "s")), sf.fftn(z.transpose(2, 0, 1)[:, ::-1, 1:], axes=(0, 2)), "f8", turned.dims)
    part = xt.array(z.real[1:, ::-2, 2:], dims)
    check(xt.fft.rfft(part, ("s", "t")), sf.rfftn(z.real[1:, ::-2, 2:], axes=(2, 1)), "f8", dims)

    def inside(v: Any) -> Any:
        y = xt.fft.fft(v.isel(s=slice(None, None, 2)).transpose("s", "b", "t"), "t")
        return xt.fft.irfft(xt.complex(y.real, y.imag).transpose("b", "s", "t"), "t", n=5)

    check(xt.jit(inside)(za), sf.irfft(sf.fft(z[:, :, ::2], axis=1).transpose(0, 2, 1), 5), "f8", ("b", "s", "t"))


def test_nan_and_infinity_reach_every_value_of_their_row() -> None:
    x = np.ones((3, 8))
    x[0, 2], x[1, 3] = np.nan, np.inf
    y = xt.fft.fft(xt.array(x, ("b", "t")), "t").values
    assert not np.isfinite(y[:2]).any()
    np.testing.assert_allclose(y[2], sf.fft(x[2]), atol=1e-14)


def test_no_rows_and_one_element() -> None:
    x = xt.array(np.zeros((0, 4)), ("b", "t"))
    assert xt.fft.fft(x, "t").sizes == {"b": 0, "t": 4}
    assert xt.fft.rfft(x, "t").sizes == {"b": 0, "t": 3}
    assert xt.fft.irfft(x, "t").sizes == {"b": 0, "t": 6}
    one = xt.fft.ifft(xt.array([[3 + 4j]], ("b", "t")), norm="ortho")
    assert one.item() == 3 + 4j


@pytest.mark.cpu_only("kernels need to know the sizes of what they transform")
def test_sizes_that_are_open() -> None:
    z = numbers("f8", 3, 40) + 1j * numbers("f8", 3, 40)
    for norm in NORMS:
        f = xt.jit(lambda v, norm=norm: xt.fft.fft(v, "t", norm=norm), dynamic_dims=("b", "t"))
        g = xt.jit(lambda v, norm=norm: xt.fft.ifft(v, norm=norm), dynamic_dims=("b", "t"))
        for n in (40, 7, 1):
            za = xt.array(z[:, :n], ("b", "t"))
            check(f(za), sf.fft(z[:, :n], norm=norm), "f8", ("b", "t"))
            check(g(za), sf.ifftn(z[:, :n], norm=norm), "f8", ("b", "t"))
    loss = xt.jit(xt.grad(lambda v: (abs(xt.fft.fft(v, "t")) ** 2).sum()), dynamic_dims=("t",))
    for n in (6, 11):
        x = numbers("f8", n)
        np.testing.assert_allclose(loss(xt.array(x, "t")).values, 2 * n * x, rtol=1e-12)


def test_derivatives_of_second_order() -> None:
    def f(x: Any) -> Any:
        z = xt.fft.rfft(x * x, ("a", "t"))
        y = xt.fft.irfft(z * abs(z), ("a", "t"), n={"t": 5})
        return (xt.fft.ifft(xt.complex(y, x)).imag ** 3).sum()

    xt.testing.check_gradients(f, [xt.array(RNG.uniform(0.3, 0.9, (2, 5)), ("a", "t"))], order=2)


@pytest.mark.cpu_only("threads of the CPU")
def test_threads_give_the_same_numbers() -> None:
    z = numbers("f4", 64, 1024) + 1j * numbers("f4", 64, 1024)
    za = xt.array(z.astype("c8"), ("b", "t"))
    with threads(1):
        want = [xt.fft.fft(za, dims).values for dims in ("b", "t", ("b", "t"))]
    with threads(4):
        for dims, y in zip(("b", "t", ("b", "t")), want, strict=True):
            np.testing.assert_array_equal(xt.fft.fft(za, dims).values, y)
    check(xt.fft.fft(za), sf.fftn(z), "f4", ("b", "t"))


# The result has 16 MiB; the plan of a prime takes several times that.
NO_MEMORY = """
import resource
import numpy as np
import xtensor as xt

x = xt.array(np.ones(2097143, "c8"), "t")
f = xt.jit(lambda v: xt.fft.ifft(v, "t")).lower(x).compile()
there = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (there + (24 << 20),) * 2)
try:
    f(x)
except xt.MemoryError as error:
    print("refused:", error)
"""


@pytest.mark.cpu_only("memory of the CPU")
def test_no_memory_for_a_plan() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MEMORY], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused:"), done.stdout


def test_dtypes() -> None:
    def of(dtype: str) -> str:
        return str(xt.fft.fft(xt.ones(t=4, dtype=dtype), "t").dtype)

    assert [of(d) for d in ("f2", "f4", "f8", "i4", "c8", "bool")] == [
        "complex64", "complex64", "complex128", "complex128", "complex64", "complex128",
    ]  # fmt: skip
    assert xt.fft.dct(xt.ones(t=4, dtype="f2"), "t").dtype == "f4"


def test_transforms_in_loops_batches_and_open_sizes() -> None:
    z = numbers("f8", 3, 4) + 1j * numbers("f8", 3, 4)
    za = xt.array(z, ("b", "t"))
    check(xt.vectorize(lambda v: xt.fft.fft(v), "b")(za), sf.fft(z), "f8", ("b", "t"))
    f = xt.jit(lambda v: xt.fft.ifft(v, "t"), dynamic_dims=("b",))
    for n in (3, 2):
        check(f(za[:n]), sf.ifft(z[:n]), "f8", ("b", "t"))
    last, rows = xt.scan(lambda c, v: (c + xt.fft.fft(v), xt.fft.fft(v)), xt.zeros(t=4, dtype="c16"), za, dim="b")
    check(rows, sf.fft(z), "f8", ("b", "t"))
    check(last, sf.fft(z).sum(0), "f8", ("t",))


@pytest.mark.cpu_only("the bundle is for the CPU")
def test_a_bundle_transforms(tmp_path: Any) -> None:
    x = numbers("f4", 3, 40)
    f = lambda v: (xt.fft.rfft(v, "t"), xt.fft.irfft(xt.fft.rfft(v, "t"), "t"))  # noqa: E731
    path = xt.export(f, args=(xt.spec(b=3, t=40, dtype="f4"),), path=tmp_path / "f.xtb")
    half, back = xt.load(path)(xt.array(x, ("b", "t")))
    check(half, sf.rfft(x.astype("f8")), "f4", ("b", "t"))
    check(back, x, "f4", ("b", "t"))
    with pytest.raises(xt.DimensionError, match="devices and bundles need a static one"):
        xt.export(lambda v: xt.fft.fft(v, "t"), args=(xt.spec(t=None, dtype="c8"),), path=tmp_path / "g.xtb")


def test_frequencies() -> None:
    for n in (1, 7, 8):
        np.testing.assert_array_equal(xt.fft.fftfreq(n, 0.5, dim="k").values, sf.fftfreq(n, 0.5))
        np.testing.assert_array_equal(xt.jit(lambda n=n: xt.fft.rfftfreq(n, dim="k"))().values, sf.rfftfreq(n))
        x = np.arange(2.0 * n).reshape(2, n)
        a = xt.array(x, ("b", "t"))
        np.testing.assert_array_equal(xt.fft.fftshift(a, "t").values, sf.fftshift(x, 1))
        np.testing.assert_array_equal(xt.fft.ifftshift(a).values, sf.ifftshift(x))
        shift = xt.jit(lambda v: (xt.fft.fftshift(v, "t"), xt.fft.ifftshift(v, "t")), dynamic_dims=("t",))
        for got, want in zip(shift(a), (sf.fftshift(x, 1), sf.ifftshift(x, 1)), strict=True):
            np.testing.assert_array_equal(got.values, want)
    assert xt.fft.fftfreq(4, dim="k", dtype="f4").dtype == "f4"


def test_the_program_of_many_frequencies_does_not_hold_them() -> None:
    for n in (200_001, 1 << 18):
        for mine, theirs in ((xt.fft.fftfreq, sf.fftfreq), (xt.fft.rfftfreq, sf.rfftfreq)):
            f = xt.jit(lambda n=n, mine=mine: mine(n, 0.3, dim="k"))
            np.testing.assert_allclose(f().values, theirs(n, 0.3), rtol=4e-16)
            np.testing.assert_array_equal(f().values, mine(n, 0.3, dim="k").values)
            assert len(f.lower().as_text("traced")) < 2500
    cosines = xt.jit(lambda x: xt.fft.dct(x, "t", norm="ortho"))
    x = np.random.default_rng(0).normal(size=1 << 17)
    np.testing.assert_allclose(cosines(xt.array(x, "t")).values, sf.dct(x, norm="ortho"), atol=1e-9)
    assert len(cosines.lower(xt.array(x, "t")).as_text("traced")) < 5000


def test_labels_of_other_dims_stay_and_shifted_ones_move() -> None:
    x = xr.DataArray(np.ones((2, 4)), dims=("b", "t"), coords={"b": [5, 6], "t": [0, 1, 2, 3]})
    assert list(xt.fft.rfft(x, "t").coords) == list(xt.fft.fft(x, "t").coords) == ["b"]
    assert xt.fft.fftshift(x, "t").t.values.tolist() == [2, 3, 0, 1]


X = xt.ones(b=2, t=4)
ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "dim": (lambda: xt.fft.fft(X, "q"), xt.DimensionError, "xt.fft.fft: there is no dim 'q'"),
    "axis": (lambda: xt.fft.fft(X, 1), xt.ArgumentTypeError, "write dim='t'"),
    "no dim": (lambda: xt.fft.fft(X, ()), xt.DimensionError, "no dim to transform along"),
    "norm": (lambda: xt.fft.rfft(X, "t", norm="no"), xt.ArgumentError, "norm is one of"),
    "several sizes": (lambda: xt.fft.fft(X, n=4), xt.ArgumentError, r'Write n=\{"b": 4\}'),
    "another size": (lambda: xt.fft.fft(X, "t", n={"b": 4}), xt.DimensionError, "n has a size for 'b'"),
    "no size": (lambda: xt.fft.fft(X, "t", n=0), xt.SizeError, "at least one element"),
    "empty": (lambda: xt.fft.fft(xt.zeros(t=0), "t"), xt.SizeError, "at least one element"),
    "complex": (lambda: xt.fft.rfft(X * 1j, "t"), xt.DTypeError, r"takes real arrays.*Write xt.fft.fft\(z\)"),
    "complex cosine": (lambda: xt.fft.dct(X * 1j, "t"), xt.DTypeError, "z.real and z.imag"),
    "one value": (lambda: xt.fft.irfft(X[:, :1], "t"), xt.SizeError, r'n=\{"t": 1\}'),
    "types": (lambda: xt.fft.dct(X, "t", type=[2]), xt.ArgumentError, r"type is 1, 2, 3 or 4, not \[2\]"),
    "type": (lambda: xt.fft.dct(X, "t", type=5), xt.ArgumentError, "type is 1, 2, 3 or 4, not 5"),
    "type 1": (lambda: xt.fft.dct(xt.ones(t=1), type=1), xt.SizeError, "at least two elements"),
    "frequencies": (lambda: xt.fft.fftfreq(0, dim="t"), xt.ArgumentError, "n is 0"),
    "spacing": (lambda: xt.fft.fftfreq(3, 0, dim="t"), xt.ArgumentError, "d is 0"),
    "integers": (lambda: xt.fft.fftfreq(3, dim="t", dtype="i4"), xt.DTypeError, "frequencies are floats"),
    "open": (
        lambda: xt.jit(lambda v: xt.fft.rfft(v, "t"), dynamic_dims=("t",))(X), xt.DimensionError, "is dynamic",
    ),
    "fft2": (lambda: xt.fft.fft2, AttributeError, r'write xt.fft.fft\(x, \("y", "x"\)\)'),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    wrong, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        wrong()
