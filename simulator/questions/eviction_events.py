"""Evictions and bindings in the Events of a cluster."""

from collections.abc import Mapping
from typing import Final

import msgspec

from simulator.api import Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.objects.events import PREEMPTED_BY, event_first_seen, event_last_seen
from simulator.questions.evictions import NotedBinding, NotedEviction

PREEMPTED: Final = "Preempted"
REASONS: Final = {
    PREEMPTED: "the scheduler",
    "Evicted": "the kubelet",
    "TaintManagerEviction": "the taint eviction controller",
    "Descheduled": "the descheduler",
    "ScaleDown": "the cluster autoscaler",
}
"""The reasons of Events about a pod that is removed from its node, and who reports them."""
SCHEDULED: Final = "Scheduled"


class EventObject(msgspec.Struct):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""

    @property
    def key(self) -> str:
        return PODS.key(self.namespace, self.name)


class PodEvent(msgspec.Struct, rename="camel"):
    """An Event, with the fields that are read of it."""

    metadata: Manifest
    involved_object: EventObject = msgspec.field(default_factory=EventObject)
    related: EventObject | None = None
    reason: str = ""
    message: str = ""
    series: Manifest | None = None
    event_time: str | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    reporting_component: str = ""
    source: Manifest = {}

    def _times(self) -> Manifest:
        return {
            "metadata": self.metadata,
            "series": self.series,
            "eventTime": self.event_time,
            "firstTimestamp": self.first_timestamp,
            "lastTimestamp": self.last_timestamp,
        }

    @property
    def first_seen(self) -> Micros:
        return event_first_seen(self._times())

    @property
    def last_seen(self) -> Micros:
        return event_last_seen(self._times())

    @property
    def is_eviction(self) -> bool:
        return self.reason in REASONS and self.involved_object.kind == PODS.kind

    @property
    def preemptor_uid(self) -> str:
        """The uid of the preemptor that only the message names; "" = there is none."""
        said = PREEMPTED_BY.match(self.message)
        return said["uid"] if said else ""

    def binding(self) -> NotedBinding | None:
        if self.reason != SCHEDULED or self.involved_object.kind != PODS.kind:
            return None
        return NotedBinding(self.first_seen, self.involved_object.key)

    def eviction(self, names: Mapping[str, str]) -> NotedEviction:
        """names: uid -> key of the pods that are known."""
        said = PREEMPTED_BY.match(self.message) if self.reason == PREEMPTED else None
        by = self.reporting_component or str(self.source.get("component") or "") or REASONS[self.reason]
        if self.related is not None and self.related.name:
            by = self.related.key
        elif said:
            by = names.get(said["uid"], "")
        node = said["node"].rstrip(".") if said else str(self.source.get("host") or "")
        return NotedEviction(self.last_seen, self.involved_object.key, self.reason, by, node)
