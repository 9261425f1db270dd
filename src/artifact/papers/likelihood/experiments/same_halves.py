r"""Half folding-in beside the quantity that it stands for: the probability of half a document given the other half.

PLSA and LDA are trained on the training documents of a split but for `validation` of them, drawn at random. Those
choose the constant that is added to PLSA's topics: the one of `constants` under which their second halves have most by
half folding-in. The same halves of test documents are then scored (`heldout.corpora.split.half_split`)

* by `half-folding-in`, at the maximum over theta of the first half, and of LDA by `half-folding-in-sampled`, at a
  Gibbs sample of theta given the first half, as its half folding-in is elsewhere;
* by `plug-in-posterior-mean`, at the mean of theta given the first half, by mean field;
* by `document-completion`, log p(second | first, alpha, phi) = log p(both) - log p(first), both by the reference, for a
  chain's average over theta is no estimate where halves are long: its largest terms are too rare,

the last two under Dirichlet(1) (`same-halves-flat-prior`) and under the prior that makes the training documents most
likely (`same-halves-fitted-prior`). No choice has seen a half that is scored.
"""

import math
from dataclasses import replace

import numpy as np

from artifact.papers.likelihood.experiments.optimism import PLUG_IN
from artifact.papers.likelihood.settings import SameHalves
from artifact.papers.likelihood.trained import trained
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators import COMPLETION, HALF
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.folding_in import maximum, predictive
from heldout.evaluators.posterior_mean import posterior_mean
from heldout.evaluators.reference import reference
from heldout.models import LDA, PLSA, lda
from heldout.models.dirichlet_prior import fit_prior
from heldout.models.settings import LDAFoldingIn
from heldout.topics import Topics
from heldout.typing import Floats

KIND, SAMPLED_HALF = "same-halves", f"{HALF}-sampled"
FLAT, FITTED = "flat-prior", "fitted-prior"


def experiment(job: Job, settings: SameHalves) -> Results:
    """Score the second halves of test documents given the first, by a point and by the average.

    Returns:
        Scores of the second halves' tokens: of PLSA and LDA `half-folding-in` in the variant `same-halves`, the others
        in a variant per prior. PLSA has the chosen constant.
    """
    training, test = job.split()
    K = job.topics
    order = job.generator(f"{KIND}-validation", topics=K).permutation(np.flatnonzero(training.lengths))
    held = np.sort(order[: settings.validation])
    kept = training.subset(np.setdiff1d(np.arange(training.n_documents), held))
    validation = training.subset(held)
    drawn = job.generator(KIND, topics=K).permutation(np.flatnonzero(test.lengths))[: settings.documents]
    some = test.subset(np.sort(drawn))
    halves = half_split(some, job.seed)
    em, chain = trained(kept, settings, K, job.seed)

    def sampled(topics: Topics, corpus: Corpus) -> Floats:
        return lda.fold_in(topics, corpus, LDAFoldingIn(sweeps=settings.fold_in_sweeps), seed=job.seed)

    constant, topics = smoothed(em.topics(kept.vocabulary), validation, settings.constants, job.seed)
    fitted = {PLSA: topics, LDA: chain}
    results = job.recorder(documents=halves[0].documents)
    for model, topics in fitted.items():
        recorder = results.at(model=model, smoothing=constant if model == PLSA else 0.0)
        recorder.score(HALF, predictive([topics], *halves, maximum))
        if model == LDA:
            recorder.score(SAMPLED_HALF, predictive([topics], *halves, sampled), samples=1, standard_error=math.nan)
        rng = job.generator(f"{KIND}-prior", topics=K, model=model)
        flat = replace(topics, alpha=np.ones(K))
        for name, prior in ((FLAT, flat), (FITTED, fit_prior(topics, kept, rng))):
            row = recorder.at(variant=f"{KIND}-{name}")
            row.score(PLUG_IN, predictive([prior], *halves, posterior_mean))
            rng = job.generator(f"{KIND}-{COMPLETION}", topics=K, model=model, prior=name)
            average = completion(prior, some, halves[0], settings.samples, rng, settings.annealing_chains)
            row.score(COMPLETION, average, samples=settings.samples)
    return results.results


def completion(
    topics: Topics, documents: Corpus, first: Corpus, samples: int, rng: np.random.Generator, chains: int
) -> Evaluation:
    """Return log p(the other tokens | the first) of every document, by two references; their biases may add up."""
    both, observed = (reference(topics, part, samples, rng, chains=chains) for part in (documents, first))
    errors = np.hypot(both.standard_error, observed.standard_error)
    biases = sum(np.abs(part.bias) for part in (both, observed) if part.bias is not None)
    return Evaluation(
        both.log_likelihood - observed.log_likelihood,
        both.tokens - observed.tokens,
        errors,
        both.tokens_left_out - observed.tokens_left_out,
        errors * 0.0 + biases,
    )


def smoothed(topics: Topics, validation: Corpus, constants: tuple[float, ...], seed: int) -> tuple[float, Topics]:
    """Return the constant under which the second halves score highest, and the topics to which it was added."""
    halves = half_split(validation, seed)
    candidates = [(constant, topics.smoothed(constant)) for constant in constants]
    values = [float(predictive([added], *halves, maximum).log_likelihood.sum()) for _, added in candidates]
    return candidates[int(np.argmax(values))]
