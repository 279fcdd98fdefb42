"""HTML made of elements: whatever is not an element is text, and escaped."""

from __future__ import annotations

import html
import re

LONGEST = 20_000
"""Characters of one text that a page shows."""


class Html(str):
    """Markup that is safe to put into a page as it is."""

    __slots__ = ()


def el(name: str, *children: str, **attributes: str | bool | None) -> Html:
    """An element; children that are not `Html` are escaped, None and False attributes left out.

    A trailing ``_`` of an attribute's name is dropped, others become ``-``.

    >>> print(el("td", "<b>", el("i", "x"), class_="a", data_k='"'))
    <td class="a" data-k="&quot;">&lt;b&gt;<i>x</i></td>
    """
    return Html(f"<{name}{_attributes(attributes)}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Elements and texts one after another."""
    return Html("".join(one if isinstance(one, Html) else escaped(one) for one in children))


def escaped(text: str) -> Html:
    """The text as text: nothing in it is markup, and what cannot be seen is made visible."""
    if _UNSEEN.search(text):
        text = _UNSEEN.sub(_seen, text)
    return Html(html.escape(text))


def long_text(text: str) -> Html:
    """A text of any length; one over `LONGEST` characters is cut, and says so."""
    if len(text) <= LONGEST:
        return escaped(text)
    remark = f"Shortened: the first {LONGEST:,} of {len(text):,} characters. JSON outputs have all."
    return joined(text[:LONGEST], "… ", el("em", remark, class_="cut"))


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def _seen(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code == 0x0D:
        return ""  # The line feed after it breaks the line.
    if code < 0x20:
        return chr(0x2400 + code)
    return "�" if 0xD800 <= code < 0xE000 else f"[U+{code:04X}]"


def _attributes(attributes: dict[str, str | bool | None]) -> str:
    out = []
    for name, value in attributes.items():
        key = name.rstrip("_").replace("_", "-")
        if value is True:
            out.append(f" {key}")
        elif value is not None and value is not False:
            out.append(f' {key}="{escaped(value)}"')
    return "".join(out)
