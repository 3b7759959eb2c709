# %% [markdown]
# # Climate anomalies and EOFs from a DataArray
#
# Forty years of monthly temperatures on a grid: the seasons, a slow warming that is strongest in the
# north, and two patterns that come and go, as El Niño does. We make the field here, so we know what
# is in it. Grouping by month removes the seasons, a fit by label finds the warming, and a singular
# value decomposition (the EOFs, empirical orthogonal functions) finds the two patterns.
#
# Run with `python examples/climate.py`; writes `out/climate.png`.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
import xtensor as xt
from tqdm import tqdm

bar = tqdm(desc="computing", total=3, unit=" parts")  # the field, its anomalies, the EOFs

# %% [markdown]
# ## The field
#
# Each op matches dims by name: a map (lat, lon) times a series (time) is a field (time, lat, lon).

# %%
rng = np.random.default_rng(0)
time = xr.date_range("1984-01-01", "2023-12-01", freq="MS")
lat = xr.DataArray(np.arange(-85.0, 90.0, 10.0), dims="lat", name="lat")
lon = xr.DataArray(np.arange(0.0, 360.0, 10.0), dims="lon", name="lon")
years = xr.DataArray((time - time[0]).days / 365.25, dims="time", coords={"time": time})


def red_noise(memory):
    """A series of months, each of which keeps the part `memory` of the one before, with variance 1."""
    shocks = rng.normal(size=len(time)) * np.sqrt(1 - memory**2)
    level = np.zeros(len(time))
    for i in range(1, len(time)):
        level[i] = memory * level[i - 1] + shocks[i]
    return xr.DataArray(level, dims="time", coords={"time": time})


phi, theta = np.deg2rad(lat), np.deg2rad(lon)
patterns = {
    "equatorial": 1.5 * np.exp(-(((lat - 5) / 15) ** 2) - ((lon - 220) / 50) ** 2),
    "northern": 1.2 * np.exp(-(((lat - 60) / 15) ** 2)) * np.cos(2 * theta),
}
truth = {"equatorial": red_noise(0.9), "northern": red_noise(0.5)}
season = -10 * np.sin(phi) * np.cos(2 * np.pi * years)
warming = 0.01 + 0.02 * np.exp(-(((lat - 75) / 25) ** 2)) + 0 * lon  # degrees per year
field = 15 - 30 * np.sin(phi) ** 2 + season + warming * years
field = field + sum(truth[name] * patterns[name] for name in patterns)
field = (field + rng.normal(size=field.shape) * 0.5).transpose("time", "lat", "lon")
field = field.assign_coords(lat=lat, lon=lon).rename("temperature")

bar.update()

# %% [markdown]
# ## Anomalies and trends
#
# Every function of xtensor takes the DataArray, and gives DataArrays with the labels that xarray
# would keep. `groupby` reads the labels of `time` inside the compiled function, too.


# %%
@xt.jit
def analyse(field, years, area):
    """The anomalies (time, lat, lon) without their trend, the trend (lat, lon), and the mean over the globe (time)."""
    months = field.groupby("time.month")
    anomaly = months - months.mean()
    centred = years - years.mean()
    trend = xt.dot(anomaly, centred, dim="time") / xt.sum(xt.square(centred))
    return anomaly - trend * centred, trend, anomaly.weighted(area).mean(("lat", "lon"))


area = np.cos(phi).assign_coords(lat=lat)
anomaly, trend, globe = analyse(field, years, area)
bar.update()
assert isinstance(trend, xr.DataArray) and trend.dims == ("lat", "lon")
north, tropics = float(trend.sel(lat=75).mean()), float(trend.sel(lat=5).mean())
bar.write(f"warming, degrees per decade: {10 * north:.2f} at 75 N (made: 0.30), {10 * tropics:.2f} at 5 N (made: 0.10)")

# %% [markdown]
# ## EOFs
#
# The EOFs are the singular vectors of the anomalies, with each cell weighted by the root of its area.
# Which dims are rows and columns is said by name. The first two hold what the two patterns hold.


# %%
@xt.jit
def eofs(anomaly, area):
    """The series (time, mode) and maps (mode, lat, lon) of the modes, and the part of the variance that each holds."""
    weighted = xt.as_array(anomaly * xt.sqrt(area)).drop_vars(("time", "lat", "lon"))
    u, s, vh = xt.linalg.svd(weighted.stack(cell=("lat", "lon")), dims=("time", "cell"), inner="mode")
    maps = vh.unstack(cell={"lat": anomaly.sizes["lat"], "lon": anomaly.sizes["lon"]})
    return u * s, maps, xt.square(s) / xt.sum(xt.square(s))


series, maps, part = eofs(anomaly, area)
bar.update()
bar.close()
part = np.asarray(part)
print("variance of the first four modes, %:", np.round(100 * part[:4], 1))


def likeness(x, y):
    """The correlation of two series, without its sign: the sign of a singular vector is arbitrary."""
    return abs(np.corrcoef(np.asarray(x), np.asarray(y))[0, 1])


found = {name: max(likeness(series[:, i], truth[name]) for i in (0, 1)) for name in truth}
for name in truth:
    print(f"correlation of a mode with the {name} series that we made: {found[name]:.3f}")

# %% [markdown]
# ## Picture

# %%
figure, axes = plt.subplots(2, 2, figsize=(11, 6), layout="constrained")
axes[0, 0].plot(time, globe)
axes[0, 0].set(title="anomaly of the globe", ylabel="degrees")
shown = axes[0, 1].pcolormesh(lon, lat, 10 * trend)
figure.colorbar(shown, ax=axes[0, 1])
axes[0, 1].set(title="warming, degrees per decade", xlabel="longitude", ylabel="latitude")
for i in (0, 1):
    pattern = np.asarray(maps[i]) / np.sqrt(np.asarray(area))[:, None]
    limit = abs(pattern).max()
    axes[1, i].pcolormesh(lon, lat, pattern, cmap="RdBu_r", vmin=-limit, vmax=limit)
    axes[1, i].set(title=f"EOF {i + 1}: {100 * part[i]:.0f}% of the variance", xlabel="longitude", ylabel="latitude")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/climate.png", dpi=100)
