"""Troubles that users report in public, each on a small example of its kind: the exact value, or a refusal.

Others stand elsewhere: columns in another order in `test_matching.py`, folds in `test_choose.py`, correlated topics in
`test_logistic_normal_audit.py`, Spark's matrix in `test_recipes.py`.
"""

import gzip
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gensim
import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import tomotopy
from gensim.corpora import Dictionary
from scipy.special import loggamma
from sklearn.decomposition import LatentDirichletAllocation

import heldout
from heldout.errors import InputError
from heldout.libraries.read import read_model

V = 14
WORDS = [f"w{v:02d}" for v in range(V)]
RNG = np.random.default_rng(7)
PHI = RNG.dirichlet(np.ones(V), 2)
TEST = [RNG.choice(V, size=n).tolist() for n in (3, 9, 14)]
TEXTS = [[WORDS[v] for v in document] for document in TEST]
COUNTS = np.array([np.bincount(document, minlength=V) for document in TEST])
TRAINING = [[WORDS[v] for v in RNG.choice(V, 20, p=PHI[d % 2])] for d in range(40)]


def exact(phi: Any, alpha: Any, document: Sequence[int]) -> float:
    """Return log p(w): each way to count the topics of a document's tokens, times the chance of the counts."""
    K = len(phi)
    alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), (K,))
    ways = {(0,) * K: 1.0}
    for word in document:
        longer: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, way in ways.items():
            for k in range(K):
                longer[*counts[:k], counts[k] + 1, *counts[k + 1 :]] += way * float(phi[k][word])
        ways = longer
    total = sum(way * math.exp((loggamma(alpha + n) - loggamma(alpha)).sum()) for n, way in ways.items())
    A = alpha.sum()
    return math.log(total) + float(loggamma(A) - loggamma(A + len(document)))


def right(phi: Any, alpha: Any, documents: Sequence[Sequence[int]] = TEST) -> float:
    nats = sum(exact(phi, alpha, document) for document in documents)
    return math.exp(-nats / sum(map(len, documents)))


def audit(model: Any, documents: Any, **given: Any) -> Any:
    return heldout.audit(model, documents, probability=False, **given)


def perplexity(model: Any, documents: Any = TEXTS, **given: Any) -> float:
    return float(audit(model, documents, **given)["likelihood"].perplexity)


def of_scikit_learn(X: Any = None, **options: Any) -> tuple[Any, Any]:
    """Return a model of scikit-learn and its phi."""
    X = np.array([[words.count(word) for word in WORDS] for words in TRAINING]) if X is None else X
    model = LatentDirichletAllocation(2, random_state=0, max_iter=5, **options).fit(X)
    return model, model.components_ / model.components_.sum(axis=1, keepdims=True)


def of_gensim(K: int = 2, **options: Any) -> tuple[Any, Any, Dictionary]:
    words = Dictionary(TRAINING)
    bags = [words.doc2bow(document) for document in TRAINING]
    model = gensim.models.LdaModel(bags, num_topics=K, id2word=words, random_state=0, passes=3, **options)
    parameters = model.state.get_lambda().astype(np.float64)
    return model, parameters / parameters.sum(axis=1, keepdims=True), words


def numbered(words: Dictionary) -> list[list[int]]:
    return [[words.token2id[word] for word in document] for document in TEXTS]


def of_tomotopy(**options: Any) -> tuple[Any, Any, list[list[int]]]:
    model = tomotopy.LDAModel(k=2, seed=1, **options)
    for document in TRAINING:
        model.add_doc(document)
    model.train(20, workers=1)
    phi = np.array([model.get_topic_word_dist(k) for k in range(2)], dtype=np.float64)
    words = list(model.used_vocabs)
    return model, phi / phi.sum(axis=1, keepdims=True), [[words.index(word) for word in text] for text in TEXTS]


def printed_in_training_and_by_perplexity(_: Path) -> tuple[float, float]:
    model, phi = of_scikit_learn(evaluate_every=1)
    result = audit(model, COUNTS)
    assert result.reported.value == pytest.approx(model.perplexity(COUNTS))
    return result["likelihood"].perplexity, right(phi, model.doc_topic_prior_)


def a_matrix_of_floats(_: Path) -> tuple[float, float]:
    model, phi = of_scikit_learn()
    return perplexity(model, sp.csr_matrix(COUNTS.astype(np.float32))), right(phi, model.doc_topic_prior_)


def a_column_of_zeros(_: Path) -> tuple[float, float]:
    X = np.array([[words.count(word) for word in WORDS] for words in TRAINING])
    X[:, 3] = 0
    model, phi = of_scikit_learn(X)
    return perplexity(model, COUNTS), right(phi, model.doc_topic_prior_)


def duplicates_zeros_and_no_order(_: Path) -> tuple[float, float]:
    model, phi = of_scikit_learn()
    rows, columns = np.nonzero(COUNTS)
    entries = COUNTS[rows, columns].astype(float)
    parts = np.r_[entries + 2.0, np.full(len(entries), -2.0), 0.0]
    places = np.r_[rows, rows, 0], np.r_[columns, columns, 0]
    matrix = sp.coo_array((parts[::-1], (places[0][::-1], places[1][::-1])), COUNTS.shape)
    before = matrix.data.copy()
    value = perplexity(model, matrix)
    np.testing.assert_array_equal(matrix.data, before)
    return value, right(phi, model.doc_topic_prior_)


def a_pickle_of_an_older_release(folder: Path) -> tuple[float, float]:
    model, phi = of_scikit_learn()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "1.2.2")
        joblib.dump(model, folder / "old.joblib")
    with pytest.warns(UserWarning, match=r"1\.2\.2"):
        read = read_model(folder / "old.joblib", trust_pickle=True)
    return perplexity(read, COUNTS), right(phi, model.doc_topic_prior_)


def topics_seeded_by_a_matrix_of_eta(_: Path) -> tuple[float, float]:
    eta = np.full((2, V), 0.1)
    eta[0, :5] = 5.0
    model, phi, words = of_gensim(eta=eta)
    result = audit(model, TEXTS)
    assert result.reported.note
    assert (math.isfinite(result.reported.value), result.reported.terms) == (True, ())
    assert heldout.rank([model, of_gensim()[0]], TEXTS, coherence=False).best.topics == 2
    return result["likelihood"].perplexity, right(phi, model.alpha.astype(np.float64), numbered(words))


def a_perplexity_beyond_floating_point(_: Path) -> tuple[float, float]:
    model, phi, words = of_gensim(40, dtype=np.float64)
    model.state.sstats *= 1e4
    model.sync_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = audit(model, [TEXTS[0][:1]])
    assert result.reported.perplexity == math.inf
    assert math.isfinite(result.reported.nats_per_token)
    phi = model.state.get_lambda().astype(np.float64)
    phi /= phi.sum(axis=1, keepdims=True)
    return result["likelihood"].perplexity, right(phi, model.alpha.astype(np.float64), [numbered(words)[0][:1]])


def words_that_were_never_seen(_: Path) -> tuple[float, float]:
    model, phi, numbers = of_tomotopy()
    result = audit(model, [[*TEXTS[0], "new", "newer", "new"], *TEXTS[1:], ["newest"]])
    assert (result.left_out, result.empty, result.words_left_out[0]) == (4, 1, "new")
    return result["likelihood"].perplexity, right(phi, model.alpha, numbers)


def tokens_with_weights(_: Path) -> tuple[float, float]:
    model, phi, numbers = of_tomotopy(tw=tomotopy.TermWeight.IDF)
    result = audit(model, TEXTS)
    assert result.reported.about == "weighted tokens"
    assert not result.comparable
    return result["likelihood"].perplexity, right(phi, model.alpha, numbers)


def lda_c(folder: Path, phi: Any) -> Path:
    logs = np.log(phi, out=np.full(phi.shape, -100.0), where=phi > 0.0)
    (folder / "final.beta").write_text("".join(" ".join(f"{x:.10f}" for x in row) + "\n" for row in logs))
    (folder / "final.other").write_text(f"num_topics 2\nnum_terms {V}\nalpha 0.5\n")
    return folder


def the_lines_of_the_likelihood_file(folder: Path) -> tuple[float, float]:
    result = audit(lda_c(folder, PHI), COUNTS)
    assert result.reported.value < sum(exact(PHI, 0.5, document) for document in TEST) < 0.0
    return result["likelihood"].perplexity, right(PHI, 0.5)


def a_word_in_no_topic(folder: Path) -> tuple[float, float]:
    phi = PHI.copy()
    phi[:, TEST[2][0]] = 0.0
    phi /= phi.sum(axis=1, keepdims=True)
    result = audit(lda_c(folder, phi), COUNTS)
    possible = [d for d, document in enumerate(TEST) if TEST[2][0] not in document]
    assert 0 < len(possible) < len(TEST)
    assert np.isneginf(result.nats["likelihood"]).sum() == len(TEST) - len(possible)
    assert math.isfinite(result.reported.value)
    value = math.exp(-result.nats["likelihood"][possible].sum() / result.lengths[possible].sum())
    return value, right(phi, 0.5, [TEST[d] for d in possible])


def state(folder: Path, words: Sequence[str], *, alphas: str = "0.5 0.7", beta: float = 0.1) -> tuple[Path, Any]:
    """Write MALLET's state of tokens, the topics in turns; return it and phi."""
    lines = ["#doc source pos typeindex type topic", f"#alpha : {alphas}", f"#beta : {beta}"]
    kinds = list(dict.fromkeys(words))
    counts = np.full((2, len(kinds)), beta)
    for d, word in enumerate(words):  # a document of one word each
        lines.append(f"{d} a source.txt 0 {kinds.index(word)} {word} {d % 2}")
        counts[d % 2, kinds.index(word)] += 1
    (folder / "state.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return folder / "state.gz", counts / counts.sum(axis=1, keepdims=True)


def documents_of_one_word(folder: Path) -> tuple[float, float]:
    path, phi = state(folder, [word for text in TRAINING for word in text] + WORDS)
    kinds = list(read_model(path).topics.vocabulary)
    numbers = [[kinds.index(word)] for word in TEXTS[1]]
    return perplexity(path, [[word] for word in TEXTS[1]]), right(phi, [0.5, 0.7], numbers)


def punctuation_in_words(folder: Path) -> tuple[float, float]:
    words = ["it's", "a,b", '"so"', "n\u00a0b", "l\u2028s", "n\u0085l"]
    path, phi = state(folder, words * 3)
    return perplexity(path, [words]), right(phi, [0.5, 0.7], [range(6)])


def rows_that_are_rounded(_: Path) -> tuple[float, float]:
    return perplexity((PHI * [[1.0 + 1e-6], [1.0 - 1e-6]], 0.3), COUNTS), right(PHI, 0.3)


def names_in_another_order(_: Path) -> tuple[float, float]:
    table = pd.DataFrame(PHI, columns=WORDS)[WORDS[::-1]]
    assert perplexity((table, 1.0), TEXTS) == pytest.approx(right(PHI, 1.0), rel=1e-9)
    return perplexity((table, 1.0), pd.DataFrame(COUNTS, columns=WORDS)), right(PHI, 1.0)


def counts_that_are_written_as_reals(folder: Path) -> tuple[float, float]:
    entries = [f"{d + 1} {v + 1} {COUNTS[d, v]:.1f}" for d, v in zip(*np.nonzero(COUNTS), strict=True)]
    heading = f"%%MatrixMarket matrix coordinate real general\n3 {V} {len(entries)}"
    (folder / "a.mm").write_text("\n".join([heading, *entries, ""]), encoding="utf-8-sig")
    return perplexity((PHI, 0.3), folder / "a.mm"), right(PHI, 0.3)


def nullable_integers(_: Path) -> tuple[float, float]:
    return perplexity((PHI, 0.3), pd.DataFrame(COUNTS, columns=WORDS).astype("Int64")), right(PHI, 0.3)


def byte_order_marks(folder: Path) -> tuple[float, float]:
    for encoding in ("utf-8", "utf-8-sig"):
        for other in ("utf-8", "utf-8-sig"):
            pd.DataFrame(PHI, columns=WORDS).to_csv(folder / "phi.csv", index=False, encoding=encoding)
            (folder / "phi.alpha.csv").write_text("0.1\n2.5\n", encoding=other)
            assert perplexity(folder / "phi.csv", TEXTS) == pytest.approx(right(PHI, [0.1, 2.5]), rel=1e-9)
    pd.DataFrame(COUNTS, columns=WORDS).to_csv(folder / "docs.csv", index=False, encoding="utf-8-sig")
    return perplexity(folder / "phi.csv", folder / "docs.csv"), right(PHI, [0.1, 2.5])


RIGHT: list[Callable[[Path], tuple[float, float]]] = [
    *(printed_in_training_and_by_perplexity, a_matrix_of_floats, a_column_of_zeros, duplicates_zeros_and_no_order),
    *(a_pickle_of_an_older_release, topics_seeded_by_a_matrix_of_eta, a_perplexity_beyond_floating_point),
    *(words_that_were_never_seen, tokens_with_weights, the_lines_of_the_likelihood_file, a_word_in_no_topic),
    *(documents_of_one_word, punctuation_in_words, rows_that_are_rounded, names_in_another_order),
    *(counts_that_are_written_as_reals, nullable_integers, byte_order_marks),
]


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: str(case.__name__))
def test_the_value_is_right(case: Callable[[Path], tuple[float, float]], tmp_path: Path) -> None:
    value, expected = case(tmp_path)
    assert value == pytest.approx(expected, rel=1e-7)


def filtered_after_training(_: Path) -> None:
    model, _, words = of_gensim()
    words.filter_extremes(no_below=1, no_above=1.0, keep_n=9)
    perplexity(model)


def not_a_number_in_the_state(_: Path) -> None:
    model, _, _ = of_gensim()
    model.state.sstats[1, 2] = math.nan
    perplexity(model)


def weights_for_counts(_: Path) -> None:
    model, _, words = of_gensim()
    bags = [words.doc2bow(document) for document in TEXTS]
    perplexity(model, [gensim.models.TfidfModel(dictionary=words)[bag] for bag in bags])


def numbers_beyond_the_model(_: Path) -> None:
    perplexity(of_gensim()[0], [[(0, 1), (V, 2)]])


def words_in_rows(_: Path) -> None:
    perplexity(of_gensim()[0], sp.csr_array(COUNTS.T))


def a_space_in_a_word(folder: Path) -> None:
    perplexity(state(folder, ["new york", "wing"] * 3)[0])


def rows_that_do_not_sum_to_one(_: Path) -> None:
    perplexity((PHI * 1.001, 0.3), COUNTS)


def a_table_of_top_words(_: Path) -> None:
    perplexity({"topics": [WORDS[:3], WORDS[3:6]]})


def a_head_that_counts_tokens(folder: Path) -> None:
    (folder / "a.mm").write_text(f"%%MatrixMarket matrix coordinate integer general\n3 {V} 26\n1 1 3\n")
    perplexity((PHI, 0.3), folder / "a.mm")


def a_mask(_: Path) -> None:
    perplexity((PHI, 0.3), np.ma.masked_equal(COUNTS, COUNTS.max()))


def absent_counts(_: Path) -> None:
    table = pd.DataFrame(COUNTS, columns=WORDS).astype("Int64")
    perplexity((PHI, 0.3), table.where(table > 0))


def coherence_of_windows_in_counts(_: Path) -> None:
    models = [(PHI, 0.3), (PHI[::-1], 0.7)]
    heldout.rank(models, TEXTS, vocabulary=WORDS, coherence_documents=COUNTS, coherence_measure="c_v")


REFUSED: dict[Callable[[Path], None], str] = {
    filtered_after_training: f"id2word names 9 words, the topics have {V}",
    not_a_number_in_the_state: "row 1 of",
    weights_for_counts: "row 0: a count of 0",
    numbers_beyond_the_model: f"{V + 1} words that are not named, but {V} in the vocabulary",
    words_in_rows: f"3 words that are not named, but {V}",
    a_space_in_a_word: "line 4: 'new'",
    rows_that_do_not_sum_to_one: "row . of phi sums to 1.001",
    a_table_of_top_words: "model: a builtins.dict",
    a_head_that_counts_tokens: "26 lines of 3 numbers announced, 1 of 3 found",
    a_mask: "of the counts are masked",
    absent_counts: "column 'w..' lacks . of its counts",
    coherence_of_windows_in_counts: "C_v",
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: str(case.__name__))
def test_it_is_refused(case: Callable[[Path], None], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=REFUSED[case]) as caught:
        case(tmp_path)
    assert len(str(caught.value)) < 400
