"""The folder of a run in batch files: records, nonces, locks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.judges.batch.lines import custom_id, encoded, request_line
from assay.judges.batch.nonces import RunNonces
from assay.judges.batch.state import State

URL = "http://127.0.0.1:9/v1"


def written(folder: Path) -> State:
    """A state with three files: a batch in work, one that was only uploaded, one dropped."""
    state = State(folder, URL)
    state.open()
    for n, key in enumerate("abc"):
        sent = state.intend(f"000{n}-0123456{n}", [key])
        state.note(sent, file_id=f"file-{n}")
        if n != 1:
            state.note(sent, batch_id=f"batch_{n}")
    state.note(state.sent[2], dropped=True)
    return state


def test_what_is_noted_is_there_after_a_restart(tmp_path: Path) -> None:
    state = written(tmp_path)
    secret, sent = state.secret(), state.sent
    state.close()
    again = State(tmp_path, None)
    again.open()
    assert again.sent == sent
    assert (again.secret(), again.run, again.endpoint) == (secret, state.run, URL)
    assert [one.open for one in again.sent] == [True, False, False]
    again.close()


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_record_that_was_cut_off_is_as_if_never_written(tmp_path: Path, cut: int) -> None:
    written(tmp_path).close()
    log = tmp_path / "state.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole[:-cut])
    state = State(tmp_path, URL)
    state.open()
    assert [one.dropped for one in state.sent] == [False, False, cut == 0]
    state.note(state.sent[2], dropped=True)
    state.close()
    assert log.read_bytes() == whole


def test_a_file_that_was_never_uploaded_is_dropped(tmp_path: Path) -> None:
    state = State(tmp_path, URL)
    state.open()
    state.intend("0001-01234567", ["a"])
    state.close()
    state.open()
    assert state.sent[0].dropped
    state.close()


def test_requests_of_an_earlier_process_do_not_stay(tmp_path: Path) -> None:
    written(tmp_path).close()
    for name in ("0001-01234567.requests.jsonl", "x.part", "0001-01234567.answers.jsonl"):
        (tmp_path / name).write_text("")
    state = State(tmp_path, URL)
    state.open()
    state.close()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"state.jsonl", "lock", "0001-01234567.answers.jsonl"}


def test_a_cut_off_beginning_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "state.jsonl").write_text('{"assay_batch": 1, "secr')
    state = State(tmp_path, URL)
    assert len(state.secret()) == 32
    state.close()


DAMAGE = [
    b"x\n",
    b"[]\n",
    b'{"file": "0000-01234560", "file_id": 3}\n',
    b'{"file": "9999-01234560", "file_id": "f"}\n',
    b'{"file": "../../etc/x", "at": 0, "ids": []}\n',
    b'{"file": "0009-01234560", "at": "soon", "ids": []}\n',
    b'{"file": "0009-01234560", "at": 0, "ids": [1]}\n',
    b"\xff\n",
]


@pytest.mark.parametrize("line", DAMAGE)
def test_damage_is_named_with_its_line(tmp_path: Path, line: bytes) -> None:
    written(tmp_path).close()
    log = tmp_path / "state.jsonl"
    log.write_bytes(log.read_bytes() + line + b"{}\n")
    with pytest.raises(ConfigError, match=r"line 11, is damaged: give another folder"):
        State(tmp_path, URL).open()


@pytest.mark.parametrize(
    "header", [{"assay_batch": 2}, {}, {"assay_batch": 1}, {"assay_batch": 1, "secret": "ab"}]
)
def test_a_foreign_header_is_refused(tmp_path: Path, header: dict[str, object]) -> None:
    (tmp_path / "state.jsonl").write_text(
        json.dumps({"run": "r", "endpoint": URL, **header}) + "\n"
    )
    with pytest.raises(ConfigError):
        State(tmp_path, URL).open()


def test_a_folder_is_of_one_endpoint_and_one_process_at_a_time(tmp_path: Path) -> None:
    state = written(tmp_path)
    with pytest.raises(ConfigError, match="in use"):
        State(tmp_path, URL).open()
    state.close()
    with pytest.raises(ConfigError, match=r"holds a run at http://127.0.0.1:9/v1, not at"):
        State(tmp_path, "http://127.0.0.1:10/v1").open()
    with pytest.raises(ConfigError, match="holds no run"):
        State(tmp_path / "new", None).open()


def test_only_the_owner_reads_the_secret(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    written(folder).close()
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "state.jsonl").stat().st_mode & 0o077 == 0


def test_nonces_come_again_and_depend_on_all_that_is_sent() -> None:
    nonces = RunNonces(lambda: b"s" * 32)
    drawn = [nonces("do", "x"), nonces("do", "x"), nonces("d", "ox"), nonces("do", "y\ud800")]
    drawn.append(RunNonces(lambda: b"t" * 32)("do", "x"))
    assert len(set(drawn)) == 5
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in drawn)
    nonces.restart()
    assert [nonces("do", "x"), nonces("do", "x")] == drawn[:2]


def test_a_request_is_one_line_and_its_identity_is_all_of_it() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "a\u2028\n\x85\ud800é"}]}
    text = encoded(body)
    line = request_line(custom_id(text), "/v1/chat/completions", text)
    assert len(line.decode().splitlines()) == 1
    read = json.loads(line)
    assert read["body"]["messages"][0]["content"] == "a\u2028\n\x85\ufffdé"
    assert read["custom_id"] == custom_id(encoded(dict(reversed(body.items()))))
    assert custom_id(encoded({**body, "seed": 1})) != read["custom_id"]
    assert len(read["custom_id"]) == 32
