"""What keeps a pod pending, from its queue place, and the words for it."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from zlib import crc32

import msgspec
from django.utils.translation import gettext

from schedviz.web.picture.records import PodRecord
from schedviz.web.queue.lanes import LaneName
from schedviz.web.reasons import deciding
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.deciding import find_rejection
from schedviz.web.reasons.plugin_reasons import counted_text, find_reason
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.plugins.default_preemption import DefaultPreemption
from simulator.plugins.scheduling_gates import SchedulingGates
from simulator.trace import QueuePlace
from simulator.words import PodReasonKind

NAMES_AT_MOST: Final = 3
NOT_SELECTED: Final = "node(s) didn't match Pod's node affinity/selector"
"""NodeAffinity's reason."""

TURNS: Final[Mapping[LaneName, PodReasonKind]] = {
    "activeQ": "activeQ",
    "inFlight": "cycle",
    "arriving": "arriving",
}
"""The lanes in which nothing keeps a pod pending: it is tried, or will be without anybody's act."""


class PendingCause(NamedTuple):
    """What keeps pods pending. Pods with the same are one row."""

    kind: PodReasonKind
    what: str = ""
    """The reason, gates, plugins or scheduler; its meaning depends on the kind."""
    zones: tuple[str, ...] = ()
    """The zones in which the reason holds, as the pods ask for nodes there; empty = all."""

    @property
    def id(self) -> str:
        """The id of its row."""
        text = " ".join((self.kind, self.what, *self.zones))
        return f"c{crc32(text.encode()):08x}"

    @property
    def is_turn(self) -> bool:
        """Whether nothing keeps them pending but their turn."""
        return self.kind in TURNS.values()


def find_cause(entry: QueuePlace, lane: LaneName, record: PodRecord | None) -> PendingCause:
    """Return what keeps a pod pending, from its queue place."""
    if lane in TURNS:
        return PendingCause(TURNS[lane])
    if lane == "outside" and not entry.message and not entry.nominated_node:
        return PendingCause("outside", entry.scheduler or "")
    if lane == "waiting":
        return PendingCause("permit", fmt.listed(entry.plugins)) if entry.plugins else PendingCause("cycle")
    if lane == "gated":
        return _cause_of_gate(entry, record)
    zones = record.zones if record else ()
    rejection = rejection_of(entry.message, zones)
    # No plugin rejected a pod that fits and whose group does not: its message is known, and no error.
    if lane == "backoffQ" and not entry.plugins and rejection is None and find_reason(entry.message) is None:
        return PendingCause("error", entry.message)
    if entry.nominated_node:
        return PendingCause("victims", entry.nominated_node)
    if rejection is None:
        return PendingCause("unschedulable", entry.message)
    known = find_reason(rejection.whole)
    if known:
        return PendingCause("unschedulable", known[0].pattern.pattern)
    chosen = rejection.deciding != NOT_SELECTED
    return PendingCause("unschedulable", rejection.deciding, zones if chosen else ())


def rejection_of(message: str, zones: Sequence[str]) -> deciding.Rejection | None:
    """Return the reasons of a message. Where a pod asks for nodes of some zones, that the other nodes are not
    there decides last."""
    found = find_rejection(message)
    if found is None or not zones or found.deciding != NOT_SELECTED:
        return found
    first, *others = found.reasons
    return msgspec.structs.replace(found, reasons=(*others, first))


def _cause_of_gate(entry: QueuePlace, record: PodRecord | None) -> PendingCause:
    if entry.gate == SchedulingGates.name:
        return PendingCause("gated", fmt.listed(record.gates) if record else "")
    if entry.gate == DefaultPreemption.name:
        return PendingCause("victims", entry.nominated_node)
    return PendingCause("gated-by-plugin", entry.gate)


def deciding_words(cause: PendingCause, rejections: Sequence[deciding.Rejection]) -> str:
    """Return a cause in words. rejections: what the messages of its pods say; none if one says nothing."""
    if rejections and rejections[0].whole:
        return _whole_words([each.whole for each in rejections])
    if rejections:
        # The numbers of nodes differ where the cluster has changed between the attempts.
        counts = {each.reasons[0].nodes for each in rejections}
        text = counted_text(rejections[0].deciding, max(counts))
        if cause.zones:
            values = {"reason": text, "zones": fmt.listed(cause.zones)}
            text = gettext("%(reason)s in %(zones)s") % values
        return text if len(counts) == 1 else gettext("at most %(reason)s") % {"reason": text}
    match cause.kind:
        case "unschedulable":
            return reasons.short(cause.what) or gettext("The last attempt failed.")
        case "error":
            return gettext("The last attempt ended with an error.")
        case "victims":
            return gettext("nominated to %(node)s") % {"node": node_name(cause.what)}
        case "permit":
            return gettext("wait on Permit: %(plugins)s") % {"plugins": cause.what}
        case "gated" if cause.what:
            return gettext("scheduling gates: %(names)s") % {"names": cause.what}
        case "gated" | "gated-by-plugin":
            return gettext("gated by %(plugin)s") % {"plugin": cause.what or SchedulingGates.name}
        case "outside":
            return gettext("wait for the scheduler %(name)s") % {"name": cause.what}
        case "cycle":
            return gettext("being scheduled")
        case "arriving":
            return gettext("not queued yet")
        case _:
            return gettext("wait for their turn in activeQ")


def _whole_words(texts: Sequence[str]) -> str:
    """Return a reason that rejects all nodes together, of several pods: the objects that it names differ."""
    found = [each for each in map(find_reason, texts) if each is not None]
    if len({each[0] for each in found}) != 1 or len(found) < len(texts):
        return texts[0]
    reason, first = found[0]
    named = {name: [*dict.fromkeys(each[1][name] for each in found)] for name in first}
    values = {name: fmt.first_pods(each, NAMES_AT_MOST) for name, each in named.items()}
    return gettext(reason.meaning) % values
