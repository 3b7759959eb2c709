# %% [markdown]
# # A neural ordinary differential equation
#
# A damped pendulum swings from many starts (SciPy solves its equation). A small network learns the
# right-hand side of the equation from the recorded states alone: it is integrated by the method of
# Runge and Kutta in a scan, and the gradient goes through the scan. The network then predicts swings
# from starts that it has not seen, for longer than any record that it learned from.
#
# Run with `python examples/neural_ode.py`; writes `out/neural_ode.png`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from scipy.integrate import solve_ivp
from tqdm import trange

SHORT = "GALLERY_SHORT" in os.environ  # fewer steps
BLOCKS, STEPS = (4, 100) if SHORT else (30, 200)
INTERVAL, LENGTH, HIDDEN = 0.1, 10, 32


def pendulum(t, u):
    return [u[1], -2.0 * np.sin(u[0]) - 0.2 * u[1]]


def swing(start, count):
    """The states (time, state) of the pendulum: angle and speed."""
    times = INTERVAL * np.arange(count)
    return solve_ivp(pendulum, (0, times[-1]), start, t_eval=times, rtol=1e-8, atol=1e-8).y.T


# %% [markdown]
# ## The records
#
# Each record is cut into segments of eleven states. The network learns to go from the first state of
# a segment to the others.

# %%
rng = np.random.default_rng(0)
records = np.stack([swing(rng.uniform(-2.5, 2.5, size=2), 4 * LENGTH + 1) for _ in range(12)])
pieces = [records[:, i : i + LENGTH + 1] for i in range(0, 4 * LENGTH, LENGTH)]
segments = xt.array(np.concatenate(pieces).astype("f4"), dims=("segment", "time", "state"))

# %% [markdown]
# ## The model
#
# Neither the network nor the integrator mentions segments: the dim passes through.


# %%
def velocity(p, u):
    """u(.., state) -> (.., state)"""
    hidden = xt.tanh(xt.dot(u, p["w1"], dim="state") + p["b1"])
    return xt.dot(hidden, p["w2"], dim="hidden") + p["b2"]


def integrate(p, u, length):
    """The states (time, .., state) after `length` steps of Runge and Kutta's method, without the start."""

    def step(u, _):
        a = velocity(p, u)
        b = velocity(p, u + 0.5 * INTERVAL * a)
        c = velocity(p, u + 0.5 * INTERVAL * b)
        d = velocity(p, u + INTERVAL * c)
        u = u + INTERVAL / 6 * (a + 2 * b + 2 * c + d)
        return u, u

    return xt.scan(step, u, None, dim="time", length=length)[1]


def loss(p, segments):
    predicted = integrate(p, segments.isel(time=0), LENGTH)
    return xt.mean(xt.square(predicted - segments.isel(time=slice(1, None))))


# %% [markdown]
# ## Training
#
# A block of steps of Adam is one compiled scan.

# %%
optimizer = xt.optim.adam(xt.optim.cosine(0.02, BLOCKS * STEPS))


@xt.jit
def train(p, state, segments):
    def step(carry, _):
        p, state = carry
        value, gradient = xt.value_and_grad(loss)(p, segments)
        return optimizer.update(p, gradient, state), value

    return xt.scan(step, (p, state), None, dim="step", length=STEPS)


def normal(scale, **sizes):
    return xt.array((scale * rng.normal(size=tuple(sizes.values()))).astype("f4"), dims=tuple(sizes))


p = {
    "w1": normal(0.7, state=2, hidden=HIDDEN),
    "b1": normal(0.5, hidden=HIDDEN),
    "w2": normal(0.1, hidden=HIDDEN, state=2),
    "b2": xt.zeros(state=2, dtype="f4"),
}
state = optimizer.init(p)
losses = []
for _ in (bar := trange(BLOCKS, desc="training", unit="block")):
    (p, state), values = train(p, state, segments)
    losses.extend(values.values)
    bar.set_postfix(loss=f"{losses[-1]:.2e}")

# %% [markdown]
# ## New swings
#
# Eight seconds from three new starts: twice as long as the records.

# %%
starts = np.array([[2.0, 0.0], [-1.0, 1.5], [0.5, -2.0]])
truth = np.stack([swing(start, 81) for start in starts])
predicted = integrate(p, xt.array(starts.astype("f4"), dims=("swing", "state")), 80)
predicted = predicted.transpose("swing", "time", "state").values
error = np.sqrt(np.mean((predicted[..., 0] - truth[:, 1:, 0]) ** 2))
print(f"root mean square error of the angle over 8 s: {error:.3f} (angles reach {abs(truth[..., 0]).max():.1f})")

# %% [markdown]
# ## Picture

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
left.semilogy(losses, lw=0.7)
left.set(xlabel="step", ylabel="mean square error", title="training on segments")
for i in range(3):
    right.plot(*truth[i].T, color=f"C{i}", lw=3, alpha=0.3, label="true" if i == 0 else None)
    right.plot(*predicted[i].T, color=f"C{i}", lw=1, label="predicted" if i == 0 else None)
right.set(xlabel="angle", ylabel="speed", title="swings from new starts")
right.legend()
Path("out").mkdir(exist_ok=True)
figure.savefig("out/neural_ode.png", dpi=100)
