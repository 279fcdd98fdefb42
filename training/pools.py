"""The labelled pools: which there are, how they are read, and what leaving one out means."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.judges.evidence import Passage
from assay.text import content_words, words

MAX_WORDS = 165
"""Words of a premise that the judge reads; the same when it serves."""
HELD_SENTENCE = 8
"""Words from which a sentence is long enough to be known again elsewhere."""
LABELS = {
    "supported": 1,
    "entailment": 1,
    "unsupported": 0,
    "contradiction": 0,
    "neutral": 0,
}
ANSWERS = "aux_evouna_answer_correctness_train"


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool by file name, and what its rows serve for beside being rows."""

    name: str
    facts: bool = False
    """Short evidence, whole claims: gives rows with distractors."""
    documents: bool = False
    """Long premises serve as documents."""
    most: int | None = None
    """Rows drawn at most: automatic pools would else outweigh the others."""


POOLS = (
    Pool("snli_dev_test"),
    Pool("cad_nli"),
    Pool("seminli_wiki"),
    Pool("conjnli_dev"),
    Pool("med_monotonicity", most=2500),
    Pool("help_andor", most=3000),
    Pool("realsumm_scu_train", facts=True, documents=True),
    Pool("fool_me_twice", facts=True, documents=True),
    Pool("fever_symmetric", facts=True, documents=True),
    Pool("entailment_bank", facts=True, documents=True),
    Pool("alexa_dialog_factual", facts=True, documents=True),
    Pool("begin_dev", documents=True),
    Pool("faithdial_audit", documents=True),
    Pool("wice_dev", documents=True),
    Pool("summedits_rest", documents=True),
    Pool("bump", documents=True),
    Pool("factcc_xsumfaith_subset", documents=True),
)
NAMES = (*(pool.name for pool in POOLS), ANSWERS)


@dataclass(frozen=True, slots=True)
class Row:
    """A training pair; ``label`` is 1 where the premise supports the hypothesis, else 0."""

    premise: str
    hypothesis: str
    label: int
    source: str

    def line(self) -> str:
        """The row as a line of JSON, white space folded."""
        fields = {
            "premise": " ".join(self.premise.split()),
            "hypothesis": " ".join(self.hypothesis.split()),
            "label": self.label,
            "source": self.source,
        }
        return json.dumps(fields, ensure_ascii=False)


def generator(seed: int, part: str) -> random.Random:
    """Random numbers of one part, which other parts cannot shift."""
    return random.Random(f"{seed}:{part}")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON lines file, gzipped or not."""
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as file
    ):
        yield from map(json.loads, file)


def file_of(folder: Path, name: str) -> Path:
    """Where a pool is."""
    return folder / f"{name}.jsonl.gz"


class Held:
    """The texts of pools that are left out: nothing that holds one of them is learned from.

    A text is known again by its hypothesis as a whole or by one sentence of 8 words or more of
    its premise, whatever the case and punctuation.
    """

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._texts: set[str] = set()
        for row in rows:
            self._texts.add(_key(row["hypothesis"]))
            self._texts.update(map(_key, _long_sentences(row["premise"])))

    def touches(self, premise: str, hypothesis: str = "") -> bool:
        """Whether a premise or a hypothesis is held in part."""
        if not self._texts:
            return False
        return _key(hypothesis) in self._texts or any(
            _key(sentence) in self._texts for sentence in _long_sentences(premise)
        )


def held(folder: Path, leave_out: Sequence[str]) -> Held:
    """The texts of the pools to leave out; a pool that is not there is an error.

    Answers share no text with other pools, so there is nothing of theirs to hold.
    """
    names = [name for name in leave_out if name != ANSWERS]
    return Held(row for name in names for row in read(file_of(folder, name)))


def labelled(
    folder: Path, pool: Pool, kept_out: Held, seed: int, limit: int | None
) -> list[dict[str, Any]]:
    """A pool's rows in random order, at most ``limit``, with ``label`` as 1 or 0.

    ValueError at a label that says neither yes nor no.
    """
    rows = list(read(file_of(folder, pool.name)))
    generator(seed, pool.name).shuffle(rows)
    most = min(n for n in (pool.most, limit, len(rows)) if n is not None)
    out: list[dict[str, Any]] = []
    for row in rows:
        if len(out) >= most:
            break
        if row["label"] not in LABELS:
            raise ValueError(f"{pool.name}: row {row.get('id')} has label {row['label']!r}")
        if not kept_out.touches(row["premise"], row["hypothesis"]):
            out.append({**row, "label": LABELS[row["label"]]})
    return out


def evidence(premise: str, claim: str) -> str:
    """The premise as the judge is given it: the sentences that bear on the claim, where long."""
    if len(premise.split()) <= MAX_WORDS:
        return premise
    passage = Passage.of(premise)
    return passage.cut(passage.select(frozenset(content_words(claim)), MAX_WORDS), MAX_WORDS)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, long ones in pieces, as evidence selection cuts it."""
    return [text[start:end] for start, end in Passage.of(text).spans if end > start]


def _long_sentences(text: str) -> list[str]:
    return [s for s in sentences_of(text) if len(s.split()) >= HELD_SENTENCE]


def _key(text: str) -> str:
    return " ".join(words(text))
