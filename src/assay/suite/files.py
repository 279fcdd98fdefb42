"""Files that a suite refers to: none outside of the suite's folder."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from assay.errors import ConfigError, did_you_mean
from assay.suite.globs import expanded, has_wildcard

MAX_BYTES = 20_000_000
_AT_ONCE: int = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DRIVE = re.compile(r"[A-Za-z]:")
_HIDDEN_PATH = re.compile(r"%(2e|2f|5c|00)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Folder:
    """The folder of a suite's config, out of which no reference leads.

    Raises:
        ConfigError: it is no folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not self.root.is_dir():
            raise ConfigError(f"{root} is not a folder")

    def resolve(self, ref: str, allowed: Sequence[str] = ()) -> Path:
        """The file that ``file://x.txt``, ``file://./x.txt`` or ``x.txt`` names, links followed.

        It need not exist; if it does, it is a regular file or a folder.

        Args:
            allowed: what its name may end in, in any case, as ".txt"; anything if empty.

        Raises:
            ConfigError: it leads out of the folder, is no path of this kind, or ends otherwise.
        """
        path = self._confined(self.root / self._relative(ref), ref)
        self._check_ending(_written(ref), allowed)
        try:
            regular = path.is_file() or path.is_dir() or not path.exists()
        except OSError as error:
            raise ConfigError(f"{shown(ref)} cannot be read: {error.strerror}") from None
        if not regular:
            raise ConfigError(f"{shown(ref)} is a device or pipe, not a file")
        return path

    def glob(self, pattern: str, allowed: Sequence[str] = ()) -> list[Path]:
        """The files that a pattern with ``*``, ``?``, ``[ab]``, ``{a,b}`` or ``**`` finds, sorted.

        Names that begin with a dot are found only by a pattern that has the dot; ``**`` follows
        no links. The files are returned with links followed, each once.

        Raises:
            ConfigError: none is found, or one leads out of the folder or ends otherwise.
        """
        relative = self._relative(pattern)
        try:
            if not has_wildcard(relative) or self._has(relative):
                return [self._existing(self.resolve(pattern, allowed))]
            found = self._matching(relative)
        except OSError as error:
            raise ConfigError(f"{shown(pattern)} cannot be followed: {error.strerror}") from None
        if not found:
            raise ConfigError(f"no file in {self.root} fits {shown(pattern)}")
        for path in found:
            self._check_ending(path.name, allowed)
        return sorted({self._confined(path, str(path)) for path in found})

    def read_text(self, path: Path, *, max_bytes: int = MAX_BYTES) -> str:
        """The text of a file in the folder, in UTF-8 with or without a byte order mark.

        Lines end in a line feed, however the file ends them.

        Raises:
            ConfigError: the file is outside, missing, no text, or larger than ``max_bytes``.
        """
        inside = self._confined(self.root / path, str(path))
        text = decoded(read_bytes(inside, max_bytes=max_bytes), path)
        return text.replace("\r\n", "\n")

    def _matching(self, pattern: str) -> list[Path]:
        """The files that fit a pattern, as they are named in the folder."""
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ConfigError(f"{shown(pattern)}: begin the pattern in {self.root}, without '..'")
        return expanded(self.root, pattern, lambda path: self._confined(path, str(path)))

    def _has(self, name: str) -> bool:
        """Whether a pattern is the name of a file, as "[1].txt" may be."""
        try:
            return (self.root / name).exists()
        except OSError:  # longer than a name can be
            return False

    @staticmethod
    def _existing(path: Path) -> Path:
        if not path.is_file():
            raise ConfigError(_not_regular(path) if path.exists() else _missing(path))
        return path

    def _relative(self, ref: str) -> str:
        """The path that a reference writes, checked as far as text can be."""
        if _CONTROL.search(ref):
            raise ConfigError(f"{shown(ref)} has a control character in it; no file name has that")
        path = _written(ref)
        if not path.strip():
            raise ConfigError("a reference to a file is empty; write file://name.txt")
        if re.match(r"https?://", path, re.IGNORECASE):
            raise ConfigError(
                f"{shown(ref)}: nothing is downloaded; save the file in {self.root} and name it"
            )
        if _SCHEME.match(path):
            raise ConfigError(f"{shown(ref)}: only files in {self.root} are read, as file://x.txt")
        if "\\" in path or _DRIVE.match(path):
            raise ConfigError(
                f"{shown(ref)}: write the path with / and from {self.root}, without a drive"
            )
        if path.startswith("~"):
            raise ConfigError(f"{shown(ref)}: ~ is not followed; {self._must_be_inside()}")
        if _HIDDEN_PATH.search(path):
            raise ConfigError(f"{shown(ref)}: % codes are not decoded; write the path as it is")
        return path

    def _confined(self, path: Path, ref: str) -> Path:
        """The path with links followed, if it is in the folder."""
        try:
            resolved = path.resolve()
        except (OSError, RuntimeError, ValueError):
            raise ConfigError(f"{shown(ref)} cannot be followed to a file") from None
        if not resolved.is_relative_to(self.root):
            raise ConfigError(f"{shown(ref)} leads out of the folder; {self._must_be_inside()}")
        return resolved

    def _must_be_inside(self) -> str:
        return f"the file must be in {self.root}"

    @staticmethod
    def _check_ending(name: str, allowed: Sequence[str]) -> None:
        if allowed and not name.lower().endswith(tuple(ending.lower() for ending in allowed)):
            raise ConfigError(f"{shown(name)} cannot be used here; allowed: {', '.join(allowed)}")


def read_bytes(path: Path, *, max_bytes: int) -> bytes:
    """The content of a regular file; never waits for a pipe or device.

    Raises:
        ConfigError: it is missing, no regular file, may not be read, or is larger.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError(_not_regular(path))
        # The file may be another by now: an open that does not wait, and a second look.
        handle = os.open(path, _AT_ONCE)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(_not_regular(path))
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise ConfigError(_missing(path)) from None
    except PermissionError:
        raise ConfigError(f"{shown(str(path))} may not be read: look at its permissions") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise ConfigError(f"{shown(str(path))} cannot be read: {reason}") from None
    if len(data) > max_bytes:
        raise ConfigError(f"{shown(str(path))} is larger than {max_bytes:,} bytes: split it")
    return data


def decoded(data: bytes, path: Path) -> str:
    """The text of a file's bytes, without a byte order mark.

    Raises:
        ConfigError: they are not UTF-8.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ConfigError(f"{shown(str(path))} is in UTF-16; save it as UTF-8")
    if b"\x00" in data:
        raise ConfigError(f"{shown(str(path))} is a binary file, not text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{shown(str(path))} is not UTF-8 (line {line}, byte 0x{data[error.start]:02x}); "
            "save it as UTF-8"
        ) from None


def shown(ref: str) -> str:
    """A reference as messages write it: short, and without control characters."""
    short = ref if len(ref) <= 120 else ref[:119] + "…"
    return short if short.isprintable() else repr(short)


def _written(ref: str) -> str:
    return re.sub(r"(?i)^file://", "", ref)


def _not_regular(path: Path) -> str:
    if path.is_dir():
        return f"{shown(str(path))} is a folder, not a file"
    return f"{shown(str(path))} is a device or pipe, not a file"


def _missing(path: Path) -> str:
    """The message for a file that is not there, with the name that was likely meant."""
    try:
        names = sorted(other.name for other in path.parent.iterdir() if other.is_file())
    except OSError:
        return f"{shown(str(path))} does not exist, nor does its folder"
    hint = did_you_mean(path.name, names) if names else ""
    if len(names) > 20 and hint.startswith("known"):
        hint = ""
    return f"{shown(str(path))} does not exist" + (f"; {hint}" if hint else "")
