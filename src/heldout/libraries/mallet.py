"""MALLET's state, written by `mallet train-topics --output-state`, gzipped or plain.

After three lines that start with # (the columns, alpha, beta) there is one line per token: document, source, position,
type, word, topic. Counted up they are n_kw, n_k = sum_w n_kw and n_dk, of one state of the Gibbs sampler, and

    phi[k, w] = (n_kw + beta) / (n_k + V beta),

the mean of p(phi | w, z) (Griffiths and Steyvers 2004, equation 6). V counts the types of MALLET's alphabet; one that
no token has is missing in the file but keeps its number, and so its share of beta, under the name "(type number)".

MALLET prints log p(w, z | alpha, beta) per token of its training documents (`heldout.libraries.parts`). Documents
appear in it only through how many have n_d tokens and how many have n_dk of topic k: `State` keeps these two tables,
not the documents, so that memory does not grow with them.

An empty training document is not in the file. MALLET 2.0.7 keeps room for two tokens of it, gives them random topics
j and k and counts them in what it prints, with alpha_j alpha_k / (A (A + 1)), or alpha_j (alpha_j + 1) / (A (A + 1))
for j = k.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import integer, stream_lines
from heldout.errors import InputError
from heldout.libraries import TRAINING, Fitted, Form, Library, Reported
from heldout.libraries.arrays import parse_number
from heldout.libraries.checks import assemble, prior
from heldout.libraries.parts import terms_of_joint
from heldout.limits import check_size
from heldout.typing import Floats, Ints

MAGIC = b"#doc source pos typeindex type topic"
MAXIMUM_LINE = 4 << 20
STATE_EXPANSION, STATE_ALLOWANCE = 50, 16 << 20  # limits of `check_expansion`; a state packs about 10 : 1


@dataclass(frozen=True, eq=False)
class State:
    """The counts of a MALLET state, which give log p(w, z | alpha, beta).

    Attributes:
        topic_word: (K, V) int64, n_kw.
        lengths: (M, 2) int64 rows n_d, number of documents of that length; lengths ascend. Documents without tokens are
            not in the file, and add nothing.
        document_topics: (N, 3) int64 rows k, n_dk, number of documents that have n_dk > 0 tokens of topic k; ascending.
        alpha: (K,) float64, Dirichlet parameters of theta.
        beta: the Dirichlet parameter of phi.
    """

    topic_word: Ints
    lengths: Ints
    document_topics: Ints
    alpha: Floats
    beta: float

    @property
    def n_tokens(self) -> int:
        """Number of tokens in the training documents."""
        return int(self.topic_word.sum())

    @property
    def n_documents(self) -> int:
        """Number of training documents that have tokens."""
        return int(self.lengths[:, 1].sum())


def parameters(line: str, name: str, where: str) -> Floats:
    """Return the numbers of a line with a name (#alpha : 0.5 0.5); an InputError where it has another name, or none."""
    start, colon, rest = line.partition(":")
    values = [parse_number(text) for text in rest.split()]
    if start.strip() != f"#{name}" or not colon or not values or None in values:
        raise InputError(
            f"{where}: expected '#{name} : numbers', found {line!r:.60}; states of MALLET 2.0.7 or later have it"
        )
    return np.array(values, dtype=np.float64)


def tokens(
    lines: Iterable[tuple[int, str]], path: Path, topics: int, words: dict[int, str]
) -> Iterator[tuple[int, int, int]]:
    """Yield document, type and topic of the token in every line, and add its type's word to `words`.

    Raises:
        InputError: names file and line.
    """
    last = -1
    for number, line in lines:
        where = f"{path}: line {number}"
        # the source may have spaces in it: the last four columns are found from the right
        columns = line.split(" ")
        if len(columns) < 6:
            raise InputError(f"{where}: expected document, source, position, type, word, topic, found {line!r:.60}")
        if not columns[-3].isdecimal() and any(column.isdecimal() for column in columns[3:-3]):
            raise InputError(
                f"{where}: {columns[-3]!r:.40} where a type's number stands: a word with a space in it, which divides"
                " columns; train on words without (new_york)"
            )
        numbers = ((0, "the document"), (-4, "the position"), (-3, "the type"), (-1, "the topic"))
        document, _, kind, topic = (integer(columns[place], what, where, 0) for place, what in numbers)
        word = columns[-2]
        if topic >= topics:
            raise InputError(f"{where}: topic {topic}, but alpha has {topics} numbers; damaged?")
        if words.setdefault(kind, word) != word:
            raise InputError(f"{where}: type {kind} is {word!r:.40}, but was {words[kind]!r:.40} before; damaged?")
        if document < last:
            raise InputError(f"{where}: document {document} after document {last}; put the lines in order")
        last = document
        yield document, kind, topic


def read(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read a state; memory holds the distinct pairs of word and topic, never the tokens. `native` is a `State`.

    Raises:
        InputError: names file and line: truncated, damaged, a topic or type that does not fit, documents out of order.
    """
    lines = stream_lines(
        path,
        longest=MAXIMUM_LINE,
        times=STATE_EXPANSION,
        more=STATE_ALLOWANCE,
        encode="run MALLET with -Dfile.encoding=UTF-8",
        again="write the state again",
    )
    heading = list(itertools.islice(lines, 3))
    if len(heading) < 3 or heading[0][1].encode() != MAGIC:
        raise InputError(f"{path}: line 1: expected '{MAGIC.decode()}'; give what --output-state wrote")
    alpha = parameters(heading[1][1], "alpha", f"{path}: line 2")
    betas = parameters(heading[2][1], "beta", f"{path}: line 3")
    if len(betas) != 1 or not 0.0 < betas[0] < np.inf:
        raise InputError(f"{path}: line 3: beta must be one positive number, found {heading[2][1]!r:.60}")
    alpha = prior(alpha, len(alpha), f"{path}: line 2")
    words: dict[int, str] = {}
    pairs: Counter[tuple[int, int]] = Counter()
    lengths: Counter[int] = Counter()
    document_topics: Counter[tuple[int, int]] = Counter()
    for _, document in itertools.groupby(tokens(lines, path, len(alpha), words), itemgetter(0)):
        counts: Counter[int] = Counter()
        for _, kind, topic in document:
            counts[topic] += 1
            pairs[kind, topic] += 1
        lengths[counts.total()] += 1
        document_topics.update(counts.items())
    if not words:
        raise InputError(f"{path}: no token in it; train on documents that have some")
    types = max(words) + 1
    if types > 1000 + 100 * len(words):
        raise InputError(f"{path}: type {types - 1}, but only {len(words)} words; damaged?")
    check_size(len(alpha), types, str(path))
    topic_word = np.zeros((len(alpha), types), dtype=np.int64)
    for (kind, topic), count in pairs.items():
        topic_word[topic, kind] = count
    having = sorted((topic, count, documents) for (topic, count), documents in document_topics.items())
    state = State(topic_word, np.array(sorted(lengths.items())), np.array(having), alpha, float(betas[0]))
    return assemble(
        library="MALLET",
        version="not in the file",
        form="mallet",
        where=str(path),
        weights=topic_word + state.beta,
        what="n_kw + beta",
        prior_of_theta=(alpha,),
        own_words=[words.get(kind, f"(type {kind})") for kind in range(types)],
        vocabulary=vocabulary,
        native=state,
        phi="the mean of p(phi | w, z) at the sampler's last state, (n_kw + beta) / (n_k + V beta)",
        beta=state.beta,
        training_documents=state.n_documents,
        training_tokens=state.n_tokens,
        unnamed_words=types - len(words),
    )


def reported(fitted: Fitted, _documents: Iterable[Corpus]) -> Reported:
    """Return MALLET's log-likelihood per token of its training documents."""
    state: State = fitted.native
    A = state.alpha.sum()
    lengths, documents = state.lengths.T
    topics, counts, sharing = state.document_topics.T
    assignments = float(documents @ (gammaln(A) - gammaln(A + lengths)))
    assignments += float(sharing @ (gammaln(state.alpha[topics] + counts) - gammaln(state.alpha[topics])))
    K, V = state.topic_word.shape
    words = K * gammaln(V * state.beta) - gammaln(V * state.beta + state.topic_word.sum(axis=1)).sum()
    words = float(words + np.sum(gammaln(state.beta + state.topic_word) - gammaln(state.beta)))
    return Reported(
        "LL/token",
        (assignments + words) / state.n_tokens,
        "nats per token",
        about=TRAINING,
        computes="log p(words, tokens' topics) of the training documents at the sampler's state; for other documents"
        " `mallet evaluate-topics` runs left-to-right without resampling",
        terms=terms_of_joint(assignments, words),
    )


FORM = Form("mallet", read, begins=lambda _path, first: first.startswith(MAGIC))
LIBRARY = Library("MALLET", reported, forms=(FORM,), own_numbers=True)
