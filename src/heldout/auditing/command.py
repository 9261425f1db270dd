"""`heldout audit`: prints the plan, audits with a progress bar, then writes table, page and JSON."""

import hashlib
import importlib.metadata
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from heldout.auditing.audit import audit
from heldout.auditing.matching import model_digest
from heldout.auditing.options import AuditCommand
from heldout.auditing.plan import Plan
from heldout.auditing.store import remove
from heldout.auditing.terminal import render
from heldout.corpora.stream import DocumentStream, open_documents
from heldout.errors import InputError
from heldout.files import replacing
from heldout.libraries import Fitted
from heldout.libraries.read import read_model

INTERRUPTED = 130  # 128 + SIGINT, the shells' convention


def run_audit(command: AuditCommand, out: TextIO, err: TextIO) -> int:
    """Audit a saved model on a file or folder of documents.

    Without a store, values are kept in the user's cache until the audit is complete.

    Args:
        command: the options typed.
        out: for the table, or the JSON if that goes to "-".
        err: for the plan, the progress and the notice of an interruption.

    Returns:
        The exit status: 0, or 130 after Ctrl-C.

    Raises:
        InputError: for bad input, before anything is written.
        ModuleNotFoundError: for a page without matplotlib, before the audit starts.
    """
    for path in (command.html, command.json_file):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise InputError(f"{path}: nothing can be written there; name a file in a folder that exists")
    if command.html is not None:
        from heldout.auditing import page  # before the audit: matplotlib may be missing
    folder, evaluated = command.store, 0

    def count(documents: int) -> None:
        nonlocal evaluated
        evaluated = documents

    def announce(plan: Plan) -> None:
        count(plan.kept)
        print(plan, file=err, flush=True)

    try:
        fitted = read_model(
            command.model,
            form=command.model_format,
            vocabulary=command.vocabulary,
            trust_pickle=command.trust_pickle,
        )
        stream = open_documents(
            command.documents,
            form=command.format,
            documents_vocabulary=command.documents_vocabulary,
            stem=command.stem,
        )
        folder = folder or cached(fitted, stream, command)
        with bar(err, count) as progress:
            result = audit(
                fitted,
                stream,
                announce=announce,
                progress=progress,
                apart=True,
                **command.options(store=folder),
            )
    except KeyboardInterrupt:
        where = f" in {folder}: the same command goes on from there, and with --so-far it reports on them"
        print(f"heldout: interrupted; {evaluated:,} documents are done and kept{where if evaluated else ''}", file=err)
        return INTERRUPTED
    settings = result.settings | ({"command": command.line} if command.line else {})
    result = replace(result, model=command.model.name, settings=settings)
    # files first: the table's reader may close the pipe
    if command.html is not None:
        _write(command.html, page.page(result))
    as_json = json.dumps(result.to_json(), sort_keys=True, allow_nan=False) if command.json is not None else ""
    if command.json_file is not None:
        _write(command.json_file, as_json + "\n")
    if command.json == "-":
        print(as_json, file=out, flush=True)
    else:
        Console(file=out).print(render(result))
    if command.store is None and result.complete:
        remove(folder)
    return 0


def cached(fitted: Fitted, stream: DocumentStream, command: AuditCommand) -> Path:
    """Return the audit's folder in the user's cache ($XDG_CACHE_HOME, or ~/.cache), named by a digest of its inputs."""
    settings = {name: getattr(command, name) for name in ("estimator", "samples", "standard_error", "limit", "seed")}
    key = [model_digest(fitted), stream.digest, settings, importlib.metadata.version("heldout")]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "heldout" / "audits" / digest[:24]


@contextmanager
def bar(err: TextIO, count: Callable[[int], None]) -> Iterator[Callable[[int, float], None]]:
    """Yield the audit's `progress` function; on a terminal it moves a bar with the estimated time."""
    columns = (
        TextColumn("{task.fields[documents]:,} documents"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(file=err), transient=True, disable=not err.isatty()) as shown:
        task = shown.add_task("audit", total=1.0, documents=0, visible=False)

        def progress(documents: int, share: float) -> None:
            count(documents)
            shown.update(task, completed=share, documents=documents, visible=True)

        yield progress


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
