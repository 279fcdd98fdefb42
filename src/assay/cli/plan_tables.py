"""A plan on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.cli.tables import plain
from assay.planning.estimating import Amount
from assay.planning.plan import Load, Plan

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_ONE = MappingProxyType({"calls": "a call", "pairs": "a pair"})
_UNITS = ((1e9, " G"), (1e6, " M"), (1e4, " k"))


def show(plan: Plan, screen: Console) -> None:
    """Print the plan: by metric, in all, and what fewer samples would give."""
    what = "pairs" if plan.local else "calls"
    metrics = f"{len(plan.metrics)} metric{'s' * (len(plan.metrics) != 1)}"
    head = f"{plan.samples} samples, {metrics}, judge {plan.judge}"
    screen.print(plain(head), soft_wrap=True)
    screen.print(_metrics(plan, what))
    if len(plan.metrics) > 1:
        said = f"together: {_ONE[what]} that serves several metrics counts for each in part"
        screen.print(said, soft_wrap=True, highlight=False)
    for name, text in _lines(plan, what):
        screen.print(plain(f"{name:<8}{text}"), soft_wrap=True, highlight=False)
    screen.print()
    if plan.smaller:
        screen.print(_smaller(plan))
        said = "±: half of the expected 95 % interval of the mean"
        screen.print(said, soft_wrap=True, highlight=False)
    for note in plan.notes:
        screen.print(plain(f"note: {note}"), soft_wrap=True, highlight=False)


def count(value: float) -> str:
    """A number of calls or tokens, three digits of it where it is large.

    >>> count(950.4), count(45_210), count(3_141_592)
    ('950', '45.2 k', '3.14 M')
    """
    for size, unit in _UNITS:
        if value >= size:
            scaled = value / (1e3 if unit == " k" else size)
            return f"{scaled:.3g}{unit}" if scaled < 1000 else f"{scaled:.0f}{unit}"
    return f"{value:,.0f}"


def dollars(value: float) -> str:
    """US dollars: cents, or two digits of less.

    >>> dollars(12.345), dollars(0.0567), dollars(0.00003), dollars(0)
    ('$12.35', '$0.057', '$0.00003', '$0')
    """
    if value >= 0.1:
        return f"${value:,.2f}"
    if value < 1e-6:
        return "$0" if value <= 0 else "under $0.000001"
    digits = 1 - math.floor(math.log10(value))
    return "$" + f"{value:.{digits}f}".rstrip("0")


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them.

    >>> duration(8), duration(100), duration(5400), duration(360_000)
    ('8 s', '1.7 min', '1.5 h', '4.2 days')
    """
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size or (seconds >= size and unit != "days"):
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"


def _metrics(plan: Plan, what: str) -> Table:
    table = _table()
    table.add_column("metric", overflow="fold", min_width=20)
    columns: list[tuple[str, Callable[[Load], str]]] = [(what, lambda x: count(x.calls.value))]
    if not plan.local:
        columns.append(("tokens", _tokens))
    if plan.total.cost is not None:
        columns.append(("cost", lambda x: dollars(x.cost.value) if x.cost else "–"))
    elif plan.local:
        columns.append(("time", lambda x: duration(x.seconds.value) if x.seconds else "–"))
    for title, _ in columns:
        table.add_column(f"{title}\nalone", justify="right", no_wrap=True)
        table.add_column("\ntogether", justify="right", no_wrap=True)
    for one in plan.metrics:
        cells = [text for _, say in columns for text in (say(one.alone), say(one.together))]
        table.add_row(plain(one.name), *cells)
    table.add_section()
    table.add_row("all", *(text for _, say in columns for text in ("", say(plan.total))))
    return table


def _tokens(load: Load) -> str:
    return count(load.prompt_tokens.value + load.completion_tokens.value)


def _table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _lines(plan: Plan, what: str) -> Iterator[tuple[str, str]]:
    total = plan.total
    yield what, _said(total.calls, count)
    if not plan.local and total.prompt_tokens.value:
        prompts, replies = total.prompt_tokens, total.completion_tokens
        yield "tokens", f"prompts {_said(prompts, count)}, replies {_said(replies, count)}"
    if total.cost is not None:
        yield "cost", _said(total.cost, dollars) + _price(plan)
        if plan.batch is not None and plan.price is not None and plan.price.batch is not None:
            share = "half" if plan.price.batch == 0.5 else f"{plan.price.batch:.0%} of"
            yield (
                "batch",
                f"{_said(plan.batch, dollars)} in the provider's batches, at {share} price",
            )
    elif not plan.local and total.calls.value:
        yield "cost", "price unknown"
    if total.seconds is not None:
        pace = "" if plan.local else f" with {plan.concurrency} calls at once"
        limit = f" and {plan.rpm:g} a minute" if plan.rpm and not plan.local else ""
        yield "time", _said(total.seconds, duration) + pace + limit
    yield from _done(plan, what)


def _price(plan: Plan) -> str:
    price = plan.price
    if price is None:
        return ""
    return f"; {price.input:g} in, {price.output:g} out a million tokens ({price.source})"


def _done(plan: Plan, what: str) -> Iterator[tuple[str, str]]:
    held = plan.held
    if plan.pilot:
        paid = f", {dollars(plan.paid_cost.usd)}" if plan.paid_cost and not plan.local else ""
        left = f", {dollars(plan.left.cost.value)}" if plan.left.cost else ""
        took = f"{plan.pilot} samples took {count(plan.paid.calls)} {what}{paid}"
        yield "pilot", f"{took}; left: {count(plan.left.calls.value)} {what}{left}"
    if held.asks:
        yield "cached", f"{held.asks} answers, which save {count(held.calls)} {what}"
    if held.shared_asks:
        yield (
            "shared",
            f"{held.shared_asks} equal asks, which save {count(held.shared_calls)} {what}",
        )


def _said(amount: Amount, say: Callable[[float], str]) -> str:
    """The value with its interval, unless they read the same."""
    low, middle, high = say(amount.low), say(amount.value), say(amount.high)
    return middle if low == middle == high else f"{middle} ({low} to {high})"


def _smaller(plan: Plan) -> Table:
    table = _table()
    table.add_column("a sample of", overflow="fold", min_width=20)
    for one in plan.smaller:
        table.add_column(f"{one.n:,}", justify="right", no_wrap=True)
    if plan.total.cost is not None:
        costs = ("–" if one.cost is None else dollars(one.cost) for one in plan.smaller)
        table.add_row("costs", *costs)
    table.add_row(
        f"takes {'pairs' if plan.local else 'calls'}", *(count(s.calls) for s in plan.smaller)
    )
    table.add_section()
    for metric in plan.metrics:
        widths = (one.half_widths[metric.name] for one in plan.smaller)
        cells = ("–" if half is None else f"±{half:.3f}" for half in widths)
        table.add_row(plain(metric.name), *cells)
    return table
