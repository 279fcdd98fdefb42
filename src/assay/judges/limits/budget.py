"""How many repeats an endpoint is worth."""

from __future__ import annotations

_A_CALL = 4
_AT_LEAST = 10
_EARNED = 0.5


class RetryBudget:
    """Repeats that are still allowed; each answer earns half a repeat, up to the first stock.

    The stock lets a full window of ``concurrency`` calls be repeated four times each. After it,
    up to a third of all calls may fail and the budget lasts; if more do, it runs out.
    """

    def __init__(self, concurrency: int) -> None:
        self._stock = self._left = float(_AT_LEAST + _A_CALL * concurrency)

    def earn(self) -> None:
        """Note an answer."""
        self._left = min(self._stock, self._left + _EARNED)

    def spend(self) -> bool:
        """Whether one more repeat is allowed; it is counted."""
        if self._left < 1:
            return False
        self._left -= 1
        return True
