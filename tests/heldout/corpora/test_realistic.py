import numpy as np
import pytest
from scipy import stats

from heldout.corpora.names import SOURCES, Source
from heldout.corpora.realistic import DOCUMENTS, MEAN_LENGTH, cut, draw
from heldout.corpora.synthetic import MINIMUM_LENGTH
from heldout.errors import InputError
from heldout.topics import Topics

LENGTHS = np.array([0, 1, 20, 30, 200])


def model(n_topics: int = 10, words: int = 60, seed: int = 0) -> Topics:
    random = np.random.default_rng(seed)
    phi = random.dirichlet(np.full(words, 0.2), size=n_topics)
    vocabulary = tuple(f"word{w:02d}" for w in range(words))
    return Topics(phi, random.uniform(0.02, 0.1, n_topics), vocabulary, {"corpus": "news", "seed": 4})


def test_the_papers_sizes() -> None:
    assert (DOCUMENTS, MEAN_LENGTH) == (50_182, 151.0)
    assert {"s10": Source(10, 0), "s10s": Source(10, 5_000), "s40": Source(40, 0)} == SOURCES


def test_names_words_and_provenance() -> None:
    corpus, truth = draw("s10", model(), LENGTHS, documents=12, mean_length=30.0, seed=3)
    assert (corpus.name, corpus.n_documents, corpus.n_words) == ("s10", 12, 60)
    assert corpus.documents[0] == "d01"
    assert corpus.vocabulary == truth.vocabulary == model().vocabulary
    np.testing.assert_array_equal(truth.phi, model().phi)
    np.testing.assert_array_equal(truth.alpha, model().alpha)
    assert corpus.synthetic
    assert corpus.provenance["ordered"] is True
    assert corpus.provenance["words_never_drawn"] == 60 - len(set(corpus.tokens.tolist()))
    settings = corpus.provenance["rule"]["settings"]
    assert (settings["seed"], settings["trained_with_seed"], settings["documents"]) == (3, 4, 12)
    assert settings["alpha"] == truth.alpha.tolist()
    assert "news" in corpus.provenance["rule"]["words"]
    assert truth.provenance["model"] == "truth"


def test_the_draw_is_named_by_name_and_seed_alone() -> None:
    first, again, other = (draw("s10", model(), LENGTHS, documents=50, seed=s)[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(first.tokens, again.tokens)
    np.testing.assert_array_equal(first.offsets, again.offsets)
    assert not np.array_equal(first.tokens[:50], other.tokens[:50])
    s10s = draw("s10s", model(), LENGTHS, documents=50, seed=1)[0]
    assert not np.array_equal(first.tokens[:50], s10s.tokens[:50])


def test_cut_keeps_the_most_probable_words_and_every_topics_ratios(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = model()
    probability = np.zeros(60)
    for k in range(10):
        probability += topics.alpha[k] / topics.alpha.sum() * topics.phi[k]
    kept = sorted(sorted(range(60), key=lambda w: -probability[w])[:7])
    monkeypatch.setitem(SOURCES, "s10s", Source(10, 7))
    corpus, truth = draw("s10s", topics, LENGTHS, documents=20)
    assert corpus.vocabulary == truth.vocabulary == tuple(topics.vocabulary[w] for w in kept)
    np.testing.assert_allclose(truth.phi.sum(axis=1), 1.0, rtol=1e-12)
    ratios = truth.phi / topics.phi[:, kept]
    np.testing.assert_allclose(ratios, np.tile(ratios[:, :1], 7), rtol=1e-12)
    np.testing.assert_array_equal(truth.alpha, topics.alpha)
    assert corpus.provenance["rule"]["settings"]["vocabulary"] == 7


def test_cut_refuses_what_it_cannot_keep() -> None:
    topics = Topics(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), np.array([5.0, 0.1]), ("a", "b", "c"))
    with pytest.raises(InputError, match="topic 1 "):
        cut(topics, 2)
    for words in (0, 4):
        with pytest.raises(InputError, match=f"{words} words .*of 3"):
            cut(topics, words)


def test_lengths_are_the_real_ones_scaled_to_the_mean() -> None:
    # a normal bound of a mean of 4000 independent draws, false-alarm rate 1e-5; rounding moves it by less than 0.5
    corpus, _ = draw("s10", model(), LENGTHS, documents=4000, mean_length=40.0)
    real = LENGTHS[LENGTHS > 0] * 40.0 / LENGTHS[LENGTHS > 0].mean()
    assert set(corpus.lengths.tolist()) == {max(MINIMUM_LENGTH, round(length)) for length in real}
    assert abs(corpus.lengths.mean() - 40.0) < 0.5 + stats.norm.isf(0.5e-5) * real.std() / np.sqrt(4000)


def test_words_follow_the_model() -> None:
    # Two-token documents: the pair (w, v) has the probability E[theta theta'] of the Dirichlet between phi_w and phi_v.
    # Pearson's chi-squared test over pairs, false-alarm rate 1e-5.
    topics = model(words=6)
    corpus, _ = draw("s10", topics, np.array([2]), documents=40_000, mean_length=2.0)
    total = topics.alpha.sum()
    moments = (np.outer(topics.alpha, topics.alpha) + np.diag(topics.alpha)) / (total * (total + 1.0))
    expected = (topics.phi.T @ moments @ topics.phi).ravel() * corpus.n_documents
    pairs = corpus.tokens.reshape(-1, 2)
    observed = np.bincount(pairs[:, 0] * 6 + pairs[:, 1], minlength=36)
    common = expected >= 5.0
    observed, expected = (np.append(x[common], x[~common].sum()) for x in (observed, expected))
    assert common.sum() > 20
    chi2 = float(((observed - expected) ** 2 / np.maximum(expected, 1e-9)).sum())
    assert stats.chi2.sf(chi2, common.sum()) > 1e-5


@pytest.mark.parametrize(
    ("name", "n_topics", "lengths", "documents", "mean_length", "message"),
    [
        ("s20", 10, [5], 5, 9.0, "corpus s20: unknown; drawn from models of news are s10, s10s, s40"),
        ("s10", 9, [5], 5, 9.0, "corpus s10: it is drawn from 10 topics, not 9"),
        ("s10", 10, [0], 5, 9.0, "5 documents, 0 lengths"),
        ("s10", 10, [5], 0, 9.0, "0 documents, 1 lengths"),
        ("s10", 10, [5], 5, float("nan"), "nan tokens per document"),
    ],
)
def test_refusals(
    name: str, n_topics: int, lengths: list[int], documents: int, mean_length: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        draw(name, model(n_topics), np.array(lengths), documents=documents, mean_length=mean_length)
