"""Digests of code: an edit of code that a job runs makes the job stale, and an edit of prose does not."""

import ast
import hashlib
import io
import json
import subprocess
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from heldout.errors import InputError
from heldout.files import replacing

LISTS = ("/__init__.py", "/settings.py", "/spec.py")  # files that count by the names that others import from them
LOCK = "requirements.lock"  # the environment's


class _Statement(NamedTuple):
    binds: set[str]
    reads: set[str]
    imports: list[tuple[str, str]]  # modules, and a name taken from each; none for the module as a whole
    code: str  # its digest


def sources(checkout: Path) -> dict[str, bytes]:
    """Return the text of every module of a checkout, and of its lock, by file."""
    files = [*(checkout / "src").rglob("*.py"), *checkout.glob(LOCK)]
    return {path.relative_to(checkout).as_posix(): path.read_bytes() for path in files}


def sources_at(checkout: Path, commit: str) -> dict[str, bytes]:
    """Return `sources` as they were at a commit; raises InputError without git, a repository or the commit."""
    with zipfile.ZipFile(io.BytesIO(git(checkout, "archive", "--format=zip", commit, "--", "src", LOCK))) as files:
        return {name: files.read(name) for name in files.namelist() if name.endswith((".py", LOCK))}


def git(checkout: Path, *arguments: str) -> bytes:
    """Return the output of git in a folder; raises InputError where there is no git, or it refuses."""
    try:
        return subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise InputError("digest: there is no git here, and so no other commit to compare with") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").partition("\n")[0].removeprefix("fatal: ")
        raise InputError(f"digest: {reason}; changes are listed since a commit of a git checkout alone") from error


def contents(texts: Mapping[str, bytes], *modules: str) -> dict[str, str]:
    """Return digests of the code of modules and of every module here that they import, directly or not, by file.

    Docstrings, comments, layout and the meaning of a setting are no code. Of `LISTS` the imported names count, with
    the statements behind them: a new line in a list makes stale the readers of the list. A package's own `__init__`
    and the `__init__` of a folder on the way to a module are not followed: a manifest is no part of its experiments.
    A text f"package.{name}" imports every module of that folder; other computed names are not seen: give them among
    `modules`. The lock of the environment counts too.

    Args:
        texts: all modules, by file (`sources`).
        modules: dotted names.

    Raises:
        InputError: for a module that is not there.
    """
    for module in modules:
        if not _file(texts, module):
            raise InputError(f"digest: there is no module {module}")
    places: dict[str, set[int]] = {}  # of statements, by file
    todo, seen = [(module, "") for module in modules], set[tuple[str, str]]()
    while todo:
        module, name = todo.pop()
        if module.endswith("."):
            folder = f"src/{module.replace('.', '/')}"
            members = (file.removeprefix(folder) for file in texts if file.startswith(folder))
            todo += [(module + one.removesuffix(".py"), "") for one in members if "/" not in one and one[0] != "_"]
        file = _file(texts, module) if "." in module else ""
        name = name if file.endswith(LISTS) else ""
        if not file or (file, name) in seen:
            continue
        seen.add((file, name))
        needed = _needed(texts[file], name)
        places.setdefault(file, set()).update(needed)
        todo += [one for place in needed for one in _statements(texts[file])[place].imports]
    codes = {
        file: _digest("".join(_statements(texts[file])[place].code for place in sorted(places[file])).encode())
        for file in sorted(places)
    }
    return codes | {LOCK: _digest(texts[LOCK])}


def _file(texts: Mapping[str, bytes], module: str) -> str:
    """Return a module's file; an empty one for a module of another package and a name that is no module."""
    path = f"src/{module.replace('.', '/')}"
    return next((file for file in (f"{path}.py", f"{path}/__init__.py") if file in texts), "")


@cache
def _needed(text: bytes, name: str) -> set[int]:
    """Return the places of statements that a name needs, and of statements that bind none; all places for no name."""
    statements = dict(enumerate(_statements(text)))
    if not name:
        return {*statements}
    needed, wanted = set[int](), {name}
    while more := {place for place, one in statements.items() if not one.binds or one.binds & wanted} - needed:
        needed |= more
        wanted = wanted.union(*(statements[place].reads for place in more))
    return needed


@cache
def _statements(text: bytes) -> list[_Statement]:
    """Return a module's statements without docstrings and the meaning of settings."""
    tree, annotated = ast.parse(text), b"annotated_types" in text
    return [_statement(statement, annotated) for statement in tree.body[ast.get_docstring(tree) is not None :]]


def _statement(statement: ast.stmt, annotated: bool) -> _Statement:
    """Return a statement without docstrings and, where settings are annotated, their meanings and units."""
    binds, reads, imports = set[str](), set[str](), list[tuple[str, str]]()
    for node in ast.walk(statement):
        match node:
            case ast.Name(name, ast.Store()):
                binds.add(name)
            case ast.Name(name):
                reads.add(name)
            case ast.alias(name, other):
                binds.add((other or name).partition(".")[0])
            case ast.Import(names):
                imports += [(one.name, "") for one in names]
            case ast.ImportFrom(str(module), names, 0):
                imports += [part for one in names for part in ((module, one.name), (f"{module}.{one.name}", ""))]
            case ast.JoinedStr([ast.Constant(str(folder)), *_]) if folder.endswith("."):
                imports.append((folder, ""))
            case ast.Call(ast.Name("doc" | "Unit")) if annotated:
                node.args.clear()
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if ast.get_docstring(node) is not None:
                del node.body[0]
    own = getattr(statement, "name", None)  # of a class or function, whose other names are its own
    return _Statement({own} if own else binds, reads, imports, _digest(ast.dump(statement).encode()))


def digest(code: Mapping[str, str]) -> str:
    """Return the digest of `contents`: 16 hexadecimal digits."""
    return _digest(repr(sorted(code.items())).encode())


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


class Digests:
    """Digests of modules of a checkout, kept in a file for as long as nothing there changes."""

    def __init__(self, checkout: Path, store: Path) -> None:
        self.texts, self.store = sources(checkout), store
        self.state = digest({file: _digest(text) for file, text in self.texts.items()})
        try:
            kept = json.loads(store.read_bytes())
        except (OSError, ValueError):
            kept = {}
        self.known: dict[str, str] = kept["known"] if kept.get("state") == self.state else {}

    def of(self, *modules: str) -> str:
        """Return the digest of modules and of their imports; raises InputError for a module that is not there."""
        key = " ".join(modules)
        if key not in self.known:
            self.known[key] = digest(contents(self.texts, *modules))
            with suppress(OSError), replacing(self.store) as temporary:
                temporary.write_text(json.dumps({"state": self.state, "known": self.known}), encoding="utf-8")
        return self.known[key]
