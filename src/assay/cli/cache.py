"""``assay cache``: what judges have answered before, and how to be rid of it."""

from __future__ import annotations

import re
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from assay.cli.tables import console, plain
from assay.errors import ConfigError, DataError
from assay.judges.memory.database import default_path
from assay.judges.memory.survey import clear, groups, matching, rows, size
from assay.store import to_json

_DAY = 86_400


def cache_stats() -> int:
    """Print where answers are kept, how many of which judge at which URL, their size and age."""
    from rich import box
    from rich.table import Table

    path = default_path()
    found = groups(path)
    screen = console()
    screen.print(plain(path), soft_wrap=True)
    if not found:
        screen.print("no answers are kept")
        return 0
    total = sum(one.entries for one in found)
    screen.print(f"{total} answers, {_bytes(size(path))}", highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("judge", overflow="fold")
    placed = any(one.endpoint for one in found)
    if placed:
        table.add_column("endpoint", overflow="fold")
    table.add_column("fingerprint", overflow="fold")
    table.add_column("kind", no_wrap=True)
    for title in ("answers", "packed", "oldest", "newest"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in found:
        table.add_row(
            plain(one.judge),
            *([plain(one.endpoint or "")] if placed else []),
            plain(_short(one.fingerprint)),
            plain(one.kind),
            str(one.entries),
            _bytes(one.bytes),
            _day(one.oldest),
            _day(one.newest),
        )
    screen.print(table)
    return 0


def cache_clear(
    judge: str | None, older_than_days: int | None, yes: bool, fingerprint: str | None = None
) -> int:
    """Delete answers: all, those of one judge or fingerprint, or those not used for some days.

    ``fingerprint`` is as `cache_stats` shows it, or its beginning. Asks first unless ``yes``;
    raises ConfigError where nobody can be asked.
    """
    if older_than_days is not None and older_than_days < 0:
        raise ConfigError(f"days must be at least 0, not {older_than_days}")
    path = default_path()
    before = None if older_than_days is None else time.time() - older_than_days * _DAY
    whole = None if fingerprint is None else _whole(fingerprint, path)
    count = matching(path, judge=judge, before=before, fingerprint=whole)
    if not count:
        known = sorted({one.judge for one in groups(path)})
        print(plain(f"no such answers in {path}; judges: {', '.join(known) or 'none'}"))
        return 0
    if not yes and not _agreed(f"delete {count} answers from {path}?"):
        print("nothing was deleted")
        return 1
    gone = clear(path, judge=judge, before=before, fingerprint=whole)
    print(plain(f"deleted {gone} answers from {path}"))
    return 0


def _whole(given: str, path: Path) -> str:
    """The fingerprint that is meant by one in short; itself if none is."""
    if not given.strip():
        raise ConfigError("--fingerprint is empty: give one that 'assay cache stats' shows")
    known = sorted({one.fingerprint for one in groups(path)})
    found = [one for one in known if given in (one, _short(one))]
    found = found or [one for one in known if one.startswith(given)]
    if len(found) > 1:
        listed = ", ".join(map(_short, found))
        raise ConfigError(f"{given!r} may be any of {listed}: give more of its fingerprint")
    return found[0] if found else given


def cache_export(out: Path) -> int:
    """Write every answer with its ask to a JSONL file, or to stdout for "-"; 2 if some are damaged.

    Raises DataError when the disk refuses.
    """
    path = default_path()
    try:
        if str(out) == "-":
            written, damaged = _write(path, nullcontext(sys.stdout))
        else:
            written, damaged = _write_file(path, out)
    except BrokenPipeError:  # the reader has gone, and the command line knows what to do
        raise
    except OSError as error:
        raise DataError(f"cannot write {out}: {error.strerror or error}") from None
    said = f"{written} answers from {path} written to {out}"
    print(plain(said + (f"; {damaged} damaged ones left out" if damaged else "")), file=sys.stderr)
    return 2 if damaged else 0


def _write_file(path: Path, out: Path) -> tuple[int, int]:
    """The file appears when it is complete."""
    partial = out.with_name(out.name + ".partial")
    try:
        counts = _write(path, partial.open("w", encoding="utf-8"))
        partial.replace(out)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return counts


def _write(path: Path, file: AbstractContextManager[IO[str]]) -> tuple[int, int]:
    written = damaged = 0
    with file as stream:
        for row in rows(path):
            if row is None:
                damaged += 1
            else:
                stream.write(to_json(row) + "\n")
                written += 1
    return written, damaged


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(f"{question} say so with --yes")
    return input(f"{plain(question)} [y/N] ").strip().casefold() in ("y", "yes")


def _short(fingerprint: str) -> str:
    """Enough of a fingerprint to tell it from others.

    >>> _short("llm:0123456789abcdef0123456789abcdef repeat=1")
    'llm:01234567 repeat=1'
    """
    return re.sub(r"[0-9a-f]{16,}", lambda found: found[0][:8], fingerprint)


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _day(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")
