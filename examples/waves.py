# %% [markdown]
# # Waves in several processes
#
# Waves run over a lake with two islands. The height at a point changes with the heights of its four
# neighbours: a stencil in two dims. With MPI, each process holds a strip of the lake. The compiler
# sends the edges of the strips to the neighbours, and the program does not mention them.
#
# Run with `python examples/waves.py`, or in four processes with `mpirun -n 4 python examples/waves.py`.
# Writes `out/waves.png`. MPI needs the packages mpi4py and mpich.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt

SHORT = "GALLERY_SHORT" in os.environ  # a smaller lake
SIZE, STEPS = (64, 60) if SHORT else (256, 300)
SPEED = 0.25  # the square of speed * time step / distance of points
try:
    from mpi4py import MPI

    processes, rank = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
except (ImportError, RuntimeError):  # mpi4py is not installed, or does not find a library of MPI
    processes, rank = 1, 0

# %% [markdown]
# ## The stencil
#
# `shift` gives each point its neighbour along a dim, and 0 beyond the shore. The names `x` and `y` say
# where the neighbours are. The islands reflect the waves.


# %%
def spread(height):
    """height(y, x) -> the sum of the neighbours less 4 times the height"""
    neighbours = [xt.shift(height, {dim: by}, fill_value=0.0) for dim in ("y", "x") for by in (1, -1)]
    return sum(neighbours[1:], neighbours[0]) - 4.0 * height


def simulate(height, water, length):
    """The heights after `length` steps, and the energy of the waves after each."""

    def step(carry, _):
        before, now = carry
        after = water * (2.0 * now - before + SPEED * spread(now))
        energy = xt.sum((after - now) ** 2) - SPEED * xt.sum(after * spread(now))
        return (now, after), energy

    (_, last), energy = xt.scan(step, (height, height), None, dim="step", length=length)
    return last, energy


# %% [markdown]
# ## The lake
#
# A drop falls next to the islands. Every process makes the whole lake, and takes its strip of it.

# %%
place = np.arange(SIZE) / SIZE
y, x = place[:, None], place[None, :]
water = ((y - 0.65) ** 2 + (x - 0.6) ** 2 > 0.01) & ((y - 0.3) ** 2 + (x - 0.75) ** 2 > 0.005)
drop = np.exp(-((y - 0.4) ** 2 + (x - 0.35) ** 2) / 0.0015) * water
lake = xt.array(drop.astype("f4"), ("y", "x")), xt.array(water.astype("f4"), ("y", "x"))

# %% [markdown]
# ## Run
#
# The mesh arranges the processes, and `split` says which dim is cut into strips. One process runs the
# same program without a mesh.

# %%
if processes > 1:
    mesh, split = xt.Mesh(strip=processes), {"y": "strip"}
    run = xt.jit(lambda *lake: simulate(*lake, STEPS), mesh=mesh, split=split)
    last, energy = run(*xt.local(lake, mesh, split))
    last = xt.gather(last, mesh, split)
else:
    last, energy = xt.jit(lambda *lake: simulate(*lake, STEPS))(*lake)
last, energy = last.values, energy.values
if rank == 0:
    print(f"{STEPS} steps of {SIZE} x {SIZE} points in {processes} process{'es' * (processes > 1)}")
    print(f"energy at the end: {energy[-1] / energy[0]:.4f} of the energy at the start")

# %% [markdown]
# ## Picture

# %%
if rank == 0:
    figure, axes = plt.subplots(figsize=(6.5, 6), layout="constrained")
    shown = np.ma.masked_where(~water, last)
    most = np.abs(last).max()
    axes.set_facecolor("#7a6a4f")
    axes.imshow(shown, cmap="RdBu", vmin=-most, vmax=most, origin="lower", extent=(0, 1, 0, 1))
    for strip in range(1, processes):
        axes.axhline(strip / processes, color="grey", lw=0.5, ls="--")
    axes.set(xticks=[], yticks=[], title=f"waves on a lake after {STEPS} steps; strips: {processes}")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/waves.png", dpi=100)
