"""The command `heldout audit | rank | choose | import`, and how a command of this kind is run.

Bad input is one line on standard error and exit code 2, and nothing is written. Verbs import packages when they run:
a job's start costs more than many a job's work.
"""

import argparse
import difflib
import errno
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import heldout
from heldout.auditing.options import HOOKS, AuditCommand, ChooseCommand, Output, RankCommand, add_arguments
from heldout.errors import InputError, printable
from heldout.files import refuse_inputs
from heldout.limits import require_file
from heldout.processor import pin

# modules of the extras in pyproject.toml, beside the libraries of `peers`
PAPER = ("nltk", "pandas", "pooch", "pydantic", "rdata", "requests", "seaborn", "yaml")
EXTRAS = {"matplotlib": "html", **dict.fromkeys(PAPER, "paper")}
# remedies where the system refuses to write or read
WAYS_OUT = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EROFS: "write to another place",
    errno.EACCES: "change its permissions, or name another place",
}
if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction["Parser"]

STARTING = "starting; the first run after an installation compiles for some seconds"
EPILOG = """\
for your models and documents:
  heldout audit lda.skops test.npz --vocabulary words.txt --html audit.html
  heldout rank lda-*.skops test.npz --vocabulary words.txt
  heldout choose interviews.csv --topics 2,5,10,20 --html choice.html
  heldout import text folder/ --name mine --output mine.npz"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without characters that a terminal acts on."""

    def error(self, message: str) -> NoReturn:
        """Print the error in one line, with the help to look in, and exit with 2."""
        verb = re.match(r"argument VERB: invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
        if verb:
            close = difflib.get_close_matches(verb[1], re.findall(r"\w[\w-]*", verb[2]), 1)
            message = f"{verb[1]!r:.40} is no verb{f'; {close[0]}, perhaps' if close else ''}"
        self.exit(2, f"{self.prog}: {printable(message)}; {self.prog} --help lists what there is\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Print an error about arguments that the verb does not have."""
        close = difflib.get_close_matches(unknown[0], self._option_string_actions, 1)
        self.error(f"{' '.join(unknown)}: not expected{f'; {close[0]}, perhaps' if close else ''}")

    @property
    def version(self) -> str:
        """The line of `--version`, made late, as it is read from the installed package's metadata."""
        return f"heldout {heldout.__version__}"


def commands(prog: str, description: str, epilog: str) -> tuple[Parser, "Verbs"]:
    """Return a parser, and the place of its verbs, which `add_verb` adds."""
    main = Parser(
        prog=prog,
        usage=f"{prog} [-h] [--version] VERB ...",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    main.add_argument("--version", action="version")
    return main, main.add_subparsers(dest="verb", required=True, metavar="VERB", title="verbs", prog=prog)


def add_verb(verbs: "Verbs", name: str, run: Callable[..., Any], takes: Callable[..., Any], meaning: str = "") -> None:
    """Add a verb that calls `run` with the typed arguments of a function or class."""
    meaning = meaning or f"{takes.__doc__}".partition("\n")[0]
    verb = verbs.add_parser(name, help=meaning, description=meaning, allow_abbrev=False)
    add_arguments(verb, takes, leave_out=("typed", *HOOKS))
    verb.set_defaults(run=run, refuse=verb.refuse)


def import_corpus(
    format: str,
    sources: tuple[Path, ...],
    *,
    name: str,
    output: Output,
    stop_list: Path | None = None,
    stem: bool = False,
    minimum_count: int = 1,
) -> None:
    """Read one's own corpus into one file.

    Args:
        format: read this form: uci (docword.txt vocab.txt), ldac (data.dat vocab.txt) or text (a folder of .txt,
            without words of one or two letters).
        sources: read these files, or this folder.
        name: give the corpus this name.
        output: write the corpus to this file.
        stop_list: leave out the words of this file, of texts alone.
        stem: stem the words of texts, as in Cranfield and Medline.
        minimum_count: leave out words of texts with fewer tokens.
    """
    from heldout.corpora import text_folder
    from heldout.corpora.documents import import_counts

    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name.endswith(("-like", "-unstemmed")):
        raise InputError(
            f"import: the name {name!r}; use lower-case letters, digits and hyphens, without -like or -unstemmed"
        )
    if format not in ("uci", "ldac", "text"):
        raise InputError(f"import: there is no form {format}; there are uci, ldac, text")
    needed, names = (1, "a folder") if format == "text" else (2, "the counts, then the vocabulary")
    if len(sources) != needed:
        raise InputError(f"import {format}: give {names}")
    if format == "text":
        with warnings.catch_warnings():
            warnings.showwarning = lambda text, *_: print(f"heldout: {printable(text)}", file=sys.stderr)
            corpus = text_folder.read(sources[0], name, stop_list, "lancaster" if stem else "none", minimum_count)
    elif minimum_count != 1 or stop_list is not None or stem:
        raise InputError(f"import {format}: counts have their words already; leave out the options for text")
    else:
        corpus = import_counts(sources[0], sources[1], name, format)
    corpus.save(output)
    left_out = corpus.provenance["records_left_out"]
    named = f"{', '.join(left_out[:3])}{', ...' if len(left_out) > 3 else ''}"
    omitted = f"; {len(left_out)} without a word left out: {named}" if left_out else ""
    size = f"{corpus.n_documents} documents, {corpus.n_words} words, {corpus.n_tokens} tokens"
    print(printable(f"{name}: {size} ({corpus.provenance['rule']['words']}){omitted}"))


def _session(command: type[AuditCommand | RankCommand | ChooseCommand], typed: Sequence[str], **arguments: Any) -> int:
    print(STARTING, file=sys.stderr, flush=True)
    from heldout.auditing.session import run

    return run(command(**arguments, typed=typed), sys.stdout, sys.stderr)


def parser(typed: Sequence[str] = ()) -> Parser:
    """Return the parser of `heldout`; results name the command typed."""
    main, verbs = commands("heldout", "The likelihood of held-out documents under topic models of any library.", EPILOG)
    compared = "Audit a saved topic model of any library on documents: the library's number beside the likelihood."
    ranked = "Rank saved topic models by the likelihood of the same documents, with the pairs that they leave open."
    add_verb(verbs, "audit", partial(_session, AuditCommand, typed), AuditCommand, compared)
    add_verb(verbs, "rank", partial(_session, RankCommand, typed), RankCommand, ranked)
    chosen = "Choose the number of topics by the likelihood of held-out documents, with the numbers left open."
    add_verb(verbs, "choose", partial(_session, ChooseCommand, typed), ChooseCommand, chosen)
    add_verb(verbs, "import", import_corpus, import_corpus)
    return main


def _check_paths(arguments: dict[str, Any], written: Sequence[str]) -> None:
    """Refuse inputs that are no files, and outputs that would overwrite inputs or one another."""
    inputs: list[Path] = []
    outputs: list[Path] = []
    for name, value in arguments.items():
        for one in value if isinstance(value, list) else [value]:
            if name in written and one is not None and str(one) != "-":
                outputs.append(Path(one))
            elif isinstance(one, Path):
                inputs.append(one)
    for path in inputs:
        require_file(path)
    refuse_inputs(outputs, inputs)


def run(parser: Parser, typed: Sequence[str]) -> int:
    """Run the verb typed; return 0, the status of a verb that has another one, or 2 after one line about bad input."""
    pin()
    if not typed:
        parser.print_help(sys.stderr)
        return 2
    parsed, unknown = parser.parse_known_args(typed)
    arguments = vars(parsed)
    verb, call, written, refuse = (arguments.pop(name) for name in ("verb", "run", "written", "refuse"))
    if unknown:
        refuse(unknown)
    try:
        _check_paths(arguments, written)
        return call(**arguments) or 0
    except InputError as error:
        said = str(error)
    except MemoryError as error:
        text = f"not enough memory ({error})" if str(error) else "not enough memory"
        said = f"{verb}: {text}; take fewer samples, topics or documents"
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        said = f"{error.name} is not installed: pip install 'heldout[{EXTRAS[error.name]}]'"
    except KeyboardInterrupt:
        print(f"heldout: {verb}: interrupted; nothing is half written", file=sys.stderr)
        return 130  # 128 + SIGINT, as shells have it
    except BrokenPipeError:  # whoever read the output has stopped, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # 128 + SIGPIPE, as shells have it
    except OSError as error:
        way_out = WAYS_OUT.get(error.errno or 0, "check the path")
        said = f"{error.filename or verb}: {error.strerror or error}; {way_out}"
    print(f"heldout: {printable(said)}", file=sys.stderr)
    return 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `heldout`; return its exit code."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    return run(parser(typed), typed)


if __name__ == "__main__":
    sys.exit(main())
