"""One pod or one node, all that is known of it."""

from collections.abc import Sequence
from itertools import islice

import msgspec
from django.utils.html import escape
from django.utils.translation import gettext

from schedviz.store.bounds import TRACE_LENGTH
from schedviz.store.changes import TRACE_READ
from schedviz.store.past import Readable
from schedviz.web.kubectl import describe, lines
from simulator import trace
from simulator.api import Manifest
from simulator.apiserver import resources as kinds
from simulator.objects.conditions import conditions_of
from simulator.objects.metadata import labels_of
from simulator.objects.node_conditions import is_broken, pressures
from simulator.objects.status import status_of
from simulator.trace import LaneEntry

from . import events, load, meanings, nodes, queue, reasons, receipts
from . import format as fmt
from .events import PodEvent
from .log import EventSentences, LogLine
from .nodes import Card
from .picture import NODES, PODS, Picture
from .pod_history import PodHistory, pod_history
from .queue import Chip
from .receipts import Receipts
from .records import pod_record
from .yaml import to_yaml

LINES_AT_MOST = 20


class ConditionView(msgspec.Struct, frozen=True):
    type: str
    status: str
    reason: str
    message: str
    meaning: str


class PodDetail(msgspec.Struct, frozen=True):
    key: str
    name: str
    namespace: str
    rank: int
    priority: str
    priority_class: str
    requests: str
    phase: str
    node: str
    nominated: str
    terminating: bool
    gone_at: int
    lane: str
    chip: Chip | None
    conditions: list[ConditionView]
    events: list[PodEvent]
    course: PodHistory
    receipts: Receipts
    history: list[LogLine]
    yaml: str
    shell: list[lines.Shell]
    printed: list[lines.Shell]
    """``kubectl describe`` and ``get events`` of it, with what they print."""


class GonePod(msgspec.Struct, frozen=True):
    key: str
    name: str
    fate: LogLine | None
    receipts: Receipts
    events: list[PodEvent]
    course: PodHistory
    history: list[LogLine]


class NodeDetail(msgspec.Struct, frozen=True):
    card: Card
    zone: str
    labels: dict[str, str]
    conditions: list[ConditionView]
    taints: tuple[str, ...]
    broken: bool
    short_of_memory: bool
    """These two as its annotations say: what its conditions say comes of it."""
    history: list[LogLine]
    yaml: str
    shell: list[lines.Shell]


def pod_detail(sandbox: Readable, key: str, base: str) -> PodDetail | None:
    """None where there is no such pod."""
    manifest = sandbox.get(PODS, key)
    if manifest is None:
        return None
    pod, entry = pod_record(manifest), sandbox.lane(key)
    ranks, now = load.ranks(sandbox), sandbox.now()
    told = events_of_pod(sandbox, key)
    return PodDetail(
        key=key,
        name=fmt.pod_name(key),
        namespace=key.partition("/")[0],
        rank=ranks.rank(pod.priority),
        priority=fmt.number(pod.priority),
        priority_class=manifest["spec"].get("priorityClassName", ""),
        requests=fmt.requests(pod.requests),
        phase=pod.phase,
        node=pod.node,
        nominated=pod.nominated,
        terminating=pod.terminating,
        gone_at=pod.gone_at,
        lane=queue_place(entry),
        chip=queue.chip(ranks, entry) if entry else None,
        conditions=conditions(manifest),
        events=events.pod_events(sandbox, manifest["metadata"], told),
        course=pod_history(key, told),
        receipts=receipts.pod_receipts(told),
        history=linking_lines(base, f"/pods/{escape(key)}/", sandbox.about_pod(key)),
        yaml=to_yaml([manifest]),
        shell=lines.of_pod(key),
        printed=[
            lines.Shell(
                describe.pod(sandbox, manifest, now), lines.object_command("describe", kinds.PODS, key)
            ),
            lines.Shell(describe.events(sandbox, manifest, now), lines.events_of(key)),
        ],
    )


def events_of_pod(sandbox: Readable, key: str, count: int = TRACE_READ) -> list[trace.Event]:
    """What the latest trace events say of a pod, oldest first."""
    return [event for _, event in sandbox.about_pod(key, count) if is_about_pod(event, key)]


def is_about_pod(event: trace.Event, pod: str) -> bool:
    if isinstance(event, trace.ObjectsDeleted):
        return event.resource == PODS and pod in event.keys
    return getattr(event, "pod", "") == pod


def gone_pod(sandbox: Readable, key: str, base: str) -> GonePod | None:
    """What is known of a pod that is no more; None where nothing is."""
    told = events_of_pod(sandbox, key, TRACE_LENGTH)
    if not told:
        return None
    words = EventSentences(base)
    namespace, _, name = key.partition("/")
    lines = linking_lines(base, f"/pods/{escape(key)}/", sandbox.about_pod(key, TRACE_LENGTH))
    return GonePod(
        key=key,
        name=fmt.pod_name(key),
        fate=removal_line(words, told),
        receipts=receipts.pod_receipts(told),
        events=events.pod_events(sandbox, {"namespace": namespace, "name": name}, told),
        course=pod_history(key, told),
        history=lines,
    )


def removal_line(words: EventSentences, told: Sequence[trace.Event]) -> LogLine | None:
    """The line that says why the pod went; None where nobody but the API's client knows."""
    for event in reversed(told):
        if isinstance(event, trace.CycleStarted):
            break  # what was before did not end it
        if isinstance(
            event, trace.VictimDeleted | trace.PodEvicted | trace.PodFinished | trace.ObjectsDeleted
        ):
            return words.line(0, event)
    return None


def queue_place(entry: LaneEntry | None) -> str:
    if entry is None:
        return ""
    text = gettext("%(lane)s since %(time)s, attempts so far: %(attempts)s")
    return text % {
        "lane": queue.title(entry.lane),
        "time": fmt.clock(entry.since),
        "attempts": entry.attempts,
    }


def node_detail(sandbox: Readable, name: str, base: str) -> NodeDetail | None:
    """None where there is no such node."""
    manifest = sandbox.get(NODES, name)
    if manifest is None:
        return None
    picture = Picture()
    picture.object(NODES, manifest)
    for pod in sandbox.speaking_of(PODS, name):
        if name in (pod["spec"].get("nodeName"), status_of(pod).get("nominatedNodeName")):
            picture.object(PODS, pod)
    node = picture.nodes[name]
    return NodeDetail(
        card=nodes.card(picture, load.ranks(sandbox), name),
        zone=node.zone,
        labels=labels_of(manifest),
        conditions=conditions(manifest),
        taints=node.taints,
        broken=is_broken(manifest),
        short_of_memory="memory" in pressures(manifest),
        history=linking_lines(base, f"/nodes/{escape(name)}/", sandbox.about_node(name)),
        yaml=to_yaml([manifest]),
        shell=lines.of_node(
            name,
            cordoned=node.unschedulable,
            failed=is_broken(manifest),
            taints=node.taints,
        ),
    )


def conditions(manifest: Manifest) -> list[ConditionView]:
    return [present_condition(item) for item in conditions_of(manifest)]


def present_condition(item: Manifest) -> ConditionView:
    kind, status, reason, message = (item.get(field, "") for field in ("type", "status", "reason", "message"))
    meaning = reasons.unplaced(message) or meanings.condition_meaning(kind, status, reason)
    return ConditionView(kind, status, reason, message, meaning)


def linking_lines(base: str, link: str, told: Sequence[tuple[int, trace.Event]]) -> list[LogLine]:
    """The lines of these events that link to the object, newest first."""
    words = EventSentences(base)
    lines = (words.line(seq, event) for seq, event in reversed(told))
    return list(islice((line for line in lines if line is not None and link in line.html), LINES_AT_MOST))
