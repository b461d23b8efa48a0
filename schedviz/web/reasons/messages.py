"""A short form of the scheduler's message for a pod that fits on no node.

The message is "0/6 nodes are available: 5 Insufficient cpu, 1 Too many pods. preemption: ..."
(FitError.Error in pkg/scheduler/framework/types.go). The short form has only the reasons.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from django.utils.translation import gettext, ngettext

from schedviz.web.reasons import deciding, meanings
from schedviz.web.reasons.deciding import INSUFFICIENT, Reason
from schedviz.web.text import format as fmt

TAINT: Final = "node(s) had untolerated taint "

KNOWN: Final[Mapping[str, Callable[[int], str]]] = {
    "Too many pods": lambda n: ngettext("%(n)s has too many pods", "%(n)s have too many pods", n),
    "node(s) were unschedulable": lambda n: ngettext("%(n)s is cordoned", "%(n)s are cordoned", n),
    "node(s) didn't match Pod's node affinity/selector": lambda n: ngettext(
        "%(n)s does not match its affinity or selector", "%(n)s do not match its affinity or selector", n
    ),
    "node(s) didn't have free ports for the requested pod ports": lambda n: ngettext(
        "%(n)s has no free host port for it", "%(n)s have no free host port for it", n
    ),
    "node(s) didn't match pod anti-affinity rules": lambda n: ngettext(
        "%(n)s does not match its pod anti-affinity", "%(n)s do not match its pod anti-affinity", n
    ),
    "node(s) didn't match pod affinity rules": lambda n: ngettext(
        "%(n)s does not match its pod affinity", "%(n)s do not match its pod affinity", n
    ),
    "node(s) didn't satisfy existing pods anti-affinity rules": lambda n: ngettext(
        "%(n)s is in the domain of pods whose anti-affinity excludes it",
        "%(n)s are in the domain of pods whose anti-affinity excludes it",
        n,
    ),
    "node(s) didn't match pod topology spread constraints": lambda n: ngettext(
        "%(n)s does not match its topology spread constraints",
        "%(n)s do not match its topology spread constraints",
        n,
    ),
    "node(s) didn't match pod topology spread constraints (missing required label)": lambda n: ngettext(
        "%(n)s lacks the label of its topology spread constraint",
        "%(n)s lack the label of its topology spread constraint",
        n,
    ),
    "node(s) didn't match the requested node name": lambda n: ngettext(
        "%(n)s is not the node in its spec.nodeName", "%(n)s are not the node in its spec.nodeName", n
    ),
    "node(s) didn't match scheduler-enforced node affinity": lambda n: ngettext(
        "%(n)s does not match the profile's affinity", "%(n)s do not match the profile's affinity", n
    ),
    "node(s) had no available disk": lambda n: ngettext(
        "%(n)s has its disk in use by another pod", "%(n)s have its disk in use by another pod", n
    ),
    "node(s) didn't match PersistentVolume's node affinity": lambda n: ngettext(
        "%(n)s cannot reach its volume", "%(n)s cannot reach its volume", n
    ),
    "node(s) didn't find available persistent volumes to bind": lambda n: ngettext(
        "%(n)s has no available volume for its claim", "%(n)s have no available volume for its claim", n
    ),
    "node(s) did not have enough free storage": lambda n: ngettext(
        "%(n)s has too little storage", "%(n)s have too little storage", n
    ),
    "node(s) had no available volume zone": lambda n: ngettext(
        "%(n)s is in another zone or region than its volume",
        "%(n)s are in another zone or region than its volume",
        n,
    ),
    "node(s) exceed max volume count": lambda n: ngettext(
        "%(n)s can attach no more volumes", "%(n)s can attach no more volumes", n
    ),
    "cannot allocate all claims": lambda n: ngettext(
        "%(n)s lacks free devices for its claims", "%(n)s lack free devices for its claims", n
    ),
    "resourceclaim not available on the node": lambda n: ngettext(
        "%(n)s cannot use its claim's devices", "%(n)s cannot use its claim's devices", n
    ),
}
"""Reason, a constant of upstream's plugins -> short text. Other reasons are those of PreFilter plugins, which
reject all nodes together."""


def short(message: str) -> str:
    """Return the message in a short form, the deciding reason first: "6 have too little cpu, 1 is tainted
    {gpu: yes}". Another message is returned unchanged, or its explanation."""
    rejection = deciding.find_rejection(message)
    if rejection is None:
        return meanings.reason_meaning(message) or message
    if rejection.whole:
        return meanings.reason_meaning(rejection.whole) or message
    return fmt.listed(in_words(each.text, each.nodes) for each in rejection.reasons)


def deciding_words(message: str, shared: Collection[Reason] = ()) -> tuple[str, str]:
    """Return the deciding reason of a message in words, and the others but ``shared``. A message of another
    form has no deciding reason: the second part is the message, or its explanation."""
    rejection = deciding.find_rejection(message)
    if rejection is None or not rejection.reasons:
        found = short(message)
        return ("", found) if rejection is None else (found, "")
    first, *others = rejection.reasons
    listed = fmt.listed(in_words(each.text, each.nodes) for each in others if each not in shared)
    return in_words(first.text, first.nodes), listed


def shared_words(shared: Collection[Reason]) -> str:
    """Return the reasons that all pods of a lane share in one sentence; "" if there are none."""
    if not shared:
        return ""
    ordered = sorted(shared, key=lambda each: (-each.opens, -each.nodes, each.text))
    counted = fmt.listed(in_words(each.text, each.nodes) for each in ordered)
    return gettext("For each of these also: %(reasons)s.") % {"reasons": counted}


def in_words(reason: str, count: int) -> str:
    """Return one reason and the number of nodes that gave it."""
    if reason.startswith(INSUFFICIENT):
        text = ngettext("%(n)s has too little %(what)s", "%(n)s have too little %(what)s", count)
        return text % {"n": count, "what": reason.removeprefix(INSUFFICIENT)}
    if reason.startswith(TAINT):
        text = ngettext("%(n)s is tainted %(what)s", "%(n)s are tainted %(what)s", count)
        return text % {"n": count, "what": reason.removeprefix(TAINT)}
    if reason in KNOWN:
        return KNOWN[reason](count) % {"n": count}
    return f"{count} {reason}"


def fits_no_node(pod: str, message: str) -> str:
    """Return the sentence "web fits no node: 6 have too little cpu." """
    if deciding.find_rejection(message) is None:
        return gettext("%(pod)s fits no node.") % {"pod": pod}
    return gettext("%(pod)s fits no node: %(reasons)s.") % {
        "pod": pod,
        "reasons": short_without_stop(message),
    }


def unplaced(message: str) -> str:
    """Return the short form beside the message: "It is unschedulable: 6 have too little cpu."; "" if it is
    unknown."""
    if deciding.find_rejection(message) is None:
        return meanings.reason_meaning(message)
    return gettext("It is unschedulable: %(reasons)s.") % {"reasons": short_without_stop(message)}


def short_without_stop(message: str) -> str:
    """Return the short form without a full stop, for the middle of a sentence."""
    return short(message).rstrip(".。")
