"""A Python script with its import roots replaced; it is parsed, and never run."""

from __future__ import annotations

import ast
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.errors import DataError
from assay.migrate.doors import DOORS, advice, door_of, has, is_module, root_of
from assay.migrate.outcome import Migration


def migrate_script(source: str, name: str) -> Migration:
    """The script with imports, and dotted uses of imported roots, turned to assay's doors.

    Comments, strings and layout stay. A name that a door lacks is listed with its line. Raises
    DataError for what is no Python, or imports none of the systems.

    >>> migrate_script("from ragas.metrics import Faithfulness\\n", "x.py").text
    'from assay.ragas.metrics import Faithfulness\\n'
    """
    tree = _parsed(source, name)
    script = _Script(name, io.StringIO(source, newline="").readlines())
    plain = _plain_roots(tree)
    for root in sorted(plain & _rebound(tree)):
        plain.discard(root)
        script.clashes.add(root)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            _from(node, script)
        elif isinstance(node, ast.Import):
            _import(node, script)
    if not script.roots:
        raise DataError(f"{name}: it imports none of {', '.join(DOORS)}")
    _uses(tree, plain, script)
    kind = f"a Python script that uses {', '.join(sorted(script.roots))}"
    notes = []
    if "ragas" in script.roots:
        notes.append("without llm= a metric takes $ASSAY_JUDGE or the embedded judge")
    converted = [text for _, text in sorted(script.converted)]
    left = [text for _, text in sorted(set(script.left))]
    return Migration(kind, script.rewritten(), converted, left, notes)


@dataclass
class _Script:
    """The lines of a script, the edits to make, and what to say of them."""

    name: str
    lines: Sequence[str]
    edits: dict[tuple[int, int], tuple[bytes, bytes]] = field(default_factory=dict)
    converted: list[tuple[int, str]] = field(default_factory=list)
    left: list[tuple[int, str]] = field(default_factory=list)
    roots: set[str] = field(default_factory=set)
    modules: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Local name -> root and module here, for the names that stand for modules."""
    clashes: set[str] = field(default_factory=set)

    def edit(self, line: int, column: int, old: str, new: str) -> bool:
        """Note a replacement at a byte of a line; False if the old text does not stand there."""
        raw = self.lines[line - 1].encode()
        if not raw.startswith(old.encode(), column):
            self.refuse(line, f"write {new} for {old} by hand: its layout is unusual")
            return False
        self.edits[line, column] = (old.encode(), new.encode())
        return True

    def done(self, line: int, old: str, new: str) -> None:
        """Report a conversion."""
        self.converted.append((line, f"{self.name}:{line}: {old} -> {new}"))

    def refuse(self, line: int, what: str) -> None:
        """Report what could not be converted."""
        self.left.append((line, f"{self.name}:{line}: {what}"))

    def rewritten(self) -> str:
        """The script after all edits."""
        out = [line.encode() for line in self.lines]
        for (line, column), (old, new) in sorted(self.edits.items(), reverse=True):
            raw = out[line - 1]
            out[line - 1] = raw[:column] + new + raw[column + len(old) :]
        return b"".join(out).decode()


def _parsed(source: str, name: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the script's own strings
            return ast.parse(source)
    except SyntaxError as error:
        raise DataError(f"{name}:{error.lineno or 1}: not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise DataError(f"{name}: cannot be read as Python") from None


def _plain_roots(tree: ast.AST) -> set[str]:
    """First parts of the roots that ``import root.module`` without ``as`` binds."""
    return {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if not alias.asname and root_of(alias.name)
    }


def _rebound(tree: ast.AST) -> set[str]:
    """Names that the script gives another meaning."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
    if "assay" in bound:  # the new name would clash
        bound |= {root.partition(".")[0] for root in DOORS}
    return bound


def _from(node: ast.ImportFrom, script: _Script) -> None:
    module = node.module or ""
    if module == "valor_lite":
        _from_valor(node, script)
        return
    root = root_of(module)
    if root is None:
        if module.startswith("valor_lite."):
            script.refuse(node.lineno, f"{module}: only valor_lite.text_generation is here")
        return
    script.roots.add(root)
    near, exact = door_of(module)
    lacking = [alias for alias in node.names if alias.name != "*" and not has(near, alias.name)]
    if not exact and (lacking or node.names[0].name == "*"):
        script.refuse(node.lineno, f"{module} is not here: {advice(root, node.names[0].name)}")
        return
    for alias in lacking:
        script.refuse(alias.lineno, f"{near} has no {alias.name}: {advice(root, alias.name)}")
    if node.names[0].name == "*":
        script.refuse(node.lineno, f"import * of {module}: name what it brings; not checked")
    for alias in node.names:
        if is_module(f"{near}.{alias.name}"):
            script.modules[alias.asname or alias.name] = (root, f"{near}.{alias.name}")
    if _edit_module(node, script, module, near):
        script.done(node.lineno, module, near)


def _edit_module(node: ast.ImportFrom, script: _Script, module: str, new: str) -> bool:
    rest = script.lines[node.lineno - 1].encode()[node.col_offset + len("from") :]
    column = node.col_offset + len("from") + len(rest) - len(rest.lstrip())
    return script.edit(node.lineno, column, module, new)


def _from_valor(node: ast.ImportFrom, script: _Script) -> None:
    """``from valor_lite import text_generation``: the door has another name."""
    for alias in node.names:
        if alias.name != "text_generation":
            script.refuse(alias.lineno, f"valor_lite.{alias.name} is not here; keep valor_lite")
    wanted = [alias for alias in node.names if alias.name == "text_generation"]
    if not wanted:
        return
    root = "valor_lite.text_generation"
    script.roots.add(root)
    if len(node.names) > 1:
        script.refuse(node.lineno, "write: from assay import valor as text_generation")
        return
    alias = wanted[0]
    new = "valor" if alias.asname else "valor as text_generation"
    if script.edit(alias.lineno, alias.col_offset, alias.name, new) and _edit_module(
        node, script, "valor_lite", "assay"
    ):
        script.modules[alias.asname or alias.name] = (root, "assay.valor")
        script.done(node.lineno, root, "assay.valor")


def _import(node: ast.Import, script: _Script) -> None:
    for alias in node.names:
        root = root_of(alias.name)
        if root is None:
            continue
        script.roots.add(root)
        first = alias.name.partition(".")[0]
        if not alias.asname and first in script.clashes:
            script.refuse(
                alias.lineno, f"{first} or assay is also a variable here; rename that first"
            )
            continue
        near, exact = door_of(alias.name)
        if not exact:
            script.refuse(alias.lineno, f"{alias.name} is not here: {advice(root, alias.name)}")
            if alias.asname:
                continue
        if alias.asname:
            script.modules[alias.asname] = (root, near)
        if script.edit(alias.lineno, alias.col_offset, alias.name, near):
            script.done(alias.lineno, alias.name, near)


def _uses(tree: ast.AST, plain: set[str], script: _Script) -> None:
    """Rewrite ``ragas.metrics.X`` where ``ragas`` was imported; check names below modules."""
    inner: set[int] = set()
    for node in ast.walk(tree):  # outer attributes come before those inside them
        if id(node) in inner or not isinstance(node, ast.Attribute | ast.Name):
            continue
        parts, base = _dotted(node, inner)
        if base is None or not isinstance(base.ctx, ast.Load):
            continue
        if base.id in plain:
            _plain_use(base, parts, script)
        elif base.id in script.modules:
            root, module = script.modules[base.id]
            _check(base.lineno, root, module, parts, script)


def _dotted(node: ast.expr, inner: set[int]) -> tuple[list[str], ast.Name | None]:
    """The attributes of a dotted name, and the name; the nodes inside are put on record."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
        inner.add(id(node))
    return parts[::-1], node if isinstance(node, ast.Name) else None


def _plain_use(base: ast.Name, parts: Sequence[str], script: _Script) -> None:
    for root, door in DOORS.items():
        first, _, below = root.partition(".")
        if first != base.id:
            continue
        if not below:
            script.edit(base.lineno, base.col_offset, first, door)
            _check(base.lineno, root, door, parts, script)
        elif parts[:1] == [below]:
            if script.edit(base.lineno, base.col_offset, root, door):
                _check(base.lineno, root, door, parts[1:], script)
        else:
            script.refuse(base.lineno, f"{'.'.join([first, *parts])} is not here; keep {first}")


def _check(line: int, root: str, module: str, parts: Sequence[str], script: _Script) -> None:
    for part in parts:
        if is_module(f"{module}.{part}"):
            module = f"{module}.{part}"
            continue
        if not has(module, part):
            script.refuse(line, f"{module} has no {part}: {advice(root, part)}")
        return
