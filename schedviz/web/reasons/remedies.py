"""What would let a pending pod run, by the reason that keeps it pending: the changes for which the queueing
hints of kube-scheduler's plugins try it again."""

import re
from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext, gettext_noop

from schedviz.web.reasons.meanings import Patterns, translate_match
from schedviz.web.text import format as fmt
from simulator.words import PodReasonKind

NODE_REMEDIES: Final[Patterns] = [
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (
            r"Insufficient (?P<what>.+)",
            gettext_noop(
                "A pod there that requests %(what)s ends, a node with enough is added, or less is requested."
            ),
        ),
        (r"Too many pods", gettext_noop("A pod there ends, or a node is added.")),
        (
            r"node\(s\) had untolerated taint (?P<what>.+)",
            gettext_noop(
                "The taint %(what)s is removed, the pod tolerates it, or a node without it is added."
            ),
        ),
        (r"node\(s\) were unschedulable", gettext_noop("A node is uncordoned, or one is added.")),
        (
            r"node\(s\) didn't match (?:Pod's|scheduler-enforced) node affinity.*|.+ terms conflict",
            gettext_noop("A node gets the labels that are asked for, or one with them is added."),
        ),
        (
            r"node\(s\) didn't match the requested node name",
            gettext_noop("The node that spec.nodeName names is added."),
        ),
        (
            r"node\(s\) didn't have free ports for the requested pod ports",
            gettext_noop("The pod that uses the host port ends, or a node is added."),
        ),
        (
            r"node\(s\) didn't match pod affinity rules",
            gettext_noop("A pod that matches the affinity term runs in the domain of such a node."),
        ),
        (
            r"node\(s\) didn't (?:match pod anti-affinity|satisfy existing pods anti-affinity) rules",
            gettext_noop("The pods from which it must be apart end, or a node in another domain is added."),
        ),
        (
            r"node\(s\) didn't match pod topology spread constraints.*",
            gettext_noop(
                "Matching pods end in the domains that have most, or one of the domains that have fewest "
                "gets room."
            ),
        ),
        (
            r"node\(s\) (?:exceed max volume count|had no available disk|unavailable .+ReadWriteOncePod.+)",
            gettext_noop("A pod that uses volumes there ends, or a node is added."),
        ),
        (
            r"node\(s\) .*(?:PersistentVolume's|persistent volumes|storage|volume zone|pvc\(s\)).*",
            gettext_noop("A volume that such a node can reach becomes available."),
        ),
        (
            r"pod has unbound immediate PersistentVolumeClaims",
            gettext_noop("Its claim is bound to a volume."),
        ),
        (
            r"cannot allocate all claims|resourceclaim not available on the node",
            gettext_noop(
                "Devices that its claims ask for become free, or a node with such devices is added."
            ),
        ),
        (
            r"(?:persistentvolume|storageclass).+|.+ResourceClaim.+|waiting for ephemeral.+|.+ not found",
            gettext_noop("The object that is named is created."),
        ),
    )
]
"""The deciding reason of the last attempt -> what would let the pod run. Each is tried in this order."""

REMEDIES: Final[dict[PodReasonKind, str]] = {
    "victims": gettext_noop("Its victims there are gone."),
    "permit": gettext_noop("The plugin approves it, before its time is over."),
    "gated": gettext_noop("The scheduling gates are removed."),
    "gated-by-plugin": gettext_noop("The plugin lets it into activeQ."),
    "outside": gettext_noop("This scheduler binds it: it is not the sandbox's own."),
    "error": gettext_noop("It is tried again after its backoff."),
    "activeQ": gettext_noop("It is tried after the pods before it."),
    "cycle": gettext_noop("Its scheduling cycle ends."),
    "arriving": gettext_noop("The scheduler's informer shows it."),
}


def remedy(kind: PodReasonKind, reason: str, plugins: Sequence[str]) -> str:
    """Return what would let a pod run. reason: the deciding one, if nodes were rejected. plugins: those that
    rejected the pod."""
    if kind != "unschedulable":
        return gettext(REMEDIES[kind])
    found = translate_match(NODE_REMEDIES, reason)
    if found or not plugins:
        return found or gettext("Any change of the cluster tries it again.")
    text = gettext("A change for which the queueing hints of %(plugins)s wait.")
    return text % {"plugins": fmt.listed(plugins)}
