"""The verdicts that wait for what other watches show late."""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from simulator.api import SECOND, Micros
from simulator.trace import Event

log = logging.getLogger(__name__)

PATIENCE: Final[Micros] = 2 * SECOND
"""How long a verdict waits for what other watches show late, and for the bindings of pods that were assumed:
where the model decides otherwise in the states that are known. VolumeBinding looks once a second whether the
claims of a pod are bound."""
OPEN_AT_MOST: Final = 200
"""Maximum number of verdicts that wait; the oldest is given before its time."""


class _Open(NamedTuple):
    """A decision whose verdict waits."""

    since: Micros
    judge: Callable[[bool], Event | None]
    """Makes the verdict. None = it waits; if the argument is true, there is none to give."""


class OpenVerdicts:
    """Holds the decisions whose verdicts wait, oldest first."""

    def __init__(self) -> None:
        self._open: deque[_Open] = deque()
        self._is_behind = False
        self._caught_up: Micros = 0

    def oldest(self) -> Micros | None:
        """Return since when the oldest one waits; None = none does."""
        return self._open[0].since if self._open else None

    def add(self, since: Micros, judge: Callable[[bool], Event | None]) -> None:
        """Add a decision of a time. ``judge`` makes its verdict; None = it waits. If its argument is true, it
        is not asked again."""
        self._open.append(_Open(since, judge))

    def follows(self, now: Micros, *, is_behind: bool) -> None:
        """Note whether the watches are behind: while they are, no verdict has waited long enough."""
        if self._is_behind and not is_behind:
            self._caught_up = now
        self._is_behind = is_behind

    def settle(self, now: Micros, *, is_end: bool = False) -> Iterator[Event]:
        """Yield the verdicts that have waited long enough, and those that are certain by now. ``is_end``:
        none waits any longer."""
        waiting: deque[_Open] = deque()
        while self._open:
            each = self._open.popleft()
            full = len(self._open) + len(waiting) >= OPEN_AT_MOST
            since = max(each.since, self._caught_up)
            last = is_end or full or (not self._is_behind and now >= since + PATIENCE)
            try:
                verdict = each.judge(last)
            except Exception as fault:  # any error in a plugin; the others are judged all the same
                log.warning("a decision could not be judged", exc_info=fault)
                continue
            if verdict is not None:
                yield verdict
            elif not last:
                waiting.append(each)
        self._open = waiting
