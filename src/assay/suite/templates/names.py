"""The variables that a template refers to."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from assay.suite.templates.parsing import targets

BUILT_IN = frozenset({"env", "null", "range", "undefined"})


def free_names(tree: nodes.Template) -> set[str]:
    """Names that the template reads and neither sets before nor knows by itself."""
    return set(_free(tree.body, set())) - BUILT_IN


def _free(body: list[nodes.Node], known: set[str]) -> Iterator[str]:
    """The free names of statements in order; names that these set are added to ``known``."""
    for node in body:
        yield from _of(node, known)


def _of(node: nodes.Node, known: set[str]) -> Iterator[str]:
    if isinstance(node, nodes.Name):
        if node.ctx == "load" and node.name not in known:
            yield node.name
    elif isinstance(node, nodes.For):
        yield from _of(node.iter, known)
        inner = known | {"loop"} | set(targets(node.target))
        yield from _free(node.body, inner)
        yield from _free(node.else_, set(known))
    elif isinstance(node, nodes.If):
        yield from _of_if(node, known)
    elif isinstance(node, nodes.Dict):
        for pair in node.items:
            if not isinstance(pair.key, nodes.Name):
                yield from _of(pair.key, known)
            yield from _of(pair.value, known)
    else:
        yield from _free(list(node.iter_child_nodes(exclude=("target",))), known)
        if isinstance(node, (nodes.Assign, nodes.AssignBlock)):
            known.update(targets(node.target))


def _of_if(node: nodes.If, known: set[str]) -> Iterator[str]:
    """A name that only some branches set is still free after them."""
    branches = []
    for branch in (node, *node.elif_):
        yield from _of(branch.test, known)
        branches.append(set(known))
        yield from _free(branch.body, branches[-1])
    branches.append(set(known))
    yield from _free(node.else_, branches[-1])
    known.update(set.intersection(*branches))
