"""The options: said once, the same from the command line and from Python, and quick to parse."""

import argparse
import inspect
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout
from heldout.auditing.options import (
    HOOKS,
    AuditCommand,
    AuditOptions,
    RankCommand,
    RankOptions,
    add_arguments,
    arguments,
    meanings,
)
from heldout.corpora import documents
from heldout.errors import InputError
from heldout.libraries import read

COMMANDS = [AuditCommand, RankCommand]


def parsed(*typed: str) -> AuditCommand:
    """Return the arguments of an audit of m on d."""
    parser = argparse.ArgumentParser()
    add_arguments(parser, AuditCommand, ("typed", *HOOKS))
    given = vars(parser.parse_args(["m", "d", *typed]))
    assert given.pop("written") == ["html", "json", "store", "csv"]
    return AuditCommand(**given)


def test_an_argument_that_is_not_typed_has_its_default() -> None:
    assert parsed() == AuditCommand(models=[Path("m")], documents=Path("d"))  # type: ignore[arg-type]
    names = {one.name for one in arguments(AuditOptions)} - {*HOOKS, "vocabulary"}
    assert parsed().options() == {name: getattr(AuditOptions(), name) for name in names}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_and_ends_with_its_default(command: Any) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser, command, ("typed", *HOOKS))
    assert {action.dest for action in parser._actions} == {one.name for one in arguments(command)} - {"typed", *HOOKS}
    assert meanings(command).keys() == {action.dest for action in parser._actions} | {"typed"}
    helps = {action.dest: f"{action.help}" for action in parser._actions}
    assert [name for name, text in helps.items() if "(default: " not in text] == ["models", "documents"]
    assert all(text.endswith(")") for name, text in helps.items() if name not in ("models", "documents"))


def test_the_help_names_the_forms_that_are_read() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, AuditCommand, ("typed", *HOOKS))
    said = set(re.split(r"[,:;]?\s+(?:or )?", parser.format_help()))
    assert {*read.FORMS, *documents.FORMS, "auto", "chib", "--seed", "N"} <= said


def test_a_typed_argument_counts() -> None:
    command = parsed("--estimator", "chib", "--samples", "5", "--seed", "3", "--no-library", "--json", "-")
    assert (command.estimator, command.samples, command.random_state, command.reported) == ("chib", 5, 3, False)
    assert command.options(store=Path("kept"))["store"] == Path("kept")
    assert command.json_file is None
    assert parsed("--json", "a.json").json_file == Path("a.json")
    with pytest.raises(InputError, match="samples"):
        parsed("--estimator", "chib", "--samples", "0")
    with pytest.raises(SystemExit, match="2"):
        parsed("e")  # a second model


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
    drawn: Any = np.random.RandomState(0)
    assert AuditOptions(random_state=drawn).random_state == np.random.RandomState(0).randint(2**31 - 1)
    assert AuditOptions(n_jobs=None).cores == 1
    assert AuditOptions(n_jobs=-1).cores == os.cpu_count()
    assert AuditOptions(store="kept").folder == Path("kept")
    for name in ("typo", "truth"):
        with pytest.raises(InputError, match=name):
            audit.line(name)


@pytest.mark.parametrize(
    "options",
    [
        {"random_state": "a"},
        {"random_state": None},
        {"n_jobs": "2"},
        {"n_jobs": 0},
        {"store": 3},
        {"estimator": 3},
        {"estimator": "harmonic"},
        {"samples": 2.5},
        {"smoothing": "x"},
        {"smoothing": 2},
        {"limit": float("nan")},
    ],
)
def test_a_bad_argument_is_one_line_that_names_it(options: dict[str, Any]) -> None:
    (name,) = options
    for call in (heldout.audit, lambda model, X, **given: heldout.rank([model, model], X, **given)):
        with pytest.raises(InputError, match=name):
            call(MODEL, COUNTS, **options)
    if name not in ("n_jobs", "store", "limit"):
        with pytest.raises(InputError, match=name):
            heldout.log_likelihood(MODEL, COUNTS, **options)


def test_one_estimator_scores_all_models_and_an_exact_one_draws_nothing() -> None:
    with pytest.raises(InputError, match="auto"):
        heldout.log_likelihood(MODEL, COUNTS, estimator="auto")
    with pytest.raises(InputError, match="exact-marginal"):
        heldout.log_likelihood(MODEL, COUNTS, estimator="exact-marginal", samples=20)


@pytest.mark.parametrize(("function", "options"), [(heldout.audit, AuditOptions), (heldout.rank, RankOptions)])
def test_the_options_stand_in_the_signatures(function: Any, options: Any) -> None:
    shown = inspect.signature(function).parameters
    assert list(shown)[2:] == list(inspect.signature(options).parameters)
    assert shown["store"].annotation == str | Path | None
    with pytest.raises(TypeError, match="sample"):
        function(MODEL, COUNTS, sample=100)
    assert pickle.loads(pickle.dumps(function)) is function


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
