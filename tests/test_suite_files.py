"""Files that a suite refers to: what is found, and that nothing leads out of its folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.suite.files import Folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A suite's folder, with a neighbour whose name begins alike."""
    inside = tmp_path / "suite"
    (inside / "data" / "sub").mkdir(parents=True)
    for name in ("b.yaml", "a.yml", "c.txt", ".hidden.yaml", "sub/d.yaml"):
        (inside / "data" / name).write_text(name)
    (inside / "x.txt").write_text("x")
    (tmp_path / "suite-2").mkdir()
    (tmp_path / "suite-2" / "x.txt").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    return inside


def error(root: Path, ref: str, *allowed: str) -> str:
    with pytest.raises(ConfigError) as caught:
        Folder(root).resolve(ref, allowed)
    return str(caught.value)


def names(root: Path, pattern: str) -> list[str]:
    return [str(path.relative_to(root)) for path in Folder(root).glob(pattern)]


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("file://x.txt", "x.txt"),
        ("FILE://./x.txt", "x.txt"),
        ("x.txt", "x.txt"),
        ("data/../x.txt", "x.txt"),
        ("file://data/sub/d.yaml", "data/sub/d.yaml"),
        ("./~x", "~x"),
        ("a b%20é.txt", "a b%20é.txt"),
        ("not/there.txt", "not/there.txt"),
    ],
)
def test_references_are_paths_from_the_folder(root: Path, ref: str, name: str) -> None:
    assert Folder(root).resolve(ref) == root / name


def test_absolute_paths_and_links_inside_are_followed(root: Path) -> None:
    (root / "link.md").symlink_to("x.txt")
    assert Folder(root).resolve(f"file://{root}/x.txt") == root / "x.txt"
    assert Folder(root).resolve("link.md", allowed=(".md",)) == root / "x.txt"
    (root.parent / "door").symlink_to(root)
    assert Folder(root.parent / "door").resolve("x.txt") == root / "x.txt"


@pytest.mark.parametrize(
    "ref",
    [
        "file://../secret.txt",
        "file://../../../../../../etc/passwd",
        "file:///etc/passwd",
        "/etc/passwd",
        "/dev/zero",
        "../suite-2/x.txt",
        "data/../../secret.txt",
        "..",
        "out.txt",
        "outdir/x.txt",
        "outdir/../x.txt",
    ],
)
def test_what_leads_out_is_refused_with_the_folder_named(root: Path, ref: str) -> None:
    (root / "out.txt").symlink_to("/etc/passwd")
    (root / "outdir").symlink_to(root.parent / "suite-2" / "sub")
    message = error(root, ref)
    assert f"leads out of the folder; the file must be in {root}" in message


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("", "is empty"),
        ("file://", "is empty"),
        ("x\0.txt", "control character"),
        ("x\n.txt", "control character"),
        ("\ud800", "control character"),
        ("C:\\x.txt", "without a drive"),
        ("file://c:/x.txt", "without a drive"),
        ("..\\secret.txt", "write the path with /"),
        ("~/x.txt", "~ is not followed"),
        ("file://~root", "~ is not followed"),
        ("%2e%2e/secret.txt", "% codes are not decoded"),
        ("..%2Fsecret.txt", "% codes are not decoded"),
        ("http://x.org/y.txt", "nothing is downloaded; save the file in"),
        ("HTTPS://x.org", "nothing is downloaded"),
        ("s3://bucket/key", "only files in"),
        ("file://file://x.txt", "only files in"),
        ("a" * 5000, "too long"),
    ],
)
def test_what_is_no_path_here_is_refused(root: Path, ref: str, words: str) -> None:
    message = error(root, ref)
    assert words in message
    assert len(message) < 500
    assert "\0" not in message


def test_endings_are_those_allowed(root: Path) -> None:
    assert Folder(root).resolve("X.TXT", (".txt", ".md")) == root / "X.TXT"
    assert error(root, "x.py", ".txt", ".md") == "x.py cannot be used here; allowed: .txt, .md"
    assert "allowed: .txt" in error(root, "file://x.py:function", ".txt")


def test_pipes_devices_and_circles_are_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe.txt")
    (root / "circle").symlink_to("circle")
    start = time.perf_counter()
    assert error(root, "pipe.txt") == "pipe.txt is a device or pipe, not a file"
    with pytest.raises(ConfigError, match="is a device or pipe"):
        Folder(root).read_text(root / "pipe.txt")
    assert "cannot be followed" in error(root, "circle")
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("data/*", ["data/a.yml", "data/b.yaml", "data/c.txt"]),
        ("file://./data/*.{yaml,yml}", ["data/a.yml", "data/b.yaml"]),
        ("data/[ab].*", ["data/a.yml", "data/b.yaml"]),
        ("data/?.txt", ["data/c.txt"]),
        ("data/.*", ["data/.hidden.yaml"]),
        ("**/*.yaml", ["data/b.yaml", "data/sub/d.yaml"]),
        ("data/**", ["data/a.yml", "data/b.yaml", "data/c.txt", "data/sub/d.yaml"]),
        ("*/sub/*", ["data/sub/d.yaml"]),
        ("x.txt", ["x.txt"]),
        ("{x.txt,data/c.txt,data/[c].txt}", ["data/c.txt", "x.txt"]),
    ],
)
def test_patterns_find_files_in_order(root: Path, pattern: str, found: list[str]) -> None:
    assert names(root, pattern) == found


def test_a_pattern_takes_a_link_once_and_no_pipe(root: Path) -> None:
    (root / "data" / "again.txt").symlink_to("c.txt")
    (root / "data" / "[c].txt").write_text("a name, not a pattern")
    (root / "data" / "up").symlink_to(root)
    os.mkfifo(root / "data" / "pipe.txt")
    assert names(root, "data/*.txt") == ["data/[c].txt", "data/c.txt"]
    assert names(root, "data/[c].txt") == ["data/[c].txt"]
    assert names(root, "**/x.txt") == ["x.txt"]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("*.zip", "no file in"),
        ("data/nope.txt", "does not exist"),
        ("data/d.txt", "did you mean 'c.txt'?"),
        ("data", "is a folder"),
        ("../*", "without '..'"),
        ("data/../../*", "without '..'"),
        ("/etc/*", "begin the pattern in"),
        ("out/*", "leads out of the folder"),
        ("*/x.txt", "leads out of the folder"),
        ("?ut.txt", "leads out of the folder"),
        ("http://x/*", "nothing is downloaded"),
        ("{a,b}" * 7, "more than 100 patterns"),
        ("{" + "a," * 200 + "}", "more than 100 patterns"),
        ("a" * 300 + "/*", "too long"),
    ],
)
def test_patterns_that_find_nothing_or_too_much(root: Path, pattern: str, words: str) -> None:
    (root / "out").symlink_to(root.parent / "suite-2")
    (root / "out.txt").symlink_to(root.parent / "secret.txt")
    with pytest.raises(ConfigError) as caught:
        Folder(root).glob(pattern)
    assert words in str(caught.value)


def test_patterns_find_only_allowed_endings(root: Path) -> None:
    assert len(Folder(root).glob("data/*", (".yml", ".yaml", ".TXT"))) == 3
    with pytest.raises(ConfigError, match=r"c\.txt cannot be used here; allowed: \.yml, \.yaml"):
        Folder(root).glob("data/*", (".yml", ".yaml"))


def test_a_pattern_looks_at_each_folder_once(root: Path) -> None:
    deep = root.joinpath(*["d"] * 120)
    deep.mkdir(parents=True)
    (deep / "f.txt").write_text("")
    start = time.perf_counter()
    assert len(Folder(root).glob("**/" * 20 + "f.txt")) == 1
    assert time.perf_counter() - start < 5


def test_text_is_read_without_mark_and_carriage_returns(root: Path) -> None:
    (root / "x.txt").write_bytes("\ufeffé\r\nb\rc".encode())
    folder = Folder(root)
    assert folder.read_text(folder.resolve("x.txt")) == "é\nb\rc"
    assert folder.read_text(Path("x.txt")) == "é\nb\rc"
    (root / "x.txt").write_bytes(b"")
    assert folder.read_text(root / "x.txt") == ""


def test_text_that_cannot_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "binary.txt").write_bytes(b"a\x00b")
    (root / "latin.txt").write_bytes("a\né".encode("latin-1"))
    (root / "wide.txt").write_text("a", "utf-16")

    def message(path: Path, max_bytes: int = 100) -> str:
        with pytest.raises(ConfigError) as caught:
            Folder(root).read_text(path, max_bytes=max_bytes)
        return str(caught.value)

    assert message(root / "binary.txt").endswith("is a binary file, not text")
    assert message(root / "latin.txt").endswith("not UTF-8 (line 2, byte 0xe9); save it as UTF-8")
    assert message(root / "wide.txt").endswith("is in UTF-16; save it as UTF-8")
    assert message(root / "latin.tx").endswith("did you mean 'latin.txt'?")
    assert message(root / "data").endswith("is a folder, not a file")
    assert message(root / "no" / "x.txt").endswith("does not exist, nor does its folder")
    assert "cannot be read" in message(root / "x.txt" / "y")
    assert "larger than 2 bytes" in message(root / "binary.txt", 2)
    assert "leads out" in message(root.parent / "secret.txt")
    assert "leads out" in message(Path("/dev/zero"))

    def forbidden(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    assert message(root / "x.txt").endswith("may not be read: look at its permissions")


def test_a_folder_that_is_none(root: Path) -> None:
    for path in (root / "nope", root / "x.txt"):
        with pytest.raises(ConfigError, match="is not a folder"):
            Folder(path)
