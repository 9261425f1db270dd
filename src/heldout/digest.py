"""A digest of code: what a job runs, so that an edit makes it stale and an edit of prose does not."""

import ast
import hashlib
from functools import cache
from pathlib import Path

from heldout.errors import InputError


@cache
def _read(text: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a module's code without docstrings, comments and layout, and what it imports."""
    tree = ast.parse(text)
    imports: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                del node.body[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports += [f"{node.module}.{alias.name}" for alias in node.names]
            if "." in node.module:  # the package's own `__init__` is none of its modules'
                imports.append(node.module)
        elif isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
    return ast.dump(tree).encode(), tuple(imports)


def digest(source: Path, *modules: str, also: tuple[Path, ...] = ()) -> str:
    """Return a digest of modules, of every module of their package that they import, directly or not, and of files.

    Only code counts: docstrings, comments and layout may change. The package's own `__init__` and those of folders on
    the way to a module are not followed, so that a manifest is no part of what it lists. What is imported by a computed
    name is not seen: name it among `modules`; for the estimators this is done here.

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
    todo = list(modules)
    while todo:
        path = _path(source, todo.pop())
        if path is None or path in codes:
            continue
        codes[path], imports = _read(path.read_bytes())
        todo += imports
        if path.parts[-2:] == ("evaluators", "estimate.py"):
            package = path.relative_to(source).parent.as_posix().replace("/", ".")
            todo += [f"{package}.{other.stem}" for other in path.parent.glob("*.py")]
    lines = (f"{path.name} {hashlib.sha256(codes[path]).hexdigest()}\n" for path in sorted(codes))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def _path(source: Path, module: str) -> Path | None:
    """Return a module's file; None for one of another package and for a name that is no module."""
    path = source.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path if path.is_file() else None
