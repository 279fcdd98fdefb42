"""BLEU: the n-grams of a response that its references have, with a penalty for brevity."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.errors import ConfigError, MissingField
from assay.metrics.base import Metric
from assay.metrics.ngrams import clipped
from assay.needs import Field, Need
from assay.sample import Sample
from assay.score import Score

Order = Literal[1, 2, 3, 4]
Smoothing = Literal["none", "exp", "add-one"]
Tokenizer = Literal["words", "whitespace", "13a"]
Stats = Mapping[str, float]

BLEU_4 = (0.25, 0.25, 0.25, 0.25)
_NEGLIGIBLE = 1e-9
_ZERO = 2.2250738585072014e-308
"""What stands for a precision of 0, whose logarithm there is none of; as in NLTK."""

_WORDS = re.compile(r"\w+|\$\d+|[^\s.]+")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_ALWAYS_ALONE = "".join(mark for mark in string.punctuation if mark not in "',-.")
_SPLIT_13A = (
    (re.compile("([" + re.escape(_ALWAYS_ALONE) + "])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


@dataclass(frozen=True)
class Bleu(Metric):
    """Geometric mean of the shares of response n-grams that a reference has, times brevity.

    N-grams of one to ``order`` tokens, each counted at most as often as the reference that has it
    most often; a response shorter than the reference closest in length is penalised by
    exp(1 - reference / response). Without smoothing the value is 0 when no n-gram of some order
    is shared, so also for a response of fewer tokens than ``order``.

    ``tokenizer``: "words" keeps runs of letters and digits and other runs without full stops
    (Valor), "whitespace" takes the tokens as they are, "13a" is that of WMT (sacrebleu's default).
    Case matters. Unsmoothed values equal NLTK's ``sentence_bleu``, values below 1e-9 being 0.

    >>> sample = Sample(response="the cat sat on", references="the cat sat on the mat")
    >>> round(Bleu().score(sample, sample).value, 4)
    0.6065
    """

    name = "bleu"

    order: Order = 4
    smoothing: Smoothing = "none"
    tokenizer: Tokenizer = "words"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Field("response"), Field("reference"))

    def score(self, answered: Sample, referenced: Sample) -> Score:
        stats = bleu_stats(
            answered.response or "",
            referenced.references or (),
            order=self.order,
            tokenizer=self.tokenizer,
        )
        return Score(bleu_corpus([stats], self._weights, smoothing=self.smoothing), stats=stats)

    def over(self, scores: Iterable[Score]) -> float | None:
        """BLEU of all samples taken together; None where there are none."""
        stats = [score.stats for score in scores if score.value is not None]
        return bleu_corpus(stats, self._weights, smoothing=self.smoothing) if stats else None

    @property
    def _weights(self) -> tuple[float, ...]:
        return (1 / self.order,) * self.order


def bleu_stats(
    prediction: str,
    references: Sequence[str],
    *,
    order: int = 4,
    tokenizer: Tokenizer = "words",
) -> dict[str, float]:
    """What BLEU is made of; the numbers add up over samples.

    ``shared_n`` of the prediction's ``grams_n`` n-grams are in a reference; ``predicted`` and
    ``reference`` are lengths in tokens, of the reference that is closest in length (the shorter
    of two). Raises MissingField without references.

    >>> bleu_stats("the the", ["the cat sat"], order=2)
    {'shared_1': 1, 'grams_1': 2, 'shared_2': 0, 'grams_2': 1, 'predicted': 2, 'reference': 3}
    """
    if not references:
        raise MissingField("references")
    tokens = tokenize(prediction, tokenizer)
    others = [tokenize(reference, tokenizer) for reference in references]
    size = len(tokens)
    stats: dict[str, float] = {}
    shared = size
    for n in range(1, order + 1):
        shared = clipped(tokens, others, n) if shared else 0  # a shared n-gram holds shorter ones
        stats |= {f"shared_{n}": shared, f"grams_{n}": max(0, size - n + 1)}
    closest = min(map(len, others), key=lambda length: (abs(length - size), length))
    return stats | {"predicted": size, "reference": closest}


def bleu_corpus(
    stats: Iterable[Stats], weights: Sequence[float] = BLEU_4, *, smoothing: Smoothing = "none"
) -> float:
    """BLEU from 0 to 1 of samples taken together, from the sum of what `bleu_stats` counts.

    ``weights`` of the orders from one up. ``smoothing`` gives an order without a shared n-gram
    half of one, the next such order a quarter and so on ("exp", as NIST does), or counts one more
    n-gram, shared, for every order above one ("add-one", Lin and Och 2004). Equal to sacrebleu's
    corpus score over 100, and for one sample to NLTK's ``sentence_bleu``; below 1e-9 the value
    is 0. Raises ConfigError for statistics of fewer orders than weights.

    >>> bleu_corpus([bleu_stats("the cat sat on", ["the cat sat on the mat"])])
    0.6065306597126334
    """
    every = list(stats)
    if not weights:
        raise ConfigError("BLEU needs at least one weight")
    if any(f"grams_{len(weights)}" not in each for each in every):
        raise ConfigError(f"the statistics do not reach n-grams of {len(weights)} tokens")

    def total(key: str) -> float:
        return sum(each[key] for each in every)

    counts = [(total(f"shared_{n}"), total(f"grams_{n}")) for n in range(1, len(weights) + 1)]
    if not counts[0][0]:
        return 0.0
    parts = zip(weights, _precisions(counts, smoothing), strict=True)
    brevity = min(0.0, 1 - total("reference") / total("predicted"))
    value = math.exp(brevity + math.fsum(weight * math.log(part) for weight, part in parts))
    return value if value >= _NEGLIGIBLE else 0.0


def _precisions(counts: list[tuple[float, float]], smoothing: Smoothing) -> Iterator[float]:
    """The share of each order, never 0."""
    half = 1.0
    for n, (shared, grams) in enumerate(counts, 1):
        if smoothing == "add-one" and n > 1:
            yield (shared + 1) / (grams + 1)
        elif shared:
            yield shared / grams
        elif smoothing == "exp" and grams:
            half /= 2
            yield half / grams
        else:
            yield _ZERO


def tokenize(text: str, tokenizer: Tokenizer) -> list[str]:
    """The tokens of a text; `Bleu` says which tokenizer does what.

    >>> tokenize("It's $3.50, or so.", "words")
    ['It', "'s", '$3', '50', ',', 'or', 'so']
    >>> tokenize("It's $3.50, or so.", "13a")
    ["It's", '$', '3.50', ',', 'or', 'so', '.']
    """
    if tokenizer == "words":
        return _WORDS.findall(text)
    return text.split() if tokenizer == "whitespace" else _tokens_13a(text)


def _tokens_13a(text: str) -> list[str]:
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, letter in _ENTITIES:
        text = text.replace(entity, letter)
    text = f" {text} "
    for pattern, spaced in _SPLIT_13A:
        text = pattern.sub(spaced, text)
    return text.split()
