"""What tokens cost: the user's own prices, or those that an optional package knows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.asks import Usage
from assay.errors import ConfigError, DataError, MissingExtra

OPENAI = "https://api.openai.com/v1"
LARGEST = 4 * 2**20
"""Bytes of a file of prices."""
_FIELDS = ("input", "output", "cached", "batch")
_PROBE = 1000
"""Tokens of the request whose price is looked up: few enough for the first tier."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens of prompts and of replies.

    ``cached`` is the price of prompt tokens that the endpoint remembers, ``batch`` the share of
    the price that is asked for in batches (None: no batches), ``source`` who says so. Raises
    ConfigError for what is no price.
    """

    input: float
    output: float
    cached: float | None = None
    batch: float | None = None
    source: str = "given"

    def __post_init__(self) -> None:
        for name in _FIELDS:
            value = getattr(self, name)
            if value is None and name in ("cached", "batch"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError(f"the {name} price must be a number, not {value!r}")
            if not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"the {name} price must be a number from 0 on, not {value!r}")

    def of(self, prompt: float, reply: float) -> float:
        """US dollars for so many tokens.

        >>> Price(0.15, 0.60).of(1_000_000, 500_000)
        0.45
        """
        return (prompt * self.input + reply * self.output) / 1e6

    @property
    def in_batches(self) -> Price:
        """The price of what is asked in batch files; the full one where no share is known.

        >>> Price(0.15, 0.60, batch=0.5).in_batches.of(1_000_000, 500_000)
        0.225
        """
        if self.batch is None:
            return self
        share = self.batch
        said = f"{self.source}, {'half' if share == 0.5 else f'{share:.0%} of'} price in batches"
        return Price(self.input * share, self.output * share, source=said)


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars that were spent, and the price that they were reckoned by."""

    usd: float
    price: Price | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form, as in the provenance of a run."""
        price = self.price
        out: dict[str, Any] = {"usd": round(self.usd, 6)}
        if price is not None:
            out["price"] = {"input": price.input, "output": price.output, "source": price.source}
        return out


@dataclass(frozen=True, slots=True)
class Prices:
    """Where prices are looked up: ``given`` is that of every model, ``table`` has them by name.

    What neither has is looked up in genai-prices where that is installed: in the data of that
    package, without a network, and only for providers that it knows by their URL. What is not
    found has no price, which is not the price 0.
    """

    given: Price | None = None
    table: Mapping[str, Price] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, model: str | None, base_url: str | None = None) -> Price | None:
        """The price of a model at an endpoint (None: OpenAI's own)."""
        if self.given is not None or not model:
            return self.given
        if model in self.table:
            return _with_batches(self.table[model], base_url or OPENAI)
        return _known(model, base_url or OPENAI)


def cost_of(
    usage: Usage,
    model: str | None,
    prices: Prices | None = None,
    *,
    base_url: str | None = None,
    batched: bool = False,
) -> Cost | None:
    """What a run has cost; None where the price is not known, or the endpoint counts no tokens.

    ``batched``: it asked in batch files. Embeddings are reckoned at the price of the model, which
    is more than they cost.
    """
    if not usage.calls and not usage.prompt_tokens and not usage.completion_tokens:
        return Cost(0.0)
    price = (prices or Prices()).of(model, base_url)
    if price is None or not (usage.prompt_tokens or usage.completion_tokens):
        return None
    price = price.in_batches if batched else price
    return Cost(price.of(usage.prompt_tokens, usage.completion_tokens), price)


def read_prices(path: str | Path) -> dict[str, Price]:
    """Prices from a YAML or JSON file: a mapping of models to ``input``, ``output``, and, where
    known, ``cached`` and ``batch``.

    Raises DataError, and ConfigError for what is no price.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path} is too large for a table of prices")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read prices from {path}: {error}") from None
    data = _parsed(path, text)
    if not isinstance(data, Mapping) or not data:
        raise DataError(f"{path} must map models to prices: gpt-4o-mini: {{input: 0.15, ...}}")
    return {str(model): _price(path, str(model), said) for model, said in data.items()}


def _parsed(path: Path, text: str) -> object:
    if path.suffix == ".json":
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is no JSON: {error}") from None
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is no YAML: {error}") from None


def _price(path: Path, model: str, said: object) -> Price:
    if not isinstance(said, Mapping):
        raise ConfigError(f"{path}: {model} must have input and output, not {said!r}")
    if missing := [name for name in ("input", "output") if said.get(name) is None]:
        raise ConfigError(f"{path}: {model} has no {' and no '.join(missing)} price")
    if unknown := [str(name) for name in said if name not in _FIELDS]:
        known = ", ".join(_FIELDS)
        raise ConfigError(f"{path}: {model} has {', '.join(unknown)}; a price has {known}")
    try:
        return Price(**{str(name): value for name, value in said.items()}, source=path.name)
    except ConfigError as error:
        raise ConfigError(f"{path}: {model}: {error}") from None


def require_known_prices() -> None:
    """Raise MissingExtra unless the package of prices is installed."""
    try:
        import genai_prices  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtra("genai-prices", "cost") from None


def _known(model: str, base_url: str) -> Price | None:
    """The price in the data of genai-prices; None where it is not installed or does not know."""
    try:
        import genai_prices as known
    except ImportError:
        return None

    def dollars(prompt: int, reply: int) -> float:
        used = known.Usage(input_tokens=prompt, output_tokens=reply)
        found = known.calc_price(used, model, provider_api_url=base_url)
        return float(found.total_price) * 1e6 / _PROBE

    try:
        prompt, reply = dollars(_PROBE, 0), dollars(0, _PROBE)
    except (LookupError, ValueError, ArithmeticError):
        return None
    return _with_batches(Price(prompt, reply, source=f"genai-prices {known.__version__}"), base_url)


def _with_batches(price: Price, base_url: str) -> Price:
    """The price with the share that the provider is known to ask for in batches."""
    if price.batch is None and base_url.rstrip("/") == OPENAI:
        return replace(price, batch=0.5)
    return price
