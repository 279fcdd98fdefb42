"""A YAML or JSON file as plain data that knows where each value is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import ConfigError
from assay.suite.files import decoded, read_bytes, shown
from assay.suite.json_nodes import compose_json
from assay.suite.nodes import Builder, Entry, Limits, Node, refusal
from assay.suite.problems import Place, SuiteError
from assay.suite.refs import resolve_refs
from assay.suite.yaml_nodes import compose_yaml

MAX_BYTES = 10_000_000
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Document:
    """The data of a file: dicts with text keys, lists, texts, finite numbers, truth values, None.

    No two parts of ``data`` are the same object, also where the file has aliases.
    """

    data: Any
    name: str
    nodes: Node | None = field(default=None, repr=False, compare=False)

    def place(self, path: Sequence[str | int], *, key: bool = False) -> Place:
        """Where the value at a path is written; its key with ``key``, where it has one.

        A path that the file does not have gives the nearest part that it has. What came through
        an alias or a ``$ref`` is at the place where it was written.

        >>> document = read_document("tests:\\n- vars: {q: 1}\\n", "suite.yaml")
        >>> print(document.place(["tests", 0, "vars", "q"]))
        suite.yaml:2:13
        >>> print(document.place(["tests", 0, "threshold"], key=True))
        suite.yaml:2:3
        """
        node = self.nodes
        if node is None:
            return Place(self.name)
        found: Node | Entry = node
        for part in path:
            inside = _inside(node, part)
            if inside is None:
                break
            node = inside.node if isinstance(inside, Entry) else inside
            found = inside if key else node
        return Place(self.name, found.line, found.column)


def read_document(
    text: str,
    name: str,
    *,
    max_bytes: int = MAX_BYTES,
    max_aliases: int = 1000,
    max_depth: int = 60,
    max_nodes: int = 1_000_000,
    refs: bool = True,
) -> Document:
    """The data of a YAML text; of JSON where the name ends in ``.json``.

    Args:
        name: what places and errors call the file.
        max_bytes: of the text as UTF-8; its texts may be 10 times that with aliases written out.
        max_aliases: of ``*name``, those of ``<<`` included.
        max_depth: levels of lists and mappings, with aliases and references written out; above
            200 counts as 200.
        max_nodes: values and keys, with aliases and references written out.
        refs: whether ``$ref: '#/...'`` is replaced by what it names.

    Raises:
        SuiteError: with one problem: the first thing that keeps the text from being read.
        MissingExtra: PyYAML is not installed.

    >>> read_document("a: yes\\nb: 010\\nc: 2024-01-01\\nd: true", "x.yaml").data
    {'a': 'yes', 'b': 10, 'c': '2024-01-01', 'd': True}
    """
    text = text.removeprefix("\ufeff")
    limits = Limits(max_bytes, max_aliases, min(max_depth, _DEEPEST), max_nodes)
    if len(text) > max_bytes or len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        raise refusal(name, 0, 0, f"larger than {max_bytes:,} bytes: split it")
    builder = Builder(name, limits)
    (compose_json if name.lower().endswith(".json") else compose_yaml)(text, builder)
    root = builder.root
    if root is None:
        what = "has no data, only comments or ---" if text.strip() else "is empty"
        raise refusal(name, 1, 1, f"the file {what}")
    if refs and builder.has_refs:
        root = resolve_refs(root, name, limits)
    return Document(_plain(root), name, root)


def load_document(
    path: Path,
    *,
    max_bytes: int = MAX_BYTES,
    max_aliases: int = 1000,
    max_depth: int = 60,
    max_nodes: int = 1_000_000,
    refs: bool = True,
) -> Document:
    """The data of a YAML or JSON file in UTF-8, with or without a byte order mark.

    The limits are those of ``read_document``.

    Raises:
        SuiteError: with one problem: the file cannot be read, or the first fault in it.
        MissingExtra: PyYAML is not installed.
    """
    name = str(path)
    try:
        text = decoded(read_bytes(path, max_bytes=max_bytes), path)
    except SuiteError:
        raise
    except ConfigError as error:
        rest = str(error).removeprefix(shown(name) + " ")
        raise refusal(name, 0, 0, f"the file {rest}") from None
    return read_document(
        text,
        name,
        max_bytes=max_bytes,
        max_aliases=max_aliases,
        max_depth=max_depth,
        max_nodes=max_nodes,
        refs=refs,
    )


def _inside(node: Node, part: str | int) -> Node | Entry | None:
    """What is directly inside a node under a key or number; None where nothing is."""
    value = node.value
    if isinstance(value, dict):
        return value.get(str(part))
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return None


def _plain(node: Node) -> Any:
    value = node.value
    if isinstance(value, dict):
        return {key: _plain(entry.node) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
