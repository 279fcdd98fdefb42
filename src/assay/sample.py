"""Samples: what was asked, retrieved and answered, and what is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import DataError


@dataclass(frozen=True, slots=True)
class Context:
    """One retrieved passage, with an optional id and an optional relevance label."""

    text: str
    id: str | None = None
    relevant: bool | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """An atomic, self-contained statement.

    ``start`` and ``end`` are character offsets into the text that it came from, where known;
    ``source`` counts the references (0 for a response). An ``opinion`` is a judgement or belief
    that the text utters rather than a fact that it states.
    """

    text: str
    start: int | None = None
    end: int | None = None
    source: int = 0
    opinion: bool = False

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form; ``source`` where it is not the first."""
        out = {"text": self.text, "start": self.start, "end": self.end}
        return out | ({"source": self.source} if self.source else {})


ContextLike = str | Context | Mapping[str, Any]
ClaimLike = str | Claim | Mapping[str, Any] | Sequence[str]


@dataclass(frozen=True, slots=True, init=False)
class Sample:
    """One row to score; every field may be absent.

    ``contexts`` takes strings, `Context` objects or mappings with ``text``, ``id`` and
    ``relevant``; a lone string is one context. ``references`` are alternative right answers.
    ``response_claims`` and ``reference_claims`` are claims that somebody made already: they are
    used as they are, and no judge is asked to make others.

    Raises DataError when a field has the wrong type.

    >>> Sample(response="Paris.", contexts="Paris is in France.", references="Paris").contexts
    (Context(text='Paris is in France.', id=None, relevant=None),)
    """

    question: str | None
    response: str | None
    contexts: tuple[Context, ...] | None
    references: tuple[str, ...] | None
    id: str | None
    metadata: Mapping[str, Any]
    response_claims: tuple[Claim, ...] | None
    reference_claims: tuple[Claim, ...] | None

    def __init__(
        self,
        question: str | None = None,
        response: str | None = None,
        contexts: str | Iterable[ContextLike] | None = None,
        references: str | Iterable[str] | None = None,
        *,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        response_claims: Iterable[ClaimLike] | None = None,
        reference_claims: Iterable[ClaimLike] | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "question", _text("question", question))
        put(self, "response", _text("response", response))
        put(self, "contexts", _contexts(contexts))
        put(self, "references", _references(references))
        put(self, "id", None if id is None else str(id))
        put(self, "metadata", dict(metadata or {}))
        put(self, "response_claims", _claims("response_claims", response_claims))
        put(self, "reference_claims", _claims("reference_claims", reference_claims))
        for n, claim in enumerate(self.reference_claims or ()):
            if not 0 <= claim.source < max(1, len(self.references or ())):
                raise DataError(f"reference_claims[{n}].source names no reference: {claim.source}")

    def replace(self, **changes: Any) -> Sample:
        """A copy with some fields changed."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return Sample(**{**fields, **changes})

    def as_dict(self) -> dict[str, Any]:
        """The fields that are present, as JSON-able values."""
        out: dict[str, Any] = {"id": self.id}
        for name in ("question", "response"):
            if (text := getattr(self, name)) is not None:
                out[name] = text
        if self.contexts is not None:
            out["contexts"] = [_context_json(c) for c in self.contexts]
        if self.references is not None:
            out["references"] = list(self.references)
        for name in ("response_claims", "reference_claims"):
            if (claims := getattr(self, name)) is not None:
                out[name] = [claim.as_dict() for claim in claims]
        if self.metadata:
            out["metadata"] = dict(self.metadata)
        return out


def _context_json(context: Context) -> dict[str, Any]:
    optional = {"id": context.id, "relevant": context.relevant}
    return {"text": context.text} | {k: v for k, v in optional.items() if v is not None}


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise DataError(f"{name} must be text, not {_kind(value)}")


def _contexts(value: object) -> tuple[Context, ...] | None:
    if value is None:
        return None
    if isinstance(value, str | Context | Mapping):
        return (_context(0, value),)
    if not isinstance(value, Iterable):
        raise DataError(f"contexts must be a list of texts, not {_kind(value)}")
    return tuple(_context(n, item) for n, item in enumerate(value))


def _context(n: int, value: object) -> Context:
    if isinstance(value, Context):
        return value
    if isinstance(value, str):
        return Context(value)
    if isinstance(value, Mapping):
        text = value.get("text")
        if not isinstance(text, str):
            raise DataError(f"contexts[{n}] has no 'text'; it has {sorted(map(str, value))}")
        relevant, name = value.get("relevant"), value.get("id", value.get("doc_id"))
        if relevant is not None and not isinstance(relevant, bool):
            raise DataError(f"contexts[{n}].relevant must be true or false, not {relevant!r}")
        return Context(text, None if name is None else str(name), relevant)
    raise DataError(f"contexts[{n}] must be text, not {_kind(value)}")


def _references(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, Mapping):
        raise DataError(f"references must be a text or a list of texts, not {_kind(value)}")
    items = tuple(value)
    for n, item in enumerate(items):
        if not isinstance(item, str):
            raise DataError(f"references[{n}] must be text, not {_kind(item)}")
    return items


def _claims(name: str, value: object) -> tuple[Claim, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise DataError(f"{name} must be a list of texts, not {_kind(value)}")
    return tuple(_claim(name, n, item) for n, item in enumerate(value))


def _claim(name: str, n: int, value: object) -> Claim:
    if isinstance(value, Claim):
        return value
    if isinstance(value, str):
        return Claim(value)
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        places = {
            key: value[key] for key in ("start", "end", "source") if value.get(key) is not None
        }
        for key, place in places.items():
            if not isinstance(place, int) or isinstance(place, bool):
                raise DataError(f"{name}[{n}].{key} must be a whole number, not {place!r}")
        return Claim(value["text"], **places)
    if isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value):
        return Claim(" ".join(value))  # RAGChecker's (subject, predicate, object) triplets
    raise DataError(f"{name}[{n}] must be text, not {_kind(value)}")


def _kind(value: object) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", bool: "true/false"}
    if value is None:
        return "null"
    return names.get(type(value), f"a {type(value).__name__}")
