"""What would let a pending pod run, by the reason that keeps it pending: the changes for which the queueing
hints of kube-scheduler's plugins try it again."""

from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext, gettext_noop

from schedviz.web.reasons.plugin_reasons import remedy_of
from schedviz.web.text import format as fmt
from simulator.words import PodReasonKind

REMEDIES: Final[dict[PodReasonKind, str]] = {
    "victims": gettext_noop("It is tried again after its victims there have ended."),
    "permit": gettext_noop("The plugin approves it, before its time is over."),
    "gated": gettext_noop("The scheduling gates are removed."),
    "gated-by-plugin": gettext_noop("The plugin lets it into activeQ."),
    "outside": gettext_noop("That scheduler binds it."),
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
    found = remedy_of(reason)
    if found or not plugins:
        return found or gettext("Any change of the cluster tries it again.")
    text = gettext("A change for which the queueing hints of %(plugins)s wait.")
    return text % {"plugins": fmt.listed(plugins)}
