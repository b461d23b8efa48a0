"""The panels of a pod, of a deleted pod and of a node."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import Final

import msgspec
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedviz.store.bounds import TRACE_LENGTH
from schedviz.store.past import Readable
from schedviz.web.kubectl import lines
from schedviz.web.kubectl.describe.events import events_naming, get_events
from schedviz.web.kubectl.describe.nodes import describe_node
from schedviz.web.kubectl.describe.pods import describe_pod
from schedviz.web.manifests.yaml import to_yaml
from simulator import trace
from simulator.api import Manifest
from simulator.apiserver import resources as kinds
from simulator.objects.addresses import internal_addresses, pod_addresses
from simulator.objects.conditions import conditions_of
from simulator.objects.metadata import labels_of
from simulator.objects.node_status import is_broken, pressures
from simulator.objects.status import status_of
from simulator.trace import LaneEntry

from . import events, load, meanings, nodes, permalinks, pod_reasons, queue, reasons
from . import format as fmt
from .devices import ClaimView, PoolView, claims_of_pod, pools_of_node
from .events import PodEvent
from .nodes import Card, Meter
from .outside import OutsidePod, outside_pod
from .permalinks import Permalinks
from .picture import NODES, PODS, Picture
from .pod_history import PodHistory, pod_history
from .queue import Chip
from .records import NO_LOAD, pod_record
from .sentences import EventSentences, LogLine, linked_names

LINES_AT_MOST: Final = 20
"""Maximum number of lines of the log that a panel shows."""

Numbered = tuple[int, trace.Event]
"""A trace event with its number."""


class ConditionView(msgspec.Struct, frozen=True):
    type: str
    status: str
    reason: str
    message: str
    meaning: str


class PodDetail(msgspec.Struct, frozen=True):
    key: str
    uid: str
    name: str
    namespace: str
    rank: int
    priority: str
    priority_class: str
    requests: str
    phase: str
    addresses: str
    node: str
    nominated: str
    terminating: bool
    gone_at: int
    lane: str
    reason: SafeString
    """Why it is where it is; "" if the rest of the panel shows it."""
    nearest: str
    """The node that lacks least for a pod that is unschedulable, with the amounts."""
    chip: Chip | None
    outside: OutsidePod | None
    claims: list[ClaimView]
    conditions: list[ConditionView]
    events: list[PodEvent]
    history: PodHistory
    permalinks: Permalinks
    log: list[LogLine]
    yaml: str | None
    """None = it is folded."""
    shell: list[lines.Shell]
    printed: list[lines.Output]
    """``kubectl describe`` and ``kubectl get events``."""


class DeletedPod(msgspec.Struct, frozen=True):
    """A deleted pod, from the events of the trace."""

    key: str
    name: str
    removal: LogLine | None
    """The line of the log that says why the pod was removed."""
    permalinks: Permalinks
    events: list[PodEvent]
    history: PodHistory
    log: list[LogLine]


class NodeDetail(msgspec.Struct, frozen=True):
    card: Card
    meters: list[Meter]
    """The meters of all resources. The card has those of requested resources."""
    pools: list[PoolView]
    """The pools of devices."""
    zone: str
    addresses: str
    labels: dict[str, str]
    conditions: list[ConditionView]
    taints: tuple[str, ...]
    broken: bool
    short_of_memory: bool
    """Whether the node is short of memory. ``broken`` and this are read from the node's annotations. The
    conditions follow from these."""
    log: list[LogLine]
    yaml: str | None
    shell: list[lines.Shell]
    printed: list[lines.Output]
    """``kubectl describe``."""


IsUnfolded = Callable[[str], bool]
"""Whether the fold with this id of a panel is unfolded. What is folded is not made."""


def pod_detail(
    sandbox: Readable, key: str, base: str, is_unfolded: IsUnfolded = lambda _: True
) -> PodDetail | None:
    """Return the panel of a pod; None if it does not exist."""
    manifest = sandbox.get(PODS, key)
    if manifest is None:
        return None
    pod, entry = pod_record(manifest), sandbox.lane(key)
    ranks = load.ranks(sandbox)
    named = sandbox.about_pod(key)
    about = events_about(named, key)
    return PodDetail(
        key=key,
        uid=manifest["metadata"]["uid"],
        name=fmt.pod_name(key),
        namespace=key.partition("/")[0],
        rank=ranks.rank(pod.priority),
        priority=fmt.number(pod.priority),
        priority_class=manifest["spec"].get("priorityClassName", ""),
        requests=fmt.requests(pod.requests),
        phase=pod.phase,
        addresses=", ".join(pod_addresses(manifest)),
        node=pod.node,
        nominated=pod.nominated,
        terminating=pod.terminating,
        gone_at=pod.gone_at,
        lane=queue_place(entry),
        reason=pod_reasons.pod_reason_sentence(sandbox, manifest, entry, about),
        nearest=nearest_node(sandbox, manifest, entry, about),
        chip=queue.chip(ranks, entry) if entry else None,
        outside=outside_pod(key, entry, about),
        claims=claims_of_pod(sandbox, manifest),
        conditions=conditions(manifest),
        events=events.pod_events(sandbox, manifest["metadata"], about),
        history=pod_history(key, about),
        permalinks=permalinks.pod_permalinks(about),
        log=lines_linking_to_pod(base, key, named),
        yaml=folded_yaml(manifest, is_unfolded),
        shell=lines.of_pod(key),
        printed=pod_outputs(sandbox, key, manifest, is_unfolded),
    )


def pod_outputs(
    sandbox: Readable, key: str, manifest: Manifest, is_unfolded: IsUnfolded
) -> list[lines.Output]:
    namespace, _, name = key.partition("/")
    naming = cache(lambda: events_naming(sandbox, name))
    outputs: list[tuple[str, Callable[[], str]]] = [
        (
            lines.object_command("describe", kinds.PODS, key),
            lambda: describe_pod(manifest, naming(), sandbox.now()),
        ),
        (lines.events_of(key), lambda: get_events(sandbox, namespace, naming())),
    ]
    return [output(f"pod-printed-{n}", *each, is_unfolded) for n, each in enumerate(outputs, 1)]


def folded_yaml(manifest: Manifest, is_unfolded: IsUnfolded) -> str | None:
    """Return the text of templates/panels/yaml.html."""
    return to_yaml([manifest]) if is_unfolded("panel-yaml") else None


def output(fold: str, line: str, make: Callable[[], str], is_unfolded: IsUnfolded) -> lines.Output:
    return lines.Output(fold, line, make() if is_unfolded(fold) else None)


def nearest_node(
    sandbox: Readable, manifest: Manifest, entry: LaneEntry | None, about: Sequence[trace.Event]
) -> str:
    """Return the sentence about the node that lacks least, for an unschedulable pod whose last decision is
    stored; otherwise ""."""
    if entry is None or entry.lane != "unschedulable":
        return ""
    cycle = next((event.cycle for event in reversed(about) if isinstance(event, trace.CycleStarted)), 0)
    decision = sandbox.decision(cycle) if cycle else None
    if decision is None or decision.uid != manifest["metadata"]["uid"]:
        return ""
    return pod_reasons.nearest_node(decision)


def events_of_pod(sandbox: Readable, key: str) -> list[trace.Event]:
    """Return the latest trace events that are about a pod, oldest first."""
    return events_about(sandbox.about_pod(key), key)


def events_about(named: Sequence[Numbered], key: str) -> list[trace.Event]:
    """Return the events that are about a pod, among those that name it."""
    return [event for _, event in named if is_about_pod(event, key)]


def is_about_pod(event: trace.Event, pod: str) -> bool:
    """Whether the event happened to the pod. An event may name it in another role, as the preemptor or as one
    of the victims."""
    if isinstance(event, trace.ObjectsDeleted):
        return event.resource == PODS and pod in event.keys
    return getattr(event, "pod", "") == pod


def deleted_pod(sandbox: Readable, key: str, base: str) -> DeletedPod | None:
    """Return the panel of a deleted pod; None if the trace has no event of it."""
    # A pod that was deleted long ago is not in the cache.
    named = sandbox.about_pod(key) or sandbox.about_pod(key, TRACE_LENGTH)
    about = events_about(named, key)
    if not about:
        return None
    namespace, _, name = key.partition("/")
    return DeletedPod(
        key=key,
        name=fmt.pod_name(key),
        removal=removal_line(EventSentences(base), about),
        permalinks=permalinks.pod_permalinks(about),
        events=events.pod_events(sandbox, {"namespace": namespace, "name": name}, about),
        history=pod_history(key, about),
        log=lines_linking_to_pod(base, key, named),
    )


def removal_line(sentences: EventSentences, about: Sequence[trace.Event]) -> LogLine | None:
    """Return the line that says why the pod was removed; None if a client of the API deleted it."""
    for event in reversed(about):
        if isinstance(event, trace.CycleStarted):
            break  # earlier events did not remove the pod
        if isinstance(
            event,
            trace.VictimDeleted
            | trace.OutsidePreempted
            | trace.PodEvicted
            | trace.PodFinished
            | trace.ObjectsDeleted,
        ):
            return sentences.line(0, event)
    return None


def queue_place(entry: LaneEntry | None) -> str:
    """Return the pod's place in the scheduling queue, in words; empty for a pod that is not in the queue."""
    if entry is None:
        return ""
    if entry.lane == "outside":
        text = gettext("waiting for the outside scheduler %(scheduler)s since %(time)s")
        return text % {"scheduler": entry.scheduler, "time": fmt.clock(entry.since)}
    text = gettext("%(lane)s since %(time)s, attempts so far: %(attempts)s")
    return text % {
        "lane": queue.title(entry.lane),
        "time": fmt.clock(entry.since),
        "attempts": entry.attempts,
    }


def node_detail(
    sandbox: Readable, name: str, base: str, is_unfolded: IsUnfolded = lambda _: True
) -> NodeDetail | None:
    """Return the panel of a node; None if it does not exist."""
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
        meters=nodes.meters(node, picture.loads.get(name, NO_LOAD)),
        pools=pools_of_node(sandbox, manifest),
        zone=node.zone,
        addresses=", ".join(internal_addresses(manifest)),
        labels=labels_of(manifest),
        conditions=conditions(manifest),
        taints=node.taints,
        broken=is_broken(manifest),
        short_of_memory="memory" in pressures(manifest),
        log=lines_linking_to_node(base, name, sandbox.about_node(name)),
        yaml=folded_yaml(manifest, is_unfolded),
        shell=lines.of_node(
            name,
            cordoned=node.unschedulable,
            failed=is_broken(manifest),
            taints=node.taints,
        ),
        printed=[
            output(
                "node-printed-1",
                lines.object_command("describe", kinds.NODES, name),
                lambda: describe_node(sandbox, manifest, sandbox.now()),
                is_unfolded,
            )
        ],
    )


def conditions(manifest: Manifest) -> list[ConditionView]:
    return [present_condition(item) for item in conditions_of(manifest)]


def present_condition(item: Manifest) -> ConditionView:
    kind, status, reason, message = (item.get(field, "") for field in ("type", "status", "reason", "message"))
    meaning = reasons.unplaced(message) or meanings.condition_meaning(kind, status, reason)
    return ConditionView(kind, status, reason, message, meaning)


def lines_linking_to_pod(base: str, key: str, named: Sequence[Numbered]) -> list[LogLine]:
    """Return the newest lines of the log that link to a pod, of the events that name it."""
    return newest_lines(base, [each for each in named if key in linked_names(each[1]).pods])


def lines_linking_to_node(base: str, name: str, named: Sequence[Numbered]) -> list[LogLine]:
    """Return the newest lines of the log that link to a node, of the events that name it."""
    return newest_lines(base, [each for each in named if name in linked_names(each[1]).nodes])


def newest_lines(base: str, numbered: Sequence[Numbered]) -> list[LogLine]:
    """Return the newest lines of the log, the newest first. Older events are not rendered."""
    sentences = EventSentences(base)
    lines = (sentences.line(seq, event) for seq, event in reversed(numbered))
    return list(islice((line for line in lines if line is not None), LINES_AT_MOST))
