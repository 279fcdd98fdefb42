"""The batch endpoints of an OpenAI-compatible server: files, and batches of their requests."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import JudgeUnavailable, JudgeUnusable, MalformedAnswer
from assay.judges.batch.state import open_own
from assay.judges.carrier import HttpCarrier
from assay.judges.retrying import Backoff, PassingError, passes, retry_after

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
"""Statuses after which nothing changes any more."""
CROWDED = "token_limit_exceeded"
"""The code of a batch that failed because too much is queued already."""
_ID = re.compile(r"[\w.:=-]{1,300}", re.ASCII)
_SPENT = ("insufficient_quota", "billing_hard_limit_reached")
_TRANSFER = 3600.0
"""Seconds that a file may take, as long as bytes keep coming."""
_PAGES = 50
_DAY = 86_400.0


class AwayError(JudgeUnavailable):
    """A batch cannot be made, followed or fetched for now: it is left for a later start."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as the endpoint describes it; file ids are "" where there is no file."""

    id: str
    status: str
    input_file: str = ""
    answers: str = ""
    errors: str = ""
    total: int = 0
    completed: int = 0
    failed: int = 0
    created: float = 0.0
    expires: float | None = None
    faults: tuple[tuple[str, str], ...] = ()
    """Code and message of each reason why it failed as a whole."""


class BatchEndpoint(HttpCarrier):
    """Files and batches below one base URL; what may pass is tried again, by ``backoff``.

    All methods raise JudgeUnusable for what cannot succeed and AwayError for what did not.
    """

    def __init__(
        self,
        base_url: str,
        api_key_env: str,
        key_header: str,
        query: Mapping[str, str],
        *,
        timeout: float,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__(base_url, api_key_env, key_header, query, timeout)
        self._backoff = backoff or Backoff()

    async def upload(self, path: Path) -> str:
        """The id of a file of requests, once it is there."""

        async def once() -> str:
            import aiohttp

            with path.open("rb") as file:
                form = aiohttp.FormData()
                form.add_field("purpose", "batch")
                kind = "application/jsonl"
                form.add_field("file", file, filename=path.name, content_type=kind)
                data = await self._json("POST", "/files", data=form, total=_TRANSFER)
            return self._id(data)

        return await self._persist(once)

    async def create(
        self, file_id: str, *, url: str, window: str, metadata: Mapping[str, str], since: float
    ) -> Batch:
        """The batch of an uploaded file; where an answer was lost, the one that is there."""
        asked = {
            "input_file_id": file_id,
            "endpoint": url,
            "completion_window": window,
            "metadata": dict(metadata),
        }
        again = False

        async def once() -> Batch:
            nonlocal again
            if again and (found := await self.find(file_id, since)):
                return found
            again = True
            return self._batch(await self._json("POST", "/batches", json=asked))

        return await self._persist(once)

    async def find(self, file_id: str, since: float) -> Batch | None:
        """The batch that was made of a file at or after a time, if there is one."""
        after = ""
        for _ in range(_PAGES):
            page = {"limit": "100", **({"after": after} if after else {})}
            data = await self._persist(partial(self._json, "GET", "/batches", params=page))
            items = data.get("data") if isinstance(data, dict) else None
            batches = [self._batch(item) for item in items] if isinstance(items, list) else []
            if found := next((batch for batch in batches if batch.input_file == file_id), None):
                return found
            # the newest come first; clocks may differ
            if not batches or not data.get("has_more") or batches[-1].created < since - _DAY:
                return None
            after = batches[-1].id
        return None

    async def get(self, batch_id: str) -> Batch:
        """How far a batch has come, by one request; raises PassingError as well."""
        return self._batch(await self._json("GET", f"/batches/{batch_id}"))

    async def cancel(self, batch_id: str) -> None:
        """Ask for the end of a batch; what it has done so far is kept."""
        await self._persist(lambda: self._json("POST", f"/batches/{batch_id}/cancel"))

    async def download(self, file_id: str, path: Path) -> None:
        """Write a file's content to ``path``, which is there only once it is whole."""

        async def once() -> None:
            part = path.with_name(path.name + ".part")
            url = f"/files/{file_id}/content"
            with open_own(part) as file:
                async with self._request("GET", url, total=_TRANSFER) as response:
                    async for piece in response.content.iter_chunked(2**18):
                        _write(file.write, piece, part)
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
            part.replace(path)

        await self._persist(once)

    async def _persist(self, call: Callable[[], Awaitable[T]]) -> T:
        backoff = self._backoff
        for attempt in range(1, backoff.attempts + 1):
            try:
                return await call()
            except PassingError as fault:
                error = fault.error
                pause = max(backoff.pause(attempt), fault.after or 0.0)
            if attempt == backoff.attempts or pause > backoff.patience:
                break
            await backoff.sleep(pause)
        raise AwayError(f"{error} ({attempt} attempts)") from None

    async def _json(self, method: str, path: str, **options: Any) -> Any:
        async with self._request(method, path, **options) as response:
            raw = await response.read()
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            seen = self._quoted(raw, 80)
            wrong = f"{self.where}{path} sent no JSON: {seen!r}"
            raise PassingError(MalformedAnswer(wrong)) from None

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        path: str,
        *,
        total: float | None = None,
        params: Mapping[str, str] | None = None,
        **content: Any,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp

        session, headers = self._open(), self._headers()
        headers.pop("Content-Type", None)
        limits = aiohttp.ClientTimeout(total or self._timeout, sock_read=self._timeout)
        try:
            async with session.request(
                method,
                self.where + path,
                headers=headers,
                params={**self._query, **(params or {})},
                allow_redirects=False,  # a key is not carried elsewhere
                timeout=limits,
                **content,
            ) as response:
                if response.status >= 300:
                    raw = await response.content.read(2**16)
                    raise self._refusal(path, response.status, response.headers, raw)
                yield response
        except TimeoutError:
            late = f"{self.where}: no answer within {self._timeout:g} s"
            raise PassingError(JudgeUnavailable(late)) from None
        except aiohttp.ClientSSLError as error:
            raise JudgeUnusable(f"{self.where}: no trusted connection: {error}") from None
        except aiohttp.ClientConnectorError as error:
            raise PassingError(JudgeUnavailable(self._unreachable(error))) from None
        except (aiohttp.ClientError, OSError) as error:
            lost = f"{self.where}: the connection failed ({type(error).__name__})"
            raise PassingError(JudgeUnavailable(lost)) from None

    def _refusal(
        self, path: str, status: int, headers: Mapping[str, str], raw: bytes
    ) -> JudgeUnusable | PassingError:
        said, (code, message) = f"{self.where}{path}: HTTP {status}", _said(raw)
        if status != 401 and message:  # what a server says of a wrong key may repeat the key
            said += f": {self._quoted(message, 300)}"
        if passes(status) and code not in _SPENT:
            named = {name.lower(): value for name, value in headers.items()}
            return PassingError(JudgeUnavailable(said), retry_after(named))
        if status in (404, 405):
            hint = "does this endpoint take batch files, and is the key that of the same project?"
            return JudgeUnusable(f"{said}; {hint}")
        known = status in (401, 402, 403) or status < 400
        return JudgeUnusable(f"{said}; {self.advice(status)}" if known else said)

    def _quoted(self, text: str | bytes, longest: int) -> str:
        """The beginning of what a server says, on one line and without the key."""
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        return " ".join(self.scrub(text).split())[:longest]

    def _id(self, data: Any) -> str:
        found = _file(data.get("id")) if isinstance(data, dict) else ""
        if not found:
            raise PassingError(MalformedAnswer(f"{self.where} sent no usable id"))
        return found

    def _batch(self, data: Any) -> Batch:
        batch_id, status = self._id(data), data.get("status")
        if not isinstance(status, str):
            raise PassingError(MalformedAnswer(f"{self.where} sent a batch without a status"))
        counts = data.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        return Batch(
            batch_id,
            status.lower(),
            input_file=_file(data.get("input_file_id")),
            answers=_file(data.get("output_file_id")),
            errors=_file(data.get("error_file_id")),
            total=int(_number(counts.get("total")) or 0),
            completed=int(_number(counts.get("completed")) or 0),
            failed=int(_number(counts.get("failed")) or 0),
            created=_number(data.get("created_at")) or 0.0,
            expires=_number(data.get("expires_at")),
            faults=tuple(self._faults(data.get("errors"))),
        )

    def _faults(self, listed: Any) -> Iterator[tuple[str, str]]:
        """Code and message of each error of a batch."""
        items = listed.get("data") if isinstance(listed, dict) else listed
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict):
                yield str(item.get("code") or ""), self._quoted(str(item.get("message") or ""), 300)


def _write(write: Callable[[bytes], int], piece: bytes, path: Path) -> None:
    try:
        write(piece)
    except OSError as error:
        raise JudgeUnusable(f"cannot write {path}: {error.strerror or error}") from None


def _file(value: object) -> str:
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e11 else None


def _said(raw: bytes) -> tuple[str, str]:
    """Code and message of an error body, in the shapes that are about."""
    text = raw.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return "", re.sub(r"<[^>]*>", " ", text)
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return "", str(error)
    return str(error.get("code") or ""), str(error.get("message") or error.get("detail") or "")
