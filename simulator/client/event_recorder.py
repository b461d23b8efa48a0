"""The Event objects by which the scheduler and the controllers report, as ``kubectl describe`` shows them
(staging/src/k8s.io/client-go/tools/events: event_recorder.go, event_broadcaster.go).

These events have an eventTime. An event that is repeated becomes one object with a series. Upstream counts a
series in memory and writes the count every half an hour; here it is written at once.

An event that cannot be written is given up, as upstream does; what it reports is done nevertheless.
"""

import uuid
from collections.abc import Callable
from hashlib import blake2b
from typing import Final, Literal, NamedTuple

import msgspec

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.component_writes import ComponentWrites
from simulator.client.informer import Informer
from simulator.objects.events import EVENTS, event_count, event_identity, event_last_seen
from simulator.objects.pod import Pod
from simulator.objects.timestamps import timestamp

TTL: Micros = 3600 * SECOND
"""The time for which an event is kept after it was last written (kube-apiserver's --event-ttl). Expired
events are deleted when a new one is written, and not by a timer: in a sandbox where nothing happens the last
ones stay."""
SWEEP_PERIOD: Micros = 60 * SECOND
"""The least interval between two deletions of expired events: etcd, too, deletes those of about a minute
together."""
MAX_EVENTS = 1000
"""Maximum number of events kept in a sandbox: about 1 MB. When there are so many, the oldest are deleted
before they expire."""
SWEPT_AT_ONCE = 100
"""The number of the oldest events that are deleted at once where there are MAX_EVENTS, so that not every
further event deletes another."""
FINISH_TIME: Micros = 6 * 60 * SECOND
"""Time without the event after which it is a new one when it comes again."""
NOTE_BYTES = 1024
"""Bytes of a note. A longer note is truncated (truncateMessage in pkg/scheduler/schedule_one.go)."""
MAX_NAME = 253
"""Maximum number of characters in an object's name."""

_UIDS = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")


class Occasion(NamedTuple):
    """The reason and the action of an event, in upstream's words."""

    type: Literal["Normal", "Warning"]
    reason: str
    action: str


SCHEDULED: Final = Occasion("Normal", "Scheduled", "Binding")
FAILED_SCHEDULING: Final = Occasion("Warning", "FailedScheduling", "Scheduling")
PREEMPTED: Final = Occasion("Normal", "Preempted", "Preempting")
FAILED_CREATE: Final = Occasion("Warning", "FailedCreate", "Creating")
FAILED_SYNC: Final = Occasion("Warning", "FailedSync", "Syncing")


class Note(NamedTuple):
    """The scheduler's event of a pod: the arguments of upstream's Eventf."""

    occasion: Occasion
    text: str
    regarding: Pod
    related: Pod | None = None


class Reporter(NamedTuple):
    """The component that reports."""

    component: str
    instance: str


class EventRecorder:
    """Makes the changes that record an event. It keeps only what the informer has shown, so that a
    successor continues the same series."""

    def __init__(self, clock: Callable[[], Micros], informer: Informer) -> None:
        self._clock = clock
        self._informer = informer
        self._latest: dict[bytes, str] = {}
        """The key of the last event of each series, by :func:`_series`."""
        self._last_seen: dict[str, Micros] = {}
        """When each event occurred last, by key."""
        self._next_sweep: Micros = 0
        self.before_event: Callable[[Note], object] = lambda note: None
        """Is called with each event of the scheduler before it is written."""

    def changed(self, key: str, old: Manifest | None, new: Manifest | None) -> None:
        """Note that an event was written, or deleted (``new`` None), when the informer shows it."""
        if new is not None:
            self._latest[_series(new)] = key
            self._last_seen[key] = event_last_seen(new)
            return
        self._last_seen.pop(key, None)
        if old is not None and self._latest.get(_series(old)) == key:
            del self._latest[_series(old)]

    def event(self, note: Note) -> list[Change]:
        """Eventf: write the event, or one more of its series, and delete those that have expired."""
        self.before_event(note)
        occasion, text, regarding, related = note
        reporter = Reporter(regarding.scheduler_name, f"{regarding.scheduler_name}-schedviz")
        return self._event(
            occasion, text, reference(regarding), reporter, reference(related) if related else None
        )

    def about(self, occasion: Occasion, note: str, regarding: Manifest, component: str) -> list[Change]:
        """Return the writes for an event of any object, by another component than the scheduler."""
        name = component.lower() + ("" if component == "Kubelet" else "-controller")
        return self._event(occasion, note, reference_of(regarding), Reporter(name, f"{name}-schedviz"))

    def _event(
        self,
        occasion: Occasion,
        note: str,
        regarding: Manifest,
        reporter: Reporter,
        related: Manifest | None = None,
    ) -> list[Change]:
        now = self._clock()
        made = self._manifest(occasion, note, regarding, reporter, related)
        known = self._informer.of(EVENTS)
        key = self._latest.get(_series(made), "")
        again = known.get(key)
        if again is not None and now - event_last_seen(again) <= FINISH_TIME:
            series = {"count": event_count(again) + 1, "lastObservedTime": micro_time(timestamp(now), now)}
            change = ComponentWrites.patch_by_component(EVENTS, {**again, "series": series})
        else:
            change = ComponentWrites.create_by_component(EVENTS, made)
        expired = (old for old in self._expired(now) if old != change.key)
        return [change, *(ComponentWrites.remove_at_any_version(EVENTS, old) for old in expired)]

    def _manifest(
        self,
        occasion: Occasion,
        note: str,
        regarding: Manifest,
        reporter: Reporter,
        related: Manifest | None,
    ) -> Manifest:
        # Events of objects without a namespace are in the default one.
        now, namespace = self._clock(), regarding.get("namespace") or "default"
        second = timestamp(now)
        nanoseconds = now * 1000
        while (name := event_name(regarding["name"], nanoseconds)) and (
            f"{namespace}/{name}" in self._informer.of(EVENTS)
        ):
            nanoseconds += 1  # simulated time may stand still
        made: Manifest = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": str(uuid.uuid5(_UIDS, f"{regarding.get('uid', '')}/{name}")),
                "creationTimestamp": second,
            },
            "involvedObject": regarding,
            "reason": occasion.reason,
            "message": truncated(note),
            "type": occasion.type,
            "action": occasion.action,
            "eventTime": micro_time(second, now),
            # Go writes times that are not set as null, and clients sort by them.
            "firstTimestamp": None,
            "lastTimestamp": None,
            "reportingComponent": reporter.component,
            "reportingInstance": reporter.instance,
            "source": {},
        }
        if related is not None:
            made["related"] = related
        return made

    def _expired(self, now: Micros) -> list[str]:
        crowded = len(self._last_seen) >= MAX_EVENTS
        if now < self._next_sweep and not crowded:
            return []
        self._next_sweep = now + SWEEP_PERIOD
        by_age = sorted((seen, key) for key, seen in self._last_seen.items())
        expired = sum(seen + TTL <= now for seen, _ in by_age)
        gone = max(expired, SWEPT_AT_ONCE) if crowded else expired
        return [key for _, key in by_age[:gone]]


def _series(event: Manifest) -> bytes:
    """Return a digest of what identifies the series of an event: 16 bytes instead of nine texts."""
    return blake2b(msgspec.json.encode(event_identity(event)), digest_size=16).digest()


def reference(pod: Pod) -> Manifest:
    """Return the reference to an object (GetReference in
    staging/src/k8s.io/client-go/tools/reference/ref.go)."""
    return {
        "kind": "Pod",
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "apiVersion": "v1",
        "resourceVersion": str(pod.resource_version),
    }


def reference_of(manifest: Manifest) -> Manifest:
    """Return the reference to any object. Fields of an object that does not fit its kind are left out unless
    they are strings."""
    found = {field: manifest.get(field) for field in ("kind", "apiVersion")}
    fields = ("namespace", "name", "uid", "resourceVersion")
    found |= {field: manifest["metadata"].get(field) for field in fields}
    return {field: text for field, text in found.items() if isinstance(text, str)}


def micro_time(second: str, now: Micros) -> str:
    """Format a time by RFC 3339 with microseconds, as metav1.MicroTime is written; ``second`` is the time
    without them."""
    return f"{second[:-1]}.{now % SECOND:06}Z"


def event_name(pod: str, nanoseconds: int) -> str:
    suffix = f".{nanoseconds:x}"
    return pod[: MAX_NAME - len(suffix)] + suffix


def truncated(note: str) -> str:
    data = note.encode()
    if len(data) <= NOTE_BYTES:
        return note
    return data[: NOTE_BYTES - 4].decode(errors="ignore") + " ..."
