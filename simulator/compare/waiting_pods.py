"""The pods of one side that wait for a node: since when, why, and how long others waited."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil
from typing import Final, NamedTuple

from simulator.api import Micros
from simulator.compare.answer import Curve, WaitTimes
from simulator.objects.pod import Pod
from simulator.trace import Event, Filtered, Nominated, SchedulerError, Unschedulable

MAX_PRIORITIES: Final = 20
"""Maximum number of priorities with wait times of their own, the highest first."""
MAX_CAUSES: Final = 6
"""Maximum number of causes with a curve of their own, the first that occur; further ones count as OTHER."""
MAX_CAUSE: Final = 80
"""Maximum number of characters of a cause."""
MAX_SHAPES: Final = 32
"""Maximum number of requests of waiting pods that are looked at, the smallest, for what they could use."""
MAX_POINTS: Final = 300
"""Maximum number of points of the distribution of waits."""

IN_QUEUE: Final = "in queue"
"""The cause of a pod that no attempt has rejected: its turn has not come."""
PREEMPTING: Final = "preempting"
"""The cause of a pod whose victims are being removed."""
ERROR: Final = "error"
OTHER: Final = "other"

Requests = tuple[tuple[str, int], ...]


class _Waiting(NamedTuple):
    since: Micros
    priority: int
    requests: Requests


class WaitingPods:
    """The cause of a pod is what rejected it on most nodes in its last attempt, in the scheduler's words
    (``Insufficient cpu``), the plugin that rejected it before it looked at nodes, or, where no plugin did,
    the first words of the message (``pod group is unschedulable``)."""

    def __init__(self) -> None:
        self._pods: dict[str, _Waiting] = {}
        self._cause_of: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        """The number of pods by cause, also of those that no pod has any more."""
        self._shapes: Counter[Requests] = Counter()
        self._rejected: dict[str, str] = {}
        """The cause that the filters of an attempt gave, until the attempt has ended."""
        self._nominated: dict[str, int] = {}
        """The cycle in which a waiting pod was nominated last."""
        self._waits: dict[int, list[Micros]] = {}

    def __len__(self) -> int:
        return len(self._pods)

    @property
    def bound(self) -> int:
        return sum(map(len, self._waits.values()))

    def changed(self, pod: Pod, now: Micros, *, gone: bool) -> None:
        """Take in a pod in its newest version. ``gone``: it was deleted, or has ended."""
        waited = self._pods.get(pod.key)
        if waited and (gone or pod.node_name):
            del self._pods[pod.key]
            self._nominated.pop(pod.key, None)
            self._set_cause(pod.key, None)
            self._shapes[waited.requests] -= 1
            if not self._shapes[waited.requests]:
                del self._shapes[waited.requests]
            if not gone:
                self._waits.setdefault(waited.priority, []).append(now - waited.since)
        elif not waited and not (gone or pod.node_name or pod.scheduling_gates):
            requests = tuple(sorted((name, amount) for name, amount in pod.own_requests.items() if amount))
            self._pods[pod.key] = _Waiting(now, pod.priority, requests)
            self._shapes[requests] += 1
            self._set_cause(pod.key, IN_QUEUE)

    def attempted(self, event: Event) -> bool:
        """Take in a trace event of an attempt. Returns whether the cause of a pod changes."""
        match event:
            case Filtered(feasible=0, reasons=reasons) if reasons:
                # Of reasons that as many nodes have, the first by name.
                self._rejected[event.pod] = min(reasons, key=lambda reason: (-reasons[reason], reason))
                return False
            case Unschedulable():
                said = event.plugins[0] if event.plugins else event.message.partition(",")[0]
                cause = self._rejected.pop(event.pod, said)
                if self._nominated.get(event.pod) == event.cycle:
                    cause = PREEMPTING
            case SchedulerError():
                cause = ERROR
            case Nominated():
                cause, self._nominated[event.pod] = PREEMPTING, event.cycle
            case _:
                return False
        self._rejected.pop(event.pod, None)
        if event.pod in self._pods:
            self._set_cause(event.pod, cause[:MAX_CAUSE])
        return True

    def causes(self) -> Mapping[str, int]:
        """Return the number of waiting pods by cause, also of causes that no pod has any more."""
        return self._counts

    def smallest_requests(self) -> list[dict[str, int]]:
        """Return the requests of waiting pods, without those that are at least as large in all resources as
        others; the smallest first, at most MAX_SHAPES."""
        kept: list[dict[str, int]] = []
        for requests in sorted(self._shapes, key=lambda each: sum(amount for _, amount in each)):
            shape = dict(requests)
            if not any(all(shape.get(name, 0) >= amount for name, amount in each.items()) for each in kept):
                kept.append(shape)
                if len(kept) == MAX_SHAPES:
                    break
        return kept

    def times(self, end: Micros) -> list[WaitTimes]:
        waiting: dict[int, list[Micros]] = {}
        for each in self._pods.values():
            waiting.setdefault(each.priority, []).append(end - each.since)
        priorities = sorted(waiting.keys() | self._waits.keys(), reverse=True)[:MAX_PRIORITIES]
        return [_wait_times(each, self._waits.get(each, []), waiting.get(each, [])) for each in priorities]

    def distribution(self) -> Curve | None:
        """Return the share of the bound pods that waited at most so long, as a curve over the wait; None if
        no pod was bound."""
        ordered = sorted(wait for waits in self._waits.values() for wait in waits)
        if not ordered:
            return None
        count = len(ordered)
        steps = sorted({ceil(count * number / MAX_POINTS) for number in range(1, MAX_POINTS + 1)})
        shares = {ordered[number - 1]: round(100 * number / count, 2) for number in steps}
        points = [*shares.items()] if ordered[0] == 0 else [(0, 0.0), *shares.items()]
        mean = sum(ordered) / count
        return Curve("waits", "percent", points, mean=mean, peak=100.0, last=100.0)

    def _set_cause(self, pod: str, cause: str | None) -> None:
        before = self._cause_of.pop(pod, None)
        if before is not None:
            self._counts[before] -= 1
        if cause is None:
            return
        if cause not in self._counts and len(self._counts) >= MAX_CAUSES:
            cause = OTHER
        self._cause_of[pod] = cause
        self._counts[cause] = self._counts.get(cause, 0) + 1


def _wait_times(priority: int, bound: Iterable[Micros], pending: list[Micros]) -> WaitTimes:
    ordered = sorted(bound)
    return WaitTimes(
        priority=priority,
        bound=len(ordered),
        median=_percentile(ordered, 0.5),
        p90=_percentile(ordered, 0.9),
        pending=len(pending),
        longest_pending=max(pending, default=0),
    )


def _percentile(ordered: list[Micros], share: float) -> Micros | None:
    """Return the smallest value that at least this share of all values do not exceed (nearest rank)."""
    return ordered[ceil(share * len(ordered)) - 1] if ordered else None
