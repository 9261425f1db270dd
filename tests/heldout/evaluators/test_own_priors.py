"""Documents with Dirichlet priors of their own: sums over all documents, LDA where they are alike, and annealing."""

import itertools

import numpy as np
import pytest

from gallery.priors.models.dmr import DMR
from gallery.priors.models.labelled_lda import LabelledLDA
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.document_priors import own_priors_exact
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.own_priors import own_priors
from heldout.evaluators.reference import reference
from heldout.topics import OwnPriors, Topics

WORDS = ("ape", "bear", "cat")
PHI = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]])


def corpus(streams: list[tuple[int, ...]]) -> Corpus:
    documents = [(str(d), [WORDS[w] for w in stream]) for d, stream in enumerate(streams)]
    found = Corpus.from_documents("c", documents)
    return found.over(WORDS)[0]


@pytest.mark.parametrize(
    ("fitted", "given"),
    [
        (DMR(3, sweeps=5, optimise_every=2, random_state=0), [1.0, -0.7]),
        (LabelledLDA(2, sweeps=5, random_state=0), [1.0, 0.0]),
        (LabelledLDA(1, sweeps=5, random_state=0), [1.0, 1.0]),
        (LabelledLDA(2, common=1, sweeps=5, random_state=0), [0.0, 1.0]),
    ],
    ids=["DMR", "PLDA", "labelled LDA", "PLDA with a common label"],
)
def test_sums_to_one_over_all_documents_of_a_length(fitted: DMR | LabelledLDA, given: list[float]) -> None:
    streams = list(itertools.product(range(3), repeat=4))
    fitted.fit(np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 4.0], [1.0, 1.0, 5.0]]), np.array([[1.0, 0.0], [1.0, 1.0], given]))
    priors = np.tile(fitted.priors(np.array([given])), (len(streams), 1))
    model = OwnPriors(fitted.components_, priors, WORDS)
    assert np.exp(own_priors_exact(model, corpus(streams)).log_likelihood).sum() == pytest.approx(1.0, abs=1e-12)


def test_each_document_is_scored_under_its_own_prior() -> None:
    rng = np.random.default_rng(0)
    streams = [tuple(rng.integers(3, size=L).tolist()) for L in (5, 0, 12, 9, 5)]
    alphas = np.array([[0.3, 0.0, 1.2], [1.0, 1.0, 1.0], [0.5, 2.0, 0.1], [0.5, 2.0, 0.1], [0.0, 0.4, 0.0]])
    documents = corpus(streams)
    value = own_priors_exact(OwnPriors(PHI, alphas, WORDS), documents).log_likelihood
    for d, alpha in enumerate(alphas):
        has = alpha > 0.0
        alone = exact_marginal(Topics(PHI[has], alpha[has], WORDS), documents.subset([d]))
        assert value[d] == pytest.approx(alone.log_likelihood[0], abs=1e-12)
    assert value[4] == pytest.approx(float(np.log(PHI[1, list(streams[4])]).sum()), abs=1e-12)


def test_annealing_has_the_exact_values_within_its_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum over 40 documents at 5 stated errors; and where the limit lies between, both kinds in their places."""
    rng = np.random.default_rng(1)
    documents = corpus([tuple(rng.integers(3, size=20).tolist()) for _ in range(40)])
    alphas = np.exp(rng.normal(0.0, 1.0, (40, 3)))
    alphas[::3, 0] = 0.0
    model = OwnPriors(PHI, alphas, WORDS)
    exact = own_priors_exact(model, documents)
    found = reference(model, documents, 1000, np.random.default_rng(2))
    assert 0.0 < found.total_error() < 2.0
    assert abs(float((found.log_likelihood - exact.log_likelihood).sum())) < 5.0 * found.total_error()
    whole = own_priors(model, documents, 1000, np.random.default_rng(2))
    assert np.array_equal(whole.evaluation.log_likelihood, exact.log_likelihood)
    monkeypatch.setattr("heldout.evaluators.own_priors.EXACT_COST", 500.0)
    both = own_priors(model, documents, 1000, np.random.default_rng(2))
    assert both.exact.tolist() == (alphas[:, 0] == 0.0).tolist()
    assert np.array_equal(both.evaluation.log_likelihood[both.exact], exact.log_likelihood[both.exact])
    assert not both.evaluation.standard_error[both.exact].any()
    assert both.evaluation.standard_error[~both.exact].all()


def test_bad_priors_are_refused() -> None:
    with pytest.raises(InputError, match=r"document 1 .*below"):
        OwnPriors(PHI, np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]), WORDS)
    with pytest.raises(InputError, match="give 3"):
        OwnPriors(PHI, np.ones((2, 2)), WORDS)
    model = OwnPriors(PHI, np.ones((2, 3)), WORDS)
    with pytest.raises(InputError, match="2 priors"):
        own_priors_exact(model, corpus([(0, 1)]))
    with pytest.raises(InputError, match="samples"):
        reference(model, corpus([(0, 1), (2,)]), 10, np.random.default_rng(0))
