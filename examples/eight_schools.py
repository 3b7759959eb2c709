# %% [markdown]
# # A hierarchical model, sampled by NUTS
#
# Eight schools coached their pupils for a test (Rubin, 1981). Each reports an effect and its standard
# error. The true effects scatter around a mean `mu` with a deviation `tau`, which the data must find, too.
# NUTS, the No-U-Turn sampler (Hoffman and Gelman, 2014), walks through the posterior along its gradient.
# It is written for one chain: `xt.vectorize` runs many chains at once.
#
# Run with `python examples/eight_schools.py`; writes `out/eight_schools.png`.

# %%
from collections import namedtuple
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from tqdm import trange

CHAINS, DRAWS, WARM_UP, BLOCKS = 16, 20, 40, 100
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


zeros, unravel = xt.tree.ravel({"mu": 0.0, "log_tau": 0.0, "offset": xt.zeros(school=8)})  # zeros(parameter)

# %% [markdown]
# ## One draw
#
# A draw gives the state a random momentum, and follows its motion by the leapfrog method. The path doubles
# its points, at a random end, until its ends turn back: up to ten times. New points do not count if a row
# of 2, 4, 8, .. of them turns back. For each of these lengths, the loop over points keeps where the latest
# row began (the iterative form of NUTS: Phan, Pradhan and Jankowiak, 2019).

# %%
Point = namedtuple("Point", "x momentum slope energy")
# The x of one of some points, chosen in proportion to exp(-energy); the logarithm of the sum of exp(-energy);
# and sums over the points: momenta, chances that Metropolis' rule accepts them, how many there are.
Choice = namedtuple("Choice", "x weight momentum accepted count")
LENGTHS, NOTHING = xt.array(2 ** np.arange(1, 10), dims="row"), xt.zeros(row=9, parameter=10)


def leap(p, step, scale):
    half = p.momentum + 0.5 * step * p.slope
    x = p.x + step * half
    value, slope = xt.value_and_grad(lambda x: log_density(unravel(x * scale)))(x)
    momentum = half + 0.5 * step * slope
    return Point(x, momentum, slope, 0.5 * xt.sum(xt.square(momentum)) - value)


def turn_back(first, last, total):
    inner = total - 0.5 * (first + last)
    return (xt.dot(first, inner, dim="parameter") <= 0) | (xt.dot(last, inner, dim="parameter") <= 0)


def joined(a, b, key, bias):
    """The choice from the points of a and b. With `bias` it prefers b, which is farther from the start."""
    weight = xt.logaddexp(a.weight, b.weight)
    takes_b = xt.log(xt.random.uniform(key)) < b.weight - (a.weight if bias else weight)
    return Choice(xt.where(takes_b, b.x, a.x), weight, *(m + n for m, n in zip(a[2:], b[2:], strict=True)))


def draw(q, step, scale, key):
    of_momentum, key = xt.random.split(key)
    start = leap(Point(q / scale, xt.random.normal(of_momentum, q.sizes), zeros, 0.0), 0.0, scale)
    none = Choice(start.x, -np.inf, zeros, 0.0, 0)

    def body(state):
        path, new, other, at, step, first, before, _ = state
        of_end, of_new, of_path = xt.random.split(xt.random.fold_in(key, path.count + new.count), 3)
        swap = (new.count == 0) & xt.random.bernoulli(of_end)  # goes on from the other end, in the other direction
        other, at, step = xt.cond(swap, lambda: (at, other, -step), lambda: (other, at, step))
        at = leap(at, step, scale)
        gain = xt.where(at.energy < start.energy + 1000, start.energy - at.energy, -np.inf)  # not if it is NaN
        begins = new.count % LENGTHS == 0
        first, before = xt.where(begins, at.momentum, first), xt.where(begins, new.momentum, before)
        new = joined(new, Choice(at.x, gain, at.momentum, xt.exp(xt.minimum(gain, 0)), 1), of_new, bias=False)
        back = (new.count % LENGTHS == 0) & turn_back(first, at.momentum, new.momentum - before)
        stops = xt.any(back) | (gain == -np.inf)
        is_full = ~stops & (new.count == path.count)
        path, new = xt.cond(is_full, lambda: (joined(path, new, of_path, bias=True), none), lambda: (path, new))
        stops = stops | (is_full & turn_back(other.momentum, at.momentum, path.momentum))
        return path, new, other, at, step, first, before, stops

    state = Choice(start.x, 0.0, start.momentum, 0.0, 1), none, start, start, step, NOTHING, NOTHING, False
    path, new, *_ = xt.while_loop(lambda s: (s[0].count < 1024) & ~s[-1], body, state)
    q, leaps = path.x * scale, path.count + new.count - 1
    return q, (q, (path.accepted + new.accepted) / leaps, leaps)


# %% [markdown]
# ## All chains
#
# Dual averaging finds the step with which 80% of the points are acceptable, and each parameter gets its
# deviation as its unit. The picture shows that the first school is not as good as it looks.


# %%
@xt.jit
def sample(q, step, scale, keys):
    return xt.scan(xt.vectorize(lambda q, key: draw(q, step, scale, key), "chain"), q, keys, dim="draw")


q, scale, log_step, average, lack, blocks = xt.zeros(chain=CHAINS) + zeros, zeros + 1, 0.0, 0.0, 0.0, []
for i in trange(WARM_UP + BLOCKS, desc="sampling", unit="block"):
    keys = xt.random.split(xt.random.fold_in(xt.random.key(0), i), chain=CHAINS, draw=DRAWS)
    q, block = sample(q, np.exp(log_step if i < WARM_UP else average), scale, keys)
    blocks.append(block)
    if i < WARM_UP:
        lack += (0.8 - block[1].mean().item() - lack) / (i + 11)
        log_step = -20 * np.sqrt(i + 1) * lack
        average += (log_step - average) * (i + 1) ** -0.75
    if i == WARM_UP // 2:
        scale = xt.std(block[0], ("chain", "draw"))
drawn, accepted, leaps = (xt.concat(parts, dim="draw") for parts in zip(*blocks[WARM_UP:], strict=True))
r_hat = xt.sqrt(1 + xt.var(drawn.mean("draw"), "chain", ddof=1) / xt.var(drawn, "draw").mean("chain")).max().item()
print(f"accepted: {accepted.mean().item():.0%}; leaps per draw: {leaps.mean().item():.1f}; R-hat at most {r_hat:.3f}")
q = unravel(drawn)
found = {"mu": q["mu"], "tau": xt.exp(q["log_tau"]), "effect": school_effects(q)}
mean, deviation = ({k: f(v, ("chain", "draw")) for k, v in found.items()} for f in (xt.mean, xt.std))
print(*(f"{k}: mean {mean[k].values.round(2)}, deviation {deviation[k].values.round(2)}" for k in found), sep="\n")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
effects = found["effect"].isel(draw=slice(None, None, 10)).stack(n=("chain", "draw")).transpose("n", "school").values
left.violinplot(effects, showmedians=True, showextrema=False)
left.errorbar(np.arange(1, 9), effect.values, error.values, fmt="k.", lw=0.6)
left.set(xlabel="school", ylabel="effect", title="reported (black), and given all schools")
right.hist(found["tau"].values.ravel(), bins=80, range=(0, 20), density=True)
right.set(xlabel="tau", ylabel="density", title="how much schools differ")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/eight_schools.png", dpi=100)
