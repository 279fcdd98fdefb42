"""What of ragas is not here, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

_PROMPTED = "it is a prompt of its own, not a quantity of claims"
_STRINGS = "it compares strings and needs no judge"
INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "AspectCritic": _PROMPTED,
        "SimpleCriteriaScore": _PROMPTED,
        "RubricsScore": _PROMPTED,
        "InstanceRubrics": _PROMPTED,
        "DiscreteMetric": _PROMPTED,
        "NumericMetric": _PROMPTED,
        "RankingMetric": _PROMPTED,
        "BleuScore": _STRINGS,
        "RougeScore": _STRINGS,
        "ExactMatch": _STRINGS,
        "StringPresence": _STRINGS,
        "NonLLMStringSimilarity": _STRINGS,
        "LLMContextPrecisionWithoutReference": "give the response as reference to "
        "LLMContextPrecisionWithReference",
        "ContextUtilization": "give the response as reference to ContextPrecision; "
        "assay.ContextUtilization is RAGChecker's",
        "MultiTurnSample": "samples are single turns",
        "LlamaIndexLLMWrapper": "use llm_factory, or LangchainLLMWrapper with a LangChain model",
    }
)


def absent(module: str, name: str, known: Sequence[str]) -> ImportError | AttributeError:
    """The error for a name that a module does not have.

    A class gives an ImportError that says what there is: ``from module import name`` would
    replace the message of an AttributeError, which any other name gives.

    >>> print(absent("m", "AspectCritic", ["Faithfulness"]))
    m has no AspectCritic: it is a prompt of its own, not a quantity of claims. It has: Faithfulness
    """
    if not name[:1].isupper():
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    why = INSTEAD.get(name)
    because = f": {why}" if why else ""
    return ImportError(f"{module} has no {name}{because}. It has: {', '.join(sorted(known))}")
