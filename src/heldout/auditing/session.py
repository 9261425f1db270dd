"""`heldout audit`, `rank` and `choose`: print the plan, compute with a bar, then write table, page and JSON."""

import csv
import importlib.util
import json
import os
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from heldout.auditing.audit.audit import audit
from heldout.auditing.audit.report import Audit
from heldout.auditing.choice.command import choice
from heldout.auditing.choice.fits import SUFFIX
from heldout.auditing.formats import json_compatible
from heldout.auditing.options import AuditCommand, ChooseCommand, RankCommand
from heldout.auditing.plan import Plan
from heldout.auditing.progress import bar
from heldout.auditing.rank.rank import rank
from heldout.auditing.rank.report import Ranking
from heldout.corpora.documents import read_documents
from heldout.errors import InputError, printable
from heldout.files import replacing
from heldout.libraries import Fitted
from heldout.libraries.read import guess, read_model

MODELS_ALONE = ("skops", "pickle", "gensim", "tomotopy", "mallet")  # forms that documents never have
OUTPUT = Path("-")  # standard output, in the place of a file
# newest files in the user's cache, by their names: of values a file a model, of a choice a file a fit
KEPT = {"*.values": 20, f"*{SUFFIX}": 400}
INTERRUPTED = 128  # number of the signal on top of it, the shells' convention


def run(command: AuditCommand | RankCommand | ChooseCommand, out: TextIO, err: TextIO) -> int:
    """Audit a saved model, rank saved models, or choose a number of topics, on a file or folder of documents.

    Without a store, values are kept in the user's cache ($XDG_CACHE_HOME, or ~/.cache), the newest `KEPT` files.

    Args:
        command: the options typed.
        out: for the table, or the JSON if that goes to "-".
        err: for the plan, the progress and the notice of an interruption.

    Returns:
        The exit status: 0, 130 after Ctrl-C, or 143 after SIGTERM, which is handled alike.

    Raises:
        InputError: for bad input, before anything is written.
        ModuleNotFoundError: for a page without matplotlib, before the work starts.
    """
    table = None if isinstance(command, RankCommand) else command.csv
    if command.json == "-" and table == OUTPUT:
        raise InputError("--json - and --csv -: both on standard output; write one of them into a file")
    for path in filter(None, (command.html, command.json_file, table)):
        if path != OUTPUT:
            require_writable(path)
    if command.html is not None and importlib.util.find_spec("matplotlib") is None:
        raise ModuleNotFoundError(name="matplotlib")  # now; its import, which takes a second, comes after the work
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heldout"
    folder, evaluated = command.folder or cache, 0

    def announce(plan: Plan) -> None:
        nonlocal evaluated
        evaluated = plan.kept
        print(plan, file=err, flush=True)

    ends: list[int] = []
    try:
        _require_documents(command.documents)
        models = {} if isinstance(command, ChooseCommand) else _read_models(command)
        with _terminated_as_interrupted(ends), bar(err) as moved, warnings.catch_warnings():
            warnings.showwarning = lambda text, *_: print(f"heldout: {printable(text)}", file=err)
            documents: Any = None
            if not isinstance(command, ChooseCommand):
                documents = read_documents(
                    command.documents,
                    form=command.format,
                    documents_vocabulary=command.documents_vocabulary,
                    stem=command.stem,
                )

            def progress(done: int, share: float) -> None:
                nonlocal evaluated
                evaluated = done
                moved(done, share)

            given: dict[str, Any] = {"progress": progress} | command.options(store=folder)
            result: Audit | Ranking
            if isinstance(command, ChooseCommand):
                result = choice(command, given, err)
            elif isinstance(command, AuditCommand):
                name, fitted = next(iter(models.items()))
                result = replace(audit(fitted, documents, announce=announce, **given), model=name)
            else:
                result = rank(models, documents, announce=announce, **given)
    except (KeyboardInterrupt, InputError) as error:
        if isinstance(error, InputError) and not ends:  # workers that ended first are no fault of the input
            raise
        where = f" in {folder}: the same command goes on from there" if evaluated else ""
        print(f"heldout: interrupted; {evaluated:,} documents are done and kept{where}", file=err)
        return INTERRUPTED + (signal.SIGTERM if ends else signal.SIGINT)
    result = replace(result, settings=result.settings | ({"command": command.line} if command.line else {}))
    rows = result.records("documents") if isinstance(result, Audit) else result.records()
    # files first: the table's reader may close the pipe
    if command.html is not None:
        write_text(command.html, result.to_html())
    if table is not None and table != OUTPUT:
        with replacing(table) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            write_records(rows, file)
    if command.json_file is not None:
        with replacing(command.json_file) as temporary, temporary.open("w", encoding="utf-8") as file:
            write_json(result.to_json(arrays=True), file)
    if command.json == "-":
        write_json(result.to_json(arrays=True), out)
    elif table == OUTPUT:
        write_records(rows, out)
    else:
        Console(file=out).print(result)
    if command.store is None:
        for names, most in KEPT.items():
            for old in sorted(cache.glob(names), key=lambda path: path.stat().st_mtime, reverse=True)[most:]:
                old.unlink(missing_ok=True)
    return 0


@contextmanager
def _terminated_as_interrupted(ends: list[int]) -> Iterator[None]:
    """Take SIGTERM for Ctrl-C, and note it; of other threads than the main one a signal is not theirs to handle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _: object) -> None:
        ends.append(number)
        signal.raise_signal(signal.SIGINT)

    handler = signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def write_records(records: Iterator[dict[str, Any]], file: TextIO) -> None:
    """Write rows as CSV, one by one; a name that a spreadsheet would run is a text to it after an apostrophe."""
    writer = csv.writer(file, lineterminator="\n")
    for number, record in enumerate(records):
        if not number:
            writer.writerow(record)
        writer.writerow(f"'{v}" if isinstance(v, str) and v[:1] in {*"=+-@"} else v for v in record.values())
    file.flush()


def write_json(values: Any, file: TextIO) -> None:
    """Write values as a line of JSON, part by part: the text of a million documents would take its room twice."""
    encoder = json.JSONEncoder(sort_keys=True, allow_nan=False, default=json_compatible)
    file.writelines(encoder.iterencode(values))
    print(file=file, flush=True)


def _require_documents(path: Path) -> None:
    """Refuse a model where documents are expected: arrays, which either may be, pass.

    Raises:
        InputError: for a model's file.
    """
    try:
        form = guess(path) if path.is_file() else ""
    except InputError:
        return
    if form in MODELS_ALONE:
        raise InputError(f"{path}: a model ({form}), where the held-out documents are expected; give them last")


def _read_models(command: AuditCommand | RankCommand) -> dict[str, Fitted]:
    """Return the models by their files' names, or by their paths where two files have one name.

    Raises:
        InputError: when a file cannot be read, or is given twice.
    """
    models: dict[str, Fitted] = {}
    for path in command.models:
        if list(command.models).count(path) > 1:
            raise InputError(f"{path}: given twice; give every model once")
        models[path.name if path.name not in models else str(path)] = read_model(
            path, form=command.model_format, vocabulary=command.vocabulary, trust_pickle=command.trust_pickle
        )
    return models


def require_writable(path: Path) -> None:
    """Refuse, before anything is computed, an output that cannot be written.

    Raises:
        InputError: names the path.
    """
    written = path if path.exists() and not path.is_file() else path.parent  # a device itself, or else the folder
    if path.is_dir() or not path.parent.is_dir() or not os.access(written, os.W_OK):
        raise InputError(f"{path}: nothing can be written there; name a file in a folder that exists")


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
