# %% [markdown]
# # A transformer that writes one character after another
#
# A small transformer learns from the help texts that come with Python. It sees some characters, and
# predicts the next one. Its dims are `batch`, `time`, `head`, `feature` and `char`. The text that it
# writes at the end is nonsense, but its words are those of a manual.
#
# Run with `python examples/transformer.py`; writes `out/transformer.png`.

# %%
import os
from pathlib import Path
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from tqdm import trange

SHORT = "GALLERY_SHORT" in os.environ  # a smaller model, and fewer steps
LAYERS, WIDTH, HEADS, CONTEXT, BATCH, STEPS = (1, 32, 2, 24, 8, 120) if SHORT else (2, 64, 4, 64, 16, 1500)
WRITTEN = 20 if SHORT else 300

text = "\n".join(topics[name] for name in sorted(topics))
characters = sorted(set(text))
codes = np.searchsorted(characters, list(text))
held_out = len(codes) // 10
train_codes, test_codes = codes[:-held_out], codes[-held_out:]

# %% [markdown]
# ## The model
#
# No function below reshapes or transposes: each product says which dim it sums, and heads are a dim
# from the start.

# %%
rng = np.random.default_rng(0)


def normal(scale, **sizes):
    return xt.array((scale * rng.normal(size=tuple(sizes.values()))).astype("f4"), dims=tuple(sizes))


def layer():
    per_head = {"width": WIDTH, "head": HEADS, "feature": WIDTH // HEADS}
    scale = WIDTH**-0.5
    return {
        "norm": xt.ones(width=WIDTH, dtype="f4"),
        **{name: normal(scale, **per_head) for name in ("query", "key", "value", "out")},
        "norm2": xt.ones(width=WIDTH, dtype="f4"),
        "up": normal(scale, width=WIDTH, hidden=4 * WIDTH),
        "down": normal(scale / 2, hidden=4 * WIDTH, width=WIDTH),
    }


params = {
    "char": normal(0.1, char=len(characters), width=WIDTH),
    "place": normal(0.1, time=CONTEXT, width=WIDTH),
    "layers": [layer() for _ in range(LAYERS)],
    "norm": xt.ones(width=WIDTH, dtype="f4"),
}


def attend(p, x):
    """x(.., time, width) -> (.., time, width): each time sees itself and what is before"""
    q, k, v = (xt.dot(x, p[name], dim="width") for name in ("query", "key", "value"))
    k, v = k.rename(time="seen"), v.rename(time="seen")
    mixed = xt.nn.attention(q, k, v, ("time", "seen", "feature"), causal=True)
    return xt.dot(mixed, p["out"], dim=("head", "feature"))


def logits(params, codes):
    """codes(.., time) -> (.., time, char)"""
    x = xt.take(params["char"], codes, dim="char") + params["place"]
    for p in params["layers"]:
        x = x + attend(p, xt.nn.rms_norm(x, "width", p["norm"]))
        hidden = xt.gelu(xt.dot(xt.nn.rms_norm(x, "width", p["norm2"]), p["up"], dim="width"))
        x = x + xt.dot(hidden, p["down"], dim="hidden")
    return xt.dot(xt.nn.rms_norm(x, "width", params["norm"]), params["char"], dim="width")


@xt.jit
def loss(params, codes):
    """Mean of -log p, in bits per character. codes(batch, time) has one time more than the context."""
    seen, following = codes.isel(time=slice(None, -1)), codes.isel(time=slice(1, None))
    return xt.mean(xt.nn.cross_entropy(logits(params, seen), following, dim="char")) / np.log(2)


# %% [markdown]
# ## Training

# %%
optimizer = xt.optim.adamw(xt.optim.warmup(20, xt.optim.cosine(0.01 if SHORT else 0.004, STEPS)), weight_decay=0.01)


@xt.jit
def step(params, state, codes):
    value, gradient = xt.value_and_grad(loss)(params, codes)
    return value, *optimizer.update(params, xt.optim.clip_by_norm(gradient, 1.0), state)


def batch(codes, size):
    first = rng.integers(0, len(codes) - CONTEXT, size=size)
    return xt.array(codes[first[:, None] + np.arange(CONTEXT + 1)], dims=("batch", "time"))


state = optimizer.init(params)
losses = []
for _ in (bar := trange(STEPS, desc="training", unit="step")):
    value, params, state = step(params, state, batch(train_codes, BATCH))
    losses.append(value.item())
    bar.set_postfix(bits=f"{losses[-1]:.2f}")

counts = np.bincount(train_codes, minlength=len(characters)) + 1
without_context = -np.mean(np.log2(counts[test_codes] / counts.sum()))
bits = loss(params, batch(test_codes, 8 * BATCH)).item()
print(f"new text, bits per character: {bits:.2f}; by the frequencies of characters: {without_context:.2f}")

# %% [markdown]
# ## Writing


# %%
@xt.jit
def write(params, start, key):
    """`WRITTEN` characters that follow start(time): a scan, whose carry is the last of what was written."""

    def next_one(seen, key):
        following = logits(params, seen).isel(time=-1) / 0.7
        code = xt.random.categorical(key, following, dim="char")
        return xt.concat([seen.isel(time=slice(1, None)), code.expand_dims("time")], dim="time"), code

    return xt.scan(next_one, start, xt.random.split(key, step=WRITTEN), dim="step")[1]


start = xt.array(test_codes[:CONTEXT], dims="time")
written = "".join(characters[c] for c in write(params, start, xt.random.key(1)).values)
print(f"it writes: {written!r}")

# %%
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.plot(losses, lw=0.7, label="training")
axes.axhline(without_context, color="grey", lw=0.7, label="frequencies of characters")
axes.set(xlabel="step", ylabel="bits per character", title="a transformer for help texts")
axes.legend()
Path("out").mkdir(exist_ok=True)
figure.savefig("out/transformer.png", dpi=100)
