"""Which modules and names of other systems the doors have."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from types import MappingProxyType

from assay.ragas.absent import INSTEAD

DOORS: Mapping[str, str] = MappingProxyType(
    {
        "ragas": "assay.ragas",
        "ragchecker": "assay.ragchecker",
        "valor_lite.text_generation": "assay.valor",
    }
)
"""Import root of another system -> the package here that has its names."""

GUIDES: Mapping[str, str] = MappingProxyType(
    {"ragas": "ragas", "ragchecker": "ragchecker", "valor_lite.text_generation": "valor"}
)


def root_of(module: str) -> str | None:
    """The root that a module belongs to, or None.

    >>> root_of("ragas.metrics"), root_of("ragasish")
    ('ragas', None)
    """
    return next((root for root in DOORS if module == root or module.startswith(root + ".")), None)


def is_module(name: str) -> bool:
    """Whether a door has this module; ``name`` begins with one of the doors."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ModuleNotFoundError, ImportError):
        return False


def door_of(module: str) -> tuple[str, bool]:
    """The nearest module here for a module of another system, and whether it is the very one.

    >>> door_of("ragas.metrics"), door_of("ragas.testset.graph")
    (('assay.ragas.metrics', True), ('assay.ragas', False))
    """
    root = root_of(module) or module
    wanted = near = DOORS[root] + module[len(root) :]
    while not is_module(near):
        near = near.rpartition(".")[0]
    return near, near == wanted


def has(module: str, name: str) -> bool:
    """Whether a module of a door has a name, or a module of that name below it."""
    try:
        getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return is_module(f"{module}.{name}")
    return True


def advice(root: str, name: str) -> str:
    """What to do about a name that the door of a root lacks."""
    guide = f"docs/coming-from-{GUIDES[root]}.md lists what there is"
    why = INSTEAD.get(name) if root == "ragas" else None
    return f"{why}; {guide}" if why else f"keep {root.partition('.')[0]} for it, or see: {guide}"
