"""Templates of suites: rendering once, keeping types, JSON prompts, names, and clear errors."""

from __future__ import annotations

import math
import time
from datetime import date
from typing import Any

import pytest

from assay.errors import ConfigError
from assay.suite.templates import Limits, TemplateError, Templates
from assay.suite.templates.values import number_text

CHUNKS = [{"text": "Paris is big.", "relevant": True}, {"text": 'Rome "is" old.\n'}]


@pytest.fixture
def templates() -> Templates:
    return Templates({"NAME": "assay", "EMPTY": ""})


def refused(templates: Templates, text: str, **variables: Any) -> str:
    """The message of the error that ``text`` ends in."""
    with pytest.raises(TemplateError) as caught:
        templates.render(text, variables)
    assert isinstance(caught.value, ConfigError)
    return str(caught.value)


# --- render --------------------------------------------------------------------------------------


def test_values_are_inserted_and_never_rendered(templates: Templates) -> None:
    hostile = "{{ 7 * 7 }}{% for x in y %}{# no #}{% raw %}"
    assert templates.render("<{{ x }}>", {"x": hostile}) == f"<{hostile}>"
    assert templates.render("{{ xs }}", {"xs": [hostile]}) == hostile
    assert templates.render_value(["{{ x }}", "{{ x }}."], {"x": hostile}) == [
        hostile,
        f"{hostile}.",
    ]
    assert templates.render_json('{"a": "{{ x }}"}', {"x": hostile}) == {"a": hostile}
    assert templates.render("{% set y = x %}{{ y | upper | lower }}", {"x": "{{ q }}"}) == "{{ q }}"


def test_a_prompt_over_chunks(templates: Templates) -> None:
    prompt = (
        "Q: {{ question }}\n{% for c in chunks %}[{{ loop.index }}] {{ c.text | trim }}"
        "{% if not c.relevant %} (aside){% endif %}\n{% endfor %}"
    )
    assert templates.render(prompt, {"question": "Où?", "chunks": CHUNKS}) == (
        'Q: Où?\n[1] Paris is big.\n[2] Rome "is" old. (aside)\n'
    )


def test_text_without_tags_stays_as_it_is(templates: Templates) -> None:
    for text in ("", "plain", "a }} b %} c #}\r\n", "{ x }", "\n", "{\n{ x }}"):
        assert templates.render(text, {}) == text
        assert not templates.has_template(text)
    assert all(map(templates.has_template, ("{{x}}", "a {% if", "{# c #}")))


def test_a_last_newline_is_kept(templates: Templates) -> None:
    assert templates.render("{{ x }}\n", {"x": 1}) == "1\n"


@pytest.mark.parametrize(
    ("template", "printed"),
    [
        ("{{ n }} {{ missing.a['b'][0].c }}", " "),
        ("{{ d }}", "2026-11-22"),
        ("{{ big }}", str(2**70)),
        ("{{ keys[1] }}{{ keys['1'] }}{{ keys.one }}", "aa1"),
        ("{{ tuple }}", "1,2"),
        ("{{ 'é' + n }}{{ n ~ 1 }}{{ [n] | join }}", "é1"),
        ("{{ 'ab' 'c' }}{{ 'abc'[-2:] }}{{ [1, 2, 3][::-1] }}", "abcbc3,2,1"),
        ("{{ words | map('upper') | join }}{{ objects | map(attribute='k.j') | join }}", "AB12"),
        ("{{ words.concat(words).lastIndexOf('a') }}{{ words.at(5) }}", "2"),
        ("{{ 'a-b'.split('-', 1) | dump }}{{ 'abcd'.substr(1, 2) }}", '["a"]bc'),
        ("{{ '<b>x</b> < y <!-- never ends' | striptags }}", "x < y <!-- never ends"),
        ("{{ nan }}|{{ inf }}|{{ [nan] | dump }}", "NaN|-Infinity|[null]"),
        ("{% set t | upper | trim %} a {% endset %}{{ t }}", "A"),
        (
            "{{ 3 is gt(2) }}{{ 3 is le(3) }}{{ 2 is ne(2) }}{{ none is undefined }}",
            "truetruefalsefalse",
        ),
        ("{% for k, v in keys %}{{ k }}={{ v }} {% endfor %}", "1=a one=1 "),
        ("{{ x === 1 }}{% if x !== 1 %}strict{% endif %}{{ x == 1 }}", "falsestricttrue"),
    ],
)
def test_values_of_python_and_yaml(templates: Templates, template: str, printed: str) -> None:
    variables = {
        "n": None, "d": date(2026, 11, 22), "big": 2**70, "keys": {1: "a", "one": 1},
        "tuple": (1, 2), "words": ["a", "b"], "objects": [{"k": {"j": 1}}, {"k": {"j": 2}}],
        "nan": math.nan, "inf": -math.inf, "x": "1",
    }  # fmt: skip
    assert templates.render(template, variables) == printed


@pytest.mark.parametrize(
    ("number", "printed"),
    [(1e16, "10000000000000000"), (123456789012345680000.0, "123456789012345680000"),
     (1e21, "1e+21"), (-1.5e-9, "-1.5e-9"), (1e-6, "0.000001"), (100, "100"), (-0.0, "0")],
)  # fmt: skip
def test_numbers_print_as_in_javascript(number: float, printed: str) -> None:
    assert number_text(number) == printed


def test_environment_by_name_only(templates: Templates) -> None:
    assert templates.render("{{ env.NAME }}{{ env['NAME'] }}[{{ env.NOPE }}]", {}) == "assayassay[]"
    assert templates.render("{{ env.NOPE | default('x') }}", {}) == "x"
    for whole in ("{{ env }}", "{{ env | dump }}", "{% set e = env %}", "{{ [env] }}"):
        message = refused(templates, whole)
        assert "env.NAME" in message
        assert "assay" not in message
    assert "mapping" in refused(templates, "{% for k in x %}{% endfor %}", x={"a": 1})
    assert templates.render("{{ env.a }}", {"env": {"a": "own"}}) == "own"


def test_data_is_left_as_it_was(templates: Templates) -> None:
    xs = [3, 1, 2]
    printed = templates.render("{{ xs.sort() }} {{ xs.reverse() }} {{ xs | sort }}", {"xs": xs})
    assert printed == "1,2,3 2,1,3 1,2,3"
    assert xs == [3, 1, 2]
    assert "no method of a list" in refused(templates, "{{ xs.push(1) }}", xs=xs)


# --- values and JSON -----------------------------------------------------------------------------


def test_a_lone_expression_keeps_its_type(templates: Templates) -> None:
    variables = {"chunks": CHUNKS, "n": 2, "none": None, "o": {"k": [True]}}
    rendered = templates.render_value(
        {
            "chunks": "{{ chunks }}", "n": "{{n}}", "dotted": "{{ o.k[0] }}",
            "none": "{{ o.none }}",
            "null": "{{ none }}", "half": "{{ n / 4 }}",
            "texts": "{{ chunks | map(attribute='text') }}",
            "mixed": " {{ n }}", "twice": "{{ n }}{{ n }}",
            "kept": 1.5, "list": ["{{ n }}", {"a": "{{ n }}!"}],
            "{{ n }}": None,
        },
        variables,
    )  # fmt: skip
    assert rendered["chunks"] is CHUNKS
    assert rendered == {
        "chunks": CHUNKS, "n": 2, "dotted": True, "none": "", "null": None, "half": 0.5,
        "texts": [chunk["text"] for chunk in CHUNKS], "mixed": " 2", "twice": "22", "kept": 1.5,
        "list": [2, {"a": "2!"}], "{{ n }}": None,
    }  # fmt: skip


def test_json_prompts_survive_quotes_in_data(templates: Templates) -> None:
    chat = '[{"role": "user", "content": "Context: {{ text }}"}, {"n": 1, "on": true}]'
    text = 'a "quoted"\n\\ line {{ x }}'
    assert templates.render_json(chat, {"text": text}) == [
        {"role": "user", "content": f"Context: {text}"},
        {"n": 1, "on": True},
    ]


def test_json_that_needs_rendering_first(templates: Templates) -> None:
    text = '{"chunks": {{ chunks | dump }}{% if more %}, "more": {{ more }}{% endif %}}'
    assert templates.render_json(text, {"chunks": CHUNKS}) == {"chunks": CHUNKS}
    assert templates.render_json(text, {"chunks": [], "more": 2}) == {"chunks": [], "more": 2}
    assert templates.render_json("{{ x }}", {"x": 5}) == 5
    with pytest.raises(TemplateError, match=r"not valid JSON.*\{\{ value \| dump \}\}"):
        templates.render_json('{"a": {{ x }}}', {"x": 'say "hi"'})
    for text in ("", "NaN", "[1", "plain text"):
        with pytest.raises(TemplateError, match="not valid JSON"):
            templates.render_json(text, {})


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("plain", ""),
        ("{{ a.b[c] | default(d) }} {{ e }}", "a c d e"),
        ("{% for x in xs %}{{ x.y + loop.index + z }}{% else %}{{ w }}{% endfor %}", "xs z w"),
        ("{% for x in xs %}{% endfor %}{{ x }}", "xs x"),
        ("{% set a = b %}{{ a }}{{ c }}", "b c"),
        ("{{ a }}{% set a = a %}", "a"),
        ("{% if a %}{% set b = 1 %}{% endif %}{{ b }}", "a b"),
        ("{% if a %}{% set b = 1 %}{% else %}{% set b = 2 %}{% endif %}{{ b }}", "a"),
        ("{{ env.HOME }}{{ range(n) }}{{ null }}{{ undefined }}{{ true }}", "n"),
        ("{{ {a: b, 'c': d} | dump(e) }}", "b d e"),
        ("{% set s %}{{ a }}{% endset %}{{ s }}", "a"),
        ("{% filter replace(b, '') %}{{ c }}{% endfilter %}", "b c"),
        ("{% raw %}{{ a }}{% endraw %}{# {{ b }} #}{{ a.toFixed(p) if q is gt(r) }}", "a p q r"),
        ("{{ 10 ** 10 ** 10 ** 10 }}{{ 'a' * 10000000000 }}", ""),
    ],
)  # fmt: skip
def test_names_that_a_template_needs(templates: Templates, template: str, names: str) -> None:
    assert templates.names(template) == set(names.split())


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "line", "part"),
    [
        ("a\nb {{ x", 2, "{% raw %}"),
        ("use {{ }} here", 1, "{% raw %}"),
        ("a {% b", 1, "{% raw %}"),
        ("x\n\n{% if a %}no end", 3, "{% raw %}"),
        ("{# no end", 1, "comment"),
        ("{{ a && b }}", 1, "write 'and'"),
        ("{{ a || b }}", 1, "write 'or'"),
        ("{{ a ? b : c }}", 1, "if test else"),
        ("ok\n{{ x | uper }}", 2, "did you mean 'upper'?"),
        ("{{ x is strng }}", 1, "did you mean 'string'?"),
        ("{{ 'x'.toUppercase() }}", 1, "did you mean 'toUpperCase'?"),
        ("{{ 'x'.trim }}", 1, "call it: trim()"),
        ("{{ missing.trim() }}", 1, "x | trim"),
        ("{{ 1 / 0 }}", 1, "no finite number"),
        ("{{ missing * 2 }}", 1, "nothing * a number"),
        ("{% for x in 5 %}{% endfor %}", 1, "cannot loop over a number"),
        ("{{ 'x' | replace }}{{ [1] | batch }}", 1, "filter 'batch' cannot work on a list"),
        ("{{ [1] | batch(0) }}", 1, "at least 1"),
        ("{{ 'x' | truncate('many') }}", 1, "a number is needed, not text"),
        ("{{ 'x' | upper(what=1) }}{{ 'x' | upper(meter=1) }}", 1, "filter 'upper'"),
        ("{{ '{' | load }}", 1, "not valid JSON"),
        ("{{ 'x' in 5 }}", 1, "'in' needs"),
        ("{{ [1] | random }}", 1, "same prompts"),
        ("{% set a, b = 1 %}", 1, "one name"),
        ("{{ x.b | dump }}{{ x | dump }}", 1, "cannot write a value of type object"),
        ("{{ x }}", 1, "cannot print a value of type object"),
    ],
)  # fmt: skip
def test_errors_say_where_and_what_to_do(
    templates: Templates, template: str, line: int, part: str
) -> None:
    message = refused(templates, template, x=object() if "x " in template else "x")
    assert part in message
    assert f"line {line}: " in message
    assert message.startswith("template ")


def test_errors_show_the_beginning_only(templates: Templates) -> None:
    message = refused(templates, "Answer the question " * 9 + "{{ 'x' | nope }}")
    assert message.startswith("template 'Answer the question Answer the question …', line 1: ")
    with pytest.raises(TemplateError, match="a template is text, not a number"):
        templates.render(5, {})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["output", "steps", "seconds", "template", "memory"])
@pytest.mark.parametrize("value", [0, -1, math.nan, True, "many"])
def test_limits_are_positive_numbers(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"limit {field} must be a positive number"):
        Limits(**{field: value})


# --- kept templates ------------------------------------------------------------------------------


def test_templates_read_last_are_kept_within_bounds(templates: Templates) -> None:
    for n in range(1000):
        assert templates.render(f"{{{{ x }}}} {n}", {"x": n}) == f"{n} {n}"
    assert len(templates._trees) <= 256
    for n in range(5):
        templates.render("{{ x }}" * 8000 + str(n), {})
    assert templates._kept == sum(tree.size for tree in templates._trees.values()) <= 60_000


def test_a_kept_template_is_fast(templates: Templates) -> None:
    text = "{{ x }} " * 50 + "{% for c in cs %}{{ c.text }}{% endfor %}"
    templates.render(text, {})
    start = time.process_time()
    for _ in range(100):
        templates.render(text, {"x": "a", "cs": CHUNKS})
    assert time.process_time() - start < 1
