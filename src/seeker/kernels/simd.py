"""The building blocks of the compiled kernels: bit casts, `exp`, `log`, and wide vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit
from numba.core import config, types
from numba.extending import intrinsic, overload


def _has_wide_vectors() -> bool:
    """Whether the processor that is compiled for has vectors of twice the lanes (AVX-512)."""
    features: str | None = config.CPU_FEATURES  # type: ignore[attr-defined]
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return "+avx512f" in features.split(",")


WIDE = _has_wide_vectors()
"""Whether two items at a time fit a vector. No number depends on it."""


def kernel(function: Any) -> Any:
    """Compile a kernel: without the interpreter lock, cached on disk, IEEE rules kept."""
    return njit(nogil=True, cache=True, error_model="numpy")(function)


def inlined(function: Any) -> Any:
    """Compile a small function that disappears into the kernels calling it."""
    return njit(inline="always", error_model="numpy")(function)


def _cast(source: Any, target: Any) -> Any:
    """Make the intrinsic that reads the bits of one type of number as those of another."""

    def typed(typing_context: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(target))

        return target(source), emit

    return intrinsic(typed)


float_bits = _cast(types.float64, types.uint64)
bits_float = _cast(types.uint64, types.float64)
single_bits = _cast(types.float32, types.uint32)
bits_single = _cast(types.uint32, types.float32)


def _fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a · b + c with one rounding."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return a(a, a, a), emit


fma: Any = intrinsic(_fma)


def _beyond(typing_context: Any, value: Any, start: Any) -> Any:
    """Return by how much a whole number without sign exceeds another: 0 where it does not."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        saturated = builder.module.declare_intrinsic(
            "llvm.usub.sat", [kind], ir.FunctionType(kind, [kind, kind])
        )
        return builder.call(saturated, args)

    return value(value, value), emit


beyond: Any = intrinsic(_beyond)


def _prefer_wide(typing_context: Any) -> Any:
    """Have the loops of the function this is called in use the widest vectors there are.

    LLVM shuns those of 512 bits, because the first processors that had them slowed down. No number
    depends on it, for every item of a loop is computed by itself.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if WIDE:
            # llvmlite takes in names that it knows only, and this is LLVM's own.
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), emit


prefer_wide: Any = intrinsic(_prefer_wide)


# exp and log: the range is reduced by a power of two, the rest is a short series. No branches, so
# the compiler turns loops over them into vector code. In float64 the relative error is below
# 2e-13, in float32 below 2e-7: both are small beside the unit in which log-likelihoods are kept.
_SHIFT = 1.5 * 2.0**52  # adding it rounds a float64 to a whole number, kept in its low bits
_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10 = (1.0 / math.factorial(k) for k in range(3, 11))
_A3, _A5, _A7, _A9, _A11, _A13, _A15, _A17 = (1.0 / k for k in range(3, 18, 2))
_SHIFT_BITS = np.float64(_SHIFT).view(np.uint64)
_ONE_BITS = np.float64(1.0).view(np.uint64)
_TO_ONE = np.uint64(_ONE_BITS - np.float64(math.sqrt(0.5)).view(np.uint64))
_TWO52_BITS = np.float64(2.0**52).view(np.uint64)
_TWO52_BIASED = 2.0**52 + 1023.0
_MANTISSA = np.uint64(52)
_BIAS = np.uint64(1023)

_F = np.float32
_SHIFT32 = _F(1.5 * 2.0**23)
_LOG2E32 = _F(_LOG2E)
_LN2_HIGH32 = _F(0.693359375)  # few bits, so that its multiples are exact
_LN2_LOW32 = _F(math.log(2.0) - 0.693359375)
_F3, _F4, _F5, _F6 = (_F(1.0 / math.factorial(k)) for k in range(3, 7))
_B3, _B5, _B7, _B9, _B11, _B13 = (_F(1.0 / k) for k in range(3, 14, 2))
_ONE_BITS32 = _F(1.0).view(np.uint32)
_TO_ONE32 = np.uint32(_ONE_BITS32 - _F(math.sqrt(0.5)).view(np.uint32))
_TWO23_BITS = _F(2.0**23).view(np.uint32)
_TWO23_BIASED = _F(2.0**23 + 127.0)
_MANTISSA32 = np.uint32(23)
_BIAS32 = np.uint32(127)
_0, _1, _2, _HALF, _LEAST32 = _F(0.0), _F(1.0), _F(2.0), _F(0.5), _F(-87.0)
_UNITS32 = _F(2.0**20)

_LOWEST32 = np.nextafter(_F(-(2.0**11)), _0)  # its units are an int32, and so are they negated

# Beyond this many nats a term grows with the bits of its number, that is with its logarithm: by
# 2**40 units for every power of two, hence by no more than half as much again.
_DEEP = 2.0**31
_DEEP_BITS = np.float64(_DEEP).view(np.uint64)
_TO_DEEPER = np.uint64(12)

_HALF_WORD = np.uint64(32)
_LOW_HALF = np.uint64(2**32 - 1)
_HIGH_BITS = np.float64(2.0**84 + 2.0**63).view(np.uint64)
_HIGH = 2.0**84 + 2.0**63 + 2.0**52


def _by_type(name: str, double: Any, single: Any) -> Any:
    """Make one function of two: numba picks the one for numbers of 64 bits, or that for 32."""

    def chosen(x: Any) -> Any:
        raise NotImplementedError(f"{name} runs in compiled code only")

    chosen.__name__ = name
    overload(chosen, inline="always", jit_options={"error_model": "numpy"})(
        lambda x: single if x in (types.float32, types.int32) else double
    )
    return chosen


def _exp(x):  # type: ignore[no-untyped-def]
    x = max(x, -700.0)
    shifted = fma(x, _LOG2E, _SHIFT)
    n = shifted - _SHIFT
    r = fma(n, -_LN2_LOW, fma(n, -_LN2_HIGH, x))
    r2 = r * r
    low = fma(r2, fma(_E3, r, 0.5), 1.0 + r)
    middle = fma(r2, fma(_E7, r, _E6), fma(_E5, r, _E4))
    high = fma(r2, _E10, fma(_E9, r, _E8))
    r4 = r2 * r2
    series = fma(r4, fma(r4, high, middle), low)
    return series * bits_float((float_bits(shifted) + _BIAS) << _MANTISSA)


def _exp32(x):  # type: ignore[no-untyped-def]
    x = max(x, _LEAST32)
    shifted = fma(x, _LOG2E32, _SHIFT32)
    n = shifted - _SHIFT32
    r = fma(n, -_LN2_LOW32, fma(n, -_LN2_HIGH32, x))
    r2 = r * r
    low = fma(r2, fma(_F3, r, _HALF), _1 + r)
    high = fma(r2, _F6, fma(_F5, r, _F4))
    series = fma(r2 * r2, high, low)
    return series * bits_single((single_bits(shifted) + _BIAS32) << _MANTISSA32)


exp = _by_type("exp", _exp, _exp32)
"""e**x for x ≤ 0; what is below e**-700 (float32: e**-87) is that."""


def _atanh2(x):  # type: ignore[no-untyped-def]
    z = x * x
    z2 = z * z
    z4 = z2 * z2
    low = fma(z2, fma(_A7, z, _A5), fma(_A3, z, 1.0))
    high = fma(z4, _A17, fma(z2, fma(_A15, z, _A13), fma(_A11, z, _A9)))
    return (x + x) * fma(z4, high, low)


def _atanh2_32(x):  # type: ignore[no-untyped-def]
    z = x * x
    z2 = z * z
    low = fma(z2, fma(_B7, z, _B5), fma(_B3, z, _1))
    high = fma(z2, _B13, fma(_B11, z, _B9))
    return (x + x) * fma(z2 * z2, high, low)


atanh2 = _by_type("atanh2", _atanh2, _atanh2_32)
"""2·atanh(s) for |s| ≤ 1/3, which makes a logarithm: to 1e-9 (float32: 1e-7), closer near 0."""


def _log(x):  # type: ignore[no-untyped-def]
    bits = float_bits(x)
    exponent = (bits + _TO_ONE) >> _MANTISSA
    mantissa = bits_float(bits - ((exponent << _MANTISSA) - _ONE_BITS))
    power = bits_float(exponent + _TWO52_BITS) - _TWO52_BIASED
    rest = atanh2((mantissa - 1.0) / (mantissa + 1.0))
    return fma(power, _LN2_HIGH, fma(power, _LN2_LOW, rest))


def _log32(x):  # type: ignore[no-untyped-def]
    bits = single_bits(x)
    # Without the cast the sum has 64 bits, and so has what follows: half as many at a time.
    exponent = np.uint32(bits + _TO_ONE32) >> _MANTISSA32
    mantissa = bits_single(bits - ((exponent << _MANTISSA32) - _ONE_BITS32))
    power = bits_single(exponent + _TWO23_BITS) - _TWO23_BIASED
    rest = atanh2((mantissa - _1) / (mantissa + _1))
    return fma(power, _LN2_HIGH32, fma(power, _LN2_LOW32, rest))


log = _by_type("log", _log, _log32)
"""The natural logarithm of a positive normal number."""


def _log_sigmoid(x):  # type: ignore[no-untyped-def]
    e = exp(-abs(x))
    return min(x, 0.0) - atanh2(e / (2.0 + e))


def _log_sigmoid32(x):  # type: ignore[no-untyped-def]
    e = exp(-abs(x))
    return min(x, _0) - atanh2(e / (_2 + e))


log_sigmoid = _by_type("log_sigmoid", _log_sigmoid, _log_sigmoid32)
"""log(1 / (1 + e**-u)), without overflow."""


def _to_units(x):  # type: ignore[no-untyped-def]
    near = np.int64(float_bits(fma(max(-_DEEP, x), 1048576.0, _SHIFT)) - _SHIFT_BITS)
    return near - np.int64(beyond(float_bits(abs(x)), _DEEP_BITS) >> _TO_DEEPER)


def _to_units32(x):  # type: ignore[no-untyped-def]
    return np.int32(fma(max(_LOWEST32, x), _UNITS32, -_HALF))


to_units = _by_type("to_units", _to_units, _to_units32)
"""x ≤ 0 nats as a whole number of units of 2**-20 nats: int64 of a float64, int32 of a float32.

Every x has its units, on every processor. In float32 what is below
-2**11 nats is about that. In float64
what is below -2**31 nats goes on falling, with the logarithm only: what is farther stays farther,
more than two thousand terms can be added up, and -inf and NaN are the farthest."""


def _to_nats(x):  # type: ignore[no-untyped-def]
    # The two halves of its bits become a float64 each.
    bits = np.uint64(x)
    high = bits_float((bits >> _HALF_WORD) ^ _HIGH_BITS) - _HIGH
    low = bits_float((bits & _LOW_HALF) | _TWO52_BITS)
    return (high + low) * 9.5367431640625e-07


def _to_nats32(x):  # type: ignore[no-untyped-def]
    return x * 9.5367431640625e-07


to_nats = _by_type("to_nats", _to_nats, _to_nats32)
"""A whole number of units in nats; exactly up to 2**53 units, beyond to the nearest."""
