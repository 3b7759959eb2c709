"""Modules of peers, which only the process of that peer imports."""

from __future__ import annotations

from typing import Any


def lax() -> Any:
    import jax

    return jax.lax


def jax_nn() -> Any:
    import jax

    return jax.nn


def jax_random() -> Any:
    import jax

    return jax.random


def jax_special() -> Any:
    import jax.scipy.special

    return jax.scipy.special


def scipy_special() -> Any:
    import scipy.special

    return scipy.special
