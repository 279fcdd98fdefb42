"""Which model a judge asks, and where: what its price depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from assay.asks import Judge
from assay.judges.sizing import Foreseeing

_NAMES = ("model", "model_name", "model_id", "deployment_name", "azure_deployment")
_URLS = ("base_url", "openai_api_base", "azure_endpoint", "anthropic_api_url", "groq_api_base")
_HOMES: Mapping[str, str] = MappingProxyType(
    {
        "langchain_openai": "https://api.openai.com/v1",
        "langchain_anthropic": "https://api.anthropic.com",
        "langchain_groq": "https://api.groq.com/openai/v1",
        "langchain_mistralai": "https://api.mistral.ai/v1",
        "langchain_deepseek": "https://api.deepseek.com",
    }
)
"""Where the models of an integration are asked unless they say otherwise."""
NOWHERE = "unknown:"
"""An endpoint that no table of prices knows."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The model that a judge asks and the URL that it is asked at; None: not told.

    ``batched``: it is asked in batch files, which have a price of their own.
    """

    model: str | None = None
    base_url: str | None = None
    embedding_model: str | None = None
    batched: bool = False


def endpoint_of(judge: object) -> Endpoint:
    """The endpoint of a chat model's judge; empty for any other judge."""
    said = getattr(judge, "endpoint", None)
    if not isinstance(said, Mapping):
        return Endpoint()
    embedding = getattr(judge, "embedding_model", None)
    fields = said.get("fields")
    if not isinstance(fields, Mapping):
        model, where = _first(said, _NAMES), _first(said, _URLS) or NOWHERE
        return Endpoint(model, where, embedding, _is_batched(judge))
    home = _HOMES.get(str(said.get("class", "")).partition(".")[0], NOWHERE)
    return Endpoint(_first(fields, _NAMES), _first(fields, _URLS) or home, embedding)


def _first(said: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    found = (said.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), None)


def _is_batched(judge: object) -> bool:
    from assay.judges.batch.judge import BatchJudge

    return isinstance(judge, BatchJudge)


def is_local(judge: Judge) -> bool:
    """Whether the judge is a model on this machine, which takes time and no money."""
    from assay.judges.classifier import ClassifierJudge
    from assay.judges.embedded.judge import EmbeddedJudge

    return not isinstance(judge, Foreseeing) and isinstance(judge, EmbeddedJudge | ClassifierJudge)
