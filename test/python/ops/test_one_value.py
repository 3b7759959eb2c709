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


def test_gradient_of_a_maximum_over_a_product_in_a_scan() -> None:
    """The way back works the elements out again, beside a product that has other uses there."""

    def loss(x: xt.Array, times: xt.Array) -> xt.Array:
        def step(c: xt.Array, t: xt.Array) -> tuple[xt.Array, xt.Array]:
            square = c * c
            y = square - t
            return c * 1.1, xt.max(y, "i") ** 2 + xt.sum(y * square)

        return xt.sum(xt.scan(step, x, times, dim="t")[1])

    gradient = xt.jit(xt.grad(loss))
    times = np.linspace(0.1, 0.9, 7)
    for seed in range(4):
        x = _points(seed)[0]
        scale = 1.1 ** np.arange(7)[:, None]
        c = scale * x
        y = c * c - times[:, None]
        by_c = 2 * y * 2 * c * (y == y.max(1, keepdims=True)) + 4 * c**3 - 2 * c * times[:, None]
        got = gradient(xt.array(x, "i"), xt.array(times, "t")).values
        np.testing.assert_allclose(got, np.sum(by_c * scale, 0), rtol=1e-10, atol=1e-10)


def test_a_product_minus_itself_is_zero() -> None:
    @xt.jit
    def area(x: xt.Array, y: xt.Array) -> xt.Array:
        return x * y - y * x + (x * x - y * y)

    x = _points(0)[0]
    assert not np.any(area(xt.array(x, "i"), xt.array(x, "i")).values)
