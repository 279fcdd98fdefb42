"""Documents of a suite: plain data, places, limits, and what each fault is told as."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import MissingExtra
from assay.suite.document import Document, load_document, read_document
from assay.suite.problems import Place, Problem, SuiteError


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the fast parser, and as where PyYAML was built without it."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    return str(request.param)


def refused(text: str, **limits: Any) -> tuple[int, int, str]:
    """Line, column and message of the one problem of a text."""
    with pytest.raises(SuiteError) as caught:
        read_document(text, "s.yaml", **limits)
    (problem,) = caught.value.problems
    assert (problem.place.file, problem.severity) == ("s.yaml", "error")
    return problem.place.line, problem.place.column, problem.message


def test_a_config_is_plain_data() -> None:
    document = read_document("description: d\ntests:\n- vars: {q: [1, 2.5, null]}\n", "s.yaml")
    assert document.data == {"description": "d", "tests": [{"vars": {"q": [1, 2.5, None]}}]}
    assert document.name == "s.yaml"
    assert read_document("- 1\n- a", "s.yaml").data == [1, "a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, word) for word in ("yes", "No", "on", "OFF", "y", "tRUE", "nULL", "=")],
        *[(word, word) for word in ("2024-01-01", "2024-01-01T10:00:00Z", "12:30", "1_000")],
        *[(word, word) for word in ("0b1", "1e", ".", "-x", "+.e1", "0x", "0o8", "١")],
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("NULL", None),
        ("010", 10),
        ("-7", -7),
        ("+5", 5),
        ("0o10", 8),
        ("0x1F", 31),
        ("12345678901234567890", 12345678901234567890),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5e3", -1500.0),
        ("1e3", 1000.0),
        ("'1'", "1"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("!!float 1", 1.0),
        ("!!int '3'", 3),
        ("!!bool true", True),
        ("!!map {}", {}),
        ("|\n  a\n  b", "a\nb"),
        (">\n  a\n  b", "a b"),
        ("'{{q}}'", "{{q}}"),
    ],
)
def test_values_are_those_of_yaml_1_2(parser: str, text: str, value: object) -> None:
    data = read_document(f"k: {text}", "s.yaml").data
    assert data == {"k": value}
    assert type(data["k"]) is type(value)


def test_keys_are_text() -> None:
    assert read_document("1: a\n'true': b\nyes: c\n2024-01-01: d", "s.yaml").data == {
        "1": "a",
        "true": "b",
        "yes": "c",
        "2024-01-01": "d",
    }
    assert "the key true is not text" in refused("a: 1\ntrue: b")[2]
    assert "the key 1.5 is not text" in refused("1.5: b")[2]
    assert refused("a:\n  null: b")[:2] == (2, 3)
    assert refused("1: a\n'1': b")[:2] == (2, 1)


def test_line_ends_byte_order_marks_and_separators_of_unicode(parser: str) -> None:
    assert read_document("\ufeffa: 1\r\nb: 'x'\r\n", "s.yaml").data == {"a": 1, "b": "x"}
    text = "a: 'x\u2028y\x85z'\nb\u2029: \u2028c\nd: [*q]"
    assert refused(text)[:2] == (3, 5)
    data = read_document(text.replace("*q", "q"), "s.yaml").data
    assert data == {"a": "x\u2028y\x85z", "b\u2029": "\u2028c", "d": ["q"]}


def test_merged_keys_give_way_to_written_ones(parser: str) -> None:
    text = (
        "base: &base {x: 1, y: 2}\n"
        "more: &more {y: 3, z: 4}\n"
        "one: {<<: *base, x: 9}\n"
        "two: {<<: [*more, *base]}\n"
        "three: {x: 0, <<: {x: 5, w: 6}}\n"
        "text: {'<<': *base, v: <<}\n"
    )
    data = read_document(text, "s.yaml").data
    assert data["one"] == {"x": 9, "y": 2}
    assert data["two"] == {"x": 1, "y": 3, "z": 4}
    assert data["three"] == {"x": 0, "w": 6}
    assert data["text"] == {"<<": {"x": 1, "y": 2}, "v": "<<"}
    assert refused("a:\n  <<: 1")[:2] == (2, 7)
    assert "<< takes a mapping" in refused("a: {<<: [1]}")[2]


def test_no_two_parts_are_the_same_object() -> None:
    data = read_document("a: &a {x: [1]}\nb: *a\nc: {<<: *a}", "s.yaml").data
    data["a"]["x"].append(2)
    assert data["b"] == data["c"] == {"x": [1]}


def test_places_are_of_values_and_keys(parser: str) -> None:
    text = "u: &u\n  v: '1'\ntests:\n- assert:\n  - {type: equals, é: 2}\nw: {<<: *u}\nz: *u\n"
    document = read_document(text, "s.yaml")
    for path, value, key in [
        ((), (1, 1), (1, 1)),
        (("tests",), (4, 1), (3, 1)),
        (("tests", 0), (4, 3), (4, 3)),
        (("tests", 0, "assert"), (5, 3), (4, 3)),
        (("tests", 0, "assert", 0, "é"), (5, 23), (5, 20)),
        (("w", "v"), (2, 6), (2, 3)),
        (("z", "v"), (2, 6), (2, 3)),
        (("tests", 0, "nope", 3), (4, 3), (4, 3)),
        (("tests", 9), (4, 1), (3, 1)),
        (("tests", -1), (4, 1), (3, 1)),
        (("tests", "0"), (4, 1), (3, 1)),
        (("u", "v", "deeper"), (2, 6), (2, 3)),
    ]:
        assert document.place(path) == Place("s.yaml", *value), path
        assert document.place(path, key=True) == Place("s.yaml", *key), path
    assert Document({}, "made").place(["x"]) == Place("made")


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a: 1\n\tb: 2\n", 2, 1, "tab is used as indentation; use spaces"),
        ("a:\n  - b\n\t- c", 3, 1, "tab is used as indentation"),
        ("a: |\n\tx", 2, 1, "tab is used as indentation"),
        ("x:\n  a: 1\n  b: 2\n  a: 3", 4, 3, "'a' is on lines 2 and 4"),
        ("{a: 1, a: 2}", 1, 8, "line 1, twice"),
        ("", 1, 1, "is empty"),
        (" \n\n", 1, 1, "is empty"),
        ("# a\n# b\n", 1, 1, "no data, only comments"),
        ("---\n", 1, 1, "no data"),
        ("a: 1\n---\nb: 2", 2, 1, "one document to a file"),
        ("a: 1\n---\n", 2, 1, "one document to a file"),
        ("key: *undefined\n", 1, 6, "'*undefined' refers to a name that is not set above"),
        ("k: &short 1\nj: *shrt", 2, 4, "did you mean 'short'?"),
        ("a: &x [*x]", 1, 8, "inside of what it refers to"),
        ("a: **bold**", 1, 5, "must be in quotes"),
        ("a: !!python/object/apply:os.getcwd []", 1, 4, "tag '!!python/object/apply:os.getcwd'"),
        ("a: !env X", 1, 4, "tag '!env' is not known"),
        ("a: !!binary aGk=", 1, 4, "'!!binary' is not known"),
        ("a: !!int x", 1, 4, "'x' does not fit !!int"),
        ("a: !!seq {}", 1, 4, "tag '!!seq'"),
        ("a: [.inf]", 1, 5, "not a finite number"),
        ("a: -.INF", 1, 4, "not a finite number"),
        ("a: .nan", 1, 4, "not a finite number"),
        ("a: 1e999", 1, 4, "not a finite number"),
        ("a: " + "9" * 5000, 1, 4, "too many digits"),
        ("a: x\nb: y\x01", 2, 5, "U+0001"),
        ("a: \x00", 1, 4, "U+0000"),
        ("é: 'a\ud800'", 1, 6, "U+D800"),
        ('a: "\\d+"', 1, None, "use single quotes"),
        ("p: {{question}}", 1, 5, "'{{question}}'"),
        ("- p: {{q}} and more", 1, 7, "'{{question}}'"),
        ("? [a]\n: 1", 1, 3, "key cannot be a list"),
        ("q: What is: this", 1, 11, "in quotes"),
        ("a:\n  b: 1\n c: 2", 3, 2, "indentation does not fit"),
        ("a: 1\n- b", 2, 1, "indentation does not fit"),
        ("- a\nb: 1", 2, 1, "does not begin with '- '"),
        ("a: 'it's'", 1, 8, "quotes end before"),
        ("a: 'x\nb: 1\n", 1, 4, "opened on line 1 are not closed"),
        ("a:\n- [1, 2\n", 3, 1, "opened with [ on line 2 is not closed"),
        ("a: x # c\nb", 2, 1, "key without a colon"),
        ("a: @b", 1, 4, "cannot begin with @"),
        ("a: `b`", 1, 4, "cannot begin with `"),
        ("%YAML 3.0\n---\na", 1, 1, "YAML 1.1 and 1.2"),
    ],
)
def test_a_fault_has_a_place_and_says_what_to_do(
    parser: str, text: str, line: int, column: int | None, words: str
) -> None:
    found = refused(text)
    assert words in found[2]
    assert found[0] == line
    assert column is None or found[1] == column
    for jargon in ("token", "scalar", "stream", "unicode string", "node", "flow", "scanning"):
        assert jargon not in found[2].replace("U+", "")


def doubling(kind: str) -> str:
    """Nine aliases of nine aliases of ..., thirty deep."""
    head, tail = ("[x]", "[{}]") if kind == "list" else ("{x: 1}", "{{{}}}")
    item = "*a{}" if kind == "list" else "k{}: *a{}"
    lines = [f"a0: &a0 {head}"]
    for level in range(1, 30):
        items = [
            item.format(*([level - 1] if kind == "list" else [i, level - 1])) for i in range(9)
        ]
        lines.append(f"a{level}: &a{level} " + tail.format(", ".join(items)))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (doubling("list"), "aliases"),
        (doubling("mapping"), "aliases"),
        ("a: &a {k: 1, l: 2}\n" + "".join(f"b{i}: {{<<: *a}}\n" for i in range(1001)), "1,000"),
        ("a: &a " + "x" * 5_000_000 + "\nb: [" + "*a, " * 100 + "]", "100,000,000 characters"),
        ("a: &a 1\nb: [" + "*a, " * 1001 + "]", "more than 1,000 aliases"),
        ("[" * 100_000, "60 levels"),
        ('{"a": ' * 100_000, "60 levels"),
        ("- " * 100_000, "60 levels"),
        ("\n".join(" " * i + "a:" for i in range(500)), "60 levels"),
        (
            "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 90)),
            "60 levels",
        ),
        ("a: " + "x" * 20_000_000, "larger than 10,000,000 bytes"),
    ],
    ids=["lists", "maps", "merges", "text", "aliases", "[", "{", "-", "block", "depth", "20 MB"],
)
def test_what_would_grow_is_refused_before_it_grows(text: str, words: str) -> None:
    start = time.perf_counter()
    assert words in refused(text)[2]
    assert time.perf_counter() - start < 5


def test_limits_are_the_callers() -> None:
    assert read_document("[[[1]]]", "s.yaml", max_depth=4, max_nodes=4, max_aliases=0).data
    assert "2 levels" in refused("[[[1]]]", max_depth=2)[2]
    assert "more than 3 values" in refused("[[[1]]]", max_nodes=3)[2]
    assert "more than 0 aliases" in refused("[&a 1, *a]", max_aliases=0)[2]
    assert "larger than 5 bytes" in refused("a: éé", max_bytes=5)[2]
    deep = "[" * 190 + "]" * 190
    assert read_document(deep, "s.yaml", max_depth=10**6).data
    assert "200 levels" in refused("[" * 300, max_depth=10**6)[2]


def test_yaml_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"pip install 'assay\[yaml\]'"):
        read_document("a: 1", "s.yaml")
    assert read_document('{"a": 1}', "s.json").data == {"a": 1}


def test_files_are_read_as_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\n")
    document = load_document(path)
    assert document.data == {"a": "é"}
    assert document.place(["a"]) == Place(str(path), 1, 4)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "suite.yaml").write_text("a: 1")
    (tmp_path / "latin.yaml").write_bytes("a: 1\nb: é".encode("latin-1"))
    (tmp_path / "wide.yaml").write_text("a: 1", "utf-16")
    (tmp_path / "big.yaml").write_text("a: " + "x" * 100)
    os.mkfifo(tmp_path / "pipe.yaml")

    def message(name: str) -> str:
        with pytest.raises(SuiteError) as caught:
            load_document(tmp_path / name, max_bytes=50)
        (problem,) = caught.value.problems
        assert problem.place == Place(str(tmp_path / name))
        return problem.message

    assert message("suit.yaml") == "the file does not exist; did you mean 'suite.yaml'?"
    assert message("no/suite.yaml") == "the file does not exist, nor does its folder"
    assert message("") == "the file is a folder, not a file"
    assert message("pipe.yaml") == "the file is a device or pipe, not a file"
    assert message("latin.yaml") == "the file is not UTF-8 (line 2, byte 0xe9); save it as UTF-8"
    assert "UTF-16" in message("wide.yaml")
    assert message("big.yaml") == "the file is larger than 50 bytes: split it"

    def forbidden(*_: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    assert message("suite.yaml") == "the file may not be read: look at its permissions"


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc<$=: é\u2028'", max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_json_reads_the_same_through_both_doors(data: Any) -> None:
    text = json.dumps(data, ensure_ascii=False, indent="\t")
    assert read_document(text, "x.json", refs=False).data == data
    spaced = json.dumps(data, ensure_ascii=False, indent=1)
    assert read_document(spaced, "x.yaml", refs=False).data == data


@given(st.text("abé:-[]{}&*!|>'\"%@#,?<$= \n\t\r\u2028\x01\\0.~1", max_size=40))
def test_any_text_is_read_or_refused_with_one_problem(text: str) -> None:
    for name in ("x.yaml", "x.json"):
        problems: tuple[Problem, ...] = ()
        try:
            json.dumps(read_document(text, name).data, allow_nan=False)
        except SuiteError as error:
            problems = error.problems
        assert len(problems) <= 1
        assert all(problem.place.line > 0 for problem in problems)
