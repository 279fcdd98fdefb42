"""Processes of users' programs: started without a shell, bounded, and ended with all they began."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.errors import AssayError

MOST_BYTES = 5 * 2**20
"""An answer that is larger is not read."""
SECONDS = 300.0
"""How long one call may take, unless the config says otherwise."""
_TAIL = 4000
_SAID = 600


class ProgramError(AssayError):
    """A program that gave no answer."""


class Process:
    """One running program; everything that it writes to stderr is read, and the end kept."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._tail = b""
        self._reading = asyncio.create_task(self._read_stderr())

    @classmethod
    async def start(
        cls, arguments: Sequence[str], *, folder: Path | None = None, speaks: bool = False
    ) -> Process:
        """The program, started; with ``speaks``, its stdin is written to. Raises ProgramError."""
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=pipe if speaks else nothing,
                stdout=pipe,
                stderr=pipe,
                cwd=folder,
                limit=MOST_BYTES,
                start_new_session=True,  # so that what it starts ends with it
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ProgramError(f"{arguments[0]} cannot be started: {why}") from None
        return cls(process)

    @property
    def input(self) -> asyncio.StreamWriter:
        """What the program reads."""
        if self._process.stdin is None:
            raise ProgramError("the program's stdin is closed")
        return self._process.stdin

    @property
    def output(self) -> asyncio.StreamReader:
        """What the program writes."""
        if self._process.stdout is None:
            raise ProgramError("the program's stdout is closed")
        return self._process.stdout

    async def wait(self) -> int:
        """The exit code, once all of stderr is read."""
        code = await self._process.wait()
        with contextlib.suppress(TimeoutError):  # a grandchild may hold stderr open
            await asyncio.wait_for(asyncio.shield(self._reading), 1.0)
        return code

    async def end(self) -> None:
        """Kill the program and what it started, if it still runs; its pipes are closed."""
        self.kill()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._process.wait()
        # The transport closes the pipes; without it they would stay open until it is collected.
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    def kill(self) -> None:
        """Kill the program and what it started, at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """The end of what it wrote to stderr, on one line."""
        lines = self._tail.decode("utf-8", "replace").split("\n")
        said = " | ".join(line.strip() for line in lines if line.strip())
        return said if len(said) <= _SAID else "..." + said[-_SAID:]

    async def _read_stderr(self) -> None:
        reader = self._process.stderr
        while reader is not None and (chunk := await reader.read(2**16)):
            self._tail = (self._tail + chunk)[-_TAIL:]
