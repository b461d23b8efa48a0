"""The course of the visitor's pod, from its creation to its node: the text on the page, and the next acts
that the visitor may choose."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.store.past import Readable
from schedviz.web.act import Act
from schedviz.web.cycle.preemption import preemption_sentence
from schedviz.web.picture.picture import PODS
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator import trace
from simulator.api import Manifest
from simulator.decision import Decision
from simulator.plugins.scheduling_gates import SchedulingGates

Stage = Literal["queue", "cycle", "evicting", "bound", "refused", "gone"]
ProposedStep = Literal["", "cycle", "bound"]
"""The proposed step of a paused sandbox: a scheduling cycle, or on until the pod is bound."""


class CourseView(msgspec.Struct, frozen=True):
    key: str
    uid: str
    label: str
    stage: Stage
    text: str
    because: str = ""
    step: ProposedStep = ""
    cycle: int = 0
    """The cycle that evicted pods for it; 0 if none did."""

    @property
    def place(self) -> int:
        """The place of the pod: 0 in the queue, 1 in a scheduling cycle, 2 on a node."""
        return {"queue": 0, "cycle": 1, "evicting": 1, "refused": 1, "bound": 2, "gone": 2}[self.stage]

    @property
    def ended(self) -> bool:
        return self.stage in ("bound", "refused", "gone")


def present_course(source: Readable, act: Act) -> CourseView:
    """Return the course of the pod of the act: only events after the act count, and only a pod with its
    uid."""
    pod = fmt.pod_name(act.pod)
    manifest = source.get(PODS, act.pod)
    if manifest is None or manifest["metadata"].get("uid") != act.uid:
        text = gettext("%(pod)s was deleted.") % {"pod": pod}
        return CourseView(act.pod, act.uid, pod, "gone", text)
    found = last_nomination(source, act)
    evicted = evicted_by(source, found) if found else []
    decision = source.decision(found.cycle) if found and evicted else None
    stage, text, step = _describe(source, act, manifest, found, evicted)
    shown = stage in ("evicting", "bound") and found is not None and bool(evicted)
    if shown and stage == "bound" and decision is not None:
        text = evicted_because(decision, evicted, pod) or text
    return CourseView(
        act.pod,
        act.uid,
        pod,
        stage,
        text,
        because=preemption_sentence(decision) if shown and decision and decision.preemption else "",
        step=step if source.clock().paused else "",
        cycle=found.cycle if found and shown else 0,
    )


def last_nomination(source: Readable, act: Act) -> trace.Nominated | None:
    """Return the last nomination of the pod since the act."""
    later = (event for seq, event in reversed(source.about_pod(act.pod)) if seq > act.seq)
    return next((each for each in later if isinstance(each, trace.Nominated) and each.pod == act.pod), None)


def evicted_by(source: Readable, found: trace.Nominated) -> list[str]:
    """Return the victims that were evicted. One that was terminating already is not deleted again
    (prepareCandidate in pkg/scheduler/framework/preemption/preemption.go)."""
    deleted = {
        event.pod
        for _, event in source.about_pod(found.pod)
        if isinstance(event, trace.VictimDeleted) and event.cycle == found.cycle
    }
    return [key for key in found.victims if key in deleted]


def _describe(
    source: Readable, act: Act, manifest: Manifest, found: trace.Nominated | None, evicted: Sequence[str]
) -> tuple[Stage, str, ProposedStep]:
    key, pod = act.pod, fmt.pod_name(act.pod)
    node = (manifest.get("spec") or {}).get("nodeName", "")
    if node:
        text = gettext("%(pod)s is bound to %(node)s.")
        if evicted:
            text = gettext("%(pod)s is bound to %(node)s. Pods were evicted for it.")
        elif not found and bound_by_the_scheduler(source, act):
            text = gettext("%(pod)s is bound to %(node)s. It fitted there: no pod was evicted for it.")
        return "bound", text % {"pod": pod, "node": node_name(node)}, ""
    under_way, entry = source.under_way(), source.queue_place(key)
    if under_way is not None and under_way.pod == key:
        text = gettext("%(pod)s is in a scheduling cycle, before %(point)s.")
        return "cycle", text % {"pod": pod, "point": under_way.point}, "cycle"
    if found and (manifest.get("status") or {}).get("nominatedNodeName") == found.node:
        return "evicting", evicting_text(source, found, evicted, pod), "bound"
    if entry is None:
        return (
            "queue",
            gettext("%(pod)s is created, and not in the scheduling queue yet.") % {"pod": pod},
            "cycle",
        )
    if entry.lane == "unschedulable":
        text = gettext("%(pod)s is unschedulable: %(reasons)s.")
        if not found:
            text = gettext("%(pod)s is unschedulable: %(reasons)s. No pod was evicted for it.")
        values = {"pod": pod, "reasons": reasons.short_without_stop(entry.message)}
        return "refused", text % values, ""
    if entry.lane == "outside":
        text = gettext("%(pod)s waits for the outside scheduler %(scheduler)s.")
        return "queue", text % {"pod": pod, "scheduler": entry.scheduler}, ""
    if entry.lane == "gated":
        text = gettext("%(pod)s waits until the plugin %(plugin)s lets it into the queue.")
        if entry.gate == SchedulingGates.name:
            text = gettext("%(pod)s waits: it has a scheduling gate.")
        return "queue", text % {"pod": pod, "plugin": entry.gate}, ""
    if entry.lane == "waiting" and not entry.plugins:
        text = gettext("%(pod)s is in a scheduling cycle, before %(point)s.")
        return "cycle", text % {"pod": pod, "point": "PreBind"}, "bound"
    if entry.lane == "waiting":
        text = gettext("Resources are reserved for %(pod)s, which waits on Permit for %(plugins)s.")
        return "cycle", text % {"pod": pod, "plugins": fmt.listed(entry.plugins)}, "bound"
    text = gettext("%(pod)s is in the scheduling queue.")
    if source.clock().paused:
        text = gettext("%(pod)s is in the scheduling queue. Time is paused: run the next cycle.")
    return "queue", text % {"pod": pod}, "cycle"


def bound_by_the_scheduler(source: Readable, act: Act) -> bool:
    """Whether the sandbox's scheduler bound the pod of the act: then the pod passed the filters."""
    later = (event for seq, event in source.about_pod(act.pod) if seq > act.seq)
    return any(isinstance(event, trace.Bound) and event.pod == act.pod for event in later)


def evicting_text(source: Readable, found: trace.Nominated, evicted: Sequence[str], pod: str) -> str:
    """Return the text about a nominated pod. evicted: the victims that were evicted for it."""
    victims = [source.get(PODS, key) for key in found.victims]
    # A controller may have created a pod of an evicted one's name again.
    terminating = any(each is not None and "deletionTimestamp" in each["metadata"] for each in victims)
    values = {
        "pod": pod,
        "node": node_name(found.node),
        "victims": fmt.first_pods(evicted or found.victims),
    }
    if evicted and terminating:
        text = ngettext(
            "%(pod)s fitted no node. The scheduler chose %(node)s and evicts %(victims)s; %(pod)s waits "
            "until it has ended.",
            "%(pod)s fitted no node. The scheduler chose %(node)s and evicts %(victims)s; %(pod)s waits "
            "until they have ended.",
            len(evicted),
        )
    elif evicted:
        text = ngettext(
            "%(pod)s fitted no node. The scheduler chose %(node)s and evicted %(victims)s. It has ended: "
            "%(pod)s waits for its next attempt.",
            "%(pod)s fitted no node. The scheduler chose %(node)s and evicted %(victims)s. They have ended: "
            "%(pod)s waits for its next attempt.",
            len(evicted),
        )
    elif any(victims):
        text = gettext(
            "%(pod)s fitted no node. The scheduler chose %(node)s. %(pod)s waits until these have ended: "
            "%(victims)s."
        )
    else:
        text = gettext(
            "%(pod)s fitted no node. The scheduler chose %(node)s. %(pod)s waits for its next attempt."
        )
    return text % values


def evicted_because(decision: Decision, evicted: Sequence[str], pod: str) -> str:
    """Return a sentence about the pods that were evicted, and why; "" if the decision does not have them."""
    chosen = decision.chosen_candidate
    victims = [each for each in chosen.victims if each.pod in evicted] if chosen else []
    if not chosen or not victims:
        return ""
    return ngettext(
        "%(victims)s was evicted from %(node)s, because %(pod)s fitted no node, and its priority is lower: "
        "%(low)s against %(high)s.",
        "%(victims)s were evicted from %(node)s, because %(pod)s fitted no node, and their priority is "
        "lower: at most %(low)s against %(high)s.",
        len(victims),
    ) % {
        "victims": fmt.first_pods([each.pod for each in victims]),
        "node": node_name(chosen.node),
        "pod": pod,
        "low": str(max(each.priority for each in victims)),
        "high": str(decision.priority),
    }
