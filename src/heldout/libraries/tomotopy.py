"""tomotopy's `LDAModel` and `CTModel`.

tomotopy keeps the counts n_kw of one state of its Gibbs sampler, and `get_topic_word_dist` gives, in float32,
phi[k, w] = (n_kw + eta) / (n_k + V eta): the mean of p(phi | w, z) at that state (Griffiths and Steyvers 2004,
equation 6), divided by its sum again in float64. V counts the words that it used (`used_vocabs`), not those that
`min_cf`, `min_df` or `rm_top` removed. `alpha` (K,) is the prior of theta, which tomotopy optimises in training unless
`optim_interval` is 0.

A `CTModel`'s theta is the softmax of K normal variables.

For documents `infer` runs a chain for each and returns, at its last state, log p(z_d | alpha) (`heldout.libraries
.parts`) plus what log p(w | z, beta) changes by when the document's tokens are added to the training counts. The
models' `ll_per_word` and `perplexity` are of the training documents. `CTModel.infer` has, in the place of
log p(z_d | alpha), with theta = softmax(x) of the weights that it leaves, s = smoothing_alpha and N a normal density,

    log N(x - x_K | mu, Sigma) + log G(L + K s + 1) + sum_k [(n_k + s) log theta_k - log G(n_k + s + 1)],

a density and a multinomial probability of the topics' counts, whatever their order: no probability of words.

A .bin file is tomotopy's own format, with one pickle inside: the constructor's arguments, which `LDAModel.load`
unpickles. Here they are left alone, so reading runs nothing from the file. What damaged files do to the loader is the
reason for `tomotopy_check`.
"""

import math
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import read_bytes
from heldout.errors import InputError
from heldout.libraries import Fitted, Form, Library, Reported
from heldout.libraries.checks import INSTALL, assemble, installed
from heldout.libraries.parts import (
    CHECKED,
    SINGLE,
    check_parts,
    log_assignments,
    no_tokens,
    of_these,
    over_words,
    terms_of_joint,
)
from heldout.limits import check_size, one_line
from heldout.topics import AnyTopics

KINDS, HDP = {"LDA": "LDAModel", "CTM": "CTModel"}, "HDPModel"
ONE_PRIOR = (
    "only LDAModel and CTModel have one prior of every document; of an HDPModel take the first part of"
    " model.convert_to_lda()"
)
WEIGHTINGS = (b"one", b"idf", b"pmi")
CHECK = Path(__file__).with_name("tomotopy_check.py")
PATIENCE = 60.0  # seconds by the clock, on a busy machine; `tomotopy_check` limits its processor's time
ITERATIONS = 100  # sweeps of `infer`, its own default


def header(first: bytes) -> tuple[str, str] | None:
    """Return the kind of model and its term weighting, such as ("LDA", "one"), or None where it is not tomotopy's.

    The first 14 bytes of its files or more are two names filled with zeros, then the first block's mark.
    """
    kind, weighting = first[:5].rstrip(b"\0"), first[5:10].rstrip(b"\0")
    if weighting in WEIGHTINGS and kind.isalnum() and kind.isascii() and first[10:14] == b"TPTK":
        return kind.decode(), weighting.decode()
    return None


def train_correlated(documents: Sequence[Sequence[str]], K: int, *, gamma: float, sweeps: int, seed: int) -> Any:
    """Return a `CTModel` of K topics after so many sweeps over documents, lists of words, in one thread."""
    import tomotopy

    model = tomotopy.CTModel(k=K, eta=gamma, seed=seed)
    for words in documents:
        model.add_doc(list(words))
    model.train(sweeps, workers=1)
    return model


def from_object(model: Any, vocabulary: Sequence[str] | None, where: str | None, form: str) -> Fitted:
    """Return the `Fitted` of a trained `LDAModel` or `CTModel`; see `heldout.libraries.Library`.

    Its `used_vocabs` name the words. The other models are refused, whose priors are not one of every document.
    """
    import tomotopy

    kind = type(model).__name__
    where = where or kind
    if type(model) not in (tomotopy.LDAModel, tomotopy.CTModel):
        raise InputError(f"{where}: a tomotopy {kind}; {ONE_PRIOR}")
    words = list(model.used_vocabs)  # before training get_topic_word_dist reads memory that is not there
    if not words:
        raise InputError(
            f"{where}: the {kind} has no words; train it first, with documents that min_cf leaves words of"
        )
    check_size(int(model.k), len(words), where)
    return assemble(
        library="tomotopy",
        version=tomotopy.__version__,
        form=form,
        where=where,
        weights=np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], dtype=np.float64),
        what="get_topic_word_dist",
        tolerance=1e-3,
        of_theta=(model.prior_mean, model.prior_cov) if _is_correlated(model) else (model.alpha,),
        own_words=words,
        vocabulary=vocabulary,
        native=model,
        model=kind,
        phi="the mean of p(phi | w, z) at the sampler's last state, get_topic_word_dist divided by its sum in float64",
        eta=float(np.mean(model.eta)),
        iterations=int(model.global_step),
        unused_words=len(model.vocabs) - len(words),
    )


def check(data: bytes, where: str, kind: str) -> None:
    """Load the bytes in a separate process first: a damaged file can crash tomotopy's loader, or take too long."""
    try:
        ended = _loaded_apart(data, kind)
        if ended.returncode != 0 and _loaded_apart(data, HDP).returncode == 0:  # files of both begin alike
            raise InputError(f"{where}: a tomotopy {HDP}; {ONE_PRIOR}, and save that")
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{where}: damaged: tomotopy was still reading after {PATIENCE:g} s; save it again") from error
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        if ended.returncode == -signal.SIGXCPU:
            reason = "it does not come to an end"
        else:
            reason = said[-1].strip()[:120] if said else f"it stops with signal {-ended.returncode}"
        raise InputError(f"{where}: damaged, or another model: tomotopy cannot load it ({reason}); save it again")


def _loaded_apart(data: bytes, kind: str) -> subprocess.CompletedProcess[bytes]:
    """Load the bytes as a model of this class in a process of their own."""
    # -P: tomotopy is the package, not this folder's module
    return subprocess.run(
        [sys.executable, "-P", str(CHECK), kind], input=data, capture_output=True, timeout=PATIENCE, check=False
    )


def read(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read a model that `LDAModel.save` or `CTModel.save` wrote, full or not; nothing in it is unpickled.

    Raises:
        InputError: when the file is missing, truncated, damaged or of another model, or tomotopy is not installed.
    """
    data = read_bytes(path)
    kind_and_weighting = header(data)
    if kind_and_weighting is None:
        raise InputError(f"{path}: truncated, or not a model that tomotopy 0.6 or later saved")
    kind, weighting = kind_and_weighting
    if kind not in KINDS:
        raise InputError(f"{path}: a tomotopy {kind} model; {ONE_PRIOR}")
    with installed(path, "tomotopy"):
        import tomotopy
    of_kind = getattr(tomotopy, KINDS[kind])
    load = getattr(of_kind, "_loads", None)
    if load is None:
        raise InputError(
            f"{path}: tomotopy {tomotopy.__version__} only loads by unpickling; {INSTALL.format('tomotopy')}"
        )
    check(data, str(path), KINDS[kind])
    with one_line(path):
        model, _ = load(of_kind, data)
    fitted = from_object(model, vocabulary, str(path), "tomotopy")
    fitted.topics.provenance["weighting"] = weighting
    return fitted


def recognises(model: object) -> bool:
    """Return whether `model` is one of tomotopy's, without importing tomotopy."""
    module = sys.modules.get("tomotopy")
    return module is not None and isinstance(model, module.LDAModel)


def reported(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    """Return what `infer` gives of documents, per token."""
    native, topics = fitted.native, fitted.topics
    function = f"{type(native).__name__}.infer"
    weighted = int(native.tw) != 0  # weighted tokens have no counts to take the parts from
    nats, assignments, tokens = 0.0, 0.0, 0
    for batch in over_words(fitted, documents):
        words = [[topics.vocabulary[v] for v in batch.document(int(d))] for d in np.flatnonzero(batch.lengths)]
        made = [native.make_doc(document) for document in words]
        if not made:
            continue
        _, log_joints = native.infer(made, iterations=ITERATIONS, workers=1)
        nats += math.fsum(log_joints)
        if tokens == 0 and not weighted:
            few = made[:CHECKED]
            parts = _topics_part(native, topics, few), _words_part(native, topics, few)
            check_parts(function, math.fsum(log_joints[:CHECKED]), parts, SINGLE)
        assignments += _topics_part(native, topics, made)
        tokens += batch.n_tokens
    if tokens == 0:
        return no_tokens(function)
    correlated = _is_correlated(native)
    computes = (
        f"log p(words | topics) at the last of {ITERATIONS} sweeps over the tokens' topics, with the"
        " multinomial probability of the topics' counts and the prior's density at the weights that `infer` leaves: a"
        " density, and no probability of the words"
        if correlated
        else f"log p(words, topics) at the last of {ITERATIONS} sweeps over the tokens' topics, below the"
        " likelihood by the entropy that these topics have given the words"
    )
    computes += f"; the model's `perplexity`, {native.perplexity:,.1f}, is that of the training documents"
    terms = () if weighted else terms_of_joint(assignments, nats - assignments, grows=not correlated)
    unit = "nats per token, from the log-likelihoods returned"
    return of_these(function, nats / tokens, unit, nats / tokens, computes, terms)


def _is_correlated(native: Any) -> bool:
    """Return whether a model is tomotopy's `CTModel`, and not its `LDAModel`."""
    return hasattr(native, "prior_cov")


def _topics_part(native: Any, topics: AnyTopics, documents: Sequence[Any]) -> float:
    """Return the part of the tokens' topics, and of the weights where the prior is logistic normal; nats."""
    counts = np.array([np.bincount(one.topics, minlength=topics.n_topics) for one in documents], dtype=np.float64)
    if not _is_correlated(native):
        return log_assignments(counts, topics.parameters["alpha"])
    log_theta = np.array([one.beta for one in documents], dtype=np.float64)
    deviations = log_theta - log_theta[:, -1:] - native.prior_mean
    covariance = np.asarray(native.prior_cov, dtype=np.float64)
    distances = np.sum(deviations * np.linalg.solve(covariance, deviations.T).T, axis=1)
    density = -0.5 * (distances + np.linalg.slogdet(2.0 * np.pi * covariance)[1])
    counts += np.asarray(native._alpha)
    multinomial = gammaln(counts.sum(axis=1) + 1.0) + np.sum(counts * log_theta - gammaln(counts + 1.0), axis=1)
    return float(density.sum() + multinomial.sum())


def _words_part(native: Any, topics: AnyTopics, documents: Sequence[Any]) -> float:
    """Return by what log p(w, training words | z, beta) changes, document by document, when it is added; nats."""
    V, eta = len(topics.vocabulary), float(np.mean(native.eta))
    of_topics = np.asarray(native.get_count_by_topics(), dtype=np.float64) + V * eta
    total = 0.0
    for document in documents:
        assigned = np.asarray(document.topics)
        pairs, added = np.unique(np.column_stack([assigned, document.words]), axis=0, return_counts=True)
        before = topics.phi[pairs[:, 0], pairs[:, 1]] * of_topics[pairs[:, 0]]  # the training count, and eta
        total += float(np.sum(gammaln(before + added) - gammaln(before)))
        total -= float(np.sum(gammaln(of_topics + np.bincount(assigned, minlength=len(of_topics)))))
        total += float(np.sum(gammaln(of_topics)))
    return total


LIBRARY = Library(
    "tomotopy",
    reported,
    forms=(Form("tomotopy", read, begins=lambda _path, first: header(first) is not None),),
    models="a tomotopy LDAModel or CTModel",
    recognises=recognises,
    from_object=from_object,
    own_numbers=True,
)
