"""A local OpenAI-compatible chat server that judges by a function and misbehaves on request.

    async with FakeOpenAI(oracle) as server:
        judge = openai_judge("fake", base_url=server.url)

or, where the test has no event loop (a command line, several loops in turn):

    with FakeOpenAI(oracle).in_thread() as server: ...
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from oracles import (
    Grader,
    Labels,
    Oracle,
    Rater,
    Splitter,
    bag_of_words,
    contains,
    evades,
    exclamations,
    grades,
    last_word,
    names_trait,
    sentences,
    stars,
)

Garble = Callable[[dict[str, Any]], str]
"""From the right reply to the text that is sent instead."""


@dataclass(frozen=True)
class Fault:
    """What one call does instead of answering properly."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """Sent as it is; None: a completion if the status is 200, else an error object."""
    garble: Garble | None = None
    delay: float = 0.0
    cut: bool = False
    """The connection ends in the middle of the body."""
    message: Mapping[str, Any] | None = None
    """Put over the message of the completion."""
    finish: str = "stop"
    error: Mapping[str, Any] | None = None
    """Put over the error object."""


HALF = Fault(cut=True)
HTML = Fault(body="<html><h1>502 Bad Gateway</h1></html>", headers={"Content-Type": "text/html"})
EMPTY = Fault(body="")
NO_CHOICES = Fault(body='{"choices": []}')
NO_CONTENT = Fault(message={"content": None})
LENGTH = Fault(finish="length", garble=lambda reply: json.dumps(reply)[:20])
FILTERED = Fault(finish="content_filter", message={"content": None})
REFUSED = Fault(message={"content": None, "refusal": "I cannot help with that"})
MALFORMED = Fault(garble=lambda reply: '{"nonce": ' + repr(reply))
TRUNCATED = Fault(garble=lambda reply: json.dumps(reply)[:-3])
PROSE = Fault(garble=lambda reply: "Here you are:\n" + json.dumps(reply))
FENCED = Fault(garble=lambda reply: "```json\n" + json.dumps(reply) + "\n```")
WRONG_NONCE = Fault(garble=lambda reply: json.dumps({**reply, "nonce": "0123456789abcdef"}))


def status(code: int, message: str = "a fault", **headers: str) -> Fault:
    """An error with this status; header names are written with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(code, named, error={"message": message})


def hang(seconds: float) -> Fault:
    """An answer that is late."""
    return Fault(delay=seconds)


def verdicts(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Fault:
    """A reply with another list of verdicts."""
    return Fault(garble=lambda reply: json.dumps({**reply, "verdicts": change(reply["verdicts"])}))


def drop(*ids: str) -> Fault:
    """A reply without the verdicts on these claims."""
    return verdicts(lambda items: [item for item in items if item["claim"] not in ids])


def double(id: str, verdict: str) -> Fault:
    """A reply with a second verdict on a claim."""
    return verdicts(
        lambda items: items + [{**i, "verdict": verdict} for i in items if i["claim"] == id]
    )


def invent(id: str = "c999") -> Fault:
    """A reply with a verdict on a claim that nobody asked about."""
    return verdicts(lambda items: [{**items[0], "claim": id}, *items])


def changed(name: str, change: Callable[[Any], Any]) -> Fault:
    """A reply with another value in the named field."""
    return Fault(garble=lambda reply: json.dumps({**reply, name: change(reply[name])}))


def labels(change: Callable[[list[dict[str, Any]]], list[Any]]) -> Fault:
    """A reply with another list of labels."""
    return changed("labels", change)


REORDERED = verdicts(lambda items: items[::-1])


class FakeOpenAI:
    """The server; ``faults`` are used up call by call, None meaning a proper answer. A call that
    is refused for one of the following uses up none.

    ``key``: 401 unless it is sent as a bearer token or ``api-key``. ``unsupported``: body
    parameters that get a 400. ``formats``: the response_format types that it knows.
    """

    def __init__(
        self,
        oracle: Oracle = contains,
        splitter: Splitter = sentences,
        *,
        opinions: Splitter = exclamations,
        labels: Labels = names_trait,
        rating: Rater = stars,
        grader: Grader = last_word,
        evasive: Callable[[str], bool] = evades,
        vector: Callable[[str], Sequence[float]] = bag_of_words,
        faults: Sequence[Fault | None] = (),
        latency: float = 0.0,
        key: str | None = None,
        unsupported: Sequence[str] = (),
        formats: Sequence[str] = ("json_schema", "json_object", "text"),
        models: Sequence[str] | None = None,
    ) -> None:
        self.oracle, self.splitter = oracle, splitter
        self.opinions, self.labels, self.rating = opinions, labels, rating
        self.evasive, self.vector, self.grader = evasive, vector, grader
        self.faults = list(faults)
        self.latency, self.key, self.models = latency, key, models
        self.unsupported, self.formats = tuple(unsupported), tuple(formats)
        self.bodies: list[dict[str, Any]] = []
        """Request bodies in the order of arrival."""
        self.requests: list[tuple[str, dict[str, str]]] = []
        """Paths with query, and headers by lower-case name."""
        self.peak = 0
        """The most calls that were open at once."""
        self.url = ""
        self._open = 0
        self._runner: web.AppRunner | None = None

    @property
    def calls(self) -> int:
        return len(self.bodies)

    def asked(self, kind: str) -> list[dict[str, Any]]:
        """The data of all calls that asked for "claims", "verdicts", "labels", "grades",
        "questions" or a "rating".
        """
        chats = (data_of(body) for body in self.bodies if "messages" in body)
        return [data for data in chats if kind_of(data) == kind]

    def embedded(self) -> list[list[str]]:
        """The texts of all calls that asked for embeddings."""
        return [body["input"] for body in self.bodies if "input" in body]

    async def __aenter__(self) -> FakeOpenAI:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_post("/v1/embeddings", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[FakeOpenAI]:
        """The server in a thread and event loop of its own."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self.__aenter__(), loop).result(10)
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self.__aexit__(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append((request.path_qs, headers))
        self._open += 1
        self.peak = max(self.peak, self._open)
        try:
            if refusal := self._refuse(body, headers):
                return refusal
            fault = self.faults.pop(0) if self.faults else None
            await asyncio.sleep(self.latency + (fault.delay if fault else 0.0))
            return await self._reply(request, body, fault)
        finally:
            self._open -= 1

    def _refuse(self, body: dict[str, Any], headers: dict[str, str]) -> web.Response | None:
        sent = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("api-key")
        if self.key is not None and sent != self.key:
            return _error(401, {"message": f"Incorrect API key provided: {sent}"})
        if self.models is not None and body["model"] not in self.models:
            return _error(404, {"message": f"model {body['model']!r} not found"})
        for name in self.unsupported:
            if name in body:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return _error(400, {"message": said, "param": name})
        wanted = body.get("response_format", {}).get("type", "text")
        if wanted not in self.formats:
            said = f"Invalid parameter: 'response_format' of type '{wanted}' is not supported"
            return _error(400, {"message": said})
        return None

    async def _reply(
        self, request: web.Request, body: dict[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        fault = fault or Fault()
        if fault.status != 200 and fault.body is None:
            return _error(fault.status, fault.error or {}, fault.headers)
        text = fault.body if fault.body is not None else self._text(body, fault)
        kind = {"Content-Type": "application/json"}
        if not fault.cut:
            return web.Response(
                body=text.encode(), status=fault.status, headers={**kind, **fault.headers}
            )
        half = web.StreamResponse(headers={**kind, "Content-Length": str(len(text.encode()))})
        await half.prepare(request)
        await half.write(text.encode()[: len(text) // 2])
        if request.transport is not None:
            request.transport.close()
        return half

    def _text(self, body: dict[str, Any], fault: Fault) -> str:
        if "input" in body:
            return self._embeddings(body, fault)
        return json.dumps(self._completion(body, fault))

    def _embeddings(self, body: dict[str, Any], fault: Fault) -> str:
        items = [
            {"object": "embedding", "index": k, "embedding": list(self.vector(text))}
            for k, text in enumerate(body["input"])
        ]
        used = sum(map(len, body["input"])) // 4
        reply = {
            "object": "list",
            "data": items,
            "model": body["model"],
            "usage": {"prompt_tokens": used, "total_tokens": used},
        }
        return fault.garble(reply) if fault.garble else json.dumps(reply)

    def _completion(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        reply = self.reply(data_of(body), lists_of(body))
        text = fault.garble(reply) if fault.garble else json.dumps(reply, ensure_ascii=False)
        message = {"role": "assistant", "content": text, **(fault.message or {})}
        read = sum(len(m["content"]) for m in body["messages"]) // 4
        return {
            "id": "fake",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": fault.finish}],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": len(text) // 4,
                "total_tokens": read + len(text) // 4,
            },
        }

    def reply(self, data: dict[str, Any], lists: Sequence[str] = ("claims",)) -> dict[str, Any]:
        """The right reply object to the data of a call; ``lists`` are wanted from a text."""
        kind = kind_of(data)
        if kind == "claims":
            answer: dict[str, Any] = {name: self._list(name, data["text"]) for name in lists}
        elif kind == "rating":
            rating = self.rating(data["summary"], data["source"])
            answer = {"reason": "by oracle", "rating": rating}
        elif kind == "grades":
            answer = {"grades": grades(self.grader, data)}
        elif kind == "questions":
            answer = self._questions(data)
        else:
            answer = {kind: self._labels(data) if kind == "labels" else self._verdicts(data)}
        return {"nonce": data["nonce"], **answer}

    def _list(self, name: str, text: str) -> list[dict[str, str]]:
        if name == "opinions":
            return [{"quote": opinion, "opinion": opinion} for opinion in self.opinions(text)]
        return [{"quote": claim, "claim": claim} for claim in self.splitter(text)]

    def _questions(self, data: dict[str, Any]) -> dict[str, Any]:
        """The answer's sentences as questions, in turn."""
        parts = [part.rstrip(".!?") + "?" for part in self.splitter(data["answer"])]
        asked = [parts[k % len(parts)] for k in range(data["count"])] if parts else []
        return {"noncommittal": self.evasive(data["answer"]), "questions": asked}

    def _labels(self, data: dict[str, Any]) -> list[dict[str, str]]:
        said = {True: "yes", False: "no"}
        return [
            {
                "text": key,
                "trait": trait,
                "reason": f"by oracle: {trait}",
                "label": said[self.labels(trait, item["text"], data["question"])],
            }
            for key, item in data["texts"].items()
            for trait in item["traits"]
        ]

    def _verdicts(self, data: dict[str, Any]) -> list[dict[str, str]]:
        premises = data.get("premises") or {"": data["premise"]}
        return [
            self._verdict(key, claim, number, premise, data["question"])
            for key, claim in data["claims"].items()
            for number, premise in premises.items()
        ]

    def _verdict(
        self, id: str, claim: str, number: str, premise: str, question: str | None
    ) -> dict[str, str]:
        verdict = self.oracle(claim, premise, question)
        start = premise.casefold().find(claim.strip(" .").casefold())
        quote = premise[start : start + len(claim.strip(" ."))] if start >= 0 else premise[:40]
        item = {"claim": id, "quote": "" if verdict == "neutral" else quote}
        if number:
            item["premise"] = number
        return {**item, "reason": f"by oracle: {verdict}", "verdict": verdict}


def data_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a request in assay's form, with its nonce."""
    user = body["messages"][-1]["content"]
    first, _, rest = user.partition("\n")
    data, _ = json.JSONDecoder().raw_decode(rest)
    return {**data, "nonce": first.removeprefix("nonce ")}


def kind_of(data: Mapping[str, Any]) -> str:
    """What a call asks for: "claims", "verdicts", "labels", "grades", "questions" or a "rating"."""
    kinds = {"criteria": "grades", "text": "claims", "texts": "labels", "summary": "rating"}
    kinds["answer"] = "questions"
    return next((kind for field, kind in kinds.items() if field in data), "verdicts")


def lists_of(body: Mapping[str, Any]) -> list[str]:
    """The lists in the shape of the reply, the last line of the system message."""
    shape = body["messages"][0]["content"].rpartition("\n")[2]
    return [name for name in ("claims", "opinions") if f'"{name}": [' in shape]


def _error(
    code: int, error: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> web.Response:
    shape = {"error": {"message": "a fault", "type": "fault", "param": None, "code": None, **error}}
    return web.json_response(shape, status=code, headers=dict(headers or {}))
