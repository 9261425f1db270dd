"""Names in the Python and commands of README and docs: models of three libraries, held-out documents, and their files.

`newcomer.py` runs the Python of docs/api.md after this file, as one script outside the checkout.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
import skops.io
import tomotopy
from gensim.corpora import Dictionary
from gensim.models import LdaModel
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV  # noqa: F401 of docs/api.md
from sklearn.pipeline import Pipeline

V, K, TRAINING, HELD_OUT, TOKENS = 600, 10, 500, 200, 60

rng = np.random.default_rng(0)
words = sorted("".join(letters) for letters in itertools.product("bdfgklmnprst", "aeiou", "bdfgklmnprst"))[:V]
true_phi = rng.dirichlet(np.full(V, 0.05), size=K)
weights = rng.dirichlet(np.full(K, 0.2), size=TRAINING + HELD_OUT)
all_texts = [" ".join(rng.choice(words, TOKENS, p=theta @ true_phi / (theta @ true_phi).sum())) for theta in weights]
texts, held_out, reference_texts = all_texts[:TRAINING], all_texts[TRAINING:], [text.split() for text in all_texts]
lists = [text.split() for text in texts]

vectorizer = CountVectorizer(vocabulary=words)
training = pd.DataFrame(vectorizer.transform(texts).toarray(), columns=words)
matrix = vectorizer.transform(held_out)
counts = pd.DataFrame(matrix.toarray(), columns=words)
pipeline: Any = Pipeline([("words", CountVectorizer()), ("lda", LatentDirichletAllocation(max_iter=3, random_state=0))])


def lda(topics: int) -> Any:
    """Return scikit-learn's LDA with so many topics."""
    return LatentDirichletAllocation(topics, learning_method="online", max_iter=3, random_state=0).fit(training)


lda10, lda20, lda50 = (lda(topics) for topics in (10, 20, 50))
model = lda20
dictionary = Dictionary(lists)
lda_of_gensim = LdaModel([dictionary.doc2bow(text) for text in lists], K, dictionary, passes=2, random_state=0)
lda_of_tomotopy, ctm = tomotopy.LDAModel(k=K, seed=1), tomotopy.CTModel(k=4, seed=1)
for text in lists:
    lda_of_tomotopy.add_doc(text)
    ctm.add_doc(text)
lda_of_tomotopy.train(50, workers=1)
ctm.train(50, workers=1)
phi, mu, Sigma = true_phi, np.zeros(K - 1), np.eye(K - 1)


def write(folder: Path) -> None:
    """Write the files that the commands name."""
    for name, fitted in {"lda": lda20, "lda-10": lda10, "lda-20": lda20, "lda-50": lda50}.items():
        skops.io.dump(fitted, folder / f"{name}.skops")
    lda_of_gensim.save(str(folder / "lda.gensim"))
    lda_of_tomotopy.save(str(folder / "lda.bin"))
    ctm.save(str(folder / "ctm.bin"))
    np.savez(folder / "topics.npz", phi=true_phi, alpha=np.full(K, 0.2), vocabulary=words)
    sp.save_npz(folder / "test.npz", sp.csr_matrix(matrix))
    with (folder / "test.mm").open("wb") as file:
        scipy.io.mmwrite(file, sp.coo_matrix(matrix))
    lines = (f"{row.nnz} " + " ".join(map("{}:{}".format, row.indices, row.data)) for row in sp.csr_matrix(matrix))
    (folder / "corpus.dat").write_text("".join(f"{line}\n" for line in lines))
    (folder / "words.txt").write_text("".join(f"{word}\n" for word in words))
    pd.DataFrame({"interview": range(100), "text": texts[:100]}).to_csv(folder / "interviews.csv", index=False)
    (folder / "texts").mkdir(exist_ok=True)
    for d, text in enumerate(held_out):
        (folder / "texts" / f"{d:03}.txt").write_text(text)


if __name__ == "__main__":
    write(Path())
