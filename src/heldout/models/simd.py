"""Processor instructions that Python has no names for, all in one place.

Without fast-math a compiler may not reorder a sum of floating-point numbers, and with it the order would depend on the
processor; so sums over lanes are emitted as LLVM's vector operations. Each stays for the time that it saves, by
paired runs with and without it on Cranfield, Medline and NIPS.

* `dot`: with plain loops that sum in the same order, training PLSA takes 1.4 times as long at K = 5 and 2 times from 50
  on, and folding in 2 to 3 times.
* `Vector`, LDA's sampler up to 256 topics: of prototypes, one chain in plain loops took 1.35 times as long at K = 10
  and 1.6 times at 50 (one running sum of all topics, two at 50), and 2.1 to 2.5 times where numba vectorised.
* `prefetch`: without it LDA's training takes 1.06 to 1.33 times as long on NIPS (K from 10 to 800),
  0.91 to 1.10 times as long on Cranfield, where caches hold the counts.

`Vector` serves float64 too: in plain loops, the Newton steps of the correlated topic model took 4.5 times as long.
"""

import operator
from collections.abc import Callable
from typing import Any

import numba as nb
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, overload, register_model

WIDTH = 8  # topics per vector operation of `dot`, whose arrays are padded with zeros to a multiple of it
VECTORS = 4  # independent partial sums of `dot`, so that additions do not wait for each other
LANES = 8  # numbers in a vector of `Vector`
CACHE_LINE = 64  # bytes

_tools: Any = cgutils  # numba's builders are not typed


def _typed_dot(_context: Any, a: Any, b: Any) -> Any:
    """Return a . b of two contiguous float64 arrays whose length is a multiple of WIDTH.

    It adds VECTORS partial sums of WIDTH lanes each, and then these in pairs.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, argument)
            for kind, argument in zip(signature.args, arguments, strict=True)
        ]
        vector = ir.VectorType(ir.DoubleType(), WIDTH)
        sums = [_tools.alloca_once_value(builder, ir.Constant(vector, [0.0] * WIDTH)) for _ in range(VECTORS)]
        size = _tools.unpack_tuple(builder, arrays[0].shape, 1)[0]
        integer = size.type
        step = integer(WIDTH * VECTORS)
        whole = builder.sub(size, builder.urem(size, step))

        def add(start: Any, total: Any) -> None:
            pointers = (builder.bitcast(builder.gep(array.data, [start]), vector.as_pointer()) for array in arrays)
            left, right = (builder.load(pointer, align=8) for pointer in pointers)
            builder.store(builder.fadd(builder.load(total), builder.fmul(left, right)), total)

        with _tools.for_range_slice(builder, integer(0), whole, step, intp=integer, inc=True) as (start, _):
            for j, total in enumerate(sums):
                add(builder.add(start, integer(j * WIDTH)), total)
        with _tools.for_range_slice(builder, whole, size, integer(WIDTH), intp=integer, inc=True) as (start, _):
            add(start, sums[0])

        def sum_in_pairs(parts: list[Any]) -> Any:
            while len(parts) > 1:
                parts = [builder.fadd(left, right) for left, right in zip(parts[::2], parts[1::2], strict=True)]
            return parts[0]

        lanes = sum_in_pairs([builder.load(total) for total in sums])
        return sum_in_pairs([builder.extract_element(lanes, ir.Constant(ir.IntType(32), j)) for j in range(WIDTH)])

    return nb.types.float64(a, b), build


dot: Any = intrinsic(_typed_dot)


def _instruction(definition: Callable[..., Any]) -> Any:
    """Return numba's intrinsic of a definition, whose first argument compiled functions do not give."""
    return intrinsic(definition)


class Vector(nb.types.Type):
    """Eight numbers as one value of a compiled function; `number` is the type: float32, float64, int32 or boolean."""

    def __init__(self, number: Any) -> None:
        super().__init__(name=f"vector of {number}")
        self.number = number


_NUMBERS = {
    nb.float32: ir.FloatType(),
    nb.float64: ir.DoubleType(),
    nb.int32: ir.IntType(32),
    nb.boolean: ir.IntType(1),
}


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(_NUMBERS[kind.number], LANES))  # type: ignore[no-untyped-call]


def _shuffled(builder: Any, vector: Any, lanes: list[int]) -> Any:
    """Return the vector's lanes in another order; -1 is a zero."""
    zeros = ir.Constant(vector.type, None)
    return builder.shuffle_vector(
        vector, zeros, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [j % 16 for j in lanes])
    )


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(data.type.pointee, LANES).as_pointer())


@_instruction
def load(_typing: Any, array: Any, index: Any) -> Any:
    """Return the eight numbers of a contiguous array from an index on."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=4)

    return Vector(array.dtype)(array, index), build


@_instruction
def store(_typing: Any, array: Any, index: Any, vector: Any) -> Any:
    """Write eight numbers into a contiguous array from an index on."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return nb.void(array, index, vector), build


@_instruction
def fill(_typing: Any, number: Any) -> Any:
    """Return eight times the same number."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        first = builder.insert_element(
            ir.Constant(ir.VectorType(arguments[0].type, LANES), ir.Undefined), arguments[0], ir.IntType(32)(0)
        )
        return _shuffled(builder, first, [0] * LANES)

    return Vector(number)(number), build


@_instruction
def sums_before(_typing: Any, vector: Any) -> Any:
    """Return for each lane the sum of the lanes before it: within each half first, then the low half's to the high."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        one = _shuffled(builder, arguments[0], [-1, 0, 1, 2, -1, 4, 5, 6])
        two = builder.fadd(one, _shuffled(builder, one, [-1, 0, 1, 2, -1, 4, 5, 6]))
        half_sums = builder.fadd(two, _shuffled(builder, two, [-1, -1, 0, 1, -1, -1, 4, 5]))
        halves = _halves(builder, arguments[0])
        return builder.fadd(half_sums, _shuffled(builder, halves, [-1, -1, -1, -1, 0, 0, 0, 0]))

    return vector(vector), build


@_instruction
def total(_typing: Any, vector: Any) -> Any:
    """Return the sum of a vector's lanes: of each half, in pairs, then of both."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        halves = _halves(builder, arguments[0])
        return builder.fadd(*(builder.extract_element(halves, ir.IntType(32)(lane)) for lane in (0, 4)))

    return vector.number(vector), build


def _halves(builder: Any, vector: Any) -> Any:
    """Return, in every lane, the sum of the lane's half."""
    pairs = builder.fadd(vector, _shuffled(builder, vector, [1, 0, 3, 2, 5, 4, 7, 6]))
    return builder.fadd(pairs, _shuffled(builder, pairs, [2, 3, 0, 1, 6, 7, 4, 5]))


@_instruction
def count(_typing: Any, mask: Any) -> Any:
    """Return the number of true lanes."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(builder.zext(builder.bitcast(arguments[0], ir.IntType(LANES)), ir.IntType(64)))

    return nb.int64(mask), build


@_instruction
def where(_typing: Any, mask: Any, true: Any, false: Any) -> Any:
    """Return one vector's lanes where the mask is true, the other's elsewhere."""
    return true(mask, true, false), lambda _context, builder, _signature, arguments: builder.select(*arguments)


@_instruction
def floats(_typing: Any, vector: Any) -> Any:
    """Return integers as float32."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.sitofp(arguments[0], ir.VectorType(ir.FloatType(), LANES))

    return Vector(nb.float32)(vector), build


@_instruction
def minus_ones(_typing: Any, mask: Any) -> Any:
    """Return -1 where the mask is true, 0 elsewhere, in int32."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.sext(arguments[0], ir.VectorType(ir.IntType(32), LANES))

    return Vector(nb.int32)(mask), build


def _operator(operation: Any, result: Any, **instructions: Callable[[Any, Any, Any], Any]) -> None:
    """Let compiled functions apply an operator to two vectors: by an instruction for each type of numbers."""

    @_instruction
    def apply(_typing: Any, a: Any, b: Any) -> Any:
        build = instructions[str(a.number)]
        return (Vector(result) if result else a)(a, b), lambda _context, builder, _, arguments: build(
            builder, *arguments
        )

    @overload(operation)
    def vector_operation(a, b):  # type: ignore[no-untyped-def]  # numba compares its parameters with the implementation's
        return (lambda a, b: apply(a, b)) if isinstance(a, Vector) and a == b else None


def _at_most(builder: Any, a: Any, b: Any) -> Any:
    return builder.fcmp_ordered("<=", a, b)


_operator(operator.add, None, float32=ir.IRBuilder.fadd, float64=ir.IRBuilder.fadd, int32=ir.IRBuilder.add)
_operator(operator.sub, None, float32=ir.IRBuilder.fsub, float64=ir.IRBuilder.fsub, int32=ir.IRBuilder.sub)
_operator(operator.mul, None, float32=ir.IRBuilder.fmul, float64=ir.IRBuilder.fmul)
_operator(operator.truediv, None, float32=ir.IRBuilder.fdiv, float64=ir.IRBuilder.fdiv)
_operator(operator.eq, nb.boolean, int32=lambda builder, a, b: builder.icmp_signed("==", a, b))
_operator(operator.le, nb.boolean, float32=_at_most, float64=_at_most)


@_instruction
def prefetch(_typing: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of an entry of a contiguous array; this changes no result."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, int32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, int32, int32, int32])
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        # to read; keep in all levels; data
        builder.call(
            builder.module.declare_intrinsic("llvm.prefetch", [byte], kind), [address, int32(0), int32(3), int32(1)]
        )
        return context.get_dummy_value()

    return nb.void(array, index), build


@nb.njit(cache=True)
def copy(row, out):  # type: ignore[no-untyped-def]
    """Copy a row to the first entries of `out`; an assignment of slices, which checks shapes, compiles for seconds."""
    for k in range(row.shape[0]):
        out[k] = row[k]
