"""A short form of the scheduler's message for a pod that fits on no node.

The message is "0/6 nodes are available: 5 Insufficient cpu, 1 Too many pods. preemption: ..."
(FitError.Error in pkg/scheduler/framework/types.go). The short form has only the reasons.
"""

from collections.abc import Collection

from django.utils.translation import gettext

from schedviz.web.reasons import deciding
from schedviz.web.reasons.deciding import Reason
from schedviz.web.reasons.plugin_reasons import counted_text, meaning_of
from schedviz.web.text import format as fmt


def short(message: str) -> str:
    """Return the message in a short form, the deciding reason first: "6 have too little cpu, 1 is tainted
    {gpu: yes}". Another message is returned unchanged, or its explanation."""
    rejection = deciding.find_rejection(message)
    if rejection is None:
        return meaning_of(message) or message
    if rejection.whole:
        return meaning_of(rejection.whole) or message
    return fmt.listed(counted_text(each.text, each.nodes) for each in rejection.reasons)


def deciding_words(message: str, shared: Collection[Reason] = ()) -> tuple[str, str]:
    """Return the deciding reason of a message in words, and the others but ``shared``. A message of another
    form has no deciding reason: the second part is the message, or its explanation."""
    rejection = deciding.find_rejection(message)
    if rejection is None or not rejection.reasons:
        found = short(message)
        return ("", found) if rejection is None else (found, "")
    first, *others = rejection.reasons
    listed = fmt.listed(counted_text(each.text, each.nodes) for each in others if each not in shared)
    return counted_text(first.text, first.nodes), listed


def shared_words(shared: Collection[Reason]) -> str:
    """Return the reasons that all pods of a lane share in one sentence; "" if there are none."""
    if not shared:
        return ""
    ordered = sorted(shared, key=lambda each: (-each.opens, -each.nodes, each.text))
    counted = fmt.listed(counted_text(each.text, each.nodes) for each in ordered)
    return gettext("For each of these also: %(reasons)s.") % {"reasons": counted}


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
        return meaning_of(message)
    return gettext("It is unschedulable: %(reasons)s.") % {"reasons": short_without_stop(message)}


def short_without_stop(message: str) -> str:
    """Return the short form without a full stop, for the middle of a sentence."""
    return short(message).rstrip(".。")
