"""The worked examples of the ragas documentation, by the embedded judge.

    python benchmarks/worked_examples.py [--judge embedded]

Nine examples with eighteen claims, made as their pages make them, and the verdicts that the pages
give. The claims are handed to the judge; whether it would split the texts so is another question.
"""

from __future__ import annotations

import argparse
import asyncio

from assay import Sample, open_judge
from assay.errors import JudgeError
from assay.needs import By, Entails
from assay.runner import meet

MONA = (
    "The Mona Lisa is a famous portrait painted by Leonardo da Vinci. It is believed to have been "
    "started in the early 1500s. Some art historians date its completion to around 1519, placing "
    "it firmly in the 15th century according to certain periodizations."
)
PRIDE = (
    "Jane Austen published 'Pride and Prejudice' in 1813, a classic romance novel.",
    "Charlotte Brontë, a renowned author, is best known for her novel 'Jane Eyre,' published in 1847.",
)
BOWL = (
    "The First AFL–NFL World Championship Game, later known as Super Bowl I, was played on January "
    "15, 1967, at the Los Angeles Memorial Coliseum."
)
BOWL_SHORT = (
    "The First AFL–NFL World Championship Game was an American football game played on January 15, "
    "1967, at the Los Angeles Memorial Coliseum in Los Angeles."
)
DIET = (
    "A healthy diet includes regular consumption of fruits and vegetables.",
    "Staying hydrated by drinking sufficient water is essential for good health.",
    "Processed foods should be limited to maintain a balanced diet.",
)
EINSTEIN = (
    "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist, widely held to "
    "be one of the greatest and most influential scientists of all time"
)
WHO_PAINTED = "Who painted the Mona Lisa and in what century was it painted?"
WHO_WROTE = "Who wrote the novel 'Pride and Prejudice'?"
PAINTED = (
    "Leonardo da Vinci painted the Mona Lisa.",
    "The Mona Lisa was painted in the 15th century.",
)
WROTE = (
    "Charlotte Brontë wrote 'Pride and Prejudice.'",
    "Charlotte Brontë is famous for 'Jane Eyre.'",
)

Example = tuple[str, str, By, tuple[str, ...], dict[str, bool]]
EXAMPLES: list[Example] = [
    ("Mona Lisa", WHO_PAINTED, "contexts", (MONA,), dict.fromkeys(PAINTED, True)),
    (
        "Mona Lisa",
        WHO_PAINTED,
        "reference",
        ("Leonardo da Vinci painted the Mona Lisa in the 16th century.",),
        {PAINTED[0]: True, PAINTED[1]: False},
    ),
    ("Pride and Prejudice", WHO_WROTE, "contexts", PRIDE, {WROTE[0]: False, WROTE[1]: True}),
    (
        "Pride and Prejudice",
        WHO_WROTE,
        "reference",
        ("Jane Austen wrote 'Pride and Prejudice.'",),
        dict.fromkeys(WROTE, False),
    ),
    (
        "Super Bowl",
        "When was the first Super Bowl held?",
        "contexts",
        (BOWL,),
        {
            "The first Super Bowl was held on January 15, 1967.": True,
            "The first Super Bowl was held in Florida.": False,
        },
    ),
    (
        "Super Bowl, short",
        "When was the first super bowl?",
        "contexts",
        (BOWL_SHORT,),
        {"The first superbowl was held on Jan 15, 1967": True},
    ),
    (
        "Healthy diet",
        "What are some tips for maintaining a healthy diet?",
        "contexts",
        DIET,
        {
            "Eating fruits and vegetables daily can improve your diet.": True,
            "Drinking enough water can improve your diet.": True,
            "Avoiding processed foods can improve your diet.": True,
        },
    ),
    (
        "Einstein, faithful",
        "Where and when was Einstein born?",
        "contexts",
        (EINSTEIN,),
        {"Einstein was born in Germany.": True, "Einstein was born on 14th March 1879.": True},
    ),
    (
        "Einstein, unfaithful",
        "Where and when was Einstein born?",
        "contexts",
        (EINSTEIN,),
        {"Einstein was born in Germany.": True, "Einstein was born on 20th March 1879.": False},
    ),
]


async def work(name: str) -> None:
    judge = open_judge(name)
    right = total = 0
    for title, question, by, premises, claims in EXAMPLES:
        sample = Sample(
            question,
            contexts=premises if by == "contexts" else None,
            references=premises if by == "reference" else None,
            response_claims=list(claims),
        )
        (matrix,) = await meet([Entails("response", by=by)], sample, judge)
        if isinstance(matrix, JudgeError):
            raise matrix
        for claim, truth, row, said in zip(
            claims, claims.values(), matrix.cells, matrix.supported(), strict=True
        ):
            right += said is truth
            total += 1
            shown = max((cell.probability or 0.0 for cell in row), default=0.0)
            mark = "ok " if said is truth else "BAD"
            print(f"{mark} {title:22} {by:9} p {shown:.2f}  {claim}")
    await judge.aclose()
    print(f"{right} of {total} right")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--judge", default="embedded")
    asyncio.run(work(parser.parse_args().judge))
