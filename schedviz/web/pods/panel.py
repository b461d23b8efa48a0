"""The panels of a pod and of a deleted pod."""

from collections.abc import Callable, Sequence
from functools import cache

import msgspec
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedviz.store.bounds import TRACE_LENGTH
from schedviz.store.past import Readable
from schedviz.web.devices.devices import ClaimView, claims_of_pod
from schedviz.web.kubectl import lines
from schedviz.web.kubectl.describe.events import events_naming, get_events
from schedviz.web.kubectl.describe.pods import describe_pod
from schedviz.web.kubectl.folded import IsUnfolded, folded_output, folded_yaml
from schedviz.web.log import permalinks
from schedviz.web.log.about import events_about, lines_linking_to_pod, removal_line
from schedviz.web.log.permalinks import Permalinks
from schedviz.web.log.sentences import EventSentences, LogLine
from schedviz.web.outside.present import OutsidePod, outside_pod
from schedviz.web.picture import load
from schedviz.web.picture.picture import PODS
from schedviz.web.picture.records import pod_record
from schedviz.web.pods import events
from schedviz.web.pods.events import PodEvent
from schedviz.web.pods.history import PodHistory, pod_history
from schedviz.web.queue import lanes as queue
from schedviz.web.queue.lanes import Chip
from schedviz.web.reasons import pod_reasons
from schedviz.web.reasons.conditions import ConditionView, conditions
from schedviz.web.text import format as fmt
from simulator import trace
from simulator.api import Manifest
from simulator.apiserver import resources as kinds
from simulator.objects.addresses import pod_addresses
from simulator.trace import QueuePlace


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
    group: str
    """The key of its PodGroup; "" = it is in none."""
    terminating: bool
    gone_at: int
    queue_place: str
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


def pod_detail(
    sandbox: Readable, key: str, base: str, is_unfolded: IsUnfolded = lambda _: True
) -> PodDetail | None:
    """Return the panel of a pod; None if it does not exist."""
    manifest = sandbox.get(PODS, key)
    if manifest is None:
        return None
    pod, entry = pod_record(manifest), sandbox.queue_place(key)
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
        group=pod.group,
        terminating=pod.terminating,
        gone_at=pod.gone_at,
        queue_place=queue_place(entry),
        reason=pod_reasons.pod_reason_sentence(sandbox, manifest, entry, about),
        nearest=nearest_node(sandbox, manifest, entry, about),
        chip=queue.chip(ranks, entry) if entry else None,
        outside=outside_pod(key, entry, about, mirrors=sandbox.meta().mirror is not None),
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
    return [folded_output(f"pod-printed-{n}", *each, is_unfolded) for n, each in enumerate(outputs, 1)]


def nearest_node(
    sandbox: Readable, manifest: Manifest, entry: QueuePlace | None, about: Sequence[trace.Event]
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


def queue_place(entry: QueuePlace | None) -> str:
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
