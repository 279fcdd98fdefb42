"""A document as nodes: values that know where they are written, built within limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from assay.suite.problems import Place, Problem, SuiteError

Scalar: TypeAlias = bool | int | float | str | None
REF = "$ref"


class Entry(NamedTuple):
    """The value of a key, with the line and column of the key itself."""

    line: int
    column: int
    node: Node


@dataclass(slots=True, eq=False)
class Node:
    """A value with its line and column, from 1; the sizes count aliases written out."""

    line: int
    column: int
    value: Scalar | list[Node] | dict[str, Entry]
    depth: int = 1
    nodes: int = 1
    characters: int = 0

    def children(self) -> list[Node]:
        """The values directly inside."""
        if isinstance(self.value, dict):
            return [entry.node for entry in self.value.values()]
        return self.value if isinstance(self.value, list) else []


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document may hold: bytes of file, aliases, levels, values."""

    bytes: int
    aliases: int
    depth: int
    nodes: int

    @property
    def characters(self) -> int:
        """Characters of all texts together, aliases written out."""
        return 10 * self.bytes


def refusal(name: str, line: int, column: int, message: str) -> SuiteError:
    """One error at one place of a document."""
    return SuiteError([Problem(Place(name, line, column), message)])


@dataclass(slots=True)
class _Frame:
    """A list or mapping that is not closed yet."""

    node: Node
    nodes: int
    characters: int
    depth: int = 0
    key: tuple[str, int, int] | None = None
    merging: bool = False
    merged: list[Node] = field(default_factory=list)


class Builder:
    """Nodes of one document, given in the order of writing.

    Every number is checked before anything is copied, so that aliases of aliases cost nothing.

    Raises:
        SuiteError: a limit is passed, a key occurs twice or cannot be a key, or ``<<`` takes
            something else than mappings.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self.root: Node | None = None
        self.has_refs = False
        self._open: list[_Frame] = []
        self._nodes = 0
        self._characters = 0
        self._aliases = 0

    @property
    def expects_key(self) -> bool:
        """Whether the next value is the key of a mapping."""
        return bool(self._open) and self._awaits_key(self._open[-1])

    def scalar(self, value: Scalar, line: int, column: int) -> Node:
        """Add a text, number, truth value or null; a key where a key is due."""
        node = Node(line, column, value, characters=len(value) if isinstance(value, str) else 0)
        self._add(node, line, column)
        return node

    def again(self, node: Node, line: int, column: int) -> None:
        """Add a finished node once more, as an alias does."""
        self._aliases += 1
        if self._aliases > self.limits.aliases:
            raise self.refusal(
                line, column, f"more than {self.limits.aliases:,} aliases (*name): use fewer"
            )
        self._add(node, line, column)

    def merge(self, line: int, column: int) -> None:
        """Take the next value as mappings whose keys are defaults of this one (``<<``)."""
        self._count(1, 0, line, column)
        self._open[-1].merging = True

    def begin(self, value: list[Node] | dict[str, Entry], line: int, column: int) -> None:
        """Open an empty list or mapping."""
        if self.expects_key:
            raise self.refusal(line, column, _NOT_A_KEY)
        self._check_depth(1, line, column)
        before = (self._nodes, self._characters)
        self._count(1, 0, line, column)
        self._open.append(_Frame(Node(line, column, value), *before))

    def end(self) -> Node:
        """Close the list or mapping opened last."""
        frame = self._open.pop()
        node = frame.node
        if frame.merged and isinstance(node.value, dict):
            node.value = {**_defaults(frame.merged), **node.value}
        node.depth = 1 + frame.depth
        node.nodes = self._nodes - frame.nodes
        node.characters = self._characters - frame.characters
        self._attach(node)
        return node

    def _add(self, node: Node, line: int, column: int) -> None:
        self._check_depth(node.depth, line, column)
        self._count(node.nodes, node.characters, line, column)
        if self.expects_key:
            self._name(node, line, column)
        else:
            self._attach(node)

    def _attach(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        frame.depth = max(frame.depth, node.depth)
        if isinstance(frame.node.value, list):
            frame.node.value.append(node)
        elif frame.merging:
            frame.merging = False
            frame.merged.extend(self._mappings(node))
        elif isinstance(frame.node.value, dict) and frame.key:
            key, line, column = frame.key
            frame.node.value[key] = Entry(line, column, node)
            frame.key = None

    def _name(self, node: Node, line: int, column: int) -> None:
        """Take a node as the key of the value that follows."""
        frame = self._open[-1]
        key = self._key(node.value, line, column)
        known = frame.node.value
        if isinstance(known, dict) and key in known:
            first = known[key].line
            lines = f"lines {first} and {line}" if first != line else f"line {line}, twice"
            raise self.refusal(
                line, column, f"the key {short(key)} is on {lines}; keep one of the two"
            )
        self.has_refs = self.has_refs or key == REF
        frame.key = (key, line, column)

    def _key(self, value: object, line: int, column: int) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, list | dict):
            raise self.refusal(line, column, _NOT_A_KEY)
        if value is None:
            raise self.refusal(line, column, "a key is missing or null; write its name in quotes")
        shown = str(value).lower()
        raise self.refusal(line, column, f"the key {shown} is not text; write '{shown}' in quotes")

    def _mappings(self, node: Node) -> list[Node]:
        """The mappings that ``<<`` takes."""
        sources = node.value if isinstance(node.value, list) else [node]
        for source in sources:
            if not isinstance(source.value, dict):
                raise self.refusal(
                    node.line, node.column, "<< takes a mapping or a list of mappings (<<: *name)"
                )
        return sources

    def _check_depth(self, depth: int, line: int, column: int) -> None:
        if len(self._open) + depth > self.limits.depth:
            raise self.refusal(
                line, column, f"nested more than {self.limits.depth} levels deep: flatten it"
            )

    def _count(self, nodes: int, characters: int, line: int, column: int) -> None:
        self._nodes += nodes
        self._characters += characters
        if self._nodes > self.limits.nodes or self._characters > self.limits.characters:
            raise self.refusal(line, column, too_much(self.limits))

    @staticmethod
    def _awaits_key(frame: _Frame) -> bool:
        return isinstance(frame.node.value, dict) and frame.key is None and not frame.merging

    def refusal(self, line: int, column: int, message: str) -> SuiteError:
        return refusal(self.name, line, column, message)


def short(text: str) -> str:
    """A text in quotes, as messages write it."""
    return repr(text if len(text) <= 80 else text[:79] + "…")


def too_much(limits: Limits) -> str:
    """The message for a document that is too large once it is written out."""
    return (
        f"more than {limits.nodes:,} values or {limits.characters:,} characters, with aliases and "
        "references written out: split the file or use fewer of them"
    )


def _defaults(merged: list[Node]) -> dict[str, Entry]:
    """The entries of merged mappings; the first that has a key gives it."""
    entries: dict[str, Entry] = {}
    for node in reversed(merged):
        if isinstance(node.value, dict):
            entries |= node.value
    return entries


_NOT_A_KEY = (
    "a key cannot be a list or mapping; text that begins with {, [ or {{ must be in quotes, "
    "as in '{{question}}'"
)
