"""`assert_scores`: bounds, failures, what is shown of them."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from assay import Faithfulness, Sample, ScriptedJudge, evaluate
from assay.errors import ConfigError, DataError, JudgeUnavailable
from assay.pytest_plugin import assert_scores, assert_scores_async
from assay.pytest_plugin.lines import columns
from gliders import HEAD, RIGHT, SAMPLE, VERDICTS, WRONG


def scripted() -> ScriptedJudge:
    return ScriptedJudge(verdicts=VERDICTS)


def message(expectations: Mapping[str, Any], sample: Any = SAMPLE, **options: Any) -> str:
    """What the assertion says that does not hold."""
    with pytest.raises(AssertionError) as caught:
        assert_scores(sample, expectations, scripted(), **options)
    return str(caught.value)


@pytest.mark.parametrize("expected", [">= 0.5", ">.4", "== 0.5", "<= 0.5", "< 0.51", 0.5, 0])
def test_scores_as_expected_pass_and_are_returned(expected: Any) -> None:
    run = assert_scores(SAMPLE, {"faithfulness": expected}, scripted())
    assert run["faithfulness"].mean == 0.5


@pytest.mark.parametrize("expected", [">= 0.51", "> 0.5", "== 0.4", "<= 0.49", "< 0.5", 0.6, 1])
def test_scores_beyond_a_bound_fail(expected: Any) -> None:
    assert "faithfulness 0.5, expected" in message({"faithfulness": expected})


def test_a_number_is_the_most_where_lower_is_better() -> None:
    sample = {**SAMPLE, "references": RIGHT}
    assert_scores(sample, {"hallucination": 0.5}, scripted())
    assert message({"hallucination": 0.4}, sample).startswith("hallucination 0.5, expected <= 0.4")


def test_a_failure_shows_claims_verdicts_and_evidence() -> None:
    sample = {**SAMPLE, "references": RIGHT}
    said = message({"faithfulness": ">= 0.8", "precision": ">= 0.9", "recall": 1}, sample)
    assert said.splitlines() == [
        "faithfulness 0.5, expected >= 0.8 (and 1 more)",
        "question: How high?",
        f"response: {RIGHT} {WRONG}",
        "faithfulness 0.5, expected >= 0.8 (1 of 2)",
        "  - “It took off from Chile.”",
        "    contradicted by context 1: “from Argentina” (p 0.02)",
        "    it names another country",
        "precision 0.5, expected >= 0.9 (1 of 2)",
        "  - “It took off from Chile.”",
        "    neutral to every reference",
        "as expected: recall 1",
    ]


def test_a_score_that_is_too_high_shows_what_counted() -> None:
    said = message({"faithfulness": "<= 0.2"})
    assert f"  - “{RIGHT}”" in said
    assert "entailed by context 0" in said
    assert f"“{WRONG}”" not in said


def test_all_metrics_of_a_call_share_their_verdicts() -> None:
    judge = scripted()
    sample = {**SAMPLE, "references": RIGHT}
    assert_scores(sample, {"faithfulness": 0.5, "hallucination": 0.5, "self_knowledge": 0}, judge)
    asked = [type(ask).__name__ for ask in judge.asked]
    assert asked.count("Extract") == 1
    assert asked.count("Entail") == 2  # against the contexts and against the reference


def test_each_of_several_samples_must_be_as_expected() -> None:
    good = {**SAMPLE, "response": RIGHT}
    samples = [good, Sample(**SAMPLE, id="odd"), *[SAMPLE] * 6]
    said = message({"faithfulness": 0.8}, samples)
    assert said.startswith("7 of 8 samples: faithfulness 0.5, expected >= 0.8 (and 6 more)\n")
    assert "sample 2 of 8 (odd)" in said
    assert said.endswith("… and 2 more samples")
    assert_scores([good, good], {"faithfulness": 1}, scripted())


class Down(ScriptedJudge):
    async def answer(self, ask: Any) -> Any:
        raise JudgeUnavailable("the endpoint answered 503")


@pytest.mark.parametrize("expected", [">= 0", "<= 1", 0])
def test_a_failed_score_never_passes(expected: Any) -> None:
    with pytest.raises(AssertionError, match="failed, expected") as caught:
        assert_scores(SAMPLE, {"faithfulness": expected}, Down())
    assert "JudgeUnavailable: the endpoint answered 503" in str(caught.value)
    said = message({"faithfulness": expected}, {"response": "a"}, undefined="skip")
    assert "the sample has no contexts" in said


def test_an_undefined_score_fails_unless_it_is_to_be_left_out() -> None:
    empty = {**SAMPLE, "response": ""}
    said = message({"faithfulness": ">= 0"}, empty)
    assert said.startswith("faithfulness undefined, expected >= 0\n")
    assert "no claims" in said
    run = assert_scores([SAMPLE, empty], {"faithfulness": 0.5}, scripted(), undefined="skip")
    assert [row.scores["faithfulness"].value for row in run] == [0.5, None]
    with pytest.raises(pytest.skip.Exception, match="no claims"):
        assert_scores(empty, {"faithfulness": 0.5}, scripted(), undefined="skip")


BAD = [
    ({"faithfulness": "80%"}, "'80%' is no bound; write e.g. '>= 0.8'"),
    ({"faithfulness": "0.8"}, "'0.8' is no bound"),
    ({"faithfulness": "=> 0.8"}, "is no bound"),
    ({"faithfulness": ">= nan"}, "is no bound"),
    ({"faithfulness": True}, "True is no bound"),
    ({"faithfulness": None}, "None is no bound"),
    ({"faithfulness": (">=", 0.8)}, "is no bound"),
    ({"faithfulness": 80}, "out of range; its scores are 0 to 1"),
    ({"faithfulness": float("nan")}, "out of range"),
    ({"faithfulness": ">= 1e999"}, "out of range"),
    ({"faithfullness": 0.8}, "did you mean 'faithfulness'"),
    ({"faithfulness": 0.8, " faithfulness": 0.8}, "given twice"),
    ({}, 'no expectations; give bounds by metric, e.g. {"faithfulness"'),
    ("faithfulness >= 0.8", "no expectations"),
]


@pytest.mark.parametrize(("expectations", "said"), BAD)
def test_expectations_that_cannot_work(expectations: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=r"^[^\n]*$") as caught:
        assert_scores(SAMPLE, expectations, scripted())
    assert said in str(caught.value)


def test_nothing_to_assert_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no samples"):
        assert_scores([], {"faithfulness": 0.8}, scripted())
    with pytest.raises(ConfigError, match="must be 'fail' or 'skip'"):
        assert_scores(SAMPLE, {"faithfulness": 0.8}, scripted(), undefined="pass")  # type: ignore[arg-type]
    with pytest.raises(DataError):
        assert_scores({**SAMPLE, "contexts": 3}, {"faithfulness": 0.8}, scripted())
    with pytest.raises(ConfigError, match="no judge"):
        assert_scores(SAMPLE, {"faithfulness": 0.8}, object())  # type: ignore[arg-type]


def test_metrics_can_be_objects() -> None:
    run = assert_scores(Sample(**SAMPLE), {Faithfulness(joined=True): "<= 1"}, scripted())
    assert run.metrics == ["faithfulness(joined=true)"]


def test_what_is_shown_fits_100_columns_and_acts_on_no_terminal() -> None:
    long = "日本語" * 80 + " \x1b[31mred\u202e " + "word " * 200 + "x" * 500
    sample = {"question": long, "response": long, "contexts": [long], "id": long}
    samples = [{**sample, "references": "?"}, {**sample, "references": "!", "id": "other"}]
    said = message({"faithfulness": 0.5, "precision": 0.5}, samples)
    lines = said.splitlines()
    assert max(map(columns, lines)) <= 92
    assert columns(lines[0]) <= 76
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert len(lines) < 80


def test_many_claims_are_counted() -> None:
    claims = [f"Claim {n}." for n in range(20)]
    said = message({"faithfulness": 0.5}, {"response": " ".join(claims), "contexts": ["?"]})
    assert "“Claim 7.”" in said
    assert "“Claim 8.”" not in said
    assert said.endswith("… and 12 more")


def test_a_value_is_never_rounded_onto_its_bound() -> None:
    claims = [f"Claim {n}." for n in range(2000)]
    sample = {"response": "?", "response_claims": claims, "contexts": [" ".join(claims[1:])]}
    with pytest.raises(AssertionError, match=r"^faithfulness 0\.9995, expected >= 1\n"):
        assert_scores(sample, {"faithfulness": 1}, ScriptedJudge())


async def test_async() -> None:
    run = await assert_scores_async(SAMPLE, {"faithfulness": 0.5}, scripted())
    assert len(run) == 1
    with pytest.raises(AssertionError, match=r"faithfulness 0\.5"):
        await assert_scores_async(SAMPLE, {"faithfulness": 0.6}, scripted())
    with pytest.raises(ConfigError):
        await assert_scores_async(SAMPLE, {"faithfulness": "x"}, scripted())


async def test_the_plain_one_works_in_a_running_loop() -> None:
    assert_scores(SAMPLE, {"faithfulness": 0.5}, scripted())


def test_a_thread_of_a_test_needs_a_judge() -> None:
    caught: list[Any] = []

    def work() -> None:
        assert_scores(SAMPLE, {"faithfulness": 0.5}, scripted())
        try:
            assert_scores(SAMPLE, {"faithfulness": 0.5})
        except ConfigError as error:
            caught.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert caught == ["in a thread of its own a test has no judge: give judge=..."]


def test_without_pytest() -> None:
    code = HEAD.replace("import pytest, ", "import ") + (
        "import sys\n"
        "assert_scores(SAMPLE, {'faithfulness': 0}, assay.ScriptedJudge())\n"
        "assert 'pytest' not in sys.modules\n"
        "assert_scores({**SAMPLE, 'response': ''}, {'faithfulness': 0}, assay.ScriptedJudge(),"
        " undefined='skip')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.stderr.splitlines()[-1].startswith("unittest.case.SkipTest: nothing to measure")


def test_evaluate_agrees() -> None:
    ours = assert_scores(SAMPLE, {"faithfulness": 0}, scripted())
    theirs = evaluate([SAMPLE], ["faithfulness"], scripted())
    assert [row.as_dict() for row in ours] == [row.as_dict() for row in theirs]
