"""Users' programs as providers: what they are given and give, and how they end."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from assay.errors import ConfigError
from assay.suite.files import Folder
from assay.suite.providers.base import Answer, Provider, Request
from assay.suite.providers.inline import module_of
from assay.suite.providers.named import open_provider
from assay.suite.providers.processes import ProgramError
from assay.suite.providers.program import Worker, python_target
from assay.suite.secrets import Secrets
from assay.suite.templates import Templates

KEY = "sk-very-secret-0123456789"
PROGRAM = """
import asyncio, os, sys, time
from dataclasses import dataclass
import beside
import http, openai_like  # nothing of the package is found instead

print("importing prints")

@dataclass
class Data:
    output: str
    cost: float

def call_api(prompt, options, context):
    print("this is no answer")
    os.write(1, b'{"id": 1, "value": "nor is this"}\\n')
    if context["vars"].get("all"):
        return {
            "output": {"text": prompt, "seen": [options, context]},
            "contexts": ["a"], "cost": 0.5, "cached": True, "metadata": {"m": 1},
            "tokenUsage": {"prompt": 3, "completion": 2, "numRequests": 4},
        }
    return prompt.upper()

async def later(prompt, options, context):
    await asyncio.sleep(0.01)
    return {"output": "later " + prompt}

def fails(prompt, options, context):
    raise ValueError("no such thing: " + options["config"].get("key", ""))

def refuses(prompt, options, context):
    return {"error": "not today"}

def leaves(prompt, options, context):
    print("the last words", file=sys.stderr)
    os._exit(3) if prompt == "die" else sys.exit("politely")

def hangs(prompt, options, context):
    time.sleep(60 if prompt == "hang" else 0)
    return os.getpid()

def data(prompt, options, context):
    return Data("x", 1.5)

def odd(prompt, options, context):
    return {"surrogate": "\\ud800", "nan": float("nan"), "set": {2, 1}, "line": "a\\nb\\u2028c"}

def unsayable(prompt, options, context):
    return object()

def reads(prompt, options, context):
    return sys.stdin.read() + "|"

def big(prompt, options, context):
    return "x" * (6 * 2**20)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "rag.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "beside.py").write_text("", "utf-8")
    (tmp_path / "openai_like.py").write_text("", "utf-8")
    (tmp_path / "broken.py").write_text("def call_api(:\n", "utf-8")
    return Folder(tmp_path)


def opened(folder: Folder, id: str, config: dict[str, Any] | None = None) -> Provider:
    return open_provider(
        {"id": id, "config": config or {}},
        templates=Templates({"KEY": KEY}),
        folder=folder,
        secrets=Secrets(),
        allow_code=True,
        concurrency=4,
    )


async def asked(
    folder: Folder, id: str, prompt: Any = "Hi", config: dict[str, Any] | None = None, **vars: Any
) -> Answer:
    provider = opened(folder, id, config)
    try:
        return await provider.call(Request(prompt, vars))
    finally:
        await provider.aclose()


# --- functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "id", ["python:rag.py", "file://rag.py", "python:file://./rag.py:call_api"]
)
async def test_a_function_is_called_and_may_print(folder: Folder, id: str) -> None:
    answer = await asked(folder, id, "grüezi 👋")
    assert (answer.output, answer.error, answer.calls) == ("GRÜEZI 👋", None, 1)
    assert answer.latency_ms is not None
    assert answer.latency_ms < 1000


async def test_all_that_a_function_may_say_is_taken(folder: Folder) -> None:
    config = {"k": 5, "key": "{{ env.KEY }}", "n": "{{ n }}"}
    messages = [{"role": "user", "content": "ü"}]
    answer = await asked(folder, "python:rag.py", messages, config, all=True, n=[1])
    assert answer.output == {
        "text": '[{"role": "user", "content": "ü"}]',
        "seen": [
            {"id": "python:rag.py", "config": {"k": 5, "key": KEY, "n": [1]}},
            {"vars": {"all": True, "n": [1]}},
        ],
    }
    assert (answer.contexts, answer.cost, answer.cached, answer.metadata) == (
        ["a"],
        0.5,
        True,
        {"m": 1},
    )
    assert (answer.prompt_tokens, answer.completion_tokens, answer.calls) == (3, 2, 4)


@pytest.mark.parametrize(
    ("function", "output"),
    [
        ("later", "later Hi"),
        ("data", "x"),
        ("odd", {"surrogate": "?", "nan": None, "set": [1, 2], "line": "a\nb\u2028c"}),
        ("reads", "|"),
    ],
)
async def test_what_functions_return(folder: Folder, function: str, output: Any) -> None:
    answer = await asked(folder, f"python:rag.py:{function}")
    assert (answer.output, answer.error) == (output, None)


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("python:rag.py:fails", "ValueError: no such thing: ***"),
        ("python:rag.py:refuses", "not today"),
        ("python:rag.py:leaves", "SystemExit: politely"),
        ("python:rag.py:none", "there is no function none"),
        ("python:rag.py:PROGRAM", "there is no function PROGRAM"),
        ("python:rag.py:unsayable", "what is no JSON: a object"),
        ("python:rag.py:big", "larger than 5 MB"),
        ("python:broken.py", "broken.py: SyntaxError"),
    ],
)
async def test_what_goes_wrong_is_the_error_of_the_answer(
    folder: Folder, id: str, said: str
) -> None:
    answer = await asked(folder, id, config={"key": "{{ env.KEY }}"})
    assert answer.output is None
    assert answer.error is not None
    assert said in answer.error
    assert KEY not in answer.error


async def test_an_error_names_the_line(folder: Folder) -> None:
    line = 1 + PROGRAM.splitlines().index(
        '    raise ValueError("no such thing: " + options["config"].get("key", ""))'
    )
    answer = await asked(folder, "python:rag.py:fails")
    assert answer.error is not None
    assert answer.error.startswith(f"rag.py:{line}: ")


async def test_a_crash_is_said_and_the_next_call_starts_anew(folder: Folder) -> None:
    provider = opened(folder, "python:rag.py:leaves")
    for _ in range(2):
        answer = await provider.call(Request("die"))
        assert answer.error is not None
        assert "the process ended (exit code 3)" in answer.error
        assert "the last words" in answer.error
    await provider.aclose()


async def test_a_call_that_takes_too_long_is_ended(folder: Folder) -> None:
    provider = opened(folder, "python:rag.py:hangs", {"timeout": 2})
    first = (await provider.call(Request("x"))).output
    assert (await provider.call(Request("x"))).output == first, "the process stays"
    answer = await provider.call(Request("hang"))
    assert answer.error == "rag.py: no answer within 2 s"
    assert not alive(first)
    assert (await provider.call(Request("x"))).output != first
    await provider.aclose()


async def test_a_cancelled_call_ends_its_process(folder: Folder) -> None:
    provider = opened(folder, "python:rag.py:hangs")
    pid = (await provider.call(Request("x"))).output
    call = asyncio.create_task(provider.call(Request("hang")))
    await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not alive(pid)
    assert (await provider.call(Request("x"))).error is None
    await provider.aclose()


async def test_calls_at_once_get_their_own_answers(folder: Folder) -> None:
    for config in ({}, {"workers": 2}):
        provider = opened(folder, "python:rag.py", config)
        answers = await asyncio.gather(*(provider.call(Request(f"p{k}")) for k in range(20)))
        assert [answer.output for answer in answers] == [f"P{k}" for k in range(20)]
        await provider.aclose()


def test_a_provider_serves_one_event_loop_after_another(folder: Folder) -> None:
    provider = opened(folder, "python:rag.py")

    async def once() -> Any:
        try:
            return (await provider.call(Request("x"))).output
        finally:
            await provider.aclose()

    assert [asyncio.run(once()) for _ in range(2)] == ["X", "X"]


@pytest.mark.parametrize("id", ["python:rag.py", "exec: echo"])
async def test_variables_that_json_cannot_hold_are_an_error(folder: Folder, id: str) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, {(1, 2): 3}):
        answer = await asked(folder, id, x=value)
        assert answer.error is not None
        assert "cannot be passed on as JSON" in answer.error


# --- commands ----------------------------------------------------------------------------------


def command(code: str) -> str:
    return f"exec: {sys.executable} -c '{dedent(code)}'"


async def test_a_command_gets_three_arguments_and_its_stdout_is_the_output(folder: Folder) -> None:
    code = 'import os, sys; print(sys.argv[1:], os.path.exists("rag.py"), file=sys.stdout)'
    answer = await asked(folder, command(code), '$(id) `id`; rm "x" é', {"k": "{{n}}"}, n=1)
    assert answer.error is None
    assert "'$(id) `id`; rm \"x\" é'" in answer.text
    assert '\'{"vars": {"n": 1}}\'] True' in answer.text
    assert '"config": {"k": 1}' in answer.text


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('import sys; sys.exit("the reason é")', "exit code 1: the reason é"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
        ('while True: print("x" * 99999)', "larger than 5 MB"),
        ("import time; time.sleep(60)", "no answer within 1 s"),
    ],
)
async def test_commands_that_go_wrong(folder: Folder, code: str, said: str) -> None:
    started = time.perf_counter()
    answer = await asked(folder, command(code), config={"timeout": 1})
    assert answer.error is not None
    assert said in answer.error
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("prompt", ["a\0b", "\ud800", "x" * 200_000])
async def test_prompts_that_no_command_line_can_hold(folder: Folder, prompt: str) -> None:
    answer = await asked(folder, command("print(1)"), prompt)
    assert answer.error is not None
    assert "cannot be started" in answer.error


async def test_what_a_command_started_ends_with_it(folder: Folder) -> None:
    code = """
    import subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    open("pid", "w").write(str(child.pid))
    time.sleep(60)
    """
    answer = await asked(folder, command(code), config={"timeout": 1})
    assert answer.error == "no answer within 1 s"
    pid = int((folder.root / "pid").read_text())
    for _ in range(100):
        if not alive(pid):
            break
        await asyncio.sleep(0.01)
    assert not alive(pid)


async def test_a_command_that_is_not_there(folder: Folder) -> None:
    answer = await asked(folder, "exec: no-such-program --x")
    assert answer.error == "no-such-program cannot be started: No such file or directory"


# --- functions of assertions -------------------------------------------------------------------


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    found = Worker(timeout=20)
    yield found
    await found.aclose()


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("len(output) > context['n']", True),
        ("(\n  # why\n  output + '''\n  kept'''\n)", "long\n  kept"),
        ("import math\nif output:\n    return {'score': math.floor(0.9)}\nreturn 1", {"score": 0}),
        ("text = '''\nas it is\n'''\nreturn text", "\nas it is\n"),
        ("def get_assert(output, context):\n    return 'own'", "own"),
        ("import asyncio\nawait asyncio.sleep(0)\nreturn 'awaited'", "awaited"),
    ],
)
async def test_inline_code(worker: Worker, folder: Folder, code: str, result: Any) -> None:
    path, function = python_target(code, folder)
    assert python_target(code, folder) == (path, function)
    assert await worker.call(path, function, ["long", {"n": 2}]) == result


async def test_a_file_with_a_function_of_its_own(worker: Worker, folder: Folder) -> None:
    (folder.root / "check.py").write_text(
        "def get_assert(output, context):\n    return output\n"
        "def other(output, context):\n    1 / 0\n"
    )
    assert await worker.call(*python_target("file://check.py", folder), ["x", {}]) == "x"
    with pytest.raises(ProgramError, match=r"check\.py:4: ZeroDivisionError"):
        await worker.call(*python_target("file://check.py:other", folder), ["x", {}])
    for ref in ("file://none.py", "file://../check.py", "file://check.txt"):
        with pytest.raises(ConfigError):
            python_target(ref, folder)


@pytest.mark.parametrize("code", ["x = 1", "", "return (", "a\0b", "(" * 5000])
def test_code_that_cannot_be_a_function_is_refused_and_not_run(code: str) -> None:
    with pytest.raises(ConfigError, match=r"returns nothing|cannot be read"):
        module_of(code)


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be noticed does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
