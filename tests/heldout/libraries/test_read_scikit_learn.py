import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from model_files import COUNTS, TOPICS, WORDS, scikit_learn_lda, scikit_learn_nmf
from sklearn.decomposition import NMF, LatentDirichletAllocation, MiniBatchNMF
from sklearn.linear_model import LinearRegression

from heldout.errors import InputError
from heldout.libraries.read import fitted, read_model


def dump_skops(model: Any, path: Path) -> None:
    import skops.io  # two seconds, which no other worker needs

    skops.io.dump(model, path)


def saved(path: Path, model: Any) -> Path:
    if path.suffix == ".skops":
        dump_skops(model, path)
    elif path.suffix == ".joblib":
        joblib.dump(model, path, compress=3)
    else:
        path.write_bytes(pickle.dumps(model, protocol=0))
    return path


@pytest.mark.parametrize("suffix", ["skops", "joblib", "pkl"])
def test_lda_is_the_mean_of_its_posterior(tmp_path: Path, suffix: str) -> None:
    model = scikit_learn_lda()
    read = read_model(saved(tmp_path / f"lda.{suffix}", model), trust_pickle=suffix != "skops")
    np.testing.assert_allclose(
        read.topics.phi, model.components_ / model.components_.sum(axis=1, keepdims=True), rtol=1e-14
    )
    np.testing.assert_array_equal(read.dirichlet.alpha, np.full(TOPICS, 1.0 / TOPICS))
    assert read.library == "scikit-learn"
    assert not read.words_known
    assert read.topics.provenance["format"] == ("skops" if suffix == "skops" else "pickle")
    # what was read computes what the library computes
    assert read.native.perplexity(COUNTS) == model.perplexity(COUNTS)
    json.dumps(read.topics.provenance)


def test_a_fitted_object_with_and_without_words() -> None:
    model = scikit_learn_lda()
    assert fitted(model).native is model
    named = fitted(model, WORDS)
    assert named.words_known
    assert named.topics.vocabulary == WORDS
    with pytest.raises(
        InputError, match="LatentDirichletAllocation: the vocabulary has 2 words, but the topics have 9"
    ):
        fitted(model, ["a", "b"])


def test_columns_name_the_words(tmp_path: Path) -> None:
    import pandas as pd

    model = LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(pd.DataFrame(COUNTS, columns=list(WORDS)))
    for read in (fitted(model), read_model(saved(tmp_path / "lda.skops", model))):
        assert read.words_known
        assert read.topics.vocabulary == WORDS


def test_nmf_with_the_kullback_leibler_loss_is_plsa(tmp_path: Path) -> None:
    model = scikit_learn_nmf()
    read = read_model(saved(tmp_path / "nmf.skops", model))
    np.testing.assert_array_equal(read.dirichlet.alpha, np.ones(TOPICS))
    assert read.topics.provenance["loss"] == "kullback-leibler"
    assert "no" in read.topics.provenance["prior"]
    # the same product W H from topics and weights that stand for p(w | z) and n(d) p(z | d)
    weights = model.transform(COUNTS)
    scaled = weights * model.components_.sum(axis=1)
    np.testing.assert_allclose(scaled @ read.topics.phi, weights @ model.components_, rtol=1e-12)
    # and at the minimum a document's weights add up to its length, as n(d) p(z | d) do
    np.testing.assert_allclose(scaled.sum(axis=1), COUNTS.sum(axis=1), rtol=2e-2)


def test_minibatch_nmf_is_read(tmp_path: Path) -> None:
    model = MiniBatchNMF(2, random_state=0, max_iter=2, tol=0, max_no_improvement=None).fit(COUNTS)
    assert read_model(saved(tmp_path / "nmf.skops", model)).topics.n_topics == 2


def test_what_is_not_fitted_or_has_empty_topics_is_refused() -> None:
    with pytest.raises(InputError, match=r"NMF: the NMF is not fitted; call fit\(\) first"):
        fitted(NMF(2))
    model = NMF(2)
    model.components_ = np.array([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(InputError, match="row 1 of components_ is all zeros, a topic without words"):
        fitted(model)
    lda = LatentDirichletAllocation(2)
    lda.components_ = np.ones((2, 3))
    with pytest.raises(InputError, match="alpha is not an array of numbers"):
        fitted(lda)
    lda.doc_topic_prior_ = -1.0
    with pytest.raises(InputError, match="alpha of topic 0 is -1;"):
        fitted(lda)


class Harmful:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model", "model.npz.pickle"])
def test_a_pickle_is_refused_before_a_byte_of_it_is_unpickled(tmp_path: Path, name: str) -> None:
    mark = tmp_path / "ran"
    (tmp_path / name).write_bytes(pickle.dumps(Harmful(mark)))
    with pytest.raises(InputError, match=r"a pickle, which runs any code .* --trust-pickle .* skops"):
        read_model(tmp_path / name)
    assert not mark.exists()
    # the payload works: trusted, it runs, and what it gives is no model
    with pytest.raises(InputError, match=r"a builtins\.NoneType; give a fitted"):
        read_model(tmp_path / name, form="pickle", trust_pickle=True)
    assert mark.exists()


def rewritten(path: Path, change: Callable[[dict[str, Any]], object], source: Any = None) -> Path:
    """A .skops file whose schema is changed."""
    dump_skops(scikit_learn_lda() if source is None else source, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    change(schema)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, "schema.json": json.dumps(schema).encode()}.items():
            archive.writestr(name, content)
    return path


OPERATOR = {
    "__class__": "methodcaller",
    "__module__": "operator",
    "__loader__": "OperatorFuncNode",
    "attrs": {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": []},
}


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (OPERATOR, r"asks for operator.methodcaller \(OperatorFuncNode\), which no LatentDirichletAllocation needs"),
        ({"__class__": "dict", "__module__": "builtins", "__loader__": "ObjectNode"}, r"asks for builtins.dict \(Obj"),
        ({"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"}, "asks for os.system"),
        (
            {"__class__": "LinearRegression", "__module__": "sklearn.linear_model._base"},
            "asks for sklearn.linear_model",
        ),
        ({"__loader__": ["DictNode"]}, "asks for None.None"),
    ],
)
def test_skops_may_only_make_what_a_topic_model_needs(tmp_path: Path, node: dict[str, Any], message: str) -> None:
    def change(schema: dict[str, Any]) -> None:
        schema["content"]["content"]["random_state"] = node

    with pytest.raises(InputError, match=message):
        read_model(rewritten(tmp_path / "lda.skops", change))


def test_skops_of_another_estimator_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="holds a LinearRegression; save a fitted LatentDirichletAllocation, NMF, Mini"
    ):
        read_model(saved(tmp_path / "line.skops", LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])))
    with pytest.raises(InputError, match="holds a NMF; save a fitted"):
        read_model(rewritten(tmp_path / "nmf.skops", lambda schema: schema.update(__class__="NMF")))


@pytest.mark.parametrize("name", ["lda.skops", "lda.joblib"])
def test_every_truncated_file_is_refused(tmp_path: Path, name: str) -> None:
    whole = saved(tmp_path / name, scikit_learn_lda()).read_bytes()
    for length in range(1, len(whole), 211):
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"truncated or damaged|truncated, or not a"):
            read_model(tmp_path / name, trust_pickle=True)


def test_a_pickle_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"some.pkl: a builtins.dict; give a fitted scikit-learn Latent"):
        read_model(saved(tmp_path / "some.pkl", {"phi": 1}), trust_pickle=True)
