# %% [markdown]
# # Sharpen a photograph by Fourier transforms
#
# A shaken camera blurs a photograph: scikit-learn's picture of a temple in Beijing. A blur is a
# convolution, which is a product after a Fourier transform. Division by it amplifies the noise, so
# two better methods are shown: Wiener's filter, and a minimisation that prefers images with few edges
# (total variation; Rudin, Osher and Fatemi, 1992), by the gradient through the transforms.
#
# Run with `python examples/deblur.py`; writes `out/deblur.png`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from sklearn.datasets import load_sample_image
from tqdm import tqdm

SHORT = "GALLERY_SHORT" in os.environ  # a smaller part of the image, and fewer steps
SIZE, STEPS = (96, 25) if SHORT else (256, 40)
NOISE, WEIGHT = 0.01, 0.001

photo = load_sample_image("china.jpg")[60 : 60 + SIZE, 180 : 180 + SIZE] / 255.0
image = xt.array(photo.astype("f4"), dims=("y", "x", "color"))

# %% [markdown]
# ## The blur
#
# The camera moved along a line of 11 pixels. Transforms name the dims that they go along, so colors
# need no loop and no thought: the spectrum of the blur lacks the dim, and matches by name.

# %%
path = np.zeros((SIZE, SIZE), "f4")
for i in range(-5, 6):
    path[(i // 2) % SIZE, i % SIZE] += 1 / 11
spectrum = xt.fft.rfft(xt.array(path, dims=("y", "x")), ("y", "x"))


@xt.jit
def blur(image):
    return xt.fft.irfft(xt.fft.rfft(image, ("y", "x")) * spectrum, ("y", "x"), n={"x": SIZE})


shaken = blur(image) + NOISE * xt.random.normal(xt.random.key(0), image.sizes, dtype="f4")

# %% [markdown]
# ## Three ways back


# %%
@xt.jit
def divided(shaken):
    """The exact inverse of the blur: it amplifies noise wherever the spectrum is small."""
    return xt.fft.irfft(xt.fft.rfft(shaken, ("y", "x")) / spectrum, ("y", "x"), n={"x": SIZE})


@xt.jit
def wiener(shaken):
    """Division where the signal is above the noise, for images whose power falls as 1 / frequency^2."""
    fy, fx = xt.fft.fftfreq(SIZE, dim="y", dtype="f4"), xt.fft.rfftfreq(SIZE, dim="x", dtype="f4")
    to_signal = NOISE**2 * 30 * SIZE * (fy * fy + fx * fx)
    gain = xt.conj(spectrum) / (xt.square(abs(spectrum)) + to_signal)
    return xt.fft.irfft(xt.fft.rfft(shaken, ("y", "x")) * gain, ("y", "x"), n={"x": SIZE})


def loss(image):
    """How far the blurred image is from the photograph, and the length of all edges, over all colors together."""
    xt.debug.callback(bar.update)
    edges = sum(xt.square(image - image.roll({dim: 1})) for dim in ("y", "x"))
    total_variation = xt.sum(xt.sqrt(xt.sum(edges, "color") + 1e-4))
    return 0.5 * xt.sum(xt.square(blur(image) - shaken)) + WEIGHT * total_variation


with tqdm(desc="sharpening", total=STEPS, unit=" values") as bar:  # most steps need one value of the loss
    best = xt.optim.lbfgs(loss, wiener(shaken), max_steps=STEPS)
results = {
    "shaken": shaken,
    "divided by the blur": divided(shaken),
    "Wiener's filter": wiener(shaken),
    "total variation": best.parameters,
}


def quality(x):
    """The peak signal to noise ratio, in dB."""
    return -10 * np.log10(xt.mean(xt.square(xt.clip(x, 0, 1) - image)).item())


found = {name: quality(x) for name, x in results.items()}
for name, value in found.items():
    print(f"{name}: {value:.1f} dB")

# %% [markdown]
# ## Picture

# %%
figure, axes = plt.subplots(1, 5, figsize=(15, 3.5), layout="constrained")
for cell, (name, x) in zip(axes, {"photograph": image, **results}.items(), strict=True):
    cell.imshow(np.clip(x.transpose("y", "x", "color").values, 0, 1))
    cell.set_title(name if x is image else f"{name}, {found[name]:.1f} dB")
    cell.axis("off")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/deblur.png", dpi=100)
