"""The building blocks of the compiled kernels: bit casts, `exp`, `log`, dot products in lanes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

LANES = 8
"""Dot products are summed in this many interleaved partial sums, on every processor."""

_INDEX = ir.IntType(64)


def kernel(function: Any) -> Any:
    """Compile a kernel: without the interpreter lock, cached on disk, IEEE rules kept."""
    return njit(nogil=True, cache=True, error_model="numpy")(function)


def inlined(function: Any) -> Any:
    """Compile a small function that disappears into the kernels calling it."""
    return njit(inline="always", error_model="numpy")(function)


def _float_bits(typing_context: Any, value: Any) -> Any:
    """Read the bits of a float64 as an unsigned integer."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), emit


def _bits_float(typing_context: Any, value: Any) -> Any:
    """Read an unsigned integer's bits as a float64."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), emit


float_bits: Any = intrinsic(_float_bits)
bits_float: Any = intrinsic(_bits_float)


def dots(count: int) -> Any:
    """Make the intrinsic that multiplies one vector with `count` probes at a time."""

    def typed(
        typing_context: Any, item: Any, origin: Any, probes: Any, first: Any, out: Any
    ) -> Any:
        """Write (item − origin) · probe to out[first : first + count] for that many probes.

        item, origin: (d,), d a multiple of eight; probes: (d / 8, probes, 8), so that what is
        needed together lies together. The item's numbers are turned into the probes' type first.
        Each product is summed in eight lanes, then across the lanes by halves: an order of
        additions that is the same on every processor and for every count.
        """

        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            item_, origin_, probes_, out_ = (
                context.make_array(signature.args[i])(context, builder, args[i])
                for i in (0, 1, 2, 4)
            )
            number = context.get_data_type(probes.dtype)
            vector = ir.VectorType(number, LANES)
            length = builder.extract_value(origin_.shape, 0)
            width = builder.extract_value(probes_.shape, 1)

            def lanes(pointer: Any, offset: Any) -> Any:
                address = builder.gep(pointer, [offset])
                stored = ir.VectorType(address.type.pointee, LANES)
                size = address.type.pointee.get_abi_size(context.target_data)
                loaded = builder.load(builder.bitcast(address, stored.as_pointer()), align=size)
                return loaded if stored == vector else builder.fpext(loaded, vector)

            before = builder.block
            loop = builder.append_basic_block("dots")
            after = builder.append_basic_block("dots.end")
            builder.branch(loop)
            builder.position_at_end(loop)
            offset = builder.phi(_INDEX)
            sums = [builder.phi(vector) for _ in range(count)]
            x = builder.fsub(lanes(item_.data, offset), lanes(origin_.data, offset))
            here = builder.gep(
                probes_.data,
                [builder.add(builder.mul(offset, width), builder.mul(args[3], _INDEX(LANES)))],
            )
            added = [
                builder.fadd(total, builder.fmul(x, lanes(here, _INDEX(i * LANES))))
                for i, total in enumerate(sums)
            ]
            following = builder.add(offset, _INDEX(LANES))
            builder.cbranch(builder.icmp_signed("<", following, length), loop, after)
            offset.add_incoming(_INDEX(0), before)
            offset.add_incoming(following, loop)
            for total, new in zip(sums, added, strict=True):
                total.add_incoming(ir.Constant(vector, [0.0] * LANES), before)
                total.add_incoming(new, loop)
            builder.position_at_end(after)
            for i, new in enumerate(added):
                place = builder.gep(out_.data, [builder.add(args[3], _INDEX(i))])
                builder.store(_across(builder, new), place)
            return context.get_dummy_value()

        return types.void(item, origin, probes, types.intp, out), emit

    return intrinsic(typed)


def _across(builder: Any, lanes: Any) -> Any:
    """Emit the sum of eight lanes, halving them three times."""
    width = LANES
    while width > 1:
        width //= 2
        halves = (
            builder.shuffle_vector(
                lanes,
                lanes,
                ir.Constant(ir.VectorType(ir.IntType(32), width), [*range(start, start + width)]),
            )
            for start in (0, width)
        )
        lanes = builder.fadd(*halves)
    return builder.extract_element(lanes, ir.IntType(32)(0))


# exp and log: the range is reduced by a power of two, the rest is a short series. Relative error
# below 2e-13, far below the unit in which log-likelihoods are kept; no branches, so the compiler
# turns loops over them into vector code.
_SHIFT = 1.5 * 2.0**52  # adding it rounds a float64 to a whole number, kept in its low bits
_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10 = (1.0 / math.factorial(k) for k in range(2, 11))
_A3, _A5, _A7, _A9, _A11, _A13, _A15, _A17 = (1.0 / k for k in range(3, 18, 2))
_SHIFT_BITS = np.float64(_SHIFT).view(np.uint64)
_ONE_BITS = np.float64(1.0).view(np.uint64)
_TO_ONE = np.uint64(_ONE_BITS - np.float64(math.sqrt(0.5)).view(np.uint64))
_TWO52_BITS = np.float64(2.0**52).view(np.uint64)
_TWO52_BIASED = 2.0**52 + 1023.0
_MANTISSA = np.uint64(52)
_BIAS = np.uint64(1023)


@inlined
def exp(x):  # type: ignore[no-untyped-def]
    """Return e**x for x ≤ 0; what is below e**-700 is e**-700."""
    x = max(x, -700.0)
    shifted = x * _LOG2E + _SHIFT
    n = shifted - _SHIFT
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    series = ((1.0 + r) + r2 * (0.5 + _E3 * r)) + r4 * (
        ((_E4 + _E5 * r) + r2 * (_E6 + _E7 * r)) + r4 * ((_E8 + _E9 * r) + r2 * _E10)
    )
    return series * bits_float((float_bits(shifted) + _BIAS) << _MANTISSA)


@inlined
def log(x):  # type: ignore[no-untyped-def]
    """Return the natural logarithm of a positive normal float64."""
    bits = float_bits(x)
    exponent = (bits + _TO_ONE) >> _MANTISSA
    mantissa = bits_float(bits - ((exponent << _MANTISSA) - _ONE_BITS))
    power = bits_float(exponent + _TWO52_BITS) - _TWO52_BIASED
    return power * _LN2_HIGH + (power * _LN2_LOW + atanh2((mantissa - 1.0) / (mantissa + 1.0)))


@inlined
def atanh2(s):  # type: ignore[no-untyped-def]
    """Return 2·atanh(s) for |s| ≤ 0.172 (log) or, to 1e-9, for |s| ≤ 1/3 (log1p)."""
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    return (
        2.0
        * s
        * (
            ((1.0 + _A3 * z) + z2 * (_A5 + _A7 * z))
            + z4 * (((_A9 + _A11 * z) + z2 * (_A13 + _A15 * z)) + z4 * _A17)
        )
    )


@inlined
def log_sigmoid(u):  # type: ignore[no-untyped-def]
    """Return log(1 / (1 + e**-u)) to 1e-9, without overflow."""
    e = exp(-abs(u))
    return min(u, 0.0) - atanh2(e / (2.0 + e))


@inlined
def to_units(x):  # type: ignore[no-untyped-def]
    """Round x nats, |x| < 2**30, to a whole number of units of 2**-20 nats (half to even)."""
    return np.int64(float_bits(x * 1048576.0 + _SHIFT) - _SHIFT_BITS)


@inlined
def to_nats(units):  # type: ignore[no-untyped-def]
    """Turn a whole number of units, below 2**51 in size, into nats, exactly."""
    return (bits_float(np.uint64(units) + _SHIFT_BITS) - _SHIFT) * 9.5367431640625e-07
