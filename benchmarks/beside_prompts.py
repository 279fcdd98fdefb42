"""What promptfoo's graders ask, known by a phrase of each prompt, and the oracle's replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import beside_oracle as oracle

WHY = "Words decide."
_CLASSES = {"subset": "A", "superset": "B", "same": "C", "disagree": "D", "different": "E"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One kind of prompt: a phrase that only it has, and its reply."""

    kind: str
    phrase: str
    reply: Callable[[str], str]


def answer(text: str) -> tuple[str, str]:
    """The kind of a prompt and the reply to it; raises LookupError for one that is not known."""
    for prompt in PROMPTS:
        if prompt.phrase in text:
            return prompt.kind, prompt.reply(text)
    raise LookupError(text[:200])


def _between(text: str, start: str, end: str) -> str:
    """What stands between the last ``start`` and the ``end`` after it."""
    return text.rpartition(start)[2].partition(end)[0].strip()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _statements(text: str) -> str:
    return "\n".join(oracle.sentences(_between(text, "\nanswer:", "\nstatements:")))


def _inference(text: str) -> str:
    context = _between(text, "\ncontext:\n", "\nstatements:")
    said = [
        (one, "Yes" if oracle.supported(one, context) else "No")
        for one in _lines(_between(text, "\nstatements:\n", "\nAnswer:"))
    ]
    each = [f"{one}\nExplanation: {WHY} Verdict: {yes}." for one, yes in said]
    order = " ".join(f"{yes}." for _, yes in said)
    return "\n".join([*each, f"Final verdict for each statement in order: {order}"])


def _recall(text: str) -> str:
    context = _between(text, "\ncontext:", "\nanswer:")
    marks = {True: "[Attributed]", False: "[Not Attributed]"}
    claims = oracle.sentences(_between(text, "\nanswer:", "\nclassification:"))
    return "\n".join(f"{one} {WHY} So {marks[oracle.supported(one, context)]}" for one in claims)


def _relevance(text: str) -> str:
    question = _between(text, "\nquery: ", "\ncontext: ")
    context = _between(text, "\ncontext: ", "\ncandidate sentences:")
    kept = [one for one in oracle.sentences(context) if oracle.relevant("", one, question)]
    return "\n".join(kept) or "Insufficient Information"


def _factuality(text: str) -> str:
    reference = _between(text, "<expert_answer>", "</expert_answer>")
    said = _between(text, "<submitted_answer>", "</submitted_answer>")
    return json.dumps({"category": _CLASSES[oracle.relation(said, reference)], "reason": WHY})


def _rubric(text: str) -> str:
    output = _between(text, "<Output>\n", "\n</Output>")
    score = oracle.met(_between(text, "<Rubric>\n", "\n</Rubric>"), output)
    return json.dumps({"reason": WHY, "pass": score >= 0.75, "score": score})


def _closed(text: str) -> str:
    output = _between(text, "[Submission]: ", "\n***\n[Criterion]")
    criterion = _between(text, "[Criterion]: ", "\n***\n[END DATA]")
    letter = "Y" if oracle.met(criterion, output) >= 0.75 else "N"
    return f"{WHY}\n{letter}\n{letter}"


def _steps(text: str) -> str:
    return json.dumps({"steps": ["Read the text.", "Look for what is named.", "Score it."]})


def _g_eval(text: str) -> str:
    criterion = _between(text, "**Evaluation Criteria**\n", "\n**Evaluation Steps**")
    score = oracle.met(criterion, _between(text, "**Reply**\n", "\n**OUTPUT FORMAT**"))
    return json.dumps({"score": round(10 * score), "reason": WHY})


def _question(text: str) -> str:
    first = oracle.sentences(_between(text, "\nAnswer:", "\nQuestion:"))[:1]
    return " ".join(first).rstrip(".!?") + "?"


PROMPTS = (
    Prompt("statements", "create one or more statements from each sentence", _statements),
    Prompt("inference", "Prompt: Natural language inference", _inference),
    Prompt("recall", "classify if the sentence can be attributed", _recall),
    Prompt("relevance", "candidate sentences:", _relevance),
    Prompt("factuality", "<submitted_answer>", _factuality),
    Prompt("rubric", "<Rubric>\n", _rubric),
    Prompt("closed question", "[BEGIN DATA]", _closed),
    Prompt("question", "Generate question for the given answer.", _question),
    Prompt("steps", "concise evaluation steps", _steps),
    Prompt("g-eval", "**Evaluation Steps**", _g_eval),
)
