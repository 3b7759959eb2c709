"""Dense linear algebra: `xt.linalg`. Two named dims are the matrix, and all other dims are batches."""

from .banded import solve_banded, tridiagonal_solve
from .factors import cholesky, eig, eigh, eigvals, lu, qr, svd
from .functions import expm, matrix_power, matrix_rank, sqrtm
from .products import block_diag, congruence, kron, matmul, quadratic_form, toeplitz, tril, triu
from .reductions import det, diagonal, norm, slogdet, trace
from .solutions import cho_solve, inv, lstsq, lu_solve, pinv, solve, triangular_solve

__all__ = [
    "block_diag", "cho_solve", "cholesky", "congruence", "det", "diagonal", "eig", "eigh", "eigvals", "expm", "inv",
    "kron", "lstsq", "lu", "lu_solve", "matmul", "matrix_power", "matrix_rank", "norm", "pinv", "qr", "quadratic_form",
    "slogdet", "solve", "solve_banded", "sqrtm", "svd", "toeplitz", "trace", "triangular_solve", "tridiagonal_solve",
    "tril", "triu",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
