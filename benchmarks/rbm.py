"""Persistent contrastive divergence here and in scikit-learn: CPU time, and what it reaches exactly; prints Markdown.

Run on a prepared corpus of binary records: `python benchmarks/rbm.py news-words.npz`. Single thread. Both machines have
the same hidden units, chains, minibatches, epochs and constant learning rate, and start from small random weights. Ours
starts with the log odds of the data as visible biases, scikit-learn's with zeros, and once more from our start, by
`partial_fit` on minibatches.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import sys
import time
from pathlib import Path
from typing import Self

import numpy as np
import sklearn
from sklearn.neural_network import BernoulliRBM

from heldout.corpora.corpus import Corpus
from heldout.corpora.records import responses_of
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.log_partition import log_likelihood, log_partition
from heldout.models.harmonium_units import Binary
from heldout.models.rbm import PCD, RBM, pseudo_likelihood
from heldout.typing import Floats

HIDDEN, BATCH, EPOCHS, RATE, SEEDS, HELD_OUT = 14, 100, 20, 0.5, 3, 1000


def as_ours(theirs: BernoulliRBM) -> RBM:
    """Return scikit-learn's machine as ours."""
    machine = RBM(HIDDEN)
    machine.weights_, machine.hidden_bias_ = theirs.components_.T.copy(), theirs.intercept_hidden_
    machine.visible_bias_ = theirs.intercept_visible_
    return machine


class FromOurStart(BernoulliRBM):
    """Scikit-learn's machine, which starts with the log odds of the data as visible biases."""

    def fit(self, X: Floats, y: None = None) -> Self:  # noqa: ARG002
        """Train on minibatches in the order in which scikit-learn takes them."""
        random = np.random.RandomState(self.random_state)
        self.components_ = 0.01 * random.standard_normal((self.n_components, X.shape[1]))
        self.intercept_hidden_, self.intercept_visible_ = np.zeros(self.n_components), Binary().bias(X)
        self._n_features_out = self.n_components
        for _ in range(self.n_iter):
            for start in range(0, len(X), self.batch_size):
                self.partial_fit(X[start : start + self.batch_size])
        return self


def main(file: Path) -> None:
    """Print a row for each machine and seed."""
    corpus = Corpus.load(file)
    print(f"heldout beside scikit-learn {sklearn.__version__}: K = {HIDDEN}, {EPOCHS} epochs, rate {RATE}\n")
    print("| seed | machine | CPU ms per epoch | likelihood, nats per record | pseudo-likelihood |")
    print("|---:|---|---:|---:|---:|")
    for seed in range(SEEDS):
        train, test = (responses_of(part).astype(float) for part in train_test_split(corpus, HELD_OUT, seed))
        ours = RBM(
            HIDDEN, negative=PCD, chains=BATCH, batch=BATCH, epochs=EPOCHS, learning_rate=RATE, decay=False,
            random_state=seed,
        )  # fmt: skip
        given = {"learning_rate": RATE, "batch_size": BATCH, "n_iter": EPOCHS, "random_state": seed}
        theirs, same = BernoulliRBM(HIDDEN, **given), FromOurStart(HIDDEN, **given)
        for name, model in (("heldout", ours), ("scikit-learn", theirs), ("scikit-learn, our start", same)):
            start = time.process_time()
            model.fit(train)
            taken = (time.process_time() - start) / EPOCHS * 1e3
            machine = model if isinstance(model, RBM) else as_ours(model)
            value = log_likelihood(machine, test, log_partition(machine)).log_likelihood.mean()
            pseudo = pseudo_likelihood(machine, test).mean()
            print(f"| {seed} | {name} | {taken:.0f} | {value:.3f} | {pseudo:.3f} |", flush=True)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except (InputError, IndexError) as error:
        print(f"benchmarks/rbm.py: {error}; give a prepared corpus of binary records", file=sys.stderr)
        sys.exit(2)
