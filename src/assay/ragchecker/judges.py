"""RAGChecker's names of models as judges."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from assay.api import openai
from assay.asks import Judge
from assay.errors import ConfigError, JudgeUnavailable, MissingExtra
from assay.judges.complete import Completion, Messages, Schema
from assay.judges.llm import LLMJudge
from assay.judges.named import open_judge
from assay.judges.route import RoutedJudge

BatchFunction = Callable[[list[str]], Sequence[str]]
"""RAGChecker's ``custom_llm_api_func``: prompts in, replies out, in order."""
Model = str | Judge


def two_judges(
    extractor: Model | None,
    checker: Model | None,
    *,
    extractor_base: str | None = None,
    checker_base: str | None = None,
    key: str | None = None,
) -> Judge:
    """One judge that takes claims from ``extractor`` and verdicts from ``checker``.

    Where only one is named it does both; without any, the default judge does.
    """
    if extractor is None or checker is None:
        extractor = checker = extractor if checker is None else checker
        extractor_base = checker_base = extractor_base or checker_base
    extract = _judge(extractor, extractor_base, key)
    if extractor is checker or (extractor, extractor_base) == (checker, checker_base):
        return extract
    return RoutedJudge(extract=extract, entail=_judge(checker, checker_base, key))


def function_judge(function: BatchFunction) -> Judge:
    """A judge that asks a function of prompts, one prompt at a time in a thread."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return LLMJudge(
        _FunctionComplete(function), name=name, fingerprint_parts={"custom_llm_api_func": name}
    )


class _FunctionComplete:
    def __init__(self, function: BatchFunction) -> None:
        self._function = function

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        prompt = "\n\n".join(message["content"] for message in messages)
        try:
            replies = await asyncio.to_thread(self._function, [prompt])
            return Completion(str(replies[0]))
        except Exception as error:
            said = f"custom_llm_api_func: {type(error).__name__}: {error}"
            raise JudgeUnavailable(said) from error


def _judge(model: Model | None, base: str | None, key: str | None) -> Judge:
    if not isinstance(model, str):
        return open_judge(model)
    kind, separator, name = model.partition("/")
    if separator and kind == "openai":
        model = f"openai:{name}"
    if not model.startswith("openai:"):
        if model != "embedded":
            raise ConfigError(
                f"{model!r} is no judge; write 'embedded' or 'openai/MODEL' (any compatible "
                "endpoint, by extractor_api_base and checker_api_base), or pass a judge object"
            )
        return open_judge(model)
    name = model.removeprefix("openai:")
    if key is None:
        return openai(name, base_url=base)
    return openai(name, client=_client(key, base))


def _client(key: str, base: str | None) -> object:
    """A client of the openai package, which keeps the key; nothing here does.

    The synchronous one: it belongs to no event loop, and closes itself.
    """
    try:
        from openai import OpenAI
    except ImportError:
        raise MissingExtra("openai (or set OPENAI_API_KEY instead)", "openai") from None
    return OpenAI(api_key=key, base_url=base)
