"""Audits and rankings of tomotopy's models whose documents have priors of their own."""

import csv
import functools
import itertools
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomotopy
from scipy.special import gammaln

import heldout
from heldout.cli import main
from heldout.errors import InputError
from heldout.evaluators.priors import OWN_DIRICHLET, PRIORS
from heldout.libraries.read import fitted, read_model
from heldout.topics import OwnPriors
from heldout.typing import Floats

WORDS = ("ape", "bear", "cat", "dog")
TRAINING = [[WORDS[(d + i * i) % (2 + 2 * (d % 2))] for i in range(6)] for d in range(30)]
HELD_OUT = [["ape", "bear", "ape"], ["cat", "dog", "dog", "ape"], ["bear"], ["dog", "cat", "unknown"], []]
LABELS = [["p"], ["q", "r"], [], ["r"], ["p"]]
METADATA: list[Any] = ["a", "b", ["b", "x"], "a", "b"]
QUIET: dict[str, Any] = {"other_corpus": True, "progress": False}


def dmr(**settings: Any) -> Any:
    model = tomotopy.DMRModel(k=3, seed=1, **settings)
    for d, words in enumerate(TRAINING):
        model.add_doc(words, metadata="ab"[d % 2], multi_metadata=["x"] if d % 3 else [])
    model.train(40, workers=1)
    return model


def labelled(kind: str = "LLDAModel", **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of LLDAModel
        model = getattr(tomotopy, kind)(seed=1, **settings)
    for d, words in enumerate(TRAINING):
        model.add_doc(words, labels=["pq"[d % 2]] + (["r"] if d % 3 else []))
    model.train(40, workers=1)
    return model


def dmr_priors(model: Any) -> Floats:
    """exp(lambda x) + alpha_epsilon, of tomotopy's lambda x."""
    several = (("a",), ("b",), ("b", "x"), ("a",), ("b",))
    raw = [model.get_topic_prior(one[0], list(one[1:]), raw=True) for one in several]
    priors: Floats = np.exp(np.array(raw, dtype=np.float64)) + model.alpha_epsilon
    return priors


def label_priors(model: Any, each: int) -> Floats:
    names, alphas = list(model.topic_label_dict), np.zeros((len(LABELS), model.k))
    for d, labels in enumerate(LABELS):
        for k in range(model.k):
            of = names[k // each] if k // each < len(names) else None
            if not labels or of is None or of in labels:
                alphas[d, k] = model.alpha[k]
    return alphas


def enumerated(phi: Floats, alpha: Floats, words: list[int]) -> float:
    """log sum over all topics of the tokens of p(z | alpha) prod_l phi[z_l, w_l]."""
    has, total = np.flatnonzero(alpha), 0.0
    for z in itertools.product(has.tolist(), repeat=len(words)):
        counts = np.bincount(z, minlength=len(alpha))[has]
        log_z = gammaln(alpha.sum()) - gammaln(alpha.sum() + len(words))
        log_z += np.sum(gammaln(alpha[has] + counts) - gammaln(alpha[has]))
        total += float(np.exp(log_z) * np.prod(phi[list(z), words]))
    return float(np.log(total))


@functools.cache
def cases() -> dict[str, tuple[Any, Floats, dict[str, Any]]]:
    by_metadata, plain = dmr(), labelled()
    latent, parts = labelled(k=4), labelled("PLDAModel", latent_topics=1, topics_per_label=2)
    return {
        "DMR": (by_metadata, dmr_priors(by_metadata), {"metadata": METADATA}),
        "LLDA": (plain, label_priors(plain, 1), {"labels": LABELS}),
        "LLDA with a topic of no label": (latent, label_priors(latent, 1), {"labels": LABELS}),
        "PLDA": (parts, label_priors(parts, 2), {"labels": LABELS}),
    }


NAMES = ("DMR", "LLDA", "LLDA with a topic of no label", "PLDA")


@pytest.mark.parametrize("name", NAMES)
def test_the_likelihood_is_that_of_enumeration(name: str) -> None:
    model, alphas, given = cases()[name]
    audit = heldout.audit(model, HELD_OUT, **given, **QUIET)
    phi, words = np.array([model.get_topic_word_dist(k) for k in range(model.k)], float), list(model.used_vocabs)
    phi /= phi.sum(axis=1, keepdims=True)
    for d, document in enumerate(HELD_OUT):
        places = [words.index(word) for word in document if word in words]
        wanted = enumerated(phi, alphas[d], places) if places else 0.0
        assert audit.nats["likelihood"][d] == pytest.approx(wanted, abs=2e-6)  # alpha is in float32
        assert audit.nats["mean-field-bound"][d] <= wanted + 1e-6
        assert audit.nats["full-folding-in"][d] >= wanted - 1e-3
    assert audit.exact
    assert (audit.tokens, audit.left_out, audit.comparable) == (10, 1, True)
    assert audit.probability is not None
    assert not audit.probability.refutes("likelihood")
    assert audit.to_json()["alphas"] == audit.parameters["alphas"].tolist()
    assert "per-document Dirichlet" in audit.to_html()


def test_beyond_the_limit_documents_of_few_topics_stay_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _, given = cases()["PLDA"]
    exact = heldout.audit(model, HELD_OUT, **given, **QUIET)
    monkeypatch.setitem(PRIORS, OwnPriors, replace(OWN_DIRICHLET, exact_below=100.0))
    mixed = heldout.audit(model, HELD_OUT, limit=0.0, n_jobs=1, **given, **QUIET)
    errors = mixed.errors["likelihood"]
    assert not mixed.exact
    assert (errors == 0.0).tolist() == [True, False, True, True, True]
    assert mixed.nats["likelihood"][errors == 0.0] == pytest.approx(exact.nats["likelihood"][errors == 0.0], abs=1e-12)
    gap = mixed.nats["likelihood"][1] - exact.nats["likelihood"][1]
    assert abs(gap) < 5.0 * errors[1] + 1e-6  # false alarm below 1e-5


def lda_with(model: Any, alpha: Floats) -> Any:
    phi = np.array([model.get_topic_word_dist(k) for k in range(model.k)], float)
    return heldout.audit((phi, alpha), HELD_OUT, vocabulary=list(model.used_vocabs), **QUIET)


def test_one_metadata_is_an_audit_of_lda() -> None:
    model, alphas, _ = cases()["DMR"]
    ours, lda = heldout.audit(model, HELD_OUT, metadata=["a"] * 5, **QUIET), lda_with(model, alphas[0])
    for line in ("likelihood", "mean-field-bound", "full-folding-in", "half-folding-in"):
        assert ours[line].log_likelihood == pytest.approx(lda[line].log_likelihood, abs=5e-6), line


def test_all_labels_on_every_document_are_lda() -> None:
    model = cases()["LLDA"][0]
    lda = lda_with(model, np.array(model.alpha, float))
    empty: list[list[str]] = [[]] * 5
    for labels in ([["p", "q", "r"]] * 5, empty):
        ours = heldout.audit(model, HELD_OUT, labels=labels, **QUIET)
        for line in ("likelihood", "mean-field-bound", "full-folding-in", "half-folding-in"):
            assert ours[line].log_likelihood == pytest.approx(lda[line].log_likelihood, abs=1e-9), line


def test_a_ranking_takes_labels_and_metadata_together() -> None:
    models = {name: cases()[name][0] for name in ("DMR", "LLDA", "PLDA")}
    ranking = heldout.rank(models, HELD_OUT, labels=LABELS, metadata=METADATA, coherence=False, **QUIET)
    assert {model.name for model in ranking.models} == set(models)
    for model in ranking.models:
        audit = heldout.audit(models[model.name], HELD_OUT, **cases()[model.name][2], **QUIET)
        assert model.nats == pytest.approx(audit.nats["likelihood"], abs=1e-12)
        of = cases()[model.name]
        score = heldout.log_likelihood(of[0], HELD_OUT, estimator="exact-marginal", other_corpus=True, **of[2])
        assert score == pytest.approx(audit["likelihood"].nats_per_token, abs=1e-12)


@pytest.mark.parametrize("kind", ["DMRModel", "PLDAModel"])
def test_the_guard_takes_their_own_documents_and_refuses_words_in_another_order(kind: str) -> None:
    """Documents of two kinds by label: the guard reads each one's prior, and nothing says that they are of another."""
    random, words = np.random.default_rng(0), [f"w{w}" for w in range(300)]
    rank = 1.0 / np.arange(1.0, 301.0)
    phi = np.array([random.permutation(rank), random.permutation(rank)]) / rank.sum()
    of = [0 if d % 4 else 1 for d in range(160)]
    texts = [[words[w] for w in random.choice(300, 50, p=phi[k])] for k in of]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of LLDAModel
        model = getattr(tomotopy, kind)(seed=1, **({"k": 2} if kind == "DMRModel" else {}))
    for k, text in zip(of[:120], texts[:120], strict=True):
        model.add_doc(text, **({"metadata": "ab"[k]} if kind == "DMRModel" else {"labels": ["ab"[k]]}))
    model.train(100, workers=1)
    own: list[Any] = ["ab"[k] for k in of[120:]] if kind == "DMRModel" else [["ab"[k]] for k in of[120:]]
    given: dict[str, Any] = {"metadata" if kind == "DMRModel" else "labels": own, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit = heldout.audit(model, texts[120:], **given)
    assert audit.documents == 40
    other = dict(zip(words, random.permutation(words), strict=True))
    wrong = [[other[word] for word in text] for text in texts[120:]]
    with pytest.raises(InputError, match="are not documents like the model's own"):
        heldout.audit(model, wrong, **given)
    with pytest.raises(InputError, match="are not documents like the model's own"):
        heldout.rank({"one": model, "same": model}, wrong, coherence=False, **given)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("DMR", {}, "DMRModel, whose documents have priors by their metadata; give those of every document"),
        ("LLDA", {}, "LLDAModel, whose documents have priors by their labels"),
        ("PLDA", {"metadata": METADATA}, "PLDAModel, whose documents have priors by their labels"),
        ("LLDA", {"labels": [["p"], ["nope"], [], [], []]}, "labels: document 1 has 'nope', which .* not trained with"),
        ("DMR", {"metadata": ["a", "zz", "a", "a", "a"]}, "metadata: document 1 has 'zz'"),
        ("DMR", {"metadata": [["a", "y"]] * 5}, "multi_metadata: document 0 has 'y'"),
        ("DMR", {"metadata": ["a", None, "a", "a", "a"]}, "metadata: document 1 has None"),
        ("DMR", {"metadata": ["a", [], "a", "a", "a"]}, "metadata: document 1 has none"),
        ("LLDA", {"labels": ["p"] * 5}, "labels: document 0 has 'p'; give a list of texts"),
        ("LLDA", {"labels": "p"}, "labels: a str; give a list"),
        ("LLDA", {"labels": LABELS[:4]}, "5 documents, .* of 4"),
        ("LLDA", {"labels": [*LABELS, ["p"]]}, r"5 documents, but priors .* of 6"),
        ("LLDA", {"labels": LABELS, "metadata": METADATA}, "metadata: given, but no model has priors by them"),
    ],
)
def test_missing_and_unknown_ones_are_one_line(name: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        heldout.audit(cases()[name][0], HELD_OUT, **given, **QUIET)
    assert "\n" not in str(caught.value)


def test_one_prior_of_all_documents_takes_no_labels() -> None:
    with pytest.raises(InputError, match="labels: given, but no model has priors by them; leave them out"):
        heldout.audit(([[0.5, 0.5]], 1.0), [["a"]], vocabulary=["a", "b"], labels=[["p"]], **QUIET)


def likelihoods(table: Path) -> list[float]:
    with table.open() as file:
        return [float(row["likelihood"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("name", "option", "lines"),
    [
        ("DMR", "metadata", ["a", "b", "b\tx", "a", "b"]),
        ("LLDA", "labels", ["p", "q r", "", "r", "p"]),
    ],
)
def test_the_command_reads_them_from_a_file(
    name: str, option: str, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model, _, given = cases()[name]
    file, texts, table = tmp_path / "model.bin", tmp_path / "texts", tmp_path / "table.csv"
    model.save(str(file))
    texts.mkdir()
    for d, words in enumerate(HELD_OUT):
        (texts / f"{d}.txt").write_text(" ".join(words))
    (tmp_path / "given.txt").write_text("\n".join(lines) + "\n")
    marked = bool(read_model(file).topics.provenance.get("prior"))
    assert marked == (name != "DMR")
    command = ["audit", str(file), str(texts), "--other-corpus", "--no-probability", "--csv", str(table)]
    assert main([*command, f"--{option}", str(tmp_path / "given.txt")]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        loaded = type(model).load(str(file))  # of the last two with another alpha than was saved
    audit = heldout.audit(loaded, HELD_OUT, **given, **QUIET)
    values = likelihoods(table)
    assert values == pytest.approx(audit.nats["likelihood"].tolist(), abs=1e-6)
    assert main(command) == 2
    # the same files under other labels are another audit
    (tmp_path / "given.txt").write_text(f"{lines[0]}\n" * 5)
    assert main([*command, f"--{option}", str(tmp_path / "given.txt")]) == 0
    others = likelihoods(table)
    assert others[0] == pytest.approx(values[0], abs=1e-9)
    assert others[1] != pytest.approx(values[1], abs=1e-6)


def test_models_as_read_have_no_priors_yet() -> None:
    assert fitted(cases()["PLDA"][0]).topics.parameters["alphas"].shape == (0, 7)
