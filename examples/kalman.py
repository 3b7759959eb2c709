# %% [markdown]
# # A Kalman smoother for the flow of the Nile
#
# The flow of the Nile at Aswan from 1871 to 1970, in 10^8 cubic metres a year (Cobb, 1978). The model
# is a level that drifts, measured with noise. A scan forward in time filters: it gives the level from
# the past. A scan backward smooths: it gives the level from the past and the future. The gradient
# through the forward scan finds both variances.
#
# Durbin and Koopman ("Time Series Analysis by State Space Methods", 2001) found 15,099 and 1,469.
#
# Run with `python examples/kalman.py`; writes `out/kalman.png`.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
import xtensor as xt
from tqdm import tqdm

STEPS = 20  # of the fit, which needs fewer

FLOW = """
1120 1160  963 1210 1160 1160  813 1230 1370 1140  995  935 1110  994 1020  960 1180  799  958 1140
1100 1210 1150 1250 1260 1220 1030 1100  774  840  874  694  940  833  701  916  692 1020 1050  969
 831  726  456  824  702 1120 1100  832  764  821  768  845  864  862  698  845  744  796 1040  759
 781  865  845  944  984  897  822 1010  771  676  649  846  812  742  801 1040  860  874  848  890
 744  749  838 1050  918  986  797  923  975  815 1020  906  901 1170  912  746  919  718  714  740
"""
years = np.arange(1871, 1971)
flow = xr.DataArray(np.array(FLOW.split(), "f8"), dims="year", coords={"year": years}, name="flow")

# %% [markdown]
# ## Filter
#
# The carry of the scan is the mean and the variance of the level, before the year is measured. The
# first year says where the level starts, so the likelihood is that of the other years.


# %%
def filtered(p, flow):
    """The log likelihood, and what each year (year) knew: the mean and variance before it, and after it."""
    noise, drift = xt.exp(p["noise"]), xt.exp(p["drift"])

    def step(before, y):
        mean, variance = before
        total = variance + noise  # of the difference between measurement and mean
        gain = variance / total
        after = mean + gain * (y - mean), variance * (1 - gain)
        score = -0.5 * (xt.log(2 * np.pi * total) + xt.square(y - mean) / total)
        return (after[0], after[1] + drift), (score, before, after)

    start = flow.isel(year=0), noise + drift
    _, (scores, before, after) = xt.scan(step, start, flow.isel(year=slice(1, None)), dim="year")
    return xt.sum(scores), before, after


@xt.jit
def log_likelihood(p, flow):
    return filtered(p, flow)[0]


# %% [markdown]
# ## The variances
#
# `lbfgs` minimises over their logarithms. The Hessian at the minimum says how well they are known.

# %%
y = xt.as_array(flow).drop_vars("year")
start = {"noise": xt.array(9.0, ()), "drift": xt.array(9.0, ())}
with tqdm(desc="fitting", total=STEPS, unit=" values") as bar:  # most steps need one value

    def loss(p):
        xt.debug.callback(bar.update)
        return -log_likelihood(p, y)

    best = xt.optim.lbfgs(loss, start, max_steps=STEPS)
p = best.parameters
noise, drift = (xt.exp(p[name]).item() for name in ("noise", "drift"))
print(f"variance of the measurements: {noise:.0f} (15099), of the drift in a year: {drift:.0f} (1469)")

# %% [markdown]
# ## Smooth
#
# A scan with `reverse=True` starts from the last year (Rauch, Tung and Striebel, 1965).


# %%
@xt.jit
def smooth(p, flow):
    """The mean and the standard deviation (year) of the level, given all years."""
    _, before, after = filtered(p, flow)

    def step(later, known):
        (mean, variance), ahead = known  # after this year; before the next one
        gain = variance / ahead[1]
        mean = mean + gain * (later[0] - ahead[0])
        variance = variance + gain * gain * (later[1] - ahead[1])
        return (mean, variance), (mean, variance)

    first = flow.isel(year=0).expand_dims("year"), xt.exp(p["noise"]).expand_dims("year")
    known = tuple(xt.concat([a, b], dim="year") for a, b in zip(first, after, strict=True))
    last = tuple(k.isel(year=-1) for k in known)
    earlier = tuple(k.isel(year=slice(None, -1)) for k in known)
    _, levels = xt.scan(step, last, (earlier, before), dim="year", reverse=True)
    mean, variance = (xt.concat([a, b.expand_dims("year")], dim="year") for a, b in zip(levels, last, strict=True))
    return mean, xt.sqrt(variance)


mean, deviation = (a.values for a in smooth(p, y))
fall = np.diff(mean)
print(f"the level falls most after {years[fall.argmin()]}, when work at the first dam at Aswan began")
print(f"mean level before 1899: {mean[years < 1899].mean():.0f}, after: {mean[years >= 1899].mean():.0f}")

# %% [markdown]
# ## Picture

# %%
figure, axes = plt.subplots(figsize=(10, 4.5), layout="constrained")
axes.plot(years, flow, ".-", lw=0.5, color="grey", label="measured")
axes.plot(years[1:], filtered(p, y)[2][0].values, lw=0.8, label="filtered: from the past")
axes.plot(years, mean, label="smoothed: from all years")
axes.fill_between(years, mean - 1.645 * deviation, mean + 1.645 * deviation, alpha=0.2, label="90% interval")
axes.set(xlabel="year", ylabel="10^8 cubic metres", title="flow of the Nile at Aswan")
axes.legend()
Path("out").mkdir(exist_ok=True)
figure.savefig("out/kalman.png", dpi=100)
