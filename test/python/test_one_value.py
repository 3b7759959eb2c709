"""What several loops compute has one value in all of them, so that comparisons of it with itself hold."""

import numpy as np
import xtensor as xt


def _points(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((2, 64))


def test_gradient_of_a_maximum_over_a_product_that_is_used_again() -> None:
    """The maximum computes x * x - 1 in a loop of its own; where it is found, x * x is needed, too."""

    def loss(x: xt.Array) -> xt.Array:
        square = x * x
        y = square - 1.0
        return xt.sum(xt.max(y, "i")) + xt.sum(y * square)

    gradient = xt.jit(xt.grad(loss))
    for seed in range(4):
        x = _points(seed)
        want = 4 * x**3 - 2 * x + 2 * x * (np.abs(x) == np.abs(x).max(0))
        np.testing.assert_allclose(gradient(xt.array(x, ("i", "j"))).values, want, rtol=1e-12, atol=1e-12)


def test_a_maximum_is_among_what_it_is_of() -> None:
    @xt.jit
    def largest(x: xt.Array) -> xt.Array:
        square = x * x
        y = square - 0.3
        return xt.where(y == xt.max(y, "j"), square * y, 0.0)

    for seed in range(4):
        x = _points(seed).astype("f4")
        assert np.count_nonzero(largest(xt.array(x, ("i", "j"))).values, 1).tolist() == [1, 1]


def test_gradient_of_a_maximum_of_quotients_in_a_scan() -> None:
    """The way back works the quotients out again, beside the reciprocals that their derivative takes."""

    def loss(w: xt.Array, x: xt.Array, times: xt.Array) -> xt.Array:
        def step(c: xt.Array, t: xt.Array) -> tuple[xt.Array, xt.Array]:
            quotient = c / (w + t)
            return c * 1.5, xt.max(quotient, "i") ** 2 + xt.sum(quotient**2)

        return xt.sum(xt.scan(step, x, times, dim="t")[1])

    gradient = xt.jit(xt.grad(loss))
    times = np.arange(8.0)
    for seed in range(4):
        w, x = np.exp(_points(seed))
        scaled, shifted = 1.5 ** times[:, None] * x, w + times[:, None]
        quotient = scaled / shifted
        by_quotient = 2 * quotient * (1 + (quotient == quotient.max(1, keepdims=True)))
        want = np.sum(-by_quotient * scaled / shifted**2, 0)
        got = gradient(xt.array(w, "i"), xt.array(x, "i"), xt.array(times, "t")).values
        np.testing.assert_allclose(got, want, rtol=1e-12)
