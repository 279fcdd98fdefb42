"""``assay migrate``: a script, data or a suite of another system, rewritten for assay."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from assay.cli.tables import plain
from assay.errors import ConfigError, DataError
from assay.migrate import Migration, migrate_file


def migrate(source: str, out: str | None) -> int:
    """Write the new text to a file or stdout, and the report to stderr; 2 if something is left."""
    path = Path(source)
    target = Path(out) if out and out != "-" else None
    if target is not None and target.exists() and path.exists() and target.samefile(path):
        raise ConfigError(f"{out} is the source as well; give another -o")
    done = migrate_file(path)
    if target is None:
        print(done.text, end="", flush=True)
    else:
        try:
            target.write_bytes(done.text.encode())
        except OSError as error:
            raise DataError(f"{out}: cannot be written: {error.strerror or error}") from None
    for line in report(done, path.name, str(target) if target else "OUT.jsonl"):
        print(plain(line), file=sys.stderr)
    return 2 if done.left else 0


def report(done: Migration, name: str, out: str) -> list[str]:
    """The lines for people: what it was, what became of it, what to run next."""
    lines = [f"{name}: {done.kind}"]
    lines += [f"converted: {what}" for what in done.converted]
    lines += [f"not converted: {what}" for what in done.left]
    lines += [f"note: {what}" for what in done.notes]
    if done.command:
        command = ["assay", *(out if word == "{}" else word for word in done.command)]
        lines.append(f"next: {shlex.join(command)}")
    return lines
