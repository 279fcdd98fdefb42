"""The same requests by bare clients: seconds and processor seconds, as JSON.

    python benchmarks/overhead_clients.py aiohttp|openai --bodies FILE --base URL [--calls 64]

FILE holds the request bodies as a JSON list. Each request is sent once, so many at a time; the
text of its completion is read, and nothing done with it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Body = dict[str, Any]
Send = Callable[[Body], Awaitable[str]]


async def by_aiohttp(bodies: list[Body], base: str, calls: int) -> tuple[float, float]:
    """Posts over one session."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send(body: Body) -> str:
            async with session.post(base + "/chat/completions", json=body) as reply:
                return str((await reply.json())["choices"][0]["message"]["content"])

        return await _timed(bodies, send, calls)


async def by_openai(bodies: list[Body], base: str, calls: int) -> tuple[float, float]:
    """Calls of one asynchronous client of the SDK."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=base, api_key="sk-local", max_retries=0) as client:

        async def send(body: Body) -> str:
            made = await client.chat.completions.create(**body)
            return str(made.choices[0].message.content)

        return await _timed(bodies, send, calls)


async def _timed(bodies: list[Body], send: Send, calls: int) -> tuple[float, float]:
    """Seconds and processor seconds of all requests."""
    waiting = iter(bodies)

    async def worker() -> None:
        for body in waiting:
            if not await send(body):
                raise SystemExit("a reply without text")

    start, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(calls)))
    return time.perf_counter() - start, time.process_time() - cpu


def main() -> None:
    """Send all requests once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("client", choices=["aiohttp", "openai"])
    parser.add_argument("--bodies", type=Path, required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--calls", type=int, default=64)
    given = parser.parse_args()
    bodies = json.loads(given.bodies.read_bytes())
    work = by_aiohttp if given.client == "aiohttp" else by_openai
    wall, cpu = asyncio.run(work(bodies, given.base, given.calls))
    json.dump({"wall": wall, "cpu": cpu}, sys.stdout)


if __name__ == "__main__":
    main()
