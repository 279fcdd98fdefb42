"""Templates rendered once over plain data: texts, values that keep their type, JSON prompts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from jinja2 import TemplateSyntaxError, nodes

from assay.suite.templates.dumping import load
from assay.suite.templates.expressions import check_name
from assay.suite.templates.limits import Limits, Meter, Refusal, TemplateError
from assay.suite.templates.names import free_names
from assay.suite.templates.parsing import environment, hint, parse
from assay.suite.templates.statements import Rendering
from assay.suite.templates.values import UNDEFINED, is_list, kind

MARKS = ("{{", "{%", "{#")
HEAD = 40
"""Characters of a template that an error shows."""

CACHED = 256
CACHED_SIZE = 60_000
"""Most nodes of all cached templates together, about 60 MB."""


class _Tree(NamedTuple):
    root: nodes.Template
    size: int


class Templates:
    """Renders templates; those read last are kept, so that one object should serve a whole suite.

    ``env`` holds what {{ env.NAME }} may see; a missing name prints nothing. A variable called
    ``env`` hides it. All methods raise TemplateError, a ConfigError, for a template that cannot be
    read, reaches for what it may not see or exceeds ``limits``.

    >>> Templates().render("{{ name | upper }}: {{ tags }}", {"name": "a", "tags": ["x", "y"]})
    'A: x,y'
    """

    def __init__(
        self, env: Mapping[str, str] | None = None, *, limits: Limits | None = None
    ) -> None:
        self._env: Mapping[str, str] = dict(env or {})
        self._limits = limits or Limits()
        self._reader = environment()
        self._trees: OrderedDict[str, _Tree] = OrderedDict()
        self._kept = 0

    def has_template(self, text: str) -> bool:
        """Whether ``text`` holds what may be a tag: {{, {% or {#."""
        return any(mark in text for mark in MARKS)

    def render(self, text: str, vars: Mapping[str, Any]) -> str:
        """The text with its tags replaced, once; values are inserted and never rendered.

        Undefined names, and what is looked up in them, print nothing.

        >>> Templates().render("{{ a.b }}{{ x }}", {"x": "{{ 7 * 7 }}"})
        '{{ 7 * 7 }}'
        """
        rendered: str = self._rendered(text, vars, Meter(self._limits), keep_type=False)
        return rendered

    def render_value(self, value: Any, vars: Mapping[str, Any]) -> Any:
        """``value`` with every text in its lists and mapping values rendered.

        A text that is one lone {{ expression }} becomes what the expression gives, a list for
        example; "" if that is undefined. Mapping keys and other types stay.

        >>> Templates().render_value({"n": "{{ xs.length }}", "s": "{{ xs }}!"}, {"xs": [1, 2]})
        {'n': 2, 's': '1,2!'}
        """
        meter = Meter(self._limits)
        return self._walk(value, meter, lambda text: self._rendered(text, vars, meter, True))

    def render_json(self, text: str, vars: Mapping[str, Any]) -> Any:
        """The value of a JSON template, whose texts are rendered after it is parsed.

        So quotes in data break nothing. A template that is JSON only once rendered, say because
        of {{ xs | dump }}, is rendered first.

        >>> Templates().render_json('[{"content": "{{ q }}"}]', {"q": 'so "quoted"'})
        [{'content': 'so "quoted"'}]
        """
        meter = Meter(self._limits)
        self._check(text)
        with self._told(text, meter):
            try:
                parsed = load(meter, text)
            except Refusal:
                parsed = UNDEFINED
        if parsed is not UNDEFINED:
            return self._walk(parsed, meter, lambda part: self._rendered(part, vars, meter, False))
        rendered = self._rendered(text, vars, meter, keep_type=False)
        with self._told(text, meter, "; write {{ value | dump }} for values inside JSON"):
            return load(meter, rendered)

    def names(self, text: str) -> set[str]:
        """The variables that the template refers to, without those that it sets itself.

        >>> sorted(Templates().names("{% for c in chunks %}{{ c.text + sep }}{% endfor %}"))
        ['chunks', 'sep']
        """
        if not self._check(text):
            return set()
        with self._told(text, Meter(self._limits)):
            return free_names(self._tree(text))

    def check(self, text: str) -> None:
        """Raise TemplateError for a template that cannot be read or names an unknown filter.

        >>> Templates().check("{{ x | upcase }}")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        assay.suite.templates.limits.TemplateError: template ... there is no filter 'upcase'; ...
        """
        if self._check(text):
            meter = Meter(self._limits)
            with self._told(text, meter):
                for node in self._tree(text).find_all((nodes.Filter, nodes.Test)):
                    meter.line = node.lineno
                    check_name(node)

    def _rendered(self, text: str, vars: Mapping[str, Any], meter: Meter, keep_type: bool) -> Any:
        if not self._check(text):
            return text
        with self._told(text, meter):
            tree = self._tree(text)
            rendering = Rendering(vars, self._env, meter)
            lone = _lone(tree) if keep_type else None
            if lone is None:
                return rendering.render(tree)
            value = rendering.value(lone)
            return "" if value is UNDEFINED else value

    def _walk(self, value: Any, meter: Meter, render: Callable[[str], Any]) -> Any:
        """``value`` with its texts rendered, however often it holds the same list."""
        with self._told("", meter):
            return _walked(value, meter, render)

    def _check(self, text: str) -> bool:
        """Whether ``text`` is to be rendered; raises TemplateError for no text or a giant one."""
        if not isinstance(text, str):
            raise TemplateError(f"a template is text, not {kind(text)}")
        if not self.has_template(text):
            return False
        if len(text) > self._limits.template:
            raise TemplateError(
                f"template {_head(text)} has {len(text)} characters, more than "
                f"{self._limits.template}; put the data into variables"
            )
        return True

    def _tree(self, text: str) -> nodes.Template:
        """The syntax tree of ``text``, kept for the next time."""
        if text in self._trees:
            self._trees.move_to_end(text)
            return self._trees[text].root
        root, size = parse(text, self._reader)
        self._trees[text] = _Tree(root, size)
        self._kept += size
        while self._trees and (self._kept > CACHED_SIZE or len(self._trees) > CACHED):
            _, dropped = self._trees.popitem(last=False)
            self._kept -= dropped.size
        return root

    @contextmanager
    def _told(self, text: str, meter: Meter, advice: str = "") -> Iterator[None]:
        """Whatever stops the template, as a TemplateError that says where and what to do."""
        try:
            yield
        except TemplateSyntaxError as error:
            why = str(error.message)
            problem = f"{why.rstrip('.')}; {hint(why)}"
            raise TemplateError(_where(text, error.lineno) + problem) from None
        except Refusal as error:
            raise TemplateError(
                _where(text, error.line or meter.line) + f"{error}{advice}"
            ) from None
        except (RecursionError, MemoryError):
            raise TemplateError(
                _where(text, meter.line) + "it nests too deep or grows too large; make it simpler"
            ) from None
        except (ValueError, OverflowError):
            raise TemplateError(
                _where(text, meter.line) + "it holds a number that is too large; write it as text"
            ) from None


def _walked(value: Any, meter: Meter, render: Callable[[str], Any]) -> Any:
    meter.step()
    if isinstance(value, str):
        rendered = render(value)
        if isinstance(rendered, str):
            meter.make_text(len(rendered), rendered)
        return rendered
    if isinstance(value, Mapping):
        meter.make_items(4 * len(value))
        return {key: _walked(item, meter, render) for key, item in value.items()}
    if is_list(value):
        meter.make_items(len(value))
        return [_walked(item, meter, render) for item in value]
    return value


def _lone(tree: nodes.Template) -> nodes.Expr | None:
    """The expression of a template that consists of nothing else."""
    body = tree.body
    if len(body) != 1 or not isinstance(body[0], nodes.Output) or len(body[0].nodes) != 1:
        return None
    only = body[0].nodes[0]
    return None if isinstance(only, nodes.TemplateData) else only


def _head(text: str) -> str:
    """The beginning of a template, on one line."""
    start = " ".join(text[: 2 * HEAD].split())
    return repr(start if len(text) <= HEAD else start[:HEAD] + "…")


def _where(text: str, line: int) -> str:
    return f"template {_head(text)}, line {line}: " if text else "template: "
