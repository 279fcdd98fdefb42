"""ROUGE: the words, word pairs or common subsequences that a response shares with a reference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from assay.errors import ConfigError, MissingField, did_you_mean
from assay.metrics.base import Metric
from assay.metrics.ngrams import Columns, overlap
from assay.metrics.stemming import porter
from assay.needs import Field, Need
from assay.sample import Sample
from assay.score import Score

Type = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
Measure = Literal["fmeasure", "precision", "recall"]
TYPES: tuple[Type, ...] = ("rouge1", "rouge2", "rougeL", "rougeLsum")

_BLANKED = bytes(b if b in b"\nabcdefghijklmnopqrstuvwxyz0123456789" else 32 for b in range(256))
"""What is no lower-case ASCII letter or digit becomes a space; ends of lines stay."""
_NGRAM = re.compile(r"rouge([2-9])")
_STEMS = 200_000


class Overlap(NamedTuple):
    """How many units are shared, and how many the prediction and the reference have; they add up.

    >>> Overlap(2, predicted=4, reference=8).fmeasure
    0.3333333333333333
    """

    shared: int
    predicted: int
    reference: int

    @property
    def precision(self) -> float:
        """Share of the prediction's units that the reference has; 0 where there are none."""
        return self.shared / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the reference's units that the prediction has; 0 where there are none."""
        return self.shared / self.reference if self.reference else 0.0

    @property
    def fmeasure(self) -> float:
        """Harmonic mean of precision and recall; 0 where both are 0."""
        hits, total = self.ratio("fmeasure")
        return hits / total if total else 0.0

    def ratio(self, measure: Measure) -> tuple[int, int]:
        """The measure as hits and total; each adds up over samples."""
        if measure == "precision":
            return self.shared, self.predicted
        if measure == "recall":
            return self.shared, self.reference
        return 2 * self.shared, self.predicted + self.reference


class Stems(dict[str, str]):
    """The stem of each word that was looked up; words of up to three letters stay.

    >>> Stems()["studies"]
    'studi'
    """

    def __missing__(self, word: str) -> str:
        if len(self) >= _STEMS:
            self.clear()
        stem = self[word] = porter(word) if len(word) > 3 else word
        return stem


@dataclass(frozen=True)
class Rouge(Metric):
    """Harmonic mean of the shares of n-grams or subsequence that response and reference share.

    Of words (``rouge1``), word pairs (``rouge2``) or the longest common subsequence, over the
    whole text (``rougeL``) or line by line (``rougeLsum``); or the ``precision`` (share of the
    response) or ``recall`` (share of the reference) alone. The best of the references where
    there are several. Words are runs of ASCII letters and digits in lower case, with ``stemmer``
    without their endings. Equal to the package rouge-score, also in that a text without words,
    like "" or one in Chinese, has the value 0.

    >>> sample = Sample(response="the cat sat", references="the cat is here")
    >>> Rouge("rouge1").score(sample, sample).value
    0.5714285714285714
    """

    name = "rouge"

    type: Type = "rougeL"
    measure: Measure = "fmeasure"
    stemmer: bool = False

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Field("response"), Field("reference"))

    @cached_property
    def _stems(self) -> Stems | None:
        return Stems() if self.stemmer else None

    def score(self, answered: Sample, referenced: Sample) -> Score:
        found = rouge_scores(
            answered.response or "",
            referenced.references or (),
            (self.type,),
            stemmer=self._stems,
            measure=self.measure,
        )[self.type]
        hits, total = found.ratio(self.measure)
        stats = {"hits": float(hits), "total": float(total)}
        stats |= {key: float(count) for key, count in found._asdict().items()}
        return Score(hits / total if total else 0.0, stats=stats)

    def over(self, scores: Iterable[Score]) -> float | None:
        """The measure of all samples taken together; None where no sample has words."""
        stats = [score.stats for score in scores if score.value is not None]
        total = sum(s["total"] for s in stats)
        return sum(s["hits"] for s in stats) / total if total else None


def rouge_scores(
    prediction: str,
    references: Sequence[str],
    types: Iterable[str] = TYPES,
    *,
    stemmer: bool | Stems | None = False,
    measure: Measure = "fmeasure",
) -> dict[str, Overlap]:
    """What a prediction shares with its best reference, for each type of ROUGE.

    ``types`` are rouge1 to rouge9, rougeL and rougeLsum; the best reference of each is the one
    with the highest ``measure``, the first of equals. ``stemmer``: stem the words, with a
    `Stems` that remembers them from call to call. Raises MissingField without references and
    ConfigError for an unknown type.

    >>> rouge_scores("the cat sat", ["the cat is here"])["rouge2"]
    Overlap(shared=1, predicted=2, reference=3)
    """
    if not references:
        raise MissingField("references")
    stems = stemmer if isinstance(stemmer, Stems) else Stems() if stemmer else None
    predicted = _Text(prediction, stems)
    texts = [_Text(reference, stems) for reference in references]
    best: dict[str, Overlap] = {}
    for kind in types:
        found = [_overlap(kind, predicted, text) for text in texts]
        best[kind] = max(found, key=attrgetter(measure)) if len(found) > 1 else found[0]
    return best


class _Text:
    """A text as lines of words, those without words left out."""

    def __init__(self, text: str, stems: Stems | None) -> None:
        plain = text.lower().encode("ascii", "replace").translate(_BLANKED).decode("ascii")
        lines = [words for line in plain.split("\n") if (words := line.split())]
        if stems is not None:
            lines = [[stems[word] for word in line] for line in lines]
        self.lines = lines
        self.words = lines[0] if len(lines) == 1 else list(chain.from_iterable(lines))

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.lines)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.words)


def _overlap(kind: str, predicted: _Text, reference: _Text) -> Overlap:
    sizes = len(predicted.words), len(reference.words)
    if kind == "rouge1":
        return Overlap(reference.columns.shared(predicted.counts), *sizes)
    if kind == "rougeLsum" and (len(predicted.lines) > 1 or len(reference.lines) > 1):
        return Overlap(reference.columns.union(predicted.lines, predicted.counts), *sizes)
    if kind in ("rougeL", "rougeLsum"):
        return Overlap(reference.columns.common(predicted.words), *sizes)
    if (match := _NGRAM.fullmatch(kind)) is None:
        raise ConfigError(f"unknown type of ROUGE {kind!r}; {did_you_mean(kind, list(TYPES))}")
    n = int(match[1])
    shared = overlap(reference.words, predicted.words, n)
    return Overlap(shared, *(max(0, size - n + 1) for size in sizes))
