"""Train a classifier of hand-written digits, written with named dims.

The images are scikit-learn's `digits` (1,797 scans of 8 by 8 pixels, inside that package). The
dims are `sample`, `pixel`, `hidden` and `digit`; no axis number appears. Gradients come from
xtensor's derivative pass. Run with `make demo`; writes its pictures and the IR of every phase
of the loss function under `out/`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from sklearn.datasets import load_digits
from tqdm import trange

OUT = Path("out")
HIDDEN, BATCH, EPOCHS = 64, 64, 60
RATE, MOMENTUM, DECAY = 0.1, 0.9, 1e-4

Params = dict[str, xt.Array]


def initial_params(rng: np.random.Generator) -> Params:
    def normal(dims: tuple[str, ...], *sizes: int) -> xt.Array:
        values = rng.normal(size=sizes) / np.sqrt(sizes[0])
        return xt.array(values.astype("f4"), dims=dims)

    return {
        "w1": normal(("pixel", "hidden"), 64, HIDDEN),
        "b1": xt.zeros(hidden=HIDDEN, dtype="f4"),
        "w2": normal(("hidden", "digit"), HIDDEN, 10),
        "b2": xt.zeros(digit=10, dtype="f4"),
    }


def logits(params: Params, image: xt.Array) -> xt.Array:
    """image(sample, pixel) -> (sample, digit)"""
    hidden = xt.tanh(xt.dot(image, params["w1"], dim="pixel") + params["b1"])
    return xt.dot(hidden, params["w2"], dim="hidden") + params["b2"]


def loss(params: Params, image: xt.Array, label: xt.Array) -> xt.Array:
    """Mean cross entropy over the samples, with a small weight decay."""
    data = xt.mean(xt.nn.cross_entropy(logits(params, image), label, dim="digit"))
    weights = xt.sum(xt.square(params["w1"])) + xt.sum(xt.square(params["w2"]))
    return data + DECAY * weights


@xt.jit
def step(params: Params, velocity: Params, image: xt.Array, label: xt.Array) -> tuple[Params, Params, xt.Array]:
    value, gradient = xt.value_and_grad(loss)(params, image, label)
    velocity = {k: MOMENTUM * velocity[k] - RATE * gradient[k] for k in params}
    params = {k: params[k] + velocity[k] for k in params}
    return params, velocity, value


@xt.jit
def accuracy(params: Params, image: xt.Array, label: xt.Array) -> xt.Array:
    return xt.mean(xt.argmax(logits(params, image), dim="digit") == label)


def picture(losses: list[float], params: Params, path: Path) -> None:
    figure = plt.figure(figsize=(11, 5))
    curve, filters = figure.subfigures(1, 2)
    axes = curve.subplots()
    axes.semilogy(losses, lw=0.7)
    axes.set(xlabel="step", ylabel="loss", title="training loss")
    images = params["w1"].transpose("hidden", "pixel").to_numpy().reshape(HIDDEN, 8, 8)
    for cell, image in zip(filters.subplots(8, 8).flat, images, strict=True):
        cell.imshow(image, cmap="RdBu")
        cell.axis("off")
    filters.suptitle("learned filters")
    figure.savefig(path, dpi=120)


class Digits(NamedTuple):
    """The scans as numbers from 0 to 1, and which of them are for training and for testing."""

    pixels: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    test: np.ndarray

    def batch(self, rows: np.ndarray) -> tuple[xt.Array, xt.Array]:
        return (
            xt.array(self.pixels[rows], dims=("sample", "pixel")),
            xt.array(self.labels[rows], dims="sample"),
        )


def load() -> Digits:
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    held_out = len(order) // 5
    return Digits((data.data / 16).astype("f4"), data.target, order[held_out:], order[:held_out])


def train(data: Digits, epochs: int = EPOCHS) -> tuple[Params, list[float]]:
    """Trained parameters, and the loss of every step."""
    rng = np.random.default_rng(1)
    params = initial_params(rng)
    velocity = {k: xt.zeros_like(v) for k, v in params.items()}
    losses = []
    for _ in (bar := trange(epochs, desc="training", unit="epoch")):
        shuffled = rng.permutation(data.train)
        for first in range(0, len(shuffled) - BATCH + 1, BATCH):
            image, label = data.batch(shuffled[first : first + BATCH])
            params, velocity, value = step(params, velocity, image, label)
            losses.append(value.item())
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    return params, losses


def main() -> None:
    OUT.mkdir(exist_ok=True)
    data = load()
    start = time.perf_counter()
    params, losses = train(data)
    print(f"trained {len(losses)} steps in {time.perf_counter() - start:.1f} s")

    picture(losses, params, OUT / "digits.png")
    print(f"loss curve and learned filters: {OUT / 'digits.png'}")
    with xt.debug.dump_phases(OUT / "phases"):
        xt.value_and_grad(loss)(params, *data.batch(data.train[:BATCH]))
    print(f"IR of every phase of the loss and its gradient: {OUT / 'phases'}")
    print(f"test accuracy: {100 * accuracy(params, *data.batch(data.test)).item():.1f}%")


if __name__ == "__main__":
    main()
