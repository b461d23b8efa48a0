"""The one table of the reasons of the scheduler's plugins, and what the page says of each.

The reasons are constants of upstream's plugins (pkg/scheduler/framework/plugins). The page shows them in
English, as a cluster has them, with these texts in the language of the reader.
"""

import re
from typing import Final, NamedTuple

from django.utils.translation import gettext, gettext_noop, ngettext

from simulator.words import plural_noop


class PluginReason(NamedTuple):
    """A reason, and its texts; ``""`` and None = there is none. Named groups of the pattern, which matches
    the whole reason, are values in the texts."""

    pattern: re.Pattern[str]
    meaning: str
    counted: tuple[str, str] | None
    """What the nodes do that gave it, in singular and plural. Other reasons are mostly those of PreFilter
    plugins, which reject all nodes together."""
    on_card: str
    """The short form on the card of a node. In English it is the reason without its first words."""
    remedy: str
    """What would let the pod run: the changes for which the queueing hints of the plugin try it again."""


def _reason(
    pattern: str,
    meaning: str,
    counted: tuple[str, str] | None = None,
    on_card: str = "",
    remedy: str = "",
) -> PluginReason:
    return PluginReason(re.compile(pattern), meaning, counted, on_card, remedy)


_LABELS: Final = gettext_noop("A node gets the labels that are asked for, or one with them is added.")
_APART: Final = gettext_noop(
    "The pods from which it must be apart end, or a node in another domain is added."
)
_SPREAD: Final = gettext_noop(
    "Matching pods end in the domains that have most, or one of the domains that have fewest gets room."
)
_FEWER_VOLUMES: Final = gettext_noop("A pod that uses volumes there ends, or a node is added.")
_VOLUME: Final = gettext_noop("A volume that such a node can reach becomes available.")
_OBJECT: Final = gettext_noop("The object that is named is created.")
_DEVICES: Final = gettext_noop(
    "Devices that its claims ask for become free, or a node with such devices is added."
)
_OF_GROUP: Final = gettext_noop("Pods of the group are created, or room for them becomes free.")

REASONS: Final = (
    _reason(
        r"Insufficient (?P<what>.+)",
        gettext_noop("Less %(what)s is free (allocatable less all requests) than the pod requests."),
        counted=plural_noop("%(n)s has too little %(what)s", "%(n)s have too little %(what)s"),
        on_card=gettext_noop("Insufficient %(what)s"),
        remedy=gettext_noop(
            "A pod there that requests %(what)s ends, a node with enough is added, or less is requested."
        ),
    ),
    _reason(
        r"Too many pods",
        gettext_noop("The node already has its maximum number of pods."),
        counted=plural_noop("%(n)s has too many pods", "%(n)s have too many pods"),
        on_card=gettext_noop("Too many pods"),
        remedy=gettext_noop("A pod there ends, or a node is added."),
    ),
    _reason(
        r"node\(s\) had untolerated taint\(s\)",
        gettext_noop("The pod has no toleration for a taint of the node."),
    ),
    _reason(
        r"node\(s\) didn't match Pod's required features",
        gettext_noop("The node's status.declaredFeatures lacks a feature that the pod needs."),
    ),
    _reason(
        r"(?P<what>\S+) CSI driver is not installed on the node",
        gettext_noop("The node's CSINode lacks the driver %(what)s of one of the pod's volumes."),
    ),
    _reason(
        r"node\(s\) had untolerated taint (?P<what>.+)",
        gettext_noop("The pod has no toleration for the taint %(what)s."),
        counted=plural_noop("%(n)s is tainted %(what)s", "%(n)s are tainted %(what)s"),
        on_card=gettext_noop("untolerated taint %(what)s"),
        remedy=gettext_noop(
            "The taint %(what)s is removed, the pod tolerates it, or a node without it is added."
        ),
    ),
    _reason(
        r"node\(s\) were unschedulable",
        gettext_noop("The node is cordoned: with spec.unschedulable, no new pods are scheduled to it."),
        counted=plural_noop("%(n)s is cordoned", "%(n)s are cordoned"),
        on_card=gettext_noop("unschedulable"),
        remedy=gettext_noop("A node is uncordoned, or one is added."),
    ),
    _reason(
        r"node\(s\) didn't match the requested node name",
        gettext_noop("The pod's spec.nodeName is that of another node."),
        counted=plural_noop(
            "%(n)s is not the node in its spec.nodeName", "%(n)s are not the node in its spec.nodeName"
        ),
        on_card=gettext_noop("didn't match the requested node name"),
        remedy=gettext_noop("The node that spec.nodeName names is added."),
    ),
    _reason(
        r"node\(s\) didn't match Pod's node affinity/selector",
        gettext_noop("The node's labels do not match the pod's nodeSelector or required node affinity."),
        counted=plural_noop(
            "%(n)s does not match its affinity or selector", "%(n)s do not match its affinity or selector"
        ),
        on_card=gettext_noop("didn't match Pod's node affinity/selector"),
        remedy=_LABELS,
    ),
    _reason(
        r"node\(s\) didn't match scheduler-enforced node affinity",
        gettext_noop("The node's labels do not match the affinity that the profile adds to every pod."),
        counted=plural_noop(
            "%(n)s does not match the profile's affinity", "%(n)s do not match the profile's affinity"
        ),
        on_card=gettext_noop("didn't match scheduler-enforced node affinity"),
        remedy=_LABELS,
    ),
    _reason(
        r"pod affinity terms conflict",
        gettext_noop("The terms of the pod's node affinity contradict each other: no node can match them."),
        remedy=_LABELS,
    ),
    _reason(
        r"node\(s\) didn't have free ports for the requested pod ports",
        gettext_noop("A hostPort that the pod requests is in use by a pod on the node."),
        counted=plural_noop("%(n)s has no free host port for it", "%(n)s have no free host port for it"),
        on_card=gettext_noop("didn't have free ports for the requested pod ports"),
        remedy=gettext_noop("The pod that uses the host port ends, or a node is added."),
    ),
    _reason(
        r"node\(s\) didn't match pod affinity rules",
        gettext_noop(
            "For a required affinity term, no pod in the node's domain matches, or the node lacks the "
            "topologyKey."
        ),
        counted=plural_noop("%(n)s does not match its pod affinity", "%(n)s do not match its pod affinity"),
        on_card=gettext_noop("didn't match pod affinity rules"),
        remedy=gettext_noop("A pod that matches the affinity term runs in the domain of such a node."),
    ),
    _reason(
        r"node\(s\) didn't match pod anti-affinity rules",
        gettext_noop("A pod that this one must be apart from runs in the node's domain."),
        counted=plural_noop(
            "%(n)s does not match its pod anti-affinity", "%(n)s do not match its pod anti-affinity"
        ),
        on_card=gettext_noop("didn't match pod anti-affinity rules"),
        remedy=_APART,
    ),
    _reason(
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        gettext_noop("A pod in the node's domain must be apart from this one."),
        counted=plural_noop(
            "%(n)s is in the domain of pods whose anti-affinity excludes it",
            "%(n)s are in the domain of pods whose anti-affinity excludes it",
        ),
        on_card=gettext_noop("didn't satisfy existing pods anti-affinity rules"),
        remedy=_APART,
    ),
    _reason(
        r"node\(s\) didn't match pod topology spread constraints",
        gettext_noop("With this pod, the node's domain would exceed the maxSkew of a constraint."),
        counted=plural_noop(
            "%(n)s does not match its topology spread constraints",
            "%(n)s do not match its topology spread constraints",
        ),
        on_card=gettext_noop("didn't match pod topology spread constraints"),
        remedy=_SPREAD,
    ),
    _reason(
        r"node\(s\) didn't match pod topology spread constraints \(missing required label\)",
        gettext_noop("The node lacks the label that is the topologyKey of a topology spread constraint."),
        counted=plural_noop(
            "%(n)s lacks the label of its topology spread constraint",
            "%(n)s lack the label of its topology spread constraint",
        ),
        on_card=gettext_noop("didn't match pod topology spread constraints (missing required label)"),
        remedy=_SPREAD,
    ),
    _reason(
        r"node\(s\) had no available disk",
        gettext_noop("The pod's disk is in use by another pod on the node."),
        counted=plural_noop(
            "%(n)s has its disk in use by another pod", "%(n)s have its disk in use by another pod"
        ),
        on_card=gettext_noop("no available disk"),
        remedy=_FEWER_VOLUMES,
    ),
    _reason(
        r"node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode .+",
        gettext_noop("Another pod uses the claim, which only one pod may (ReadWriteOncePod)."),
        remedy=_FEWER_VOLUMES,
    ),
    _reason(
        r"node\(s\) didn't match PersistentVolume's node affinity",
        gettext_noop("The pod's volume cannot be reached from the node."),
        counted=plural_noop("%(n)s cannot reach its volume", "%(n)s cannot reach its volume"),
        on_card=gettext_noop("didn't match PersistentVolume's node affinity"),
        remedy=_VOLUME,
    ),
    _reason(
        r"node\(s\) didn't find available persistent volumes to bind",
        gettext_noop("No available volume that the node can reach matches the pod's claim."),
        counted=plural_noop(
            "%(n)s has no available volume for its claim", "%(n)s have no available volume for its claim"
        ),
        on_card=gettext_noop("didn't find available persistent volumes to bind"),
        remedy=_VOLUME,
    ),
    _reason(
        r"node\(s\) did not have enough free storage",
        gettext_noop("The storage that the node can reach has too little free capacity for the pod's claim."),
        counted=plural_noop("%(n)s has too little storage", "%(n)s have too little storage"),
        on_card=gettext_noop("did not have enough free storage"),
        remedy=_VOLUME,
    ),
    _reason(
        r"node\(s\) unavailable due to one or more pvc\(s\) bound to non-existent pv\(s\)",
        gettext_noop("The pod's claim is bound to a volume that does not exist."),
        remedy=_VOLUME,
    ),
    _reason(
        r"node\(s\) had no available volume zone",
        gettext_noop("The pod's volume is in another zone or region than the node."),
        counted=plural_noop(
            "%(n)s is in another zone or region than its volume",
            "%(n)s are in another zone or region than its volume",
        ),
        on_card=gettext_noop("no available volume zone"),
        remedy=_VOLUME,
    ),
    _reason(
        r"node\(s\) exceed max volume count",
        gettext_noop("The node would have more volumes attached than it allows."),
        counted=plural_noop("%(n)s can attach no more volumes", "%(n)s can attach no more volumes"),
        on_card=gettext_noop("exceed max volume count"),
        remedy=_FEWER_VOLUMES,
    ),
    _reason(
        r"pod has unbound immediate PersistentVolumeClaims",
        gettext_noop("The pod's claim must be bound to a volume before any node is evaluated."),
        remedy=gettext_noop("Its claim is bound to a volume."),
    ),
    _reason(
        r"waiting for scheduling gates: (?P<what>.+)",
        gettext_noop("The scheduling gates %(what)s must be removed first."),
    ),
    _reason(
        r'persistentvolumeclaim "(?P<what>.+)" not found',
        gettext_noop("The PersistentVolumeClaim %(what)s, which the pod names, does not exist."),
        remedy=_OBJECT,
    ),
    _reason(
        r'persistentvolume "(?P<what>.+)" not found',
        gettext_noop("The PersistentVolume %(what)s, to which the pod's claim is bound, does not exist."),
        remedy=_OBJECT,
    ),
    _reason(
        r'storageclass\.storage\.k8s\.io "(?P<what>.+)" not found',
        gettext_noop("The StorageClass %(what)s, which the pod's claim names, does not exist."),
        remedy=_OBJECT,
    ),
    _reason(
        r'could not find ResourceClaim "(?P<what>.+)"',
        gettext_noop("The ResourceClaim %(what)s, which the pod names, does not exist."),
        remedy=_OBJECT,
    ),
    _reason(
        r'pod ".+": ResourceClaim not created yet',
        gettext_noop("The pod's ResourceClaim is not created from its template yet."),
        remedy=_OBJECT,
    ),
    _reason(
        r"cannot allocate all claims",
        gettext_noop("The free devices of the node cannot serve all of the pod's resource claims."),
        counted=plural_noop(
            "%(n)s lacks free devices for its claims", "%(n)s lack free devices for its claims"
        ),
        on_card=gettext_noop("cannot allocate all claims"),
        remedy=_DEVICES,
    ),
    _reason(
        r"resourceclaim not available on the node",
        gettext_noop("A resource claim of the pod is allocated to devices that the node cannot use."),
        counted=plural_noop("%(n)s cannot use its claim's devices", "%(n)s cannot use its claim's devices"),
        on_card=gettext_noop("resourceclaim not available on the node"),
        remedy=_DEVICES,
    ),
    _reason(
        r"invalid resource pools were encountered",
        gettext_noop("A pool whose devices the node can use is published incompletely or with faults."),
        remedy=gettext_noop("The pool is published anew, complete and without faults."),
    ),
    _reason(
        r"cannot fit resource",
        gettext_noop("The node has none of an extended resource that the pod requests."),
        remedy=gettext_noop("A node with this resource is added."),
    ),
    _reason(
        r"cannot schedule extended resource claim",
        gettext_noop("A claim for extended resources is left from an earlier attempt; it is deleted first."),
    ),
    _reason(
        r"timed out trying to allocate devices",
        gettext_noop("The search for devices on the node took too many steps."),
    ),
    _reason(
        r'waiting for ephemeral volume controller to create the persistentvolumeclaim "(?P<what>.+)"',
        gettext_noop("The PersistentVolumeClaim %(what)s of its ephemeral volume is not created yet."),
        remedy=_OBJECT,
    ),
    _reason(
        r'persistentvolumeclaim "(?P<what>[^"]+)" bound to non-existent persistentvolume "(?P<volume>[^"]*)"',
        gettext_noop(
            "The PersistentVolumeClaim %(what)s is bound to the PersistentVolume %(volume)s, which does not "
            "exist."
        ),
        remedy=_OBJECT,
    ),
    _reason(
        r'persistentvolumeclaim "(?P<what>.+)" is being deleted',
        gettext_noop("The PersistentVolumeClaim %(what)s is being deleted."),
        remedy=_OBJECT,
    ),
    _reason(
        r".+ not found",
        gettext_noop("An object that the pod names does not exist."),
        remedy=_OBJECT,
    ),
    _reason(
        r"No preemption victims found for incoming pod",
        gettext_noop("No pod there has a lower priority: none can be evicted."),
    ),
    _reason(
        r"Preemption is not helpful for scheduling",
        gettext_noop("Evicting pods from the node would not make the pod fit."),
    ),
    _reason(
        r"not eligible due to preemptionPolicy=Never\.",
        gettext_noop("The pod's preemptionPolicy does not allow it to preempt."),
    ),
    _reason(
        r"not eligible due to a terminating pod on the nominated node\.",
        gettext_noop(
            "On its nominated node, a pod of lower priority that was preempted is still terminating."
        ),
    ),
    _reason(
        r"rejected due to timeout after waiting (?P<what>\S+) at plugin .+",
        gettext_noop("It waited on Permit for %(what)s and was not approved."),
    ),
    _reason(
        r"No preemption victims found for incoming preemptor",
        gettext_noop("No pod has a lower priority than the group: none can be evicted."),
    ),
    _reason(
        r"waiting for pods's pod group \"(?P<what>.+)\" to appear in scheduling queue",
        gettext_noop("The PodGroup %(what)s, which the pod names, does not exist."),
        remedy=_OBJECT,
    ),
    _reason(
        r"waiting for minCount pods from a gang to appear in scheduling queue",
        gettext_noop("There are fewer pods of its group than minCount."),
        remedy=_OF_GROUP,
    ),
    _reason(
        r"pod group is unschedulable, waiting for minCount pods from a gang .+",
        gettext_noop("It fits, but fewer pods of its group than minCount do."),
        remedy=_OF_GROUP,
    ),
    _reason(
        r"pod group is unschedulable, pod group is waiting for preemption to complete",
        gettext_noop("It fits; its group waits until the pods that it evicts are gone."),
    ),
    _reason(
        r"(0/1 placements are available, first placement status: )?pod group is unschedulable(, .*)?",
        gettext_noop("Its group cannot be scheduled."),
        remedy=_OF_GROUP,
    ),
    _reason(
        r"\d+/(?P<n>\d+) placements are available, first placement status: .+",
        gettext_noop("Its group fits in none of the %(n)s placements."),
        remedy=_OF_GROUP,
    ),
    _reason(
        r"workload aware preemption is not supported for pod groups with scheduling constraints",
        gettext_noop("v1.36 does not evict pods for a group with a topology constraint."),
    ),
)
"""A text has the meaning of the first of these that matches it."""


def find_reason(text: str) -> tuple[PluginReason, dict[str, str]] | None:
    """Return the known reason that a text is, and the values in it; None for another text."""
    for reason in REASONS:
        found = reason.pattern.fullmatch(text)
        if found is not None:
            return reason, found.groupdict()
    return None


def meaning_of(text: str) -> str:
    """Return the explanation of a reason for one node or for all nodes; "" if it is not known."""
    found = find_reason(text)
    return gettext(found[0].meaning) % found[1] if found else ""


def remedy_of(text: str) -> str:
    """Return what would let a pod with this deciding reason run; "" if it is not known."""
    found = find_reason(text)
    return gettext(found[0].remedy) % found[1] if found and found[0].remedy else ""


def counted_text(text: str, nodes: int) -> str:
    """Return a reason and the number of nodes that gave it: "2 have too little cpu"."""
    found = find_reason(text)
    if found is None or found[0].counted is None:
        return f"{nodes} {text}"
    return ngettext(*found[0].counted, nodes) % {**found[1], "n": nodes}


def short_reason(text: str) -> str:
    """Return the reason without its first words, such as "node(s) had"."""
    return text.removeprefix("node(s) ").removeprefix("had ").removeprefix("were ")


def card_text(text: str) -> str:
    """Return the short reason in the language of the page; one that is not known, as it is."""
    found = find_reason(text)
    return gettext(found[0].on_card) % found[1] if found and found[0].on_card else short_reason(text)
