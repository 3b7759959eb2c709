"""The xtensor dialect: generated builders, enums and types.

Each name is there when it is first asked for: tracing builds ops by name, and would wait for hundreds of classes.
"""

from typing import Any

from .._mlir_libs._xtensor import ArrayType, LinearType  # noqa: F401


def _generated() -> dict[str, Any]:
    from . import _xtensor_enum_gen, _xtensor_ops_gen

    return {**vars(_xtensor_enum_gen), **vars(_xtensor_ops_gen)}


def __getattr__(name: str) -> Any:
    # Python itself asks for these of every module.
    if not name.startswith("__"):
        found = _generated()
        globals().update((k, v) for k, v in found.items() if not k.startswith("__"))
        if name in found:
            return found[name]
    raise AttributeError(f"the xtensor dialect has no {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_generated()})
