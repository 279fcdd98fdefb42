"""The examples of published pages on ragas' metrics run with another import root, verbatim.

They talk to a local server in the place of OpenAI; it says about claims what the pages say.
"""

from __future__ import annotations

import ast
import gc
import inspect
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest

from servers import FakeOpenAI

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of clients left open

SETUP = """
from langchain_openai import ChatOpenAI
from ragas.llms import LangchainLLMWrapper
from ragas import SingleTurnSample
from ragas.metrics import {metric}
import asyncio

# Set up the LLM
llm = ChatOpenAI(model="gpt-4o-mini")

# Initialize the metric
evaluator_llm = LangchainLLMWrapper(llm)
"""

MONA_LISA = (
    SETUP.replace("{metric}", "NoiseSensitivity")
    + """
relevant_noise_sensitivity = NoiseSensitivity(llm=evaluator_llm, mode="relevant")

# Define the test sample
query = "Who painted the Mona Lisa and in what century was it painted?"
response = "Leonardo da Vinci painted the Mona Lisa, and it was painted in the 15th century."
reference = "Leonardo da Vinci painted the Mona Lisa in the 16th century."
context = [
    "The Mona Lisa is a famous portrait painted by Leonardo da Vinci. It is believed to have been started in the early 1500s. Some art historians date its completion to around 1519, placing it firmly in the 15th century according to certain periodizations."
]

sample = SingleTurnSample(
    user_input = query,
    response = response,
    reference = reference,
    retrieved_contexts = context,
)

# Compute the metric
score = asyncio.run(relevant_noise_sensitivity.single_turn_ascore(sample))

# Display the score
print(f"Relevant Noise Sensitivity Score: {score}")
"""  # noqa: E501 - as the page has it
)

PRIDE = (
    SETUP.replace("{metric}", "NoiseSensitivity")
    + """
irrelevant_noise_sensitivity = NoiseSensitivity(llm=evaluator_llm, mode="irrelevant")

# Define the test sample
query = "Who wrote the novel 'Pride and Prejudice'?"
response = "Charlotte Brontë wrote 'Pride and Prejudice,' and she is famous for 'Jane Eyre.'"
reference = "Jane Austen wrote 'Pride and Prejudice.'"
context = [
    "Jane Austen published 'Pride and Prejudice' in 1813, a classic romance novel.",
    "Charlotte Brontë, a renowned author, is best known for her novel 'Jane Eyre,' published in 1847."
]

sample = SingleTurnSample(
    user_input = query,
    response = response,
    reference = reference,
    retrieved_contexts = context,
)

# Compute the metric
score = asyncio.run(irrelevant_noise_sensitivity.single_turn_ascore(sample))

# Display the score
print(f"Irrelevant Noise Sensitivity Score: {score}")
"""  # noqa: E501 - as the page has it
)

DIET = """
# Define the test sample
query = "What are some tips for maintaining a healthy diet?"
response = "Eating fruits and vegetables daily, drinking enough water, and avoiding processed foods can improve your diet."
context = [
    "A healthy diet includes regular consumption of fruits and vegetables.",
    "Staying hydrated by drinking sufficient water is essential for good health.",
    "Processed foods should be limited to maintain a balanced diet."
]

sample = SingleTurnSample(
    user_input = query,
    response = response,
    retrieved_contexts = context,
)

# Compute the metric
score = asyncio.run(faithfulness.single_turn_ascore(sample))

# Display the score
print(f"Faithfulness Score: {score}")
"""  # noqa: E501 - as the page has it

FAITHFUL = (
    SETUP.replace("{metric}", "Faithfulness")
    + "faithfulness = Faithfulness(llm=evaluator_llm)\n"
    + DIET
)

HHEM = (
    SETUP.replace("{metric}", "FaithfulnesswithHHEM")
    + "faithfulness = FaithfulnesswithHHEM(llm=evaluator_llm)\n"
    + DIET
)

HHEM_DEVICE = """

my_device = "cuda:0"
my_batch_size = 10

faithfulness = FaithfulnesswithHHEM(device=my_device, batch_size=my_batch_size)
score = asyncio.run(faithfulness.single_turn_ascore(sample))
"""

COLLECTIONS = """
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import Faithfulness
# Setup LLM
client = AsyncOpenAI()
llm = llm_factory("gpt-4o-mini", client=client)
# Create metric
scorer = Faithfulness(llm=llm)
# Evaluate
result = await scorer.ascore(
user_input="When was the first super bowl?",
response="The first superbowl was held on Jan 15, 1967",
retrieved_contexts=[
"The First AFL–NFL World Championship Game was an American football game played on January 15, 1967, at the Los Angeles Memorial Coliseum in Los Angeles."
]
)
print(f"Faithfulness Score: {result.value}")
"""  # noqa: E501 - as the page has it

LEGACY = """
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics import {metric}
sample = SingleTurnSample(
user_input="When was the first super bowl?",
response="The first superbowl was held on Jan 15, 1967",
retrieved_contexts=[
"The First AFL–NFL World Championship Game was an American football game played on January 15, 1967, at the Los Angeles Memorial Coliseum in Los Angeles."
]
)
scorer = {metric}(llm=evaluator_llm)
await scorer.single_turn_ascore(sample)
"""  # noqa: E501 - as the page has it

CLAIMS = {
    "Leonardo da Vinci painted the Mona Lisa, and it was painted in the 15th century.": [
        "Leonardo da Vinci painted the Mona Lisa.",
        "It was painted in the 15th century.",
    ],
    "Leonardo da Vinci painted the Mona Lisa in the 16th century.": [
        "Leonardo da Vinci painted the Mona Lisa.",
        "It was painted in the 16th century.",
    ],
    "Charlotte Brontë wrote 'Pride and Prejudice,' and she is famous for 'Jane Eyre.'": [
        "Charlotte Brontë wrote 'Pride and Prejudice.'",
        "Charlotte Brontë is famous for 'Jane Eyre.'",
    ],
    "Jane Austen wrote 'Pride and Prejudice.'": ["Jane Austen wrote 'Pride and Prejudice.'"],
    "Eating fruits and vegetables daily, drinking enough water, and avoiding processed foods can"
    " improve your diet.": [
        "Eating fruits and vegetables daily can improve your diet.",
        "Drinking enough water can improve your diet.",
        "Avoiding processed foods can improve your diet.",
    ],
    "The first superbowl was held on Jan 15, 1967": ["The first superbowl was on Jan 15, 1967."],
    "Einstein was born in Germany on 20th March 1879.": [
        "Einstein was born in Germany.",
        "Einstein was born on 20th March 1879.",
    ],
    "The first Super Bowl was held on January 15, 1967, in Florida.": [
        "The first Super Bowl was held on January 15, 1967.",
        "The first Super Bowl was held in Florida.",
    ],
}
ENTAILED = [
    ("Leonardo da Vinci painted", "Leonardo da Vinci"),
    ("painted in the 15th century", "firmly in the 15th century"),
    ("famous for 'Jane Eyre", "renowned author"),
    ("Jane Austen wrote", "Jane Austen"),
    ("fruits and vegetables", "consumption of fruits and vegetables"),
    ("enough water", "sufficient water"),
    ("processed foods", "Processed foods should be limited"),
    ("superbowl was on Jan 15, 1967", "January 15, 1967"),
    ("Super Bowl was held on January 15, 1967", "January 15, 1967"),
    ("Einstein was born in Germany", "German-born"),
]
"""Words of a claim, and words of the premises that entail it."""


def says(claim: str, premise: str, question: str | None) -> str:
    """The verdict of the pages."""
    entailed = any(c in claim and p in premise for c, p in ENTAILED)
    return "entailed" if entailed else "neutral"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI(says, CLAIMS.__getitem__, key="sk-test").in_thread() as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield fake
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def hhem(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A stand-in for the model, which is too large to come with the tests."""
    from assay import ScriptedJudge, Verdict
    from assay.judges import hhem as module
    from assay.judges.embedded import EmbeddedJudge
    from assay.judges.route import RoutedJudge

    made: list[dict[str, Any]] = []

    def fake(**options: Any) -> RoutedJudge:
        made.append(options)

        def verdict(claim: str, premise: str) -> Verdict:
            return Verdict(says(claim, premise, None))

        extract = options["extract"] or EmbeddedJudge()
        return RoutedJudge(extract=extract, entail=ScriptedJudge(verdicts=verdict))

    monkeypatch.setattr(module, "hhem_judge", fake)
    return made


def moved(text: str) -> str:
    """The example with the import root changed, and nothing else."""
    return text.replace("from ragas", "from assay.ragas")


def run(text: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    names = {} if names is None else names
    exec(compile(moved(text), "example", "exec"), names)
    return names


async def run_cell(text: str, names: dict[str, Any]) -> Any:
    """Run as a notebook does, with top-level await; the value of the last expression."""
    tree = ast.parse(moved(text))
    if isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("_", ast.Store())], last.value)
        ast.fix_missing_locations(tree)
    code: CodeType = compile(tree, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made = eval(code, names)
    if inspect.isawaitable(made):
        await made
    return names.get("_")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (MONA_LISA, "Relevant Noise Sensitivity Score: 0.5\n"),
        (PRIDE, "Irrelevant Noise Sensitivity Score: 0.5\n"),
        (FAITHFUL, "Faithfulness Score: 1.0\n"),
    ],
    ids=["relevant", "irrelevant", "faithfulness"],
)
def test_the_page_s_script_prints_the_page_s_score(
    text: str, printed: str, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    run(text)
    assert capsys.readouterr().out == printed
    assert {body["model"] for body in server.bodies} == {"gpt-4o-mini"}


def test_the_other_mode_of_the_noise_examples_is_zero(
    server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    run(MONA_LISA.replace('mode="relevant"', 'mode="irrelevant"'))
    run(PRIDE.replace('mode="irrelevant"', 'mode="relevant"'))
    assert [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()] == ["0.0"] * 2


def test_hhem_takes_claims_from_the_llm_and_verdicts_from_the_model(
    server: FakeOpenAI, hhem: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    names = run(HHEM)
    assert capsys.readouterr().out == "Faithfulness Score: 1.0\n"
    assert (len(server.asked("claims")), len(server.asked("verdicts"))) == (1, 0)
    assert (hhem[0]["device"], hhem[0]["batch_size"]) == ("cpu", 10)

    run(HHEM_DEVICE, names)  # no llm: ragas stops here with an AssertionError
    assert hhem[1] == {"device": "cuda:0", "batch_size": 10, "extract": None}
    assert 0 < names["score"] <= 1
    assert server.calls == 1


async def test_the_collections_cell(server: FakeOpenAI, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    await run_cell(COLLECTIONS, names)
    assert capsys.readouterr().out == "Faithfulness Score: 1.0\n"
    again = names["scorer"].score(
        user_input="Where and when was Einstein born?",
        response="Einstein was born in Germany on 20th March 1879.",
        retrieved_contexts=["Albert Einstein (born 14 March 1879) was a German-born physicist."],
    )
    assert again.value == 0.5
    assert "Einstein was born on 20th March 1879." in again.reason
    third = await names["scorer"].ascore(
        user_input="?",
        response="The first superbowl was held on Jan 15, 1967",
        retrieved_contexts=["Nothing."],
    )
    assert third == 0
    await names["client"].close()


@pytest.mark.parametrize("metric", ["Faithfulness", "FaithfulnesswithHHEM"])
async def test_the_legacy_cells(
    metric: str, server: FakeOpenAI, hhem: list[dict[str, Any]]
) -> None:
    from langchain_openai import ChatOpenAI

    from assay.ragas.llms import LangchainLLMWrapper

    names = {"evaluator_llm": LangchainLLMWrapper(ChatOpenAI(model="gpt-4o-mini"))}
    assert await run_cell(LEGACY.replace("{metric}", metric), names) == 1.0


def test_the_worked_example_of_the_super_bowl(server: FakeOpenAI) -> None:
    from assay.ragas.llms import llm_factory
    from assay.ragas.metrics.collections import Faithfulness

    result = Faithfulness(llm=llm_factory("gpt-4o-mini")).score(
        user_input="When was the first Super Bowl held?",
        response="The first Super Bowl was held on January 15, 1967, in Florida.",
        retrieved_contexts=["Super Bowl I was played on January 15, 1967, in Los Angeles."],
    )
    assert result.value == 0.5
    assert result.reason == (
        "1 of 2 claims are supported by the contexts. "
        "Not so: “The first Super Bowl was held in Florida.” (by oracle: neutral)."
    )
