"""What `heldout audit` does: the plan first, then the audit with a progress bar, then the table, the page and the JSON."""

import hashlib
import importlib.metadata
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from heldout.errors import InputError
from heldout.files import replacing

LONG = 60.0  # seconds of a document, from which on the plan says so
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def run_audit(
    model: Path,
    documents: Path,
    *,
    out: TextIO,
    err: TextIO,
    model_form: str | None = None,
    form: str | None = None,
    vocabulary: Path | None = None,
    documents_vocabulary: Path | None = None,
    trust_pickle: bool = False,
    stem: bool = False,
    estimator: str = "auto",
    samples: int | None = None,
    standard_error: float | None = None,
    limit: float | None = None,
    seed: int = 0,
    cores: int = 1,
    store: Path | None = None,
    so_far: bool = False,
    other_corpus: bool = False,
    reported: bool = True,
    calibration: Path | None = None,
    timings: Path | None = None,
    html: Path | None = None,
    as_json: str | None = None,
    command: str = "",
) -> int:
    """Audit a saved model on a file or folder of documents.

    Args:
        model: the model's file, in the form `model_form` (`heldout.libraries.read.FORMS`), guessed where it is None.
        documents: the documents, in the form `form` (`heldout.corpora.stream.FORMS`), guessed likewise.
        out: takes the table, or the JSON where `as_json` is "-".
        err: takes the plan, the progress and what to do after an interruption.
        model_form: see `model`.
        form: see `documents`.
        vocabulary: the model's words, one per line, for a model that names none.
        documents_vocabulary: the documents' words, one per line, for documents that name none.
        trust_pickle: whether the model may be unpickled.
        stem: whether words of texts are stemmed.
        estimator: as the settings that follow, see `heldout.auditing.audit.audit`.
        samples: likewise.
        standard_error: likewise.
        limit: likewise; None for `LIMIT` there.
        seed: likewise.
        cores: likewise.
        store: a folder for what is done, kept afterwards; None for one in the user's cache, deleted once all is done.
        other_corpus: likewise.
        so_far: nothing is run; what an interrupted audit has kept is reported.
        reported: whether the library's own number is asked for.
        calibration: measurements to recommend an estimator from; None for the reference results.
        timings: its timings; None likewise.
        html: where the page goes.
        as_json: where the JSON goes; "-" for `out`.
        command: the command as it was typed, for the page.

    Returns:
        The exit status: 0, or 130 after Ctrl-C.

    Raises:
        InputError: on bad input, before anything is written.
    """
    from rich.console import Console

    from heldout.auditing import recommend
    from heldout.auditing.audit import LIMIT, audit, to_json
    from heldout.auditing.store import remove
    from heldout.auditing.terminal import render
    from heldout.corpora.stream import open_documents
    from heldout.libraries.read import read_model

    for path in (html, None if as_json in (None, "-") else Path(as_json or "")):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise InputError(f"{path}: nothing can be written there; name a file in a folder that exists")
    table = None
    if calibration is not None or timings is not None:
        table = recommend.read_table(calibration or recommend.CALIBRATION, timings or recommend.TIMINGS)
    settings: dict[str, Any] = {
        "estimator": estimator,
        "samples": samples,
        "standard_error": standard_error,
        "limit": LIMIT if limit is None else limit,
        "seed": seed,
    }
    folder, kept = store, 0

    def count(documents: int) -> None:
        nonlocal kept
        kept = documents

    try:
        fitted = read_model(model, form=model_form, vocabulary=vocabulary, trust_pickle=trust_pickle)
        stream = open_documents(documents, form=form, documents_vocabulary=documents_vocabulary, stem=stem)
        asked = settings | {"calibration": str(calibration), "timings": str(timings)}
        folder = store or cached(fitted, stream, asked)
        with bar(err, count) as progress:
            found = audit(
                fitted,
                stream,
                **settings,
                cores=cores,
                store=folder,
                announce=lambda plan: _announce(plan, err, count),
                progress=progress,
                reported=reported,
                so_far=so_far,
                other_corpus=other_corpus,
                apart=True,
                table=table,
            )
    except KeyboardInterrupt:
        where = f" in {folder}: the same command goes on from there, and with --so-far it reports on them"
        print(f"heldout: interrupted; {kept:,} documents are done and kept{where if kept else ''}", file=err)
        return INTERRUPTED
    found = replace(found, model=model.name)
    if command:
        found = replace(found, settings={**found.settings, "command": command})
    # files first: who reads the table may stop reading
    if html is not None:
        from heldout.auditing.page import page

        _write(html, page(found))
    if as_json not in (None, "-"):
        _write(Path(as_json or ""), _json(to_json(found)) + "\n")
    if as_json == "-":
        print(_json(to_json(found)), file=out, flush=True)
    else:
        Console(file=out).print(render(found))
    if store is None and found.complete:
        remove(folder)
    return 0


def cached(fitted: Any, stream: Any, settings: dict[str, Any]) -> Path:
    """Return the folder in the user's cache ($XDG_CACHE_HOME, or ~/.cache) for this audit of these contents."""
    from heldout.auditing.audit import model_digest

    key = [model_digest(fitted), stream.digest, settings, importlib.metadata.version("heldout")]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "heldout" / "audits" / digest[:24]


def plan_text(plan: Any) -> str:
    """Return a plan in a few lines: what there is, what is done, and what it costs."""
    from heldout.auditing.recommend import duration

    names = {"mean-field-bound": "bound", "full-folding-in": "full", "half-folding-in": "half", "truth": "truth"}
    share = 100.0 * plan.left_out / max(plan.tokens + plan.left_out, 1)
    seconds = sum(plan.seconds.values())
    parts = ", ".join(f"{names[name]} {duration(spent)}" for name, spent in plan.seconds.items())
    lines = [
        f"{plan.topics:,} topics; {plan.documents:,} documents of {plan.tokens:,} tokens; {plan.left_out:,} tokens"
        f" ({share:.1f} %) outside the vocabulary; {plan.empty:,} empty documents",
        f"truth: {plan.estimator}{f', {plan.samples:,} samples' if plan.samples else ''}. {plan.reason}",
        f"cost: about {duration(seconds / plan.cores)} on {plan.cores} core{'s' if plan.cores > 1 else ''} ({parts}),"
        " beside the library's own number",
    ]
    if plan.longest_seconds > LONG:
        lines.append(
            f"the longest document alone, of {plan.longest:,} tokens, takes about {duration(plan.longest_seconds)}:"
            " fewer samples, another estimator (chib, linear-time) or shorter documents cost less"
        )
    if plan.kept:
        lines.append(f"{plan.kept:,} documents are kept from an earlier run")
    return "\n".join(lines)


def _announce(plan: Any, err: TextIO, count: Callable[[int], None]) -> None:
    count(plan.kept)
    print(plan_text(plan), file=err, flush=True)


@contextmanager
def bar(err: TextIO, count: Callable[[int], None]) -> Iterator[Callable[[int, float], None]]:
    """Yield the function that an audit tells its progress; on a terminal it moves a bar with an estimate."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(file=err)
    columns = (
        TextColumn("{task.fields[documents]:,} documents"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True, disable=not err.isatty()) as shown:
        task = shown.add_task("audit", total=1.0, documents=0, visible=False)

        def progress(documents: int, share: float) -> None:
            count(documents)
            shown.update(task, completed=share, documents=documents, visible=True)

        yield progress


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
