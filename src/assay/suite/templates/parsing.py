"""Template text to syntax tree. Jinja reads the text; nothing of it is compiled or run here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

from assay.suite.templates.limits import Refusal

MOST_TOKENS = 50_000
"""A token costs about 1 kB in the syntax tree."""

NODES = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign,
    nodes.AssignBlock, nodes.FilterBlock, nodes.Name, nodes.Const, nodes.List, nodes.Tuple,
    nodes.Dict, nodes.Pair, nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Call, nodes.Keyword,
    nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Concat, nodes.Compare, nodes.Operand,
    nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul,
    nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow,
)  # fmt: skip
"""All that a template may consist of; include, import, extends, block and macro are not here."""

RAW = "write {% raw %} … {% endraw %} around text that holds such braces"
HINTS = (
    ("'&'", "write 'and' for '&&'"),
    ("got '|'", "write 'or' for '||'"),
    ("'?'", "write {{ this if test else that }}"),
    ("unknown tag 'verbatim'", "write {% raw %} … {% endraw %}"),
    ("unknown tag", "the tags are for, if, set, filter and raw; " + RAW),
)


class Strict(str):
    """The operator ``==`` or ``!=`` where ``===`` or ``!==`` was written."""

    __slots__ = ()


class Dialect(Extension):
    """Nunjucks' own spellings, ``===``, ``!==`` and ``elseif``, and an end to long templates."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens with those spellings replaced; raises Refusal for too many."""
        held: Token | None = None
        for count, token in enumerate(stream):
            if count >= MOST_TOKENS:
                raise Refusal(f"it has more than {MOST_TOKENS} parts; split it")
            strict = held is not None and held.type in {"eq", "ne"} and token.type == "assign"
            tag = held is not None and held.type == "block_begin"
            if strict and held is not None:
                held = Token(held.lineno, Strict(held.type), held.value)
                continue
            if held is not None:
                yield held
            spelled = token.value if token.type == "name" else ""
            held = Token(token.lineno, "name", "elif") if tag and spelled == "elseif" else token
        if held is not None:
            yield held


def environment() -> ImmutableSandboxedEnvironment:
    """What reads templates: Jinja's sandbox, though no template gets as far as to run in it."""
    return ImmutableSandboxedEnvironment(extensions=[Dialect], keep_trailing_newline=True)


def parse(source: str, reader: ImmutableSandboxedEnvironment) -> tuple[nodes.Template, int]:
    """The syntax tree of a template, and how many nodes it has, all of them among ``NODES``.

    Raises Refusal or TemplateSyntaxError, which knows the line.
    """
    with warnings.catch_warnings():
        # Python warns of escapes such as \\d in a text, which a template may well hold.
        warnings.simplefilter("ignore")
        tree = reader.parse(source)
    count = 0
    for node in tree.find_all(nodes.Node):
        _check(node)
        count += 1
    return tree, count


def hint(message: str) -> str:
    """What to do about a syntax error."""
    return next((advice for sign, advice in HINTS if sign in message), RAW)


def _check(node: nodes.Node) -> None:
    """Raises Refusal for what Nunjucks' users do not need and could do harm."""
    problem = ""
    if not isinstance(node, NODES):
        problem = f"'{type(node).__name__.lower()}' is not supported in suites"
    elif isinstance(node, nodes.For) and (node.recursive or node.test):
        problem = "'for' takes neither 'if' nor 'recursive'; put an {% if %} inside"
    elif isinstance(node, nodes.For) and not _names_only(node.target):
        problem = "'for' gives values to plain names"
    elif isinstance(node, (nodes.Assign, nodes.AssignBlock)) and not isinstance(
        node.target, nodes.Name
    ):
        problem = "'set' sets one name; use one 'set' a name"
    elif isinstance(node, (nodes.Call, nodes.Filter, nodes.Test)) and (
        node.dyn_args is not None or node.dyn_kwargs is not None
    ):
        problem = "'*' and '**' before an argument are not supported"
    if problem:
        raise Refusal(problem, node.lineno)


def targets(target: nodes.Node) -> list[str]:
    """The names that a loop or a ``set`` gives values to."""
    parts = target.items if isinstance(target, nodes.Tuple) else [target]
    return [part.name for part in parts if isinstance(part, nodes.Name)]


def _names_only(target: nodes.Node) -> bool:
    parts = target.items if isinstance(target, nodes.Tuple) else [target]
    return len(targets(target)) == len(parts)
