"""contains and its kin, starts-with: texts that the output has or begins with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from assay.suite.assertions.base import CannotCheckError, Check, Found, Given, Kind
from assay.suite.assertions.quoting import plain, quoted

_SHOWN = 3
_BEGINNING = 60

Fold = Callable[[str], str]


def as_it_is(text: str) -> str:
    """The text itself."""
    return text


def split_commas(value: str) -> list[str]:
    r"""The parts of a text between commas, without outer space; empty ones are left out.

    A part in double quotes may hold commas; in it \" or "" is a quotation mark and \\ a
    backslash. Raises ValueError where a quotation mark is not closed, or text follows it.

    >>> split_commas('Paris, "Lyon, France",, 3')
    ['Paris', 'Lyon, France', '3']
    """
    parts: list[str] = []
    at = 0
    while True:
        while at < len(value) and (value[at].isspace() or value[at] == ","):
            at += 1
        if at == len(value):
            return parts
        if value[at] == '"':
            part, at = _in_quotes(value, at + 1)
        else:
            end = value.find(",", at)
            end = len(value) if end < 0 else end
            part, at = value[at:end].rstrip(), end
        parts.append(part)


def _in_quotes(value: str, at: int) -> tuple[str, int]:
    """The part in quotes that begins there, and where the comma after it is."""
    out: list[str] = []
    while at < len(value):
        pair = value[at : at + 2]
        if pair in ('\\"', "\\\\", '""'):
            out.append(pair[1])
            at += 2
        elif value[at] == '"':
            after = at + 1
            while after < len(value) and value[after].isspace():
                after += 1
            if after < len(value) and value[after] != ",":
                raise ValueError("a comma must follow a part in quotation marks")
            return "".join(out), after
        else:
            out.append(value[at])
            at += 1
    raise ValueError("a quotation mark is not closed")


def bad_text(value: Any) -> str | None:
    """What is wrong with a value that is to be one text or number; None if nothing is."""
    if isinstance(value, dict | list) or value is None:
        return "the value must be a text"
    return None if plain(value) else "the value is empty: every output has that"


def bad_texts(value: Any) -> str | None:
    """What is wrong with a value that is to be several texts; None if nothing is."""
    try:
        texts = _texts(value)
    except ValueError as error:
        return str(error)
    if not texts:
        return "the value names no text"
    if not all(texts):
        return "one of the texts is empty: every output has that"
    return None


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return split_commas(value)
    if not isinstance(value, list | tuple):
        return [plain(value)]
    if any(isinstance(each, dict | list) or each is None for each in value):
        raise ValueError("each of the value's items must be a text")
    return [plain(each) for each in value]


def contains(given: Given, fold: Fold) -> Found:
    """Whether the output has the text somewhere."""
    wanted = _checked(given, bad_text, plain)
    at = fold(given.text).find(fold(wanted))
    if at >= 0:
        return Found(True, f"the output has {quoted(wanted)} at character {at + 1}")
    return Found(False, f"the output does not have {quoted(wanted)}; {_beginning(given.text)}")


def contains_any(given: Given, fold: Fold) -> Found:
    """Whether the output has at least one of the texts."""
    wanted: list[str] = _checked(given, bad_texts, _texts)
    text = fold(given.text)
    for each in wanted:
        if fold(each) in text:
            return Found(True, f"the output has {quoted(each)}")
    return Found(False, f"the output has none of {_list(wanted)}; {_beginning(given.text)}")


def contains_all(given: Given, fold: Fold) -> Found:
    """Whether the output has every one of the texts."""
    wanted: list[str] = _checked(given, bad_texts, _texts)
    text = fold(given.text)
    missing = [each for each in wanted if fold(each) not in text]
    if not missing:
        return Found(True, f"the output has all of {_list(wanted)}")
    lacks = f"the output lacks {len(missing)} of {len(wanted)}: {_list(missing)}"
    return Found(False, f"{lacks}; {_beginning(given.text)}")


def starts_with(given: Given) -> Found:
    """Whether the output begins with the text."""
    wanted = _checked(given, bad_text, plain)
    holds = given.text.startswith(wanted)
    if holds:
        return Found(True, f"the output begins with {quoted(wanted)}")
    return Found(
        False, f"the output does not begin with {quoted(wanted)}; {_beginning(given.text)}"
    )


def _checked(given: Given, problem: Callable[[Any], str | None], read: Callable[[Any], Any]) -> Any:
    """The value as it is to be; it may have been filled in since the config was read."""
    if wrong := problem(given.value):
        raise CannotCheckError(wrong)
    return read(given.value)


def _beginning(text: str) -> str:
    return f"it begins {quoted(text, _BEGINNING)}" if text else "it is empty"


def _list(texts: list[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(quoted(each, 30) for each in texts[:_SHOWN]) + more


def _kind(name: str, about: str, check: Check, *types: type) -> Kind:
    return Kind(name, about, check, types=(str, int, float, *types))


KINDS = (
    _kind("contains", "the output has the text", partial(contains, fold=as_it_is)),
    _kind("icontains", "the output has the text, in any case", partial(contains, fold=str.lower)),
    _kind(
        "contains-any",
        "the output has at least one of the texts (a list, or separated by commas)",
        partial(contains_any, fold=as_it_is),
        list,
    ),
    _kind(
        "icontains-any",
        "the output has at least one of the texts, in any case",
        partial(contains_any, fold=str.lower),
        list,
    ),
    _kind(
        "contains-all",
        "the output has every one of the texts (a list, or separated by commas)",
        partial(contains_all, fold=as_it_is),
        list,
    ),
    _kind(
        "icontains-all",
        "the output has every one of the texts, in any case",
        partial(contains_all, fold=str.lower),
        list,
    ),
    _kind("starts-with", "the output begins with the text", starts_with),
)
