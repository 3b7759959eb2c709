"""What __main__.py needs of a program, and what several programs in JAX share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

Tree = Any


@dataclass
class Pair:
    """A compiled function of xtensor, the same function in JAX, and a number that must agree."""

    ours: Callable[..., Any]
    our_arguments: tuple[Any, ...]
    our_result: Callable[[Any], float]
    jax: Callable[..., Any]
    jax_arguments: tuple[Any, ...]
    jax_result: Callable[[Any], float]
    tolerance: float
    steps: int = 1  # of one call


def value(x: Any, *dims: str) -> jax.Array:
    """An array of xtensor as one of JAX, with the axes in this order."""
    return jnp.asarray((x.transpose(*dims) if dims else x).values)


def adam_state(p: Tree) -> Tree:
    zeros = jax.tree.map(jnp.zeros_like, p)
    return jnp.zeros((), "i4"), zeros, zeros


def adam(p: Tree, gradient: Tree, state: Tree, rate: Any, decay: float = 0.0) -> tuple[Tree, Tree]:
    """A step of Adam: parameters and state."""
    count, mean, square = state
    count = count + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradient)
    steps = count.astype("f4")
    of_mean, of_square = 1 - 0.9**steps, 1 - 0.999**steps

    def moved(p: Any, m: Any, v: Any) -> Any:
        by = (m / of_mean) / (jnp.sqrt(v / of_square) + 1e-8)
        return p - rate * (by + decay * p if decay else by)

    return jax.tree.map(moved, p, mean, square), (count, mean, square)


def cosine(peak: float, steps: int) -> Callable[[Any], Any]:
    return lambda count: peak * 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip(count / steps, 0, 1)))


def trained(loss: Callable[..., Any], rate: Callable[[Any], Any], steps: int) -> Callable[..., Any]:
    """Steps of Adam as one scan: ((p, state), losses)."""

    def train(p: Tree, state: Tree, *data: Any) -> Any:
        def step(carry: Any, _: None) -> Any:
            p, state = carry
            found, gradient = jax.value_and_grad(loss)(p, *data)
            return adam(p, gradient, state, rate(state[0])), found

        return jax.lax.scan(step, (p, state), None, length=steps)

    return train
