"""Functions of named arrays, as functions of other libraries' arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.errors import ArgumentError
from ..call.arguments import needs_function
from .numpy import named as named
from .positions import Positional, with_names
from .processes import gather as gather
from .processes import local as local


def blocks(f: Callable[..., Any], reduce: str = "sum") -> Callable[..., Any]:
    """Returns `f` as a function of arrays in chunks, whose results it combines: blocks(loss)(w, x, y).

    Arguments are pytrees of arrays. Those DataArrays that are in chunks (`x.chunk(time=1000)`) give one chunk to each
    call of `f`; so do other arrays along the dims that are in chunks. All other arguments are whole in each call.
    reduce: how the results of the calls become one: "sum", "mean" (weighted by the sizes of chunks), "max" or "min".
    Results must not have a dim along which there are several chunks.

    A call returns a `dask.delayed` of the result: nothing runs until its `.compute()`. `f` is compiled once, here. If
    chunks differ in size, the one program has open sizes. Workers load the code and compile nothing. Coordinates do not
    reach `f`. Needs the packages dask and xarray.

    Raises:
        ArgumentTypeError: no argument is in chunks.
        SizeError: chunks do not fit together.
        DimensionError: a result has a dim along which there are several chunks.

    Example:
    >>> import xarray as xr
    >>> x = xr.DataArray(np.arange(10.0), dims="time").chunk(time=3)
    >>> step = xt.blocks(xt.value_and_grad(lambda w, x: xt.sum(w * x * x)))
    >>> value, gradient = step(2.0, x).compute()
    >>> float(value), float(gradient)
    (570.0, 285.0)
    """
    from . import dask

    needs_function("blocks", f)
    if reduce not in dask.REDUCTIONS:
        raise ArgumentError(f"xt.blocks(reduce={reduce!r}): write one of {', '.join(map(repr, dask.REDUCTIONS))}")
    return dask.function(f, reduce)


def from_jax(f: Callable[..., Any], args: Any, result: Any) -> Callable[..., Any]:
    """Returns `f`, a function of JAX's arrays, as one of named arrays: g = from_jax(f, xt.spec(i=3), xt.spec(i=3)).

    args: for each argument of `f` a pytree of types (`xt.spec`), or of arrays as examples. The axes of a JAX array are
    the dims of its type, in order. A size of None takes every size. `f` gets the dtypes of the arguments of a call, not
    those of `args`; JAX makes float64 float32, unless jax_enable_x64 is set. result: the same for what `f` returns,
    with dtypes. A size of None in it is that of the dim in the arguments.

    In compiled code, Python calls `f` while the program waits (`xt.callback`). JAX computes its derivatives, in both
    modes and of every order. `f` is a function of its arguments alone: it may be called more often than written, or not
    at all. In xt.vectorize it is called for each instance. Needs the package jax.

    Raises:
        SizeError: an array has another size than its type.
        DimensionError: an array has other dims than its type.
        DTypeError: `f` returns another dtype than `result`.
        UnsupportedError: the program is exported.

    Example:
    >>> import jax.numpy as jnp
    >>> g = xt.from_jax(lambda x: jnp.sort(x) ** 2, xt.spec(i=None), xt.spec(i=None, dtype="f4"))
    >>> x = xt.array([3.0, 1.0], "i", dtype="f4")
    >>> xt.jit(xt.grad(lambda x: xt.sum(g(x))))(x).values
    array([6., 2.], dtype=float32)
    """
    from . import jax_inside

    needs_function("from_jax", f)
    return jax_inside.FromJax(f, args, result)


def from_stablehlo(program: Any, dims: Sequence[Any] | None = None) -> Any:
    """Returns a program of StableHLO as a function of named arrays: from_stablehlo(jax.jit(f).lower(x)).

    program: what `jax.jit(f).lower(..)` returns, a `jax.export.Exported`, or the text of a module. Of the text, the
    function takes the arrays of `main` by position, and returns an array or a tuple of them. Of the others, it takes
    and returns the pytrees of JAX's function.
    dims: the dims of each array of the arguments, axis by axis: a name or a tuple of names. By default, axes get the
    names d0, d1 .. Axes that the program matches with each other get one name. The results have the names of the axes
    that theirs come from; a second axis of one name gets a prime: d0'.

    The program becomes ops of xtensor, so derivatives, xt.vectorize, devices and bundles work. It is compiled for the
    sizes and dtypes that it has. Loops of lax.scan and lax.fori_loop become loops with a known number of steps.
    Needs the package jax.

    Raises:
        DimensionError: `dims` do not fit the program, or an array does not have its dims.
        SizeError: an array has another size than the program's.
        DTypeError: an array has another dtype than the program's.
        UnsupportedError: an op has no counterpart, once the function is called.

    Example:
    >>> import jax
    >>> import jax.numpy as jnp
    >>> lowered = jax.jit(lambda x, w: jnp.tanh(x @ w)).lower(jnp.ones((2, 3)), jnp.ones(3))
    >>> f = xt.from_stablehlo(lowered, [("sample", "feature"), "feature"])
    >>> x = xt.ones(sample=2, feature=3, dtype="f4")
    >>> xt.grad(lambda w: xt.sum(f(x, w)))(xt.zeros(feature=3, dtype="f4")).values
    array([2., 2., 2.], dtype=float32)
    """
    from .stablehlo import imports

    return imports.function(program, dims)


def to_jax(f: Callable[..., Any], args: Any, dims: Sequence[Any] | None = None) -> Any:
    """Returns `f` as a function of JAX's arrays: g = to_jax(f, (xt.spec(batch=None, x=3, dtype="f4"),)).

    args: for each argument of `f` a pytree of types (`xt.spec`), or of arrays as examples, whose dims and dtypes count.
    The dims of an array are those of its type, by position. A size of None may differ from call to call; each
    combination of sizes is compiled once.
    dims: for arrays of JAX and `jax.ShapeDtypeStruct` in `args` their dims, in order: a name or a tuple of names each.
    A ShapeDtypeStruct fixes the sizes, too.

    The function works inside of jax.jit, jax.grad, jax.jvp, jax.vmap and the other transformations, in any order. XLA
    calls the compiled code directly, on its own memory: nothing is copied. Needs the package jax, and a build of
    xtensor that found jaxlib. It runs on JAX's CPU devices.

    Raises:
        SizeError: an array has another size than its type.
        DTypeError: an array has another dtype than its type.
        ArgumentError: `dims` are not as many as the arrays without names.
        DimensionError: `dims` do not fit an array.

    Example:
    >>> import jax
    >>> g = xt.to_jax(lambda x: xt.sum(x * x, "i"), xt.spec(i=None, dtype="f4"))
    >>> jax.jit(jax.grad(g))(jax.numpy.array([1.0, 2.0]))
    Array([2., 4.], dtype=float32)
    """
    from . import jax

    return jax.function(Positional("to_jax", f, args if dims is None else with_names("to_jax", args, dims)))


def to_pytensor(f: Callable[..., Any], dims: str | Sequence[Any] | None = None) -> Any:
    """Returns `f` as a function of PyTensor's variables: g = to_pytensor(f), for those of `pytensor.xtensor`.

    Variables with named dims keep their names, and so do the results. Arguments and results may be pytrees. Arrays
    are constants of PyTensor's graph; numbers and other values that are not arrays are constants of `f`.
    dims: for plain tensors, a list with the dims of each argument by position: a name, a tuple of names, None for an
    argument that has names or is not an array, or a dict or list of these for a dict or list of arrays. The results
    are then plain tensors, too, whose axes are the dims of what `f` returns, in order.

    A size that a type knows is a constant of the program; another one is open, and one program serves all. The
    gradients are ops of the same kind, so that they have gradients themselves. Where a graph has a call and its
    gradient, both become one program, or the call keeps what the gradient needs. Arrays are shared, not copied. In
    Numba's mode, short programs with static sizes are called at their address, and others by Python (object mode). In
    JAX's mode, XLA calls the code as with `xt.to_jax`.
    Sizes that do not fit, results with a dtype that PyTensor lacks, and gradients with complex arrays are errors.
    Needs the package pytensor.

    Raises:
        DimensionError: the dims of a plain tensor are not named.

    Example:
    >>> import pytensor
    >>> import pytensor.xtensor as px
    >>> g = xt.to_pytensor(lambda x: xt.sum(x * x, "i"))
    >>> x = px.xtensor("x", dims=("i",))
    >>> y = g(x)
    >>> run = pytensor.function([x], [y, pytensor.grad(y.values, x)], mode="FAST_COMPILE")
    >>> [float(v.sum()) for v in run(np.array([1.0, 2.0]))]
    [5.0, 6.0]
    """
    from . import pytensor

    needs_function("to_pytensor", f)
    return pytensor.function(f, dims)


def pytensor_mode() -> Any:
    """Returns a mode of PyTensor that runs graphs on this compiler, and registers it as "XTENSOR".

    After the call, `pytensor.function(.., mode="XTENSOR")` works. To make it the default of the process, write
    `pytensor.config.mode = xt.pytensor_mode()`: the flag takes no names of new modes. A graph becomes one program, with
    gradients, scans, updates of shared variables and random variables. It is compiled for the sizes of each call, as
    `xt.jit` does. Integer arguments that sizes follow from are constants of the program, which is compiled for each
    value. If sizes depend on elements of arrays, a graph becomes several programs, one for what the sizes follow from.
    Random variables have the right distributions, and other numbers than in other modes.
    An op that it does not have raises UnsupportedError, which names the op and the variable, when the function is made.
    Needs the package pytensor.

    Raises:
        UnsupportedError: a graph has an op without counterpart, once a function is made.

    Example:
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> mode = xt.pytensor_mode()
    >>> x = pt.dvector("x")
    >>> run = pytensor.function([x], pytensor.grad((x**3).sum(), x), mode="XTENSOR")
    >>> run(np.array([1.0, 2.0])).tolist()
    [3.0, 12.0]
    """
    from .pytensor_mode import mode

    return mode()


def to_stablehlo(f: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Returns `f` at `args` as the text of a module of StableHLO, which JAX and other users of XLA run.

    The arguments are arrays or `xt.spec`, whose dims, sizes and dtypes count. Sizes are static. The function `main` of
    the module takes the arrays in the arguments of `f`, and returns those in its result, in order. The axes of each are
    its dims; comments at the top of the text name them. Arrays that `f` reads from outside are constants. Derivatives
    are ops like others: to_stablehlo(xt.grad(f), x). Special functions are ops of CHLO, which XLA expands. An index out
    of range is not an error there: a read takes the nearest element, and an update has no effect.

    Raises:
        SizeError: a size is open.
        UnsupportedError: an op has no counterpart, such as a loop.

    Example:
    >>> text = xt.to_stablehlo(lambda x: xt.exp(x), xt.spec(i=3, dtype="f4"))
    >>> next(line.strip() for line in text.splitlines() if "stablehlo" in line)
    '%0 = stablehlo.exponential %arg0 : tensor<3xf32>'
    """
    from .stablehlo import write

    needs_function("to_stablehlo", f)
    return write.text(f, args, kwargs)


def to_torch(f: Callable[..., Any], args: Any, *, parameters: Any = None) -> Any:
    """Returns `f` as a function of PyTorch's tensors: g = to_torch(f, (xt.spec(batch=None, x=3, dtype="f4"),)).

    args: for each argument of `f` a pytree of types (`xt.spec`), or of arrays as examples, whose dims and dtypes count.
    The dims of a tensor are those of its type, by position. A size of None may differ from call to call; each
    combination of sizes is compiled once.
    parameters: a pytree of arrays, the first argument of `f`. The result is then a `torch.nn.Module` which has these as
    its parameters, and `args` are the other arguments.

    The function has derivatives of every order, and runs inside of torch.compile and torch.vmap. Tensors are shared,
    not copied. Tensors are on the CPU. What is returned can be pickled if `f` can. Needs the package torch.

    Raises:
        SizeError: a tensor has another size than its type.
        DTypeError: a tensor has another dtype than its type.

    Example:
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
        return torch.Function(Positional("to_torch", f, given))
    return torch.Module(f, parameters, tuple(given))
