"""Building blocks of neural networks: `xt.nn`.

They are compositions of ops in numerically stable form, so they do not need derivative rules.
"""

from ..ops.convolution import avg_pool, conv, conv_transpose, max_pool
from ..ops.creation import one_hot
from .attending import attention
from .dropout import dropout
from .functions import cross_entropy, log_softmax, softmax
from .normalization import batch_norm, group_norm, layer_norm, rms_norm
from .scaling import scaled_value_and_grad

__all__ = [
    "attention",
    "avg_pool",
    "batch_norm",
    "conv",
    "conv_transpose",
    "cross_entropy",
    "dropout",
    "group_norm",
    "layer_norm",
    "log_softmax",
    "max_pool",
    "one_hot",
    "rms_norm",
    "scaled_value_and_grad",
    "softmax",
]


def __dir__() -> list[str]:
    return sorted(__all__)
