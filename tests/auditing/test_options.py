"""The options: said once, the same from the command line and from Python, and quick to parse."""

import argparse
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from heldout.auditing.options import AuditCommand, AuditOptions, RankCommand, add_audit, add_rank
from heldout.corpora import stream
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
    assert {*read.FORMS, *stream.FORMS, "auto", "chib"} <= said


def test_what_is_typed_counts() -> None:
    typed = ["--estimator", "chib", "--samples", "5", "--seed", "3", "--no-library", "--so-far", "--json", "-"]
    command = AuditCommand.of(parsed(add_audit, "m", "d", *typed))
    assert (command.estimator, command.samples, command.seed, command.reported) == ("chib", 5, 3, False)
    assert command.options(store=Path("kept"))["so_far"] is True
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
