"""Records of categorical variables, with gaps, as a corpus, and their formats.

The words of the corpus are the pairs "variable=value", a document is a record with a token for each response that it
has: the form of Murphy (2012, equations 27.3, 27.7 and 27.14), whose models see one block of words per variable.
"""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from heldout.corpora.corpus import Corpus, offsets_of, provenance
from heldout.errors import InputError
from heldout.typing import Ints

Responses = Ints

VOTES = (
    "handicapped-infants",
    "water-project-cost-sharing",
    "adoption-of-the-budget-resolution",
    "physician-fee-freeze",
    "el-salvador-aid",
    "religious-groups-in-schools",
    "anti-satellite-test-ban",
    "aid-to-nicaraguan-contras",
    "mx-missile",
    "immigration",
    "synfuels-corporation-cutback",
    "education-spending",
    "superfund-right-to-sue",
    "crime",
    "duty-free-exports",
    "export-administration-act-south-africa",
)


def from_responses(
    name: str, responses: Responses, variables: tuple[str, ...], values: tuple[str, ...], records: tuple[str, ...]
) -> Corpus:
    """Return (N, R) responses 0 .. M - 1, -1 for a gap, to R variables of M values as a corpus.

    Examples:
        >>> corpus = from_responses("tiny", np.array([[0, -1], [1, 0]]), ("a", "b"), ("n", "y"), ("1", "2"))
        >>> corpus.vocabulary, [corpus.document(d).tolist() for d in (0, 1)]
        (('a=n', 'a=y', 'b=n', 'b=y'), [[0], [1, 2]])
        >>> responses_of(corpus)
        array([[ 0, -1],
               [ 1,  0]])
    """
    M, given = len(values), responses >= 0
    columns = responses + M * np.arange(len(variables))
    return Corpus(
        name=name,
        vocabulary=tuple(f"{variable}={value}" for variable in variables for value in values),
        tokens=columns[given].astype(np.int32),
        offsets=offsets_of(given.sum(axis=1)),
        documents=records,
        provenance=provenance("one token for each response", {"values": M}, ordered=False, values=M),
    )


def responses_of(corpus: Corpus) -> Responses:
    """Return the (N, R) responses of a corpus that `from_responses` made, or of a part of its documents.

    Raises:
        InputError: for a corpus of other documents.
    """
    M = corpus.provenance.get("values")
    if not isinstance(M, int):
        raise InputError(f"corpus {corpus.name}: documents, not records of categorical variables")
    responses = np.full((corpus.n_documents, corpus.n_words // M), -1, dtype=np.int64)
    rows = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    responses[rows, corpus.tokens // M] = corpus.tokens % M
    return responses


def read_votes(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return the House votes of 1984: a line is a party and 16 of y, n and ? (a gap); records carry the party.

    Raises:
        InputError: names the line that is something else.
    """
    ((file, content),) = members.items()
    codes, records, rows = {"n": 0, "y": 1, "?": -1}, [], []
    for number, line in enumerate(content.decode("latin-1").split(), start=1):
        party, *votes = line.split(",")
        if len(votes) != len(VOTES) or not set(votes) <= codes.keys():
            raise InputError(f"{file}: line {number}: expected a party and {len(VOTES)} of y, n and ?")
        rows.append([codes[vote] for vote in votes])
        records.append(f"{number}-{party}")
    return from_responses(name, np.array(rows), VOTES, ("n", "y"), tuple(records))


def read_word_presence(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return Roweis's 20news_w100 from a MATLAB file: the presence of 100 words in each posting.

    Raises:
        InputError: when the file is not that.
    """
    from scipy.io import loadmat  # half a second, which those who read texts need not wait
    from scipy.io.matlab import MatReadError

    ((file, content),) = members.items()
    try:
        matrix: dict[str, Any] = loadmat(io.BytesIO(content))
        present = np.asarray(sp.csr_array(matrix["documents"]).toarray(), dtype=np.int64).T
        words = tuple(str(word[0]) for word in matrix["wordlist"][0])
    except (MatReadError, ValueError, KeyError, IndexError, TypeError, OSError) as error:
        raise InputError(f"{file}: expected a MATLAB file of `documents` and `wordlist` ({error})") from error
    if present.ndim != 2 or present.shape[1] != len(words) or not np.isin(present, (0, 1)).all():
        raise InputError(f"{file}: expected zeros and ones, a row for each of {len(words)} words")
    records = tuple(str(number) for number in range(1, len(present) + 1))
    return from_responses(name, present, words, ("absent", "present"), records)
