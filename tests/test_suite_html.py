"""The HTML page of a suite's results: what it shows, and what hostile texts cannot do to it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from assay.score import Evidence, Item
from assay.suite.outcome import SuiteRun
from assay.suite.outputs.elements import LONGEST, Html, el, escaped, long_text
from assay.suite.outputs.html import render_html
from assay.suite.outputs.record import as_record
from assay.suite.providers.base import Answer
from assay.verdicts import Span
from suite_runs import (
    CONTAINS,
    FAITHFUL,
    LABELLED,
    MISLED,
    NOISE,
    WRONG,
    every_status,
    repeated,
    result,
)

HOSTILE = (
    "</script></style></title></details><img src=x onerror=\"window.p=1\"><svg/onload='p()'>"
    "<a href=javascript:p()>x</a> {{7*7}} ${p} --> ]]> &lt;b&gt; \x1b[31m \0 \u202e \ud800"
)
OURS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "h1",
        "h2",
        "h3",
        "section",
        "div",
        "span",
        "b",
        "i",
        "small",
        "em",
        "svg",
        "rect",
        "dl",
        "dt",
        "dd",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "button",
        "input",
        "details",
        "summary",
        "pre",
        "q",
        "script",
    ]
)


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.inline: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.inline[self.open[-1]] = self.inline.get(self.open[-1], "") + data
        else:
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())

    def classes(self, tag: str) -> list[str]:
        return [attrs.get("class") or "" for name, attrs in self.tags if name == tag]


def page(run: SuiteRun) -> Page:
    return Page(render_html(as_record(run)))


def everywhere(text: str) -> SuiteRun:
    """A run with the text wherever a text can be."""
    item = Item(text, WRONG.verdict, "context", 0.1, Evidence("context", 0, Span(text, 0, 1)))
    outcome = replace(
        FAITHFUL,
        type=text,
        reason=text,
        metric=text,
        expected={text: [text]},
        items=(replace(item, hit=False, reason=text), replace(item, label=text, verdict=None)),
        figures={text: 0.5},
    )
    failed: dict[str, Any] = {
        "description": text,
        "provider": text,
        "prompt": text,
        "prompt_text": text,
        "vars": {text: text, "list": [text]},
        "answer": Answer(text, contexts=[text], metadata={text: text}),
        "outcomes": (outcome, replace(CONTAINS, parts=(outcome,))),
        "reason": text,
        "named_scores": {text: 0.5},
        "metadata": {text: text},
    }
    return SuiteRun(
        [result(0, "fail", **failed), result(1, "error", answer=Answer(error=text), outcomes=())],
        text,
        {"assay": text, "started": text, "judges": {text: text}},
        {text: text},
    )


# --- what it shows -------------------------------------------------------------------------------


def test_the_page_shows_totals() -> None:
    text = page(every_status()).text
    assert "Gliders 2025-03-04 05:06:07+00:00 · assay 0.3.0 20.0 % passed" in text
    assert "1 passed 2 failed 2 with errors 1 skipped" in text
    assert "echo, openai:chat:gpt-4o-mini · 5 calls, 230 tokens (210 in, 20 out)" in text
    assert "Judges openai:gpt-4o · 7 calls, 980 tokens (900 in, 80 out)" in text
    assert "Duration 12.3 s" in text


def test_the_page_compares_providers_and_prompts() -> None:
    text = page(every_status()).text
    # The mean of two answers that were made, not of the third that came from the cache.
    assert "echo short 1 1 1 677 ms 230 1.000" in text
    assert "openai:chat:gpt-4o-mini short 0 1 1 1,234 ms 120 0.500" in text
    assert "Providers and prompts" not in page(repeated(3)).text


def test_each_result_opens_without_a_script() -> None:
    shown = page(every_status())
    results = [attrs for tag, attrs in shown.tags if tag == "details" and attrs["class"] == "r"]
    statuses = [attrs["data-s"] for attrs in results]
    assert statuses == ["pass", "fail", "fail", "error", "error", "skipped"]
    badges = [name for name in shown.classes("span") if name.startswith("badge")]
    assert badges.count("badge error") == 3
    # Filter and search need the script that shows them.
    (tools,) = (attrs for tag, attrs in shown.tags if attrs.get("class") == "tools")
    assert "hidden" in tools


def test_an_assertion_shows_score_threshold_claims_and_evidence() -> None:
    shown = page(every_status())
    text = shown.text
    assert "Fail grounded (context-faithfulness) score 0.5, wanted at least 0.8" in text
    assert "claims 2 unanswered 0 coverage –" in text
    assert "The glider climbed to 22,646 m. entailed 0.97 yes context 0: Perlan 2 climbed" in text
    assert "It took off from Chile. contradicted 0.04 no context 1 the context names" in text
    assert "noise-sensitivity score 0.5, wanted at most 0.2" in text
    assert "It carried oxygen. unknown –" in text
    assert "expected: 22,646" in text
    assert shown.classes("tr").count("bad") == 4


def test_a_claim_that_counts_against_the_score_is_not_shown_as_good() -> None:
    shown = page(
        SuiteRun([result(0, "fail", outcomes=(MISLED,), vars={"contextChunks": LABELLED})])
    )
    assert "noise-sensitivity (irrelevant, ragas) score 0.5, wanted at most 0.2" in shown.text
    assert "Claim Verdict Right? Counts against Evidence" in shown.text
    right, wrong = shown.text.split("The glider climbed to 22,646 m. ")[1].split("Chile. ")[:2]
    assert right.startswith("entailed 0.97 yes no context 0 (relevant): Perlan 2")
    assert wrong.startswith("entailed 0.93 no yes context 1 (irrelevant): took off")
    verdicts = [name for name in shown.classes("span") if name.split()[:1] == ["v"]]
    assert verdicts == ["v entailed", "v"]
    assert [name for name in shown.classes("td") if name] == ["yes", "no", "no"]


def test_without_a_reference_no_claim_is_right_or_wrong() -> None:
    text = page(SuiteRun([result(0, "fail", outcomes=(FAITHFUL,))])).text
    assert "Claim Verdict Counts for Evidence" in text


def test_a_value_that_is_refused_is_not_expected() -> None:
    refused = replace(CONTAINS, type="not-contains", expected="As an AI")
    text = page(SuiteRun([result(0, outcomes=(refused, CONTAINS))])).text
    assert "not-contains score 1" in text
    assert "not expected: As an AI" in text
    assert text.count("not expected:") == 1
    # The value of not-noise-sensitivity is the right answer still.
    right = replace(MISLED, type="not-noise-sensitivity", expected="22,646 m")
    assert "not expected" not in page(SuiteRun([result(0, outcomes=(right,))])).text


def test_a_line_tells_the_first_failure_and_how_many_more() -> None:
    text = page(SuiteRun([result(0, "fail", outcomes=(MISLED, FAITHFUL, NOISE))])).text
    assert "wanted at most 0.2; and 2 more assertions" in text


def test_a_result_shows_its_answer_variables_and_contexts() -> None:
    text = page(every_status()).text
    assert 'Output {"height": 22646}' in text
    assert "Contexts from the provider context 0 Perlan 2 climbed to 22,646 m over" in text
    assert "latency 1,234 ms tokens 100 in, 20 out cost $0.002000" in text
    assert "HTTP 429: slow down" in text
    assert "(empty)" in page(SuiteRun([result(0, answer=Answer(""))])).text


def test_an_empty_run_has_a_page() -> None:
    text = page(SuiteRun([])).text
    assert "– passed 0 passed 0 failed" in text
    assert "No results." in text


def test_long_texts_are_cut_and_say_so() -> None:
    text = render_html(as_record(SuiteRun([result(0, answer=Answer("y" * 5_000_000))])))
    assert len(text) < 100_000
    assert "the first 20,000 of 5,000,000 characters. JSON outputs have all." in text
    assert str(long_text("z" * LONGEST)) == "z" * LONGEST


def test_a_thousand_results_are_a_few_megabytes() -> None:
    text = render_html(as_record(repeated(1000, failing=1000)))
    assert text.count('<details class="r"') == 1000
    assert len(text) < 6_000_000


def test_an_unknown_status_is_shown_as_an_error() -> None:
    record = as_record(repeated(1))
    record["results"]["results"][0]["status"] = '"><b>'
    shown = Page(render_html(record))
    assert [attrs["data-s"] for tag, attrs in shown.tags if attrs.get("class") == "r"] == ["error"]


# --- what it does not do -------------------------------------------------------------------------


def test_hostile_texts_are_text() -> None:
    shown = page(everywhere(HOSTILE))
    assert {tag for tag, _ in shown.tags} <= OURS
    assert shown.open == []
    assert not [name for _, attrs in shown.tags for name in attrs if name.startswith("on")]
    assert "onerror=\"window.p=1\"><svg/onload='p()'>" in shown.text
    assert {tag: len(shown.classes(tag)) for tag in ("script", "style", "svg")} == {
        "script": 1,
        "style": 1,
        "svg": 1,
    }


def test_data_never_reach_script_or_style() -> None:
    assert page(everywhere(HOSTILE)).inline == page(repeated(1)).inline


def test_unseen_characters_are_made_visible() -> None:
    text = render_html(as_record(everywhere(HOSTILE)))
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text
    )
    assert "[U+202E]" in text
    assert "␛[31m" in text
    assert escaped("a\r\nb\tc") == "a\nb\tc"


def test_the_policy_forbids_all_but_our_own_script_and_style() -> None:
    shown = page(everywhere(HOSTILE))
    (policy,) = (
        attrs["content"]
        for tag, attrs in shown.tags
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "default-src 'none'" in policy
    for name in ("script", "style"):
        digest = hashlib.sha256(shown.inline[name].encode()).digest()
        assert f"{name}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "unsafe" not in policy


def test_the_page_asks_for_nothing_from_outside() -> None:
    shown = page(every_status())
    names = {name for _, attrs in shown.tags for name in attrs}
    assert not names & {"src", "href", "style", "action", "srcset", "data", "poster"}
    assert "url(" not in shown.inline["style"]
    assert "@import" not in shown.inline["style"]
    for word in ("fetch", "XMLHttp", "innerHTML", "http", "eval", "localStorage"):
        assert word not in shown.inline["script"]


# --- elements ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["<b>", "&", '"', "'", Html("x") + "<i>"])
def test_what_is_no_element_is_escaped(text: str) -> None:
    made = el("p", text, data_x=text)
    assert made.count("<") == 2
    assert Page(made).tags == [("p", {"data-x": str(text)})]


def test_attributes_that_are_off_are_left_out() -> None:
    assert el("p", hidden=False, id=None, open=True, class_="a") == '<p open class="a"></p>'
