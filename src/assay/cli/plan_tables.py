"""A plan on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from assay.cli.tables import plain
from assay.planning.estimating import Amount
from assay.planning.plan import Load, Plan

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from assay.judges.budget import Limit
    from assay.planning.budgeting import Sufficing

_GUESS = "~"
_UNITS = ((1e9, " G"), (1e6, " M"), (1e4, " k"))


def show(
    plan: Plan,
    screen: Console,
    *,
    limit: Limit | None = None,
    pays: Sufficing | None = None,
    batched: bool = False,
) -> None:
    """Print the plan: by metric, in all, and what fewer samples would give.

    ``pays``: how far the budget ``limit`` goes. ``batched``: the run will ask in batches.
    """
    what = "pair" if plan.local else "call"
    if plan.failure is not None:
        for line in _failed(plan.failure):
            screen.print(plain(line), soft_wrap=True, highlight=False)
    metrics = numbered(len(plan.metrics), "metric")
    head = f"{numbered(plan.samples, 'sample')}, {metrics}, judge {plan.judge}"
    screen.print(plain(head), soft_wrap=True)
    table = _metrics(plan, what, [one.name for one in plan.metrics])
    if screen.measure(table, options=screen.options.update(width=1000)).maximum > screen.width:
        table = _metrics(plan, what, [one.name.replace("(", "\n  (", 1) for one in plan.metrics])
    screen.print(table)
    if len(plan.metrics) > 1:
        said = f"together: a {what} that serves several metrics counts for each in part"
        screen.print(said, soft_wrap=True, highlight=False)
    if not plan.measured:
        screen.print(f"{_GUESS}: a guess, since no reply was seen", highlight=False)
    for name, text in [*_lines(plan, what, batched=batched), *_budget(plan, limit, pays)]:
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

    >>> count(950.4), count(45_210), count(58_000), count(3_141_592), count(999_700)
    ('950', '45.2 k', '58.0 k', '3.14 M', '1.00 M')
    """
    for size, unit in _UNITS:
        scaled = value / (1e3 if unit == " k" else size)
        if value >= size or float(f"{value:.3g}") >= size > 1e4:
            return f"{scaled:#.3g}".rstrip(".") + unit if scaled < 999.5 else f"{scaled:,.0f}{unit}"
    return f"{value:,.0f}"


def numbered(value: float, one: str) -> str:
    """A number of things, of which there may be one.

    >>> numbered(1, "call"), numbered(0, "call"), numbered(45_210, "call")
    ('1 call', '0 calls', '45.2 k calls')
    """
    said = count(value)
    return f"{said} {one}" if said == "1" else f"{said} {one}s"


def dollars(value: float) -> str:
    """US dollars: cents, tenths of cents, or two digits of less.

    >>> dollars(12.345), dollars(0.50312), dollars(0.0567), dollars(0.00003), dollars(0)
    ('$12.35', '$0.503', '$0.057', '$0.00003', '$0')
    """
    if value >= 0.0995:
        return f"${value:,.2f}" if value >= 0.9995 else f"${value:.3f}"
    if value < 1e-6:
        return "$0" if value <= 0 else "under $0.000001"
    digits = 1 - math.floor(math.log10(value))
    return "$" + f"{value:.{digits}f}".rstrip("0")


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them.

    >>> duration(8), duration(100), duration(5400), duration(360_000), duration(1e7)
    ('8 s', '1.7 min', '1.5 h', '4.2 days', '116 days')
    """
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size or (seconds >= size and unit != "days"):
            scaled = seconds / size
            return f"{scaled:.2g} {unit}" if scaled < 99.5 else f"{scaled:,.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"


def _metrics(plan: Plan, what: str, names: Sequence[str]) -> Table:
    from rich.text import Text

    table = _table()
    table.add_column("metric", overflow="fold", min_width=20)

    def cell(amount: Amount | None, say: Callable[[float], str]) -> str:
        if amount is None:
            return "–"
        return (_GUESS if not (plan.measured or amount.exact) else "") + say(amount.value)

    columns: list[tuple[str, Callable[[Load], str]]] = [
        (f"{what}s", lambda x: cell(x.calls, count))
    ]
    if not plan.local:
        columns.append(("tokens", lambda x: cell(_tokens(x), count)))
    if plan.total.cost is not None:
        columns.append(("cost", lambda x: cell(x.cost, dollars)))
    elif plan.local:
        columns.append(("time", lambda x: cell(x.seconds, duration)))
    for title, _ in columns:
        table.add_column(f"{title}\nalone", justify="right", no_wrap=True)
        table.add_column("\ntogether", justify="right", no_wrap=True)
    for name, one in zip(names, plan.metrics, strict=True):
        cells = [text for _, say in columns for text in (say(one.alone), say(one.together))]
        table.add_row(Text("\n").join(map(plain, name.split("\n"))), *cells)
    table.add_section()
    table.add_row("all", *(text for _, say in columns for text in ("", say(plan.total))))
    return table


def _tokens(load: Load) -> Amount:
    one, other = load.prompt_tokens, load.completion_tokens
    return Amount(one.value + other.value, one.low + other.low, one.high + other.high)


def _failed(reason: str) -> Iterator[str]:
    yield f"the pilot failed: {reason}"
    yield "What is not called exact below is a guess: do not go by it. (--pilot 0 asks nobody.)"
    yield ""


def _table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _budget(plan: Plan, limit: Limit | None, pays: Sufficing | None) -> Iterator[tuple[str, str]]:
    if limit is None:
        return
    if plan.local and limit.calls is None:
        yield "budget", f"not needed: {plan.judge} is a model on this machine and costs nothing"
        return
    parts = [dollars(limit.usd)] if limit.usd is not None else []
    for most, one in ((limit.tokens, "token"), (limit.calls, "pair" if plan.local else "call")):
        parts += [numbered(most, one)] if most is not None else []
    yield "budget", f"{', '.join(parts)}: {pays or 'cannot be kept, since the price is unknown'}"


def _lines(plan: Plan, what: str, *, batched: bool) -> Iterator[tuple[str, str]]:
    total = plan.total

    def said(amount: Amount, say: Callable[[float], str]) -> str:
        return _said(amount, say, guess=not plan.measured)

    yield f"{what}s", said(total.calls, count) + _sure(plan)
    if not plan.local and total.prompt_tokens.value:
        prompts, replies = total.prompt_tokens, total.completion_tokens
        yield "tokens", f"prompts {said(prompts, count)}, replies {said(replies, count)}"
    if total.cost is not None:
        apart = " if it were not asked in batches" if batched and plan.batch else ""
        yield "cost", said(total.cost, dollars) + apart + _price(plan)
        if plan.batch is not None and plan.price is not None and plan.price.batch is not None:
            share = "half" if plan.price.batch == 0.5 else f"{plan.price.batch:.0%} of"
            yield (
                "batch",
                f"{said(plan.batch, dollars)} in the provider's batches, at {share} price",
            )
    elif not plan.local and total.calls.value:
        yield "cost", "price unknown"
    if batched:
        yield "time", "up to a day for each batch; a sample waits for up to three, one by one"
    elif total.seconds is not None:
        pace = "" if plan.local else f" with {numbered(plan.concurrency, 'call')} at once"
        limit = f" and {plan.rpm:g} a minute" if plan.rpm and not plan.local else ""
        tokens = f", {count(plan.tpm)} tokens a minute" if plan.tpm and not plan.local else ""
        yield "time", said(total.seconds, duration) + pace + limit + tokens
    yield from _done(plan, what)


def _price(plan: Plan) -> str:
    price = plan.price
    if price is None:
        return ""
    read, written = _rate(price.input), _rate(price.output)
    return f"; {read} in, {written} out per million tokens ({price.source})"


def _rate(price: float) -> str:
    """A price for a million tokens, with all the digits that it was given in."""
    return f"${price:.2f}" if round(price, 2) == price else f"${price:.6g}"


def _sure(plan: Plan) -> str:
    """Of calls that are not exact, those that are: they depend on no answer."""
    if plan.total.calls.exact:
        return ""
    sure = [f"{count(x.calls.value)} for {n}" for n, x in plan.works.items() if x.calls.exact]
    return f"; exact: {', '.join(sure)}" if sure else ""


def _done(plan: Plan, what: str) -> Iterator[tuple[str, str]]:
    held = plan.held
    paid = f", {dollars(plan.paid_cost.usd)}" if plan.paid_cost and not plan.local else ""
    if plan.failure is not None:
        yield "pilot", f"failed after {numbered(plan.paid.calls, what)}{paid}"
    elif plan.pilot and not plan.paid.calls:
        why = ": the cache has their answers" if held.asks else ""
        yield "pilot", f"{numbered(plan.pilot, 'sample')} took no {what}s{why}"
    elif plan.pilot:
        left = f", {dollars(plan.left.cost.value)}" if plan.left.cost else ""
        lost = f" ({plan.failed} more had no answer)" if plan.failed else ""
        took = (
            f"{numbered(plan.pilot, 'sample')}{lost} took {numbered(plan.paid.calls, what)}{paid}"
        )
        yield "pilot", f"{took}; left: {numbered(plan.left.calls.value, what)}{left}"
    for name, one, asks, calls in (
        ("cached", "answer", held.asks, held.calls),
        ("shared", "equal ask", held.shared_asks, held.shared_calls),
    ):
        if asks:
            saves = f"which save{'s' * (asks == 1)} {numbered(calls, what)}"
            yield name, f"{numbered(asks, one)}, {saves}"


def _said(amount: Amount, say: Callable[[float], str], *, guess: bool) -> str:
    """The value with its interval; whether it is exact or a guess."""
    low, middle, high = say(amount.low), say(amount.value), say(amount.high)
    if amount.exact:
        return f"{middle} (exact)"
    if low == middle == high:
        if guess:
            return f"{middle} (guess)"
        return middle if middle.startswith("under") else f"about {middle}"
    return f"{middle} ({'guess: ' * guess}{low} to {high})"


def _smaller(plan: Plan) -> Table:
    table = _table()
    table.add_column("a sample of", overflow="fold", min_width=20)
    for one in plan.smaller:
        table.add_column(f"{one.n:,}", justify="right", no_wrap=True)
    if plan.total.cost is not None:
        mark = "" if plan.measured else _GUESS
        costs = ("–" if one.cost is None else mark + dollars(one.cost) for one in plan.smaller)
        table.add_row("costs", *costs)
    mark = "" if plan.measured or plan.total.calls.exact else _GUESS
    takes = (mark + count(one.calls) for one in plan.smaller)
    table.add_row(f"takes {'pairs' if plan.local else 'calls'}", *takes)
    table.add_section()
    for metric in plan.metrics:
        widths = (one.half_widths[metric.name] for one in plan.smaller)
        cells = ("–" if half is None else f"±{half:.3f}" for half in widths)
        table.add_row(plain(metric.name), *cells)
    return table
