"""Convolutions and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cells.case import Arg, Case, case


@dataclass(frozen=True)
class Convolution:
    """Sizes of a convolution in `rank` dims, which is depthwise if `out` is 0; and whether channels are stored last."""

    n: int
    channels: int
    out: int
    size: int
    kernel: int
    stride: int = 1
    rank: int = 2
    dilation: int = 1
    groups: int = 1
    last: bool = False

    @property
    def padding(self) -> int:
        return self.kernel // 2 * self.dilation

    @property
    def after(self) -> int:
        return (self.size + 2 * self.padding - (self.kernel - 1) * self.dilation - 1) // self.stride + 1

    @property
    def places(self) -> str:
        return "dhw"[3 - self.rank :]

    @property
    def taps(self) -> str:
        return "zyx"[3 - self.rank :]

    def order(self, channel: str) -> str:
        """The dims of an array of images."""
        channels = "g" + channel if self.groups > 1 else channel
        return "n" + (self.places + channels if self.last else channels + self.places)

    def kernel_order(self) -> str:
        outputs = ("go" if self.groups > 1 else "o") if self.out else ""
        return outputs + (self.taps + "c" if self.last else "c" + self.taps)

    def arg(self, order: str, size: int = 0) -> Arg:
        sizes = {"n": self.n, "g": self.groups, "c": self.channels // self.groups, "o": self.out // self.groups}
        sizes |= dict.fromkeys("dhw", size) | dict.fromkeys("zyx", self.kernel)
        return Arg(tuple(sizes[d] for d in order), dims=order)

    def ours(self, xt: Any, x: Any, k: Any) -> Any:
        ways = {"padding": self.padding, "stride": self.stride, "dilation": self.dilation}
        slides = dict(zip(self.places, self.taps, strict=True))
        y = xt.nn.conv(x, k, dims=slides, dim="c" if self.out else (), **ways)
        return xt.transpose(y, *self.order("o" if self.out else "c"))

    def torchs_image(self, x: Any) -> Any:
        """As PyTorch names the axes; the memory stays as it is."""
        if self.last:
            x = x.flatten(-2, -1) if self.groups > 1 else x
            return x.movedim(-1, 1)
        return x.flatten(1, 2) if self.groups > 1 else x

    def torchs_kernel(self, k: Any) -> Any:
        k = k.flatten(0, 1) if self.groups > 1 else k
        if self.last:
            k = k.movedim(-1, -1 - self.rank)
        return k if self.out else k[:, None]

    @property
    def torchs_groups(self) -> int:
        return self.groups if self.out else self.channels

    def forward(self, m: Any, x: Any, k: Any) -> Any:
        function = getattr(m.nn.functional, f"conv{self.rank}d")
        ways = {"padding": self.padding, "stride": self.stride, "dilation": self.dilation}
        return function(self.torchs_image(x), self.torchs_kernel(k), groups=self.torchs_groups, **ways)

    def backward(self, m: Any, x: Any, k: Any, g: Any, which: int) -> Any:
        arrays = self.torchs_image(g), self.torchs_image(x), self.torchs_kernel(k)
        steps = [[way] * self.rank for way in (self.stride, self.padding, self.dilation)]
        ways = (*steps, False, [0] * self.rank, self.torchs_groups)
        return m.ops.aten.convolution_backward(*arrays, None, *ways, [which == 0, which == 1, False])[which]

    def name(self) -> str:
        kind = "x".join([str(self.kernel)] * self.rank) + f" by {self.stride} "
        kind += f"dilated by {self.dilation} " if self.dilation > 1 else ""
        kind += f"in {self.groups} groups " if self.groups > 1 else ""
        return kind + (f"to {self.out}" if self.out else "depthwise") + " " + self.order("c")


def conv() -> Iterator[Case]:
    """Convolutions of images and their gradients, channels first (NCHW) and last (NHWC)."""
    for shape in (
        Convolution(4, 32, 32, 32, 3),
        Convolution(4, 32, 64, 64, 3, stride=2),
        Convolution(2, 32, 32, 28, 5),
        Convolution(4, 3, 32, 64, 3),
        Convolution(2, 128, 128, 14, 3),
        Convolution(4, 64, 64, 28, 1),
        Convolution(2, 64, 0, 32, 7),  # depthwise
        Convolution(4, 32, 32, 32, 3, dilation=2),
        Convolution(4, 64, 64, 28, 3, groups=4),
        Convolution(8, 32, 32, 512, 5, rank=1),
        Convolution(1, 16, 16, 16, 3, rank=3),
    ):
        for last in (False, True):
            yield from _convolutions(replace(shape, last=last))


def _convolutions(shape: Convolution) -> Iterator[Case]:
    x, k = shape.arg(shape.order("c"), shape.size), shape.arg(shape.kernel_order())
    g = shape.arg(shape.order("o" if shape.out else "c"), shape.after)
    ours, kind = shape.ours, shape.name()
    yield case(f"conv {kind}", (x, k), ours=ours, torch=shape.forward)
    for which, name in enumerate(("image", "kernel")):
        yield case(
            f"conv gradient of the {name} {kind}",
            (x, k, g),
            ours=lambda xt, x, k, g, which=which: (
                xt.vjp(lambda x: ours(xt, x, k), x)[1](g) if which == 0 else xt.vjp(lambda k: ours(xt, x, k), k)[1](g)
            ),
            torch=lambda m, x, k, g, which=which: shape.backward(m, x, k, g, which),
        )
