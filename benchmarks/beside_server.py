"""One local server for two programs: the endpoint that they test, and the judge that they ask.

    python benchmarks/beside_server.py --answers FILE [--port 8100] [--latency-ms 200]

prints its URL and serves until it is stopped:

- POST /NAME/rag/answer: the endpoint under test. The body has ``messages`` (a text or a chat); the
  reply has ``answer``, that of FILE (a JSON object) to the question after "Question:".
- POST /NAME/v1/chat/completions, /NAME/v1/embeddings: the judge, for promptfoo and for assay.
- GET /stats: by NAME, the calls of each kind, by model too, and the endpoint's prompts.
- POST /reset: all of these at zero.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import beside_oracle as oracle
import beside_prompts
from fake_endpoint import Answer, Endpoint, serve
from servers import FakeOpenAI, Fault, data_of, kind_of


@dataclass
class Heard:
    """What one program asked."""

    calls: Counter[str] = field(default_factory=Counter)
    models: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    prompts: list[Any] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Counts by kind, counts by model and kind, prompts."""
        models = {name: dict(counts) for name, counts in self.models.items()}
        return {"calls": dict(self.calls), "models": models, "prompts": self.prompts}


class Beside(Endpoint):
    """Answers both programs, and keeps count of each."""

    def __init__(self, answers: Mapping[str, str], latency: float = 0.0) -> None:
        super().__init__(latency)
        self._answers, self._wait = answers, latency
        self._heard: defaultdict[str, Heard] = defaultdict(Heard)
        self._assay = FakeOpenAI(
            oracle.verdict,
            oracle.sentences,
            labels=oracle.relevant,
            grader=oracle.level,
            evasive=lambda answer: "do not know" in answer,
            vector=oracle.vector,
        )

    def answer(self, method: str, path: str, body: bytes) -> Answer:
        """The answer to one request."""
        if path == "/stats":
            return _reply({name: heard.as_dict() for name, heard in self._heard.items()})
        if path == "/reset":
            self._heard.clear()
            return _reply({})
        name, _, rest = path.strip("/").partition("/")
        data, heard = json.loads(body), self._heard[name]
        if rest == "rag/answer":
            heard.calls["endpoint"] += 1
            heard.prompts.append(data["messages"])
            return _reply({"answer": self._answered(data["messages"])}, self._wait)
        try:
            kind, reply = self._judged(rest, data)
        except (LookupError, ValueError) as error:
            heard.calls["unknown"] += 1
            return _reply({"error": {"message": f"not understood: {error}"}}, 0, 400)
        heard.calls[kind] += 1
        heard.models[data["model"]][kind] += 1
        return Answer(reply.encode(), delay=self._wait)

    def _answered(self, messages: Any) -> str:
        if isinstance(messages, str) and messages.lstrip().startswith("["):
            messages = json.loads(messages)
        text = messages if isinstance(messages, str) else messages[-1]["content"]
        question = text.rpartition("Question:")[2].strip()
        return self._answers.get(question, f"There is no answer to {question!r}.")

    def _judged(self, path: str, body: dict[str, Any]) -> tuple[str, str]:
        """The kind of a call to the judge, and the reply."""
        if path == "v1/embeddings":
            if isinstance(body["input"], str):
                body["input"] = [body["input"]]
            return "embedding", self._as_tested(body)
        if path != "v1/chat/completions":
            raise LookupError(path)
        text = "\n".join(message["content"] for message in body["messages"])
        if body["messages"][-1]["content"].startswith("nonce "):
            return kind_of(data_of(body)), self._as_tested(body)
        kind, said = beside_prompts.answer(text)
        return kind, json.dumps(_completion(body["model"], text, said))

    def _as_tested(self, body: dict[str, Any]) -> str:
        """The reply of the tests' server, without its network."""
        return self._assay._text(body, Fault())


def _completion(model: str, asked: str, said: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": said}
    usage = {"prompt_tokens": len(asked) // 4, "completion_tokens": len(said) // 4}
    return {
        "id": "beside",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }


def _reply(data: object, delay: float = 0.0, status: int = 200) -> Answer:
    return Answer(json.dumps(data).encode(), status, delay=delay)


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs elsewhere."""

    url: str

    def stats(self) -> dict[str, dict[str, Any]]:
        """What every program asked since the last reset."""
        found: dict[str, dict[str, Any]] = json.loads(self._get("/stats"))
        return found

    def reset(self) -> None:
        """Forget what was asked."""
        self._get("/reset")

    def _get(self, path: str) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.url + path, timeout=30) as reply:
            return bytes(reply.read())


@contextlib.contextmanager
def served(answers: Path, latency_ms: float = 0.0) -> Iterator[Served]:
    """A server in another process."""
    options = ["--answers", str(answers), "--latency-ms", str(latency_ms)]
    command = [sys.executable, __file__, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Served(process.stdout.readline().strip().removesuffix("/v1"))
        finally:
            process.terminate()


def main() -> None:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    given = parser.parse_args()
    answers = json.loads(given.answers.read_text(encoding="utf-8"))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Beside(answers, given.latency_ms / 1000), given.port))


if __name__ == "__main__":
    main()
