"""What an endpoint accepts: reply formats and sampling parameters, found out as it refuses them."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.errors import ConfigError, did_you_mean
from assay.judges.complete import Schema

Format = Literal["json_schema", "json_object", "text"]
LADDER: tuple[Format, ...] = ("json_schema", "json_object", "text")
"""Reply formats, the strictest first."""

_FORMAT = re.compile(
    r"response_format|json_schema|json_object|structured.output|guided.(?:json|grammar|decoding)"
    r"|xgrammar|grammar (?:error|is)"
    r"|(?:parse|compile|build|invalid|unsupported)\W+(?:\w+\W+)?grammar",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"support|unrecogni[sz]ed|unknown|unexpected|extra|permitted|allowed|invalid|\bonly\b|should be"
    r"|too large|at most|exceed|maximum",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(r"too large|context|at most", re.IGNORECASE)
_INPUT = re.compile(r"""["']?\binput(?:_value)?["']?\s*[=:].*""", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r"""(?<!\w)(["'`])(.*?)(?:\1(?!\w)|$)|“(.*?)(?:”|$)""", re.DOTALL)
_TELLING = 300
"""Characters at the beginning of a refusal that say what is refused."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is asked for; what is None is left to the endpoint.

    ``reply_format`` is the strictest format to try; ``extra`` goes into every request body, over
    anything of ours. Raises ConfigError for a format that does not exist.
    """

    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int | None = 4096
    reply_format: Format = "json_schema"
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reply_format not in LADDER:
            near = did_you_mean(self.reply_format, list(LADDER))
            raise ConfigError(f"unknown reply_format {self.reply_format!r}: {near}")

    def parts(self) -> dict[str, Any]:
        """The fields, for a fingerprint."""
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "reply_format": self.reply_format,
            "extra": dict(self.extra),
        }

    def terms(self, *, newest: bool) -> Terms:
        """The terms to begin with; ``newest`` prefers the newer name of the length limit."""
        wanted = {"temperature": self.temperature, "seed": self.seed}
        limits = ["max_tokens", "max_completion_tokens"]
        return Terms(
            {name: value for name, value in wanted.items() if value is not None},
            limits[::-1] if newest else limits,
            self.reply_format,
        )


@dataclass
class Terms:
    """The parameters that go with every request, and what has been given up so far.

    ``sampling`` are the parameters that may be dropped, ``limits`` the names under which the
    limit of the reply's length may be sent, the preferred one first.
    """

    sampling: dict[str, Any]
    limits: list[str]
    format: Format
    settled: bool = False
    proven: set[tuple[str, ...]] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    _served: set[tuple[str, ...]] = field(default_factory=set)

    def parameters(self, schema: Schema | None, limit: int | None) -> dict[str, Any]:
        """The part of a request's body that is open to negotiation."""
        out = dict(self.sampling)
        if limit is not None and self.limits:
            out[self.limits[0]] = limit
        if schema is not None and self.format == "json_schema":
            wanted = {"name": schema.name, "strict": True, "schema": schema.body}
            out["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif schema is not None and self.format == "json_object":
            out["response_format"] = {"type": "json_object"}
        return out

    def give_up(self, sent: Mapping[str, Any], param: str | None, message: str) -> bool:
        """Whether a refusal names a parameter of ours, so that it is worth sending anew.

        What the refusal names is given up, unless another call did that meanwhile. What has
        served once is kept, but for a length limit that is too large for one long request.
        """
        message = _own_words(message)
        name = self._named(sent, param, message)
        if name is None:
            return False
        if _mark(name, sent) in self.proven and not (
            name in self.limits and _TOO_LONG.search(message)
        ):
            return False
        if name == "response_format":
            refused = sent[name]["type"]
            if refused == self.format:
                self.format = LADDER[LADDER.index(refused) + 1]
                self._note(f"no {refused} replies: using {self.format}")
        elif name in self.sampling:
            del self.sampling[name]
            self._note(f"parameter {name} refused: left out")
        elif self.limits and name == self.limits[0]:
            self._next_limit(name, message)
        return True

    def proved(self, sent: Mapping[str, Any]) -> None:
        """Note that a request with these parameters was served."""
        form = _mark("response_format", sent) if "response_format" in sent else ()
        if (kind := (*sent, *form)) not in self._served:
            self._served.add(kind)
            self.proven.update(_mark(name, sent) for name in sent)

    def _next_limit(self, name: str, message: str) -> None:
        del self.limits[0]
        if _TOO_LONG.search(message):
            self.limits.clear()
        use = f"using {self.limits[0]}" if self.limits else "sending no limit"
        self._note(f"parameter {name} refused: {use}")

    def _named(self, sent: Mapping[str, Any], param: str | None, message: str) -> str | None:
        if param is not None:
            words = re.split(r"\W+", param)
            if near := _first(sent, words):
                return near
            if "messages" in words:
                return None
        if "response_format" in sent and _FORMAT.search(message):
            return "response_format"
        if not _REFUSES.search(message):
            return None
        return _first(sent, re.findall(r"\w+", message))

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _mark(name: str, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """What a request proves of a parameter: of a reply format, its type and its schema."""
    value = sent[name]
    if not isinstance(value, Mapping):
        return (name,)
    return name, str(value.get("type")), str(value.get("json_schema", {}).get("name"))


def _own_words(message: str) -> str:
    """The beginning of a refusal, without what it repeats of the request.

    >>> _own_words("Invalid 'seed' in 'the seed of a plant'; input={'grammar of Latin'}").split()
    ['Invalid', "'seed'", 'in', ';']
    """
    return _unquoted(_INPUT.sub("", message[:2000]))[:_TELLING]


def _unquoted(text: str) -> str:
    """The text without quoted phrases, but for words and for what refuses something itself."""

    def kept(found: re.Match[str]) -> str:
        phrase = found[2] if found[3] is None else found[3]
        if not re.search(r"\s", phrase):
            return found[0]
        return f" {_unquoted(phrase)} " if _REFUSES.search(phrase) else " "

    return _QUOTED.sub(kept, text)


def _first(names: Container[str], words: Sequence[str]) -> str | None:
    """The first of the words that is one of the names."""
    return next((word for word in words if word in names), None)
