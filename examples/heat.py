# %% [markdown]
# # An inverse heat problem, by implicit differentiation
#
# A rod is heated in two experiments. It conducts heat with a conductivity that varies along it, and
# radiates with the fourth power of its temperature. Thermometers measure the temperature, with noise.
# What is the conductivity? Newton's method finds the temperature for a given conductivity.
# `xt.implicit` gives its derivative from the equation: the steps of Newton's method are not
# differentiated, and none of them is stored.
#
# Run with `python examples/heat.py`; writes `out/heat.png`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt

SHORT = "GALLERY_SHORT" in os.environ  # a coarser rod
NODES, STEPS = (30, 40) if SHORT else (60, 100)
RADIATION, NOISE = 2.0, 0.002

# %% [markdown]
# ## The equation
#
# The ends of the rod are kept at temperature 0. What flows into a node through its two neighbours,
# and what its heater gives, is what it radiates.


# %%
def residual(u, log_k, heating):
    """u(node), heating(node) and log_k(link) -> (node): 0 at the temperature u"""
    u = u.pad(node=1)
    flow = xt.exp(log_k) * u.diff("node").rename(node="link") * (NODES + 1)
    return flow.diff("link").rename(link="node") * (NODES + 1) + heating - RADIATION * u.isel(node=slice(1, -1)) ** 4


def newton(log_k, heating):
    def step(u):
        slope = xt.jacobian(lambda u: residual(u, log_k, heating), mode="forward")(u)  # (node, node')
        change = xt.linalg.solve(slope, residual(u, log_k, heating), dims=("node", "node'"))
        return u - change.rename({"node'": "node"})

    def is_wrong(u):
        return xt.max(abs(residual(u, log_k, heating))) > 1e-9

    return xt.while_loop(is_wrong, step, xt.zeros_like(heating) + 0.5, max_steps=30)


temperature = xt.implicit(residual, newton)  # for one experiment
experiments = xt.jit(xt.vectorize(temperature, "experiment"))

# %% [markdown]
# ## The measurements
#
# The true rod has a part in its middle that conducts badly. We compute both experiments, and add noise.

# %%
place = np.arange(1, NODES + 1) / (NODES + 1)
between = (np.arange(NODES + 1) + 0.5) / (NODES + 1)
true_log_k = xt.array(-1.2 * np.exp(-(((between - 0.55) / 0.12) ** 2)) + 0.3 * np.sin(3 * between), dims="link")
heating = xt.array(8 * np.exp(-(((place - np.array([[0.2], [0.8]])) / 0.1) ** 2)), dims=("experiment", "node"))


def for_each(log_k):
    """The conductivity is the same in both experiments."""
    return experiments(log_k.expand_dims(experiment=2), heating)


truth = for_each(true_log_k)
rng = np.random.default_rng(0)
measured = truth + xt.array(NOISE * rng.normal(size=(2, NODES)), dims=("experiment", "node"))

# %% [markdown]
# ## The inverse problem
#
# A smooth conductivity that explains the measurements: the sum of squares over the noise, and a prior
# for the differences of neighbours.


# %%
def misfit(log_k):
    return xt.sum(xt.square((for_each(log_k) - measured) / NOISE))


def loss(log_k):
    return misfit(log_k) + xt.sum(xt.square(log_k.diff("link") * (NODES + 1) / 5)) * 60 / NODES


flat = xt.zeros(link=NODES + 1)
gradient = xt.grad(misfit)(flat)
best = xt.optim.lbfgs(loss, flat, max_steps=STEPS)
log_k = best.parameters
error = np.exp(log_k.values - true_log_k.values) - 1
print(f"misfit per measurement: {misfit(flat).item() / (2 * NODES):.0f} for a rod of conductivity 1,", end=" ")
print(f"{misfit(log_k).item() / (2 * NODES):.2f} at the end (at most 1: the noise)")
print(f"conductivity, from {np.exp(true_log_k.values.min()):.2f} to {np.exp(true_log_k.values.max()):.2f}:", end=" ")
print(f"found with a mean error of {100 * abs(error).mean():.1f}%")

# %% [markdown]
# ## Picture

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for i in (0, 1):
    left.plot(
        place, measured.isel(experiment=i).values, ".", ms=3, color=f"C{i}", label=f"measured, experiment {i + 1}"
    )
    left.plot(place, for_each(log_k).isel(experiment=i).values, color=f"C{i}", lw=0.8)
left.set(xlabel="place", ylabel="temperature", title="the temperature along the rod")
left.legend()
right.plot(between, np.exp(true_log_k.values), "k--", label="true")
right.plot(between, np.exp(log_k.values), label="found")
right.set(xlabel="place", title="conductivity")
right.legend()
Path("out").mkdir(exist_ok=True)
figure.savefig("out/heat.png", dpi=100)
