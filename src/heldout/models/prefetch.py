"""Requests for memory before it is read, for kernels that wait for it; they change no result."""

import numba as nb
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

CACHE_LINE = 64  # bytes


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
