"""The answer to a what-if question: changes with which a pending pod would be scheduled."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop, ngettext, pgettext

from schedviz.jobs.job import JobState
from schedviz.jobs.question import Question
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.plugin_reasons import meaning_of
from schedviz.web.text import format as fmt
from schedviz.web.text.links import node_link, pod_link
from schedviz.web.text.node_names import node_name
from schedviz.web.what_if.rivals import rivals_sentence
from simulator.apiserver.resources import NODES, PODS
from simulator.trace import QueuePlace
from simulator.what_if.answer import AttemptOutcome, ChangePart, GangOutcome, NodeObstacles, Suggestion
from simulator.what_if.pod_changes import GATE_SEPARATOR

VICTIMS_AT_MOST: Final = 6

SENTENCES: Final = {
    "gate": gettext_noop("Remove the scheduling gate {what}."),
    "scheduler": gettext_noop("Change schedulerName from {before} to {after}."),
    "uncordon": gettext_noop("Uncordon {target}."),
    "toleration": gettext_noop("Add a toleration for {what} to the pod."),
    "taint": gettext_noop("Remove the taint {what} from {target}."),
    "request": gettext_noop("Request less {what}: {after} instead of {before}."),
    "selector": gettext_noop("Remove {what} from the pod's nodeSelector."),
    "node-affinity": gettext_noop("Remove the pod's node affinity to {what}."),
    "pod-affinity": gettext_noop("Remove the pod's affinity to {before} by {what}."),
    "pod-anti-affinity": gettext_noop("Remove the pod's anti-affinity to {before} by {what}."),
    "spread-policy": gettext_noop("Set {after} in the topology spread constraint by {what}."),
    "spread-domains": gettext_noop(
        "Lower minDomains from {before} to {after} in the topology spread constraint by {what}."
    ),
    "spread-skew": gettext_noop(
        "Raise maxSkew from {before} to {after} in the topology spread constraint by {what}."
    ),
    "spread-anyway": gettext_noop(
        "Set whenUnsatisfiable: {after} in the topology spread constraint by {what}."
    ),
    "spread": gettext_noop("Remove the topology spread constraint by {what}."),
    "host-port": gettext_noop("Use host port {after} instead of {before}."),
    "preemption-policy": gettext_noop("Give the pod a PriorityClass that preempts: {what}."),
    "priority": gettext_noop("Raise the pod's priority from {before} to {after}."),
    "delete-pod": gettext_noop("Delete the pod {target} (priority {before})."),
    "claim": gettext_noop("Create the resource claim {target} for one device of class {what}."),
    "device-class": gettext_noop("Create the DeviceClass {target} for the devices of {what}."),
    "claim-count": gettext_noop("Request {after} devices instead of {before} in {what} of claim {target}."),
    "device-toleration": gettext_noop("Add a toleration for {what} to {within} of claim {target}."),
    "claim-capacity": gettext_noop(
        "Request less {what} in {within} of claim {target}: {after} instead of {before}."
    ),
    "claim-size": gettext_noop(
        "Request devices with {after} instead of {before} in {what} of claim {target}."
    ),
    "claim-class": gettext_noop(
        "Request devices of class {after} instead of {before} in {what} of claim {target}."
    ),
    "claim-selector": gettext_noop("Remove the selector {what} of {within} from claim {target}."),
    "class-selector": gettext_noop("Remove the selector {what} from the DeviceClass {target}."),
    "claim-constraint": gettext_noop("Remove the constraint on {what} from claim {target}."),
    "delete-claim": gettext_noop("Delete the claim {target}, which no pod uses: it has {what}."),
    "free-device": gettext_noop(
        "Delete the pod {target} (priority {after}), whose claim {before} has {what}."
    ),
    "device": gettext_noop("Add one more device like {what} to {target}."),
    "drop-claim": gettext_noop("Remove the resource claim {what} from the pod."),
    "drop-volume": gettext_noop("Remove the volume {what} from the pod."),
    "volume": gettext_noop("Create storage: {target}, {after} of class {what}."),
    "node": gettext_noop("Add one more node like {what}: {target}."),
    "nodes": gettext_noop("Add {after} more nodes like {what}: {target}."),
    "min-count": gettext_noop("Lower minCount of the PodGroup {target} from {before} to {after}."),
    "topology-key": gettext_noop(
        "Use the topology key {after} instead of {before} in the PodGroup {target}."
    ),
    "topology": gettext_noop("Remove the topology constraint by {before} from the PodGroup {target}."),
    "group-priority": gettext_noop(
        "Raise the priority of the PodGroup {target} from {before} to {after}: the PriorityClass {what}."
    ),
}
"""Kind of the change -> sentence. For the kind "label" see LABEL and NO_LABEL, for several gates GATES."""
GATES: Final = gettext_noop("Remove the scheduling gates {what}.")
REFUSED: Final = gettext_noop("It is not true of {devices}.")
LABEL: Final = gettext_noop("Label {target} with {what}.")
NO_LABEL: Final = gettext_noop("Remove the label {what} from {target}.")

SELECTORS: Final = ("claim-selector", "class-selector")
"""Kinds of which ``before`` lists the devices that a selector refuses."""

OF_NODES: Final = ("uncordon", "taint", "label", "device", "node", "nodes")
"""Kinds of which ``target`` is a node."""

DEVICES: Final = ("delete-claim", "free-device", "device")
"""Kinds of which ``what`` lists devices."""

STAGES: Final = {
    "as it is": gettext_noop("the pod as it is"),
    "scheduling gates": gettext_noop("scheduling gates"),
    "profiles": gettext_noop("profiles"),
    "cordoned nodes": gettext_noop("cordoned nodes"),
    "tolerations": gettext_noop("tolerations"),
    "labels": gettext_noop("labels"),
    "taints": gettext_noop("taints"),
    "missing claims": gettext_noop("missing claims"),
    "device classes": gettext_noop("device classes"),
    "requests": gettext_noop("requests"),
    "taints of devices": gettext_noop("taints of devices"),
    "numbers of devices": gettext_noop("numbers of devices"),
    "capacity of devices": gettext_noop("capacity of devices"),
    "smaller devices": gettext_noop("smaller devices"),
    "other classes": gettext_noop("other classes"),
    "host ports": gettext_noop("host ports"),
    "spread constraints": gettext_noop("spread constraints"),
    "constraints": gettext_noop("constraints"),
    "device selectors": gettext_noop("device selectors"),
    "preemption policy": gettext_noop("preemption policy"),
    "priorities": gettext_noop("priorities"),
    "pods in the way": gettext_noop("other pods"),
    "devices in use": gettext_noop("devices in use"),
    "volumes": gettext_noop("volumes"),
    "claims": gettext_noop("claims"),
    "storage": gettext_noop("storage"),
    "devices": gettext_noop("devices"),
    "nodes": gettext_noop("nodes"),
    "minCount": gettext_noop("minCount"),
    "topology keys": gettext_noop("topology keys"),
    "pairs of changes": gettext_noop("pairs of changes"),
}
"""The stages of the search, by the names in its progress."""


class Offer(msgspec.Struct, frozen=True):
    number: int
    """The index among the suggestions of the question."""
    sentences: list[str]
    """The change, or both changes."""
    alike: str
    """The other targets with which the same change has the same effect, in words."""
    rivals: str
    """The number of other pods that wait for the same room, in words."""
    cost: str
    then: SafeString
    template: bool
    """Whether the change is one of the template of the pod's controller, because it cannot be applied to the
    pod."""


class Missing(msgspec.Struct, frozen=True):
    node: str
    lacks: list[str]


class WhatIfView(msgspec.Struct, frozen=True):
    id: str
    state: JobState
    finished: bool
    doing: str
    percent: int
    tried: int
    fits: str
    """The node on which the pod fits without a change."""
    group: str
    """The gang of the pod, which was tried as a whole; "" = the pod was tried alone."""
    group_fits: bool
    """Whether the gang can be scheduled without a change."""
    offers: list[Offer]
    pairs: bool
    """Whether each offer consists of two changes, as no single one is enough."""
    lacks: list[Missing]
    lacking: str
    """The pod of which ``lacks`` is, if it is another one than that of the panel."""
    when_queued: str
    """The reason why it would not run either without its scheduling gates; "" = it has none, or it would."""
    owner: str
    """The kind and the name of the pod's controller."""
    trouble: str
    version: int
    """The version of the cluster that was searched."""
    sampling: str = ""
    """The nodes that the attempts looked at, in words; "" where the cluster is too small for a difference."""


def present_what_if(
    question: Question, base: str, queue_places: Mapping[str, QueuePlace], sampling: str = ""
) -> WhatIfView:
    """Return the view of a what-if question. sampling: which nodes the attempts looked at."""
    answer = question.answer
    gang = answer.now.gang if answer else None
    return WhatIfView(
        id=question.id,
        state=question.state,
        finished=question.finished,
        doing=gettext(STAGES[question.doing]) if question.doing in STAGES else gettext("the cluster"),
        percent=round(100 * question.done / question.total) if question.total else 0,
        tried=answer.tried if answer else question.tried,
        fits=answer.now.node if answer and answer.now.kind == "bound" and not gang else "",
        group=fmt.pod_name(answer.group) if answer else "",
        group_fits=gang is not None and answer is not None and answer.now.kind == "bound",
        offers=[
            offer(
                number,
                suggestion,
                base,
                answer.owner if answer else "",
                rivals_sentence(
                    suggestion.rivals, queue_places, question.pod, partial=suggestion.rivals_partial
                ),
            )
            for number, suggestion in enumerate(question.suggestions)
        ],
        pairs=any(suggestion.further for suggestion in question.suggestions),
        lacks=missing_resources(answer.lacks) if answer and not answer.suggestions else [],
        lacking=fmt.pod_name(gang.unplaced) if gang else "",
        when_queued=reasons.short_without_stop(answer.when_queued.message)
        if answer and answer.when_queued
        else "",
        owner=answer.owner if answer else "",
        trouble=question.trouble,
        version=question.version,
        sampling=sampling,
    )


def offer(number: int, suggestion: Suggestion, base: str, owner: str, rivals: str) -> Offer:
    return Offer(
        number=number,
        sentences=[*map(part_sentence, suggestion.parts)],
        alike=alike_sentence(suggestion),
        rivals=rivals,
        cost=f"{suggestion.cost:.3g}",
        then=outcome_sentence(suggestion.outcome, base, added=added_nodes(suggestion)),
        template=bool(owner)
        and any(edit.verb == "recreate" and edit.resource == PODS.id for edit in suggestion.edits),
    )


def suggestion_sentence(suggestion: Suggestion) -> str:
    """Return the change in a sentence, or both changes in two."""
    return " ".join(map(part_sentence, suggestion.parts))


def part_sentence(part: ChangePart) -> str:
    what, text = part.what, SENTENCES.get(part.kind, "")
    if part.kind == "label":
        text, what = (LABEL, f"{what}={part.after}") if part.after else (NO_LABEL, what)
    elif part.kind == "gate" and GATE_SEPARATOR in what:
        text = GATES
    elif part.kind in DEVICES:
        what = short_devices(what)
    elif part.kind in ("node", "nodes"):
        what = node_name(what)
    target = (
        fmt.listed(map(node_name, part.target.split(", ")))
        if part.kind in OF_NODES
        else fmt.pod_name(part.target)
    )
    values = {"what": what, "after": part.after, "target": target, "within": part.within}
    sentence = gettext(text).format(**values, before=fmt.pod_name(part.before))
    if part.kind in SELECTORS and part.before:
        return f"{sentence} {gettext(REFUSED).format(devices=short_devices(part.before))}"
    return sentence


def alike_sentence(suggestion: Suggestion) -> str:
    """Return the other targets in a sentence; "" if there is none."""
    of_nodes = any(part.kind in OF_NODES for part in suggestion.parts)
    shorten = node_name if of_nodes else fmt.pod_name
    names = fmt.listed(shorten(name) for name in suggestion.alike)
    if not names and not suggestion.alike_more:
        return ""
    text = gettext("The same change is enough for %(names)s.")
    if suggestion.alike_more:
        text = ngettext(
            "The same change is enough for %(names)s. %(n)s more was not tried.",
            "The same change is enough for %(names)s. %(n)s more were not tried.",
            suggestion.alike_more,
        )
    return text % {"names": names, "n": fmt.number(suggestion.alike_more)}


def added_nodes(suggestion: Suggestion) -> list[str]:
    return [edit.key for edit in suggestion.edits if edit.verb == "create" and edit.resource == NODES.id]


def short_devices(listed: str) -> str:
    """Return devices in the form of :func:`simulator.what_if.pod_claims.listed_devices`. A pool often has the
    name of a node, which is shortened."""
    parts = (each.partition("/") for each in listed.split(", "))
    return ", ".join(f"{node_name(pool)}{slash}{device}" for pool, slash, device in parts)


def outcome_sentence(outcome: AttemptOutcome, base: str, added: Sequence[str] = ()) -> SafeString:
    """Return the outcome of the attempt with the change, with links to what exists; added: new nodes."""
    if outcome.gang is not None:
        return _gang_sentence(outcome, outcome.gang, base)
    node = node_name(outcome.node) if outcome.node in added else node_link(base, outcome.node)
    if outcome.kind == "bound":
        text = ngettext(
            "Then it is bound to {node}, the only node that fits.",
            "Then it is bound to {node}; {n} nodes fit.",
            outcome.feasible_count,
        )
        return format_html(text, node=node, n=outcome.feasible_count)
    text = ngettext(
        "Then it is nominated to {node}, and evicts {victims}.",
        "Then it is nominated to {node}, and evicts {n} pods: {victims}.",
        len(outcome.victims),
    )
    return format_html(text, node=node, n=len(outcome.victims), victims=pod_links(outcome.victims, base))


def _gang_sentence(outcome: AttemptOutcome, gang: GangOutcome, base: str) -> SafeString:
    if outcome.kind == "bound":
        text = gettext("Then {fit} of {size} pods fit, and are bound together.")
        if gang.placement:
            text = gettext("Then {fit} of {size} pods fit in {placement}, and are bound together.")
        return format_html(text, fit=gang.fits, size=gang.size, placement=gang.placement)
    text = ngettext(
        "Then the group evicts {victims}, and waits.",
        "Then the group evicts {n} pods, and waits: {victims}.",
        len(outcome.victims),
    )
    return format_html(text, n=len(outcome.victims), victims=pod_links(outcome.victims, base))


def pod_links(keys: Sequence[str], base: str) -> SafeString:
    separator = pgettext("between the parts of a list", ", ")
    links = format_html_join(separator, "{}", ((pod_link(base, key),) for key in keys[:VICTIMS_AT_MOST]))
    more = len(keys) - VICTIMS_AT_MOST
    if more <= 0:
        return links
    return format_html(gettext("{names} and {n} more"), names=links, n=fmt.number(more))


def missing_resources(lacks: Sequence[NodeObstacles]) -> list[Missing]:
    return [
        Missing(
            lack.node,
            [
                gettext("%(amount)s more %(resource)s") % {"amount": each.short_by, "resource": each.resource}
                if each.short_by
                else meaning_of(each.reason) or each.reason
                for each in lack.obstacles
            ],
        )
        for lack in lacks
    ]
