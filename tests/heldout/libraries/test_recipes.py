"""The recipes of docs/libraries.md, each as it stands there: on fitted models, or on objects and files like theirs."""

import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from limits import HOUR
from model_files import COUNTS, DOCUMENTS, FIXTURES, TOPICS, WORDS, phi_and_alpha

import heldout
from heldout.errors import InputError
from heldout.libraries.read import fitted

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
RECIPES = {
    title: code
    for title, section in re.findall(r"^### (.+?)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    for code in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
}
IN_R = dict(re.findall(r"^### R ([^\n]+)\n(?:(?!^###).)*?```r\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
PHI, ALPHA = phi_and_alpha()
LOGITS = np.linspace(-3.0, 3.0, len(WORDS))
MEAN, COVARIANCE = np.array([0.4, -0.3]), np.array([[1.2, 0.3], [0.3, 0.9]])


def gensim(kind: str, **options: Any) -> Any:
    models = pytest.importorskip("gensim.models")
    from gensim.corpora import Dictionary

    words = Dictionary([list(WORDS)])
    bags = [words.doc2bow(document) for document in DOCUMENTS]
    return getattr(models, kind)(bags, id2word=words, random_state=0, **options)


def tomotopy(kind: str, **options: Any) -> Any:
    model = getattr(pytest.importorskip("tomotopy"), kind)(seed=1, **options)
    for d, document in enumerate(DOCUMENTS):
        own: dict[str, Any] = {"DMRModel": {"metadata": "ab"[d % 2]}}.get(
            kind, {"labels": ["ab"[d % 2]]} if kind in ("LLDAModel", "PLDAModel") else {}
        )
        own |= {"timepoint": d % 2} if kind == "DTModel" else {}
        model.add_doc(document, **own)
    model.train(30, workers=1)
    return model


def ensemble() -> Any:
    models = pytest.importorskip("gensim.models")
    from gensim.corpora import Dictionary

    words = Dictionary([list(WORDS)])
    bags = [words.doc2bow(document) for document in DOCUMENTS]
    settings = {"num_topics": 2, "num_models": 3, "passes": 2, "epsilon": 2.0, "min_samples": 1, "min_cores": 0}
    return models.EnsembleLda("lda", corpus=bags, id2word=words, random_state=0, **settings)


def over_time() -> Any:
    models = pytest.importorskip("gensim.models")
    from gensim.corpora import Dictionary

    words = Dictionary([list(WORDS)])
    bags = [words.doc2bow(document) for document in DOCUMENTS]
    settings = {"passes": 1, "em_max_iter": 2, "lda_inference_max_iter": 5, "random_state": 0}
    slices = [len(bags) // 2, len(bags) - len(bags) // 2]
    return models.LdaSeqModel(bags, id2word=words, time_slice=slices, num_topics=2, **settings)


def octis() -> Any:
    """What stands for an LDA of OCTIS: `train_model` leaves gensim's in `trained_model`, and returns topics alone."""
    model = SimpleNamespace(trained_model=None)

    def train(dataset: str) -> dict[str, Any]:
        assert dataset == "OCTIS's own"
        model.trained_model = gensim("LdaModel", num_topics=TOPICS)
        return {"topic-word-matrix": model.trained_model.get_topics()}

    model.train_model = train
    return model


class Phi:
    """What the recipe uses of the pandas DataFrame that `ARTM.get_phi` returns: words by topics."""

    def __init__(self, index: Any) -> None:
        self.index = index

    def to_numpy(self) -> Any:
        return PHI.T


def artm(index: Any) -> Any:
    """Return what stands for a BigARTM model: 0.9 indexes phi by words, 0.10 by (modality, word)."""
    return SimpleNamespace(get_phi=lambda **_: Phi(index))


class Vector:
    def __init__(self, values: Any) -> None:
        self.values = values

    def toArray(self) -> Any:  # noqa: N802
        return self.values


class Tensor:
    """Of torch's what the recipe uses."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, dtype=np.float32)

    def detach(self) -> "Tensor":
        return self

    def numpy(self) -> Any:
        return self.values


def experts() -> Any:
    """A model of one expert thrice, which gives every word the probability of its logit less 2, over 3, by softmax."""
    V = len(WORDS)
    norm = SimpleNamespace(running_mean=Tensor(np.full(V, 2.0)), running_var=Tensor(np.full(V, 8.0)), eps=1.0)
    network = SimpleNamespace(beta=Tensor(np.tile(LOGITS, (3, 1))), beta_batchnorm=norm)
    network.prior_mean, network.prior_variance = Tensor(np.zeros(3)), Tensor(np.full(3, 2.0 / 3.0))
    return SimpleNamespace(model=SimpleNamespace(cpu=lambda: network))


def factorisation() -> Any:
    """What stands for a fitted SVD of one factor: all its users and items are average."""
    attributes = {"biased": True, "pu": np.array([[-1.0], [1.0]]), "bu": np.array([-1.0, 1.0])}
    attributes |= {"qi": np.zeros((1, 1)), "bi": np.zeros(1)}
    trainset = SimpleNamespace(global_mean=3.0, to_raw_iid=lambda _: "film")
    return type("SVD", (), attributes | {"trainset": trainset})()


MODELS: dict[str, Callable[[], Any]] = {
    "gensim LdaMulticore": lambda: gensim("LdaMulticore", num_topics=TOPICS, workers=1),
    "gensim HdpModel": lambda: gensim("HdpModel", T=5),
    "gensim LdaSeqModel": over_time,
    "gensim EnsembleLda": ensemble,
    "tomotopy DTModel": lambda: tomotopy("DTModel", k=2, t=2),
    "tomotopy in training": lambda: tomotopy("LDAModel", k=TOPICS),
    "OCTIS": octis,
    "tomotopy HDPModel": lambda: tomotopy("HDPModel"),
    "tomotopy DMRModel": lambda: tomotopy("DMRModel", k=TOPICS),
    "tomotopy LLDAModel": lambda: tomotopy("LLDAModel"),
    "tomotopy PLDAModel": lambda: tomotopy("PLDAModel", latent_topics=1),
    "tomotopy CTModel": lambda: tomotopy("CTModel", k=TOPICS),
    "lda": lambda: SimpleNamespace(topic_word_=PHI, alpha=0.1),
    "BigARTM": lambda: artm(list(WORDS)),
    "Spark ML": lambda: SimpleNamespace(
        topicsMatrix=lambda: Vector(7.0 * PHI.T), estimatedDocConcentration=lambda: Vector(ALPHA)
    ),
    "ETM": lambda: None,
    "ProdLDA and CombinedTM": experts,
    "scikit-surprise SVD": factorisation,
}


def test_every_recipe_is_tried() -> None:
    assert {title for title in RECIPES if not title.startswith("R ")} == set(MODELS)


def run(title: str, model: Any = None) -> dict[str, Any]:
    names = {"heldout": heldout, "np": np, "model": model, "documents": DOCUMENTS, "vocabulary": WORDS, "phi": PHI}
    names |= {"metadata": ["ab"[d % 2] for d in range(len(DOCUMENTS))]}
    names |= {"ratings": [("ann", "film", 4)], "t": 1, "eta_var": 0.1, "dataset": "OCTIS's own"}
    names |= {"labels": [["ab"[d % 2]] for d in range(len(DOCUMENTS))]}
    exec(RECIPES[title], names)  # the page's own code
    return names


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("title", MODELS)
def test_recipes_in_python(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if title == "OCTIS" and importlib.util.find_spec("octis") is None:
        metrics = ModuleType("octis.evaluation_metrics.metrics")
        metrics.AbstractMetric = object  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "octis.evaluation_metrics.metrics", metrics)
        for name in ("octis", "octis.evaluation_metrics"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
    names = run(title, MODELS[title]())
    if title == "OCTIS":
        lda = names["model"].trained_model
        assert names["nats_per_token"] == heldout.log_likelihood(lda, DOCUMENTS)
        return
    if title == "tomotopy in training":
        assert [step for step, _ in names["curve"]] == [50, 70, 90, 110, 130]
        assert names["curve"][-1][1] == heldout.log_likelihood(names["model"], DOCUMENTS)
        return
    if "nats_per_rating" in names:  # of N(3, 1 + 0.8), the offset's variance and the noise's
        assert names["nats_per_rating"] == pytest.approx(-0.5 * np.log(2.0 * np.pi * 1.8) - 0.5 / 1.8, abs=1e-12)
        return
    if "audit" not in names:
        p = np.exp((LOGITS - 2.0) / 3.0)
        places = [WORDS.index(word) for document in DOCUMENTS for word in document if word in WORDS]
        assert names["nats_per_token"] == pytest.approx(np.log(p / p.sum())[places].mean(), abs=1e-5)
        return
    audit = names["audit"]
    assert audit.tokens == sum(map(len, DOCUMENTS)) - audit.left_out
    assert audit.left_out < audit.tokens / 10
    assert 1.0 < audit.line("likelihood").perplexity < 2.0 * len(WORDS)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_gensims_topics_of_a_time_are_those_that_it_shows() -> None:
    names = run("gensim LdaSeqModel", over_time())
    model = names["model"]
    shown = model.dtm_vis(1, [model.id2word.doc2bow(document) for document in DOCUMENTS])[1]
    words = [model.id2word[v] for v in range(len(WORDS))]
    arrays = heldout.audit((np.asarray(shown), model.alphas), DOCUMENTS, vocabulary=words, probability=False)
    recipe = names["audit"]["likelihood"].log_likelihood
    assert recipe == pytest.approx(arrays["likelihood"].log_likelihood, rel=1e-9)


def test_a_word_of_tomotopys_topics_of_a_time() -> None:
    """Against a mean over 200,000 draws of theta; false alarms 1e-5."""
    model = tomotopy("DTModel", k=2, t=2)
    names: dict[str, Any] = {"heldout": heldout, "np": np, "model": model, "documents": [[WORDS[0]]]}
    names |= {"t": 1, "eta_var": 0.1}
    exec(RECIPES["tomotopy DTModel"], names)
    eta = np.random.default_rng(0).normal(model.alpha[1], math.sqrt(0.1), (200_000, 2))
    theta = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    place = list(model.used_vocabs).index(WORDS[0])
    p = theta @ [model.get_topic_word_dist(k, timepoint=1)[place] for k in range(2)]
    likelihood = np.exp(names["audit"]["likelihood"].log_likelihood)
    assert abs(likelihood - p.mean()) < 4.7 * p.std() / math.sqrt(len(p)) + 1e-6


def test_spark_counts_and_arrays_are_the_same_model() -> None:
    of_spark = run("Spark ML", MODELS["Spark ML"]())["audit"]
    arrays = heldout.audit((PHI, ALPHA), DOCUMENTS, vocabulary=WORDS)
    assert of_spark["likelihood"].log_likelihood == pytest.approx(arrays["likelihood"].log_likelihood, rel=1e-9)


def test_gensims_suggested_model_is_refused() -> None:
    with pytest.raises(InputError, match=r"other topics than it infers with.*hdp_to_lda"):
        fitted(gensim("HdpModel", T=5).suggested_lda_model())


def test_either_bigartm_is_the_same_model() -> None:
    old, new = (run("BigARTM", artm(index))["audit"] for index in (WORDS, [("@default_class", word) for word in WORDS]))
    assert old.left_out == new.left_out == 0
    assert old.line("likelihood").log_likelihood == new.line("likelihood").log_likelihood


def test_lda_itself() -> None:
    model = pytest.importorskip("lda").LDA(TOPICS, n_iter=20, random_state=0).fit(COUNTS)
    audit = run("lda", model)["audit"]
    arrays = heldout.audit((model.topic_word_, np.full(TOPICS, 0.1)), DOCUMENTS, vocabulary=WORDS)
    assert audit.line("likelihood").log_likelihood == arrays.line("likelihood").log_likelihood


def test_gensims_number_of_an_hdp_is_the_bound_of_its_recipe() -> None:
    from heldout.corpora.corpus import Corpus
    from heldout.evaluators.mean_field_bound import mean_field_bound
    from heldout.topics import Topics

    model = gensim("HdpModel", T=5)
    alpha, phi = model.hdp_to_lda()
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), alpha, tuple(model.id2word[v] for v in range(len(WORDS))))
    corpus = Corpus.from_documents("made-up", [(str(d), words) for d, words in enumerate(DOCUMENTS)])
    bags = [model.id2word.doc2bow(document) for document in DOCUMENTS]
    bound = mean_field_bound(topics, corpus).log_likelihood.sum()
    # both ascend until gamma hardly moves, and a maximum is flat
    assert model.evaluate_test_corpus(bags) == pytest.approx(bound, rel=1e-4)


def written_by_r(title: str) -> Path:
    """Return the folder of `recipe.R`, an object as the library makes it and then the recipe, and what it wrote."""
    return FIXTURES / "r" / title.replace(" ", "-")


def test_the_recipes_that_r_ran_are_those_of_the_page() -> None:
    """After a change run `Rscript --vanilla recipe.R` in each folder."""
    assert {written_by_r(title) for title in IN_R} == set((FIXTURES / "r").iterdir())
    for title, code in IN_R.items():
        assert (written_by_r(title) / "recipe.R").read_text().endswith(f"page\n{code}")


@pytest.mark.parametrize("title", IN_R)
def test_recipes_in_r(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written_by_r(title))
    # topicmodels has one alpha
    model = (PHI, MEAN, COVARIANCE) if title in ("stm", "topicmodels CTM") else (PHI, 0.3 if "LDA" in title else ALPHA)
    names = run(f"R {title}")
    if "audit" in names:
        expected = heldout.audit(model, DOCUMENTS, vocabulary=WORDS).line("likelihood").log_likelihood
        assert names["audit"].line("likelihood").log_likelihood == pytest.approx(expected, abs=1e-9)
    else:
        expected = heldout.log_likelihood(model, DOCUMENTS, vocabulary=WORDS)
        assert names["nats_per_token"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("title", IN_R)
def test_r_writes_the_same_files(title: str, tmp_path: Path) -> None:
    before = written_by_r(title)
    subprocess.run(["Rscript", "--vanilla", str(before / "recipe.R")], cwd=tmp_path, check=True, timeout=HOUR)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after == {path.name: path.read_bytes() for path in before.glob("*.csv")}


CLASSES = {"stm": "STM", "keyATM": "keyATM_output"}  # of objects that are lists


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("title", IN_R)
def test_two_lines_of_r_give_the_command_what_the_recipe_writes(title: str, tmp_path: Path) -> None:
    made, _ = (written_by_r(title) / "recipe.R").read_text().split("# the recipe")
    numbers = ", ".join(str(count) for row in COUNTS for count in row)
    counts = f"matrix(c({numbers}), ncol = {len(WORDS)}, byrow = TRUE, dimnames = list(NULL, words))"
    of_class = f'class(fit) <- "{CLASSES[title]}"' if title in CLASSES else ""
    two_lines = f'source("{ROOT}/docs/audit.R")\naudit(fit, {counts}, "--no-library", folder = "out")\n'
    (tmp_path / "two.R").write_text(f"{made}\n{of_class}\n{two_lines}")
    (tmp_path / "heldout").write_text('#!/bin/sh\necho "$@" >typed\n')
    (tmp_path / "heldout").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["Rscript", "--vanilla", "two.R"], cwd=tmp_path, env=environment, check=True, timeout=HOUR)
    _, model, documents, _, words, *rest = (tmp_path / "typed").read_text().split()
    assert rest == ["--format", "ldac", "--no-library"]
    vocabulary = (tmp_path / words).read_text().split()
    audit = heldout.audit(tmp_path / model, documents_of(tmp_path / documents, vocabulary), reported=False)
    expected = heldout.audit(written_by_r(title) / "phi.csv", DOCUMENTS, reported=False)
    assert audit.tokens == expected.tokens
    assert audit["likelihood"].log_likelihood == pytest.approx(expected["likelihood"].log_likelihood, abs=1e-6)


def documents_of(path: Path, words: list[str]) -> list[list[str]]:
    """Return the documents of LDA-C's text as lists of words."""
    pairs = [[cell.split(":") for cell in line.split()[1:]] for line in path.read_text().splitlines()]
    return [[word for w, count in document for word in [words[int(w)]] * int(count)] for document in pairs]
