"""`heldout choose`: the documents of a file, and the models that are fitted to them."""

import importlib.util
from pathlib import Path
from typing import Any, TextIO

from heldout.auditing.choice.choose import choose
from heldout.auditing.choice.report import Choice
from heldout.auditing.formats import amount
from heldout.auditing.options import ChooseCommand
from heldout.corpora.counts import read_bytes
from heldout.corpora.documents import read_documents
from heldout.corpora.text_folder import as_text, text_files
from heldout.errors import InputError

GIBBS = "tomotopy"
LEARNING = {"lda": "batch", "lda-online": "online"}  # methods of scikit-learn's LDA
PASSES, SWEEPS = 50, 1_000  # passes of scikit-learn's LDA, whose 10 are short of an optimum; sweeps of tomotopy's
FEWEST = 2  # training documents with a word that a model of texts has
TABLES = (".csv", ".tsv", ".parquet")  # endings of tables' names
WORDS, ROWS = 3.0, 100  # words of a row, on average over the first rows, from which a column holds texts


def choice(command: ChooseCommand, options: dict[str, Any], err: TextIO) -> Choice:
    """Return the choice that a command asks for.

    Args:
        command: the options typed.
        options: keywords of `heldout.choose`.
        err: for the number of fits.

    Raises:
        InputError: for bad input, or a library that is missing.
    """
    if command.model not in (*LEARNING, GIBBS):
        raise InputError(f"--model {command.model}: there are {', '.join((*LEARNING, GIBBS))}")
    for library in ("sklearn", GIBBS):
        if importlib.util.find_spec(library) is None:
            raise InputError(f"heldout choose takes {library}: pip install 'heldout[peers]'")
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    model: Any = LatentDirichletAllocation(learning_method=LEARNING.get(command.model, "batch"), max_iter=PASSES)
    documents: Any = texts_of(command.documents, command.column)
    if documents is not None:
        model, cut = make_pipeline(CountVectorizer(min_df=FEWEST), model), CountVectorizer().build_analyzer()
        words = [cut(text) for text in documents] if command.model == GIBBS else []
    else:
        corpus = read_documents(
            command.documents, form=command.format, documents_vocabulary=command.documents_vocabulary
        )
        words = [[corpus.vocabulary[word] for word in corpus.document(d)] for d in range(corpus.n_documents)]
        documents, options = corpus.counts().astype("int64"), options | {"vocabulary": list(corpus.vocabulary)}
    if command.model == GIBBS:
        model, documents, options = _gibbs, words, options | {"vocabulary": None}
    D = documents.shape[0] if hasattr(documents, "shape") else len(documents)
    fits = amount(len(options["topics"]) * command.folds * command.restarts, "fit")
    print(f"heldout: {amount(D, 'document')} of {command.documents.name}; {fits}", file=err, flush=True)
    return choose(model, documents, **options)


def _gibbs(K: int, documents: list[list[str]], random_state: int) -> Any:
    import tomotopy

    model = tomotopy.LDAModel(k=K, min_df=FEWEST, seed=random_state)
    for words in filter(None, documents):
        model.add_doc(words)
    model.train(SWEEPS, workers=1)
    return model


def texts_of(path: Path, column: str | None) -> list[str] | None:
    """Return the texts of a folder, or of a table's column; None where the file holds none.

    Args:
        path: a folder of .txt, a CSV with a head, or Parquet.
        column: the column's name; None for the only one whose rows have some words.

    Raises:
        InputError: where there is no such column, or several; or without pandas.
    """
    if path.is_dir():
        return [as_text(file, read_bytes(file)) for file in text_files(path)]
    if path.suffix.lower() not in TABLES:
        if column is not None:
            raise InputError(f"--column {column}: {path} is no table; leave the column out")
        return None
    try:
        import pandas as pd
    except ImportError as error:
        raise InputError(f"{path}: a table takes pandas: pip install pandas") from error
    try:
        if path.suffix.lower() == ".parquet":
            table = pd.read_parquet(path)
        else:
            head = path.read_text(encoding="utf-8-sig").partition("\n")[0]
            table = pd.read_csv(path, sep=max(",;\t", key=head.count), encoding="utf-8-sig")
    except (ImportError, ValueError, OSError) as error:
        raise InputError(f"{path}: no table that pandas can read ({error!s:.150})") from error
    columns = {str(name): table[name] for name in table}
    if column is None:
        found = [name for name, values in columns.items() if _has_texts(values)]
        if len(found) > 1:
            raise InputError(f"{path}: the columns {', '.join(found)} hold texts; name one (--column {found[-1]})")
        if not found:
            return None
        column = found[0]
    if column not in columns:
        raise InputError(f"--column {column}: {path} has {', '.join(columns):.200}; name one of these")
    return ["" if pd.isna(value) else str(value) for value in columns[column]]


def _has_texts(values: Any) -> bool:
    rows = [value for value in values.dropna()[:ROWS] if isinstance(value, str)]
    return bool(rows) and sum(len(row.split()) for row in rows) >= WORDS * len(rows)
