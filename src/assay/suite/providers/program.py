"""Functions of users' Python files, called in a process of their own that stays."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ConfigError
from assay.judges.complete import Slots
from assay.suite.providers.inline import FUNCTION, inline
from assay.suite.providers.messages import as_json
from assay.suite.providers.processes import SECONDS, Process, ProgramError

if TYPE_CHECKING:
    from assay.suite.files import Folder

_SCRIPT = Path(__file__).with_name("worker.py")


class Worker:
    """One Python process that calls functions, one at a time.

    Modules are imported once and stay. ``timeout`` is in seconds, for one call with what it
    imports; a call that takes longer, breaks down or is cancelled ends the process, and the next
    call starts another. ``folder`` is where the process runs.
    """

    def __init__(
        self,
        timeout: float = SECONDS,
        *,
        executable: str | None = None,
        folder: Path | None = None,
    ) -> None:
        self._timeout, self._folder = timeout, folder
        self._executable = executable or sys.executable
        self._turn = Slots(1)
        self._process: Process | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls = 0

    async def call(self, file: Path, function: str, arguments: list[Any]) -> Any:
        """What the function of the file returns; raises ProgramError."""
        return (await self.timed(file, function, arguments))[0]

    async def timed(self, file: Path, function: str, arguments: list[Any]) -> tuple[Any, float]:
        """What the function returns, and how many milliseconds it took, imports aside."""
        async with self._turn():
            done = False
            try:
                async with asyncio.timeout(self._timeout):
                    reply = await self._ask(file, function, arguments)
                done = True
            except TimeoutError:
                raise ProgramError(f"{file.name}: no answer within {self._timeout:g} s") from None
            finally:
                # After half a conversation the next answer might be that to this call.
                if not done:
                    await self._end()
        if "error" in reply:
            raise ProgramError(str(reply["error"]))
        return reply.get("value"), float(reply.get("ms", 0.0))

    async def aclose(self) -> None:
        """End the process; a later call starts another."""
        await self._end()

    async def _ask(self, file: Path, function: str, arguments: list[Any]) -> dict[str, Any]:
        process = await self._running()
        self._calls += 1
        call = {"id": self._calls, "file": _absolute(file), "function": function}
        line = as_json({**call, "arguments": arguments}) + "\n"
        try:
            process.input.write(line.encode())
            await process.input.drain()
            answer = await process.output.readline()
        except ValueError:  # what readline raises for a line beyond its limit
            raise ProgramError(f"{file.name}: the answer is larger than 5 MB") from None
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
        if not answer.endswith(b"\n"):
            process.kill()
            code, said = await process.wait(), process.last_words()
            raise ProgramError(f"{file.name}: the process ended ({_ending(code)}): {said}")
        return _parsed(answer, self._calls, file)

    async def _running(self) -> Process:
        """The process, started if there is none; that of an earlier event loop is killed."""
        loop = asyncio.get_running_loop()
        if self._process is not None and self._loop is not loop:
            self._process.kill()
            self._process = None
        if self._process is None:
            arguments = [self._executable, str(_SCRIPT)]
            self._process = await Process.start(arguments, folder=self._folder, speaks=True)
            self._loop = loop
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if self._loop is asyncio.get_running_loop():
            await process.end()
        else:
            process.kill()


def python_file(ref: str, default: str) -> tuple[str, str]:
    """File and function of a reference such as "rag.py:ask"; the default where it names none.

    >>> python_file("file://rag.py", "call_api"), python_file("lib/rag.py:ask", "call_api")
    (('rag.py', 'call_api'), ('lib/rag.py', 'ask'))
    """
    ref = ref.removeprefix("file://")
    file, _, function = ref.rpartition(":")
    if file.endswith(".py") and function.isidentifier():
        return file, function
    return ref, default


def python_target(value: str, folder: Folder) -> tuple[Path, str]:
    """File and function of an assertion: ``file://x.py:function``, else inline code.

    The function is `FUNCTION` unless it is named. Raises ConfigError.
    """
    if not value.strip().startswith("file://"):
        return inline(value)
    name, function = python_file(value.strip(), FUNCTION)
    path = folder.resolve(name, allowed=(".py",))
    if not path.is_file():
        raise ConfigError(f"there is no file {name} in the suite's folder")
    return path, function


def _absolute(file: Path) -> str:
    return str(file.resolve())


def _parsed(answer: bytes, call: int, file: Path) -> dict[str, Any]:
    try:
        reply = json.loads(answer, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict) or reply.get("id") != call:
        raise ProgramError(f"{file.name}: something else than its answer came from the process")
    return reply


def _ending(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
