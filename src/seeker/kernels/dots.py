"""Dot products in lanes, as explicit vector code, and memory asked for ahead."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.extending import intrinsic

from seeker.kernels.widening import widen

LANES = 8
"""Dot products are summed in this many interleaved partial sums, on every processor."""

_INDEX = ir.IntType(64)
_LINE = 64
"""Bytes that memory is read by."""


def dots(items: int, count: int, wide: bool = False) -> Any:
    """Make the intrinsic that multiplies one, two or four items with `count` probes at a time.

    wide: two items share a vector of twice the lanes, for processors that have such.
    """
    together = 2 if wide else 1

    def typed(
        typing_context: Any,
        vectors: Any,
        rows: Any,
        soon: Any,
        origin: Any,
        probes: Any,
        first: Any,
        out: Any,
        place: Any,
    ) -> Any:
        """Write (vectors[row] − origin) · probe to out[place + r, first : first + count].

        rows, soon: tuples of rows, of which the first `items` count: those to multiply now, and
        those whose memory to ask for meanwhile. vectors: (items, d), origin: (d,), d a multiple of
        eight; probes: (d / 8, probes, 8), so that what is needed together lies together. An item's
        numbers are turned into the probes' type first: float32, float64, int8, or float16 given as
        the int16 of its bits. Each product is summed in eight lanes, then
        across the lanes: an order of additions that is the same on every processor, for any number
        of items and any count. Multiplying and adding is one operation with one rounding (where a
        processor lacks it, it is emulated: slower, the same result).
        """

        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vectors_, origin_, probes_, out_ = (
                context.make_array(signature.args[i])(context, builder, args[i])
                for i in (0, 3, 4, 6)
            )
            vector = ir.VectorType(context.get_data_type(probes.dtype), LANES)
            wider = ir.VectorType(vector.element, LANES * together)
            length = builder.extract_value(origin_.shape, 0)
            width = builder.extract_value(probes_.shape, 1)
            now, later = (
                [
                    builder.gep(
                        vectors_.data, [builder.mul(builder.extract_value(args[i], r), length)]
                    )
                    for r in range(items)
                ]
                for i in (1, 2)
            )
            start = builder.gep(probes_.data, [builder.mul(args[5], _INDEX(LANES))])

            def lanes(pointer: Any, offset: Any) -> Any:
                address = builder.gep(pointer, [offset])
                stored = ir.VectorType(address.type.pointee, LANES)
                size = address.type.pointee.get_abi_size(context.target_data)
                loaded = builder.load(builder.bitcast(address, stored.as_pointer()), align=size)
                return widen(context, builder, loaded, vector, LANES)

            def joined(parts: list[Any]) -> Any:
                if together == 1:
                    return parts[0]
                places = [*range(2 * LANES)]
                return builder.shuffle_vector(parts[0], parts[-1], _places(places))

            before = builder.block
            loop = builder.append_basic_block("dots")
            after = builder.append_basic_block("dots.end")
            builder.branch(loop)
            builder.position_at_end(loop)
            offset = builder.phi(_INDEX)
            groups = range(0, items, together)
            sums = [[builder.phi(wider) for _ in range(count)] for _ in groups]
            zero = lanes(origin_.data, offset)
            differences = [builder.fsub(lanes(item, offset), zero) for item in now]
            xs = [joined(differences[group : group + together]) for group in groups]
            for item in later:
                _fetch(builder, builder.gep(item, [offset]))
            here = builder.gep(start, [builder.mul(offset, width)])
            multiply_add = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
                builder.module,
                ir.FunctionType(wider, [wider] * 3),
                f"llvm.fma.v{LANES * together}f{probes.dtype.bitwidth}",
            )
            added: list[list[Any]] = [[] for _ in groups]
            for i in range(count):
                probe = joined([lanes(here, _INDEX(i * LANES))])
                for x, line, new_line in zip(xs, sums, added, strict=True):
                    new_line.append(builder.call(multiply_add, [x, probe, line[i]]))
            following = builder.add(offset, _INDEX(LANES))
            builder.cbranch(builder.icmp_signed("<", following, length), loop, after)
            offset.add_incoming(_INDEX(0), before)
            offset.add_incoming(following, loop)
            for line, new_line in zip(sums, added, strict=True):
                for total, new in zip(line, new_line, strict=True):
                    total.add_incoming(ir.Constant(wider, [0.0] * wider.count), before)
                    total.add_incoming(new, loop)

            builder.position_at_end(after)
            columns = builder.extract_value(out_.shape, 1)
            for group, line in zip(groups, added, strict=True):
                values = _across(builder, line)
                for r in range(together):
                    row = builder.mul(builder.add(args[7], _INDEX(group + r)), columns)
                    target = builder.gep(out_.data, [builder.add(row, args[5])])
                    for i in range(count):
                        builder.store(values[r][i], builder.gep(target, [_INDEX(i)]))
            return context.get_dummy_value()

        index = types.intp
        some = types.UniTuple(index, max(2, items))  # type: ignore[no-untyped-call]
        return types.void(vectors, some, some, origin, probes, index, out, index), emit

    return intrinsic(typed)


def _across(builder: Any, vectors: list[Any]) -> list[list[Any]]:
    """Emit the sums over each eight lanes of vectors, by eight: neighbours first, three times."""
    count, parts = len(vectors), range(0, vectors[0].type.count, LANES)
    if count > LANES:
        some, rest = _across(builder, vectors[:LANES]), _across(builder, vectors[LANES:])
        return [[*one, *other] for one, other in zip(some, rest, strict=True)]
    for _ in range(3):
        pairs = zip(vectors[::2], [*vectors[1::2], vectors[-1]], strict=False)
        vectors = [_neighbours(builder, a, b) for a, b in pairs]
    return [
        [builder.extract_element(vectors[0], ir.IntType(32)(part + i)) for i in range(count)]
        for part in parts
    ]


def _neighbours(builder: Any, a: Any, b: Any) -> Any:
    """Emit the sums of neighbouring lanes, of each eight of a followed by those of b."""
    width = a.type.count
    even = [
        source + part + lane
        for part in range(0, width, LANES)
        for source in (0, width)
        for lane in range(0, LANES, 2)
    ]
    odd = [place + 1 for place in even]
    return builder.fadd(*(builder.shuffle_vector(a, b, _places(one)) for one in (even, odd)))


def _places(places: list[int]) -> Any:
    """Return the places of a shuffle as a constant."""
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)


def _fetch(builder: Any, address: Any) -> None:
    """Emit the request to bring a line of memory into the second cache."""
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    fetch = builder.module.declare_intrinsic(
        "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    )
    builder.call(fetch, [builder.bitcast(address, byte), flag(0), flag(2), flag(1)])


def _fetch_row(typing_context: Any, array: Any, row: Any, start: Any, count: Any) -> Any:
    """Ask for the memory of array[row, start : start + count]; count: known when compiled.

    What lies beyond the array is asked for, too, which does nothing.
    """
    if not isinstance(count, types.IntegerLiteral):
        raise errors.RequireLiteralValue("count")

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_ = context.make_array(array)(context, builder, args[0])
        strides = cgutils.unpack_tuple(builder, array_.strides, 2)  # type: ignore[no-untyped-call]
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        place = builder.add(builder.mul(args[1], strides[0]), builder.mul(args[2], strides[1]))
        first = builder.bitcast(array_.data, ir.IntType(8).as_pointer())
        for offset in range(0, count.literal_value * size, _LINE):
            _fetch(builder, builder.gep(first, [builder.add(place, _INDEX(offset))]))
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, count), emit


fetch_row: Any = intrinsic(_fetch_row)
