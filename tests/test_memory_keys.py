"""Keys and bytes of remembered answers: no two asks share a key, no damaged byte is read."""

from __future__ import annotations

import inspect
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay.asks
from assay.asks import Ask, Embed, Entail, Extract, Grade, Label, Questions, Rate
from assay.errors import ConfigError
from assay.judges.limiting import Limiter
from assay.judges.memory import codec
from assay.judges.memory.codec import Entry, entry, pack, unpack
from assay.judges.memory.kinds import KINDS, LACKING, Kind
from assay.judges.openai import openai_judge
from assay.judges.retrying import Backoff
from assay.sample import Claim
from assay.verdicts import Asked, Cell, Grading, Mark, Rating, Span, Verdict

OTHER_ASKS: dict[Ask[Any], dict[str, list[Any]]] = {
    Extract("Rain falls.", "q"): {
        "text": ["Rain falls", "Rain falls. ", "rain falls.", ""],
        "question": [None, "", "q?"],
        "opinions": [True],
    },
    Entail(("a", "b"), ("c", "d"), "q"): {
        "claims": [("a",), ("b", "a"), ("ab",), ("a", "b", "c"), ("a", "b", "")],
        "premises": [("d", "c"), ("cd",), ("c", "d", "d"), ()],
        "question": [None, "", "Q"],
        "against": ["reference", "response"],
    },
    Label((("biased", "a"), ("toxic", "b")), "q"): {
        "pairs": [(("biased", "a"),), (("toxic", "a"), ("biased", "b")), (("biased", "ab"),)],
        "question": [None, ""],
    },
    Rate("a", "b"): {"text": ["b", "ab"], "source": ["a", ""]},
    Grade(("is kind", "is short"), "a", "q", "r"): {
        "criteria": [("is kind",), ("is short", "is kind")],
        "text": ["b"],
        "question": [None, "r"],
        "reference": [None, "q"],
    },
    Questions("a", 3): {"text": ["b"], "n": [1, 4]},
    Embed(("a", "b")): {"texts": [("b", "a"), ("ab",), ("a",), ()]},
}
"""By an ask, other values of each of its fields."""

ANSWERS: list[tuple[Ask[Any], Any]] = [
    (
        Extract("Rain falls. Sad!"),
        (Claim("Rain falls.", 0, 11), Claim("Sad!", 12, 16, opinion=True), Claim("é\ud800")),
    ),
    (Extract("x"), ()),
    (
        Entail(("a", "b"), ("the c",)),
        (
            (Cell(Verdict.ENTAILED, 0.1 + 0.2, "why\n", Span("the", 0, 3)),),
            (Cell(Verdict.CONTRADICTED),),
        ),
    ),
    (Entail((), ("c",)), ()),
    (Label((("biased", "a"), ("toxic", "a"))), (Mark(True, 0.75, "yes"), Mark(False))),
    (Rate("a", "b"), Rating(5, "good")),
    (Grade(("x", "y"), "a"), (Grading("mostly", "nearly"), Grading("not"))),
    (Questions("a"), Asked(("Who?",), False)),
    (Embed(("a", "b", " ")), ((1e-300, -0.0, 2.5), (0.1, 1.0, 3.0), ())),
]


def place(ask: Ask[Any], fingerprint: str = "f", repeat: int = 0) -> Entry:
    made = entry(ask, fingerprint, repeat)
    assert made is not None
    return made


def packed(ask: Ask[Any], answer: Any) -> bytes:
    blob = pack(place(ask), ask, answer)
    assert blob is not None
    return blob


# --- keys -------------------------------------------------------------------------------------


def test_every_kind_of_ask_is_remembered_and_perturbed_here() -> None:
    kinds = {
        name for name, kind in vars(assay.asks).items() if isinstance(kind, type)
        if issubclass(kind, Ask) and kind is not Ask
    }  # fmt: skip
    assert kinds == set(KINDS) == {type(ask).__name__ for ask in OTHER_ASKS}
    assert kinds == {type(ask).__name__ for ask, _ in ANSWERS}
    for ask, others in OTHER_ASKS.items():
        assert set(others) == {field.name for field in fields(ask)}  # type: ignore[arg-type]


def test_no_two_asks_judges_or_repeats_share_a_key() -> None:
    asks = list(OTHER_ASKS)
    for ask, others in OTHER_ASKS.items():
        asks += [
            replace(ask, **{name: value})  # type: ignore[type-var]
            for name, values in others.items()
            for value in values
        ]
    assert len(set(asks)) == len(asks)
    keys = [
        place(ask, fingerprint, repeat).key
        for ask in asks
        for fingerprint, repeat in (("f", 0), ("f", 1), ("g", 0), ("f repeat=1", 0))
    ]
    assert len(set(keys)) == len(keys)


def test_characters_that_look_alike_in_json_have_keys_of_their_own() -> None:
    texts = [
        "😀",
        "\ud83d\ude00",
        "\\ud83d\\ude00",
        "\ud83d",
        "é",
        "e\u0301",
        "\0",
        "\\u0000",
        "\n",
    ]
    assert len({place(Extract(text)).key for text in texts}) == len(texts)


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3), st.none() | st.text())
def test_equal_asks_share_a_key(claims: list[str], texts: list[str], q: str | None) -> None:
    ask = Entail(tuple(claims), tuple(texts), q)
    assert place(ask) == place(replace(ask))
    assert place(ask).key != place(replace(ask, against="response")).key


OPENAI: Mapping[str, Any] = {
    "base_url": "http://127.0.0.1:8/v1",
    "query": {"api-version": "1"},
    "temperature": 0.5,
    "seed": 1,
    "max_tokens": 99,
    "reply_format": "text",
    "extra": {"top_p": 0.5},
    "packed": True,
    "max_claims": 3,
    "max_chars": 99,
    "reasons": False,
    "embedding_model": "other",
}
SAME: Mapping[str, Any] = {
    "api_key_env": "OTHER_KEY",
    "key_header": "api-key",
    "timeout": 1.0,
    "concurrency": 1,
    "backoff": Backoff(first=9.0),
    "rpm": 9.0,
    "tpm": 9.0,
    "deadline": 9.0,
    "adaptive_timeout": False,
    "limiter": Limiter(2),
    "reasks": 1,
}
"""What reaches the same model with the same words."""


def fingerprint(model: str = "m", **options: Any) -> str:
    return openai_judge(model, **{"base_url": "http://127.0.0.1:9/v1", **options}).fingerprint


def test_no_two_configurations_of_a_judge_share_a_key() -> None:
    known = set(inspect.signature(openai_judge).parameters)
    assert known == {"model", "client", "prompts", *OPENAI, *SAME}
    prompts = ("extract", "opinions", "entail", "label", "rate", "grade", "questions")
    with pytest.raises(ConfigError) as unknown:
        fingerprint(prompts={"?": ""})
    assert set(str(unknown.value).rpartition("known: ")[2].split(", ")) == set(prompts)
    judges = {
        "": fingerprint(),
        "model": fingerprint("m2"),
        **{name: fingerprint(**{name: value}) for name, value in OPENAI.items()},
        **{f"prompt {kind}": fingerprint(prompts={kind: "Do."}) for kind in prompts},
        "no temperature": fingerprint(temperature=None),
        "no seed": fingerprint(seed=None),
        "no limit": fingerprint(max_tokens=None),
        "other extra": fingerprint(extra={"top_p": 0.25}),
        "nested extra": fingerprint(extra={"reasoning": {"effort": "low"}}),
        "other nested extra": fingerprint(extra={"reasoning": {"effort": "high"}}),
        "no embedding": fingerprint(embedding_model=None),
    }
    for (a, one), (b, other) in combinations(judges.items(), 2):
        assert place(Rate("a", "b"), one).key != place(Rate("a", "b"), other).key, (a, b)
    for name, value in SAME.items():
        assert fingerprint(**{name: value}) == fingerprint(), name


def test_an_ask_that_cannot_be_written_exactly_has_no_place() -> None:
    @dataclass(frozen=True)
    class Mine(Extract):
        pass

    assert entry(Mine("a"), "f") is None
    wrong: Any
    for wrong in (["a"], (b"a",), (1,), "a", None):
        assert entry(Entail(wrong, ("b",)), "f") is None, wrong
    odd: Any = float("nan")
    assert entry(Questions("a", odd), "f") is None


# --- answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("ask", "answer"), ANSWERS, ids=lambda x: type(x).__name__)
def test_an_answer_comes_back_as_it_was(ask: Ask[Any], answer: Any) -> None:
    got = unpack(place(ask), ask, packed(ask, answer))
    assert got == answer
    assert repr(got) == repr(answer)


@pytest.mark.parametrize(("ask", "answer"), ANSWERS, ids=lambda x: type(x).__name__)
def test_a_damaged_answer_is_not_read(ask: Ask[Any], answer: Any) -> None:
    blob = packed(ask, answer)
    for at in range(len(blob)):
        for bit in (0, 3, 7):
            flipped = blob[:at] + bytes([blob[at] ^ 1 << bit]) + blob[at + 1 :]
            with pytest.raises(ValueError, match="damaged"):
                unpack(place(ask), ask, flipped)
        with pytest.raises(ValueError, match="damaged"):
            unpack(place(ask), ask, blob[:at])
    for odd in (blob + b"x", b"", None, 7, "text", 1.5):
        with pytest.raises(ValueError, match="damaged"):
            unpack(place(ask), ask, odd)


def test_the_answer_to_another_ask_is_not_read() -> None:
    for (ask, _), (other, answer) in combinations(ANSWERS, 2):
        with pytest.raises(ValueError, match="damaged"):
            unpack(place(ask), ask, packed(other, answer))
    # As if two asks had one key:
    ask, other = ANSWERS[5][0], replace(ANSWERS[5][0], text="z")  # type: ignore[type-var]
    forged = replace(place(other), key=place(ask).key)
    blob = pack(forged, other, Rating(1))
    with pytest.raises(ValueError, match="another ask"):
        unpack(place(ask), ask, blob)


def test_an_answer_of_another_format_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    ask, answer = ANSWERS[2]
    new = place(ask)
    monkeypatch.setattr(codec, "FORMAT", 0)
    old = place(ask)
    assert old.key != new.key
    blob = pack(replace(old, key=new.key), ask, answer)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="another ask"):
        unpack(new, ask, blob)


CELL = msgspec.to_builtins(Cell(Verdict.NEUTRAL))
WRONG: list[tuple[Ask[Any], Any]] = [
    (Entail(("a",), ("b",)), [[CELL, CELL]]),
    (Entail(("a",), ("b",)), [[CELL], [CELL]]),
    (Entail(("a",), ("b",)), [CELL]),
    (Entail(("a",), ("b",)), [[{**CELL, "verdict": "maybe"}]]),
    (Entail(("a",), ("b",)), [[{**CELL, "probability": "0.5"}]]),
    (Entail(("a",), ("b",)), [[{**CELL, "more": 1}]]),
    (Entail(("a",), ("b",)), [[{k: v for k, v in CELL.items() if k != "reason"}]]),
    (Entail(("a",), ("b",)), [[{**CELL, "evidence": {"quote": "b", "start": 0, "end": 2}}]]),
    (Entail(("a",), ("b",)), [[{**CELL, "evidence": {"quote": "b", "start": True, "end": 1}}]]),
    (Extract("a"), [{**msgspec.to_builtins(Claim("a")), "start": 0}]),
    (Extract("a"), [{**msgspec.to_builtins(Claim("a")), "opinion": 1}]),
    (Extract("a"), "a"),
    (Label((("biased", "a"),)), []),
    (Label((("biased", "a"),)), [{**msgspec.to_builtins(Mark(True)), "value": 1}]),
    (Rate("a", "b"), {"value": 6, "reason": ""}),
    (Rate("a", "b"), {"value": 1.0, "reason": ""}),
    (Grade(("x",), "a"), [{"level": "very", "reason": ""}]),
    (Grade(("x",), "a"), []),
    (Questions("a", 1), {"questions": ["x", "y"], "noncommittal": False}),
    (Embed(("a",)), [[1.0], [1.0]]),
    (Embed(("a", "b")), [[1.0], [1.0, 2.0]]),
    (Embed(("a",)), [["1"]]),
    (Embed(("a",)), [[True]]),
    (Embed(("a",)), None),
]


@pytest.mark.parametrize(("ask", "data"), WRONG)
def test_an_answer_of_the_wrong_shape_is_not_read(ask: Ask[Any], data: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(place(ask), ask, raw(ask, json.dumps(data).encode()))


@pytest.mark.parametrize("text", [b"", b"{", b"[NaN]", b"[[Infinity]]", b"[[1e999]]", b"\xff"])
def test_what_is_no_json_of_numbers_is_not_read(text: bytes) -> None:
    ask = Embed(("a",))
    with pytest.raises(ValueError, match=r"."):
        unpack(place(ask), ask, raw(ask, text))


def test_deep_and_huge_answers_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Embed(("a",))
    with pytest.raises(ValueError, match="Expected"):
        unpack(place(ask), ask, raw(ask, b"[" * 200_000))
    other = Extract("a")
    for beginning in (b'[{"text":"\xed\xa0\x80","more":', b'[{"more":'):
        with pytest.raises(ValueError, match="deep"):
            unpack(place(other), other, raw(other, beginning + b"[" * 200_000))
    monkeypatch.setattr(codec, "LARGEST", 1000)
    with pytest.raises(ValueError, match="too long"):
        unpack(place(ask), ask, raw(ask, b" " * 1000 + b"[[1.0]]"))
    assert pack(place(ask), ask, ((1.0,) * 1000,)) is None


def raw(ask: Ask[Any], text: bytes) -> bytes:
    """A blob with a right check around any text."""
    body = zlib.compress(place(ask).identity + b"\n" + text)
    return codec._check(place(ask).key, body) + body


def test_what_would_not_come_back_equal_is_not_packed() -> None:
    odd: list[tuple[Ask[Any], Any]] = [
        (Embed(("a",)), ((float("nan"),),)),
        (Embed(("a",)), [[1.0]]),
        (Rate("a", "b"), object()),
        (Rate("a", "b"), None),
        (Label((("biased", "a"),)), (Mark(True, 1j),)),  # type: ignore[arg-type]
    ]
    for ask, answer in odd:
        assert pack(place(ask), ask, answer) is None, answer


def test_every_part_that_can_lack_something_is_looked_at() -> None:
    lacking: list[tuple[Ask[Any], Any]] = [
        (Entail(("a",), ("b",)), ((Cell(Verdict.UNKNOWN),),)),
        (Label((("biased", "a"),)), (Mark(None),)),
        (Rate("a", "b"), Rating(None)),
        (Grade(("x",), "a"), (Grading(None),)),
        (Questions("a"), Asked((), None)),
    ]
    assert len(lacking) == len(LACKING)
    for ask, answer in lacking:
        assert pack(place(ask), ask, answer) is None


def test_an_ask_says_what_answers_it() -> None:
    with pytest.raises(TypeError, match="what answers it"):
        _ = Kind(Ask, lambda ask, answer: True).answer
