"""rouge-n, bleu and gleu: what the output shares with references, as promptfoo computes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from assay.metrics.ngrams import ngrams
from assay.metrics.rouge import Overlap
from assay.suite.assertions.base import CannotCheckError, Check, Found, Given, Kind, reaches
from assay.suite.assertions.quoting import counted, quoted
from assay.suite.assertions.treebank import words

ORDERS = (1, 2, 3, 4)
_NONE_SHARED = 1e-7
"""What stands for the precision of an order without a shared n-gram."""

_LEAST = 1e-6
"""The least threshold: a lower one every output reaches."""


def rouge_1(output: str, reference: str) -> float:
    """Harmonic mean of the shares of output and reference words that both have, 0 to 1.

    In lower case; words are those of `treebank`, so marks count. 0 where either has none.

    >>> round(rouge_1("The cat sat.", "The cat is here."), 4)
    0.6667
    """
    predicted, wanted = words(output.lower()), words(reference.lower())
    shared = sum(min(times, predicted[word]) for word, times in wanted.items())
    return Overlap(shared, predicted.total(), wanted.total()).fmeasure


def bleu_4(output: str, references: Sequence[str]) -> float:
    """Geometric mean of the shares of output n-grams that a reference has, times brevity; 0 to 1.

    N-grams of one to four tokens in lower case between spaces; an order for which the output is
    too short is left out, one without a shared n-gram counts as 1e-7. Each n-gram counts at most
    as often as the reference that has it most often: promptfoo takes the reference that is best
    for the whole order instead, which is less with several references.

    >>> round(bleu_4("the cat sat on", ["the cat sat on the mat"]), 4)
    0.6065
    """
    tokens = output.lower().split()
    if not tokens:
        return 0.0
    others = [reference.lower().split() for reference in references]
    logs = []
    for n in ORDERS[: len(tokens)]:
        hits = _shared(tokens, others, n)
        logs.append(math.log(hits / (len(tokens) - n + 1) or _NONE_SHARED))
    closest = min(map(len, others), key=lambda length: (abs(length - len(tokens)), length))
    return math.exp(min(0.0, 1 - closest / len(tokens)) + math.fsum(logs) / len(logs))


def gleu(output: str, references: Sequence[str]) -> float:
    """The smaller of the shares of output and reference n-grams that both have, 0 to 1.

    N-grams of one to four tokens together; tokens in lower case between spaces, without full
    stops at their ends. The best of the references.

    >>> gleu("The cat sat.", ["the cat sat"])
    1.0
    """
    tokens = _stripped(output)
    if not any(tokens):
        return 0.0
    total = _grams(tokens)
    best = 0.0
    for reference in references:
        other = _stripped(reference)
        most = max(total, _grams(other))
        best = max(best, sum(_shared(tokens, [other], n) for n in ORDERS) / most)
    return best


def _stripped(text: str) -> list[str]:
    return [token.rstrip(".") for token in text.lower().split()]


def _grams(tokens: Sequence[str]) -> int:
    """The number of n-grams of all orders."""
    return sum(max(0, len(tokens) - n + 1) for n in ORDERS)


def _shared(tokens: Sequence[str], others: Iterable[Sequence[str]], n: int) -> int:
    """How many n-grams occur in any of the others, each as often as where it is most frequent.

    The others are counted first and the tokens against them: an output may be very long.
    """
    most: Counter[Hashable] = Counter()
    for other in others:
        most |= Counter(_runs(other, n))
    found = Counter(filter(most.__contains__, _runs(tokens, n)))
    return sum(min(times, most[gram]) for gram, times in found.items())


def _runs(tokens: Sequence[str], n: int) -> Iterable[Hashable]:
    return tokens if n == 1 else ngrams(tokens, n)


def bad_reference(value: Any) -> str | None:
    """What is wrong with a value that is to be one reference; None if nothing is."""
    if not isinstance(value, str):
        return "the value must be one reference, as text"
    return None if value.strip() else "the reference is empty"


def bad_references(value: Any) -> str | None:
    """What is wrong with a value that is to be a reference or a list of them."""
    if not isinstance(value, list | tuple):
        return bad_reference(value)
    if not value:
        return "the value has no reference"
    return next((wrong for each in value if (wrong := bad_reference(each))), None)


def _scored(
    name: str,
    default: float,
    score: Callable[[str, Any], float],
    problem: Callable[[Any], str | None],
) -> Check:
    """A check whether a score against the references reaches the threshold."""

    def check(given: Given) -> Found:
        if wrong := problem(given.value):
            raise CannotCheckError(wrong)
        value = score(given.text, given.value)
        threshold = default if given.threshold is None else given.threshold
        return Found(
            reaches(value, threshold),
            f"{name} is {counted(value)} (at least {counted(threshold)} wanted); "
            f"the output begins {quoted(given.text, 60)}",
            value=value,
            goodness=value,
        )

    return check


def _as_list(score: Callable[[str, Sequence[str]], float]) -> Callable[[str, Any], float]:
    return lambda text, value: score(text, [value] if isinstance(value, str) else value)


def _kind(name: str, about: str, default: float, check: Check, *types: type) -> Kind:
    return Kind(
        name,
        about,
        check,
        types=(str, *types),
        threshold="optional",
        default=default,
        bounds=(_LEAST, 1.0),
    )


KINDS = (
    _kind(
        "rouge-n",
        "the output shares words with the reference: ROUGE-1 F1 reaches the threshold",
        0.75,
        _scored("ROUGE-1 F1", 0.75, rouge_1, bad_reference),
    ),
    _kind(
        "bleu",
        "the output shares runs of words with a reference: BLEU-4 reaches the threshold",
        0.5,
        _scored("BLEU-4", 0.5, _as_list(bleu_4), bad_references),
        list,
    ),
    _kind(
        "gleu",
        "the output shares runs of words with a reference: GLEU reaches the threshold",
        0.5,
        _scored("GLEU", 0.5, _as_list(gleu), bad_references),
        list,
    ),
)
