"""An OpenAI-compatible endpoint for measurements: raw asyncio, in a process of its own.

    python benchmarks/fake_endpoint.py --port 8100 --latency-ms 200

serves http://127.0.0.1:8100/v1 until it is stopped, and prints that URL; with port 0 it takes a
free one. Replies are those of the tests' fake server: claims are sentences, a claim is entailed
by a premise that holds its words. GET /stats tells the calls so far and the most at once. From a
benchmark:

    with endpoint(latency_ms=0) as url: ...
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers import FakeOpenAI, Fault

_HEAD_END = b"\r\n\r\n"
_REASONS = {200: "OK", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, sent ``delay`` seconds after its request; ``cut``: only the first half."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False

    def raw(self) -> bytes:
        """The bytes on the wire."""
        lines = [f"HTTP/1.1 {self.status} {_REASONS.get(self.status, 'Status')}"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(lines).encode() + _HEAD_END + self.body


class Endpoint:
    """What is answered, and how often it was asked."""

    def __init__(self, latency: float = 0.0) -> None:
        self._latency = latency
        self._fake = FakeOpenAI()
        self.calls = self.open = self.peak = 0

    def answer(self, method: str, path: str, body: bytes) -> Answer:
        """The answer to one request."""
        if method == "GET" and path == "/stats":
            return Answer(json.dumps({"calls": self.calls, "peak": self.peak}).encode())
        if method != "POST" or not path.endswith(("/chat/completions", "/embeddings")):
            return Answer(b'{"error": {"message": "there is nothing here"}}', 404)
        self.calls += 1
        return self.answer_call(json.loads(body))

    def answer_call(self, body: dict[str, Any]) -> Answer:
        """The answer to a call for a completion or embeddings."""
        text = self._fake._text(body, Fault())
        return Answer(text.encode(), delay=self._latency)


class Connection(asyncio.Protocol):
    """One connection, kept alive; requests on it come one after the other."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (request := self._next()) is not None:
            self._endpoint.open += 1
            self._endpoint.peak = max(self._endpoint.peak, self._endpoint.open)
            answer = self._endpoint.answer(*request)
            if answer.delay > 0:
                asyncio.get_running_loop().call_later(answer.delay, self._send, answer)
            else:
                self._send(answer)

    def _next(self) -> tuple[str, str, bytes] | None:
        """Method, path and body of the first request that has come whole."""
        end = self._buffer.find(_HEAD_END)
        if end < 0:
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        sizes = [line[15:] for line in lines if line[:15].lower() == "content-length:"]
        start = end + len(_HEAD_END)
        stop = start + (int(sizes[0]) if sizes else 0)
        if len(self._buffer) < stop:
            return None
        body, self._buffer = self._buffer[start:stop], self._buffer[stop:]
        method, path, _ = first.split(" ")
        return method, path, body

    def _send(self, answer: Answer) -> None:
        self._endpoint.open -= 1
        raw = answer.raw()
        self._transport.write(raw[: len(raw) // 2] if answer.cut else raw)
        if answer.cut:
            self._transport.close()


async def serve(endpoint: Endpoint, port: int) -> None:
    """Serve until cancelled; the URL is printed once it can be reached."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(endpoint), "127.0.0.1", port, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


@contextlib.contextmanager
def endpoint(*options: str, latency_ms: float = 0.0) -> Iterator[str]:
    """The URL of an endpoint in another process, with further options of the command line."""
    command = [sys.executable, __file__, "--latency-ms", str(latency_ms), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> None:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Endpoint(given.latency_ms / 1000), given.port))


if __name__ == "__main__":
    main()
