"""Functions of named arrays, as functions of other libraries' arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .numpy import named as named
from .positions import Positional
from .processes import gather as gather
from .processes import local as local


def to_jax(f: Callable[..., Any], args: Any) -> Any:
    """Returns `f` as a function of JAX's arrays: g = to_jax(f, (xt.spec(batch=None, x=3, dtype="f4"),)).

    args: for each argument of `f` a pytree of types (`xt.spec`), or of arrays as examples, whose dims and dtypes count.
    The dims of an array are those of its type, by position. A size of None may differ from call to call; each
    combination of sizes is compiled once.

    The function works inside of jax.jit, jax.grad, jax.jvp, jax.vmap and the other transformations, in any order. XLA
    calls the compiled code directly, on its own memory: nothing is copied.
    Raises DTypeError or SizeError for an array that differs from its type. Needs the package jax, and a build of
    xtensor that found jaxlib. It runs on JAX's CPU devices.

    >>> import jax
    >>> g = xt.to_jax(lambda x: xt.sum(x * x, "i"), xt.spec(i=None, dtype="f4"))
    >>> jax.jit(jax.grad(g))(jax.numpy.array([1.0, 2.0]))
    Array([2., 4.], dtype=float32)
    """
    from . import jax

    return jax.function(Positional("to_jax", f, args))


def to_torch(f: Callable[..., Any], args: Any, *, parameters: Any = None) -> Any:
    """Returns `f` as a function of PyTorch's tensors: g = to_torch(f, (xt.spec(batch=None, x=3, dtype="f4"),)).

    args: for each argument of `f` a pytree of types (`xt.spec`), or of arrays as examples, whose dims and dtypes count.
    The dims of a tensor are those of its type, by position. A size of None may differ from call to call; each
    combination of sizes is compiled once.
    parameters: a pytree of arrays, the first argument of `f`. The result is then a `torch.nn.Module` which has these as
    its parameters, and `args` are the other arguments.

    The function has derivatives of every order, and runs inside of torch.compile. Tensors are shared, not copied.
    Raises DTypeError or SizeError for a tensor that differs from its type, and DeviceError for one that is not on the
    CPU. Needs the package torch.

    >>> import torch
    >>> g = xt.to_torch(lambda x: xt.sum(x * x, "i"), (xt.spec(i=None, dtype="f4"),))
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> g(x).backward()
    >>> x.grad
    tensor([2., 4.])
    """
    from . import torch

    given = args if isinstance(args, (tuple, list)) else (args,)
    if parameters is None:
        return torch.function(Positional("to_torch", f, given))
    return torch.Module(f, parameters, tuple(given))
