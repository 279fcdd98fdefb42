"""Requests gathered into batch files, and their answers handed to whoever waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from assay.errors import JudgeError, JudgeRejected, JudgeUnavailable, JudgeUnusable
from assay.judges.batch.following import CrowdedError, Following, LostBatchError, Say
from assay.judges.batch.gathering import Gathering, Queue
from assay.judges.batch.lines import LINE_URL, Answer, answers, custom_id, encoded, request_line
from assay.judges.batch.protocol import AwayError
from assay.judges.batch.state import Sent, State, write_whole
from assay.judges.carrier import HttpCarrier
from assay.judges.chat import CHAT, Path, Reply
from assay.judges.reaching import Reach
from assay.judges.retrying import PassingError

_STEP = 500
"""Answers that are read from disk at a time."""


@dataclass(slots=True)
class _Waiting:
    """A request, and those who wait for its answer; ``size`` is that of its line in bytes."""

    body: Mapping[str, Any]
    size: int
    futures: list[asyncio.Future[Reply]]

    @property
    def wanted(self) -> bool:
        return any(not future.done() for future in self.futures)


class BatchCarrier:
    """Brings chat requests to the endpoint in batch files, and others at once.

    A request that a batch of the same run already holds is not submitted again: its answer is
    that batch's. The same request twice has one answer.
    """

    def __init__(
        self,
        http: HttpCarrier,
        state: State,
        following: Following,
        gathering: Gathering,
        note: Say,
    ) -> None:
        self.where = http.where
        self._http, self._state, self._following = http, state, following
        self._gathering, self._note = gathering, note
        self._most, self._serial = gathering.max_requests, False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._away: dict[str, str] = {}
        """By the name of a file, why it could not be taken to its end."""
        self._reset()

    def _reset(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        self._queue = Queue()
        self._holders: dict[str, Sent] = {}
        self._lost: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.stopped = False

    def advice(self, status: int) -> str:
        """What the user can do about a status that ends the run."""
        return self._http.advice(status)

    def scrub(self, text: str) -> str:
        """The text without the key."""
        return self._http.scrub(text)

    async def send(self, body: Mapping[str, Any], path: Path = CHAT) -> Reply:
        """The answer to a request, which may take a day; raises PassingError, JudgeError."""
        if path != CHAT:
            return await self._http.send(body, path)
        self._enter()
        text = encoded(body)
        key = custom_id(text)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.get(key)
        if waiting is None:
            size, most = len(request_line(key, LINE_URL, text)), self._gathering.max_bytes
            if size > most:
                raise JudgeRejected(f"a request of {size} bytes is above the limit of {most}")
            waiting = self._waiting[key] = _Waiting(body, size, [future])
            self._place(key, waiting)
        else:
            waiting.futures.append(future)
        return await future

    @property
    def reach(self) -> Reach:
        """Out as long as a file could not be taken to its end, and after that until it is used."""
        why = next(iter(self._away.values()), "")
        return Reach(bool(why), why)

    def stop(self) -> None:
        """Submit nothing more; what is not submitted yet fails."""
        self.stopped = True
        queued = self._queue.cut(len(self._queue), None)
        self._fail(queued, JudgeUnavailable(f"{self.where}: the batches were cancelled"))

    async def aclose(self) -> None:
        """Stop waiting; batches go on, and the same requests find them again."""
        tasks = list(self._tasks.values()) if self._loop is asyncio.get_running_loop() else []
        self._queue = Queue()  # what ends now starts nothing new
        if self._timer is not None:
            self._timer.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._loop is asyncio.get_running_loop():
            for waiting in self._waiting.values():
                for future in waiting.futures:
                    future.cancel()
        self._reset()
        self._loop = None

    def _enter(self) -> None:
        """Be ready in the running event loop."""
        if self.stopped:
            raise JudgeUnavailable(f"{self.where}: the batches were cancelled")
        loop = asyncio.get_running_loop()
        if self._loop is loop and self._state.is_open:
            return
        self._reset()
        self._away = {}
        self._state.open()
        self._loop = loop
        for sent in self._state.sent:
            if not sent.dropped:
                self._holders.update(dict.fromkeys(sent.ids, sent))

    def _place(self, key: str, waiting: _Waiting) -> None:
        """Wait for the batch that holds the request, or queue it for the next."""
        holder = self._holders.get(key)
        if holder is not None:
            self._start(holder)
            return
        if self._queue.bytes + waiting.size > self._gathering.max_bytes:
            self._flush()
        self._queue.add(key, waiting.size)
        if len(self._queue) >= self._most:
            self._flush()
        else:
            self._arm()

    def _arm(self) -> None:
        """Submit what is queued once nothing new has come for the quiet time."""
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._gathering.quiet, self._flush)

    def _flush(self) -> None:
        """Submit what is queued and still wanted."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        for key in [key for key in self._queue if not self._waiting[key].wanted]:
            self._queue.remove(key)
            del self._waiting[key]
        while self._queue and not (self._serial and self._tasks):
            ids = self._queue.cut(self._most, self._gathering.max_bytes)
            name = self._state.next_name()
            self._run(name, self._submit(name, ids))

    def _start(self, sent: Sent) -> None:
        """Go on with a file that was submitted before, unless that is being done."""
        if sent.name not in self._tasks:
            self._run(sent.name, self._resume(sent))

    def _run(self, name: str, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._ended(name))

    def _ended(self, name: str) -> None:
        self._tasks.pop(name, None)
        if self._serial and self._queue and self._timer is None:
            self._flush()

    async def _submit(self, name: str, ids: list[str]) -> None:
        path = self._state.file(name, "requests")
        try:
            await asyncio.to_thread(write_whole, path, self._lines(ids))
            sent = self._state.intend(name, ids)
        except OSError as error:
            self._fail(ids, JudgeUnusable(f"cannot write {path}: {error.strerror or error}"))
            return
        self._holders.update(dict.fromkeys(ids, sent))
        await self._follow(sent, fresh=True)

    def _lines(self, ids: list[str]) -> Iterator[bytes]:
        bodies = [(key, self._waiting[key].body) for key in ids]
        return (request_line(key, LINE_URL, encoded(body)) for key, body in bodies)

    async def _resume(self, sent: Sent) -> None:
        if sent.status:
            await asyncio.sleep(self._gathering.quiet)  # one reading for all who ask
        await self._follow(sent)

    async def _follow(self, sent: Sent, *, fresh: bool = False) -> None:
        """Take a file to its end and hand its answers out; every trouble reaches who waits."""
        old = bool(sent.status)
        try:
            if fresh:
                await self._following.submit(sent)
            elif not sent.batch_id and not await self._following.find(sent):
                self._state.note(sent, dropped=True)
                self._queue_again(sent)
                return
            if not sent.status:
                await self._following.finish(sent)
            await self._deliver(sent, old=old)
        except LostBatchError as lost:
            self._queue_again(sent, str(lost))
        except CrowdedError as crowded:
            self._narrow(sent, str(crowded))
        except (PassingError, AwayError) as fault:
            self._away[sent.name] = str(fault)
            error = fault.error if isinstance(fault, PassingError) else None
            self._fail(sent.ids, error or JudgeUnavailable(str(fault)))
        except OSError as error:
            what = error.filename or self._state.folder
            self._fail(sent.ids, JudgeUnusable(f"{what}: {error.strerror or error}"))
        except Exception as error:  # noqa: BLE001 - a bug, told to those who wait
            self._fail(sent.ids, error)
        else:
            self._away.pop(sent.name, None)

    def _open_ids(self, sent: Sent) -> list[str]:
        """The requests of a file that somebody waits for."""
        return [key for key in self._waiting if key in sent.ids and self._holders.get(key) is sent]

    def _queue_again(self, sent: Sent, lost: str = "") -> None:
        """Have the requests of a dropped file in the next one; of a lost batch, only once."""
        ids = self._open_ids(sent)
        for key in sent.ids:
            if self._holders.get(key) is sent:
                del self._holders[key]
        if lost:
            again = [key for key in ids if key not in self._lost and not self.stopped]
            self._fail(set(ids) - set(again), JudgeUnavailable(f"{self.where}: {lost}"))
            self._lost.update(again)
            self._note(f"{lost}: {len(again)} requests submitted once more")
            ids = again
        for key in ids:
            self._place(key, self._waiting[key])

    def _narrow(self, sent: Sent, said: str) -> None:
        """Submit smaller files, one at a time, since the endpoint takes no more at once."""
        if len(sent.ids) == 1:
            self._fail(sent.ids, JudgeUnavailable(said))
            return
        self._serial, self._most = True, max(1, min(self._most, len(sent.ids) // 2))
        self._note(f"{said}; going on with files of at most {self._most} requests, one at a time")
        self._queue_again(sent)

    async def _deliver(self, sent: Sent, *, old: bool) -> None:
        """Hand out the answers of a batch that has ended.

        What an ``old`` one, of an earlier process, leaves open is asked for anew.
        """
        while ids := set(self._open_ids(sent)):
            seen: set[str] = set()
            odd = 0
            for kind in ("answers", "errors"):
                path = self._state.file(sent, kind)
                lines = answers(path) if path.exists() else iter(())
                while step := await asyncio.to_thread(_some, lines):
                    for answer in step:
                        if isinstance(answer, str) or answer.id not in sent.ids - seen:
                            odd += 1
                            continue
                        seen.add(answer.id)
                        if self._holders.get(answer.id) is sent:
                            self._hand(answer, old=old)
            if odd:
                odd_ones = f"{odd} lines passed over: unreadable, or not asked for"
                self._note(f"batch {sent.batch_id}: {odd_ones}")
            for key in ids - seen:
                why = f"no answer in batch {sent.batch_id} ({sent.status})"
                self._hand(Answer(key, None, why), old=old)

    def _hand(self, answer: Answer, *, old: bool) -> None:
        """Give an answer to those who wait; one that settles nothing makes room for another."""
        if not answer.final:
            self._holders.pop(answer.id, None)
            if old and answer.id in self._waiting:
                self._place(answer.id, self._waiting[answer.id])
                return
        waiting = self._waiting.pop(answer.id, None)
        for future in waiting.futures if waiting else ():
            if future.done():
                continue
            if answer.reply is not None:
                future.set_result(answer.reply)
            else:
                why = " ".join(self.scrub(answer.why).split())[:300]
                future.set_exception(PassingError(JudgeUnavailable(f"{self.where}: {why}")))

    def _fail(self, ids: Any, error: Exception) -> None:
        for key in ids:
            waiting = self._waiting.pop(key, None)
            for future in waiting.futures if waiting else ():
                if not future.done():
                    one = type(error)(str(error)) if isinstance(error, JudgeError) else error
                    future.set_exception(one)


def _some(lines: Iterator[Answer | str]) -> list[Answer | str]:
    return list(islice(lines, _STEP))
