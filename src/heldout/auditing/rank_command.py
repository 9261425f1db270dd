"""`heldout rank`: prints the plan, ranks with a progress bar, then writes table, page and JSON."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from rich.console import Console

from heldout.auditing.command import INTERRUPTED, bar, cache_folder, require_writable, write_text
from heldout.auditing.matching import model_digest
from heldout.auditing.options import RankCommand
from heldout.auditing.rank import RankPlan, rank
from heldout.auditing.ranking_terminal import RankingReport
from heldout.auditing.store import remove
from heldout.corpora.stream import open_documents
from heldout.errors import InputError
from heldout.libraries import Fitted
from heldout.libraries.read import read_model


def run_rank(command: RankCommand, out: TextIO, err: TextIO) -> int:
    """Rank saved models on a file or folder of documents.

    Without a store, values are kept in the user's cache until the ranking is complete.

    Args:
        command: the options typed.
        out: for the table, or the JSON if that goes to "-".
        err: for the plan, the progress and the notice of an interruption.

    Returns:
        The exit status: 0, or 130 after Ctrl-C.

    Raises:
        InputError: for bad input, before anything is written.
        ModuleNotFoundError: for a page without matplotlib, before the ranking starts.
    """
    for path in filter(None, (command.html, command.json_file)):
        require_writable(path)
    if command.html is not None:
        from heldout.auditing import page  # before the ranking: matplotlib may be missing
    folder, evaluated = command.store, 0

    def count(documents: int) -> None:
        nonlocal evaluated
        evaluated = documents

    def announce(plan: RankPlan) -> None:
        count(plan.kept)
        print(plan, file=err, flush=True)

    try:
        models: dict[str, Fitted] = {}
        for path in command.models:
            if list(command.models).count(path) > 1:
                raise InputError(f"{path}: given twice; give every model once")
            models[path.name if path.name not in models else str(path)] = read_model(
                path, form=command.model_format, vocabulary=command.vocabulary, trust_pickle=command.trust_pickle
            )
        stream = open_documents(
            command.documents,
            form=command.format,
            documents_vocabulary=command.documents_vocabulary,
            stem=command.stem,
        )
        if folder is None:
            settings = {name: getattr(command, name) for name in ("estimator", "samples", "limit", "smoothing", "seed")}
            folder = cache_folder("rankings", [[*map(model_digest, models.values())], stream.digest, settings])
        with bar(err, count) as progress:
            result = rank(
                models, stream, announce=announce, progress=progress, apart=True, **command.options(store=folder)
            )
    except KeyboardInterrupt:
        where = f" in {folder}: the same command goes on from there" if evaluated else ""
        print(f"heldout: interrupted; {evaluated:,} documents, of all models, are done and kept{where}", file=err)
        return INTERRUPTED
    result = replace(result, settings=result.settings | ({"command": command.line} if command.line else {}))
    # files first: the table's reader may close the pipe
    if command.html is not None:
        write_text(command.html, page.ranking_page(result))
    as_json = json.dumps(result.to_json(), sort_keys=True, allow_nan=False) if command.json is not None else ""
    if command.json_file is not None:
        write_text(command.json_file, as_json + "\n")
    if command.json == "-":
        print(as_json, file=out, flush=True)
    else:
        Console(file=out).print(RankingReport(result))
    if command.store is None:
        _remove(folder)
    return 0


def _remove(folder: Path) -> None:
    """Delete the stores of a complete ranking."""
    for part in sorted(folder.glob("model-*")):
        remove(part)
    if not any(folder.iterdir()):
        folder.rmdir()
