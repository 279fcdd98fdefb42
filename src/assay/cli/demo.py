"""``assay demo``: the bundled samples, scored offline, next to their gold verdicts."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from assay.api import open_metrics, run_sync
from assay.asks import Judge
from assay.cli.explain import show
from assay.cli.progress import Progress
from assay.cli.tables import console, summary_table
from assay.demo import demo_rows
from assay.errors import JudgeError
from assay.judges.named import open_judge
from assay.judges.scripted import ScriptedJudge
from assay.needs import By, Entails, Need, Of
from assay.run import Row, Run
from assay.runner import meet, score_sample, score_samples
from assay.sample import Sample
from assay.verdicts import EntailmentMatrix, Verdict

METRICS = [
    "faithfulness",
    "noise_sensitivity(mode=relevant)",
    "noise_sensitivity(mode=irrelevant)",
    "hallucination",
    "self_knowledge",
    "precision",
    "recall",
    "f1",
    "claim_recall",
    "context_precision",
    "context_utilization",
]
NOISE = METRICS[1:3]
MATRICES: dict[str, tuple[Of, By]] = {
    "response_by_contexts": ("response", "contexts"),
    "response_by_reference": ("response", "reference"),
    "reference_by_contexts": ("reference", "contexts"),
    "reference_by_response": ("reference", "response"),
}


def demo(judge_name: str | None) -> int:
    """Score, explain one sample, and say how often the judge agrees with the gold verdicts."""
    judge = open_judge(judge_name)
    rows = demo_rows()
    samples = [sample_of(row) for row in rows]
    print(f"{len(samples)} bundled samples, judge: {judge.name}", file=sys.stderr)
    start = time.perf_counter()
    run, gold, agreement = run_sync(_work(rows, samples, judge))
    seconds = time.perf_counter() - start
    screen = console()
    screen.print(summary_table(run, open_metrics(METRICS), {name: gold[name] for name in METRICS}))
    chosen = max(zip(run, gold, strict=True), key=_telling)[0]
    screen.rule("one sample explained", align="left")
    show(screen, chosen.as_dict())
    screen.rule("agreement", align="left")
    screen.print(agreement.sentence(judge.name), highlight=False, soft_wrap=True)
    screen.print(
        f"{len(samples)} samples in {seconds:.1f} s. Next: assay score YOUR.jsonl "
        "--metrics faithfulness -o out.jsonl",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    return 2 if run.failed else 0


def _telling(pair: tuple[Row, Row]) -> tuple[int, float]:
    """How much a sample shows: claims that noise put there, and most metrics as in gold."""
    row, gold = pair
    misled, truly = (sum(one.scores[name].value or 0.0 for name in NOISE) for one in (row, gold))
    alike = sum(row.scores[name].value == gold.scores[name].value for name in METRICS)
    return alike if misled and truly else 0, min(misled, 0.5)


def sample_of(row: dict[str, Any], *, gold_claims: bool = False) -> Sample:
    """A bundled row as a sample; with the gold claims or without."""
    gold = row["gold"]
    return Sample(
        row["question"],
        row["response"],
        row["contexts"],
        row["references"],
        id=row["id"],
        metadata=row["metadata"],
        response_claims=gold["response_claims"] if gold_claims else None,
        reference_claims=gold["reference_claims"] if gold_claims else None,
    )


@dataclass(frozen=True)
class Agreement:
    """How a judge's verdicts on the gold claims compare with the gold verdicts.

    Entailed or not is compared; a contradiction is "not entailed".
    """

    entailed_found: int
    entailed: int
    others_found: int
    others: int
    unknown: int

    def sentence(self, judge: str) -> str:
        """One line for people."""
        cells = self.entailed + self.others
        same = self.entailed_found + self.others_found
        balanced = (
            self.entailed_found / max(1, self.entailed) + self.others_found / max(1, self.others)
        ) / 2
        unknown = f"; {self.unknown} unanswered" if self.unknown else ""
        return (
            f"on the gold claims {judge} agrees with {same} of {cells} gold verdicts "
            f"({same / max(1, cells):.0%}): "
            f"it finds {self.entailed_found} of {self.entailed} entailments and "
            f"{self.others_found} of {self.others} others (balanced accuracy {balanced:.2f})"
            f"{unknown}"
        )


def compare(pairs: Sequence[tuple[Verdict, Verdict]]) -> Agreement:
    """Agreement of (gold, judged) verdicts."""
    yes = [j for g, j in pairs if g is Verdict.ENTAILED]
    no = [j for g, j in pairs if g is not Verdict.ENTAILED]
    return Agreement(
        sum(j is Verdict.ENTAILED for j in yes),
        len(yes),
        sum(j not in (Verdict.ENTAILED, Verdict.UNKNOWN) for j in no),
        len(no),
        sum(j is Verdict.UNKNOWN for _, j in pairs),
    )


async def _work(
    rows: list[dict[str, Any]], samples: list[Sample], judge: Judge
) -> tuple[Run, Run, Agreement]:
    metrics = open_metrics(METRICS)
    scored: list[Row] = []
    try:
        with Progress(len(samples)) as progress:
            stream = score_samples(samples, metrics, judge)
            async with aclosing(stream):
                async for row in stream:
                    scored.append(row)
                    progress.step(failure=row.failure)
        found = await asyncio.gather(*(_judged(raw, judge) for raw in rows))
    finally:
        await judge.aclose()
    pairs = [pair for cells in found for pair in cells]
    return Run(scored, METRICS), await gold_run(rows), compare(pairs)


async def _judged(row: dict[str, Any], judge: Judge) -> list[tuple[Verdict, Verdict]]:
    """Gold and judged verdicts of one sample's four matrices; a refused ask is unanswered."""
    sample = sample_of(row, gold_claims=True)
    needs: list[Need[EntailmentMatrix]] = [Entails(of, by) for of, by in MATRICES.values()]
    answers = await meet(needs, sample, judge)
    pairs = []
    for name, answer in zip(MATRICES, answers, strict=True):
        gold = [cell.verdict for line in gold_matrix(row, name).cells for cell in line]
        if isinstance(answer, JudgeError):
            pairs += [(verdict, Verdict.UNKNOWN) for verdict in gold]
        else:
            judged = [cell.verdict for line in answer.cells for cell in line]
            pairs += list(zip(gold, judged, strict=True))
    return pairs


def gold_matrix(row: dict[str, Any], name: str) -> EntailmentMatrix:
    """One of a bundled row's four gold matrices."""
    width = {"contexts": len(row["contexts"]), "reference": len(row["references"])}
    by = MATRICES[name][1]
    return EntailmentMatrix.letters(" ".join(row["gold"][name]), width.get(by, 1))


async def gold_run(rows: list[dict[str, Any]]) -> Run:
    """The scores that the gold verdicts give."""
    metrics = open_metrics(METRICS)
    scored = [
        await score_sample(
            sample_of(row, gold_claims=True), metrics, ScriptedJudge(verdicts=gold_table(row))
        )
        for row in rows
    ]
    return Run(scored, METRICS)


def gold_table(row: dict[str, Any]) -> dict[tuple[str, str], Verdict]:
    """The gold verdicts of a bundled row by (claim, premise)."""
    premises = {
        "contexts": [c["text"] for c in row["contexts"]],
        "reference": row["references"],
        "response": [row["response"]],
    }
    table = {}
    for name, (of, by) in MATRICES.items():
        cells = gold_matrix(row, name).cells
        for claim, verdicts in zip(row["gold"][f"{of}_claims"], cells, strict=True):
            for premise, cell in zip(premises[by], verdicts, strict=True):
                table[claim["text"], premise] = cell.verdict
    return table
