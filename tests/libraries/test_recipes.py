"""The recipes of docs/libraries.md, each as it stands there: on fitted models, or on objects and files like theirs."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from model_files import DOCUMENTS, TOPICS, WORDS, phi_and_alpha

import heldout
from heldout.errors import InputError
from heldout.libraries.logistic_normal import from_any
from heldout.libraries.read import fitted

PAGE = (Path(__file__).parents[2] / "docs" / "libraries.md").read_text(encoding="utf-8")
RECIPES = {
    title: code
    for title, section in re.findall(r"^### (.+?)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    for code in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
}
PHI, ALPHA = phi_and_alpha()
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
        model.add_doc(document, **({"metadata": "ab"[d % 2]} if kind == "DMRModel" else {}))
    model.train(30, workers=1)
    return model


def ensemble() -> Any:
    models = pytest.importorskip("gensim.models")
    from gensim.corpora import Dictionary

    words = Dictionary([list(WORDS)])
    bags = [words.doc2bow(document) for document in DOCUMENTS]
    settings = {"num_topics": 2, "num_models": 3, "passes": 2, "epsilon": 2.0, "min_samples": 1, "min_cores": 0}
    return models.EnsembleLda("lda", corpus=bags, id2word=words, random_state=0, **settings)


class Phi:
    """What BigARTM's get_phi() returns, of a pandas DataFrame what the recipe uses: words by topics."""

    index = WORDS

    def to_numpy(self) -> Any:
        return PHI.T


class Vector:
    def __init__(self, values: Any) -> None:
        self.values = values

    def toArray(self) -> Any:  # noqa: N802
        return self.values


MODELS: dict[str, Callable[[], Any]] = {
    "gensim LdaMulticore": lambda: gensim("LdaMulticore", num_topics=TOPICS, workers=1),
    "gensim HdpModel": lambda: gensim("HdpModel", T=5),
    "gensim EnsembleLda": ensemble,
    "tomotopy HDPModel": lambda: tomotopy("HDPModel"),
    "tomotopy DMRModel": lambda: tomotopy("DMRModel", k=TOPICS),
    "tomotopy CTModel": lambda: tomotopy("CTModel", k=TOPICS),
    "lda": lambda: SimpleNamespace(topic_word_=PHI, alpha=0.1),
    "BigARTM": lambda: SimpleNamespace(get_phi=Phi),
    "Spark ML": lambda: SimpleNamespace(
        topicsMatrix=lambda: Vector(7.0 * PHI.T), estimatedDocConcentration=lambda: Vector(ALPHA)
    ),
    "ETM": lambda: None,
}


def test_every_recipe_is_tried() -> None:
    assert {title for title in RECIPES if not title.startswith("R ")} == set(MODELS)


def run(title: str, model: Any = None) -> dict[str, Any]:
    names = {"heldout": heldout, "np": np, "model": model, "documents": DOCUMENTS, "vocabulary": WORDS, "phi": PHI}
    exec(RECIPES[title], names)  # the page's own code
    return names


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("title", MODELS)
def test_recipes_in_python(title: str) -> None:
    names = run(title, MODELS[title]())
    if "audit" in names:
        audit = names["audit"]
        assert audit.tokens == sum(map(len, DOCUMENTS)) - audit.left_out
        assert audit.left_out < audit.tokens / 10
        assert 1.0 < audit.line("truth").perplexity < 2.0 * len(WORDS)
    else:
        assert -np.log(2.0 * len(WORDS)) < names["nats_per_token"] < 0.0


def test_spark_counts_and_arrays_are_the_same_model() -> None:
    of_spark = run("Spark ML", MODELS["Spark ML"]())["audit"]
    arrays = heldout.audit((PHI, ALPHA), DOCUMENTS, vocabulary=WORDS)
    assert of_spark.line("truth").log_likelihood == pytest.approx(arrays.line("truth").log_likelihood, rel=1e-9)


def test_gensims_suggested_model_is_refused() -> None:
    with pytest.raises(InputError, match=r"other topics than it infers with.*hdp_to_lda"):
        fitted(gensim("HdpModel", T=5).suggested_lda_model())


def in_r(values: Any) -> str:
    """Return a table as R's write.csv and write.table print numbers: 15 digits."""
    return "".join(",".join(f"{value:.15g}" for value in row) + "\n" for row in np.atleast_2d(values))


@pytest.mark.parametrize("title", [title for title in RECIPES if title.startswith("R ")])
def test_recipes_in_r(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("phi.csv").write_text(",".join(f'"{word}"' for word in WORDS) + "\n" + in_r(PHI))
    if "log_likelihood" in RECIPES[title]:
        Path("phi.mean.csv").write_text(in_r(MEAN[:, None]))
        Path("phi.covariance.csv").write_text(in_r(COVARIANCE))
        expected = heldout.log_likelihood((PHI, MEAN, COVARIANCE), DOCUMENTS, vocabulary=WORDS)
        assert run(title)["nats_per_token"] == pytest.approx(expected, abs=1e-9)
        assert from_any("phi.csv") is not None
    else:
        Path("phi.alpha.csv").write_text(in_r(ALPHA[:, None]))
        expected = heldout.audit((PHI, ALPHA), DOCUMENTS, vocabulary=WORDS).line("truth").log_likelihood
        assert run(title)["audit"].line("truth").log_likelihood == pytest.approx(expected, abs=1e-9)
