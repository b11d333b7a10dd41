"""Stored numbers, widened to those that are summed: int8, float16 and float32."""

from __future__ import annotations

from typing import Any

from llvmlite import ir


def widen(context: Any, builder: Any, loaded: Any, vector: Any, lanes: int) -> Any:
    """Emit the conversion of stored numbers, in lanes, to those that are summed; it is exact."""
    if loaded.type == vector:
        return loaded
    match loaded.type.element:
        case ir.IntType(width=8):
            return builder.sitofp(loaded, vector)
        case ir.IntType(width=16):
            if _knows_halves(context):
                halves = builder.bitcast(loaded, ir.VectorType(ir.HalfType(), lanes))
                return builder.fpext(halves, vector)
            singles = _from_halves(builder, loaded, lanes)
            return singles if singles.type == vector else builder.fpext(singles, vector)
    return builder.fpext(loaded, vector)


def _knows_halves(context: Any) -> bool:
    """Whether the processor widens float16 itself; otherwise LLVM calls what is not there."""
    triple, _, features = context.codegen().magic_tuple()
    return not triple.startswith(("x86", "i386", "i686")) or "+f16c" in features.split(",")


def _from_halves(builder: Any, bits: Any, lanes: int) -> Any:
    """Emit the float32 numbers that the bits of finite float16 numbers stand for, exactly.

    Exponent and mantissa are moved to where float32 has them, and the bias is made up for.
    """
    word, number = (ir.VectorType(one, lanes) for one in (ir.IntType(32), ir.FloatType()))
    same = {one: ir.Constant(word, [one] * lanes) for one in (0x7FFF, 0x8000, 13, 16)}
    wide = builder.zext(bits, word)
    size = builder.bitcast(builder.shl(builder.and_(wide, same[0x7FFF]), same[13]), number)
    size = builder.fmul(size, ir.Constant(number, [2.0**112] * lanes))
    sign = builder.shl(builder.and_(wide, same[0x8000]), same[16])
    return builder.bitcast(builder.or_(builder.bitcast(size, word), sign), number)
