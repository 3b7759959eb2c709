"""Looks into programs: values of compiled code, the IR of every phase, and writes to shared memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .base.calls import check_takes
from .base.errors import UnsupportedError
from .call.arguments import name_of, needs_function
from .compiler.debug import check_shared as check_shared
from .compiler.debug import dump_phases as dump_phases
from .trace.callbacks import exporting
from .trace.printing import show
from .trace.scope import tracing
from .trace.stopping import stop
from .transforms.callback import callback as _callback
from .transforms.custom import custom_derivative

__all__ = ["backward", "breakpoint", "callback", "check_shared", "dump_phases", "print"]


def __dir__() -> list[str]:
    return sorted(__all__)


def print(text: str, /, *args: Any, **kwargs: Any) -> None:
    """Prints `text` each time that the program gets here, with its fields filled in: print("loss {:.3f}", loss).

    Fields are those of str.format, by position or by name. Arguments are pytrees, of any dims and dtypes. An array
    without dims is formatted as a number. A format of an array with dims is that of its elements.

    It works on concrete arrays, in functions that are compiled, in loops and branches, and on devices. Lines come in
    the order of the program. In xt.vectorize there is a line for each instance, which begins with its position.
    Derivatives do not see it. A bundle leaves it out, with a warning. A program without it does not pay for it.

    Raises:
        ArgumentError: fields, formats and arguments do not fit together.

    Example:
    >>> f = xt.jit(lambda x: [xt.debug.print("x is {:.2f}", x), x * x][1])
    >>> y = f(3.0)
    x is 3.00
    """
    show(text, args, kwargs, "debug.print")


def backward(x: Any, text: str = "{}") -> Any:
    """Returns `x`, and prints its cotangent where a gradient gets here: y = f(xt.debug.backward(x, "to x: {}")).

    x: a pytree of arrays. The field of `text` is what `x` is: a pytree of cotangents, with the dims of the arrays, and
    None for integers. Forward derivatives, and programs without derivatives, print nothing.

    Example:
    >>> g = xt.jit(xt.grad(lambda x: xt.debug.backward(x * x, "dy: {}") * 3.0))
    >>> dx = g(2.0)
    dy: 3.0
    """
    if not tracing():
        return x

    def back(_: None, ct: Any) -> tuple[Any]:
        show(text, (ct,), {}, "debug.backward")
        return (ct,)

    same = custom_derivative(_same)
    same.defpushforward(lambda primals, tangents: (primals[0], tangents[0]))
    same.defpullback(lambda x: (x, None), back)
    return same(x)


def _same(x: Any) -> Any:
    return x


def callback(f: Callable[..., Any], *args: Any) -> None:
    """Calls `f(*args)` each time that the program gets here, for its effect: callback(losses.append, loss).

    f: gets the arguments, with concrete arrays on the CPU in place of traced ones. What it returns is not looked at.

    Calls come in the order of the program. In xt.vectorize there is a call for each instance. Derivatives do not see
    it. An exception in `f` is that of the call of the program. A bundle cannot have such a call: xt.export raises
    UnsupportedError. `xt.callback` takes results back, too.

    Raises:
        UnsupportedError: the program is exported.

    Example:
    >>> seen = []
    >>> f = xt.jit(lambda x: [xt.debug.callback(lambda x: seen.append(x.item()), x), x * x][1])
    >>> y = f(3.0)
    >>> seen
    [3.0]
    """

    def effect(*args: Any) -> tuple[()]:
        f(*args)
        return ()

    needs_function("debug.callback", f)
    check_takes("debug.callback", f, args)
    if exporting():
        raise UnsupportedError(
            f"xt.debug.callback({name_of(f)}): a bundle has no Python to call, and what the call is for would be "
            "missing. Leave it out of what is exported; xt.debug.print is left out by itself, with a warning"
        )
    _callback(functools.wraps(f)(effect) if hasattr(f, "__name__") else effect, *args, result=())


def breakpoint() -> None:
    """Opens Python's debugger, pdb, each time that the program gets here, with the values that your names have there.

    The names are those of the function around the line. Arrays are concrete, on the CPU; what pdb changes, the program
    does not see. It works where `xt.debug.print` does. In xt.vectorize, it stops for each instance, whose position is
    `instance`. `c` goes on; `n` and `s` go to the next stop, or to the line after the call. `q` ends the call with
    bdb.BdbQuit, which ends a program without a traceback. Bundles do not stop: xt.export warns.

    Example:
    >>> def f(x):
    ...     y = x * x
    ...     xt.debug.breakpoint()  # in the call g(3.0), `p y` shows that y is 9
    ...     return y
    >>> g = xt.jit(f)
    """
    stop()
