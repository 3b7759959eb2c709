"""Large padded convolutions: tiles of the result read tiles of the image, each padded by itself."""

from typing import Any

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("devices read a padded copy of the image")
torch = pytest.importorskip("torch")

# Images, their channels, sizes, and the kernel: its channels, sizes, the stride, the padding, the dilation.
LARGE = {
    "several images": ((4, 32, (64, 64)), (16, (3, 3)), (1, 1), (1, 1), (1, 1)),
    "one image, a prime number of rows": ((1, 32, (131, 97)), (16, (5, 5)), (1, 1), (2, 2), (1, 1)),
    "strided": ((3, 16, (127, 64)), (24, (3, 3)), (2, 2), (1, 1), (1, 1)),
    "dilated": ((2, 32, (67, 64)), (16, (3, 3)), (1, 1), (3, 3), (3, 3)),
    "more zeros than rows of a tile": ((2, 32, (64, 64)), (16, (3, 1)), (1, 1), (60, 0), (1, 1)),
    "1-d": ((2, 16, (20011,)), (16, (9,)), (3,), (8,), (1,)),
    "3-d": ((1, 16, (17, 33, 32)), (16, (3, 3, 3)), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
}
LAYOUTS = {"channels first": "ncs", "channels last": "nsc", "images last": "csn", "images behind rows": "hncr"}


class Large:
    """A convolution, its arrays in a layout, and what PyTorch says."""

    def __init__(self, case: str, layout: str) -> None:
        (n, c, sizes), (o, kernel), *ways = LARGE[case]
        self.space, self.taps = "dhw"[3 - len(sizes) :], "zyx"[3 - len(sizes) :]
        self.ways = dict(zip(("stride", "padding", "dilation"), ways, strict=True))
        parts = {"s": self.space, "h": self.space[:1], "r": self.space[1:]}
        self.image = "".join(parts.get(d, d) for d in LAYOUTS[layout])
        rng = np.random.default_rng(0)
        x, k = (rng.normal(size=s).astype("f4") for s in ((n, c, *sizes), (o, c, *kernel)))
        self.leaves = [torch.from_numpy(v).requires_grad_() for v in (x, k)]
        self.want = getattr(torch.nn.functional, f"conv{len(sizes)}d")(*self.leaves, **self.ways)
        self.cotangent = rng.normal(size=tuple(self.want.shape)).astype("f4")
        self.x, self.k = self.stored(x), xt.array(k, tuple("oc" + self.taps))

    def stored(self, values: np.ndarray) -> Any:
        names = "nc" + self.space
        return xt.array(np.ascontiguousarray(values.transpose([names.index(d) for d in self.image])), tuple(self.image))

    def conv(self, x: Any, k: Any) -> Any:
        ways = {name: dict(zip(self.space, way, strict=True)) for name, way in self.ways.items()}
        y = xt.nn.conv(x, k, dims=dict(zip(self.space, self.taps, strict=True)), dim="c", **ways)
        return xt.transpose(xt.rename(y, {"o": "c"}), *self.image)

    def check(self, got: Any, want: Any) -> None:
        got = xt.transpose(got, *("nc" + self.space)).values
        np.testing.assert_allclose(got, want.detach().numpy(), rtol=0, atol=4e-6 * float(want.detach().abs().max()))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", LARGE)
def test_large_convolutions_are_pytorchs(case: str, layout: str) -> None:
    """Values and the gradient by the image, with and without the number of images in the program."""
    large = Large(case, layout)
    ct = large.stored(large.cotangent)
    (want,) = torch.autograd.grad(large.want, large.leaves[0], torch.from_numpy(large.cotangent))
    for dynamic in ((), ("n",)):
        large.check(xt.jit(large.conv, dynamic_dims=dynamic)(large.x, large.k), large.want)
        back = xt.jit(lambda x, k, ct: xt.vjp(lambda x: large.conv(x, k), x)[1](ct)[0], dynamic_dims=dynamic)
        large.check(back(large.x, large.k, ct), want)


@pytest.mark.parametrize("layout", ["channels first", "channels last"])
@pytest.mark.parametrize("sizes", [(4, 128, 128), (1, 480, 256), (1, 128, 640)], ids=str)
def test_large_convolutions_take_little_memory(sizes: tuple[int, int, int], layout: str) -> None:
    """Beside the image, the result and a copy of the kernel, a thread has at most 1 MB. Nothing is run."""
    order = "nchw" if layout == "channels first" else "nhwc"
    result = order.replace("c", "o")
    every = {**dict(zip("nhw", sizes, strict=True)), "c": 32, "o": 32}
    x, ct = (xt.spec({d: every[d] for d in dims}, dtype="f4") for dims in (order, result))
    k = xt.spec(o=32, y=5, x=5, c=32, dtype="f4")

    def conv(x: Any, k: Any) -> Any:
        return xt.transpose(xt.nn.conv(x, k, dims={"h": "y", "w": "x"}, dim="c", padding="same"), *result)

    most = (1 << 20) + 32 * 5 * 5 * 32 * 4
    assert xt.jit(conv).cost(x, k)["arena"] <= most
    assert xt.jit(lambda x, k, ct: xt.vjp(lambda x: conv(x, k), x)[1](ct)).cost(x, k, ct)["arena"] <= most
