"""List who evicted whom, as far back as the Events of the cluster reach.

It reads the Events once and writes nothing. The exit status is 0 if no pod was evicted, 1 if pods were, and 2
if there is no answer.
"""

import argparse
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedviz.kubectl_plugin.options import add_connection, open_reader
from schedviz.kubectl_plugin.read_once import now
from schedviz.real_cluster.errors import ClusterError, Refused
from schedviz.real_cluster.lists import list_pages
from schedviz.real_cluster.read_resources import list_path
from schedviz.real_cluster.reader import ClusterReader
from simulator.api import Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.command_line.answer_text import answer_lines
from simulator.command_line.output import print_json, print_lines
from simulator.command_line.tables import align_columns
from simulator.kernel.prepared_types import prepared
from simulator.objects.events import EVENTS
from simulator.objects.metadata import key_of
from simulator.objects.timestamps import timestamp
from simulator.questions.eviction_events import PREEMPTED, PodEvent
from simulator.questions.evictions import (
    EvictionsAnswer,
    NotedBinding,
    NotedEviction,
    Owners,
    sum_evictions,
)
from simulator.words import spoken_duration

EVICTIONS_AT_MOST: Final = 10_000
"""Maximum number of evictions that are kept, the last ones; all are counted."""
KEPT_METADATA: Final = ("namespace", "name", "uid", "ownerReferences")
BINDINGS_AT_MOST: Final = 100_000
"""Maximum number of bindings that are kept, by which it is known when a pod ran again."""
PATH: Final = f"/api/v1/{EVENTS}"


class _Events(msgspec.Struct):
    items: list[PodEvent] | None = None


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


class KubectlEvictions(msgspec.Struct):
    evictions: list[Eviction]
    """The last first."""
    more: int
    """The number of earlier ones, which are not listed."""
    since: str
    """When the oldest Event occurred: nothing is known of the time before; "" = there are no Events."""
    summed: EvictionsAnswer
    """Who caused them, who suffered them, and how long it took until the pods ran again."""
    context: str
    server: str


class _Collected:
    """The Events of evictions, and how far back all Events reach."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.found: list[PodEvent] = []
        self.bindings: list[NotedBinding] = []
        self.count = 0
        self.oldest: Micros = 0

    def take(self, page: bytes) -> None:
        try:
            events = msgspec.json.decode(page, type=prepared(_Events)).items or ()
        except msgspec.MsgspecError as failure:
            raise ClusterError(f"{PATH}: not a list of Kubernetes: {failure}") from None
        for event in events:
            first = event.first_seen
            if first and (not self.oldest or first < self.oldest):
                self.oldest = first
            if event.is_eviction:
                self.count += 1
                self.found.append(event)
            elif (binding := event.binding()) is not None and len(self.bindings) < BINDINGS_AT_MOST:
                self.bindings.append(binding)
        if len(self.found) > EVICTIONS_AT_MOST:
            self.found = sorted(self.found, key=lambda each: -each.last_seen)[:EVICTIONS_AT_MOST]


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
    ordered = sorted(collected.found, key=lambda each: (-each.last_seen, each.involved_object.key))
    pods = _read_pods(reader, namespace) if ordered else []
    names = {each["metadata"].get("uid", ""): key_of(each) for each in pods}
    noted = [event.eviction(names) for event in ordered]
    answer = KubectlEvictions(
        [_eviction(event, each) for event, each in zip(ordered, noted, strict=True)],
        collected.count - len(ordered),
        timestamp(collected.oldest) if collected.oldest else "",
        sum_evictions(noted, collected.bindings, Owners(pods)),
        reader.context,
        reader.server,
    )
    if options.output == "json":
        print_json(msgspec.json.encode(answer))
    else:
        print_lines(_report_lines(answer, collected.oldest))
    return 1 if answer.evictions else 0


def _eviction(event: PodEvent, noted: NotedEviction) -> Eviction:
    by = noted.by
    if event.reason == PREEMPTED and "/" in by:
        by = f"pod {by}"
    elif not by:
        by = f"unknown (a pod that is gone, uid {event.preemptor_uid})"
    return Eviction(timestamp(noted.time), noted.pod, noted.reason, by, noted.node, event.message)


class _PodSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    priority_class_name: str = ""


class _Pod(msgspec.Struct):
    """What is read of a pod to know whose it is."""

    metadata: dict[str, Any]
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)


class _Pods(msgspec.Struct):
    items: list[_Pod] | None = None


def _read_pods(reader: ClusterReader, namespace: str) -> list[Manifest]:
    """Return the pods with what says whose they are; none where they may not be listed."""
    found: list[Manifest] = []

    def take(page: bytes) -> None:
        for pod in msgspec.json.decode(page, type=prepared(_Pods)).items or ():
            metadata = {field: pod.metadata[field] for field in KEPT_METADATA if field in pod.metadata}
            found.append({"metadata": metadata, "spec": msgspec.to_builtins(pod.spec)})

    path = list_path(PODS, namespace)
    try:
        list_pages(reader, path, found.clear, take)
    except Refused:  # then they are unknown
        found.clear()
    return found


def _report_lines(answer: KubectlEvictions, oldest: Micros) -> Iterator[str]:
    if answer.evictions:
        rows = [["TIME", "POD", "REASON", "BY", "NODE"]]
        rows += [[each.time, each.pod, each.reason, each.by, each.node] for each in answer.evictions]
        yield from align_columns(rows)
        if answer.more:
            yield f"and {answer.more} earlier ones"
        yield from answer_lines(answer.summed, leave_out=("evictions",))
    else:
        yield "No Event says that a pod was evicted."
    yield ""
    if answer.since:
        ago = spoken_duration(now() - oldest)
        yield f"The cluster's Events reach back to {answer.since} ({ago}); nothing is known of before."
    else:
        yield "The cluster has no Events: nothing is known."
    yield f"Read once from {answer.server} (context {answer.context}); nothing was written."
