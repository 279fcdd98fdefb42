"""Judges by name, as the command line and ``evaluate`` take them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from assay.asks import Judge
from assay.errors import ConfigError, did_you_mean

DEFAULT_JUDGE = "embedded"
JUDGES: Mapping[str, str] = {
    "embedded": "offline; a small entailment model inside the package",
    "openai:MODEL": "any OpenAI-compatible endpoint (OPENAI_BASE_URL, OPENAI_API_KEY)",
    "hhem": "HHEM-2.1-Open; hhem:FOLDER for local weights (pip install 'assay[hhem]')",
    "nli:MODEL": "any NLI cross-encoder, by folder or hub name (pip install 'assay[nli]')",
    "langchain": "a LangChain chat model object; from Python: assay.langchain(model)",
    "scripted": "says what it is told to; for tests; from Python: assay.ScriptedJudge(...)",
}


def open_judge(
    judge: str | Judge | None = None,
    *,
    packed: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Judge:
    """The judge of a name, such as "embedded" or "openai:MODEL"; an object is handed through.

    None is the environment variable ASSAY_JUDGE or, where that is unset, "embedded". ``packed``:
    a judge that is called over a network gets all premises of an ask in one call. ``options``
    are further ones of `assay.openai`, for "openai:MODEL" alone. Raises ConfigError for a name
    that is not known.
    """
    if judge is None:
        judge = os.environ.get("ASSAY_JUDGE") or DEFAULT_JUDGE
    if not isinstance(judge, str):
        if not hasattr(judge, "answer"):
            raise ConfigError(f"{judge!r} is no judge; give a name or a judge object")
        return judge
    kind, _, model = judge.partition(":")
    if kind == "embedded" and not model:
        from assay.judges.embedded import EmbeddedJudge

        return EmbeddedJudge()
    if kind == "openai":
        from assay.judges.openai import openai_judge

        model = _named(model, "openai:MODEL, e.g. openai:gpt-4o-mini")
        return openai_judge(model, packed=packed, **(options or {}))
    if options:
        raise ConfigError(f"judge {judge!r} is not called over a network: no {', '.join(options)}")
    if kind in ("hhem", "nli"):
        return _classifier(kind, model)
    if kind in ("langchain", "scripted"):
        raise ConfigError(f"judge {kind!r} needs an object: {JUDGES[kind]}")
    known = [name.partition(":")[0] for name in JUDGES]
    near = did_you_mean(kind, known)
    if near.startswith("known") and "-" in judge:  # the name of a model alone
        near = f"did you mean 'openai:{judge}'?"
    raise ConfigError(f"unknown judge {judge!r}; {near}")


def _classifier(kind: str, model: str) -> Judge:
    if kind == "hhem":
        from assay.judges.hhem import hhem_judge

        return hhem_judge(model) if model else hhem_judge()
    from assay.judges.nli import nli_judge

    return nli_judge(_named(model, "nli:FOLDER or nli:OWNER/NAME"))


def _named(model: str, form: str) -> str:
    if not model:
        raise ConfigError(f"which model? write {form}")
    return model
