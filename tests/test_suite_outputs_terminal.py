"""The table and the closing lines of a suite in a terminal."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from assay.cli.suite_tables import suite_table, summary_lines
from assay.suite.outcome import SuiteRun
from assay.suite.providers.base import Answer
from suite_runs import (
    CONTAINS,
    FAITHFUL,
    LABELLED,
    LATE,
    MISLED,
    NOISE,
    SET,
    WRONG,
    every_status,
    repeated,
    result,
)


def shown(run: SuiteRun, width: int = 120, **options: Any) -> str:
    screen = Console(file=StringIO(), width=width, force_terminal=False)
    screen.print(suite_table(run, **options))
    assert isinstance(screen.file, StringIO)
    return screen.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_fits(width: int) -> None:
    lines = shown(every_status(), width).splitlines()
    assert max(map(cell_len, lines)) <= width
    # Why has room for whole words, also where the terminal is narrow.
    assert any("It took off from" in line for line in lines)
    assert any("contradicted by context 1" in line for line in lines)
    assert sum(" fail " in line for line in lines) == 2


def test_the_table_says_why() -> None:
    text = shown(every_status())
    assert "grounded (context-faithfulness): score 0.5, wanted" in text
    assert "1 of 2 claims is supported" in text
    assert "“It took off from Chile.” contradicted by context 1" in text
    assert "HTTP 429: slow down" in text
    assert "the judge answered 503" in text
    assert "the run was stopped" in text


def test_the_table_tells_which_noise_and_that_a_claim_is_incorrect() -> None:
    row = result(0, "fail", outcomes=(MISLED,) * 3, vars={"contextChunks": LABELLED})
    for run in (SuiteRun([row]), SuiteRun([row, replace(row, provider="other")])):
        text = " ".join(shown(run, 400).split())
        assert "noise-sensitivity (irrelevant, ragas): noise sensitivity 0.5 (1 of 2)" in text
        said = "incorrect; entailed by context 1 (irrelevant): “took off from Chile”"
        assert f"“It took off from Chile.” {said}" in text
        assert text.count("and 2 more assertions") == len(run.results)


def test_claims_that_are_not_shown_are_counted() -> None:
    many = replace(FAITHFUL, items=tuple(replace(WRONG, claim=f"claim {n}") for n in range(4)))
    text = shown(SuiteRun([result(0, "fail", outcomes=(many, CONTAINS, FAITHFUL))]))
    assert "and 3 more claims, and 1 more assertion" in text
    assert "claim 1" not in text


def test_errors_and_what_was_skipped_have_no_bound() -> None:
    broken = replace(FAITHFUL, status="error", value=None, reason="no judge", items=())
    text = shown(SuiteRun([result(0, "error", outcomes=(broken, LATE), score=None)]))
    assert "grounded (context-faithfulness): no judge" in text
    assert "wanted" not in text
    empty = replace(broken, status="fail", reason="nothing to measure")
    text = shown(SuiteRun([result(0, "fail", outcomes=(empty,))]), 200)
    assert "no score, wanted at least 0.8: nothing to measure" in text


def test_what_failed_in_a_set_that_passed_is_not_to_blame() -> None:
    fine = replace(SET, status="pass", parts=(replace(NOISE, type="in-set"), CONTAINS))
    text = shown(SuiteRun([result(0, "fail", outcomes=(fine, FAITHFUL))]))
    assert "in-set" not in text
    assert "grounded" in text
    low = replace(SET, parts=(CONTAINS, CONTAINS), reason="score 0.8, threshold at least 0.9")
    text = shown(SuiteRun([result(0, "fail", outcomes=(low,))]))
    assert "assert-set: score 0.8, threshold at least 0.9" in text


def test_an_errored_result_tells_the_error_before_a_failure() -> None:
    broken = replace(FAITHFUL, status="error", type="llm-rubric", metric=None, reason="no answer")
    text = shown(SuiteRun([result(0, "error", outcomes=(FAITHFUL, broken), score=None)]))
    assert "llm-rubric" in text
    assert "grounded" not in text


def test_what_tells_results_apart_has_a_column() -> None:
    assert " provider " in shown(every_status()).splitlines()[1]
    assert "provider" not in shown(repeated(2))
    prompts = [result(0, prompt_index=n, prompt=f"prompt {n}") for n in range(2)]
    head, *_ = [line for line in shown(SuiteRun(prompts)).splitlines() if "status" in line]
    assert " prompt " in head
    both = SuiteRun([*prompts, *(replace(one, provider="other") for one in prompts)])
    assert "provider, prompt" in shown(both)
    assert "other, prompt 1" in shown(both)


def test_of_many_results_those_that_did_not_pass_come_first() -> None:
    text = shown(repeated(400, failing=3))
    lines = [line for line in text.splitlines() if line.lstrip()[:1].isdigit() and ":" in line]
    assert [line.split()[0] for line in lines[:4]] == ["398:", "399:", "400:", "1:"]
    assert len(lines) == 25
    assert "25 of 400 results, those that did not pass first" in text


def test_few_results_keep_their_order() -> None:
    lines = [line.split()[0] for line in shown(repeated(25, failing=1)).splitlines() if ":" in line]
    assert lines[0] == "1:"
    assert "results" not in shown(repeated(25))


def test_outside_texts_do_not_act_on_the_screen() -> None:
    bad = "[red]x[/red] \x1b[31m \x07 \u202e \ud800 [link=http://e]y[/link]"
    outcome = replace(FAITHFUL, reason=bad, type=bad, items=(replace(WRONG, claim=bad),))
    row = result(0, "fail", description=bad, provider=bad, answer=Answer(bad), outcomes=(outcome,))
    run = SuiteRun([row, replace(row, provider="b")], "", {"judges": {bad: ""}})
    text = shown(run, 200) + "\n".join(summary_lines(run))
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\ud800"}
    assert "[red]x[/red]" in text
    assert "[red]" in summary_lines(run)[-1]


def test_the_table_of_huge_texts_is_short() -> None:
    huge = "word " * 1_000_000
    outcome = replace(FAITHFUL, reason=huge, items=(replace(WRONG, claim=huge, reason=huge),))
    run = SuiteRun([result(0, "fail", description=huge, answer=Answer(huge), outcomes=(outcome,))])
    assert len(shown(run, 80)) < 3000


def test_the_closing_lines_count_and_sum_up() -> None:
    assert summary_lines(every_status()) == [
        "1 passed, 2 failed, 2 errors, 1 skipped; pass rate 20.0\xa0%",
        "providers: 5 calls, 230 tokens (210 in, 20 out), 100 tokens from the cache, $0.0040",
        "judges: openai:gpt-4o · 7 calls, 980 tokens (900 in, 80 out)",
        "took: 12.3 s",
    ]
    assert summary_lines(SuiteRun([])) == ["0 passed, 0 failed; pass rate 0.0\xa0%"]


def test_a_pass_rate_of_100_means_all() -> None:
    assert "pass rate 99.9\xa0%" in summary_lines(repeated(3000, failing=1))[0]
    assert "pass rate 66.7\xa0%" in summary_lines(repeated(6, failing=2))[0]
    assert "pass rate 100.0\xa0%" in summary_lines(repeated(30))[0]


def test_secrets_are_taken_out() -> None:
    def scrub(record: Any) -> Any:
        record["results"]["results"][0]["error"] = "[redacted]"
        return record

    run = SuiteRun([result(0, "error", answer=Answer(error="key k3y"), outcomes=(), score=None)])
    assert "k3y" in shown(run)
    assert "[redacted]" in shown(run, scrub=scrub)
    assert "k3y" not in shown(run, scrub=scrub)
