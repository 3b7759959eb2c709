"""The xtensor dialect: generated builders, enums and types."""

from .._mlir_libs._xtensor import ArrayType, LinearType  # noqa: F401
from ._xtensor_enum_gen import *  # noqa: F403
from ._xtensor_ops_gen import *  # noqa: F403
