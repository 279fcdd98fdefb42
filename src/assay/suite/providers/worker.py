"""The program that runs users' Python functions, in a process of its own.

It is started as a script, by any Python from 3.8, and imports nothing of this package. Requests
and replies are JSON, one a line: {"id", "file", "function", "arguments"} in on stdin,
{"id", "value", "ms"} or {"id", "error"} out on what was stdout. What the functions print goes to
stderr, and what they read is empty.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


def main() -> None:
    """Answer requests until stdin ends."""
    # The folder of this script holds modules named like those of others; nothing is to find them.
    sys.path[:] = sys.path[1:]
    import json
    import os

    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    modules: dict[str, ModuleType] = {}
    for line in requests:
        reply = _reply(json.loads(line), modules)
        try:
            text = json.dumps(reply, ensure_ascii=False, default=_plain)
        except (TypeError, ValueError, RecursionError) as error:
            said = f"the function returned what is no JSON: {error}"
            text = json.dumps({"id": reply["id"], "error": said})
        sys.stdout.flush()
        replies.write(text.encode("utf-8", "replace") + b"\n")
        replies.flush()


def _reply(request: dict[str, Any], modules: dict[str, ModuleType]) -> dict[str, Any]:
    """What one call gives, or the error that it raised."""
    import time

    try:
        function = _function(request["file"], request["function"], modules)
        started = time.perf_counter()
        value = _called(function, request["arguments"])
        taken = (time.perf_counter() - started) * 1000
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - also SystemExit: it is the answer to a call
        return {"id": request["id"], "error": _described(error, request["file"])}
    return {"id": request["id"], "value": value, "ms": taken}


def _function(file: str, name: str, modules: dict[str, ModuleType]) -> Callable[..., Any]:
    import importlib.util
    from pathlib import Path

    if file not in modules:
        folder, stem = str(Path(file).parent), Path(file).stem
        if folder not in sys.path:
            sys.path.insert(0, folder)
        spec = importlib.util.spec_from_file_location(f"_called_{len(modules)}_{stem}", file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        modules[file] = module
    function = getattr(modules[file], name, None)
    if not callable(function):
        raise TypeError(f"there is no function {name}")
    return function  # type: ignore[no-any-return]


def _called(function: Callable[..., Any], arguments: list[Any]) -> Any:
    import inspect

    value = function(*arguments)
    if not inspect.isawaitable(value):
        return value
    import asyncio

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited())


def _described(error: BaseException, file: str) -> str:
    """Type, message and place of an error, the place being the last one in the user's file."""
    import traceback
    from pathlib import Path

    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    place = Path(file).name + (f":{lines[-1]}" if lines else "")
    said = traceback.format_exception_only(type(error), error)[-1].strip()
    return f"{place}: {said[:2000]}"


def _plain(value: Any) -> Any:
    """JSON-able data of common objects: dataclasses, pydantic models, arrays, sets, paths."""
    import dataclasses

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    for name in ("model_dump", "tolist", "isoformat", "__fspath__"):
        if callable(getattr(value, name, None)) and not isinstance(value, type):
            return getattr(value, name)()
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value, key=str)
    raise TypeError(f"a {type(value).__name__}")


if __name__ == "__main__":
    main()
