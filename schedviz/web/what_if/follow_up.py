"""The follow-up: the outcome of a suggestion that was applied to let a pod run."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from django.utils.translation import gettext

from schedviz.cache import Current
from schedviz.jobs.applied import Applied, AppliedStore
from schedviz.store.default import default_store
from schedviz.store.past import Readable
from schedviz.web.picture.picture import PODS
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from schedviz.web.what_if.what_if import suggestion_sentence
from simulator import trace
from simulator.api import Manifest
from simulator.objects.metadata import key_of
from simulator.objects.status import status_of

Numbered = tuple[int, trace.Event]
"""A trace event with its number."""

FollowUpState = Literal["waits", "helped", "nominated", "failed"]


class FollowUp(msgspec.Struct, frozen=True):
    """The result of a suggestion that was applied, for its pod."""

    time: str
    """The time at which the suggestion was applied."""
    change: str
    state: FollowUpState
    text: str
    """The events of the pod since then, in words."""


def follow_up_of(source: Current, key: str) -> FollowUp | None:
    """Return the follow-up of the suggestion that was last applied for a pod; None if there is none."""
    manifest = source.get(PODS, key)
    if manifest is None or not may_have_been_asked(source, key):
        return None
    kept = AppliedStore(default_store(), source.name, source.meta().created)
    applied = kept.read(manifest["metadata"]["uid"])
    return present_follow_up(source, applied, manifest) if applied else None


def may_have_been_asked(source: Current, key: str) -> bool:
    """Whether the pod waits, or has waited for another reason than its turn. Only such a pod has suggestions;
    Redis is not asked for the others."""
    return source.queue_place(key) is not None or any(
        isinstance(event, trace.Unschedulable | trace.SchedulerError)
        or (isinstance(event, trace.QueueMoved) and event.source == "gated")
        for _, event in source.about_pod(key)
    )


def present_follow_up(sandbox: Readable, applied: Applied, manifest: Manifest) -> FollowUp:
    """Return the follow-up of a pod. manifest: of the pod, as it is now."""
    key = key_of(manifest)
    own = [
        event
        for seq, event in sandbox.about_pod(key)
        if seq > applied.seq and getattr(event, "pod", "") == key
    ]
    state, text, end = outcome(own, manifest)
    if state == "failed":
        node = applied.suggestion.outcome.node
        text = " ".join([text, *taken_by_others(sandbox.about_node(node), node, key, applied.seq, end)])
    return FollowUp(fmt.clock(applied.t), suggestion_sentence(applied.suggestion), state, text)


def outcome(events: Sequence[trace.Event], manifest: Manifest) -> tuple[FollowUpState, str, int]:
    """Return the state and the text that follow from the pod's events since the change, and the time of the
    attempt that failed."""
    pod = fmt.pod_name(key_of(manifest))
    node, nominated = manifest["spec"].get("nodeName", ""), status_of(manifest).get("nominatedNodeName", "")
    bound = next((event for event in events if isinstance(event, trace.Bound)), None)
    if bound is not None:
        text = gettext("%(pod)s was bound to %(node)s at %(time)s.")
        values = {"pod": pod, "node": node_name(bound.node), "time": fmt.clock(bound.t)}
        return "helped", text % values, 0
    if node:
        text = gettext("%(pod)s was bound to %(node)s.")
        return "helped", text % {"pod": pod, "node": node_name(node)}, 0
    if nominated:
        text = gettext("%(pod)s is nominated to %(node)s, and is not bound yet.")
        return "nominated", text % {"pod": pod, "node": node_name(nominated)}, 0
    for event in reversed(events):
        if isinstance(event, trace.Unschedulable | trace.BindFailed | trace.SchedulerError):
            text = gettext("It did not help: %(reasons)s (attempt at %(time)s).")
            values = {"reasons": reasons.short_without_stop(event.message), "time": fmt.clock(event.t)}
            return "failed", text % values, event.t
    return "waits", gettext("%(pod)s has not been tried again since then.") % {"pod": pod}, 0


def taken_by_others(events: Sequence[Numbered], node: str, pod: str, after: int, until: int) -> list[str]:
    """Return the pods that were bound, between the change and the failed attempt, to the node that the
    suggestion made fit."""
    others = [
        event.pod
        for seq, event in events
        if seq > after and event.t <= until and isinstance(event, trace.Bound) and event.pod != pod
    ]
    if not others:
        return []
    text = gettext("Bound to %(node)s since then: %(pods)s.")
    return [text % {"pods": fmt.first_pods(others), "node": node_name(node)}]
