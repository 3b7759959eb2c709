"""Stand-ins: a Dataset of xarray with the coordinates of an array, whose variables are positions.

xarray selects from the stand-in. The result tells which positions to read, and which coordinates the result has. So
code that only depends on labels is not written here a second time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from ..base.dims import brief
from ..base.errors import ArgumentError, ArgumentTypeError, Error, LabelError
from ..labels.origins import consult, labels_of_traced, where_of
from ..labels.relabel import keeps_attrs
from ..labels.xarray import Labels, coordinates_of, dataarray, is_dataarray, labels_of, values_of
from ..trace import build
from ..trace.tracer import DynamicSize, Tracer, fixed
from .arguments import fail

if TYPE_CHECKING:
    import xarray

_UNKNOWN = (
    "Inside of a compiled function, arguments have labels. The carry of a loop and new arrays do not. "
    "x.assign_coords(time=days) gives an array labels"
)


_UNLABELLED = (
    "Its dims have no labels: x.isel(time=3) selects by position, and x.assign_coords(time=days) gives an array labels"
)


def place(dim: str) -> str:
    """The variable of a stand-in that has the positions along `dim`."""
    return f"~{dim}"


class StandIn:
    """An array without its labels (`bare`), and the stand-in that has them (`dataset`)."""

    def __init__(self, op: str, x: Any) -> None:
        import xarray

        if not hasattr(x, "dims") or not hasattr(x, "dtype"):
            raise fail(ArgumentTypeError, op, f"an array is needed, not {brief(x)}")
        self.op, self.x = op, x
        self.where = where_of(x) if isinstance(x, Tracer) else {}
        self.labels: Labels = labels_of_traced(x, self.where) if isinstance(x, Tracer) else labels_of(x)
        self.bare: Any = values_of(x) if is_dataarray(x) else x
        if isinstance(x, Tracer):
            self.bare = build.relabelled(x, Labels())
            # Along dynamic dims, other calls have other labels.
            kept = {k: v for k, v in self.labels.coords.items() if all(x.spec.sizes.get(str(d), 0) for d in v.dims)}
            self.labels = replace(self.labels, coords=kept)
        elif isinstance(self.bare, _native.Array) and self.bare.meta is not None:
            self.bare = self.bare._with_meta(None)
        # A dynamic size is not known: what depends on it fails below.
        sizes = [n if isinstance(n, int) else 0 for n in x.shape]
        like = dataarray(np.broadcast_to(np.int8(0), sizes), x.dims, self.labels)
        positions = {place(d): (d, np.arange(n)) for d, n in zip(x.dims, sizes, strict=True)}
        self.dataset = xarray.Dataset(positions, coords=like.coords)

    def needs(self, dims: Iterable[str], instead: str) -> None:
        """Refuses a traced array whose labels along some of its dims are not known."""
        dims = list(dims)
        self.consult(dims)
        for d in dims:
            if isinstance(self.x, Tracer) and d in self.x.dims and d not in self.labels.coords:
                is_open = isinstance(self.x.sizes[d], DynamicSize)
                instead = fixed(d) if is_open else f"{_UNKNOWN}. {instead}"
                raise fail(LabelError, self.op, f"dim {d!r} has no labels here", self.x, instead=instead)

    def consult(self, dims: Iterable[Any]) -> None:
        """Notes that the labels along these dims decide which positions are read: a bundle has no others."""
        if isinstance(self.x, Tracer):
            consult(self.x, [str(d) for d in dims if d in self.x.dims], self.where)

    def asked(self, ask: Callable[[xarray.Dataset], Any]) -> Any:
        """What xarray makes of the stand-in, its errors as ours."""
        import pandas

        try:
            return ask(self.dataset)
        except Error:
            raise
        except KeyError as error:
            missing = str(error.args[0] if error.args else error)
            missing = missing.partition(". Variables on the dataset")[0]  # among which are the stand-in's own
            if (dim := missing.strip("'\"")) in self.x.dims and dim not in self.dataset.indexes:
                raise self._error(LabelError, f"dim {dim!r} has no labels") from None
            raise self._error(LabelError, f"no such label: {missing}") from None
        except (IndexError, ValueError, NotImplementedError) as error:
            raise self._error(ArgumentError, _first_line(error)) from None
        except (TypeError, AttributeError) as error:
            raise self._error(ArgumentTypeError, _first_line(error)) from None
        except ImportError as error:
            raise self._error(ArgumentError, f"xarray needs another package for this: {error}") from None
        except pandas.errors.InvalidIndexError:
            raise self._error(LabelError, "labels that occur twice do not say which position to read") from None

    def _error(self, kind: type[Error], problem: str) -> Error:
        """With the labels that there are, in short."""
        shown = []
        for d in self.x.dims:
            index = self.dataset.indexes.get(d)
            if index is not None and len(index):
                shown.append(f"{d!r} has {len(index)} from {index[0]!s} to {index[-1]!s}")
        labels = f"Labels: {', '.join(shown)}" if shown else _UNLABELLED
        return fail(kind, self.op, problem, self.x, instead=labels)

    def labelled(self, y: Any, found: xarray.Dataset | xarray.DataArray, reduced: bool = False) -> Any:
        """The result `y`, a DataArray where one went in, with the coordinates of `found`. `reduced`: its attributes go
        as those of reductions do."""
        coords, levels = coordinates_of(found)
        kept = {k: v for k, v in coords.items() if {*map(str, v.dims)} <= {*y.dims}}
        attrs = {} if reduced and not keeps_attrs(self.op) else dict(self.labels.attrs)
        return relabelled(y, Labels(kept, self.labels.name, attrs, levels), is_dataarray(self.x), self.x)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    text = lines[0]
    text = re.sub(r"\.? Instead got$", "", text.rstrip())  # what it got is on other lines
    text = re.sub(rf"on \{{[^{{}}]*{place('')}[^{{}}]*\}}", "in the array", text)  # a stand-in's own variables
    return text.rstrip(".")


def relabelled(y: Any, labels: Labels, as_dataarray: bool, x: Any = None) -> Any:
    """`y` with these labels in place of its own; along dynamic dims, with those of `x`."""
    if isinstance(y, Tracer):
        return build.relabelled(y, labels, x if isinstance(x, Tracer) else None)
    if not as_dataarray:
        return y._with_meta(labels or None)
    made = dataarray(y.values, y.dims, labels)
    made.name, made.attrs = labels.name, dict(labels.attrs)
    return made
