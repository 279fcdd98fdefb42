"""Figures known beforehand: worked examples of ragas and promptfoo, RAGChecker's example file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from assay import NoiseSensitivity, Sample, ScriptedJudge, evaluate
from assay.needs import By, Of
from assay.run import Run
from assay.sample import Context
from assay.score import Score
from assay.verdicts import EntailmentMatrix, Truth

M = EntailmentMatrix.letters

# --- worked examples of the ragas documentation, from text to score ---------------------------

LEONARDO = "Leonardo da Vinci painted the Mona Lisa"
MONA_LISA_CONTEXT = (
    "The Mona Lisa is a famous portrait painted by Leonardo da Vinci. It is believed to have been"
    " started in the early 1500s. Some art historians date its completion to around 1519, placing"
    " it firmly in the 15th century according to certain periodizations."
)
MONA_LISA = Sample(
    "Who painted the Mona Lisa and in what century was it painted?",
    "Leonardo da Vinci painted the Mona Lisa, and it was painted in the 15th century.",
    [MONA_LISA_CONTEXT],
    "Leonardo da Vinci painted the Mona Lisa in the 16th century.",
)
AUSTEN = "Jane Austen wrote 'Pride and Prejudice.'"
BRONTE_WROTE = "Charlotte Brontë wrote 'Pride and Prejudice,'"
BRONTE_FAMOUS = "Charlotte Brontë is famous for 'Jane Eyre.'"
PRIDE_CONTEXTS = (
    "Jane Austen published 'Pride and Prejudice' in 1813, a classic romance novel.",
    (
        "Charlotte Brontë, a renowned author, is best known for her novel 'Jane Eyre,' published"
        " in 1847."
    ),
)
PRIDE = Sample(
    "Who wrote the novel 'Pride and Prejudice'?",
    "Charlotte Brontë wrote 'Pride and Prejudice,' and she is famous for 'Jane Eyre.'",
    PRIDE_CONTEXTS,
    AUSTEN,
)
SUPER_BOWL = Sample(
    "When was the first Super Bowl held?",
    "The first Super Bowl was held on January 15, 1967, in Florida.",
    (
        "The First AFL-NFL World Championship Game, later known as Super Bowl I, was played on"
        " January 15, 1967, at the Los Angeles Memorial Coliseum."
    ),
)
EINSTEIN = Sample(
    "Where and when was Einstein born?",
    "Einstein was born in Germany on 20th March 1879.",
    (
        "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist, widely held"
        " to be one of the greatest and most influential scientists of all time"
    ),
)


def first_context(sample: Sample) -> str:
    assert sample.contexts
    return sample.contexts[0].text


def texts(sample: Sample) -> tuple[str, str]:
    """The response and the first reference."""
    assert sample.response is not None
    assert sample.references
    return sample.response, sample.references[0]


def test_mona_lisa_relevant_noise() -> None:
    response, reference = texts(MONA_LISA)
    judge = ScriptedJudge(
        claims={
            response: [LEONARDO, "It was painted in the 15th century"],
            reference: [LEONARDO, "It was painted in the 16th century"],
        },
        verdicts={
            (LEONARDO, MONA_LISA_CONTEXT): "E",
            ("It was painted in the 15th century", MONA_LISA_CONTEXT): "E",
            (LEONARDO, reference): "E",
            ("It was painted in the 15th century", reference): "C",
        },
    )
    names = ["noise_sensitivity(mode=relevant)", "noise_sensitivity(mode=irrelevant)"]
    run = evaluate([MONA_LISA], names, judge)
    assert [run[name].mean for name in names] == [0.5, 0.0]
    hit = [item for item in run.rows[0].scores[names[0]].items if item.hit]
    assert [item.claim for item in hit] == ["It was painted in the 15th century"]


def pride_judge(*, jane_eyre_in_the_relevant_chunk: bool) -> ScriptedJudge:
    response, reference = texts(PRIDE)
    return ScriptedJudge(
        claims={response: [BRONTE_WROTE, BRONTE_FAMOUS], reference: [AUSTEN]},
        verdicts={
            (BRONTE_FAMOUS, PRIDE_CONTEXTS[1]): "E",
            (BRONTE_FAMOUS, PRIDE_CONTEXTS[0]): "E" if jane_eyre_in_the_relevant_chunk else "N",
            (AUSTEN, PRIDE_CONTEXTS[0]): "E",
            (BRONTE_WROTE, reference): "C",
        },
    )


@pytest.mark.parametrize(
    ("in_relevant", "irrelevant", "relevant"), [(False, 0.5, 0.0), (True, 0.0, 0.5)]
)
def test_pride_and_prejudice_irrelevant_noise(
    in_relevant: bool, irrelevant: float, relevant: float
) -> None:
    judge = pride_judge(jane_eyre_in_the_relevant_chunk=in_relevant)
    names = ["noise_sensitivity(mode=irrelevant)", "noise_sensitivity(mode=relevant)"]
    run = evaluate([PRIDE], names, judge)
    assert [run[name].mean for name in names] == [irrelevant, relevant]


def test_pride_and_prejudice_counts_no_true_extra_under_the_strict_policy() -> None:
    # The reference is silent on Jane Eyre: absent, not contradicted.
    judge = pride_judge(jane_eyre_in_the_relevant_chunk=False)
    name = "noise_sensitivity(mode=irrelevant, incorrect=contradicted)"
    assert evaluate([PRIDE], name, judge)[name].mean == 0.0


@pytest.mark.parametrize("joined", [False, True])
def test_super_bowl_faithfulness(joined: bool) -> None:
    date = "The first Super Bowl was held on January 15, 1967."
    place = "The first Super Bowl was held in Florida."
    context = first_context(SUPER_BOWL)
    judge = ScriptedJudge(
        claims={SUPER_BOWL.response or "": [date, place]},
        verdicts={(date, context): "E", (place, context): "C"},
    )
    name = f"faithfulness(joined={str(joined).lower()})"
    run = evaluate([SUPER_BOWL], name, judge)
    assert run[name].mean == 0.5
    assert [str(i.verdict) for i in run.rows[0].scores[name].items] == ["entailed", "contradicted"]


def test_einstein_faithfulness() -> None:
    place, date = "Einstein was born in Germany.", "Einstein was born on 20th March 1879."
    judge = ScriptedJudge(
        claims={EINSTEIN.response or "": [place, date]},
        verdicts={(place, first_context(EINSTEIN)): "E", (date, first_context(EINSTEIN)): "N"},
    )
    assert evaluate([EINSTEIN], "faithfulness", judge)["faithfulness"].mean == 0.5


# --- noise sensitivity in three dialects -------------------------------------------------------


@dataclass(frozen=True)
class Vector:
    """Matrices (A response by contexts, R by reference, G reference by contexts) and labels."""

    grounded: str
    correct: str
    retrieved: str
    labels: str
    promptfoo: tuple[float, float]
    ragas: tuple[float, float]
    assay: tuple[float, float]


VECTORS = {
    "A two claims, the wrong one from an irrelevant chunk": Vector(
        "EN NE", "E N", "EN", "ri", (0.5, 0.5), (0, 0.5), (0, 0.5)
    ),
    "B the same, strictly: no chunk entails the wrong one": Vector(
        "EN NN", "E N", "EN", "ri", (0.5, 0), (0, 0), (0, 0)
    ),
    "C the relevant chunk carries the error": Vector(
        "E E", "E N", "E N", "r", (0.5, 0), (0.5, 0), (0.5, 0)
    ),
    "D pure hallucination": Vector("E N", "E N", "E", "r", (0.5, 0), (0, 0), (0, 0)),
    "E1 error in an irrelevant chunk and then a relevant one": Vector(
        "NE EE", "E N", "NE", "ir", (0.5, 0.5), (0.5, 0), (0.5, 0)
    ),
    "E2 the same, the relevant one first": Vector(
        "EN EE", "E N", "EN", "ri", (0.5, 0), (0.5, 0), (0.5, 0)
    ),
    "F labelled relevant, supports no reference claim": Vector(
        "N E", "E N", "N", "r", (0.5, 0), (0, 0.5), (0.5, 0)
    ),
    "G all correct": Vector("EN NE", "E E", "EN", "ri", (0, 0), (0, 0), (0, 0)),
    "H five claims, one wrong from an irrelevant chunk, one made up": Vector(
        "EN EN EN NE NN", "E E E N N", "EN", "ri", (0.4, 0.2), (0, 0.2), (0, 0.2)
    ),
}


def noise(
    vector: Vector,
    dialect: Literal["assay", "ragas", "promptfoo"],
    mode: Literal["relevant", "irrelevant"],
) -> Score:
    labels = [{"r": True, "i": False}[x] for x in vector.labels]
    contexts = [Context(f"chunk {n}", relevant=label) for n, label in enumerate(labels)]
    relevance: Mapping[str, tuple[Truth, ...] | Sample] = {
        "assay": tuple(labels),
        "ragas": M(vector.retrieved).useful(),
        "promptfoo": Sample(contexts=contexts),
    }
    width = len(labels)
    return NoiseSensitivity(mode, dialect).score(
        M(vector.grounded, width), M(vector.correct, 1), relevance[dialect]
    )


@pytest.mark.parametrize("dialect", ["promptfoo", "ragas", "assay"])
@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case.split()[0])
def test_noise_sensitivity_vectors(
    case: str, dialect: Literal["assay", "ragas", "promptfoo"]
) -> None:
    vector = VECTORS[case]
    expected: tuple[float, float] = getattr(vector, dialect)
    got = (noise(vector, dialect, "relevant").value, noise(vector, dialect, "irrelevant").value)
    assert got == expected


@pytest.mark.parametrize("dialect", ["promptfoo", "ragas", "assay"])
@pytest.mark.parametrize("mode", ["relevant", "irrelevant"])
def test_vector_i_no_claims_is_undefined_in_every_dialect(
    dialect: Literal["assay", "ragas", "promptfoo"], mode: Literal["relevant", "irrelevant"]
) -> None:
    score = noise(Vector("", "", "EN", "ri", (0, 0), (0, 0), (0, 0)), dialect, mode)
    assert (score.status, score.reason) == ("undefined", "the response makes no claims")


# --- RAGChecker's example file -------------------------------------------------------------------

RAGCHECKER = {
    "precision": (0.7273, 0.8, 76.4),
    "recall": (0.5, 0.75, 62.5),
    "f1": (0.5926, 0.7742, 68.3),
    "claim_recall": (0.2273, 1.0, 61.4),
    "context_precision(ranked=false)": (0.75, 1.0, 87.5),
    "context_utilization": (1.0, 0.75, 87.5),
    "noise_sensitivity(mode=relevant)": (0.1818, 0.2, 19.1),
    "noise_sensitivity(mode=irrelevant)": (0.0, 0.0, 0.0),
    "hallucination": (0.0909, 0.0, 4.5),
    "self_knowledge": (0.5455, 0.0, 27.3),
    "faithfulness": (0.3636, 1.0, 68.2),
}


@dataclass(frozen=True)
class Matrices:
    """The four matrices of one sample, in letters."""

    grounded: Sequence[str]
    retrieved: Sequence[str]
    correct: Sequence[str]
    stated: Sequence[str]

    def of(self, of: Of, by: By) -> Sequence[str]:
        table: Mapping[tuple[Of, By], Sequence[str]] = {
            ("response", "contexts"): self.grounded,
            ("reference", "contexts"): self.retrieved,
            ("response", "reference"): self.correct,
            ("reference", "response"): self.stated,
        }
        return table[of, by]


# 11 claims, 22 reference claims, 4 contexts of which the last holds no reference claim.
FIRST = Matrices(
    grounded=["ENNN", "NEEN", *["NNNN"] * 6, "NENN", "ENEN", "NNNN"],
    retrieved=["ENNN", "ENNN", "NENN", "NEEN", "NNEN", *["NNNN"] * 17],
    correct=[*["E"] * 8, "N", "C", "N"],
    stated=[*["E"] * 11, *["N"] * 11],
)
# 5 claims, 8 reference claims, 3 contexts, all of use.
SECOND = Matrices(
    grounded=["ENN", "NEN", "NNE", "EEE", "NEN"],
    retrieved=["ENN", "NEN", "NNE", "ENN", "NEN", "NNE", "EEN", "NEE"],
    correct=["E", "E", "E", "E", "N"],
    stated=[*["E"] * 6, "N", "C"],
)


def ragchecker_run() -> Run:
    """Both samples scored from texts, by a judge that reads its verdicts off the matrices."""
    samples, verdicts = [], {}
    for n, matrices in enumerate((FIRST, SECOND)):
        claims = {
            "response": [f"{n} response claim {i}" for i in range(len(matrices.grounded))],
            "reference": [f"{n} reference claim {j}" for j in range(len(matrices.retrieved))],
        }
        premises = {
            "contexts": [f"{n} context {c}" for c in range(len(matrices.grounded[0]))],
            "reference": [f"{n} reference"],
            "response": [f"{n} response"],
        }
        kinds: list[tuple[Of, By]] = [
            ("response", "contexts"),
            ("reference", "contexts"),
            ("response", "reference"),
            ("reference", "response"),
        ]
        for of, by in kinds:
            for claim, word in zip(claims[of], matrices.of(of, by), strict=True):
                for premise, letter in zip(premises[by], word, strict=True):
                    verdicts[claim, premise] = letter
        samples.append(
            Sample(
                response=premises["response"][0],
                contexts=premises["contexts"],
                references=premises["reference"],
                id=str(n),
                response_claims=claims["response"],
                reference_claims=claims["reference"],
            )
        )
    return evaluate(samples, list(RAGCHECKER), ScriptedJudge(verdicts=verdicts))


def test_ragchecker_s_example_file() -> None:
    run = ragchecker_run()
    for name, (first, second, percent) in RAGCHECKER.items():
        values = [row.scores[name].value for row in run]
        assert values == pytest.approx([first, second], abs=5e-5), name
        assert round(100 * (run[name].mean or 0.0), 1) == percent, name


def test_ragchecker_s_example_file_has_the_sizes_it_says() -> None:
    assert (len(FIRST.grounded), len(FIRST.retrieved), len(FIRST.grounded[0])) == (11, 22, 4)
    assert (len(SECOND.grounded), len(SECOND.retrieved), len(SECOND.grounded[0])) == (5, 8, 3)
