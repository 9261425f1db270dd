"""A digest of code: what a job runs, so that an edit makes it stale and an edit of prose does not."""

import ast
import gc
import hashlib
import io
import json
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from heldout.errors import InputError
from heldout.files import replacing

LISTS = ("__init__.py", "settings.py", "spec.py")  # files of which those names alone count that others take from them
PROSE = ("doc", "Unit")  # functions of `annotated_types` whose arguments are prose
Imports = list[tuple[str, tuple[str, ...]]]  # modules, and the names taken from each; none for the module as a whole
Code = tuple[tuple[str, str], ...]  # a file's statements: the names that each binds, and its digest
LOCK = "requirements.lock"  # the environment's, beside the folder that holds the package


def _statements(text: bytes) -> tuple[ast.stmt, ...]:
    """Return a module's statements without docstrings, comments, layout and the meaning of settings."""
    tree = ast.parse(text)
    for node in (tree, *_nested(tree.body)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                del node.body[0]
    if b"annotated_types" in text:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PROSE:
                node.args.clear()
    return tuple(tree.body)


def _nested(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside them."""
    todo: list[Any] = list(statements)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt):
            yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, ())
            todo += inner if isinstance(inner, list) else ()


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {statement.name}
    nodes = list(ast.walk(statement))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound | {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}


def _behind_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement reads."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _behind(names: set[str], statements: tuple[ast.stmt, ...]) -> list[ast.stmt]:
    """Return the statements that names stand for, directly or not, in their order, and those that bind no name."""
    behind = {statement for statement in statements if not _bound(statement)}
    wanted = set(names).union(*map(_behind_names, behind))
    while more := {s for s in statements if s not in behind and _bound(s) & wanted}:
        behind |= more
        wanted = wanted.union(*map(_behind_names, more))
    return [statement for statement in statements if statement in behind]


@cache
def _read(text: bytes, names: frozenset[str]) -> tuple[Code, Imports]:
    """Return the code of a module, or of what is behind some names of it, and what that imports."""
    statements = _behind(set(names), _statements(text)) if names else list(_statements(text))
    imports: Imports = []
    for node in _nested(statements):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports.append((node.module, tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Import):
            imports += [(alias.name, ()) for alias in node.names]
    if b"import_module(f" in text:
        nodes = (node for statement in statements for node in ast.walk(statement))
        imports += [(folder, ()) for node in nodes if isinstance(node, ast.Call) and (folder := _imported_folder(node))]
    return tuple((", ".join(sorted(_bound(s))), _digest(ast.dump(s).encode())) for s in statements), imports


def _imported_folder(call: ast.Call) -> str:
    """Return "package." of a call such as import_module(f"package.{name}"); nothing of other calls."""
    called = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    start = call.args[0].values[0] if call.args and isinstance(call.args[0], ast.JoinedStr) else None
    folder = str(start.value) if isinstance(start, ast.Constant) else ""
    return folder if called == "import_module" and folder.endswith(".") else ""


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


@contextmanager
def _without_collections() -> Iterator[None]:
    """Collect no garbage for as long as the context lasts: collections would take most of the time that trees take."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class Sources:
    """Modules below a folder, each of which is looked up and read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = cache(partial(module_file, folder))
        self.text = cache(Path.read_bytes)


@_without_collections()
def contents(source: Path | Sources, *modules: str) -> dict[str, Code]:
    """Return the code of modules and of every module of their package that they import, directly or not, by file.

    Only code counts: docstrings, comments, the meaning of a setting and layout may change. Of a folder's `__init__` and
    of `settings` the names count that are imported from it, with what they are made of: a new line in a list there
    makes stale what reads the list. The package's own `__init__` and those of folders on the way to a module are not
    followed, so that a manifest is no part of what it lists. `import_module(f"package.{name}")` imports every module of
    that folder; other computed names are not seen: give them among `modules`.

    What has been read of a folder may take its place; the lock of the environment, beside it, counts too.

    Raises:
        InputError: for a module that is not there.
    """
    sources = source if isinstance(source, Sources) else Sources(source)
    for module in modules:
        if sources.file(module) is None:
            raise InputError(f"digest: there is no module {module} below {sources.folder}")
    codes: dict[Path, Code] = {}
    names: dict[Path, set[str]] = {}  # taken from a folder's `__init__`
    whole: set[Path] = set()
    todo: Imports = [(module, ()) for module in modules]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while todo:
        module, taken = todo.pop()
        if (module, taken) in seen:
            continue
        seen.add((module, taken))
        if module.endswith("."):
            todo += [
                (f"{module}{path.stem}", ()) for path in sources.folder.joinpath(*module.split(".")).glob("[!_]*.py")
            ]
            continue
        todo += [(f"{module}.{name}", ()) for name in taken]  # where it is a module
        path = sources.file(module) if "." in module else None  # the package's own `__init__` is above all
        if path is None or path in whole:
            continue
        if taken and path.name in LISTS:
            if set(taken) <= names.setdefault(path, set()):
                continue
            names[path] |= set(taken)
        else:
            whole.add(path)
            names.pop(path, None)
        codes[path], imports = _read(sources.text(path), frozenset(names.get(path, ())))
        todo += imports
    code = {path.relative_to(sources.folder).as_posix(): codes[path] for path in sorted(codes)}
    lock = sources.folder.parent / LOCK
    return code | ({LOCK: (("", _digest(sources.text(lock))),)} if lock.is_file() else {})


def digest(code: Mapping[str, Code]) -> str:
    """Return the digest of what `contents` gives: 16 hexadecimal digits."""
    return _digest(repr(sorted(code.items())).encode())


class Digests:
    """Digests of modules below a folder, kept in a file for as long as nothing there changes."""

    def __init__(self, source: Path, store: Path) -> None:
        self.sources, self.store = Sources(source), store
        files = [*sorted(source.rglob("*.py")), source.parent / LOCK]
        texts = ((path.as_posix().encode(), self.sources.text(path)) for path in files if path.is_file())
        self.state = _digest(repr([(name, _digest(text)) for name, text in texts]).encode())
        try:
            kept = json.loads(store.read_bytes())
        except (OSError, ValueError):
            kept = {}
        self.known: dict[str, str] = kept["known"] if kept.get("state") == self.state else {}

    def of(self, *modules: str) -> str:
        """Return the digest of modules and of what they import; raises InputError for a module that is not there."""
        key = " ".join(modules)
        if key not in self.known:
            self.known[key] = digest(contents(self.sources, *modules))
            with suppress(OSError), replacing(self.store) as temporary:
                temporary.write_text(json.dumps({"state": self.state, "known": self.known}), encoding="utf-8")
        return self.known[key]


def moved(before: Mapping[str, Code], now: Mapping[str, Code]) -> list[str]:
    """Return a line for each file whose code differs: the names that were edited, or whether it is new or gone."""
    lines = []
    for file in sorted(before.keys() | now.keys()):
        edited = sorted({names for names, _ in {*before.get(file, ())} ^ {*now.get(file, ())} if names})
        if file not in before or file not in now:
            lines.append(f"{file}: {'new' if file in now else 'gone'}")
        elif before[file] != now[file]:
            lines.append(": ".join(filter(None, (file, ", ".join(edited)))))
    return lines


@contextmanager
def checked_out(source: Path, commit: str) -> Iterator[Path]:
    """Yield the folder that holds the package as it was at a commit, for as long as the context lasts.

    Raises:
        InputError: where there is no git, no repository, or no such commit.
    """
    top = Path(git(source, "rev-parse", "--show-toplevel").decode().strip())
    package = source.resolve().relative_to(top.resolve())
    archive = git(top, "archive", "--format=zip", commit, "--", package.as_posix(), LOCK)
    with TemporaryDirectory(prefix="heldout-") as folder, zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(folder)  # git's own archive of this repository
        yield Path(folder, package)


def git(folder: Path, *arguments: str) -> bytes:
    """Return what git prints in a folder; raises InputError where there is no git, or it refuses."""
    try:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise InputError("digest: there is no git here, and so no other commit to compare with") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        reason = said[0].removeprefix("fatal: ") if said else "git failed"
        raise InputError(f"digest: {reason}; what moved is told against a commit of a git checkout alone") from error


def module_file(source: Path, module: str) -> Path | None:
    """Return a module's file; None for one of another package and for a name that is no module."""
    path = source.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path if path.is_file() else None
