"""Convolutions and pooling against PyTorch and SciPy, with gradients: layouts, strides, dilations, groups.

Finite differences in both modes and to second order run over the cases of derivative_cases.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt


def array(*sizes: int, dims: str, seed: int = 0, dtype: str = "f8") -> xr.DataArray:
    values = np.random.default_rng(seed).normal(size=sizes).astype(dtype)
    return xr.DataArray(values, dims=tuple(dims))


CONV = [
    {},
    {"stride": 2},
    {"padding": 1},
    {"padding": 2, "stride": (1, 2), "dilation": (2, 1)},
    {"stride": 3, "padding": (0, 1)},
]


def by_dim(options: dict[str, Any]) -> dict[str, Any]:
    return {k: dict(zip("hw", v, strict=True)) if isinstance(v, tuple) else v for k, v in options.items()}


@pytest.mark.parametrize("options", CONV)
def test_conv_is_pytorchs(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 9, 11)), rng.normal(size=(4, 3, 3, 2))
    leaves = [torch.from_numpy(v.copy()).requires_grad_() for v in (x, w)]
    want = torch.nn.functional.conv2d(*leaves, **options)

    def conv(x: Any, w: Any) -> Any:
        return xt.nn.conv(x, w, dims={"h": "kh", "w": "kw"}, dim="i", **by_dim(options))

    y, back = xt.vjp(conv, xt.array(x, ("n", "i", "h", "w")), xt.array(w, ("o", "i", "kh", "kw")))
    assert y.dims == ("n", "h", "w", "o")
    y = xt.transpose(y, "n", "o", "h", "w")
    np.testing.assert_allclose(y.values, want.detach().numpy(), rtol=1e-10, atol=1e-12)
    weights = rng.normal(size=tuple(want.shape))
    for ours_, theirs in zip(
        back(xt.array(weights, ("n", "o", "h", "w"))),
        torch.autograd.grad(want, leaves, torch.from_numpy(weights)),
        strict=True,
    ):
        np.testing.assert_allclose(ours_.values, theirs.numpy(), rtol=1e-9, atol=1e-11)


LAYOUTS = {
    "channels first": ("nchw", "ocyx", "nohw"),
    "channels last": ("nhwc", "yxco", "nhwo"),
    "channels last, kernel of PyTorch": ("nhwc", "ocyx", "nhwo"),
    "channels become last": ("nchw", "ocyx", "nhwo"),
    "channels become first": ("nhwc", "yxco", "nohw"),
    "rows in the middle": ("hncw", "yocx", "onwh"),
}


def conv_by_taps(x: np.ndarray, w: np.ndarray, stride: int, dilation: int) -> np.ndarray:
    """(n, c, h, w), (o, c, y, x) -> (n, o, h, w), one product for each place of the kernel."""
    high, wide = ((n - (k - 1) * dilation - 1) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True))
    y = np.zeros((len(x), len(w), high, wide))
    for i, j in np.ndindex(*w.shape[2:]):
        rows = slice(i * dilation, i * dilation + (high - 1) * stride + 1, stride)
        columns = slice(j * dilation, j * dilation + (wide - 1) * stride + 1, stride)
        y += np.einsum("nchw,oc->nohw", x[:, :, rows, columns].astype("f8"), w[:, :, i, j].astype("f8"))
    return y


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("sizes", "stride", "dilation"),
    [
        ((2, 3, 7, 19, 33, 3, 2), 1, 1),  # n, c, h, w, o, kernel
        ((1, 16, 9, 40, 16, 3, 3), 1, 1),
        ((2, 5, 12, 29, 20, 2, 5), 1, 2),
        ((3, 2, 11, 23, 5, 3, 3), 2, 1),
        ((1, 1, 6, 130, 2, 1, 4), 1, 1),
        ((1, 40, 14, 18, 100, 3, 5), 1, 1),
        ((2, 4, 16, 34, 70, 2, 2), 3, 2),
    ],
)
def test_conv_in_every_layout(layout: str, sizes: tuple[int, ...], stride: int, dilation: int, dtype: str) -> None:
    """Values, and gradients: as the products with random numbers that the transposes of the map have."""
    n, c, h, w, o, *kernel = sizes
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=(n, c, h, w)).astype(dtype), rng.normal(size=(o, c, *kernel)).astype(dtype)
    names = {"x": "nchw", "k": "ocyx", "y": "nohw"}

    def array(values: np.ndarray, order: str, of: str) -> Any:
        stored = np.ascontiguousarray(values.transpose([names[of].index(d) for d in order]))
        return xt.array(stored, tuple(order))

    orders = LAYOUTS[layout]
    conv = xt.jit(
        lambda x, k: xt.transpose(
            xt.nn.conv(x, k, dims={"h": "y", "w": "x"}, dim="c", stride=stride, dilation=dilation), *orders[2]
        )
    )
    want = conv_by_taps(x, k, stride, dilation)
    tolerance = 1e-5 if dtype == "f4" else 1e-12
    scale = np.abs(want).max()
    X, K = array(x, orders[0], "x"), array(k, orders[1], "k")  # noqa: N806
    np.testing.assert_allclose(xt.transpose(conv(X, K), *"nohw").values, want, rtol=0, atol=tolerance * scale)
    g = rng.normal(size=want.shape).astype(dtype)
    back = xt.jit(lambda x, k, g: xt.vjp(lambda x, k: conv(x, k), x, k)[1](g))(X, K, array(g, orders[2], "y"))
    for _ in range(3):
        dx, dk = rng.normal(size=x.shape).astype(dtype), rng.normal(size=k.shape).astype(dtype)
        for cotangent, direction, moved, order in (
            (back[0], dx, conv_by_taps(dx, k, stride, dilation), "nchw"),
            (back[1], dk, conv_by_taps(x, dk, stride, dilation), "ocyx"),
        ):
            got = np.vdot(xt.transpose(cotangent, *order).values.astype("f8"), direction)
            np.testing.assert_allclose(got, np.vdot(g, moved), rtol=0, atol=tolerance * np.linalg.norm(moved) * 30)


# Sizes of the image, the kernel, the stride, the padding and the dilation along each dim.
STRIDED = [
    ((17,), (5,), (3,), (2,), (1,)),
    ((16,), (4,), (4,), (0,), (1,)),
    ((16,), (2,), (4,), (0,), (1,)),
    ((19,), (3,), (4,), (1,), (2,)),
    ((16, 16), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((13, 15), (3, 4), (2, 3), (1, 0), (1, 1)),
    ((14, 9), (1, 3), (2, 1), (0, 1), (1, 2)),
    ((20, 22), (7, 7), (2, 2), (3, 3), (1, 1)),
    ((9, 8, 7), (3, 2, 1), (2, 3, 2), (1, 0, 0), (1, 2, 1)),
]


@pytest.mark.parametrize("last", [False, True], ids=["channels first", "channels last"])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("case", STRIDED, ids=str)
def test_gradients_by_strided_images_are_pytorchs(case: tuple[Any, ...], groups: int, last: bool) -> None:
    """Values, and where an infinity of the cotangent arrives: only at elements that its window has."""
    torch = pytest.importorskip("torch")
    sizes, kernel, stride, padding, dilation = case
    rank, rng = len(sizes), np.random.default_rng(0)
    x, k = rng.normal(size=(2, groups * 4, *sizes)), rng.normal(size=(groups * 17, 4, *kernel))
    leaf = torch.from_numpy(x).requires_grad_()
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    y = getattr(torch.nn.functional, f"conv{rank}d")(leaf, torch.from_numpy(k), groups=groups, **options)
    space, taps = tuple("dhw"[:rank]), tuple("xyz"[:rank])
    image = ("n", *space, "g", "c") if last else ("n", "g", "c", *space)
    result = tuple("o" if d == "c" else d for d in image)

    def array(values: np.ndarray, names: tuple[str, ...], order: tuple[str, ...]) -> Any:
        shape = (len(values), groups, -1, *values.shape[2:]) if names[0] == "n" else (groups, -1, *values.shape[1:])
        values = values.reshape(shape)
        return xt.array(np.ascontiguousarray(values.transpose([names.index(d) for d in order])), order)

    def conv(x: Any, k: Any) -> Any:
        ways = {name: dict(zip(space, way, strict=True)) for name, way in options.items()}
        y = xt.nn.conv(x, k, dims=dict(zip(space, taps, strict=True)), dim="c", **ways)
        return xt.transpose(y, *result)

    names = ("n", "g", "c", *space)
    X, K = array(x, names, image), array(k, ("g", "o", "c", *taps), ("g", "o", "c", *taps))  # noqa: N806
    back = xt.jit(lambda x, k, ct: xt.vjp(lambda x: conv(x, k), x)[1](ct)[0], dynamic_dims=("n",))
    cotangent = rng.normal(size=tuple(y.shape))
    for _ in range(2):
        ours_ = back(X, K, array(cotangent, ("n", "g", "o", *space), result))
        ours_ = xt.transpose(ours_, *names).values.reshape(x.shape)
        (want,) = torch.autograd.grad(y, leaf, torch.from_numpy(cotangent), retain_graph=True)
        finite = np.isfinite(want.numpy())
        np.testing.assert_array_equal(np.isfinite(ours_), finite)
        assert not np.isnan(ours_).any()
        np.testing.assert_allclose(ours_[finite], want.numpy()[finite], rtol=1e-9, atol=1e-11)
        cotangent[(0, 0, *(n // 2 for n in y.shape[2:]))] = np.inf


@pytest.mark.parametrize(("outputs", "channels"), [(128, 128), (125, 128), (37, 112), (128, 96)])
def test_gradient_of_the_kernel_where_threads_share_tiles(outputs: int, channels: int) -> None:
    """One image, so that the result is all there is to share: outputs that tiles divide, or overlap at the end."""
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=(16, 16, channels)).astype("f4"), rng.normal(size=(14, 14, outputs)).astype("f4")
    X, G = xt.array(x, tuple("hwc")), xt.array(g, tuple("hwo"))  # noqa: N806
    k = xt.zeros(o=outputs, y=3, x=3, c=channels, dtype="float32")
    back = xt.jit(lambda k: xt.vjp(lambda k: xt.nn.conv(X, k, dims={"h": "y", "w": "x"}, dim="c"), k)[1](G)[0])
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("f8"), (14, 14), axis=(0, 1))
    want = np.einsum("yxchw,hwo->oyxc", windows, g.astype("f8"), optimize=True)
    np.testing.assert_allclose(back(k).values, want, rtol=0, atol=1e-4)


def test_conv_shares_what_both_have() -> None:
    """A group is a name that both operands have; one per channel is a depthwise convolution."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 10)), rng.normal(size=(3, 4))
    want = torch.nn.functional.conv1d(torch.from_numpy(x), torch.from_numpy(w[:, None]), groups=3)
    y = xt.nn.conv(xt.array(x, ("n", "c", "t")), xt.array(w, ("c", "k")), dims={"t": "k"})
    np.testing.assert_allclose(y.values, want.numpy(), rtol=1e-10)


def test_conv_with_a_dynamic_batch() -> None:
    rng = np.random.default_rng(0)
    w = xt.array(rng.normal(size=(4, 3, 3)), ("o", "i", "k"))

    def loss(x: Any) -> Any:
        return xt.sum(xt.square(xt.nn.max_pool(xt.nn.conv(x, w, dims={"t": "k"}, dim="i", padding="same"), {"t": 2})))

    run = xt.jit(xt.grad(loss), dynamic_dims=("n",))
    for n in (1, 5, 0):
        x = xt.array(rng.normal(size=(n, 3, 8)), ("n", "i", "t"))
        np.testing.assert_allclose(run(x).values, xt.grad(loss)(x).values, rtol=1e-10, atol=1e-12)


def test_same_padding_keeps_sizes() -> None:
    for k in (1, 2, 3, 4):
        y = xt.nn.conv(xt.ones(t=7), xt.ones(k=k), dims={"t": "k"}, padding="same")
        want = np.convolve(np.ones(7), np.ones(k))[(k - 1) - (k - 1) // 2 :][:7]
        np.testing.assert_array_equal(y.values, want)


@pytest.mark.parametrize(("sizes", "stride"), [((2, 2), None), ((3, 2), 1), ((2, 3), (2, 1)), ((3, 3), 2)])
@pytest.mark.parametrize("padding", [0, 1])
def test_pools_are_pytorchs(sizes: tuple[int, int], stride: Any, padding: int) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 10))
    named_ = xt.array(x, ("n", "c", "h", "w"))
    for name in ("max_pool", "avg_pool"):
        leaf = torch.from_numpy(x.copy()).requires_grad_()
        want = getattr(torch.nn.functional, f"{name}2d")(leaf, sizes, stride, padding)
        steps = dict(zip("hw", stride, strict=True)) if isinstance(stride, tuple) else stride
        y, back = xt.vjp(
            lambda x, name=name, steps=steps: getattr(xt.nn, name)(
                x, dict(zip("hw", sizes, strict=True)), steps, padding=padding
            ),
            named_,
        )
        np.testing.assert_allclose(y.values, want.detach().numpy(), rtol=1e-12, atol=1e-12)
        weights = np.random.default_rng(1).normal(size=y.shape)
        (gradient,) = torch.autograd.grad(want, leaf, torch.from_numpy(weights))
        np.testing.assert_allclose(back(xt.array(weights, y.dims))[0].values, gradient.numpy(), rtol=1e-10, atol=1e-12)


def test_max_pool_of_integers() -> None:
    x = xt.array(np.array([3, -1, 4, 1], "i4"), "t")
    assert xt.nn.max_pool(x, {"t": 2}).values.tolist() == [3, 4]
    assert xt.nn.max_pool(x, {"t": 3}, padding={"t": (2, 0)}).values.tolist() == [3, 4]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (6, 4), (3, 5), (4, 7), (40, 9)])
def test_convolve_is_scipys(mode: str, n: int, m: int) -> None:
    signal = pytest.importorskip("scipy.signal")
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=(2, n)), rng.normal(size=m)
    want = np.stack([signal.convolve(row, k, mode) for row in x])
    y = xt.signal.convolve(xt.array(x, ("a", "time")), xt.array(k, "kernel"), dims=("time", "kernel"), mode=mode)
    assert y.dims == ("a", "time")
    np.testing.assert_allclose(y.values, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_convolve_by_transforms_is_scipys(dtype: str) -> None:
    signal = pytest.importorskip("scipy.signal")
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (6, 4), (3, 7), (500, 90), (90, 500)):
        x, k = rng.normal(size=(2, n)).astype(dtype), rng.normal(size=(m, 3)).astype(dtype)
        for mode in ("full", "same", "valid"):
            want = [[signal.convolve(row, k[:, j].astype("c16"), mode) for j in range(3)] for row in x.astype("c16")]
            y = xt.signal.convolve(
                xt.array(x, ("a", "time")), xt.array(k, ("lag", "b")), dims=("time", "lag"), mode=mode, method="fft"
            )
            assert y.dims == ("a", "time", "b")
            assert y.dtype == dtype
            np.testing.assert_allclose(
                y.values, np.moveaxis(np.asarray(want), 1, 2), rtol=0,
                atol=30 * np.finfo(dtype).eps * np.sqrt(min(n, m)),
            )  # fmt: skip


def test_convolve_takes_transforms_for_long_kernels() -> None:
    rng = np.random.default_rng(0)

    def takes(n: int, m: int, dtype: str, **more: Any) -> bool:
        f = xt.jit(lambda x, k: xt.signal.convolve(x, k, dims=("t", "k"), **more))
        x, k = xt.spec(t=n, dtype=dtype), xt.spec(k=m, dtype=dtype)
        return "xtensor.fourier" in f.lower(x, k).as_text("traced")

    assert takes(4096, 2048, "f4")
    assert takes(4096, 2048, "c16", mode="same")
    assert not takes(4096, 2048, "i4")
    assert not takes(4096, 3, "f8")
    assert not takes(4096, 2048, "f4", method="direct")
    assert takes(4096, 3, "f2", method="fft")
    x, k = rng.integers(-9, 9, 4000), rng.integers(-9, 9, 2000)
    y = xt.signal.convolve(xt.array(x, "t"), xt.array(k, "k"), dims=("t", "k"))
    np.testing.assert_array_equal(y.values, np.convolve(x, k))
    f = lambda x, k: (xt.signal.convolve(x, k, dims=("t", "k"), mode="same", method="fft") ** 3).sum()  # noqa: E731
    xt.testing.check_gradients(f, [xt.array(rng.normal(size=7), "t"), xt.array(rng.normal(size=4), "k")], order=2)


def test_convolve_gradients_are_correlations() -> None:
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=12), rng.normal(size=4)
    weights = rng.normal(size=15)
    _, back = xt.vjp(lambda x, k: xt.signal.convolve(x, k, dims=("t", "m")), xt.array(x, "t"), xt.array(k, "m"))
    gx, gk = back(xt.array(weights, "t"))
    np.testing.assert_allclose(gx.values, np.correlate(weights, k, "valid"), rtol=1e-10)
    np.testing.assert_allclose(gk.values, np.correlate(weights, x, "valid"), rtol=1e-10)


@pytest.mark.cpu_only("tiles of registers are of the CPU")
def test_a_padding_that_no_memory_holds_is_refused_at_once() -> None:
    """The search for a tile took as many steps as the dim has elements."""
    x, w = xt.array(np.ones(8, "f4"), "t"), xt.array(np.ones(3, "f4"), "w")
    with pytest.raises(xt.MemoryError, match="281474976710680 bytes"):
        xt.nn.conv(x, w, {"t": "w"}, padding=2**45)
