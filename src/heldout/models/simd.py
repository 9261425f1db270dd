"""Vector instructions that Python cannot name, and powers whose bits depend on no library: all of them stand here.

Without fast-math a compiler may not reorder a sum of floating-point numbers, and with it the order would depend on the
processor; so sums over lanes are emitted as LLVM's vector operations. Each stays for the processor's minutes that it
saves the study `paper`: paired runs with and without it on Cranfield, Medline and NIPS, scaled to the recorded seconds
in data/reference/paper/timings.csv.

* `dot`, about 15 minutes: with plain loops that sum in the same order, training PLSA takes 1.4 times as long at K = 5
  and 2 times from 50 on, and folding in 2 to 3 times.
* The running sums of chains, about 20 minutes: one by one, ten chains of LDA take 2.9 times as long at K = 5 and 10,
  2.4 times at 20, 1.9 times at 50 and 100; with plain loops over the lanes they take no less.
* `prefetch`, about 5 minutes: without it training takes 1.4 times as long on NIPS at K = 800, 1.1 to 1.2 times at 50
  and 100, and as long where the counts stay in the near caches.
* `power`, less than 3: `numpy.power` takes twice as long, and its last bits depend on the processor. x^beta =
  2^(beta log2 x): the exponent bits of x and an odd series in (m - 1) / (m + 1) give log2 x, a Taylor series the
  fractional power. This is plain float64 arithmetic, which compilers vectorise; its relative error is below 2e-14
  (log2 x carries the rounding error of a number near 100).
"""

import math
from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.extending import intrinsic

from heldout.typing import Floats

WIDTH = 8  # topics per vector operation of `dot`, whose arrays are padded with zeros to a multiple of it
VECTORS = 4  # independent partial sums of `dot`, so that additions do not wait for each other
LANES = 16  # numbers in a vector of float32: the most chains that run together
IN_CACHE = 256  # numbers whose powers are computed together
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


def _places(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Return what the arguments are: arrays as their addresses, numbers as they are."""
    return [
        context.make_array(kind)(context, builder, argument).data if isinstance(kind, nb.types.Array) else argument
        for kind, argument in zip(signature.args, arguments, strict=True)
    ]


def _vector_at(builder: Any, address: Any, index: Any) -> Any:
    """Return the address of the 16 numbers from `index` on."""
    kind = ir.VectorType(address.type.pointee, LANES)
    return builder.bitcast(builder.gep(address, [index]), kind.as_pointer())


def _load(builder: Any, address: Any, index: Any) -> Any:
    """Load 16 numbers, integers without a sign as float32."""
    numbers = builder.load(_vector_at(builder, address, index), align=2)
    floats = ir.VectorType(ir.FloatType(), LANES)
    return numbers if numbers.type == floats else builder.uitofp(numbers, floats)


def _running_sums(parts: int) -> Any:
    """Return an intrinsic that fills `sums` with running sums of the weights of topics, in `parts` parts.

    Chain c's weight of topic k is a[k, c] (row[k, c] + beta[c]), or at_old[c] for k = old[c]; part p sums over topics
    p size, .., (p + 1) size - 1. Rows have `chains` columns, other arrays 16.
    """

    def typed(
        _context: Any, a: Any, row: Any, beta: Any, at_old: Any, old: Any, sums: Any, size: Any, chains: Any
    ) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a_, row_, beta_, at_old_, old_, sums_, size_, chains_ = _places(context, builder, signature, arguments)
            integer = size_.type
            added, instead = _load(builder, beta_, integer(0)), _load(builder, at_old_, integer(0))
            left = builder.load(_vector_at(builder, old_, integer(0)), align=4)
            zero = ir.Constant(added.type, [0.0] * LANES)
            totals = [_tools.alloca_once_value(builder, zero) for _ in range(parts)]
            with _tools.for_range(builder, size_) as loop:
                for part, total in enumerate(totals):
                    k = builder.add(loop.index, builder.mul(size_, integer(part)))
                    at = builder.mul(k, integer(LANES))
                    counts = builder.fadd(_load(builder, row_, builder.mul(k, chains_)), added)
                    topic = builder.trunc(k, left.type.element)
                    one = builder.insert_element(ir.Constant(left.type, ir.Undefined), topic, left.type.element(0))
                    here = builder.shuffle_vector(one, one, ir.Constant(left.type, [0] * LANES))
                    weight = builder.fmul(_load(builder, a_, at), counts)
                    weight = builder.select(builder.icmp_signed("==", here, left), instead, weight)
                    running = builder.fadd(builder.load(total), weight)
                    builder.store(running, total)
                    builder.store(running, _vector_at(builder, sums_, at), align=4)
            return context.get_dummy_value()

        return nb.void(a, row, beta, at_old, old, sums, size, chains), build

    return intrinsic(typed)


def _places_in(parts: int) -> Any:
    """Return an intrinsic that counts how many of the first size - 1 sums of a part are at most x, in each lane.

    It writes the counts to `found`, (16,). With two parts, `past`, (16,), tells which one is meant in each lane: 0 the
    first, `size` the second.
    """

    def typed(_context: Any, sums: Any, x: Any, past: Any, size: Any, found: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            sums_, x_, past_, size_, found_ = _places(context, builder, signature, arguments)
            integer = size_.type
            limit = _load(builder, x_, integer(0))
            begins = builder.load(_vector_at(builder, past_, integer(0)), align=4)
            none = ir.Constant(begins.type, [0] * LANES)
            second = builder.icmp_signed(">", begins, none)
            count = _tools.alloca_once_value(builder, none)
            with _tools.for_range(builder, builder.sub(size_, integer(1))) as loop:
                at = builder.mul(loop.index, integer(LANES))
                total = _load(builder, sums_, at)
                if parts > 1:
                    there = builder.add(at, builder.mul(size_, integer(LANES)))
                    total = builder.select(second, _load(builder, sums_, there), total)
                reached = builder.zext(builder.fcmp_ordered("<=", total, limit), begins.type)
                builder.store(builder.add(builder.load(count), reached), count)
            builder.store(builder.load(count), _vector_at(builder, found_, integer(0)), align=4)
            return context.get_dummy_value()

        return nb.void(sums, x, past, size, found), build

    return intrinsic(typed)


one_running_sum, two_running_sums = _running_sums(1), _running_sums(2)
places_in_one, places_in_two = _places_in(1), _places_in(2)

_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2): mantissas lie in [sqrt(1/2), sqrt(2))
_BIAS = np.int64(1024)  # keeps exponents positive in their bit representation
_TWO_52_BITS = np.int64(0x4330000000000000)  # the bits of 2^52: an integer below, or'd in, makes the float 2^52 + it
_TWO_52_AND_BIAS = 2.0**52 + 1024.0
_ROUNDER = 1.5 * 2.0**52  # adding it rounds to an integer, which is then in the low bits of the sum
_ONE_EXPONENT = np.int64(1023)
_SHIFT = np.int64(52)
_TWO_OVER_LN_2 = 2.0 / math.log(2.0)
_LN_2 = math.log(2.0)


@nb.njit("void(float64[::1], float64, float64[::1])", cache=True, error_model="numpy")
def power_into(x, exponent, out):  # type: ignore[no-untyped-def]
    """Write x^exponent to out, for exponents in (0, 1] and x that are 0 (giving 0) or above 1e-300."""
    mantissas, numbers = np.empty(IN_CACHE), np.empty(IN_CACHE)
    mantissa_bits, number_bits = mantissas.view(np.int64), numbers.view(np.int64)
    for start in range(0, x.shape[0], IN_CACHE):
        values, results = x[start : start + IN_CACHE], out[start : start + IN_CACHE]
        bits = values.view(np.int64)
        size = values.shape[0]
        for i in range(size):
            power_of_two = (bits[i] - _ROOT_HALF + (_BIAS << _SHIFT)) >> _SHIFT
            mantissa_bits[i] = bits[i] - ((power_of_two - _BIAS) << _SHIFT)
            number_bits[i] = power_of_two | _TWO_52_BITS
        for i in range(size):
            s = (mantissas[i] - 1.0) / (mantissas[i] + 1.0)
            u = s * s  # at most 0.0295: the first term left out of the series is below 1e-17
            series = 1.0 / 19.0 + u * (1.0 / 21.0)
            series = 1.0 / 15.0 + u * (1.0 / 17.0 + u * series)
            series = 1.0 / 11.0 + u * (1.0 / 13.0 + u * series)
            series = 1.0 / 7.0 + u * (1.0 / 9.0 + u * series)
            series = 1.0 / 3.0 + u * (1.0 / 5.0 + u * series)
            log2 = (numbers[i] - _TWO_52_AND_BIAS) + _TWO_OVER_LN_2 * (s + s * u * series)
            y = exponent * log2
            rounded = y + _ROUNDER
            numbers[i] = rounded
            r = (y - (rounded - _ROUNDER)) * _LN_2  # at most 0.347 in size: below 1e-17 again
            series = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
            series = 1.0 / 3628800.0 + r * (1.0 / 39916800.0 + r * series)
            series = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * series)
            series = 1.0 / 720.0 + r * (1.0 / 5040.0 + r * series)
            series = 1.0 / 24.0 + r * (1.0 / 120.0 + r * series)
            mantissas[i] = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * series)))
        for i in range(size):
            number_bits[i] = (number_bits[i] + _ONE_EXPONENT) << _SHIFT
        for i in range(size):
            mantissas[i] = mantissas[i] * numbers[i] if values[i] > 0.0 else 0.0
        results[:] = mantissas[:size]


def power(x: Floats, exponent: float, out: Floats | None = None) -> Floats:
    """Return x^exponent, elementwise, for exponents in (0, 1] (at 1 exactly x), in `out` (may be x) or a new array."""
    if out is None:
        out = np.empty(x.shape)
    if exponent != 1.0:
        power_into(x.reshape(-1), exponent, out.reshape(-1))
    elif out is not x:
        out[:] = x
    return out


@intrinsic
def _prefetch_entry(typing_context, row, k):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Prefetch the cache line of row[k]; this changes no result."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, int32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte, int32, int32, int32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], function_type)
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), byte)
        builder.call(prefetch, [address, int32(0), int32(3), int32(1)])  # to read; keep in all levels; data
        return context.get_dummy_value()

    return nb.void(row, nb.int64), generate


@nb.njit(cache=True)
def prefetch(row):  # type: ignore[no-untyped-def]
    """Prefetch a row of a matrix that is too large for the near caches, some steps before its use."""
    for k in range(0, row.shape[0], CACHE_LINE // row.itemsize):
        _prefetch_entry(row, k)  # type: ignore[call-arg]
