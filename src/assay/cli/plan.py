"""``assay plan``: what a run will take, before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from assay.api import open_metrics
from assay.asks import Judge
from assay.cli.plan_tables import show
from assay.cli.score import check_fields
from assay.cli.tables import console, to_stderr
from assay.errors import ConfigError
from assay.judges.budget import Budgeted, Limit
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import MemoryStore, Store
from assay.judges.named import open_judge
from assay.metrics import split_names
from assay.planning.models import endpoint_of
from assay.planning.pilot import PilotFailed
from assay.planning.plan import Plan
from assay.planning.planner import plan as make_plan
from assay.planning.prices import Price, Prices, cost_of, read_prices
from assay.readers import open_samples, parse_map


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
    seed: int = 0,
    as_json: bool = False,
) -> int:
    """Print what scoring a file will take; ``pilot`` samples are really scored for that.

    With ``cache`` their answers are kept for the run. The exit code is 1 if the pilot failed, so
    that what is printed is exact or a guess, and 2 if some of its samples had no answer. Raises
    ConfigError and DataError.
    """
    metrics = open_metrics(split_names(names))
    known = open_prices(price_input, price_output, prices)
    reading = open_samples(data, columns=parse_map(maps), format=file_format)
    samples = list(reading)
    check_fields(metrics, samples, reading.describe())
    store: Store = SqliteStore() if cache else MemoryStore()

    def made(pilot: int) -> Plan:
        return make_plan(
            samples,
            split_names(names),
            open_judge(judge, packed=packed),
            pilot=pilot,
            cache_store=store if cache else None,
            prices=known,
            seed=seed,
            concurrency=concurrency,
            rpm=rpm,
        )

    try:
        found = _made(made, pilot, known)
    finally:
        store.close()
    if as_json:
        print(json.dumps(found.as_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        show(found, console())
    if found.failure is None:
        return 2 if found.failed else 0
    if as_json:
        to_stderr(f"assay: the pilot failed: {found.failure}")
    return 1


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


def budgeted(
    judge: Judge,
    *,
    usd: float | None = None,
    tokens: int | None = None,
    calls: int | None = None,
    prices: Prices | None = None,
) -> Judge:
    """The judge, which stops before it has used more than it may; itself where nothing limits it.

    To be put inside of what remembers answers. What is asked in batch files is reckoned at their
    price, where that is known. Raises ConfigError for dollars without a price.
    """
    if usd is None and tokens is None and calls is None:
        return judge
    endpoint = endpoint_of(judge)
    price = (prices or Prices()).of(endpoint.model, endpoint.base_url)
    if price is not None and endpoint.batched:
        price = price.in_batches
    return Budgeted(
        judge, Limit(usd, tokens, calls), price=(price.input, price.output) if price else None
    )
