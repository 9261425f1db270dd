"""Figure 27.6 by halves: LDA folded in on one half of each document and scored on the other, as PLSI in `perplexity`.

The documents, the halves and LDA's chains are the same as in `perplexity` where the settings are. The evaluators of the
variant "completion", both of the scored halves:

    half folding-in         weights at the observed half's, by the last sample of its tokens' topics
    document completion     weights integrated out given the observed half, estimated from `samples` states
"""

from functools import partial

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.tokens.members.data import documents
from gallery.tokens.spec import Completion
from heldout import models
from heldout.corpora.split import half_split
from heldout.evaluators import COMPLETION, HALF
from heldout.evaluators.folding_in import predictive
from heldout.evaluators.posterior_predictive import posterior_predictive
from heldout.models import lda as collapsed
from heldout.models.settings import LDAFoldingIn


def experiment(job: Job, settings: Completion) -> Results:
    """Train LDA at every K and score one half of each test document given the other."""
    training, test, left_out = documents(job)
    observed, scored = half_split(test, job.seed)
    fold_in = partial(collapsed.fold_in, settings=LDAFoldingIn(sweeps=settings.fold_in_sweeps), seed=job.seed)
    recorder = job.recorder(
        model=models.LDA, smoothing=settings.gamma, chain="0", documents=test.documents, tokens_left_out=left_out
    )
    for K in settings.topics:
        lda = collapsed.LDA.of(
            settings, K, beta=settings.gamma, random_state=job.generator("perplexity", topics=K, model=models.LDA)
        )
        trained, row = lda.fit(training).topics(training.vocabulary), recorder.at(topics=K)
        row.score(HALF, predictive([trained], observed, scored, fold_in))
        states = job.generator("completion", topics=K)
        integrated = posterior_predictive(trained, observed, scored, settings.samples, states)
        row.score(COMPLETION, integrated, samples=settings.samples)
    return recorder.results
