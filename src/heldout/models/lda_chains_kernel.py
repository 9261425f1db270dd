"""Gibbs sweeps of several chains of LDA at once, chain c in lane c of every vector; see `heldout.models.lda_kernel`.

Chains over the same documents meet the same words in the same order, so that one token's weights of up to 16 chains are
computed by the same vector operations, in each lane those of the kernel for one chain in the same order: draws are the
same bit for bit. One chain alone waits for its own last addition most of the time.

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
    LARGEST_UINT16,
    NARROW,
    SERIAL,
    Counts,
    Float,
    Float32,
    Index,
    padded_width,
    reciprocals,
)
from heldout.models.prefetch import prefetch

CHAINS = 16  # lanes of a vector: the most chains that run together
TOPICS_PER_CHAIN = 32  # above, with half empty vectors and more counts than the caches hold, they do not gain by it

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


def _weight(builder: Any, arrays: dict[str, Any], k: Any, chains: Any) -> Any:
    """Return the chains' weights a[k] (row[k] + beta), or `at_old`, if there is one, at a chain's old topic k."""
    counts = _load(builder, arrays["row"], builder.mul(k, chains))
    a = _load(builder, arrays["a"], builder.mul(k, k.type(CHAINS)))
    weight = builder.fmul(a, builder.fadd(counts, arrays["beta"]))
    if "at_old" not in arrays:
        return weight
    integer = arrays["old"].type.element
    one = builder.insert_element(ir.Constant(arrays["old"].type, ir.Undefined), builder.trunc(k, integer), integer(0))
    here = builder.shuffle_vector(one, one, ir.Constant(arrays["old"].type, [0] * CHAINS))
    return builder.select(builder.icmp_signed("==", here, arrays["old"]), arrays["at_old"], weight)


def _loaded(builder: Any, arguments: list[Any], zero: Any) -> dict[str, Any]:
    """Return the arguments of `_weight` by name, those that do not change loaded."""
    arrays = dict(zip(("a", "row", "beta", "at_old", "old"), arguments, strict=False))
    for name in arrays.keys() & {"beta", "at_old"}:
        arrays[name] = _load(builder, arrays[name], zero)
    if "old" in arrays:
        arrays["old"] = builder.load(_vector_at(builder, arrays["old"], zero), align=4)
    return arrays


def _running_sums(parts: int) -> Callable[..., Any]:
    """Return an intrinsic that fills sums with running sums of a[k] (row[k] + beta), one for each of `parts`."""

    def typed(_context: Any, *kinds: Any) -> Any:
        """Part p sums over topics p size, .., (p + 1) size - 1, in each lane."""

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            *given, sums, size, chains = _places(context, builder, signature, arguments)
            arrays = _loaded(builder, given, size.type(0))
            zero = ir.Constant(arrays["beta"].type, [0.0] * CHAINS)
            totals = [_tools.alloca_once_value(builder, zero) for _ in range(parts)]
            with _tools.for_range(builder, size) as loop:
                for part, total in enumerate(totals):
                    k = builder.add(loop.index, builder.mul(size, size.type(part)))
                    running = builder.fadd(builder.load(total), _weight(builder, arrays, k, chains))
                    builder.store(running, total)
                    here = _vector_at(builder, sums, builder.mul(k, size.type(CHAINS)))
                    builder.store(running, here, align=4)
            return context.get_dummy_value()

        return nb.void(*kinds), build

    return typed


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


_build_one, _build_two = _running_sums(1), _running_sums(2)


def _typed_one(context: Any, a: Any, row: Any, beta: Any, at_old: Any, old: Any, sums: Any, size: Any, n: Any) -> Any:
    return _build_one(context, a, row, beta, at_old, old, sums, size, n)


def _typed_two(context: Any, a: Any, row: Any, beta: Any, at_old: Any, old: Any, sums: Any, size: Any, n: Any) -> Any:
    return _build_two(context, a, row, beta, at_old, old, sums, size, n)


_one_sum: Any = intrinsic(_typed_one)
_two_sums: Any = intrinsic(_typed_two)
_places_in_one: Any = intrinsic(_places_in(1))
_places_in_two: Any = intrinsic(_places_in(2))


@nb.njit(
    "void(int32[::1], int64[::1], int32[::1], uint16[:, ::1], int32[::1], float32[:, ::1], float32[::1],"
    " float32[:, ::1], float32[:, ::1], int64)",
    cache=True,
)
def _sweep(  # type: ignore[no-untyped-def]
    tokens, offsets, assignments, rows, totals, alpha, beta, reciprocals, uniforms, n_topics
):
    """Sweep once over all tokens in every chain; see `Chains`.

    A vector load after a scalar store into the same vector waits for the store. So a chain's counts change after its
    draw, only if its topic does, and until then `_weight` puts the old topic's weight in its place.
    """
    chains, width = uniforms.shape[0], alpha.shape[0]
    two = n_topics > SERIAL
    size = width // 2 if two else n_topics  # of each part of the topics that is summed on its own
    document, a = np.zeros(width * CHAINS, np.float32), np.zeros(width * CHAINS, np.float32)
    sums = np.zeros(width * CHAINS, np.float32)
    kept, a_kept, x = np.zeros(CHAINS, np.float32), np.zeros(CHAINS, np.float32), np.zeros(CHAINS, np.float32)
    nothing, past, found = np.zeros(CHAINS, np.float32), np.zeros(CHAINS, np.int32), np.zeros(CHAINS, np.int32)
    alphas = alpha.reshape(-1)
    sums0, sums1 = sums[(size - 1) * CHAINS :], sums[(width - 1) * CHAINS :]
    for d in range(offsets.shape[0] - 1):
        start, end = offsets[d], offsets[d + 1]
        document[:] = _ZERO
        for i in range(start, end):
            for c in range(chains):
                old = assignments[i * chains + c]
                if old >= 0:
                    document[old * CHAINS + c] += _ONE
        for k in range(n_topics):
            for c in range(chains):
                at = k * CHAINS + c
                a[at] = (document[at] + alphas[at]) * reciprocals[c, totals[at]]
        for i in range(start, end):
            row, here = rows[tokens[i]], assignments[i * chains :]
            if i + AHEAD < tokens.shape[0]:
                prefetch(rows[tokens[i + AHEAD]])
            for c in range(chains):
                old = here[c]
                x[c] = uniforms[c, i]
                kept[c] = _ZERO
                if old >= 0:
                    at = old * CHAINS + c
                    a_kept[c] = (document[at] - _ONE + alphas[at]) * reciprocals[c, totals[at] - 1]
                    kept[c] = a_kept[c] * (np.float32(row[old * chains + c]) - _ONE + beta[c])
            if two:
                _two_sums(a, row, beta, nothing, here, sums, size, chains)
                for c in range(CHAINS):
                    u = x[c] * (kept[c] + (sums0[c] + sums1[c]))
                    stays = u < kept[c]
                    u -= kept[c]
                    later = u >= sums0[c]
                    x[c] = u - (sums0[c] if later else _ZERO)
                    past[c] = -1 if stays else (size if later else 0)
                _places_in_two(sums, x, past, size, found)
            else:
                _one_sum(a, row, beta, kept, here, sums, size, chains)
                for c in range(CHAINS):
                    x[c] = x[c] * sums0[c]
                _places_in_one(sums, x, past, size, found)
            for c in range(chains):
                old = here[c]
                new = min(past[c] + found[c], n_topics - 1)
                if past[c] < 0 or new == old:
                    continue
                if old >= 0:
                    at = old * CHAINS + c
                    document[at] -= _ONE
                    row[old * chains + c] -= 1
                    totals[at] -= 1
                    a[at] = a_kept[c]
                here[c] = new
                at = new * CHAINS + c
                document[at] += _ONE
                row[new * chains + c] += 1
                totals[at] += 1
                a[at] = (document[at] + alphas[at]) * reciprocals[c, totals[at]]


def most_together(tokens: Index, n_topics: int, chains: int) -> int:
    """Return how many of the chains run together: 1 where that is no gain, or a count may not fit."""
    fit = int(np.bincount(tokens).max(initial=0)) <= LARGEST_UINT16
    return CHAINS if fit and n_topics <= min(NARROW, TOPICS_PER_CHAIN * chains) else 1


class Chains:
    """The counts and assignments of C chains of LDA over the same documents, C from 1 to 16, K at most `NARROW`.

    Args:
        tokens: (N,) words, each below V.
        offsets: (D + 1,) where documents begin.
        n_words: V.
        n_topics: K.
        chains: C.
    """

    def __init__(self, tokens: Index, offsets: NDArray[np.int64], n_words: int, n_topics: int, chains: int) -> None:
        self._tokens, self._offsets, self._shape = tokens, offsets, (n_topics, chains)
        self._width = padded_width(n_topics)
        self._rows = np.zeros((n_words, (self._width - 1) * chains + CHAINS), dtype=np.uint16)
        self._totals = np.zeros(self._width * CHAINS, dtype=np.int32)  # N_k of chain c at 16 k + c
        self._assignments = np.full(len(tokens) * chains + CHAINS, -1, dtype=np.int32)
        self._betas: list[float] = []  # those of the reciprocals
        self._reciprocals = np.empty((0, 0), dtype=np.float32)

    def sweep(self, alphas: Sequence[Float], betas: Sequence[float], uniforms: Float32) -> None:
        """Run one sweep of every chain.

        Args:
            alphas: (K,) Dirichlet parameters of theta, of each chain.
            betas: the Dirichlet parameter of phi, of each chain.
            uniforms: (C, N) in [0, 1).
        """
        n_topics, chains = self._shape
        alpha = np.zeros((self._width, CHAINS), dtype=np.float32)
        alpha[:n_topics, :chains] = np.stack(alphas, axis=1)
        added = np.zeros(CHAINS, dtype=np.float32)
        added[:chains] = betas
        if list(betas) != self._betas:
            self._betas = list(betas)
            self._reciprocals = np.stack([reciprocals(len(self._tokens), len(self._rows), beta) for beta in betas])
        state = self._tokens, self._offsets, self._assignments, self._rows, self._totals
        _sweep(*state, alpha, added, self._reciprocals, uniforms, n_topics)

    def chain(self, c: int) -> tuple[Index, Counts, NDArray[np.int64]]:
        """Return a chain's assignments, (N,), N_wk, (V, K), and N_k, (K,), copied."""
        n_topics, chains = self._shape
        assignments = np.ascontiguousarray(self._assignments[c : len(self._tokens) * chains : chains])
        rows = np.ascontiguousarray(self._rows[:, c : n_topics * chains : chains])
        return assignments, rows, self._totals[c : n_topics * CHAINS : CHAINS].astype(np.int64)
