"""Patterns of file names, matched below one folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

from assay.errors import ConfigError

MAX_ENTRIES = 100_000
MAX_ALTERNATIVES = 100
_WILDCARD = re.compile(r"[*?\[{]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def has_wildcard(pattern: str) -> bool:
    """Whether a text is a pattern rather than a path."""
    return _WILDCARD.search(pattern) is not None


def expanded(root: Path, pattern: str, enter: Callable[[Path], Path]) -> list[Path]:
    """The regular files below a folder that fit a pattern, as written, in order.

    Args:
        enter: called with each link to a folder that is to be looked into; raises to forbid it.

    Raises:
        ConfigError: more than 100,000 names would be looked at, or {a,b} gives more than 100
            patterns.
    """
    found: set[Path] = set()
    seen: set[tuple[Path, tuple[str, ...]]] = set()
    for alternative in alternatives(pattern):
        parts = tuple(part for part in alternative.split("/") if part not in {"", "."})
        stack = [(root, parts)]
        while stack:
            path, rest = step = stack.pop()
            if step in seen:
                continue
            seen.add(step)
            if len(seen) > MAX_ENTRIES:
                raise ConfigError(f"{pattern} looks at more than {MAX_ENTRIES:,} files: narrow it")
            if rest and path.is_dir():
                if path.is_symlink():  # what is no link is where its parent is
                    enter(path)
                stack.extend(_steps(path, rest))
            elif not rest and path.is_file():
                found.add(path)
    return sorted(found)


def alternatives(pattern: str) -> list[str]:
    """A pattern with each {a,b} written out.

    >>> alternatives("t/*.{yaml,yml}")
    ['t/*.yaml', 't/*.yml']
    """
    pieces = _BRACES.split(pattern)
    choices = [piece.split(",") if number % 2 else [piece] for number, piece in enumerate(pieces)]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MAX_ALTERNATIVES:
        raise ConfigError(f"{{a,b}} in a pattern gives more than {MAX_ALTERNATIVES} patterns")
    return ["".join(chosen) for chosen in product(*choices)]


def _steps(folder: Path, parts: tuple[str, ...]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Where one step down from a folder may lead, with the parts of the pattern then left."""
    part, rest = parts[0], parts[1:]
    if not has_wildcard(part):
        yield folder / part, rest
        return
    if part == "**":
        yield folder, rest or ("*",)
    for path in _entries(folder):
        if part == "**":
            if not path.name.startswith(".") and path.is_dir() and not path.is_symlink():
                yield path, parts
        elif _fits(path.name, part):
            yield path, rest


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except PermissionError:
        raise ConfigError(f"{folder} may not be read: look at its permissions") from None


def _fits(name: str, part: str) -> bool:
    return (part.startswith(".") or not name.startswith(".")) and fnmatchcase(name, part)
