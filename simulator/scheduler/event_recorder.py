"""What the scheduler says of pods, as Event objects that ``kubectl describe`` shows
(staging/src/k8s.io/client-go/tools/events: event_recorder.go, event_broadcaster.go, v1.34).

Such events bear an eventTime; those that are repeated become one event with a series. Upstream counts a
series in its memory and writes the number every half an hour; here it is written at once, so that it is true.

An event is no more than a remark: where it cannot be written it is given up, as upstream does, and what it
speaks of is done all the same.
"""

import datetime
import uuid
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.timestamps import timestamp
from simulator.objects.pod import Pod
from simulator.world.informer import Informer

EVENTS: Final = "events"
TTL: Micros = 3600 * SECOND
"""kube-apiserver's --event-ttl: how long an event is kept after it was last written. The old ones are taken
away when a new one is written, and no clock is set for it: in a sandbox where nothing happens the last ones
stay."""
SWEEP_PERIOD: Micros = 60 * SECOND
"""How often they are looked for at most: etcd, too, lets events of about the same minute go together."""
MAX_EVENTS = 1000
"""Kept in a sandbox: about 1 MB. At so many the oldest go before their time."""
SWEPT_AT_ONCE = 100
"""How many go then, so that not every further event takes one along."""
FINISH_TIME: Micros = 6 * 60 * SECOND
"""An event that comes again after a longer silence is a new one."""
NOTE_BYTES = 1024
"""A longer note is cut off (truncateMessage in pkg/scheduler/schedule_one.go)."""
MAX_NAME = 253
"""Characters in an object's name."""

_UIDS = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")


class Occasion(NamedTuple):
    """What events are about, in upstream's words."""

    type: Literal["Normal", "Warning"]
    reason: str
    action: str


SCHEDULED: Final = Occasion("Normal", "Scheduled", "Binding")
FAILED_SCHEDULING: Final = Occasion("Warning", "FailedScheduling", "Scheduling")
PREEMPTED: Final = Occasion("Normal", "Preempted", "Preempting")

Identity = tuple[object, ...]
"""Equal for events that are one series."""


class EventRecorder:
    """Makes the changes that record an event; all that it remembers is what the informer has seen, so that
    who takes over goes on with the same series."""

    def __init__(self, clock: Callable[[], Micros], informer: Informer) -> None:
        self._clock = clock
        self._informer = informer
        self._latest: dict[Identity, str] = {}
        self._next_sweep: Micros = 0

    def changed(self, key: str, old: Manifest | None, new: Manifest | None) -> None:
        """An event was seen to be written or (None) to be gone."""
        if new is not None:
            self._latest[identity(new)] = key
        elif old is not None and self._latest.get(identity(old)) == key:
            del self._latest[identity(old)]

    def event(
        self, occasion: Occasion, note: str, regarding: Pod, related: Pod | None = None
    ) -> list[Change]:
        """Eventf: the event, or one more of its series; with it go those that have expired."""
        now = self._clock()
        made = self._manifest(occasion, note, regarding, related)
        known = self._informer.of(EVENTS)
        key = self._latest.get(identity(made), "")
        again = known.get(key)
        if again is not None and now - last_seen(again) <= FINISH_TIME:
            series = {"count": count(again) + 1, "lastObservedTime": micro_time(timestamp(now), now)}
            change = Change(EVENTS, key, {**again, "series": series})
        else:
            key = f"{made['metadata']['namespace']}/{made['metadata']['name']}"
            change = Change(EVENTS, key, made, expected=0)
        return [change, *(Change(EVENTS, old, None) for old in self._expired(now) if old != key)]

    def _manifest(self, occasion: Occasion, note: str, regarding: Pod, related: Pod | None) -> Manifest:
        now, namespace = self._clock(), regarding.namespace
        second = timestamp(now)
        nanoseconds = now * 1000
        while (name := event_name(regarding.name, nanoseconds)) and (
            f"{namespace}/{name}" in self._informer.of(EVENTS)
        ):
            nanoseconds += 1  # simulated time may stand still
        made: Manifest = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": str(uuid.uuid5(_UIDS, f"{regarding.uid}/{name}")),
                "creationTimestamp": second,
            },
            "involvedObject": reference(regarding),
            "reason": occasion.reason,
            "message": truncated(note),
            "type": occasion.type,
            "action": occasion.action,
            "eventTime": micro_time(second, now),
            "reportingComponent": regarding.scheduler_name,
            "reportingInstance": f"{regarding.scheduler_name}-schedviz",
            "source": {},
        }
        if related is not None:
            made["related"] = reference(related)
        return made

    def _expired(self, now: Micros) -> list[str]:
        known = self._informer.of(EVENTS)
        crowded = len(known) >= MAX_EVENTS
        if now < self._next_sweep and not crowded:
            return []
        self._next_sweep = now + SWEEP_PERIOD
        by_age = sorted((last_seen(event), key) for key, event in known.items())
        expired = sum(seen + TTL <= now for seen, _ in by_age)
        gone = max(expired, SWEPT_AT_ONCE) if crowded else expired
        return [key for _, key in by_age[:gone]]


def reference(pod: Pod) -> Manifest:
    """GetReference (staging/src/k8s.io/client-go/tools/reference/ref.go)."""
    return {
        "kind": "Pod",
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "apiVersion": "v1",
        "resourceVersion": str(pod.resource_version),
    }


def identity(event: Manifest) -> Identity:
    """getKey: the pod's version is part of it and the words are not. A scheduler whose words have changed has
    changed the pod's status with them, and so its version."""
    fields = ("type", "action", "reason", "reportingComponent", "reportingInstance")
    objects = (event.get("involvedObject") or {}, event.get("related") or {})
    versions = [(of.get("uid"), of.get("resourceVersion")) for of in objects]
    return (*(event.get(field) for field in fields), *versions)


def count(event: Manifest) -> int:
    """How often it happened."""
    seen: int = (event.get("series") or {}).get("count") or event.get("count") or 1
    return seen


def last_seen(event: Manifest) -> Micros:
    """When it happened last."""
    series = event.get("series") or {}
    stamps = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return moment(next((s for s in stamps if s), event["metadata"].get("creationTimestamp") or ""))


def first_seen(event: Manifest) -> Micros:
    stamps = (event.get("eventTime"), event.get("firstTimestamp"))
    return moment(next((s for s in stamps if s), event["metadata"].get("creationTimestamp") or ""))


def moment(stamp: str) -> Micros:
    """0 for what is no time."""
    try:
        since = datetime.datetime.fromisoformat(stamp) - _EPOCH
    except (TypeError, ValueError):
        return 0
    return since // _MICROSECOND


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


def micro_time(second: str, now: Micros) -> str:
    """RFC 3339 with microseconds, as metav1.MicroTime is written; ``second`` is without them."""
    return f"{second[:-1]}.{now % SECOND:06}Z"


def event_name(pod: str, nanoseconds: int) -> str:
    suffix = f".{nanoseconds:x}"
    return pod[: MAX_NAME - len(suffix)] + suffix


def truncated(note: str) -> str:
    data = note.encode()
    if len(data) <= NOTE_BYTES:
        return note
    return data[: NOTE_BYTES - 4].decode(errors="ignore") + " ..."
