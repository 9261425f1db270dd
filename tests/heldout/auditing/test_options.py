"""The options: said once, the same from the command line and from Python, and quick to parse."""

import argparse
import inspect
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout
from heldout.auditing.options import (
    RENAMED,
    AuditCommand,
    AuditKeywords,
    AuditOptions,
    RankCommand,
    RankKeywords,
    RankOptions,
    add_audit,
    add_rank,
)
from heldout.corpora import documents
from heldout.errors import InputError
from heldout.libraries import read


def parsed(add: Any, *typed: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add(parser)
    return parser.parse_args(typed)


def test_what_is_not_typed_has_its_default() -> None:
    command = AuditCommand.of(parsed(add_audit, "lda.skops", "test.mm"))
    assert command == AuditCommand(models=[Path("lda.skops")], documents=Path("test.mm"))
    assert command.options() == vars(AuditOptions())


def test_every_option_can_be_typed() -> None:
    for add, kind, typed_by_hand in ((add_audit, AuditCommand, {"typed"}), (add_rank, RankCommand, {"typed"})):
        parser = argparse.ArgumentParser(add_help=False)
        add(parser)
        destinations = {action.dest for action in parser._actions}
        assert destinations | typed_by_hand == {field.name for field in fields(kind)}


def test_the_help_names_the_forms_that_are_read() -> None:
    parser = argparse.ArgumentParser()
    add_audit(parser)
    said = set(re.split(r"[,:;]?\s+(?:or )?", parser.format_help()))
    assert {*read.FORMS, *documents.FORMS, "auto", "chib"} <= said


def test_what_is_typed_counts() -> None:
    typed = ["--estimator", "chib", "--samples", "5", "--seed", "3", "--no-library", "--json", "-"]
    command = AuditCommand.of(parsed(add_audit, "m", "d", *typed))
    assert (command.estimator, command.samples, command.random_state, command.reported) == ("chib", 5, 3, False)
    assert command.options(store=Path("kept"))["store"] == Path("kept")
    assert command.json_file is None
    assert AuditCommand.of(parsed(add_audit, "m", "d", "--json", "a.json")).json_file == Path("a.json")
    with pytest.raises(InputError, match="0 samples; draw 1 or more"):
        AuditCommand.of(parsed(add_audit, "m", "d", "--estimator", "chib", "--samples", "0"))


def test_the_help_imports_no_numerical_package() -> None:
    heavy = ("numpy", "scipy", "numba", "rich", "pandas", "matplotlib")
    code = f"import sys, heldout.cli; heldout.cli.parser(); print([m for m in {heavy} if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


MODEL, COUNTS = ([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], 0.5), np.array([[1, 2, 0], [0, 1, 1]])


def test_numbers_and_paths_of_any_kind_are_taken(tmp_path: Path) -> None:
    options: dict[str, Any] = {"random_state": np.int64(3), "limit": np.float32(8), "store": str(tmp_path)}
    given = AuditOptions(**options)
    assert given == AuditOptions(random_state=3, limit=8.0, store=tmp_path)
    assert (type(given.random_state), type(given.limit)) == (int, float)
    audit = heldout.audit(MODEL, COUNTS, random_state=np.int64(3), store=str(tmp_path / "kept"), probability=False)
    assert audit.to_json()["settings"]["seed"] == 3
    of_three = heldout.log_likelihood(MODEL, COUNTS, random_state=3)
    assert of_three == heldout.log_likelihood(MODEL, COUNTS, random_state=np.int64(3))
    with pytest.warns(DeprecationWarning, match="seed: is called random_state"):
        assert of_three == heldout.log_likelihood(MODEL, COUNTS, seed=3)
    with pytest.warns(DeprecationWarning, match="cores: is called n_jobs"):
        heldout.audit(MODEL, COUNTS, cores=1, probability=False)
    drawn: Any = np.random.RandomState(0)
    assert AuditOptions(random_state=drawn).random_state == np.random.RandomState(0).randint(2**31 - 1)
    assert AuditOptions(n_jobs=None).n_jobs == 1  # type: ignore[arg-type]
    assert AuditOptions(n_jobs=-1).n_jobs == os.cpu_count()
    with pytest.raises(InputError, match="there is no line 'typo'; there are likelihood, mean-field-bound"):
        audit.line("typo")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"random_state": "a"}, "random_state: 'a' is a str; give a whole number"),
        ({"random_state": None}, "random_state: None is a NoneType"),
        ({"n_jobs": "2"}, "n_jobs: '2' is a str; give a whole number"),
        ({"n_jobs": 0}, "0 processes (n_jobs, --cores)"),
        ({"store": 3}, "store: 3 is a int; give a folder or a file"),
        ({"estimator": 3}, "estimator: 3 is a int; give a name"),
        ({"smoothing": "x"}, "smoothing: 'x' is a str; give a number"),
        ({"sample": 100}, "there is no option sample; perhaps samples"),
        ({"quux": 100}, "there is no option quux; there are estimator, samples"),
    ],
)
def test_a_bad_argument_is_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        heldout.audit(MODEL, COUNTS, **options)
    with pytest.raises(InputError, match=re.escape(message)):
        heldout.rank([MODEL, MODEL], COUNTS, **options)
    if "random_state" in options:
        with pytest.raises(InputError, match=re.escape(message)):
            heldout.log_likelihood(MODEL, COUNTS, **options)


def test_the_options_are_in_the_signatures_and_their_types_are_those_of_the_fields() -> None:
    for function, options, keywords in (
        (heldout.audit, AuditOptions, AuditKeywords),
        (heldout.rank, RankOptions, RankKeywords),
    ):
        names = {field.name for field in fields(options)}
        assert names < set(inspect.signature(function).parameters)
        assert names | set(RENAMED) == keywords.__annotations__.keys()


def test_topics_in_columns_are_called_transposed() -> None:
    phi = np.array(MODEL[0]).T
    with pytest.raises(InputError, match=r"the columns of phi, of shape \(3, 2\), sum to 1 and the rows do not"):
        heldout.audit((phi, 0.5), COUNTS)


def test_a_ranking_runs_in_a_plain_script(tmp_path: Path) -> None:
    """Without `if __name__ == "__main__":`, whatever it takes: no process is started unless cores are asked for."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, heldout\nimport heldout.auditing.rank.rank as rank\nrank.SHORT = 0.0\n"
        "models = [(np.random.default_rng(k).dirichlet(np.ones(9), k), 0.5) for k in (2, 3)]\n"
        "print(len(heldout.rank(models, np.ones((4, 9), int), coherence=False).models))\n"
    )
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("2\n", 0), ended.stderr
