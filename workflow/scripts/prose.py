"""Check that docstrings, help texts, comments and names read as plain English: prose.py FILE_OR_FOLDER...

Prints `file:line: reason` for every line that breaks a rule, and exits with status 1 if there is one:

* The first line of a docstring, an argparse help text and the meaning of a setting hold none of the words in `VAGUE`.
* The first line of a function's docstring begins with a verb; a property may be a noun phrase.
* The meaning of a setting and a comment behind a module's constant begin with a noun.
* No function, class, parameter or variable is named by a preposition, nor `of_..`; no function and no name of a module
  is one of the words in `NO_NOUNS`.

Names in backquotes are no words.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


VAGUE = ("what", "those", "that of", "of which", "such", "besides", "apart", "alike")
PREPOSITIONS = word_set(
    "of to by at on about above across after against along among around before behind below beneath beside besides"
    " between beyond despite during except inside into near onto outside over per since than through throughout"
    " toward under until upon via within without"
)
RELATIVES = word_set("what whatever which who whom whose where wherever when whenever that those how why")
CONJUNCTIONS = word_set("and or but if as so because though while unless in for from with")
ARTICLES = word_set("the a an one ones every each all both no none some any many most such other others")
VERBS = word_set("is are was were be has have had holds stands says does do")
NO_NOUNS = word_set("alike alone apart found given hold least less own some told")
NO_FIRST_WORDS_OF_FUNCTIONS = PREPOSITIONS | RELATIVES | CONJUNCTIONS | ARTICLES | VERBS | {"whether"}
NO_FIRST_WORDS_OF_NOUNS = PREPOSITIONS | RELATIVES | CONJUNCTIONS | VERBS | {"such", "none"}
PROPERTIES = ("property", "cached_property", "setter")
MEANINGS = ("setting", "Field", "doc")  # functions that say the meaning of a setting
HELPS = ("add_argument", "add_parser", "option")  # functions that take a help text
Finding = tuple[int, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def words(text: str) -> str:
    """Return a text without its names in backquotes, in lower case."""
    return re.sub(r"`[^`]*`", "`", text).lower()


def vague(text: str, place: str) -> Iterator[str]:
    """Yield a reason for every vague word of a text."""
    for word in VAGUE:
        if re.search(rf"\b{word}\b", words(text)):
            yield f'"{word}" in {place}'


def first_word(text: str) -> str:
    """Return the first word of a text; empty where it begins with a name, a number or a formula."""
    start = re.match(r"[a-z]+(?=[\s,.;:)]|$)", words(text))
    return start[0] if start else ""


def called(node: ast.AST) -> str:
    """Return the last part of a dotted name, or of the function that is called."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def constant_text(node: ast.AST | None) -> str:
    """Return a text, or the constant parts of an f-string; empty for other expressions."""
    if isinstance(node, ast.JoinedStr):
        return "".join(constant_text(part) or "`" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def docstrings(tree: ast.Module) -> Iterator[Finding]:
    """Yield the faults of the first lines of docstrings."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | Function) or not (text := ast.get_docstring(node)):
            continue
        first, line = text.splitlines()[0], node.body[0].lineno
        for reason in vague(first, "a docstring's first line"):
            yield line, reason
        noun = not isinstance(node, Function) or any(called(one) in PROPERTIES for one in node.decorator_list)
        if (word := first_word(first)) in (NO_FIRST_WORDS_OF_NOUNS if noun else NO_FIRST_WORDS_OF_FUNCTIONS):
            yield line, f'a docstring begins with "{word}" instead of a {"noun" if noun else "verb"}'


def meanings(tree: ast.Module) -> Iterator[Finding]:
    """Yield the faults of help texts and of the meanings of settings."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if called(node) in HELPS:
            text = constant_text(keywords.get("help") or (node.args[1] if len(node.args) > 1 else None))
            yield from ((node.lineno, reason) for reason in vague(text, "a help text"))
        elif called(node) in MEANINGS:
            text = constant_text(keywords.get("description") or (node.args[0] if node.args else None))
            yield from ((node.lineno, reason) for reason in vague(text, "a setting's meaning"))
            if (word := first_word(text)) in NO_FIRST_WORDS_OF_NOUNS:
                yield node.lineno, f'a setting\'s meaning begins with "{word}" instead of a noun'


def comments(tree: ast.Module, source: str) -> Iterator[Finding]:
    """Yield the comments behind a module's constants that begin with no noun."""
    ends = {node.end_lineno for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.start[0] in ends and token.line.strip() != token.string:
            word = first_word(token.string.lstrip("# "))
            if word in NO_FIRST_WORDS_OF_NOUNS:
                yield token.start[0], f'a comment behind a constant begins with "{word}" instead of a noun'


def names(tree: ast.Module) -> Iterator[Finding]:
    """Yield the names that are prepositions or no nouns.

    A method or field may be one, since its object's name stands before it: `LDA.of(settings, K)`.
    """
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    members = {id(node) for one in classes for node in one.body if isinstance(node, Function)}
    members |= {id(node.target) for one in classes for node in one.body if isinstance(node, ast.AnnAssign)}
    plain = [statement for statement in tree.body if not isinstance(statement, Function | ast.ClassDef)]
    top = {id(node) for statement in plain for node in ast.walk(statement)}
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            name, strict = node.name, True
        elif isinstance(node, ast.arg):
            name, strict = node.arg, False
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name, strict = node.id, id(node) in top
        else:
            continue
        bare = name.strip("_").lower()
        if id(node) not in members and (bare in PREPOSITIONS or bare.startswith("of_")):
            yield node.lineno, f"the name {name} is a preposition or begins with one"
        elif strict and bare in NO_NOUNS:
            yield node.lineno, f"the name {name} is no noun"


def faults(path: Path) -> list[Finding]:
    """Return the faults of a file by line."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    return sorted({*docstrings(tree), *meanings(tree), *comments(tree, source), *names(tree)})


def main(arguments: list[str]) -> int:
    """Print the faults of files and of the Python files below folders; return the exit status."""
    paths = [
        file for path in map(Path, arguments) for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
    lines = [f"{path}:{line}: {reason}" for path in paths for line, reason in faults(path)]
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
