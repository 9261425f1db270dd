"""tomotopy's `LDAModel`, `SLDAModel` and `CTModel`, and its `DMRModel`, `LLDAModel` and `PLDAModel`.

tomotopy keeps the counts n_kw of one state of its Gibbs sampler, and `get_topic_word_dist` gives, in float32,
phi[k, w] = (n_kw + eta) / (n_k + V eta): the mean of p(phi | w, z) at that state (Griffiths and Steyvers 2004,
equation 6), divided by its sum again in float64. V counts the words that it used (`used_vocabs`), not those that
`min_cf`, `min_df` or `rm_top` removed. `alpha` (K,) is the prior of theta, which tomotopy optimises in training unless
`optim_interval` is 0.

An `SLDAModel`'s documents have responses, drawn given their tokens' topics: with these summed out, p(words) is LDA's.
A `CTModel`'s theta is the softmax of K normal variables.

The other three have a Dirichlet prior for each document. A `DMRModel`'s is exp(lambda x) + alpha_epsilon of its
metadata (`get_topic_prior`; Mimno and McCallum 2008). A document of an `LLDAModel` or `PLDAModel` (Ramage et al. 2009,
2011) has alpha on the topics of its labels, `topics_per_label` for each in the order of `topic_label_dict`, 1 in an
LLDAModel, and on the topics after these, which are no label's; without a label it has all topics.

For documents `infer` runs a chain for each and returns, at its last state, log p(z_d | alpha) (`heldout.libraries
.parts`) plus what log p(w | z, beta) changes by when the document's tokens are added to the training counts. The
models' `ll_per_word` and `perplexity` are of the training documents. `CTModel.infer` has, in the place of
log p(z_d | alpha), with theta = softmax(x) of the weights that it leaves, s = smoothing_alpha and N a normal density,

    log N(x - x_K | mu, Sigma) + log G(L + K s + 1) + sum_k [(n_k + s) log theta_k - log G(n_k + s + 1)],

a density and a multinomial probability of the topics' counts, whatever their order: no probability of words.
What `infer` gives of documents with priors of their own is passed on as it is, and not taken apart.

A .bin file is tomotopy's own format, with one pickle inside: the constructor's arguments, which `LDAModel.load`
unpickles. Here they are left alone, so reading runs nothing from the file. What damaged files do to the loader is the
reason for `tomotopy_check`.
"""

import math
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import read_bytes
from heldout.errors import InputError
from heldout.libraries import WEIGHTED, Fitted, Form, Library, Reported
from heldout.libraries.checks import INSTALL, assemble, installed
from heldout.libraries.parts import (
    CHECKED,
    SINGLE,
    log_assignments,
    no_tokens,
    over_words,
    reported_value,
    terms_of_joint,
    unlike_parts,
)
from heldout.limits import check_size, one_line
from heldout.topics import AnyTopics, LogisticNormalTopics, OwnPriors
from heldout.typing import Floats, Ints

KINDS = {"LDA": "LDAModel", "SLDA": "SLDAModel", "CTM": "CTModel"}
KINDS |= {"DMR": "DMRModel", "LLDA": "LLDAModel", "PLDA": "PLDAModel"}
OWN_PRIORS = ("DMRModel", "LLDAModel", "PLDAModel")
# classes that are not scored, by the names in their files' headers, of which some are those of others
OTHERS = {
    "LDA": ("HDPModel", "PAModel", "HPAModel", "MGLDAModel"),
    "DMR": ("GDMRModel",),
    **{"hLDA": ("HLDAModel",), "DTM": ("DTModel",), "PTM": ("PTModel",)},
}
ONE_PRIOR = (
    "which is not scored: only LDAModel, SLDAModel and CTModel have one prior of every document, and DMRModel,"
    " LLDAModel and PLDAModel one of each; of an HDPModel take the first part of model.convert_to_lda(), of a DTModel"
    " a time's (phi, mu, Sigma)"
)
RESET = ("LLDA", "PLDA")  # kinds of model whose fitted alpha tomotopy 0.14 does not save
WEIGHTINGS = (b"one", b"idf", b"pmi")
HEADER = re.compile(rb"([A-Za-z]{2,5})\0{0,3}(%b)\0{2}TPTK" % b"|".join(WEIGHTINGS))
CHECK = Path(__file__).with_name("tomotopy_check.py")
PATIENCE = 60.0  # seconds by the clock, on a busy machine; `tomotopy_check` limits its processor's time
VARIANCE = 0.1  # variance of both of `DTModel`'s steps, its own default
ITERATIONS = 100  # sweeps of `infer`, its own default


def header(first: bytes) -> tuple[str, str] | None:
    """Return the kind of model and its term weighting, for instance ("LDA", "one"), or None for another file.

    The first 14 bytes of its files are two names filled with zeros, then the first block's mark.
    """
    names = HEADER.match(first)
    return (names[1].decode(), names[2].decode()) if names else None


def train_correlated(documents: Sequence[Sequence[str]], K: int, *, gamma: float, sweeps: int, seed: int) -> Any:
    """Return a `CTModel` of K topics after `sweeps` over documents, lists of words, in one thread."""
    import tomotopy

    model = tomotopy.CTModel(k=K, eta=gamma, seed=seed)
    for words in documents:
        model.add_doc(list(words))
    model.train(sweeps, workers=1)
    return model


def train_dynamic(
    documents: Sequence[Sequence[str]], times: Ints, vocabulary: tuple[str, ...], K: int, *, sweeps: int, seed: int
) -> LogisticNormalTopics:
    """Return the last topics of a `DTModel` over the vocabulary of its documents, under the next time's prior.

    theta = softmax(eta), eta ~ N(alpha_t, eta_var I), alpha_t ~ N(alpha_t-1, alpha_var I).
    """
    import tomotopy

    model = tomotopy.DTModel(k=K, t=int(times.max()) + 1, alpha_var=VARIANCE, eta_var=VARIANCE, seed=seed)
    for words, time in zip(documents, times, strict=True):
        model.add_doc(list(words), timepoint=int(time))
    model.train(sweeps, workers=1)
    last, place = int(times.max()), {word: v for v, word in enumerate(model.used_vocabs)}
    phi = np.array([model.get_topic_word_dist(k, timepoint=last) for k in range(K)], dtype=np.float64)
    phi = phi[:, [place[word] for word in vocabulary]]
    covariance = 2.0 * VARIANCE * np.eye(K)
    return LogisticNormalTopics.of(phi / phi.sum(axis=1, keepdims=True), model.alpha[last], covariance, vocabulary)


def from_object(model: Any, vocabulary: Sequence[str] | None, where: str | None, form: str) -> Fitted:
    """Return the `Fitted` of a trained `LDAModel` or `CTModel`; see `heldout.libraries.Library`.

    Its `used_vocabs` name the words. The other models are refused, whose priors are not one of every document.
    """
    import tomotopy

    kind = type(model).__name__
    where = where or kind
    if type(model) not in [getattr(tomotopy, name) for name in KINDS.values()]:
        raise InputError(f"{where}: a tomotopy {kind}, {ONE_PRIOR}")
    words = list(model.used_vocabs)  # before training get_topic_word_dist reads memory that is not there
    if not words:
        raise InputError(
            f"{where}: the {kind} has no words; train it first, with documents that min_cf leaves words of"
        )
    check_size(int(model.k), len(words), where)
    own = kind in OWN_PRIORS
    fitted = assemble(
        library="tomotopy",
        version=tomotopy.__version__,
        form=form,
        where=where,
        weights=np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], dtype=np.float64),
        what="get_topic_word_dist",
        tolerance=1e-3,
        prior_of_theta=(model.prior_mean, model.prior_cov) if _is_correlated(model) else (1.0 if own else model.alpha,),
        own_words=words,
        vocabulary=vocabulary,
        native=model,
        model=kind,
        phi="the mean of p(phi | w, z) at the sampler's last state, get_topic_word_dist divided by its sum in float64",
        eta=float(np.mean(model.eta)),
        iterations=int(model.global_step),
        unused_words=len(model.vocabs) - len(words),
    )
    topics = fitted.topics
    if not own:
        return fitted
    return replace(fitted, topics=OwnPriors(topics.phi, np.zeros((0, model.k)), topics.vocabulary, topics.provenance))


def own_priors(
    fitted: Fitted, name: str, labels: list[Any] | None, metadata: list[Any] | None
) -> tuple[Floats, tuple[dict[str, Any], ...]]:
    """Return documents' Dirichlet parameters, (D, K), and the arguments of `make_doc` for each.

    Args:
        fitted: a `DMRModel`, `LLDAModel` or `PLDAModel`.
        name: the model's.
        labels: a document's, each a list of texts; of the last two.
        metadata: a document's, each a text or a list: `metadata`, then any `multi_metadata`; of a `DMRModel`.

    Raises:
        InputError: for missing labels or metadata that the model needs, or unknown ones; tomotopy would end the
            process.
    """
    native, kind = fitted.native, type(fitted.native).__name__
    what, given = ("metadata", metadata) if kind == "DMRModel" else ("labels", labels)
    if given is None:
        raise InputError(
            f"{name}: a tomotopy {kind}, whose documents have priors by their {what}; give those of every document"
            f" ({what}=[...], --{what} FILE)"
        )
    parts = [[entry] if isinstance(entry, str) and what == "metadata" else entry for entry in given]
    for d, entry in enumerate(parts):
        if not isinstance(entry, list | tuple) or not all(isinstance(part, str) for part in entry):
            wanted = "a text, or a list of metadata and multi_metadata" if what == "metadata" else "a list of texts"
            raise InputError(f"{what}: document {d} has {given[d]!r:.40}; give {wanted}")
        if what == "metadata" and not entry:
            raise InputError(f"metadata: document {d} has none; give a text that the model was trained with")
    if kind == "DMRModel":
        known, several = set(native.metadata_dict), set(getattr(native, "multi_metadata_dict", ()))
        _require_known(what, [entry[:1] for entry in parts], known, name)
        _require_known("multi_metadata", [entry[1:] for entry in parts], several, name)
        priors = {entry: native.get_topic_prior(entry[0], list(entry[1:])) for entry in {tuple(part) for part in parts}}
        alphas = np.array([priors[tuple(entry)] for entry in parts], dtype=np.float64).reshape(-1, native.k)
        return alphas, tuple({"metadata": entry[0], "multi_metadata": list(entry[1:])} for entry in parts)
    names = list(native.topic_label_dict)
    _require_known(what, parts, set(names), name)
    place, each = {label: number for number, label in enumerate(names)}, int(getattr(native, "topics_per_label", 1))
    has = np.zeros((len(parts), native.k), dtype=np.bool_)
    for d, entry in enumerate(parts):
        has[d, len(names) * each if entry else 0 :] = True
        for label in entry:
            has[d, place[label] * each : (place[label] + 1) * each] = True
    alpha = np.broadcast_to(np.asarray(native.alpha, dtype=np.float64), (native.k,))
    return np.where(has, alpha, 0.0), tuple({"labels": list(entry)} for entry in parts)


def _require_known(what: str, entries: Sequence[Sequence[str]], known: set[str], name: str) -> None:
    """Raise InputError, with the document's name, for a label or metadata unknown to the model."""
    for d, entry in enumerate(entries):
        for part in entry:
            if part not in known:
                raise InputError(
                    f"{what}: document {d} has {part!r:.40}, which {name} was not trained with; it knows"
                    f" {', '.join(sorted(known)[:10]) or 'none'}{', ...' if len(known) > 10 else ''}"
                )


def check(data: bytes, where: str, kind: str) -> None:
    """Load the bytes in a separate process first: a damaged file can crash tomotopy's loader, or take too long."""
    try:
        ended = _loaded_apart(data, KINDS[kind])
        for other in OTHERS.get(kind, ()) if ended.returncode != 0 else ():
            if _loaded_apart(data, other, "load").returncode == 0:
                raise InputError(f"{where}: a tomotopy {other}, {ONE_PRIOR}, and save that")
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{where}: damaged: tomotopy was still reading after {PATIENCE:g} s; save it again") from error
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        if ended.returncode == -signal.SIGXCPU:
            reason = "it does not come to an end"
        else:
            reason = said[-1].strip()[:120] if said else f"it stops with signal {-ended.returncode}"
        raise InputError(f"{where}: damaged, or another model: tomotopy cannot load it ({reason}); save it again")


def _loaded_apart(data: bytes, *typed: str) -> subprocess.CompletedProcess[bytes]:
    """Load the bytes as a model of the class typed first in a separate process, and no more if "load" is typed."""
    # -P: tomotopy is the package, not this folder's module
    return subprocess.run(
        [sys.executable, "-P", str(CHECK), *typed], input=data, capture_output=True, timeout=PATIENCE, check=False
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
        named = OTHERS.get(kind, (f"model of the kind {kind}",))[0]
        raise InputError(f"{path}: a tomotopy {named}, {ONE_PRIOR}")
    with installed(path, "tomotopy"):
        import tomotopy
    model_class = getattr(tomotopy, KINDS[kind])
    load = getattr(model_class, "_loads", None)
    if load is None:
        raise InputError(
            f"{path}: tomotopy {tomotopy.__version__} only loads by unpickling; {INSTALL.format('tomotopy')}"
        )
    check(data, str(path), kind)
    with one_line(path), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of LLDAModel
        model, _ = load(model_class, data)
    fitted = from_object(model, vocabulary, str(path), "tomotopy")
    fitted.topics.provenance["weighting"] = weighting
    if kind in RESET and model.optim_interval:
        fitted.topics.provenance["prior"] = (
            f"alpha is what tomotopy's load gives, as its files of a {KINDS[kind]} keep none that training has fitted;"
            " audit the model in Python before it is saved"
        )
    return fitted


def recognises(model: object) -> bool:
    """Return whether `model` is one of tomotopy's, without importing tomotopy."""
    module = sys.modules.get("tomotopy")
    return module is not None and isinstance(model, module.LDAModel)


def reported(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    """Return the number per token that `infer` gives for documents."""
    native, topics = fitted.native, fitted.topics
    function = f"{type(native).__name__}.infer"
    whole = int(native.tw) != 0 or bool(fitted.given)  # weighted tokens have no counts to take parts from
    nats, assignments, tokens, first, note = 0.0, 0.0, 0, 0, ""
    for batch in over_words(fitted, documents):
        places = np.flatnonzero(batch.lengths)
        words = [[topics.vocabulary[v] for v in batch.document(int(d))] for d in places]
        given = [fitted.given[first + d] if fitted.given else {} for d in places.tolist()]
        made = [native.make_doc(document, **own) for document, own in zip(words, given, strict=True)]
        first += batch.n_documents
        if not made:
            continue
        _, log_joints = native.infer(made, iterations=ITERATIONS, workers=1)
        nats += math.fsum(log_joints)
        if tokens == 0 and not whole:
            few = made[:CHECKED]
            parts = _topics_part(native, topics, few), _words_part(native, topics, few)
            note = unlike_parts(function, math.fsum(log_joints[:CHECKED]), parts, SINGLE)
        assignments += 0.0 if whole else _topics_part(native, topics, made)
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
    if fitted.given:
        computes = (
            f"what `infer` returns of each document with its {' and '.join(fitted.given[0])}, at the last of"
            f" {ITERATIONS} sweeps over the tokens' topics: of the words and these topics together, not taken apart"
        )
    computes += f"; the model's `perplexity`, {native.perplexity:,.1f}, is that of the training documents"
    terms = () if whole else terms_of_joint(assignments, nats - assignments, grows=not correlated)
    unit = "nats per token, from the log-likelihoods returned"
    if int(native.tw) != 0:
        weighting = WEIGHTINGS[int(native.tw)].decode().upper()
        note = f"{function} adds up tokens that are weighted by {weighting}: no number per word compares with it"
        return Reported(function, nats / tokens, unit, about=WEIGHTED, computes=computes, note=note)
    return reported_value(function, nats / tokens, unit, nats / tokens, computes, terms, note)


def _is_correlated(native: Any) -> bool:
    """Return whether a model is tomotopy's `CTModel`, and not its `LDAModel`."""
    return hasattr(native, "prior_cov")


def _topics_part(native: Any, topics: AnyTopics, documents: Sequence[Any]) -> float:
    """Return the tokens' topics' part, and with a logistic-normal prior the weights' part; nats."""
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
    """Return the rise of log p(w, training words | z, beta) when documents are added one by one, nats."""
    V, eta = len(topics.vocabulary), float(np.mean(native.eta))
    topic_counts = np.asarray(native.get_count_by_topics(), dtype=np.float64) + V * eta
    total = 0.0
    for document in documents:
        assigned = np.asarray(document.topics)
        pairs, added = np.unique(np.column_stack([assigned, document.words]), axis=0, return_counts=True)
        old_counts = topics.phi[pairs[:, 0], pairs[:, 1]] * topic_counts[pairs[:, 0]]  # the training count, and eta
        total += float(np.sum(gammaln(old_counts + added) - gammaln(old_counts)))
        total -= float(np.sum(gammaln(topic_counts + np.bincount(assigned, minlength=len(topic_counts)))))
        total += float(np.sum(gammaln(topic_counts)))
    return total


LIBRARY = Library(
    "tomotopy",
    reported,
    forms=(Form("tomotopy", read, begins=lambda _path, first: header(first) is not None),),
    models="a tomotopy LDAModel, SLDAModel, CTModel, DMRModel, LLDAModel or PLDAModel",
    recognises=recognises,
    from_object=from_object,
    own_priors=own_priors,
    own_numbers=True,
)
