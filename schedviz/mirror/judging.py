"""The judge of a mirror: what the model says of the decisions that are followed."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from schedviz.metrics.registry import OTHER
from schedviz.metrics.server import MIRROR_DECISIONS, MIRROR_EVICTIONS, MIRROR_PENDING
from schedviz.mirror.writer import Followed
from schedviz.web.queue.pending_cause import find_cause
from simulator.api import SECOND, Manifest, Micros, WatchEvent
from simulator.objects.metadata import namespace_of_key
from simulator.trace import (
    AnyEvent,
    BindingJudged,
    FailureJudged,
    PreemptionJudged,
    QueuePlace,
    VictimReplaced,
)
from simulator.verdicts.judge import Judge, Waited
from simulator.verdicts.judged_scheduler import JudgedScheduler

MEASURE_EVERY: Final[Micros] = 5 * SECOND
CAUSES_AT_MOST: Final = 50
"""Maximum number of causes that the metrics name."""
AGES: Final = ((60, "1m"), (600, "10m"), (3600, "1h"), (86_400, "1d"))
"""Seconds, and the label of pods that wait for less; the others have the label ``more``."""
VALUES: Final = re.compile(r"\(\?P<\w+>[^()]*\)|\\")
KINDS: Final = {BindingJudged: "binding", FailureJudged: "message", PreemptionJudged: "eviction"}
OWNERS_AT_MOST: Final = 100
"""Maximum number of preemptors' controllers that the metrics name."""
Verdicts = BindingJudged | FailureJudged | PreemptionJudged | VictimReplaced


class MirrorJudge:
    """``scheduler``: that of the cluster. What it did is in the trace already, so only verdicts are kept.
    ``namespaces``: of the pods that are followed; none = all."""

    def __init__(self, scheduler: JudgedScheduler, namespaces: Sequence[str] = ()) -> None:
        self._namespaces = namespaces
        self._judge = Judge(scheduler)
        self._version = 0
        """The last resourceVersion that was heard."""
        self._owners: set[str] = set()
        self._causes: set[str] = set()
        self._measured: Micros = 0
        self._found: list[AnyEvent] = []
        self.places: dict[str, QueuePlace] = {}
        """The places of the pods that wait."""

    @property
    def begun(self) -> bool:
        """Whether all objects were taken in."""
        return self._judge.started

    def begin(
        self,
        objects: Mapping[str, Mapping[str, Manifest]],
        now: Micros,
        waiting: Mapping[str, Waited] = MappingProxyType({}),
    ) -> None:
        """Take in all objects, by resource and key. ``waiting``: the pods, by key, that had no node when the
        cluster was followed last; in which state they were decided on since then is not known."""
        for resource, collection in objects.items():
            for key, manifest in collection.items():
                self._judge.observe(WatchEvent("ADDED", resource, key, manifest, 0), now)
        self._judge.listed()
        self._keep(self._judge.decided_unseen(waiting))

    def follows(self, now: Micros, *, is_behind: bool) -> None:
        """Note whether some of the watches do not show the present state."""
        self._judge.follows(now, is_behind=is_behind)

    def hear(self, followed: Sequence[Followed], now: Micros) -> None:
        """Take in changes, in the order in which they were stored."""
        for event, real_version, received in followed:
            if real_version.isdecimal():
                self._version = max(self._version, int(real_version))
            version = int(real_version) if real_version.isdecimal() else self._version
            judged = self._judge.observe(replace(event, version=version), now, is_listed=not received)
            self._keep(judged)

    def take(self, now: Micros) -> list[AnyEvent]:
        """Return the verdicts since the last call."""
        self._keep(self._judge.settle(now))
        for key, place in self._judge.take_queue_places().items():
            if place is None:
                self.places.pop(key, None)
            else:
                self.places[key] = place
        found, self._found = self._found, []
        for each in found:
            self._count(each)
        if now >= self._measured + MEASURE_EVERY:
            self._measured = now
            self._measure(now)
        return found

    def end(self, now: Micros) -> list[AnyEvent]:
        """Return the verdicts since the last call, also on what waited for more."""
        self._keep(self._judge.end())
        return self.take(now)

    def _measure(self, now: Micros) -> None:
        """Set the metrics of pending pods."""
        counts = Counter((self._cause(each), _age(now - each.since)) for each in self.places.values())
        MIRROR_PENDING.clear()
        for labels, count in counts.items():
            MIRROR_PENDING.labels(*labels).set(count)

    def _cause(self, place: QueuePlace) -> str:
        cause = find_cause(place, place.lane, None)
        name = VALUES.sub("", cause.what) if cause.kind == "unschedulable" else cause.kind
        return _named(name or cause.kind, self._causes, CAUSES_AT_MOST)

    def _keep(self, events: Iterable[object]) -> None:
        self._found += [each for each in events if isinstance(each, Verdicts) and self._is_followed(each)]

    def _is_followed(self, verdict: Verdicts) -> bool:
        return not self._namespaces or namespace_of_key(verdict.pod) in self._namespaces

    def _count(self, event: AnyEvent) -> None:
        kind = KINDS.get(type(event))
        if kind is not None:
            MIRROR_DECISIONS.labels(kind, getattr(event, "verdict", "")).inc()
        if isinstance(event, PreemptionJudged):
            owner = event.owner or ("pod" if event.preemptor else "unknown")
            MIRROR_EVICTIONS.labels(_named(owner, self._owners, OWNERS_AT_MOST)).inc()


def _named(name: str, known: set[str], at_most: int) -> str:
    """Return the name for a label; OTHER where there are too many."""
    if name not in known and len(known) >= at_most:
        return OTHER
    known.add(name)
    return name


def _age(waited: Micros) -> str:
    return next((label for seconds, label in AGES if waited < seconds * SECOND), "more")
