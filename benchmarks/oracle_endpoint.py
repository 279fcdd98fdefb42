"""An OpenAI-compatible endpoint with an oracle for a model: it counts, and misbehaves on request.

    python benchmarks/oracle_endpoint.py --latency-ms 200 --fault 429=0.1 --fault hang=0.01

The oracle's rules are those of `peers_oracle`, the faults those of `oracle_faults`. GET /stats has
the calls, how many of them repeat an earlier prompt (nonces apart), tokens (a fourth of the
characters, schemas included), faults and the most calls at once; POST /reset sets all to zero;
POST /config takes ``latency_ms``, ``faults`` and ``seed``; GET /bodies has the requests of a run
with ``--keep``, as a list of JSON objects.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import peers_oracle as oracle
from fake_endpoint import Answer, Endpoint, serve
from oracle_faults import Programme, spoilt
from servers import data_of, kind_of


@dataclass
class Heard:
    """What was asked since the last reset."""

    calls: int = 0
    sent: Counter[bytes] = field(default_factory=Counter)
    """By request, nonces apart, how often it was sent."""
    faults: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    prompt_characters: int = 0
    completion_characters: int = 0
    busy: float = 0.0
    bodies: list[bytes] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The counts."""
        return {
            "calls": self.calls,
            "repeated": self.calls - len(self.sent),
            "prompt_tokens": self.prompt_characters // 4,
            "completion_tokens": self.completion_characters // 4,
            "kinds": dict(self.kinds),
            "faults": dict(self.faults),
            "seconds_busy": round(self.busy, 4),
        }


class OracleEndpoint(Endpoint):
    """Answers by the oracle ``latency`` seconds after a request came."""

    def __init__(self, latency: float, programme: Programme, *, keep: bool = False) -> None:
        super().__init__(latency)
        self._wait, self._programme, self._keep = latency, programme, keep
        self._heard = Heard()

    def answer(self, method: str, path: str, body: bytes) -> Answer:
        """The answer to one request."""
        if method == "POST" and path.endswith("/chat/completions"):
            return self._chat(body)
        if path == "/stats":
            return _reply({**self._heard.as_dict(), "peak": self.peak})
        if path == "/bodies":
            return Answer(b"[" + b",".join(self._heard.bodies) + b"]")
        if path == "/reset":
            self._heard, self.peak = Heard(), 0
            return _reply({})
        if path == "/config":
            self._configure(json.loads(body))
            return _reply({})
        return super().answer(method, path, body)

    def _configure(self, given: Mapping[str, Any]) -> None:
        now = self._programme
        self._wait = given.get("latency_ms", self._wait * 1000) / 1000
        shares, seed = given.get("faults", now.shares), given.get("seed", now.seed)
        self._programme = Programme(shares, seed, given.get("retry_after", now.retry_after))

    def _chat(self, body: bytes) -> Answer:
        began = time.perf_counter()
        heard, request = self._heard, json.loads(body)
        heard.calls += 1
        if self._keep:
            heard.bodies.append(body)
        try:
            data = data_of(request)
        except (LookupError, ValueError):
            return Answer(b'{"error": {"message": "this prompt is not understood"}}', 400)
        key = _without_nonce(request, data["nonce"])
        sent = heard.sent[key]
        heard.sent[key] += 1
        fault = self._programme.drawn(key, sent)
        if fault:
            heard.faults[fault] += 1
        answer = self._programme.refusal(fault, self._wait)
        if answer is None:
            answer = self._answered(request, data, fault, began)
        heard.busy += time.perf_counter() - began
        return answer

    def _answered(
        self, request: dict[str, Any], data: dict[str, Any], fault: str, began: float
    ) -> Answer:
        reply = {"nonce": data["nonce"], **self._reply(data)}
        text = spoilt(fault, reply) if fault else json.dumps(reply, ensure_ascii=False)
        read = sum(len(message["content"]) for message in request["messages"])
        self._heard.prompt_characters += read + _schema_size(request)
        self._heard.completion_characters += len(text)
        completion = json.dumps(_completion(request["model"], text, read // 4)).encode()
        delay = max(0.0, self._wait - (time.perf_counter() - began))
        return Answer(completion, delay=delay, cut=fault == "half")

    def _reply(self, data: dict[str, Any]) -> dict[str, Any]:
        kind = kind_of(data)
        self._heard.kinds[kind] += 1
        if kind == "claims":
            return {"claims": oracle.claims(data["text"])}
        if kind == "verdicts":
            return {"verdicts": oracle.verdicts(data)}
        if kind == "labels":
            return {"labels": oracle.labels(data)}
        return self._fake.reply(data)


def _without_nonce(request: Mapping[str, Any], nonce: str) -> bytes:
    """A digest of the messages that leaves the nonce out."""
    texts = "\0".join(message["content"] for message in request["messages"])
    return hashlib.blake2b(texts.replace(nonce, "").encode(), digest_size=16).digest()


def _schema_size(request: Mapping[str, Any]) -> int:
    """Characters of the reply's schema, which is part of what the model reads."""
    schema = request.get("response_format", {}).get("json_schema")
    return len(json.dumps(schema, separators=(",", ":"))) if schema else 0


def _completion(model: str, text: str, read: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    usage = {"prompt_tokens": read, "completion_tokens": len(text) // 4}
    return {
        "id": "oracle",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }


def _reply(data: object) -> Answer:
    return Answer(json.dumps(data).encode())


@dataclass(frozen=True, slots=True)
class Served:
    """An endpoint in another process."""

    url: str
    pid: int

    @property
    def base(self) -> str:
        """The base URL of its API."""
        return self.url + "/v1"

    def stats(self) -> dict[str, Any]:
        """The counts since the last reset."""
        found: dict[str, Any] = json.loads(self._call("/stats"))
        return found

    def bodies(self) -> bytes:
        """The requests since the last reset, a list in JSON."""
        return self._call("/bodies")

    def reset(self, **config: Any) -> None:
        """All counts at zero, and other settings."""
        self._call("/reset", {})
        self._call("/config", config)

    def _call(self, path: str, data: object = None) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        body = None if data is None else json.dumps(data).encode()
        with opener.open(urllib.request.Request(self.url + path, body), timeout=60) as reply:
            return bytes(reply.read())


@contextlib.contextmanager
def served(*options: str, nice: int = 0) -> Iterator[Served]:
    """An endpoint with further options of the command line, at a priority."""
    command = ["nice", "-n", str(nice), sys.executable, __file__, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip().removesuffix("/v1")
            yield Served(url, process.pid)
        finally:
            process.terminate()


def main() -> None:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=SHARE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the requests for GET /bodies")
    given = parser.parse_args()
    shares = {kind: float(share) for kind, _, share in (one.partition("=") for one in given.fault)}
    endpoint = OracleEndpoint(
        given.latency_ms / 1000, Programme(shares, given.seed), keep=given.keep
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(endpoint, given.port))


if __name__ == "__main__":
    main()
