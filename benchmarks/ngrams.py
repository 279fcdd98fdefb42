"""Pairs a second of ROUGE and BLEU, against rouge-score, NLTK, sacrebleu and ports in Rust.

    python benchmarks/ngrams.py [--pairs 1000] [--words 60] [--rounds 5]

Pairs of texts of three lines, an answer edited out of its reference. Each round runs all scorers
in turn; prints the median pairs a second, the median over rounds of the ratio to the first scorer
of the group, and the largest difference of a value from that scorer's. Scorers that are not
installed are left out: pip install rouge-score nltk sacrebleu rouge-score-rs rouge-rust bleuscore
"""

from __future__ import annotations

import argparse
import logging
import random
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from statistics import median
from typing import Any

from assay import Sample
from assay.metrics.bleu import Bleu, bleu_corpus, bleu_stats
from assay.metrics.rouge import TYPES, Rouge, Stems, rouge_scores

COMMON = "the of and to in a is that it was for on are with as his they be at one have from or by"
STEMS = "study run market farm engineer observe relate nation happy create develop govern"
ENDINGS = ("", "s", "ed", "ing", "er", "ment", "ation", "ional", "ly", "ness")
Pair = tuple[str, str]
Values = list[tuple[float, ...]]
Scorer = Callable[[Sequence[Pair]], Values]
BLEU_TOKENS = r"\w+|\$[\d]+|[^\s\.]+"


def pairs(count: int, words: int, seed: int = 1) -> list[Pair]:
    """(reference, prediction) pairs; four words in ten are function words."""
    rng = random.Random(seed)
    common = COMMON.split()
    content = [
        f"{stem}{n or ''}{end}" for stem in STEMS.split() for n in range(9) for end in ENDINGS
    ]
    out = []
    for _ in range(count):
        reference = [rng.choice(common if rng.random() < 0.4 else content) for _ in range(words)]
        prediction = [word for word in reference if rng.random() > 0.15]
        while len(prediction) < words:
            at = rng.randrange(len(prediction) + 1)
            prediction.insert(at, rng.choice(common if rng.random() < 0.5 else content))
        out.append((lines(reference), lines(prediction)))
    return out


def lines(words: Sequence[str]) -> str:
    third = max(1, -(-len(words) // 3))
    parts = (words[at : at + third] for at in range(0, len(words), third))
    return "\n".join(" ".join(part).capitalize() + "." for part in parts)


# --- ROUGE -------------------------------------------------------------------------------------


def flat(found: Any, types: Sequence[str]) -> tuple[float, ...]:
    return tuple(
        value
        for kind in types
        for value in (found[kind].precision, found[kind].recall, found[kind].fmeasure)
    )


def rouge_peer(module: str, types: Sequence[str], stemmer: bool) -> Scorer:
    scorer = import_module(module).RougeScorer(list(types), use_stemmer=stemmer)
    return lambda given: [flat(scorer.score(*pair), types) for pair in given]


def rouge_rust(types: Sequence[str]) -> Scorer:
    score = import_module("fast_rouge").score
    return lambda given: [flat(score(*pair), types) for pair in given]


def rouge_ours(types: Sequence[str], stemmer: bool) -> Scorer:
    def score(given: Sequence[Pair]) -> Values:
        stems = Stems() if stemmer else None
        return [
            flat(rouge_scores(prediction, [reference], types, stemmer=stems), types)
            for reference, prediction in given
        ]

    return score


def metric(chosen: Rouge | Bleu) -> Scorer:
    def score(given: Sequence[Pair]) -> Values:
        samples = [Sample(response=p, references=r) for r, p in given]
        return [(chosen.score(sample, sample).value or 0.0,) for sample in samples]

    return score


# --- BLEU --------------------------------------------------------------------------------------


def nltk_bleu() -> Scorer:
    bleu = import_module("nltk.translate.bleu_score").sentence_bleu
    words = import_module("nltk.tokenize").RegexpTokenizer(BLEU_TOKENS).tokenize
    return lambda given: [(bleu([words(r)], words(p)),) for r, p in given]


def sacre_bleu(tokenizer: str) -> Scorer:
    scorer = import_module("sacrebleu.metrics.bleu").BLEU(
        tokenize=tokenizer, smooth_method="none", effective_order=True
    )
    return lambda given: [(scorer.sentence_score(p, [r]).score / 100,) for r, p in given]


def rust_bleu() -> Scorer:
    compute = import_module("bleuscore").compute
    return lambda given: [(compute(predictions=[p], references=[[r]])["bleu"],) for r, p in given]


def ours_13a(given: Sequence[Pair]) -> Values:
    return [(bleu_corpus([bleu_stats(p, [r], tokenizer="13a")]),) for r, p in given]


# --- in turns ----------------------------------------------------------------------------------

Group = tuple[str, list[tuple[str, Callable[[], Scorer]]]]


def groups() -> Iterator[Group]:
    """What is compared with what; the first of each group is the yardstick."""
    rouge = "rouge_score.rouge_scorer"
    rust = "rouge_score_rs.rouge_scorer"
    three = TYPES[:3]
    for title, stemmer in (("ROUGE, four types", False), ("ROUGE, four types, stemmed", True)):
        yield (
            title,
            [
                ("rouge-score", partial(rouge_peer, rouge, TYPES, stemmer)),
                ("assay", partial(rouge_ours, TYPES, stemmer)),
                ("rouge-score-rs (Rust)", partial(rouge_peer, rust, TYPES, stemmer)),
            ],
        )
    yield (
        "ROUGE, 1, 2 and L",
        [
            ("rouge-score", lambda: rouge_peer(rouge, three, False)),
            ("assay", lambda: rouge_ours(three, False)),
            ("rouge-rust (Rust)", lambda: rouge_rust(three)),
        ],
    )
    yield (
        "ROUGE-L, F only",
        [
            ("rouge-score", lambda: fmeasure_only(rouge_peer(rouge, ["rougeL"], False))),
            ("assay, the metric", lambda: metric(Rouge())),
        ],
    )
    yield (
        "BLEU-4, Valor's tokens",
        [("nltk", nltk_bleu), ("assay, the metric", lambda: metric(Bleu()))],
    )
    yield (
        "BLEU-4, 13a",
        [
            ("sacrebleu", lambda: sacre_bleu("13a")),
            ("assay", lambda: ours_13a),
            ("bleuscore (Rust)", rust_bleu),
        ],
    )


def fmeasure_only(scorer: Scorer) -> Scorer:
    return lambda given: [values[2:3] for values in scorer(given)]


def compare(scorers: dict[str, Scorer], given: Sequence[Pair], rounds: int) -> None:
    """Prints one line a scorer."""
    seconds: dict[str, list[float]] = {name: [] for name in scorers}
    values: dict[str, Values] = {}
    for scorer in scorers.values():
        scorer(given[:20])
    for _ in range(rounds):
        for name, scorer in scorers.items():
            clock = time.perf_counter()
            values[name] = scorer(given)
            seconds[name].append(time.perf_counter() - clock)
    first = next(iter(scorers))
    for name, times in seconds.items():
        ratio = median(base / own for base, own in zip(seconds[first], times, strict=True))
        worst = max(
            abs(x - y)
            for theirs, own in zip(values[first], values[name], strict=True)
            for x, y in zip(theirs, own, strict=True)
        )
        rate = len(given) / median(times)
        print(f"  {name:24} {rate:9,.0f} pairs/s {ratio:7.1f}x   largest difference {worst:.1e}")


def available(made: list[tuple[str, Callable[[], Scorer]]]) -> dict[str, Scorer]:
    out = {}
    for name, make in made:
        try:
            out[name] = make()
        except ImportError as error:
            print(f"  {name:24} left out: {error}")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # NLTK's advice on every pair without a shared 4-gram
    logging.disable(logging.WARNING)
    given = pairs(options.pairs, options.words)
    print(f"{options.pairs} pairs of {options.words} words, {options.rounds} rounds")
    for title, made in groups():
        print(title)
        compare(available(made), given, options.rounds)


if __name__ == "__main__":
    main()
