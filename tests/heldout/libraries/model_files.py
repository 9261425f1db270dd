"""Tiny models that the libraries themselves fit and save, one file per form."""

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.typing import Floats, Ints

TOPICS = 3
WORDS = tuple(f"word{place}" for place in range(9))
FIXTURES = Path(__file__).parent / "fixtures"
COUNTS: Ints = np.random.default_rng(0).poisson(0.8, (12, len(WORDS)))
DOCUMENTS = [[word for word, count in zip(WORDS, row, strict=True) for _ in range(count)] for row in COUNTS]


@functools.cache
def scikit_learn_lda() -> Any:
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(TOPICS, random_state=0, max_iter=3).fit(COUNTS)


@functools.cache
def scikit_learn_nmf() -> Any:
    from sklearn.decomposition import NMF

    return NMF(TOPICS, solver="mu", beta_loss="kullback-leibler", random_state=0, max_iter=2000).fit(COUNTS)


@functools.cache
def gensim_lda(*, words: bool = True) -> Any:
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    dictionary = Dictionary([list(WORDS)])
    bags = [dictionary.doc2bow(document) for document in DOCUMENTS]
    return LdaModel(
        bags, num_topics=TOPICS, id2word=dictionary if words else None, random_state=0, alpha="auto", passes=3
    )


@functools.cache
def tomotopy_lda() -> Any:
    import tomotopy

    model = tomotopy.LDAModel(k=TOPICS, seed=1, min_cf=2, rm_top=1)
    for document in DOCUMENTS:
        model.add_doc([*document, "once"] if document is DOCUMENTS[0] else document)
    model.train(30, workers=1)
    return model


def phi_and_alpha() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(1)
    return rng.dirichlet(np.full(len(WORDS), 0.5), TOPICS), np.array([0.1, 0.7, 1.3])


def write_csv(path: Path, phi: Floats, alpha: Iterable[float], header: Sequence[str] = WORDS) -> Path:
    rows = [",".join(header)] if header else []
    rows += [",".join(repr(float(value)) for value in row) for row in phi]
    path.write_text("\n".join(rows) + "\n")
    path.with_name(f"{path.stem}.alpha.csv").write_text(",".join(repr(float(value)) for value in alpha) + "\n")
    return path


def write_npz(path: Path, **arrays: Any) -> Path:
    phi, alpha = phi_and_alpha()
    np.savez(path, **{"phi": phi, "alpha": alpha, "vocabulary": np.array(WORDS), **arrays})
    return path


def write_all(folder: Path) -> dict[str, Path]:
    """Write one model of every form; return where, by form."""
    import joblib
    import skops.io

    files = {form: folder / f"model.{form}" for form in ("skops", "npz", "csv")}
    skops.io.dump(scikit_learn_lda(), files["skops"])
    files["pickle"] = folder / "model.joblib"
    joblib.dump(scikit_learn_lda(), files["pickle"])
    files["gensim"] = folder / "model.gensim"
    gensim_lda().save(str(files["gensim"]))
    files["tomotopy"] = folder / "model.bin"
    tomotopy_lda().save(str(files["tomotopy"]))
    files["mallet"] = folder / "mallet-state.gz"
    files["mallet"].write_bytes((FIXTURES / "mallet-state.gz").read_bytes())
    files["lda-c"] = folder / "final.beta"
    for name in ("final.beta", "final.other"):
        (folder / name).write_bytes((FIXTURES / "lda-c" / name).read_bytes())
    write_npz(files["npz"])
    write_csv(files["csv"], *phi_and_alpha())
    return files
