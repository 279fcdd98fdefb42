"""Prices: given, from a file, known offline, and never made up."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

import assay
from assay.asks import Usage
from assay.errors import AssayError, ConfigError, DataError, MissingExtra
from assay.judges.batch.judge import open_batch_judge
from assay.planning.models import Endpoint, endpoint_of, is_local
from assay.planning.prices import (
    Cost,
    Price,
    Prices,
    cost_of,
    read_prices,
    require_known_prices,
)

USED = Usage(calls=10, prompt_tokens=1_000_000, completion_tokens=500_000)
OTHER = "http://127.0.0.1:8000/v1"


def test_given_prices_hold_for_every_model() -> None:
    prices = Prices(Price(2, 8), {"m": Price(1, 1)})
    assert cost_of(USED, "m", prices, base_url=OTHER) == Cost(6.0, Price(2, 8))
    assert cost_of(USED, None, prices) == Cost(6.0, Price(2, 8))


def test_a_table_goes_before_what_is_known() -> None:
    prices = Prices(table={"gpt-4o-mini": Price(100, 100)})
    found = cost_of(USED, "gpt-4o-mini", prices)
    assert found is not None
    assert found.usd == 150.0


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_file_of_prices(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"prices{suffix}"
    path.write_text(
        '{"our/model:8b": {"input": 0.1, "output": 1, "cached": 0.01, "batch": 0.5}, '
        '"free": {"input": 0, "output": 0}}',
        "utf-8",
    )
    table = read_prices(path)
    assert table["our/model:8b"] == Price(0.1, 1, 0.01, 0.5, path.name)
    free = cost_of(USED, "free", Prices(table=table))
    assert free is not None
    assert free.usd == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must map"),
        ("- 1", "must map"),
        ("m: 3", "input and output"),
        ("m: {input: 1}", "no output"),
        ("m: {input: 1, output: cheap}", "must be a number"),
        ("m: {input: 1, output: -1}", "from 0 on"),
        ("m: {input: 1, output: .nan}", "from 0 on"),
        ("m: {input: true, output: 1}", "must be a number"),
        ("m: {input: 1, output: 1, inptu: 2}", "inptu"),
        ("m: {input: 1, output: 1, source: x}", "source"),
        ("m: [", "no YAML"),
        ("m: !!python/object/apply:os.getcwd []", "no YAML"),
        ("\x00", "no YAML"),
        ("a: &a [*a]", "input and output"),
    ],
)
def test_files_that_hold_no_prices(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(AssayError, match=said):
        read_prices(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read"):
        read_prices(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="cannot read"):
        read_prices(tmp_path / "bytes.yaml")
    (tmp_path / "deep.json").write_text("[" * 100_000, "utf-8")
    with pytest.raises(DataError, match="no JSON"):
        read_prices(tmp_path / "deep.json")


def test_known_models_are_looked_up_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("genai_prices")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a price must not need a network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    price = Prices().of("gpt-4o-mini")
    assert price is not None
    assert (price.input, price.output, price.batch) == (0.15, 0.60, 0.5)
    assert price.source.startswith("genai-prices ")
    embedding = Prices().of("text-embedding-3-small")
    assert embedding is not None
    assert (embedding.input, embedding.output) == (0.02, 0.0)


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("no-such-model", None),
        ("gpt-4o-mini", OTHER),  # a server of one's own may call its model anything
        ("gpt-4o-mini", "unknown:"),
        ("", None),
        (None, None),
        ("\x00{}\n", None),
        ("x" * 10_000, None),
    ],
)
def test_what_is_not_known_has_no_price(model: str | None, url: str | None) -> None:
    assert Prices().of(model, url) is None
    assert cost_of(USED, model, base_url=url) is None


def test_without_the_package_no_model_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert Prices().of("gpt-4o-mini") is None
    with pytest.raises(MissingExtra, match=r"assay\[cost\]"):
        require_known_prices()


def test_tokens_that_nobody_counted_do_not_cost_nothing() -> None:
    assert cost_of(Usage(calls=3), "m", Prices(Price(1, 1))) is None
    assert cost_of(Usage(), "m") == Cost(0.0)
    assert cost_of(Usage(cached=9), "m") == Cost(0.0)


def test_a_cost_says_by_which_price() -> None:
    found = cost_of(USED, "m", Prices(Price(1, 2)))
    assert found is not None
    assert found.as_dict() == {
        "usd": 2.0,
        "price": {"input": 1, "output": 2, "source": "given"},
    }


def test_batches_have_a_price_of_their_own(tmp_path: Path) -> None:
    half = Price(2, 8, batch=0.5, source="prices.yaml").in_batches
    assert (half.input, half.output, half.batch) == (1, 4, None)
    assert half.source == "prices.yaml, half price in batches"
    assert Price(1, 1, batch=0.25).in_batches.source == "given, 25% of price in batches"
    assert Price(2, 8).in_batches == Price(2, 8)
    prices = Prices(Price(2, 8, batch=0.5))
    found = cost_of(USED, "m", prices, batched=True)
    assert found == Cost(3.0, half if found is None else found.price)
    assert cost_of(USED, "m", Prices(Price(2, 8)), batched=True) == Cost(6.0, Price(2, 8))


def test_a_file_need_not_say_what_openai_asks_for_batches() -> None:
    prices = Prices(table={"m": Price(2, 8), "full": Price(2, 8, batch=1.0)})
    assert prices.of("m") == Price(2, 8, batch=0.5)
    assert prices.of("full") == Price(2, 8, batch=1.0)
    assert prices.of("m", OTHER) == Price(2, 8)
    assert Prices(Price(2, 8)).of("m") == Price(2, 8)  # by options: what is asked for is given


def test_a_judge_that_asks_in_batches_is_known(tmp_path: Path) -> None:
    judge = open_batch_judge("m", state=tmp_path / "run", base_url=OTHER)
    assert endpoint_of(judge) == Endpoint("m", OTHER, "text-embedding-3-small", batched=True)
    assert not endpoint_of(assay.openai("m", base_url=OTHER)).batched


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), True, "1", None])
def test_what_is_no_price(value: object) -> None:
    with pytest.raises(ConfigError):
        Price(value, 1)  # type: ignore[arg-type]


def test_the_endpoint_of_a_judge() -> None:
    found = endpoint_of(assay.openai("m", base_url=OTHER, embedding_model="e"))
    assert (found.model, found.base_url, found.embedding_model) == ("m", OTHER, "e")
    assert endpoint_of(assay.openai("m")).base_url == "https://api.openai.com/v1"
    assert endpoint_of(assay.ScriptedJudge()).model is None


def test_the_endpoint_of_a_langchain_model() -> None:
    models = pytest.importorskip("langchain_openai")
    model = models.ChatOpenAI(model="gpt-4o-mini", api_key="sk-secret")
    found = endpoint_of(assay.langchain(model))
    assert found.model == "gpt-4o-mini"
    assert found.base_url == "https://api.openai.com/v1"
    assert "secret" not in repr(found)
    own = models.ChatOpenAI(model="gpt-4o-mini", api_key="sk", base_url=OTHER)
    assert endpoint_of(assay.langchain(own)).base_url == OTHER


def test_which_judges_are_local() -> None:
    assert is_local(assay.open_judge("embedded"))
    assert not is_local(assay.openai("m"))
    assert not is_local(assay.ScriptedJudge())
