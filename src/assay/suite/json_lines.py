"""The JSON value of one line, read strictly."""

from __future__ import annotations

import json
from typing import Any

from assay.errors import DataError


def json_value(line: str) -> Any:
    """The value of a line of JSON.

    Raises DataError for what is no JSON: a key that occurs twice, NaN and half a surrogate pair
    included.

    >>> json_value('{"vars": {"question": "Who?"}}')
    {'vars': {'question': 'Who?'}}
    """
    try:
        value = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_unique)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise DataError(f"{error.msg} at character {error.pos + 1}") from None
    except UnicodeEncodeError:
        raise DataError("a text has half of a surrogate pair") from None
    except RecursionError:
        raise DataError("it is nested too deeply") from None
    except ValueError as error:
        raise DataError(str(error).partition(";")[0]) from None
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in made if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return made
