"""All pending pods, grouped by what keeps them pending: the reason that decides, since when, and what would
let them run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Final, NamedTuple, Protocol

import msgspec
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from schedviz.web.picture.records import PodRecord
from schedviz.web.queue.lanes import ORDER, LaneName, arriving, title
from schedviz.web.queue.order import sort_key
from schedviz.web.queue.pending_cause import PendingCause, deciding_words, find_cause, rejection_of
from schedviz.web.reasons import deciding
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.deciding import Reason, find_rejection
from schedviz.web.reasons.plugin_reasons import counted_text
from schedviz.web.reasons.pod_reasons import time_left
from schedviz.web.reasons.remedies import remedy
from schedviz.web.text import format as fmt
from simulator.api import SECOND, Micros
from simulator.trace import QueuePlace

CAUSES_AT_MOST: Final = 40
"""Maximum number of rows: more than anybody reads. The number of the others and of their pods is shown."""
PODS_AT_MOST: Final = 25
"""Maximum number of pods that a row lists."""
PODS_OF_ONE_AT_MOST: Final = 500
"""Maximum number of pods that a row lists on the page of its own."""
DAY: Final = 24 * 3600 * SECOND
TICKS: Final = 7200 * SECOND
"""The age from which it is shown in hours and minutes, or days."""


class PendingPods(Protocol):
    """The pods that wait: those of a sandbox's :class:`schedviz.web.picture.picture.Picture`, or of a real
    cluster."""

    @property
    def queue_places(self) -> Mapping[str, QueuePlace]: ...

    @property
    def pods(self) -> Mapping[str, PodRecord]:
        """The pods by their keys, at least those with a queue place."""

    @property
    def unqueued(self) -> Mapping[str, PodRecord]:
        """Pods that may have no queue place yet."""

    @property
    def past(self) -> bool:
        """Whether the moment is past, so that ages do not go on."""


class PendingPod(msgspec.Struct, frozen=True):
    key: str
    label: str
    lane: str
    """The title of its lane."""
    since: Micros
    """When it was created; 0 = longer ago than TICKS, so that its age need not tick."""
    age: str
    attempts: int
    others: str
    """The other reasons of its last attempt, without those that all pods of the row share."""


class CauseView(msgspec.Struct, frozen=True):
    """A row. ``deciding``: what keeps its pods pending, in words."""

    id: str
    deciding: str
    verbatim: str
    """Kubernetes' text from which ``deciding`` was made, of the first pod; "" = there is none."""
    nodes: int
    """The number of nodes of which ``deciding`` and ``also`` say how many; 0 = not the same for all pods."""
    also: str
    """The other reasons that all of its pods share."""
    pods: str
    """How many pods of how many owners it has."""
    count: int
    since: Micros
    """When the oldest of its pods was created; 0 = longer ago than TICKS."""
    age: str
    lanes: str
    """How many of its pods are in which lane."""
    mixed: bool
    """Whether its pods are in several lanes."""
    remedy: str
    retry: SafeString
    """How long until the first of them is tried again at the latest; "" = it is not certain."""
    listed: list[PendingPod]
    """The first of its pods, in the order of the queue."""
    more: int


class PendingView(msgspec.Struct, frozen=True):
    count: int
    causes: list[CauseView]
    more_causes: int
    more_pods: int
    """The number of pods in the rows that are left out."""
    first: PendingPod | None
    """The pod that is tried next; None = activeQ is empty."""
    tries: int
    """The number of pods of which each can be tried: those in the queue that no plugin gates."""
    chosen: str
    """The id of the row that is shown alone; "" = all are shown."""
    outside: bool
    """Whether all of them wait for outside schedulers, so that activeQ says nothing."""
    retried: bool
    """Whether a group is tried again without pause."""


class _Member(NamedTuple):
    entry: QueuePlace
    lane: LaneName
    record: PodRecord | None


def present_pending(picture: PendingPods, now: Micros, chosen: str = "") -> PendingView:
    """Return all pending pods. chosen: the id of a row to show alone, with more of its pods; an unknown one
    shows an empty page."""
    groups: dict[PendingCause, list[_Member]] = {}
    for member in _members(picture):
        groups.setdefault(find_cause(member.entry, member.lane, member.record), []).append(member)
    ordered = sorted(groups.items(), key=lambda each: (each[0].is_turn, -len(each[1]), each[0]))
    found = [each for each in ordered if chosen in ("", each[0].id)]
    at_most = PODS_OF_ONE_AT_MOST if chosen else PODS_AT_MOST
    first = min(_next_ones(picture), key=sort_key, default=None)
    left_out = found[CAUSES_AT_MOST:]
    return PendingView(
        count=sum(map(len, groups.values())),
        causes=[
            _row(cause, members, now, at_most, ticks=not picture.past)
            for cause, members in found[:CAUSES_AT_MOST]
        ],
        more_causes=len(left_out),
        more_pods=sum(len(members) for _, members in left_out),
        first=_pod(_member(first, picture), now) if first else None,
        tries=sum(
            entry.lane in ("activeQ", "backoffQ", "unschedulable") for entry in picture.queue_places.values()
        ),
        chosen=chosen,
        outside=_all_outside(picture),
        retried=any(isinstance(entry.retried_since, int) for entry in picture.queue_places.values()),
    )


def _next_ones(picture: PendingPods) -> list[QueuePlace]:
    """Return the pods of which one is tried next: those in activeQ, or, where all pods wait for an outside
    scheduler, those that it has not failed to schedule."""
    entries = picture.queue_places.values()
    if _all_outside(picture):
        return [entry for entry in entries if entry.lane == "outside" and not entry.message]
    return [entry for entry in entries if entry.lane == "activeQ"]


def _all_outside(picture: PendingPods) -> bool:
    lanes = {entry.lane for entry in picture.queue_places.values()}
    return "outside" in lanes and lanes <= {"outside", "gated"}


def _members(picture: PendingPods) -> Iterable[_Member]:
    for entry in picture.queue_places.values():
        yield _member(entry, picture)
    for pod in arriving(picture.unqueued, picture.queue_places):
        entry = QueuePlace(pod.key, pod.uid, "activeQ", pod.priority, pod.created, pod.created, 0)
        yield _Member(entry, "arriving", pod)


def _member(entry: QueuePlace, picture: PendingPods) -> _Member:
    record = picture.pods.get(entry.pod)
    return _Member(entry, entry.lane, record if record and record.uid == entry.uid else None)


def _row(
    cause: PendingCause, members: Sequence[_Member], now: Micros, at_most: int, *, ticks: bool
) -> CauseView:
    first = nsmallest(at_most, members, key=lambda each: (ORDER.index(each.lane), sort_key(each.entry)))
    top = first[0].entry
    messages = dict.fromkeys([top.message, *(each.entry.message for each in members)])
    known = [rejection_of(message, cause.zones) for message in messages]
    rejections = [each for each in known if each is not None]
    if cause.kind != "unschedulable" or len(rejections) < len(known):
        rejections = []
    nodes = {each.nodes for each in rejections}
    shared = _shared(rejections) if rejections else frozenset()
    since = min(map(_created, members))
    lanes = Counter(each.lane for each in members)
    return CauseView(
        id=cause.id,
        deciding=deciding_words(cause, rejections),
        verbatim=top.message if cause.kind in ("unschedulable", "error") else "",
        nodes=nodes.pop() if len(nodes) == 1 else 0,
        also=fmt.listed(counted_text(each.text, each.nodes) for each in _ordered(shared)),
        pods=_pods_of_owners(members),
        count=len(members),
        since=_ticking(since, now),
        age=_age(now - since),
        lanes="" if cause.is_turn else _lanes_in_words(lanes),
        mixed=len(lanes) > 1,
        remedy=remedy(cause.kind, rejections[0].deciding if rejections else cause.what, top.plugins),
        retry=_retry(members, now, ticks=ticks) if cause.kind == "unschedulable" else SafeString(""),
        listed=[_pod(each, now, shared) for each in first],
        more=len(members) - len(first),
    )


def _retry(members: Sequence[_Member], now: Micros, *, ticks: bool) -> SafeString:
    """Return the time until the first of the pods is tried again; "" = it is not certain. ticks: whether it
    goes on in the browser."""
    times = [each.entry.retry_at for each in members if isinstance(each.entry.retry_at, int)]
    if not times:
        return SafeString("")
    until = min(times)
    left = time_left(until - now)
    return format_html('<span data-until="{}" data-exact>{}</span>' if ticks else "{1}", until, left)


def _shared(rejections: Sequence[deciding.Rejection]) -> frozenset[Reason]:
    """Return the reasons, but the deciding one, that all have with the same number of nodes."""
    first = frozenset(rejections[0].reasons[1:])
    return first.intersection(*(each.reasons[1:] for each in rejections[1:]))


def _ordered(found: Iterable[Reason]) -> list[Reason]:
    return sorted(found, key=lambda each: (-each.opens, -each.nodes, each.text))


def _created(member: _Member) -> Micros:
    return member.record.created if member.record else member.entry.since


def _pods_of_owners(members: Sequence[_Member]) -> str:
    """Return "14 pods of 3 owners"; of pods without a controller only their number."""
    count = ngettext("%(n)s pod", "%(n)s pods", len(members)) % {"n": fmt.number(len(members))}
    owners = {each.record.owner for each in members if each.record and each.record.owner}
    if not owners or len(members) == 1:
        return count
    text = ngettext("%(pods)s of %(n)s owner", "%(pods)s of %(n)s owners", len(owners))
    return text % {"pods": count, "n": len(owners)}


def _lanes_in_words(counts: Mapping[LaneName, int]) -> str:
    if len(counts) == 1:
        return title(next(iter(counts)))
    ordered = sorted(counts, key=ORDER.index)
    return fmt.listed(f"{fmt.number(counts[lane])} {title(lane)}" for lane in ordered)


def _pod(member: _Member, now: Micros, shared: frozenset[Reason] = frozenset()) -> PendingPod:
    entry, since = member.entry, _created(member)
    others = reasons.deciding_words(entry.message, shared)[1] if find_rejection(entry.message) else ""
    return PendingPod(
        key=entry.pod,
        label=fmt.pod_name(entry.pod),
        lane=title(member.lane),
        since=_ticking(since, now),
        age=_age(now - since),
        attempts=entry.attempts,
        others=others,
    )


def _ticking(since: Micros, now: Micros) -> Micros:
    return since if now - since < TICKS else 0


def _age(duration: Micros) -> str:
    """Return how long a pod has been pending: an imported one for months, perhaps."""
    days = duration // DAY
    return gettext("%(n)s d") % {"n": fmt.number(days)} if days > 1 else time_left(duration)
