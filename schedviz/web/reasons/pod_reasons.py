"""The reason for which a pod is where it is, and what nodes lack: the simulator's sentences in the active
language."""

from collections.abc import Sequence
from typing import Final

from django.utils.html import conditional_escape, escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedviz.store.past import Past, Readable
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator import trace, words
from simulator.api import SECOND, Manifest, Micros
from simulator.decision import Decision, Shortage
from simulator.plugins.node_resources.fit import lacking_resource
from simulator.pod_reason import PodReason, find_pod_reason
from simulator.trace import QueuePlace

OBVIOUS: Final = ("running", "finished", "deleted", "terminating", "activeQ")
"""Reasons that the panel of a pod shows already: by its node, its phase, the time that is left or its
lane."""


def pod_reason_sentence(
    sandbox: Readable, manifest: Manifest, entry: QueuePlace | None, about: Sequence[trace.Event]
) -> SafeString:
    """Return why a pod is where it is; "" if its panel shows it already. about: its trace events, the oldest
    first."""
    now = sandbox.now()
    reason = find_pod_reason(manifest, entry, about, sandbox.get, now)
    if reason.kind in OBVIOUS:
        return SafeString("")
    return reason_sentence(reason, now, ticks=not isinstance(sandbox, Past))


def reason_sentence(reason: PodReason, now: Micros, *, ticks: bool) -> SafeString:
    """Return the sentence. ticks: whether the time that is left goes on in the browser."""
    left = time_left(reason.until - now)
    time = format_html('<span data-until="{}" data-exact>{}</span>', reason.until, left) if ticks else left
    values = reason.values(
        node=node_name(reason.node), names=fmt.listed(map(fmt.pod_name, reason.names)), time=time
    )
    # The sentence is one of the table's, and all values are escaped.
    text = escape(gettext(words.POD_REASONS[reason.kind]))
    return SafeString(text % {name: conditional_escape(value) for name, value in values.items()})


def time_left(duration: Micros) -> str:
    """Return a duration in its two largest units, rounded up to seconds."""
    seconds = -(-max(duration, 0) // SECOND)
    minutes, seconds = divmod(seconds, 60)
    if minutes >= 60:
        hours, minutes = divmod(minutes, 60)
        return gettext("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes}
    if minutes:
        return gettext("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": seconds}
    return gettext("%(n)s s") % {"n": seconds}


def shortage_sentence(shortages: Sequence[Shortage], *, several: bool = False) -> str:
    """Return what a node lacks; "" if nothing is recorded. several: it is the one of several that lacks
    least."""
    text = gettext(words.LARGEST_SHORTAGE if several else words.SHORTAGE)
    found = [(each.resource, text % words.shortage_values(each)) for each in shortages]
    if len(found) == 1:
        return found[0][1]
    return "; ".join(f"{resource}: {amounts}" for resource, amounts in found)


def nearest_node(decision: Decision) -> str:
    """Return a sentence about the node that lacks least of the resources that the pod requests; "" if no
    node was rejected for its resources."""
    nodes = {node for each in decision.shortages for node in each.nodes}
    if not nodes:
        return ""
    found = {node: decision.shortages_of(node) for node in sorted(nodes)}
    nearest = min(found, key=lambda node: max((each.needs - each.free) / each.needs for each in found[node]))
    text = gettext("At the last attempt %(node)s lacked least (%(amounts)s).")
    amounts = "; ".join(
        f"{each.resource}: {gettext(words.SHORTAGE) % words.shortage_values(each)}" for each in found[nearest]
    )
    return text % {"node": node_name(decision.nodes[nearest]), "amounts": amounts}


def lack_on_every_node(decision: Decision) -> str:
    """Return the amounts that the pod lacks at least on each node that was looked at, where all were rejected
    for the same resources: "2 nvidia.com/gpu"; "" if there are none."""
    lacking = [{lacking_resource(reason) for reason in each.reasons} for each in decision.failures]
    codes = {int(code) for code in decision.verdicts if code >= 0}
    return fmt.listed(
        f"{fmt.amount(each.resource, min(each.needs - free for free in each.free))} {each.resource}"
        for each in decision.shortages
        if codes and all(code and each.resource in lacking[code - 1] for code in codes)
    )
