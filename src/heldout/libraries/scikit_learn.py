"""scikit-learn's `LatentDirichletAllocation` and `NMF`, and its `BernoulliRBM`, which has no topics.

**LatentDirichletAllocation** keeps variational parameters lambda (K, V), `components_`, of q(phi_k) =
Dirichlet(lambda_k) (Hoffman, Blei and Bach 2010, section 2): phi is its mean, lambda[k, w] / sum_v lambda[k, v]. The
prior of theta is symmetric, `doc_topic_prior_`.

**NMF** approximates X by W H. With rows of H divided by their sums s_k and W s in place of W the product is the same,
so H / s are topics; with the Kullback-Leibler loss its minimum is PLSA's maximum of the likelihood (Gaussier and Goutte
2005). An NMF has no prior of theta: Dirichlet(1), uniform, stands in, and the provenance says so.

A .skops file names the classes that it holds before it makes any of them. Only the ones below are let through, one
object at the root and numbers, text and arrays inside it: fewer than skops itself trusts.
"""

import copy
import json
import math
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.libraries import TRAINING, Fitted, Form, Library, Reported
from heldout.libraries.checks import assemble, installed, numbers
from heldout.libraries.parts import (
    BOUND,
    CHECKED,
    DOUBLE,
    bound_of_documents,
    dirichlet_divergence,
    no_tokens,
    over_words,
    reported_value,
    terms_of_bound,
    unlike_parts,
)
from heldout.limits import check_npy, one_line, open_zip
from heldout.models.rbm import RBM

LDA = "LatentDirichletAllocation"
MODULES = {
    LDA: "sklearn.decomposition._lda",
    "NMF": "sklearn.decomposition._nmf",
    "MiniBatchNMF": "sklearn.decomposition._nmf",
}
# classes that the node of a .skops file may make, by its loader; the model itself only at the root
ALLOWED = {
    "DictNode": {"builtins.dict"},
    "ListNode": {"builtins.list"},
    "TupleNode": {"builtins.tuple"},
    "JsonNode": {f"builtins.{kind}" for kind in ("str", "int", "float", "bool", "NoneType")},
    "TypeNode": {f"builtins.{kind}" for kind in ("str", "int", "float", "bool", "NoneType")},
    "NdArrayNode": {f"numpy.{kind}" for kind in ("ndarray", "float64", "float32", "int64", "int32", "bool")},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
}
MAXIMUM_SCHEMA = 16 << 20


def from_object(model: Any, vocabulary: Sequence[str] | None, where: str | None, form: str) -> Fitted:
    """Return the `Fitted` of a `LatentDirichletAllocation`, `NMF` or `MiniBatchNMF`; see `heldout.libraries.Library`.

    `feature_names_in_` names the words where it was fitted on named columns.
    """
    import sklearn

    kind = type(model).__name__
    where = where or kind
    components = getattr(model, "components_", None)
    if components is None:
        raise InputError(f"{where}: the {kind} is not fitted; call fit() first")
    names = getattr(model, "feature_names_in_", None)
    if isinstance(model, sklearn.decomposition.LatentDirichletAllocation):
        alpha = getattr(model, "doc_topic_prior_", None)
        notes: dict[str, Any] = {"phi": "the mean of q(phi), components_ divided by its row sums"}
    else:
        alpha = 1.0
        notes = {
            "phi": "components_ divided by its row sums",
            "prior": "NMF has none; Dirichlet(1), uniform, stands in",
            "loss": str(getattr(model, "beta_loss", "")),
        }
    return assemble(
        library="scikit-learn",
        version=sklearn.__version__,
        form=form,
        where=where,
        weights=components,
        what="components_",
        prior_of_theta=(alpha,),
        own_words=None if names is None else np.asarray(names).ravel().tolist(),
        vocabulary=vocabulary,
        native=model,
        model=kind,
        **notes,
    )


def check_schema(schema: Any, where: str) -> None:
    """Refuse a .skops file's schema of another model, or with a class that a topic model does not need."""
    root = schema if isinstance(schema, dict) else {}
    kind = root.get("__class__")
    if (
        not isinstance(kind, str)
        or root.get("__module__") != MODULES.get(kind)
        or root.get("__loader__") != "ObjectNode"
    ):
        raise InputError(f"{where}: holds a {kind!s:.60}; save a fitted {', '.join(MODULES)} by itself")
    waiting: list[Any] = [value for key, value in root.items() if not key.startswith("__")]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(node.values())
            if any(key in node for key in ("__loader__", "__class__", "__module__")):
                loader = node.get("__loader__")
                made = f"{node.get('__module__')}.{node.get('__class__')}"
                if not isinstance(loader, str) or made not in ALLOWED.get(loader, ()):
                    raise InputError(
                        f"{where}: asks for {made:.80} ({loader!s:.40}), which no {kind} needs; it is not read"
                    )


def read(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read a model that `skops.io.dump` saved; nothing is unpickled, and no class outside the list above is made.

    Raises:
        InputError: when the file is missing, truncated, damaged or of something else, or scikit-learn or skops is not
            installed.
    """
    where = str(path)
    with one_line(where):
        with open_zip(path, ".skops") as archive:
            if "schema.json" not in archive.namelist():
                raise InputError(f"{where}: no schema.json in it; save the model with skops.io.dump")
            if archive.getinfo("schema.json").file_size > MAXIMUM_SCHEMA:
                raise InputError(f"{where}: a schema.json of more than {MAXIMUM_SCHEMA} bytes; no topic model has that")
            check_schema(json.loads(archive.read("schema.json")), where)
            for member in archive.infolist():
                if member.filename.endswith(".npy"):
                    with archive.open(member) as stream:
                        check_npy(stream, member.file_size, f"{where}: {member.filename}")
        with installed(where, "scikit-learn and skops"):
            import skops.io
        model = skops.io.load(path, trusted=[])
    return from_object(model, vocabulary, where, "skops")


def recognises(model: object) -> bool:
    """Return whether `model` is one of scikit-learn's topic models, without importing scikit-learn."""
    decomposition = sys.modules.get("sklearn.decomposition")
    return decomposition is not None and isinstance(model, tuple(getattr(decomposition, kind) for kind in MODULES))


def machine(model: object) -> RBM | None:
    """Return a fitted `BernoulliRBM`, without importing scikit-learn, or a `heldout.models.rbm.RBM`; None for others.

    Raises:
        InputError: for one that is not fitted, or whose training diverged.
    """
    networks = sys.modules.get("sklearn.neural_network")
    if not isinstance(model, RBM if networks is None else (RBM, networks.BernoulliRBM)):
        return None
    name, rbm = type(model).__name__, model
    if not isinstance(model, RBM):
        rbm, own = RBM(), {"weights_": "components_", "visible_bias_": "intercept_visible_"}
        for ours, theirs in (own | {"hidden_bias_": "intercept_hidden_"}).items():
            if hasattr(model, theirs):
                setattr(rbm, ours, np.ascontiguousarray(numbers(getattr(model, theirs), theirs, name).T))
    if not hasattr(rbm, "weights_"):
        raise InputError(f"{name}: not fitted; call fit() first")
    if not all(np.isfinite(part).all() for part in (rbm.weights_, rbm.visible_bias_, rbm.hidden_bias_)):
        raise InputError(f"{name}: an infinite or undefined (NaN) weight; refit with a smaller learning rate")
    return rbm


def reported(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    """Return the perplexity of documents by scikit-learn's bound, or an NMF's training error."""
    native, topics = fitted.native, fitted.dirichlet
    if "NMF" in type(native).__name__:
        return Reported(
            "NMF.reconstruction_err_",
            float(native.reconstruction_err_),
            f"square root of twice the {native.beta_loss} divergence",
            about=TRAINING,
            computes="how far the training matrix is from its factorisation; no likelihood of any document follows"
            " from it",
        )
    function = "LatentDirichletAllocation.perplexity"
    counts = [batch.counts() for batch in over_words(fitted, documents)]
    X = sp.vstack(counts, format="csr") if counts else sp.csr_array((0, len(topics.vocabulary)))
    tokens = float(X.sum())
    if tokens == 0.0:
        return no_tokens(function)
    model = copy.copy(native)  # its check of X forgets the names of the words that the model was fitted on
    model.n_jobs = 1
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        value = float(model.perplexity(X))
        nats = -math.log(value) * tokens if math.isfinite(value) else float(model.score(X))
        few = X[:CHECKED]
        few_perplexity = float(model.perplexity(few)) if few.nnz else math.inf
        gammas = model._unnormalized_transform(few)
    topics_part = -dirichlet_divergence(native.components_, np.array(native.topic_word_prior_))
    note = ""
    if math.isfinite(few_perplexity):
        prior = np.full(topics.n_topics, float(native.doc_topic_prior_))
        documents_part = bound_of_documents(few, prior, gammas, native.components_)
        total = -math.log(few_perplexity) * float(few.sum())
        note = unlike_parts(function, total, (documents_part, topics_part), DOUBLE)
    terms = terms_of_bound(nats - topics_part, topics_part)
    return reported_value(function, value, "perplexity per token", nats / tokens, BOUND, terms, note)


LIBRARY = Library(
    "scikit-learn",
    reported,
    forms=(Form("skops", read, suffixes=(".skops",), member="schema.json"),),
    models="a fitted scikit-learn LatentDirichletAllocation or NMF",
    recognises=recognises,
    from_object=from_object,
)
