"""The dynamic topic model beside gensim's `LdaSeqModel`, by the likelihood of the next volume; writes dynamics.md.

Run with the archive of the NIPS papers and the stop list in a folder: `python benchmarks/dynamics.py FOLDER`. This is
the gallery's experiment `dynamics` with gensim's model beside its models, on fewer papers, words and topics: gensim's
is in Python, and its default of 21 iterations of EM would take hours at the gallery's size. Here it makes its least
number of iterations, and has its other defaults.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import gensim
import numpy as np
import yaml
from gensim.models import LdaSeqModel
from speed import commit, cpu

from artifact.study.job import Job
from gallery.extensions.experiments.dynamics import divided, experiment
from gallery.extensions.science import DYNAMIC_MODELS
from gallery.extensions.spec import Dynamics
from gallery.member import LIKELIHOOD
from heldout.corpora.corpus import Corpus
from heldout.corpora.prepare import prepare
from heldout.evaluators.reference import reference
from heldout.files import replacing
from heldout.seeds import entropy, generator
from heldout.topics import Topics
from heldout.typing import Floats, Ints

OUTPUT = Path(__file__).with_suffix(".md")
ROOT = Path(__file__).resolve().parent.parent
CORPUS = "nips-volumes"
ITERATIONS = 6  # gensim's `em_min_iter`
SHOWN = (1, 3, 6)
ALPHA = 0.01  # gensim's default of the weights' prior
SMALL = {"documents": 10, "words": 150, "topics": 4}


class Step(NamedTuple):
    """An iteration of gensim's EM: seconds of its M-step and of all of it, and the last time's topics, (K, V)."""

    m_step: float
    seconds: float
    phi: Floats


class Traced(LdaSeqModel):  # type: ignore[misc]
    """gensim's model, which keeps what each of its iterations gives."""

    def fit_lda_seq_topics(self, topic_suffstats: Any) -> Any:
        """Run the M-step, with which an iteration ends, and record it."""
        start = time.process_time()
        bound = super().fit_lda_seq_topics(topic_suffstats)
        end, steps = time.process_time(), self.__dict__.setdefault("steps", [])
        logs = np.array([chain.e_log_prob[:, -1] for chain in self.topic_chains])
        phi = np.exp(logs - logs.max(axis=1, keepdims=True))
        steps.append(Step(end - start, end - self.__dict__.get("last", start), phi / phi.sum(axis=1, keepdims=True)))
        self.last = end
        return bound


def of_gensim(training: Corpus, times: Ints, K: int, seed: int) -> list[Step]:
    """Return the iterations of gensim's EM on documents in the order of their times."""
    bags = [
        [(int(v), int(n)) for v, n in zip(*np.unique(training.document(d), return_counts=True), strict=True)]
        for d in range(training.n_documents)
    ]
    given = {"time_slice": np.bincount(times).tolist(), "id2word": dict(enumerate(training.vocabulary))}
    with np.errstate(divide="ignore"):  # by the bound of no iteration, which is 0
        model = Traced(
            bags, **given, num_topics=K, random_state=seed, em_min_iter=ITERATIONS, em_max_iter=ITERATIONS - 1
        )
    steps: list[Step] = model.steps
    return steps


def measured(corpus: Corpus, settings: Dynamics, seed: int) -> tuple[dict[str, float], list[Step]]:
    """Return nats per token by model for a seed, and gensim's iterations."""
    job = Job(corpus=corpus, variant="dynamics", seed=seed)
    scores = [score for score in experiment(job, settings).scores if score.evaluator == LIKELIHOOD]
    found = {DYNAMIC_MODELS[score.model]: score.log_likelihood / score.tokens for score in scores}
    training, times, test, _ = divided(job, settings)
    steps = of_gensim(training, times, settings.topics, entropy("dynamics-gensim", seed=seed) % 2**31)
    for n in SHOWN:
        for alpha in (ALPHA, settings.alpha):
            plugged = Topics(steps[n - 1].phi, np.full(settings.topics, alpha), training.vocabulary, {})
            value = reference(plugged, test, settings.samples, generator("dynamics-gensim", n=n, seed=seed))
            name = f"DTM of gensim, topics plugged in, EM iteration {n}, alpha = {alpha}"
            found[name] = float(value.log_likelihood.sum() / value.tokens.sum())
    print(seed, found, [step[:2] for step in steps], file=sys.stderr, flush=True)
    return found, steps


def report(corpus: Corpus, settings: Dynamics, seeds: list[int]) -> str:
    """Measure, and return the text of dynamics.md."""
    small = replace(settings, **SMALL)  # type: ignore[arg-type]
    columns, steps = zip(*(measured(corpus, small, seed) for seed in seeds), strict=True)
    after_first = [step for of_seed in steps for step in of_seed[1:]]
    seconds, m_step = (np.mean([step[at] for step in after_first]) for at in (1, 0))
    times = settings.words * settings.topics / small.words / small.topics
    lines = [
        "# The dynamic topic model beside gensim's",
        "",
        "Written by `python benchmarks/dynamics.py` (do not edit).",
        "",
        f"* Measured at commit {commit()}. CPU: {cpu()}; single thread; gensim {gensim.__version__}.",
        f"* NIPS by volume as in the gallery's experiment `dynamics`, but {small.documents} papers of a volume,"
        f" {small.words} words and K = {small.topics} in place of {settings.documents}, {settings.words} and"
        f" {settings.topics}.",
        f"* Nats per token of the first {small.tokens} tokens of {small.test_documents} papers of the next volume."
        " Annealing gives those of topics that are not plugged in.",
        f"* gensim: `LdaSeqModel` at its defaults but for EM's {ITERATIONS} iterations, its least number. By default it"
        " makes 21: its test of convergence does not end the loop. Its topics are those of the last volume, under its"
        f" own prior of the weights, alpha = {ALPHA}, and under the other models'. It counts the first paper of each"
        " later volume to the volume before.",
        f"* An iteration of its EM took {seconds:.0f} seconds of processor time, {m_step:.0f} of them for the M-step,"
        " which takes its time by word and topic: in proportion, 21 iterations of that step alone would take"
        f" {times * m_step * 21 / 3600.0:.1f} hours at the gallery's size.",
        "",
        f"| model | {' | '.join(f'seed {seed}' for seed in seeds)} | mean |",
        f"|---|{'---:|' * (len(seeds) + 1)}",
    ]
    for model in columns[0]:
        values = [column[model] for column in columns]
        name = model.replace(r"$\sigma = 0$", "sigma = 0")
        lines.append(f"| {name} | {' | '.join(f'{v:.3f}' for v in values)} | {np.mean(values):.3f} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Measure, and write dynamics.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the archive of the NIPS papers and the stop list are")
    options = parser.parse_args()
    study = yaml.safe_load((ROOT / "workflow/studies/gallery.yaml").read_text(encoding="utf-8"))
    asked = study["measures"]["dynamics"]
    corpus = prepare(CORPUS, options.folder, ROOT / "data/corpora.csv")
    text = report(corpus, Dynamics(**asked["settings"]), asked["seeds"])
    with replacing(OUTPUT) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
