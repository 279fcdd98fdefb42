"""Nonces that a run draws again after a restart, and that nobody else can guess."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class RunNonces:
    """The nonce of a call: 16 hexadecimal digits of an HMAC-SHA256 of all that it sends.

    Its key is the run's secret. Calls that send the same are told apart by their number, so that
    a second request is another one; ``restart`` counts from 1 again. Whoever writes the data
    knows neither the secret nor any nonce.
    """

    def __init__(self, secret: Callable[[], bytes]) -> None:
        self._secret = secret
        self._drawn: dict[bytes, int] = {}
        self._blank = False

    def __call__(self, instructions: str, data: str) -> str:
        if self._blank:
            return "0" * 16
        call = b"".join(
            hashlib.sha256(part.encode("utf-8", "surrogatepass")).digest()
            for part in (instructions, data)
        )
        key = hashlib.sha256(call).digest()[:16]
        number = self._drawn[key] = self._drawn.get(key, 0) + 1
        sent = call + number.to_bytes(8, "big")
        return hmac.new(self._secret(), sent, hashlib.sha256).hexdigest()[:16]

    @contextmanager
    def blank(self) -> Iterator[None]:
        """Give zeros meanwhile: calls that are only measured are not sent, and have no number."""
        self._blank = True
        try:
            yield
        finally:
            self._blank = False

    def restart(self) -> None:
        """Forget which calls were made."""
        self._drawn.clear()
