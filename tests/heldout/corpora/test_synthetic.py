import numpy as np
import pytest
from scipy import stats

from heldout.corpora.synthetic import MINIMUM_LENGTH, Law, Shape, draw
from heldout.errors import InputError

SHAPE = Shape(train_documents=300, test_documents=100, vocabulary=500, mean_length=60.0)


def test_shape_provenance_and_names() -> None:
    corpus, topics = draw("some-like", SHAPE, seed=3)
    assert (corpus.n_documents, corpus.n_words) == (400, 500)
    assert corpus.vocabulary == topics.vocabulary
    assert corpus.vocabulary[0] == "w001"
    assert topics.phi.shape == (50, 500)
    assert corpus.synthetic
    assert corpus.provenance["rule"]["settings"]["seed"] == 3
    assert corpus.provenance["words_never_drawn"] == 500 - len(set(corpus.tokens.tolist()))
    assert corpus.lengths.min() >= MINIMUM_LENGTH
    assert set(corpus.provenance["rule"]["settings"]) >= {"alpha", "exponent", "shift", "concentration", "scale"}


def test_the_draw_is_named_by_name_scale_and_seed() -> None:
    first, topics = draw("some-like", SHAPE, 0.5, 1)
    again, topics_again = draw("some-like", SHAPE, 0.5, 1)
    np.testing.assert_array_equal(first.tokens, again.tokens)
    np.testing.assert_array_equal(topics.phi, topics_again.phi)
    for other in (draw("other-like", SHAPE, 0.5, 1), draw("some-like", SHAPE, 0.5, 2)):
        assert other[0].n_tokens != first.n_tokens or not np.array_equal(other[0].tokens, first.tokens)


def test_mean_length_is_the_shapes() -> None:
    # 400 negative binomial lengths of mean m and variance m + m^2 / r; a normal bound with a false-alarm rate of 1e-5
    corpus, _ = draw("some-like", SHAPE)
    deviation = np.sqrt((60 + 60**2 / Law().length_shape) / 400)
    assert abs(corpus.lengths.mean() - 60) < stats.norm.isf(0.5e-5) * deviation


def test_words_follow_the_true_topics() -> None:
    # a huge alpha makes every theta uniform, so all tokens are independent draws from the mean of the topics:
    # Pearson's chi-squared test against it, false-alarm rate 1e-5
    corpus, topics = draw("some-like", SHAPE, law=Law(topics=5, alpha=1e6))
    expected = topics.phi.mean(axis=0) * corpus.n_tokens
    observed = np.bincount(corpus.tokens, minlength=500)
    assert np.all(observed[expected == 0] == 0)
    common = expected >= 5
    table = np.append(observed[common], observed[~common].sum()), np.append(expected[common], expected[~common].sum())
    chi2 = ((table[0] - table[1]) ** 2 / table[1]).sum()
    assert stats.chi2.sf(chi2, common.sum()) > 1e-5


def test_rank_frequency_falls_like_zipf() -> None:
    corpus, _ = draw("some-like", Shape(1000, 398, 3763, 84.3))
    frequencies = np.sort(np.bincount(corpus.tokens))[::-1]
    ranks = np.arange(30, 1000)
    slope = np.polyfit(np.log(ranks), np.log(frequencies[ranks]), 1)[0]
    assert -1.3 < slope < -0.7
    assert 0.01 < frequencies[0] / corpus.n_tokens < 0.05


def test_scale_shrinks_documents_vocabulary_and_long_texts() -> None:
    assert Shape(150, 50, 10780, 1380.0).scaled(0.25) == Shape(38, 12, 2695, 690.0)
    assert Shape(979, 419, 3763, 84.3).scaled(0.1) == Shape(98, 42, 376, 84.3)
    assert Shape(979, 419, 3763, 84.3).scaled(1.0) == Shape(979, 419, 3763, 84.3)
    assert Shape(2, 1, 9, 1000.0).scaled(0.01) == Shape(1, 1, 2, 100.0)
    corpus, topics = draw("some-like", SHAPE, 0.1)
    assert (corpus.n_documents, corpus.n_words, topics.n_topics) == (40, 50, 5)
    for scale in (0.0, -1.0, 1.01, float("nan")):
        with pytest.raises(InputError, match=f"scale {scale}: "):
            draw("some-like", SHAPE, scale)


def test_nips_size_has_no_empty_document_and_both_halves_hold_tokens() -> None:
    corpus, _ = draw("nips-like", Shape(150, 50, 10780, 1381.1))
    assert corpus.n_documents == 200
    assert corpus.lengths.min() // 2 >= 1
