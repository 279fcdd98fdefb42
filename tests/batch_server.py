"""A local server that takes batch files and answers their lines as FakeOpenAI answers calls.

async with BatchServer() as server:
    judge = open_batch_judge("fake", state=folder, base_url=server.url)
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from servers import FakeOpenAI, Fault

Lines = list[dict[str, Any]]


@dataclass
class Course:
    """What becomes of one batch.

    ``status``: how it ends; ``answered``: how many of its lines are answered by then (None: all);
    ``errors``: those of the batch as a whole; ``garble`` changes the file of answers;
    ``held``: it stays in progress until this is cleared.
    """

    status: str = "completed"
    answered: int | None = None
    errors: Lines = field(default_factory=list)
    garble: Callable[[str], str] = str
    held: bool = False
    no_files: int = 0
    """So many requests for the ended batch do not name its files yet."""


class BatchServer(FakeOpenAI):
    """The server; ``courses`` are those of the first batches, in order.

    ``faults`` (of FakeOpenAI) are used up line by line. ``http`` are faults of the batch
    endpoints by the beginning of "METHOD path", used up request by request. With ``mute``, the
    next batch is made and its answer is lost. ``hang``: who makes a batch waits in vain, "before"
    or "after" it is made.
    """

    def __init__(self, *args: Any, courses: list[Course] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.courses = courses or []
        self.http: dict[str, list[int]] = {}
        self.mute, self.hang = False, ""
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.inputs: list[list[str]] = []
        """The custom_ids of each batch."""
        self.log: list[str] = []
        """Method and path of each request to a batch endpoint."""
        self.metadata: list[dict[str, str]] = []

    @property
    def lines(self) -> list[str]:
        """The custom_ids of all lines that were paid: those of batches that were made."""
        return [one for ids in self.inputs for one in ids]

    async def __aenter__(self) -> BatchServer:
        app = web.Application(client_max_size=64 * 2**20, middlewares=[self._middle])
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_post("/v1/embeddings", self._answer)
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._content)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._listed)
        app.router.add_get("/v1/batches/{id}", self._get)
        app.router.add_post("/v1/batches/{id}/cancel", self._cancel)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    def course(self, number: int) -> Course:
        """The course of the batch with this number, from 0 on."""
        while len(self.courses) <= number:
            self.courses.append(Course())
        return self.courses[number]

    @web.middleware
    async def _middle(self, request: web.Request, handler: Any) -> web.StreamResponse:
        what = f"{request.method} {request.path.removeprefix('/v1')}"
        self.log.append(what)
        sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.key is not None and sent != self.key:
            return _error(401, f"Incorrect API key provided: {sent}")
        for start, statuses in self.http.items():
            if what.startswith(start) and statuses:
                return _error(statuses.pop(0), f"a fault of {what}; key {sent}")
        done: web.StreamResponse = await handler(request)
        return done

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        assert form["purpose"] == "batch"
        name = f"file-in{len(self.files)}"
        self.files[name] = file.file.read().decode()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        while self.hang == "before":
            await asyncio.sleep(0.005)
            if request.transport is None:
                return _error(499, "gone")
        text = self.files[asked["input_file_id"]]
        lines = [json.loads(line) for line in text.splitlines()]
        ids = [line["custom_id"] for line in lines]
        assert len(set(ids)) == len(ids)
        assert {(line["method"], line["url"]) for line in lines} == {
            ("POST", "/v1/chat/completions")
        }
        number = len(self.batches)
        batch = {
            "id": f"batch_{number}",
            "object": "batch",
            "status": "validating",
            "input_file_id": asked["input_file_id"],
            "output_file_id": None,
            "error_file_id": None,
            "created_at": int(time.time()),
            "expires_at": int(time.time()) + 86_400,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "errors": None,
            "number": number,
        }
        self.batches[f"batch_{number}"] = batch
        self.metadata.append(asked["metadata"])
        if self.course(number).status != "failed":
            self.inputs.append(ids)
        while self.hang == "after" and request.transport is not None:
            await asyncio.sleep(0.005)
        if self.mute:
            self.mute = False
            assert request.transport is not None
            request.transport.close()
        return web.json_response(batch)

    async def _get(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return _error(404, "No such batch")
        course = self.course(batch["number"])
        if batch["status"] == "validating":
            batch["status"] = "in_progress"
        elif batch["status"] == "cancelling" or (
            batch["status"] == "in_progress" and not course.held
        ):
            self._end(batch, course)
        files = ("output_file_id", "error_file_id")
        if batch["status"] == "completed" and course.no_files:
            course.no_files -= 1
            return web.json_response({**batch, **dict.fromkeys(files)})
        return web.json_response(batch)

    async def _listed(self, request: web.Request) -> web.Response:
        newest = sorted(self.batches.values(), key=lambda batch: -batch["number"])
        after = request.query.get("after")
        start = 1 + [batch["id"] for batch in newest].index(after) if after else 0
        page = newest[start : start + 2]  # small pages, so that the second is needed
        more = start + 2 < len(newest)
        return web.json_response({"object": "list", "data": page, "has_more": more})

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        course = self.course(batch["number"])
        course.status, course.answered = "cancelled", course.answered or 0
        batch["status"] = "cancelling"
        return web.json_response(batch)

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(text=self.files[request.match_info["id"]])

    def _end(self, batch: dict[str, Any], course: Course) -> None:
        batch["status"] = course.status
        if course.status == "failed":
            batch["errors"] = {"object": "list", "data": course.errors}
            return
        good: list[str] = []
        bad: list[str] = []
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        for n, line in enumerate(lines):
            if course.answered is not None and n >= course.answered:
                late = {"code": "batch_expired", "message": "the window is over"}
                bad.append(_line(line["custom_id"], None, late))
                continue
            status, body = self._line(line["body"])
            response = {"status_code": status, "request_id": "r", "body": body}
            (good if status == 200 else bad).append(_line(line["custom_id"], response, None))
        for name, kind, texts in (("out", "output", good), ("err", "error", bad)):
            if texts:
                file_id = f"file-{name}{batch['number']}"
                self.files[file_id] = "".join(f"{text}\n" for text in texts)
                batch[f"{kind}_file_id"] = file_id
        if good:
            answers = f"file-out{batch['number']}"
            self.files[answers] = course.garble(self.files[answers])
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}

    def _line(self, body: dict[str, Any]) -> tuple[int, Any]:
        self.bodies.append(body)
        refusal = self._refuse(body, {})
        if refusal is not None and refusal.status != 401:
            return refusal.status, json.loads(refusal.text or "")
        fault = (self.faults.pop(0) if self.faults else None) or Fault()
        if fault.status != 200:
            return fault.status, {"error": {"message": "a fault", **(fault.error or {})}}
        return 200, self._completion(body, fault)


def _line(custom_id: str, response: Any, error: Any) -> str:
    return json.dumps(
        {"id": "batch_req", "custom_id": custom_id, "response": response, "error": error},
        ensure_ascii=False,
    )


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "code": None}}, status=status)
