# %% [markdown]
# # A Gaussian process, fitted by its marginal likelihood
#
# How far a disease had progressed after a year, from ten measurements of 442 patients (scikit-learn's
# `diabetes`). A Gaussian process assumes that patients with similar measurements fare similarly. One
# length scale for each measurement says what similar means. The gradient of the marginal likelihood
# finds all twelve parameters of the model, through a Cholesky factorisation of 200 by 200 numbers.
#
# Run with `python examples/gaussian_process.py`; writes `out/gaussian_process.png`.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from sklearn.datasets import load_diabetes
from tqdm import tqdm

SHORT = "GALLERY_SHORT" in os.environ  # fewer patients, and fewer steps
FITTED, STEPS = (100, 15) if SHORT else (200, 40)

data = load_diabetes(scaled=True)
order = np.random.default_rng(0).permutation(len(data.target))
features = data.data / data.data.std(axis=0)
target = (data.target - data.target[order[:FITTED]].mean()) / data.target[order[:FITTED]].std()


def patients(rows):
    return xt.array(features[rows], dims=("patient", "feature")), xt.array(target[rows], dims="patient")


x, y = patients(order[:FITTED])
x_test, y_test = patients(order[FITTED:])

# %% [markdown]
# ## The model
#
# The covariance of patients needs two names for patients, so the second factor is renamed. Parameters
# are logarithms, so that all their values are allowed.


# %%
def kernel(p, a, b):
    """a(patient, feature), b(other, feature) -> (patient, other): the squared exponential of the scaled distance"""
    scale = xt.exp(p["length"])
    a, b = a / scale, b / scale
    squared = xt.sum(xt.square(a), "feature") + xt.sum(xt.square(b), "feature") - 2 * xt.dot(a, b, dim="feature")
    return xt.exp(p["signal"]) * xt.exp(-0.5 * squared)


def factor(p, x):
    """The Cholesky factor of the covariance of what was measured: the kernel, and noise."""
    noise = xt.exp(p["noise"]) * xt.eye(patient=x.sizes["patient"], other=x.sizes["patient"])
    return xt.linalg.cholesky(kernel(p, x, x.rename(patient="other")) + noise, dims=("patient", "other"))


@xt.jit
def log_likelihood(p, x, y):
    """log p(y | x, p), integrated over all functions"""
    low = factor(p, x)
    white = xt.linalg.triangular_solve(low, y, dims=("patient", "other"))
    log_det = 2 * xt.sum(xt.log(xt.linalg.diagonal(low, dims=("patient", "other"))))
    return -0.5 * (xt.sum(xt.square(white)) + log_det + x.sizes["patient"] * np.log(2 * np.pi))


# %% [markdown]
# ## The fit
#
# `lbfgs` runs in one compiled loop, value and gradient included. A callback in it moves the progress bar.

# %%
start = {"length": xt.zeros(feature=10) + np.log(3.0), "signal": xt.array(0.0, ()), "noise": xt.array(-1.0, ())}
with tqdm(desc="fitting", total=STEPS, unit=" values") as bar:  # most steps need one value

    def loss(p):
        xt.debug.callback(bar.update)
        return -log_likelihood(p, x, y)

    best = xt.optim.lbfgs(loss, start, max_steps=STEPS)
p = best.parameters
first, last = log_likelihood(start, x, y).item(), log_likelihood(p, x, y).item()
print(f"log marginal likelihood: {first:.1f} at the start, {last:.1f} after {best.steps.item()} steps")

# %% [markdown]
# ## What it predicts
#
# The mean and the variance for new patients, given the measured ones.


# %%
@xt.jit
def predict(p, x, y, new):
    """The mean and the standard deviation (new) of measurements of new patients (new, feature)."""
    low = factor(p, x)
    cross = kernel(p, x, new.rename(new="other")).rename(other="new")  # (patient, new)
    half = xt.linalg.triangular_solve(low, cross, dims=("patient", "other"))  # (other, new)
    white = xt.linalg.triangular_solve(low, y, dims=("patient", "other"))
    variance = xt.exp(p["signal"]) + xt.exp(p["noise"]) - xt.sum(xt.square(half), "other")
    return xt.dot(half, white, dim="other"), xt.sqrt(variance)


mean, deviation = predict(p, x, y, x_test.rename(patient="new"))
error = (y_test - mean.rename(new="patient")).values
explained = 1 - np.mean(error**2) / np.var(y_test.values)
covered = np.mean(abs(error) < 1.645 * deviation.values)
print(f"of the variance of new patients, {100 * explained:.0f}% are explained")
print(f"within their 90% interval: {100 * covered:.0f}% of the new patients")

relevance = xt.exp(-p["length"]).values  # a long scale means: does not matter
ranked = [data.feature_names[i] for i in np.argsort(-relevance)]
print(f"measurements that matter most: {', '.join(ranked[:4])} (s5 is log triglycerides); least: {ranked[-1]}")

# %% [markdown]
# ## Picture

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
left.errorbar(mean.values, y_test.values, xerr=deviation.values, fmt=".", lw=0.4)
left.axline((0, 0), slope=1, color="black", lw=0.7)
left.set(xlabel="predicted, in deviations", ylabel="measured, in deviations", title="progression of new patients")
right.barh(data.feature_names, relevance)
right.set(xlabel="1 / length scale", title="which measurements matter")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/gaussian_process.png", dpi=100)
