"""The claims behind a score on the HTML page: verdicts, what they count for, evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from assay.suite.outputs.elements import Html, el, long_text
from assay.suite.outputs.findings import ANSWERS, Component, offending, source

RIGHT = "Does the reference entail the claim?"


def claims_table(component: Component) -> Html:
    """A line a claim: is it entailed, is it right (where that was asked), does it count, and why.

    In a score that is better when lower a claim counts against the answer. Claims that kept the
    score from being best are marked.
    """
    claims: Sequence[Mapping[str, Any]] = component["claims"]
    bad = {id(claim) for claim in offending(component)}
    asked = any(claim.get("correct") is not None for claim in claims)
    right = [el("th", "Right?", title=RIGHT)] if asked else []
    counts = el("th", "Counts against" if component["lowerIsBetter"] else "Counts for")
    head = el("tr", el("th", "Claim"), el("th", "Verdict"), *right, counts, el("th", "Evidence"))
    rows = (_claim(claim, bad=id(claim) in bad, asked=asked) for claim in claims)
    table = el("table", el("thead", head), el("tbody", *rows), class_="claims")
    return el("div", table, class_="scroll")


def _claim(claim: Mapping[str, Any], *, bad: bool, asked: bool) -> Html:
    correct = claim.get("correct")
    right = [_answer(correct, _COLOURS.get(correct))] if asked else []
    return el(
        "tr",
        el("td", long_text(claim["claim"]), dir="auto"),
        el("td", *_verdict(claim, bad=bad)),
        *right,
        _answer(claim["hit"], "no" if bad else None),
        el("td", *_evidence(claim), dir="auto"),
        class_="bad" if bad else None,
    )


def _verdict(claim: Mapping[str, Any], *, bad: bool) -> list[Html]:
    verdict = claim["verdict"]
    # Entailed is good news only of a claim that is right and does no harm to the score.
    plain = verdict == "entailed" and (bad or claim.get("correct") is False)
    word = el("span", str(verdict or claim.get("label") or "–"), class_=_colour(verdict, plain))
    probability = claim["probability"]
    sure = f" {probability:.2f}" if probability is not None else ""
    return [word, el("span", sure, class_="dim")]


def _colour(verdict: str | None, plain: bool) -> str:
    return "v" if plain or verdict is None else f"v {verdict}"


def _answer(truth: bool | None, colour: str | None) -> Html:
    return el("td", ANSWERS.get(truth, "–"), class_=colour)


_COLOURS: Mapping[bool | None, str] = MappingProxyType({True: "yes", False: "no"})


def _evidence(claim: Mapping[str, Any]) -> list[Html]:
    out = []
    if evidence := claim["evidence"]:
        quote = evidence.get("quote")
        out.append(el("span", source(evidence) + (": " if quote else ""), class_="dim"))
        if quote:
            out.append(el("q", long_text(quote)))
    if claim.get("reason"):
        out.append(el("div", long_text(claim["reason"]), class_="dim"))
    return out
