"""LDA-C's model: two texts of one name, `final.beta` and `final.other`.

final.beta has a line per topic of log p(w | z), natural logarithms, one column per word (Blei, Ng and Jordan 2003,
whose beta is phi here); LDA-C writes -100 for a probability of 0, and infers with exp(-100). final.other has three
lines: num_topics K, num_terms V, alpha, one number for a symmetric prior. Neither names words. `lda inf` writes the
mean-field bound of every document with the topics fixed (`heldout.evaluators.mean_field_bound`): a bound of the
likelihood, with nothing of the topics in it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import integer, read_bytes, read_lines
from heldout.errors import InputError
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.libraries import Fitted, Form, Library, Reported
from heldout.libraries.arrays import parse_number, read_rows
from heldout.libraries.checks import TEXT_TOLERANCE, assemble, prior
from heldout.libraries.parts import no_tokens, over_words, reported_value
from heldout.limits import check_size

ZERO = -100.0  # logarithm that LDA-C writes for a probability of 0


def both(path: Path) -> tuple[Path, Path]:
    """Return the .beta and the .other file for `path`: either one, or their folder; InputError names a missing one."""
    stem = path / "final" if path.is_dir() else path.with_suffix("")
    pair = stem.with_name(f"{stem.name}.beta"), stem.with_name(f"{stem.name}.other")
    for file in pair:
        if not file.exists():
            raise InputError(
                f"{path}: no {file.name} beside it; LDA-C writes {pair[0].name} and {pair[1].name}, give both"
            )
    return pair


def read_settings(path: Path) -> tuple[int, int, float]:
    """Return K, V and alpha from a .other file; an InputError names file and line."""
    lines = [line.split() for line in read_lines(path, read_bytes(path))]
    names = ("num_topics", "num_terms", "alpha")
    for number, name in enumerate(names, start=1):
        if len(lines) < number or len(lines[number - 1]) != 2 or lines[number - 1][0] != name:
            raise InputError(f"{path}: line {number}: expected '{name} number'; copy the file again")
    topics, words = (integer(lines[i][1], names[i], f"{path}: line {i + 1}", 1) for i in range(2))
    check_size(topics, words, str(path))
    alpha = parse_number(lines[2][1])
    if alpha is None:
        raise InputError(f"{path}: line 3: alpha must be a number, found {lines[2][1]!r:.40}")
    return topics, words, float(prior(alpha, 1, f"{path}: line 3")[0])


def read(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read a model that `lda est` wrote: final.beta, final.other, or their folder.

    Raises:
        InputError: names file and line: missing, truncated, a logarithm above 0, rows that do not sum to 1.
    """
    beta, other = both(path)
    topics, words, alpha = read_settings(other)
    size = beta.stat().st_size
    if 2 * topics * words > size + 1:
        raise InputError(
            f"{beta}: {size} bytes cannot hold the {topics} by {words} logarithms of {other.name}; truncated?"
        )
    _, rows = read_rows(beta, None)
    if len(rows) != topics or len(rows[0]) != words:
        raise InputError(
            f"{beta}: {len(rows)} lines of {len(rows[0])} numbers, but {other.name} announces {topics} of {words};"
            " truncated, or of another model"
        )
    logarithms = np.array(rows)
    good = np.all(logarithms <= math.log1p(TEXT_TOLERANCE), axis=1)  # False for NaN
    if not good.all():
        raise InputError(
            f"{beta}: line {int(np.argmin(good)) + 1}: a logarithm of a probability is 0 or less; damaged?"
        )
    return assemble(
        library="LDA-C",
        version="not in the file",
        form="lda-c",
        where=str(beta),
        weights=np.where(logarithms == ZERO, 0.0, np.exp(logarithms)),
        what="exp(beta)",
        tolerance=TEXT_TOLERANCE,
        prior_of_theta=(alpha,),
        vocabulary=vocabulary,
        phi="the maximum of the variational bound, exp(beta)",
    )


def reported(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    """Return the mean-field bound of documents, summed, as the lines of `lda inf`'s file."""
    function = "lda inf"
    nats, tokens = 0.0, 0
    topics = replace(fitted.dirichlet, phi=np.maximum(fitted.dirichlet.phi, math.exp(ZERO)))
    for batch in over_words(fitted, documents):
        evaluation = mean_field_bound(topics, batch)
        nats += float(evaluation.log_likelihood.sum())
        tokens += int(evaluation.tokens.sum())
    if tokens == 0:
        return no_tokens(function)
    computes = (
        "the mean-field lower bound of every document with the topics fixed, here iterated until it no longer rises"
    )
    return reported_value(function, nats, "nats, the sum of the file's lines", nats / tokens, computes)


FORM = Form("lda-c", read, suffixes=(".beta", ".other"), folder="final.beta")
LIBRARY = Library("LDA-C", reported, forms=(FORM,))
