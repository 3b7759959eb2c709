# %% [markdown]
# # A classifier of images, by named dims
#
# 1,797 scans of hand-written digits (scikit-learn's `digits`), 8 by 8 pixels each. A network of two
# convolutions learns to read them. The functions are written for one image: `xt.vectorize` makes
# batches of them. The whole training is one compiled function, a scan over batches.
#
# Run with `python examples/images.py`; writes `out/images.png`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from sklearn.datasets import load_digits
from tqdm import trange

SHORT = "GALLERY_SHORT" in os.environ  # fewer epochs
EPOCHS, BATCH = (3, 50) if SHORT else (15, 50)
TEST = 297

# %% [markdown]
# ## The data
#
# The dims have names, so their order does not matter to the network.

# %%
digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.target))
images = xt.array((digits.images[order] / 16.0).astype("f4"), ("sample", "y", "x"))
labels = xt.array(digits.target[order], "sample")
train = images.isel(sample=slice(TEST, None)), labels.isel(sample=slice(TEST, None))
test = images.isel(sample=slice(TEST)), labels.isel(sample=slice(TEST))

# %% [markdown]
# ## The network
#
# Each layer renames what it makes: the channels of the first convolution are summed over in the
# second one.


# %%
def scores(p, image):
    """image(y, x) -> (digit)"""
    taps = {"y": "dy", "x": "dx"}
    h = xt.relu(xt.nn.conv(image, p["edges"], taps, padding=1) + p["edge_bias"])
    h = xt.nn.max_pool(h, {"y": 2, "x": 2})
    h = xt.relu(xt.nn.conv(h, p["parts"], taps, "edge", padding=1) + p["part_bias"])
    return xt.dot(h, p["read"], dim=("part", "y", "x")) + p["bias"]


def loss(p, images, labels):
    """The images share the weights, which lack the dim `sample`."""
    logits = xt.vectorize(scores, "sample")(p, images)
    return xt.mean(xt.nn.cross_entropy(logits, labels, dim="digit"))


keys = xt.random.split(xt.random.key(0), 3)
p = {
    "edges": xt.random.normal(keys[0], dy=3, dx=3, edge=8, dtype="f4") / 3,
    "edge_bias": xt.zeros(edge=8, dtype="f4"),
    "parts": xt.random.normal(keys[1], edge=8, dy=3, dx=3, part=16, dtype="f4") / 72**0.5,
    "part_bias": xt.zeros(part=16, dtype="f4"),
    "read": xt.random.normal(keys[2], part=16, y=4, x=4, digit=10, dtype="f4") / 16,
    "bias": xt.zeros(digit=10, dtype="f4"),
}

# %% [markdown]
# ## Train
#
# An epoch is one call: a scan over batches, which are a dim of the shuffled images.

# %%
adam = xt.optim.adam(3e-3)


@xt.jit
def epoch(p, state, images, labels, key):
    mixed = xt.random.permutation(key, xt.arange(images.sizes["sample"], dim="sample"), "sample")
    size = {"batch": images.sizes["sample"] // BATCH, "sample": BATCH}
    batches = [a.isel(sample=mixed).unstack(sample=size) for a in (images, labels)]

    def step(carry, batch):
        value, gradient = xt.value_and_grad(loss)(carry[0], *batch)
        return adam.update(carry[0], gradient, carry[1]), value

    (p, state), losses = xt.scan(step, (p, state), batches, dim="batch")
    return p, state, xt.mean(losses)


@xt.jit
def read(p, images):
    return xt.argmax(xt.vectorize(scores, "sample")(p, images), "digit")


state, history = adam.init(p), []
key = xt.random.key(1)
for i in trange(EPOCHS, desc="epochs"):
    p, state, value = epoch(p, state, *train, xt.random.fold_in(key, i))
    history.append(value.item())
found = read(p, test[0])
accuracy = xt.mean((found == test[1]).astype("f4")).item()
print(f"accuracy on {TEST} images that were not used for training: {accuracy:.1%}")

# %% [markdown]
# ## Picture

# %%
wrong = np.flatnonzero(found.values != test[1].values)
figure = plt.figure(figsize=(10, 4.2), layout="constrained")
left, right = figure.subfigures(1, 2)
axes = left.subplots()
axes.semilogy(range(1, EPOCHS + 1), history, ".-")
axes.set(xlabel="epoch", ylabel="mean cross entropy", title="training")
right.suptitle(f"all {len(wrong)} errors" if len(wrong) <= 12 else f"12 of {len(wrong)} errors")
for axes, i in zip(right.subplots(3, 4).flat, [*wrong[:12], *[None] * 12], strict=False):
    axes.axis("off")
    if i is not None:
        axes.imshow(test[0].values[i], cmap="Greys")
        axes.set_title(f"{test[1].values[i]}, read as {found.values[i]}", fontsize=9)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/images.png", dpi=100)
