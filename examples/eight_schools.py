# %% [markdown]
# # A hierarchical model, sampled by Hamiltonian Monte Carlo
#
# Eight schools coached their pupils for a test (Rubin, 1981). Each reports an effect and its standard
# error. The model says that the true effects scatter around a mean `mu` with a deviation `tau`, which
# the data must find, too. Hamiltonian Monte Carlo walks through the posterior along its gradient. The
# walk is written for one chain: a scan over draws. `xt.vectorize` then runs many chains at once.
#
# Run with `python examples/eight_schools.py`; writes `out/eight_schools.png`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from tqdm import trange

SHORT = "GALLERY_SHORT" in os.environ  # fewer draws
CHAINS, BLOCKS, DRAWS = (16, 6, 100) if SHORT else (16, 20, 200)
LEAPS, PACE = 12, 0.25

effect = xt.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], dims="school")
error = xt.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0], dims="school")

# %% [markdown]
# ## The model
#
# mu ~ Normal(0, 5), tau ~ HalfCauchy(5), effects ~ Normal(mu, tau). The state holds `offset`, which is
# (effect - mu) / tau: without it, the posterior has a funnel that no step size fits.


# %%
def school_effects(q):
    return q["mu"] + xt.exp(q["log_tau"]) * q["offset"]


def log_density(q):
    """The logarithm of the posterior of q, up to a constant, with the Jacobian of log_tau."""
    fit = -0.5 * xt.sum(xt.square((effect - school_effects(q)) / error))
    prior = -0.5 * (xt.square(q["mu"] / 5) + xt.sum(xt.square(q["offset"])))
    return fit + prior - xt.log1p(xt.square(xt.exp(q["log_tau"]) / 5)) + q["log_tau"]


# %% [markdown]
# ## The sampler
#
# A draw gives the state a random momentum, follows the motion for some leaps, and accepts the end by
# Metropolis' rule. Each chain has a key of its own, and each draw a key that is split from it.


# %%
def leap(pace, q, momentum):
    """One step of the leapfrog method."""
    half = xt.tree.map(lambda m, g: m + 0.5 * pace * g, momentum, xt.grad(log_density)(q))
    q = xt.tree.map(lambda a, m: a + pace * m, q, half)
    return q, xt.tree.map(lambda m, g: m + 0.5 * pace * g, half, xt.grad(log_density)(q))


def draw(q, key):
    of_mu, of_tau, of_offset, of_pace, of_choice = xt.random.split(key, 5)
    momentum = {
        "mu": xt.random.normal(of_mu),
        "log_tau": xt.random.normal(of_tau),
        "offset": xt.random.normal(of_offset, school=8),
    }
    pace = PACE * xt.random.uniform(of_pace, 0.5, 1.5)  # so that no orbit repeats itself
    end, final = xt.fori_loop(0, LEAPS, lambda i, state: leap(pace, *state), (q, momentum))

    def energy(q, momentum):
        return 0.5 * sum(xt.sum(xt.square(m)) for m in momentum.values()) - log_density(q)

    chance = xt.exp(energy(q, momentum) - energy(end, final))
    is_accepted = xt.random.uniform(of_choice) < chance
    q = xt.tree.map(lambda new, old: xt.where(is_accepted, new, old), end, q)
    return q, {"mu": q["mu"], "tau": xt.exp(q["log_tau"]), "effect": school_effects(q), "accepted": is_accepted}


@xt.jit
def sample(q, keys):
    """A block of draws of all chains: where each chain is at the end, and what it has drawn."""

    def chain(q, key):
        return xt.scan(draw, q, xt.random.split(key, draw=DRAWS), dim="draw")

    return xt.vectorize(chain, "chain")(q, keys)


# %% [markdown]
# Each block of draws has a key of its own. The first block is the way to where the posterior is: it does
# not count.

# %%
key = xt.random.key(0)
q = {"mu": xt.zeros(chain=CHAINS), "log_tau": xt.zeros(chain=CHAINS), "offset": xt.zeros(chain=CHAINS, school=8)}
blocks = []
for i in trange(BLOCKS, desc="sampling", unit="block"):
    q, block = sample(q, xt.random.split(xt.random.fold_in(key, i), chain=CHAINS))
    blocks.append(block)
found = xt.tree.map(lambda *parts: xt.concat(parts, dim="draw").astype("f8"), *blocks[1:])


def r_hat(x):
    """Gelman and Rubin's: the spread of all draws over the spread inside of chains, near 1 if chains agree."""
    within, between = x.var("draw", ddof=1).mean("chain"), x.mean("draw").var("chain", ddof=1)
    return xt.sqrt(1 + between / within).item()


mean = {name: values.mean(("chain", "draw")) for name, values in found.items()}
print(f"accepted: {100 * mean['accepted'].item():.0f}%; R-hat of mu and tau:", end=" ")
print(f"{r_hat(found['mu']):.3f}, {r_hat(found['tau']):.3f}")
print(f"posterior means: mu {mean['mu'].item():.2f}, tau {mean['tau'].item():.2f}")
print("effects of the schools:", np.round(mean["effect"].values, 1), "(reported:", effect.values, ")")

# %% [markdown]
# ## Picture
#
# The model draws the effects towards their mean: the first school is not as good as it looks.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
effects = found["effect"].stack(n=("chain", "draw")).transpose("n", "school").values
left.violinplot(effects, showmedians=True, showextrema=False)
left.errorbar(np.arange(1, 9), effect.values, error.values, fmt="k.", lw=0.6)
left.set(xlabel="school", ylabel="effect", title="reported (black), and given all schools")
right.hist(found["tau"].values.ravel(), bins=80, range=(0, 20), density=True)
right.set(xlabel="tau", title="how much schools differ")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/eight_schools.png", dpi=100)
