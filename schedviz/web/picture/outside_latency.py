"""The times that outside schedulers need to bind pods, from the last bindings in the trace."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final

import msgspec
from django.utils.translation import gettext

from simulator import trace
from simulator.api import SECOND

WAITS_KEPT: Final = 1000
"""Maximum number of bindings of one outside scheduler that its latency is computed from, the newest."""
SCHEDULERS_AT_MOST: Final = 8
"""Maximum number of outside schedulers with a latency of their own. A pod may have any schedulerName."""
MILLISECOND: Final = SECOND // 1000

Waits = dict[str, deque[trace.OutsideBound]]
"""The last bindings by the name of the outside scheduler."""


class Percentiles(msgspec.Struct, frozen=True):
    """The percentiles of durations, as texts."""

    median: str
    p95: str


class Latency(msgspec.Struct, frozen=True):
    """The time from the creation of a pod, or the removal of its last scheduling gate, to its binding."""

    scheduler: str
    bound: int
    real: Percentiles | None
    """The percentiles of the wall time; None = no bound pod was observed from its beginning."""
    simulated: Percentiles


def note_binding(waits: Waits, event: trace.OutsideBound) -> None:
    """Add a binding. The scheduler that bound nothing for the longest time is forgotten, if there are too
    many."""
    found = waits.pop(event.scheduler, None)
    found = deque(maxlen=WAITS_KEPT) if found is None else found
    found.append(event)
    waits[event.scheduler] = found
    while len(waits) > SCHEDULERS_AT_MOST:
        del waits[next(iter(waits))]


def latencies(waits: Mapping[str, Iterable[trace.OutsideBound]]) -> list[Latency]:
    """Return the latencies, sorted by the names of the schedulers."""
    found = []
    for scheduler, events in sorted(waits.items()):
        bound = [*events]
        real = [event.waited_wall for event in bound if event.waited_wall is not None]
        simulated = [event.waited for event in bound]
        found.append(
            Latency(scheduler, len(bound), _percentiles(real) if real else None, _percentiles(simulated))
        )
    return found


def _percentiles(waits: Sequence[int]) -> Percentiles:
    return Percentiles(duration(percentile(waits, 50)), duration(percentile(waits, 95)))


def percentile(values: Sequence[int], percent: int) -> int:
    """Return the smallest of the values that at least so many percent of them do not exceed (nearest
    rank)."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def duration(micros: int) -> str:
    """Format a duration in the largest unit of which there is one: "35 ms", "1.24 s", "12 min"."""
    if micros < SECOND:
        return gettext("%(n)s ms") % {"n": round(micros / MILLISECOND)}
    if micros < 120 * SECOND:
        return gettext("%(n)s s") % {"n": f"{micros / SECOND:.3g}"}
    return gettext("%(n)s min") % {"n": round(micros / 60 / SECOND)}
