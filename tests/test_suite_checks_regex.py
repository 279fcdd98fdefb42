"""regex: JavaScript's meaning, bounded in time and size."""

from __future__ import annotations

import time

import pytest

from assay.suite.assertions.table import VALIDATORS
from suite_checks import holds, reason, refused


@pytest.mark.parametrize(
    ("pattern", "output", "expected"),
    [
        (r"\d+", "it is 42", True),
        (r"^it", "it is", True),
        (r"^is", "it is", False),
        (r"is$", "it is", True),
        (r"is$", "it is\n", False),  # the very end
        (r"[.]$", "it is.\n", False),
        (r"^.*$", "a\nb", False),
        (r"a.b", "a\u2028b", False),
        (r"a.b", "a b", True),
        (r"\d", "٣", False),
        (r"^\w+$", "café", False),
        (r"\s%", "12\u00a0%", True),
        (r"[\s,]%", "12\u00a0%", True),
        (r"^\S+$", "12\u00a0%", False),
        (r"^[\s\S]+$", "a\nb", True),
        (r"^[^]+$", "a\nb", True),
        (r"[]", "anything", False),
        (r"[[]$", "a[", True),
        (r"[\]]", "]", True),
        (r"(?<y>\d)\k<y>", "11", True),
        (r"x{e}", "x{e}", True),
        (r"x{e}", "x", False),
        (r"a{,2}b", "a{,2}b", True),
        (r"a{2}b", "aab", True),
        (r"\{\"a\": 1\}", '{"a": 1}', True),
        (r"é", "café", True),
        (r"(?i)CAFÉ", "café", True),
        (r"(?m)^b$", "a\nb\nc", True),
        (r"^$", "", True),
        (r"(?=.*x)(?=.*y)", "y x", True),
    ],
)
def test_a_pattern_means_what_it_does_in_javascript(
    pattern: str, output: str, expected: bool
) -> None:
    assert holds("regex", output, pattern) is expected


def test_the_reason_shows_the_match_and_where_it_is() -> None:
    assert reason("regex", "it is 42", r"\d+") == (
        r"the output matches '\\d+': '42' at character 7"
    )
    assert "does not match 'x'; it is empty" in reason("regex", "", "x")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing )"),
        ("[a", "unterminated"),
        ("*", "nothing to repeat"),
        ("[z-a]", "range"),
        ("", "empty"),
        ("(((a{50}){50}){50}){50}", "repeats too much"),
        ("a{999999999999}", "repeats too much"),
        ("a" * 30_000, "repeats too much"),
        ("(" * 5000 + ")" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_pattern_is_refused_beforehand(pattern: str, why: str) -> None:
    assert why in (VALIDATORS["regex"](pattern) or "")
    assert why in refused("regex", "an output", pattern)


def test_a_pattern_must_be_a_text() -> None:
    assert "as text" in (VALIDATORS["regex"](5) or "")


@pytest.mark.parametrize("pattern", [r"^(a|aa)+$", r"(x+x+)+y"])
def test_a_search_that_takes_too_long_is_given_up(pattern: str) -> None:
    began = time.perf_counter()
    assert "takes too long" in refused("regex", "a" * 60 + "x" * 50_000 + "!", pattern)
    assert time.perf_counter() - began < 8
