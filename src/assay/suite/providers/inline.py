"""Python code written inside a config, as a module with one function."""

from __future__ import annotations

import ast
import atexit
import hashlib
import shutil
import tempfile
import textwrap
from functools import cache
from pathlib import Path

from assay.errors import ConfigError

FUNCTION = "get_assert"
"""The function that a module of inline code has."""


def module_of(code: str) -> str:
    """The text of a module whose ``get_assert(output, context)`` is the code.

    One expression is what the function returns; several statements are its body, and return
    something themselves; code that defines ``get_assert`` is the module. Raises ConfigError for
    code that is none of these; nothing of it runs.

    >>> print(module_of("len(output) > 3"))
    def get_assert(output, context):
        return len(output) > 3
    """
    code = textwrap.dedent(code).strip()
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        raise ConfigError(f"the Python code cannot be read{where}: {error}") from None
    if any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == FUNCTION
        for node in body
    ):
        return code
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        body = [ast.Return(body[0].value)]
    if not any(isinstance(node, ast.Return) for part in body for node in ast.walk(part)):
        raise ConfigError("the Python code returns nothing: end it with return and a result")
    return _wrapped(body)


def inline(code: str) -> tuple[Path, str]:
    """A file that holds the code as `module_of` writes it, and the function in it.

    The same code has the same file, until Python ends. Raises ConfigError.
    """
    text = module_of(code)
    path = _folder() / f"inline_{hashlib.sha256(text.encode()).hexdigest()[:16]}.py"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return path, FUNCTION


@cache
def _folder() -> Path:
    """A folder of this process, which nobody else can write to."""
    folder = Path(tempfile.mkdtemp(prefix="assay-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _wrapped(body: list[ast.stmt]) -> str:
    # A tree and not indented text: indenting would change the texts of several lines within.
    awaits = any(isinstance(node, ast.Await) for part in body for node in ast.walk(part))
    kind = ast.AsyncFunctionDef if awaits else ast.FunctionDef
    names = [ast.arg("output"), ast.arg("context")]
    arguments = ast.arguments([], names, None, [], [], None, [])
    function = kind(FUNCTION, arguments, body, [])
    return ast.unparse(ast.fix_missing_locations(ast.Module([function], [])))
