# %% [markdown]
# # Bodies with a learned force
#
# Bodies attract each other by a law that we do not tell: we only show how they move. A small network
# for the force at a distance is put into the equations of motion. The gradient of the motion, through
# a scan of leapfrog steps, makes the force fit. What comes out is the law of gravity (softened, so
# that near encounters stay smooth), and it holds for systems with more bodies, too.
#
# Run with `python examples/nbody.py`; writes `out/nbody.png`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from tqdm import trange

SHORT = "GALLERY_SHORT" in os.environ  # fewer systems, and fewer steps
SYSTEMS, BLOCKS, STEPS = (12, 8, 100) if SHORT else (40, 30, 100)
INTERVAL, LENGTH, HIDDEN, SOFTENING = 0.05, 6, 16, 0.3

# %% [markdown]
# ## The motion
#
# Pairs of bodies need two names for the bodies, so one of both factors is renamed. A third name,
# `system`, never appears: the same functions move one system, or many.


# %%
def gravity(p, squared):
    """The force over the distance, from the square of the distance."""
    return (squared + SOFTENING**2) ** -1.5


def learned(p, squared):
    """The same from a network, in logarithms: what it learns is positive, and it sees all scales alike."""
    hidden = xt.tanh(xt.log(squared + 0.01) * p["w1"] + p["b1"])
    return xt.exp(xt.dot(hidden, p["w2"], dim="hidden") + p["b2"])


def acceleration(force, p, x):
    """x(.., body, axis) -> (.., body, axis), for bodies of mass 1; the pull of a body on itself is 0"""
    apart = x.rename(body="other") - x
    return xt.sum(force(p, xt.sum(xt.square(apart), "axis")) * apart, "other")


def move(force, p, x, v, length):
    """Positions and velocities (time, .., body, axis) after each of `length` leapfrog steps."""

    def step(carry, _):
        x, v, a = carry
        v = v + 0.5 * INTERVAL * a
        x = x + INTERVAL * v
        a = acceleration(force, p, x)
        v = v + 0.5 * INTERVAL * a
        return (x, v, a), (x, v)

    return xt.scan(step, (x, v, acceleration(force, p, x)), None, dim="time", length=length)[1]


# %% [markdown]
# ## What was seen
#
# Systems of four bodies in a plane, each for six steps.

# %%
rng = np.random.default_rng(0)


def random_system(**sizes):
    def normal(scale):
        return xt.array((scale * rng.normal(size=(*sizes.values(), 2))).astype("f4"), dims=(*sizes, "axis"))

    return normal(1.5), normal(0.5)


x, v = random_system(system=SYSTEMS, body=4)
seen = xt.jit(lambda x, v: move(gravity, None, x, v, LENGTH))(x, v)


def loss(p, x, v, seen):
    moved = move(learned, p, x, v, LENGTH)
    return sum(xt.mean(xt.square(a - b)) for a, b in zip(moved, seen, strict=True))


# %% [markdown]
# ## Training

# %%
optimizer = xt.optim.adam(xt.optim.cosine(0.05, BLOCKS * STEPS))


@xt.jit
def train(p, state, x, v, seen):
    def step(carry, _):
        p, state = carry
        value, gradient = xt.value_and_grad(loss)(p, x, v, seen)
        return optimizer.update(p, gradient, state), value

    return xt.scan(step, (p, state), None, dim="step", length=STEPS)


p = {
    "w1": xt.array(rng.normal(size=HIDDEN).astype("f4"), dims="hidden"),
    "b1": xt.array(rng.normal(size=HIDDEN).astype("f4"), dims="hidden"),
    "w2": xt.array(0.1 * rng.normal(size=HIDDEN).astype("f4"), dims="hidden"),
    "b2": xt.array(np.float32(0), ()),
}
state = optimizer.init(p)
losses = []
for _ in (bar := trange(BLOCKS, desc="training", unit="block")):
    (p, state), values = train(p, state, x, v, seen)
    losses.extend(values.values)
    bar.set_postfix(loss=f"{losses[-1]:.2e}")

# %% [markdown]
# ## The law, and a system with six bodies

# %%
distance = np.linspace(0.3, 4.0, 100, dtype="f4")
squared = xt.array(distance**2, dims="i")
true_force, force = (distance * f(p, squared).values for f in (gravity, learned))
error = np.mean(abs(force - true_force)) / np.mean(true_force)
print(f"mean error of the force, from distance 0.3 to 4: {100 * error:.1f}% of the mean force")

x6, v6 = random_system(body=6)
paths = [xt.jit(lambda x, v, f=f: move(f, p, x, v, 60))(x6, v6) for f in (gravity, learned)]
apart = np.sqrt(xt.mean(xt.square(paths[0][0] - paths[1][0])).item())
drift = abs((xt.sum(paths[1][1].isel(time=-1) - v6, "body")).values).max()
print(f"six bodies after 3 units of time: learned paths differ by {apart:.3f}; momentum changed by {drift:.0e}")

# %% [markdown]
# ## Picture

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
left.plot(distance, true_force, color="grey", lw=4, alpha=0.4, label="gravity")
left.plot(distance, force, label="learned")
left.set(xlabel="distance", ylabel="force", title="the law")
left.legend()
for (moved, _), style in zip(paths, ({"lw": 3, "alpha": 0.3}, {"lw": 1}), strict=True):
    right.set_prop_cycle(None)
    right.plot(moved.isel(axis=0).values, moved.isel(axis=1).values, **style)
right.set(xlabel="x", ylabel="y", aspect="equal", title="six bodies: true (wide) and learned (thin)")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/nbody.png", dpi=100)
