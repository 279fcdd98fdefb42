"""``assay plan``: what a run will take, before anything is spent."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from assay.api import open_metrics
from assay.asks import Judge, Usage
from assay.cli.plan_tables import show
from assay.cli.score import check_fields
from assay.cli.tables import console, to_stderr
from assay.cli.wording import counted
from assay.errors import ConfigError
from assay.judges.budget import Budgeted, Limit
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import MemoryStore, Store
from assay.judges.named import DEFAULT_JUDGE, open_judge
from assay.metrics import split_names
from assay.planning.budgeting import sufficing
from assay.planning.models import endpoint_of, is_local
from assay.planning.pilot import PilotFailed
from assay.planning.plan import Plan
from assay.planning.planner import plan as make_plan
from assay.planning.prices import Price, Prices, cost_of, read_prices
from assay.planning.readable import Readable, read_what_can_be
from assay.readers import parse_map


def plan(
    data: str,
    names: str,
    judge: str | None = None,
    *,
    maps: Sequence[str] = (),
    file_format: str | None = None,
    packed: bool = False,
    pilot: int = 30,
    cache: bool = True,
    price_input: float | None = None,
    price_output: float | None = None,
    prices: str | None = None,
    concurrency: int = 128,
    rpm: float | None = None,
    tpm: float | None = None,
    timeout: float | None = None,
    limit: Limit | None = None,
    batched: bool = False,
    ignored: Sequence[str] = (),
    seed: int = 0,
    as_json: bool = False,
) -> int:
    """Print what scoring a file will take; ``pilot`` samples are really scored for that.

    ``limit`` is the budget of the run, of which it is told how far it goes; ``batched``: the run
    will ask in batches, while the pilot does not. ``ignored`` are options that a plan does not
    look at. With ``cache`` the pilot's answers are kept for the run. The exit code is 1 if the
    pilot failed, so that what is printed is exact or a guess, and 2 if some of its samples had no
    answer. Raises ConfigError and DataError.
    """
    metrics = open_metrics(split_names(names))
    known = open_prices(price_input, price_output, prices)
    read = read_what_can_be(data, columns=parse_map(maps), format=file_format)
    samples = read.samples
    check_fields(metrics, samples, read.columns)
    limits = {"timeout": timeout, "rpm": rpm, "tpm": tpm}
    options = {name: value for name, value in limits.items() if value is not None}
    store: Store = SqliteStore() if cache else MemoryStore()

    def made(pilot: int) -> Plan:
        return make_plan(
            samples,
            split_names(names),
            _judge(judge, packed, options),
            pilot=pilot,
            cache_store=store if cache else None,
            prices=known,
            seed=seed,
            concurrency=concurrency,
            rpm=rpm,
            tpm=tpm,
        )

    try:
        found = _made(made, pilot, known)
    finally:
        store.close()
    pays = None
    if limit is not None:
        pays = sufficing(found, limit, remembers=cache, batched=batched)
    found = replace(found, notes=[*found.notes, *_noted(read, ignored)])
    if as_json:
        told = found.as_dict() | {"unread": read.unread}
        if limit is not None:
            told["budget"] = pays and pays.as_dict()
        print(json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        show(found, console(), limit=limit, pays=pays, batched=batched)
    if found.failure is None:
        return 2 if found.failed else 0
    if as_json:
        to_stderr(f"assay: the pilot failed: {found.failure}")
    return 1


def _judge(name: str | None, packed: bool, options: Mapping[str, float]) -> Judge:
    """The judge; options of a network are nothing to one on this machine."""
    asked = name or os.environ.get("ASSAY_JUDGE") or DEFAULT_JUDGE
    return open_judge(name, packed=packed, options=options if asked.startswith("openai:") else None)


def _noted(read: Readable, ignored: Sequence[str]) -> Iterator[str]:
    if read.unread:
        rows = counted(read.unread, "row")
        yield (
            f"{rows} cannot be read and {'is' if read.unread == 1 else 'are'} not counted; score "
            f"--run gives them a failed score, score alone refuses the file: {read.why}"
        )
    if ignored:
        yield f"a plan does not depend on {', '.join(ignored)}"


def _made(made: Callable[[int], Plan], pilot: int, prices: Prices) -> Plan:
    """The plan with a pilot or, where that fails, without one and with the reason."""
    try:
        return made(pilot)
    except PilotFailed as error:
        found = made(0)
        place = found.endpoint
        cost = cost_of(
            error.usage, place.model, prices, base_url=place.base_url, batched=place.batched
        )
        return replace(
            found,
            failure=error.reason,
            failed=min(pilot, found.samples),
            paid=error.usage,
            paid_cost=cost,
        )


def open_prices(
    price_input: float | None = None, price_output: float | None = None, path: str | None = None
) -> Prices:
    """Where prices are looked up: the given ones for a million tokens, a file, what is known.

    Raises ConfigError where only one of the two is given, and DataError.
    """
    if (price_input is None) != (price_output is None):
        raise ConfigError("give both --price-input and --price-output, for a million tokens")
    table = read_prices(path) if path else {}
    if price_input is None or price_output is None:
        return Prices(table=table)
    return Prices(Price(price_input, price_output), table)


def limit_of(usd: float | None, tokens: int | None, calls: int | None) -> Limit | None:
    """The limit that options give, if any."""
    return None if (usd, tokens, calls) == (None, None, None) else Limit(usd, tokens, calls)


def budgeted(
    judge: Judge,
    *,
    usd: float | None = None,
    tokens: int | None = None,
    calls: int | None = None,
    prices: Prices | None = None,
    before: Usage | None = None,
) -> Judge:
    """The judge, which stops before it has used more than it may; itself where nothing limits it.

    To be put inside of what remembers answers. What is asked in batch files is reckoned at their
    price, where that is known. ``before`` counts as used. Raises ConfigError for dollars without a
    price, and for dollars or tokens of a model on this machine, which takes none.
    """
    limit = limit_of(usd, tokens, calls)
    if limit is None:
        return judge
    if is_local(judge) and not (usd is None and tokens is None):
        raise ConfigError(
            f"the judge {judge.name} is a model on this machine and costs nothing: leave out "
            "--budget and --budget-tokens (--budget-calls bounds the pairs that it compares)"
        )
    endpoint = endpoint_of(judge)
    price = (prices or Prices()).of(endpoint.model, endpoint.base_url)
    if price is not None and endpoint.batched:
        price = price.in_batches
    return Budgeted(
        judge,
        limit,
        price=(price.input, price.output) if price else None,
        before=before,
    )
