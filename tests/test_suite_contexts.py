"""Contexts that come with an answer: none found, and none that can be found."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assay.suite.providers.base import Answer
from assay.suite.providers.paths import transformed
from assay.suite.providers.searching import NothingFoundError
from assay.suite.templates import Templates
from suite_endpoint import ran, statuses

ANSWER = "The mill opened in 1820."
FAITHFUL = {"type": "context-faithfulness"}
CONTAINS = {"type": "contains", "value": "mill"}


@pytest.fixture
def rag() -> Iterator[tuple[str, dict[str, Any]]]:
    """The URL of an endpoint, and the reply that it gives."""
    reply: dict[str, Any] = {"answer": ANSWER, "passages": []}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = reply["raw"] if "raw" in reply else json.dumps(reply)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/ask", reply
    server.shutdown()
    thread.join()
    server.server_close()


def asked(folder: Path, url: str, *asserts: dict[str, Any], **config: Any) -> list[dict[str, Any]]:
    """What came of the assertions on the endpoint's answer."""
    provider = {"id": url, "config": {"transformResponse": "$.answer", **config}}
    test = {"vars": {"context": f"Records: {ANSWER}"}, "assert": list(asserts)}
    suite = {"providers": [provider], "prompts": ["When?"], "tests": [test]}
    return ran(folder, json.dumps(suite))


@pytest.mark.parametrize(
    "path",
    ["$.passages[*].text", "$.passages[0:3].text", "$.passages[?@.text].text", "$.passages..text",
     "$.other[*].text", "json.passages"],
)  # fmt: skip
@pytest.mark.parametrize("own", [False, True])
def test_nothing_retrieved_is_nothing_to_measure(
    tmp_path: Path, rag: tuple[str, dict[str, Any]], path: str, own: bool
) -> None:
    """Also in an assertion's own contextTransform; variables do not take its place."""
    url, _ = rag
    config = {} if own else {"contextTransform": path}
    graded: list[dict[str, Any]] = [
        FAITHFUL,
        {"type": "context-recall", "value": ANSWER},
        {"type": "assay:faithfulness", "threshold": 0.5},
        {"type": "noise-sensitivity", "value": ANSWER, "config": {"dialect": "ragas"}},
        {**FAITHFUL, "config": {"undefined": "fail"}},
    ]
    if own:
        graded = [{**one, "contextTransform": path} for one in graded]
    parts = asked(tmp_path, url, *graded, CONTAINS, **config)
    assert statuses(parts) == ["skipped"] * 4 + ["fail", "pass"]
    assert {"no contexts" in part["reason"] for part in parts[:5]} == {True}


def test_one_passage_is_a_list_of_one(tmp_path: Path, rag: tuple[str, dict[str, Any]]) -> None:
    """A text that looks like a list of its own is not taken apart."""
    url, reply = rag
    reply["passages"] = [{"text": f'["{ANSWER}", "x"]'}]
    (part,) = asked(tmp_path, url, FAITHFUL, contextTransform="$.passages[*].text")
    assert part["status"] == "pass"
    answer = Answer(output="x", raw=reply)
    found = transformed("$.passages[*].text", answer, {}, Templates())
    assert found == [f'["{ANSWER}", "x"]']


@pytest.mark.parametrize(
    ("output", "raw", "found"),
    [
        ({"passages": []}, {"passages": ["a"]}, ["a"]),
        ({"passages": ["b"]}, {"passages": ["a"]}, ["b"]),
        ({"other": 1}, {"passages": []}, []),
        ({"passages": []}, {"other": 1}, []),
        ("text", {"passages": []}, []),
        ('{"passages": []}', None, []),
    ],
)
def test_the_output_is_searched_before_the_whole_reply(output: Any, raw: Any, found: Any) -> None:
    answer = Answer(output=output, raw=raw)
    for path in ("$.passages[*]", "passages"):
        assert transformed(path, answer, {}, Templates()) == found


def test_a_plain_path_to_nothing_is_an_error() -> None:
    answer = Answer(output="x", raw={"passages": []})
    for path in ("$.docs", "$.passages[0]", "$.passages[0].text", "docs", "json.passages[0]"):
        with pytest.raises(NothingFoundError, match="nothing at"):
            transformed(path, answer, {}, Templates())


def test_an_answer_outlives_contexts_that_cannot_be_found(
    tmp_path: Path, rag: tuple[str, dict[str, Any]]
) -> None:
    url, _ = rag
    own = {"config": {"contextChunks": [f"Records: {ANSWER}"]}}
    asserts: list[dict[str, Any]] = [
        CONTAINS,
        FAITHFUL,
        {**FAITHFUL, **own},
        {**FAITHFUL, "contextTransform": "$.answer"},
        {"type": "noise-sensitivity", "value": ANSWER},
        {"type": "assay:precision", "value": ANSWER, "threshold": 0.5},
        {"type": "assay:hallucination", "value": ANSWER, "threshold": 0.5},
        {"type": "not-context-faithfulness"},
    ]
    parts = asked(tmp_path, url, *asserts, contextTransform="$.docs.hits")
    said = "contextTransform: nothing at '$.docs.hits': the keys there are answer, passages"
    ends = ["pass", "error", "pass", "pass", "error", "pass", "error", "error"]
    assert statuses(parts) == ends
    assert [said in part["reason"] for part in parts] == [end == "error" for end in ends]


def test_an_answer_that_is_no_json_has_no_contexts(
    tmp_path: Path, rag: tuple[str, dict[str, Any]]
) -> None:
    url, reply = rag
    reply["raw"] = ANSWER
    parts = asked(
        tmp_path, url, CONTAINS, FAITHFUL, transformResponse="{{text}}", contextTransform="$.a[*]"
    )
    assert statuses(parts) == ["pass", "error"]
    assert "the answer is no JSON" in parts[1]["reason"]
    parts = asked(tmp_path, url, CONTAINS, FAITHFUL, contextTransform="$.a[*]")
    assert statuses(parts) == ["error", "error"]  # the output itself was to come from JSON
