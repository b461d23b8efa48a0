"""List who evicted whom, as far back as the Events of the cluster reach.

It reads the Events once and writes nothing. The exit status is 0 if no pod was evicted, 1 if pods were, and 2
if there is no answer.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from schedviz.kubectl_plugin.options import add_connection, open_reader
from schedviz.kubectl_plugin.read_once import now
from schedviz.real_cluster.errors import ClusterError, Refused
from schedviz.real_cluster.lists import list_pages
from schedviz.real_cluster.read_resources import list_path, namespaced_path
from schedviz.real_cluster.reader import ClusterReader
from simulator.api import Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.command_line.output import print_json, print_lines
from simulator.command_line.tables import align_columns
from simulator.kernel.prepared_types import prepared
from simulator.objects.events import EVENTS, event_first_seen, event_last_seen
from simulator.objects.timestamps import timestamp
from simulator.words import spoken_duration

PREEMPTED: Final = "Preempted"
REASONS: Final = {
    PREEMPTED: "the scheduler",
    "Evicted": "the kubelet",
    "TaintManagerEviction": "the taint eviction controller",
    "Descheduled": "the descheduler",
    "ScaleDown": "the cluster autoscaler",
}
"""The reasons of Events about a pod that is removed from its node, and who reports them."""
BY_POD: Final = re.compile(r"Preempted by pod (?P<uid>\S+) on node (?P<node>\S+)")
"""The note of an Event of the scheduler (prepareCandidate in framework/preemption/executor.go)."""
EVICTIONS_AT_MOST: Final = 10_000
"""Maximum number of evictions that are kept, the last ones; all are counted."""
PATH: Final = f"/api/v1/{EVENTS}"


class _Object(msgspec.Struct):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class _Event(msgspec.Struct, rename="camel"):
    metadata: Manifest
    involved_object: _Object = msgspec.field(default_factory=_Object)
    related: _Object | None = None
    reason: str = ""
    message: str = ""
    series: Manifest | None = None
    event_time: str | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    reporting_component: str = ""
    source: Manifest = {}

    def times(self) -> Manifest:
        """Return the fields that say when it occurred."""
        return {
            "metadata": self.metadata,
            "series": self.series,
            "eventTime": self.event_time,
            "firstTimestamp": self.first_timestamp,
            "lastTimestamp": self.last_timestamp,
        }


class _Events(msgspec.Struct):
    items: list[_Event] | None = None


class Eviction(msgspec.Struct):
    time: str
    pod: str
    """The pod that was evicted."""
    reason: str
    """The reason of the Event: Preempted, Evicted, ..."""
    by: str
    """The preemptor; of another eviction, who reported it."""
    node: str
    """The node that was to be freed; "" = the Event does not say it."""
    message: str


class EvictionsAnswer(msgspec.Struct):
    evictions: list[Eviction]
    """The last first."""
    more: int
    """The number of earlier ones, which are not listed."""
    since: str
    """When the oldest Event occurred: nothing is known of the time before; "" = there are no Events."""
    context: str
    server: str


class _Found(NamedTuple):
    last: Micros
    event: _Event


class _Collected:
    """The Events of evictions, and how far back all Events reach."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self.count = 0
        self.oldest: Micros = 0

    def begin(self) -> None:
        self.found, self.count, self.oldest = [], 0, 0

    def take(self, page: bytes) -> None:
        try:
            events = msgspec.json.decode(page, type=prepared(_Events)).items or ()
        except msgspec.MsgspecError as failure:
            raise ClusterError(f"{PATH}: not a list of Kubernetes: {failure}") from None
        for event in events:
            times = event.times()
            first = event_first_seen(times)
            if first and (not self.oldest or first < self.oldest):
                self.oldest = first
            if event.reason in REASONS and event.involved_object.kind == PODS.kind:
                self.count += 1
                self.found.append(_Found(event_last_seen(times), event))
        if len(self.found) > EVICTIONS_AT_MOST:
            self.found = sorted(self.found, key=lambda each: -each.last)[:EVICTIONS_AT_MOST]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_connection(parser, all_namespaces=True)


def run(options: argparse.Namespace) -> int:
    """Raises ClusterError, InputError."""
    reader = open_reader(options)
    namespace = "" if options.all_namespaces else options.namespace
    collected = _Collected()
    path = f"/api/v1/namespaces/{namespace}/{EVENTS}" if namespace else PATH
    try:
        list_pages(reader, path, collected.begin, collected.take)
    except Refused as refused:
        if refused.is_forbidden:
            raise ClusterError(f"no permission to list events: {refused}") from None
        raise
    ordered = sorted(collected.found, key=lambda each: (-each.last, _key(each.event.involved_object)))
    names = _names_of_uids(reader, namespace, [each.event for each in ordered])
    answer = EvictionsAnswer(
        [_eviction(each, names) for each in ordered],
        collected.count - len(ordered),
        timestamp(collected.oldest) if collected.oldest else "",
        reader.context,
        reader.server,
    )
    if options.output == "json":
        print_json(msgspec.json.encode(answer))
    else:
        print_lines(_report_lines(answer, collected.oldest))
    return 1 if answer.evictions else 0


def _key(of: _Object) -> str:
    return PODS.key(of.namespace, of.name)


def _eviction(found: _Found, names: dict[str, str]) -> Eviction:
    event = found.event
    said = BY_POD.match(event.message) if event.reason == PREEMPTED else None
    by = event.reporting_component or str(event.source.get("component") or "") or REASONS[event.reason]
    if event.related is not None and event.related.name:
        by = f"pod {_key(event.related)}"
    elif said:
        uid = said["uid"]
        by = f"pod {names[uid]}" if uid in names else f"unknown (a pod that is gone, uid {uid})"
    return Eviction(
        time=timestamp(found.last),
        pod=_key(event.involved_object),
        reason=event.reason,
        by=by,
        node=said["node"].rstrip(".") if said else str(event.source.get("host") or ""),
        message=event.message,
    )


class _Named(msgspec.Struct):
    metadata: dict[str, Any]


class _Pods(msgspec.Struct):
    items: list[_Named] | None = None


def _names_of_uids(reader: ClusterReader, namespace: str, events: Iterable[_Event]) -> dict[str, str]:
    """Return the keys of the preemptors that Events name by their uid only, if these pods are there."""
    wanted = {
        said["uid"]
        for event in events
        if event.related is None and (said := BY_POD.match(event.message)) is not None
    }
    names: dict[str, str] = {}

    def take(page: bytes) -> None:
        for pod in msgspec.json.decode(page, type=prepared(_Pods)).items or ():
            metadata = pod.metadata
            if metadata.get("uid") in wanted:
                names[metadata["uid"]] = PODS.key(metadata["namespace"], metadata["name"])

    if wanted:
        try:
            list_pages(
                reader, namespaced_path(PODS, namespace) if namespace else list_path(PODS), names.clear, take
            )
        except Refused:  # then they are unknown
            return names
    return names


def _report_lines(answer: EvictionsAnswer, oldest: Micros) -> Iterator[str]:
    if answer.evictions:
        rows = [["TIME", "POD", "REASON", "BY", "NODE"]]
        rows += [[each.time, each.pod, each.reason, each.by, each.node] for each in answer.evictions]
        yield from align_columns(rows)
        if answer.more:
            yield f"and {answer.more} earlier ones"
    else:
        yield "No Event says that a pod was evicted."
    yield ""
    if answer.since:
        ago = spoken_duration(now() - oldest)
        yield f"The cluster's Events reach back to {answer.since} ({ago}); nothing is known of before."
    else:
        yield "The cluster has no Events: nothing is known."
    yield f"Read once from {answer.server} (context {answer.context}); nothing was written."
