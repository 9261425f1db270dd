"""A digest of code: what a job runs, so that an edit makes it stale and an edit of prose does not."""

import ast
import hashlib
from functools import cache
from pathlib import Path

from heldout.errors import InputError

LISTS = ("__init__.py", "settings.py")  # files of which those names alone count that others take from them
SETTING = "setting"  # the function of `heldout.settings` whose arguments by position are prose
Imports = list[tuple[str, tuple[str, ...]]]  # modules, and the names taken from each; none for the module as a whole


@cache
def _statements(text: bytes) -> tuple[ast.stmt, ...]:
    """Return a module's statements without docstrings, comments and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == SETTING:
            node.args.clear()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                del node.body[0]
    return tuple(tree.body)


@cache
def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement of a module binds, and those that it reads."""
    nodes = list(ast.walk(statement))
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {statement.name}, read
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound | {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}, read


def _behind(names: set[str], statements: tuple[ast.stmt, ...]) -> list[ast.stmt]:
    """Return the statements that names stand for, directly or not, in their order, and those that bind no name."""
    behind = {statement for statement in statements if not _names(statement)[0]}
    wanted = set(names).union(*(_names(statement)[1] for statement in behind))
    while more := {s for s in statements if s not in behind and _names(s)[0] & wanted}:
        behind |= more
        wanted = wanted.union(*(_names(statement)[1] for statement in more))
    return [statement for statement in statements if statement in behind]


@cache
def _read(text: bytes, names: frozenset[str]) -> tuple[bytes, Imports]:
    """Return the code of a module, or of what is behind some names of it, and what that imports."""
    statements = _behind(set(names), _statements(text)) if names else list(_statements(text))
    imports: Imports = []
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imports.append((node.module, tuple(alias.name for alias in node.names)))
            elif isinstance(node, ast.Import):
                imports += [(alias.name, ()) for alias in node.names]
    return "".join(map(ast.dump, statements)).encode(), imports


def digest(source: Path, *modules: str, also: tuple[Path, ...] = ()) -> str:
    """Return a digest of modules, of every module of their package that they import, directly or not, and of files.

    Only code counts: docstrings, comments, the meaning of a setting and layout may change. Of a folder's `__init__` and
    of `settings` only the names count that are imported from it, and what they are made of: a new line in a list there
    is news to those who read the list. The package's own `__init__` and those of folders on the way to a module are not
    followed, so that a manifest is no part of what it lists. What is imported by a computed name is not seen: name it
    among `modules`; for the estimators this is done here.

    Args:
        source: the folder that holds the package.
        modules: dotted names.
        also: further files, such as the lock of the environment.

    Raises:
        InputError: for a module that is not there.
    """
    for module in modules:
        if _path(source, module) is None:
            raise InputError(f"digest: there is no module {module} below {source}")
    codes: dict[Path, bytes] = {path: path.read_bytes() for path in also}
    names: dict[Path, set[str]] = {}  # taken from a folder's `__init__`
    whole: set[Path] = set()
    todo: Imports = [(module, ()) for module in modules]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while todo:
        module, taken = todo.pop()
        if (module, taken) in seen:
            continue
        seen.add((module, taken))
        todo += [(f"{module}.{name}", ()) for name in taken]  # where it is a module
        path = _path(source, module)
        if path is None or path in whole:
            continue
        if taken and path.name in LISTS:
            if set(taken) <= names.setdefault(path, set()):
                continue
            names[path] |= set(taken)
        else:
            whole.add(path)
            names.pop(path, None)
        codes[path], imports = _read(path.read_bytes(), frozenset(names.get(path, ())))
        todo += imports
        if path.parts[-2:] == ("evaluators", "estimate.py"):
            package = path.relative_to(source).parent.as_posix().replace("/", ".")
            todo += [(f"{package}.{other.stem}", ()) for other in path.parent.glob("*.py") if other.stem != "__init__"]
    lines = (f"{path.name} {hashlib.sha256(codes[path]).hexdigest()}\n" for path in sorted(codes))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def _path(source: Path, module: str) -> Path | None:
    """Return a module's file; None for one of another package and for a name that is no module."""
    path = source.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path if path.is_file() else None
