"""Gibbs sweeps of several chains of LDA at once, chain c in lane c of every vector; see `heldout.models.lda_kernel`.

Chains over the same documents meet the same words in the same order, so that one token's weights of up to 16 chains are
computed by the same vector operations, in each lane those of the narrow kernel in the same order: draws are the same
bit for bit. One chain alone waits for its own last addition most of the time.

Counts N_wk of all chains stand together, in uint16: of word w, row[k C + c] is chain c's. A vector load of 16 counts at
k C also reads those that follow; their lanes have weight 0 and are not used.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from heldout.models.lda_kernel import (
    AHEAD,
    LANES,
    LARGEST_UINT16,
    NARROW,
    SERIAL,
    Float,
    Float32,
    Index,
    padded_width,
    prefetch,
    reciprocals,
)

CHAINS = 16  # lanes of a vector: the most chains that run together

Totals = NDArray[np.int64]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_tools: Any = cgutils  # numba's builders are not typed


def _places(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Return what the arguments are: arrays as their addresses, numbers as they are."""
    return [
        context.make_array(kind)(context, builder, argument).data if isinstance(kind, nb.types.Array) else argument
        for kind, argument in zip(signature.args, arguments, strict=True)
    ]


def _vector_at(builder: Any, address: Any, index: Any) -> Any:
    """Return the address of the 16 numbers from `index` on."""
    kind = ir.VectorType(address.type.pointee, CHAINS)
    return builder.bitcast(builder.gep(address, [index]), kind.as_pointer())


def _load(builder: Any, address: Any, index: Any) -> Any:
    """Load 16 numbers as float32."""
    numbers = builder.load(_vector_at(builder, address, index), align=2)
    floats = ir.VectorType(ir.FloatType(), CHAINS)
    return numbers if numbers.type == floats else builder.uitofp(numbers, floats)


def _running_sums(parts: int) -> Callable[..., Any]:
    """Return an intrinsic that fills sums with running sums of a[k] (row[k] + beta), one for each of `parts`."""

    def typed(_context: Any, a: Any, row: Any, beta: Any, sums: Any, size: Any, chains: Any) -> Any:
        """Part p sums over topics p size, .., (p + 1) size - 1, in each lane."""

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a_, row_, beta_, sums_, size_, chains_ = _places(context, builder, signature, arguments)
            added = _load(builder, beta_, size_.type(0))
            zero = ir.Constant(added.type, [0.0] * CHAINS)
            totals = [_tools.alloca_once_value(builder, zero) for _ in range(parts)]
            with _tools.for_range(builder, size_) as loop:
                for part, total in enumerate(totals):
                    k = builder.add(loop.index, builder.mul(size_, size_.type(part)))
                    counts = _load(builder, row_, builder.mul(k, chains_))
                    here = builder.mul(k, size_.type(CHAINS))
                    weight = builder.fmul(_load(builder, a_, here), builder.fadd(counts, added))
                    running = builder.fadd(builder.load(total), weight)
                    builder.store(running, total)
                    builder.store(running, _vector_at(builder, sums_, here), align=4)
            return context.get_dummy_value()

        return nb.void(a, row, beta, sums, size, chains), build

    return typed


def _typed_wide_sums(_context: Any, a: Any, row: Any, beta: Any, sums: Any, size: Any, topics: Any, chains: Any) -> Any:
    """Fill sums with 64 running sums of a[k] (row[k] + beta) in each lane, k below `topics`, up to place `size`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a_, row_, beta_, sums_, size_, topics_, chains_ = _places(context, builder, signature, arguments)
        integer = size_.type
        added = _load(builder, beta_, integer(0))

        def weight(k: Any) -> Any:
            counts = _load(builder, row_, builder.mul(k, chains_))
            return builder.fmul(_load(builder, a_, builder.mul(k, integer(CHAINS))), builder.fadd(counts, added))

        def store(k: Any, number: Any) -> None:
            builder.store(number, _vector_at(builder, sums_, builder.mul(k, integer(CHAINS))), align=4)

        def before(k: Any) -> Any:
            return _load(builder, sums_, builder.mul(builder.sub(k, integer(LANES)), integer(CHAINS)))

        def each(start: Any, end: Any) -> Any:
            return _tools.for_range_slice(builder, start, end, integer(1), intp=integer, inc=True)

        with each(integer(0), integer(LANES)) as (k, _):
            store(k, weight(k))
        with each(integer(LANES), topics_) as (k, _):
            store(k, builder.fadd(before(k), weight(k)))
        with each(topics_, size_) as (k, _):  # the topics that fill the last 64 weigh nothing
            store(k, before(k))
        return context.get_dummy_value()

    return nb.void(a, row, beta, sums, size, topics, chains), build


def _places_in(parts: int) -> Callable[..., Any]:
    """Return an intrinsic that counts how many of the first size - 1 sums of a part are at most x, in each lane.

    With two parts, `past`, (16,), tells which part is meant in each lane: 0 the first, `size` the second.
    """

    def typed(_context: Any, sums: Any, x: Any, past: Any, size: Any, found: Any) -> Any:
        """Write the counts to `found`, (16,)."""

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            sums_, x_, past_, size_, found_ = _places(context, builder, signature, arguments)
            integer = size_.type
            limit = _load(builder, x_, integer(0))
            begins = builder.load(_vector_at(builder, past_, integer(0)), align=4)
            none = ir.Constant(begins.type, [0] * CHAINS)
            second = builder.icmp_signed(">", begins, none)
            count = _tools.alloca_once_value(builder, none)
            with _tools.for_range(builder, builder.sub(size_, integer(1))) as loop:
                at = builder.mul(loop.index, integer(CHAINS))
                total = _load(builder, sums_, at)
                if parts > 1:
                    there = builder.add(at, builder.mul(size_, integer(CHAINS)))
                    total = builder.select(second, _load(builder, sums_, there), total)
                reached = builder.zext(builder.fcmp_ordered("<=", total, limit), begins.type)
                builder.store(builder.add(builder.load(count), reached), count)
            builder.store(builder.load(count), _vector_at(builder, found_, integer(0)), align=4)
            return context.get_dummy_value()

        return nb.void(sums, x, past, size, found), build

    return typed


_one_sum: Any = intrinsic(_running_sums(1))
_two_sums: Any = intrinsic(_running_sums(2))
_wide_sums: Any = intrinsic(_typed_wide_sums)
_places_in_one: Any = intrinsic(_places_in(1))
_places_in_two: Any = intrinsic(_places_in(2))


@nb.njit(cache=True)
def _one_of_four(sums, x, j, step, c):  # type: ignore[no-untyped-def]
    """As `heldout.models.lda_kernel` does in the sums of one chain."""
    t0 = sums[j * CHAINS + c]
    t1 = t0 + sums[(j + step) * CHAINS + c]
    t2 = t1 + sums[(j + 2 * step) * CHAINS + c]
    past0, past1, past2 = x >= t0, x >= t1, x >= t2
    x -= t2 if past2 else (t1 if past1 else (t0 if past0 else _ZERO))
    return x, j + step * (int(past0) + int(past1) + int(past2))


@nb.njit(cache=True)
def _search(sums, sixteen, four, x, kept, past, found, n_topics, size, chains):  # type: ignore[no-untyped-def]
    """Write to found, (16,), each chain's topic, drawn from its 64 running sums, and to past -1 if it keeps its topic.

    x, (16,), holds the uniform numbers.
    """
    lanes = sums[(size - LANES) * CHAINS : size * CHAINS]
    for j in range(16 * CHAINS):
        sixteen[j] = (lanes[j] + lanes[j + 16 * CHAINS]) + (lanes[j + 32 * CHAINS] + lanes[j + 48 * CHAINS])
    for j in range(4 * CHAINS):
        four[j] = (sixteen[j] + sixteen[j + 4 * CHAINS]) + (sixteen[j + 8 * CHAINS] + sixteen[j + 12 * CHAINS])
    for c in range(CHAINS):
        all_four = (four[c] + four[c + CHAINS]) + (four[c + 2 * CHAINS] + four[c + 3 * CHAINS])
        u = x[c] * (kept[c] + all_four)
        past[c] = -1 if u < kept[c] else 0
        x[c] = u - kept[c]
    for c in range(chains):
        if past[c] < 0:
            continue
        u, j = _one_of_four(four, x[c], 0, 1, c)
        u, j = _one_of_four(sixteen, u, j, 4, c)
        u, j = _one_of_four(lanes, u, j, 16, c)
        place = 0
        for i in range((n_topics - 1 - j) // LANES):
            place += sums[(j + LANES * i) * CHAINS + c] <= u
        found[c] = j + LANES * place


@nb.njit(
    "void(int32[::1], int64[::1], int32[:, ::1], uint16[:, ::1], int64[:, ::1], float32[:, ::1], float32[::1],"
    " float32[:, ::1], float32[:, ::1])",
    cache=True,
)
def _sweep(  # type: ignore[no-untyped-def]
    tokens, offsets, assignments, rows, totals, alpha, beta, reciprocals, uniforms
):
    """Sweep once over all tokens in every chain; see `Chains`."""
    chains, n_topics, width = assignments.shape[1], totals.shape[0], alpha.shape[0]
    two, wide = n_topics > SERIAL, n_topics > NARROW
    size = width // 2 if two else n_topics  # of each part of the topics that is summed on its own
    document, a = np.zeros(width * CHAINS, np.float32), np.zeros(width * CHAINS, np.float32)
    sums, sixteen, four = np.zeros(width * CHAINS, np.float32), np.zeros(256, np.float32), np.zeros(64, np.float32)
    kept, a_kept, x = np.zeros(CHAINS, np.float32), np.zeros(CHAINS, np.float32), np.zeros(CHAINS, np.float32)
    past, found = np.zeros(CHAINS, np.int32), np.zeros(CHAINS, np.int32)
    alphas = alpha.reshape(-1)
    sums0, sums1 = sums[(size - 1) * CHAINS :], sums[(width - 1) * CHAINS :]
    for d in range(offsets.shape[0] - 1):
        start, end = offsets[d], offsets[d + 1]
        document[:] = _ZERO
        for i in range(start, end):
            for c in range(chains):
                if assignments[i, c] >= 0:
                    document[assignments[i, c] * CHAINS + c] += _ONE
        for k in range(n_topics):
            for c in range(chains):
                at = k * CHAINS + c
                a[at] = (document[at] + alphas[at]) * reciprocals[c, totals[k, c]]
        for i in range(start, end):
            row, here = rows[tokens[i]], assignments[i]
            if i + AHEAD < tokens.shape[0]:
                prefetch(rows[tokens[i + AHEAD]])
            for c in range(chains):
                old = here[c]
                x[c] = uniforms[c, i]
                if old >= 0:
                    at = old * CHAINS + c
                    document[at] -= _ONE
                    row[old * chains + c] -= 1
                    totals[old, c] -= 1
                    a_old = (document[at] + alphas[at]) * reciprocals[c, totals[old, c]]
                    if two:
                        kept[c] = a_old * (np.float32(row[old * chains + c]) + beta[c])
                        a_kept[c] = a_old
                        a[at] = _ZERO
                    else:
                        a[at] = a_old
                elif two:
                    kept[c] = _ZERO
            if wide:
                _wide_sums(a, row, beta, sums, width, n_topics, chains)
                _search(sums, sixteen, four, x, kept, past, found, n_topics, width, chains)
            elif two:
                _two_sums(a, row, beta, sums, size, chains)
                for c in range(CHAINS):
                    u = x[c] * (kept[c] + (sums0[c] + sums1[c]))
                    stays = u < kept[c]
                    u -= kept[c]
                    later = u >= sums0[c]
                    x[c] = u - (sums0[c] if later else _ZERO)
                    past[c] = -1 if stays else (size if later else 0)
                _places_in_two(sums, x, past, size, found)
            else:
                _one_sum(a, row, beta, sums, size, chains)
                for c in range(CHAINS):
                    x[c] = x[c] * sums0[c]
                _places_in_one(sums, x, past, size, found)
            for c in range(chains):
                k = min(past[c] + found[c], n_topics - 1)
                if two:
                    old = here[c]
                    if old >= 0:
                        a[old * CHAINS + c] = a_kept[c]
                    k = old if past[c] < 0 else k
                at = k * CHAINS + c
                here[c] = k
                document[at] += _ONE
                row[k * chains + c] += 1
                totals[k, c] += 1
                a[at] = (document[at] + alphas[at]) * reciprocals[c, totals[k, c]]


def most_together(tokens: Index) -> int:
    """Return how many chains can run together: 1 if a count may not fit."""
    return CHAINS if int(np.bincount(tokens).max(initial=0)) <= LARGEST_UINT16 else 1


class Chains:
    """The counts and assignments of C chains of LDA over the same documents, C from 1 to 16.

    Args:
        tokens: (N,) words, each below V.
        offsets: (D + 1,) where documents begin.
        n_words: V.
        n_topics: K.
        chains: C.

    Attributes:
        assignments: (N, C) topics; -1 where a token has none yet.
    """

    def __init__(self, tokens: Index, offsets: Totals, n_words: int, n_topics: int, chains: int) -> None:
        self._tokens, self._offsets = tokens, offsets
        self._width = padded_width(n_topics)
        last = n_topics - 1 if n_topics > NARROW else self._width - 1  # of a row, that a kernel reads
        self._rows = np.zeros((n_words, last * chains + CHAINS), dtype=np.uint16)
        self._totals = np.zeros((n_topics, chains), dtype=np.int64)
        self.assignments = np.full((len(tokens), chains), -1, dtype=np.int32)
        self._betas: list[float] = []  # those of the reciprocals
        self._reciprocals = np.empty((0, 0), dtype=np.float32)

    def sweep(self, alphas: Sequence[Float], betas: Sequence[float], uniforms: Float32) -> None:
        """Run one sweep of every chain.

        Args:
            alphas: (K,) Dirichlet parameters of theta, of each chain.
            betas: the Dirichlet parameter of phi, of each chain.
            uniforms: (C, N) in [0, 1).
        """
        chains = len(alphas)
        alpha = np.zeros((self._width, CHAINS), dtype=np.float32)
        alpha[: len(self._totals), :chains] = np.stack(alphas, axis=1)
        added = np.zeros(CHAINS, dtype=np.float32)
        added[:chains] = betas
        if list(betas) != self._betas:
            self._betas = list(betas)
            self._reciprocals = np.stack([reciprocals(len(self._tokens), len(self._rows), beta) for beta in betas])
        state = self._tokens, self._offsets, self.assignments, self._rows, self._totals
        _sweep(*state, alpha, added, self._reciprocals, uniforms)

    def chain(self, c: int) -> tuple[Index, NDArray[np.uint16], Totals]:
        """Return a chain's assignments, (N,), N_wk, (V, K), and N_k, (K,), copied."""
        n_topics, chains = self._totals.shape
        rows = np.ascontiguousarray(self._rows[:, c : n_topics * chains : chains])
        return np.ascontiguousarray(self.assignments[:, c]), rows, np.ascontiguousarray(self._totals[:, c])
