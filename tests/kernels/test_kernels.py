"""The compiled kernels against plain numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from seeker.kernels import DEEPEST, EXACT, UNIT, columns, likelihood, posterior, simd
from seeker.space.packing import for_kernels
from seeker.types import Array


def over(function: Any, result: Any = np.float64) -> Callable[[Array], Array]:
    """Turn a small kernel of one number into one of an array; result: the type of its numbers.

    It is given numbers of the array's own type, for what a cast of others makes of them may differ
    from one processor to the next.
    """

    @njit
    def loop(x: Any, out: Any) -> None:
        for n in range(x.size):
            out[n] = function(x[n])

    def call(x: Array) -> Array:
        out = np.empty(len(x), result)
        loop(np.ascontiguousarray(x), out)
        return out

    return call


def test_exp_and_log_are_accurate() -> None:
    x = -np.concatenate([[0.0], np.logspace(-12, 2.84, 4000)])
    np.testing.assert_allclose(over(simd.exp)(x), np.exp(x), rtol=1e-12)
    assert over(simd.exp)(np.array([-1e9, -np.inf])) == pytest.approx(np.exp(-700), rel=1e-9)
    y = np.concatenate([np.logspace(-300, 300, 4000), np.linspace(0.4, 2.1, 1001)])
    np.testing.assert_allclose(over(simd.log)(y), np.log(y), rtol=1e-13, atol=1e-13)
    u = np.concatenate([np.linspace(-900, 900, 4001), np.linspace(-3, 3, 1001)])
    np.testing.assert_allclose(over(simd.log_sigmoid)(u), -np.logaddexp(0, -u), rtol=0, atol=3e-9)


def test_units_round_to_the_nearest() -> None:
    x = np.concatenate([-np.logspace(-9, 9.3, 500), [0.0, -0.5 * UNIT, -1.5 * UNIT, -EXACT]])
    units = over(simd.to_units, np.int64)(x)
    np.testing.assert_array_equal(units, np.rint(x / UNIT))
    np.testing.assert_array_equal(over(simd.to_nats)(units), units * UNIT)


def test_units_of_any_size_become_nats() -> None:
    sizes = 2 ** np.arange(63, dtype=np.int64)
    units = np.concatenate([[0], sizes, -sizes, 1 - sizes, -3 * (sizes[:61] // 2) - 1])
    np.testing.assert_array_equal(over(simd.to_nats)(units), units * UNIT)


def test_every_number_has_units_and_what_is_farther_has_no_fewer() -> None:
    x = np.concatenate([[np.nan, -np.inf], -np.logspace(308, 9.4, 900), [-EXACT, -1.0, 0.0]])
    units = over(simd.to_units, np.int64)(x)
    assert (np.diff(units[1:]) > 0).all()
    assert -DEEPEST / UNIT <= units[0] <= units[1]
    single = x[x > -1e38].astype(np.float32)
    single = np.concatenate([[np.float32(np.nan), np.float32(-np.inf)], single])
    lowest = 128 - 2**31  # the next float32 would not fit when its sign is turned
    assert over(simd.to_units, np.int64)(single).tolist()[-3:] == [lowest, -(2**20), 0]
    assert (over(simd.to_units, np.int64)(single[:-2]) == lowest).all()


@given(
    st.integers(1, 70),
    st.integers(1, 30),
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 200),
    st.sampled_from([np.float32, np.float16, np.int8]),
)
def test_columns_are_products_and_do_not_depend_on_company(
    d: int, count: int, dtype: type, items: int, stored: type
) -> None:
    rng = np.random.default_rng(d * 1000 + count)
    x: Array = (rng.normal(size=(items, d)) * (30 if stored is np.int8 else 1)).astype(stored)
    steps: Array = np.empty(0, np.float32)
    if stored is np.int8:
        steps = for_kernels(rng.uniform(0.01, 0.05, items).astype(np.float32))
    width = -(-d // 8) * 8
    origin: Array = np.zeros(width, dtype)
    origin[:d] = rng.normal(size=d).astype(np.float32)
    q: Array = np.zeros((count, width), dtype)
    q[:, :d] = rng.normal(size=(count, d))
    constants: Array = rng.normal(size=count).astype(dtype)

    def run(rows: Array, some: slice) -> Array:
        chosen = q[some]
        packed = np.ascontiguousarray(chosen.reshape(len(chosen), width // 8, 8).transpose(1, 0, 2))
        out: Array = np.empty((len(chosen), len(rows)), dtype)
        columns.columns(for_kernels(x), steps, rows, origin, packed, constants[some], out)
        return out

    whole = run(np.arange(items), slice(None))
    expected = (x.astype(float) - origin[:d]) @ q[:, :d].T.astype(float)
    expected = (expected * steps[:, None] if steps.size else expected) + constants
    np.testing.assert_allclose(
        whole.T, expected, rtol=0, atol=1e-4 if dtype is np.float32 else 1e-12
    )
    picked = rng.choice(items, min(items, 7), replace=False)
    np.testing.assert_array_equal(run(picked, slice(None)), whole[:, picked])
    np.testing.assert_array_equal(run(picked, slice(0, 1)), whole[:1, picked])
    np.testing.assert_array_equal(run(picked, slice(count // 2, None)), whole[count // 2 :, picked])


@pytest.mark.parametrize("number", [np.float32, np.float64])
@given(st.integers(1, 200), st.integers(1, 20), st.floats(0.0, 0.9), st.booleans())
def test_choice_does_not_depend_on_the_strip(
    number: type, items: int, shown: int, slip: float, liked: bool
) -> None:
    rng = np.random.default_rng(items * 100 + shown)
    made = rng.normal(size=(2, shown, items)).astype(np.float32) * 3
    mixtures = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    sigmas = np.array([0.8, 0.4, 0.1, 0.05])
    toward = 1.0 if liked else -1.0

    def run(part: Array) -> Array:
        units = np.zeros((12, part.shape[2]), np.int64)
        places = np.arange(shown)
        likelihood.choice(
            np.ascontiguousarray(part, number),
            (toward * mixtures).astype(number),
            (1 / sigmas).astype(number),
            number(1 - slip),
            number(slip / shown),
            float(np.log(slip / shown)) if slip / shown > 0 else -np.inf,
            places,
            np.ones(1, np.int32 if number is np.float32 else np.int64),
            units,
        )
        return units

    whole = run(made)
    np.testing.assert_array_equal(run(made[:, :, 3:]), whole[:, 3:])
    d = np.einsum("wv,vki->wki", mixtures, made.astype(float)) * toward
    for w in range(3):
        for s, sigma in enumerate(sigmas):
            logits = -d[w] / sigma
            log_soft = logits[0] - np.logaddexp.reduce(logits)
            with np.errstate(divide="ignore"):
                expected = np.logaddexp(np.log1p(-slip) + log_soft, np.log(slip / shown))
            got = whole[w * 4 + s] * UNIT
            fine = (1e-9, 1e-6) if number is np.float64 else (1e-6, 3e-5)
            np.testing.assert_allclose(got, expected, *fine)
    assert (whole <= 0).all()


@given(st.integers(1, 150), st.integers(1, 16))
def test_scores_average_over_the_settings(items: int, thetas: int) -> None:
    rng = np.random.default_rng(items)
    units = -rng.integers(0, 2**33, (thetas, items))
    weights = np.log(rng.dirichlet(np.ones(thetas)))
    out = np.empty(items)
    posterior.scores(units, weights, out)
    expected = np.logaddexp.reduce(units * UNIT + weights[:, None])
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-6)
