"""Runs the text of a module of StableHLO with JAX."""

from __future__ import annotations

from typing import Any

import numpy as np


def run(text: str, *arrays: Any) -> list[np.ndarray]:
    """The results of `main` as XLA computes them on the CPU, with the options of jax.jit."""
    import jax
    from jax._src import compiler
    from jax.extend import backend

    client = backend.get_backend("cpu")
    options = compiler.get_compile_options(1, 1)
    program = client.compile_and_load(text, client.local_devices()[:1], options)
    return [np.asarray(y) for y in program.execute([jax.device_put(np.asarray(a)) for a in arrays])]
