"""Local references of a document (``$ref: '#/assertionTemplates/short'``), resolved."""

from __future__ import annotations

import re
from urllib.parse import unquote

from assay.errors import did_you_mean
from assay.suite.nodes import REF, Entry, Limits, Node, refusal, short, too_much
from assay.suite.problems import SuiteError


def resolve_refs(root: Node, name: str, limits: Limits) -> Node:
    """The document with each mapping that has a text under ``$ref`` replaced by what it names.

    Other keys beside ``$ref`` go before those of the mapping it names. The nodes of the target
    are used as they are, so that what is inside keeps its own place.

    Raises:
        SuiteError: a reference leads nowhere, to itself, or out of the document; or the document
            passes a limit once they are written out.
    """
    resolver = _Resolver(root, name, limits)
    if _pointer(root) is not None:
        raise resolver.refusal(root, "the whole file cannot be a reference; leave $ref out")
    resolver.walk(root, 1, root)
    return root


_INDEX = re.compile(r"[0-9]{1,9}")


class _Resolver:
    """References of one document, and the nodes they were found to stand for."""

    def __init__(self, root: Node, name: str, limits: Limits) -> None:
        self._root = root
        self._name = name
        self._limits = limits
        self._stands_for: dict[Node, Node] = {}
        self._following: dict[Node, None] = {}
        self._walking: set[Node] = set()
        self._walked: set[Node] = set()

    def walk(self, node: Node, level: int, origin: Node) -> None:
        """Resolve what is inside a node, each node once; ``origin`` is what led to it."""
        if node in self._walking:
            raise self.refusal(origin, "the reference leads to what it is part of")
        known = node in self._walked
        if level + (node.depth - 1 if known else 0) > self._limits.depth:
            raise self.refusal(
                origin, f"references and levels go more than {self._limits.depth} deep"
            )
        if known or not isinstance(node.value, list | dict):
            return
        self._walking.add(node)
        node.value = self._inside(node.value, level)
        self._measure(node)
        self._walking.remove(node)
        self._walked.add(node)

    def _inside(
        self, value: list[Node] | dict[str, Entry], level: int
    ) -> list[Node] | dict[str, Entry]:
        """A list or mapping with its references resolved."""
        if isinstance(value, list):
            return [self._resolved(node, level) for node in value]
        return {
            key: entry._replace(node=self._resolved(entry.node, level))
            for key, entry in value.items()
        }

    def _resolved(self, node: Node, level: int) -> Node:
        target = self._target(node)
        self.walk(target, level + 1, node)
        return target

    def _measure(self, node: Node) -> None:
        children = node.children()
        keys = node.value if isinstance(node.value, dict) else ()
        node.depth = 1 + max((child.depth for child in children), default=0)
        node.nodes = 1 + len(keys) + sum(child.nodes for child in children)
        node.characters = sum(map(len, keys)) + sum(child.characters for child in children)
        if node.nodes > self._limits.nodes or node.characters > self._limits.characters:
            raise self.refusal(node, too_much(self._limits))

    def _target(self, node: Node) -> Node:
        """What a node stands for: itself where it is no reference."""
        pointer = _pointer(node)
        if pointer is None:
            return node
        if node in self._stands_for:
            return self._stands_for[node]
        if node in self._following:
            lines = " → ".join(f"line {other.line}" for other in list(self._following)[:8])
            raise self.refusal(node, f"references lead in a circle ({lines})")
        if len(self._following) >= self._limits.depth:
            raise self.refusal(node, "too many references that lead to one another")
        self._following[node] = None
        target = self._with_others(node, self._find(pointer, node))
        del self._following[node]
        self._stands_for[node] = target
        return target

    def _with_others(self, node: Node, target: Node) -> Node:
        """The target with the keys beside ``$ref`` put over its own."""
        if not isinstance(node.value, dict) or len(node.value) == 1:
            return target
        if not isinstance(target.value, dict):
            raise self.refusal(node, "keys beside $ref need a reference to a mapping")
        others = {key: entry for key, entry in node.value.items() if key != REF}
        return Node(node.line, node.column, {**target.value, **others})

    def _find(self, pointer: str, origin: Node) -> Node:
        """The node that a pointer names, from the root."""
        if pointer != "#" and not pointer.startswith("#/"):
            raise self.refusal(
                origin,
                f"{short(pointer)} leads out of this file; only references as '#/key/name' are "
                "followed",
            )
        node = self._root
        trail = "#"
        for step in pointer.split("/")[1:]:
            part = unquote(step).replace("~1", "/").replace("~0", "~")
            if node is not self._root:
                node = self._target(node)
            node = self._step(node, part, trail, origin)
            trail += f"/{step}"
        return self._target(node)

    def _step(self, node: Node, part: str, trail: str, origin: Node) -> Node:
        value = node.value
        if isinstance(value, dict) and part in value:
            return value[part].node
        if isinstance(value, list) and _INDEX.fullmatch(part) and int(part) < len(value):
            return value[int(part)]
        known = list(value) if isinstance(value, dict) else []
        hint = f"; {did_you_mean(part, known)}" if 0 < len(known) <= 30 else ""
        if isinstance(value, list):
            hint = f"; the list there has {len(value)} items, counted from 0"
        raise self.refusal(
            origin, f"the reference leads to nothing: {trail} has no {short(part)}{hint}"
        )

    def refusal(self, node: Node, message: str) -> SuiteError:
        """An error at a node; of a reference, at its text."""
        if isinstance(node.value, dict) and REF in node.value:
            node = node.value[REF].node
        return refusal(self._name, node.line, node.column, message)


def _pointer(node: Node) -> str | None:
    """The text under ``$ref``; None where the node is no reference."""
    if isinstance(node.value, dict) and REF in node.value:
        pointer = node.value[REF].node.value
        return pointer if isinstance(pointer, str) and pointer else None
    return None
