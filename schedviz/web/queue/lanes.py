"""The scheduling queue: a chip for each pod, in a lane for each part of the queue."""

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext, ngettext
from msgspec.structs import replace

from schedviz.web.picture.outside_latency import Latency, latencies
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.picture.records import GroupRecord, PodRecord
from schedviz.web.queue.order import Tie, sort_key, ties
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.deciding import Reason, find_shared
from schedviz.web.text import format as fmt
from schedviz.web.text.links import recorded_comparison
from simulator.api import Micros
from simulator.plugins.scheduling_gates import SchedulingGates
from simulator.trace import Lane, QueuePlace

CHIPS_AT_MOST: Final = 30
"""Maximum number of chips of one lane. The number of other pods is shown."""

MEMBERS_AT_MOST: Final = 16
"""Maximum number of chips of one group in one lane."""
GROUPED_AT_MOST: Final = 60
"""Number of chips after which no further group is shown in a lane."""

LaneName = Lane | Literal["arriving"]
ORDER: Final[tuple[LaneName, ...]] = (
    "inFlight", "waiting", "activeQ", "backoffQ", "unschedulable", "gated", "outside", "arriving",
)  # fmt: skip
NONE: Final[frozenset[Reason]] = frozenset()
NO_GROUPS: Final[Mapping[str, "GroupChip"]] = {}
ALWAYS: Final = ("activeQ", "backoffQ", "unschedulable")


class Chip(msgspec.Struct, frozen=True):
    """A pod in a lane. ``note``: why it is there, as plain text: the deciding reason, which is never cut.
    ``others``: the other reasons, without those that all pods of the lane share."""

    key: str
    uid: str
    label: str
    priority: str
    rank: int
    attempts: int
    since: Micros
    until: Micros
    """The end of its backoff or of its wait on Permit; 0 in other lanes."""
    permit: bool
    """Whether the pod waits on Permit. The viewer may approve or reject it."""
    note: str
    others: str
    verbatim: str
    """The message of the scheduler, from which ``note`` and ``others`` were made."""
    waits: list[str]
    """The plugins that it waits for."""
    nominated: str
    scheduler: str = ""
    """The outside scheduler that it waits for; "" = it is this sandbox's."""
    tied: bool = False
    """Whether a rule below the priority orders it: it stands under the heading of a tie."""


class GroupChip(msgspec.Struct, frozen=True):
    """The members of a PodGroup that are in a lane, together."""

    group: str
    label: str
    here: int
    """Number of its members in the lane."""
    needs: str
    """How many of minCount there are; "" for the policy basic."""
    elsewhere: str
    """Where its other members are, and how many are missing; "" if there are none."""
    chips: list[Chip]
    more: int


class LaneView(msgspec.Struct, frozen=True):
    name: LaneName
    title: str
    hint: str
    chips: list[Chip]
    count: int
    more: int
    always: bool
    """Whether it is shown when it is empty."""
    note: str = ""
    latencies: list[Latency] = []
    """The latencies of outside schedulers."""
    compare: str = ""
    """The address of the form that compares the recording with the model; "" = there is nothing to
    compare."""
    ties: list[Tie] = []
    groups: dict[str, GroupChip] = {}
    """By the pods whose chips are in them."""


class LaneViews:
    """Makes the lanes of one picture in one language. A chip is made again only if its entry changed."""

    def __init__(self, sandbox: str = "") -> None:
        """sandbox: its name."""
        self._sandbox = sandbox
        self._words: dict[LaneName, tuple[str, str]] = {}
        """The title and the hint of each lane."""
        self._chips: dict[str, tuple[QueuePlace, frozenset[Reason], tuple[str, ...], Chip]] = {}
        self._ranks: Ranks | None = None

    def read(self, picture: Picture, ranks: Ranks) -> list[LaneView]:
        """Return all lanes in the order of the page."""
        self._words = self._words or {name: (title(name), hint) for name, hint in hints().items()}
        if ranks is not self._ranks:
            self._ranks, self._chips = ranks, {}
        entries: dict[str, list[QueuePlace]] = {name: [] for name in ORDER}
        for entry in picture.queue_places.values():
            entries[entry.lane].append(entry)
        kept, self._chips = self._chips, {}
        views = []
        for name in ORDER[:-1]:
            found = shown_places(entries[name], picture)
            shared = find_shared([entry.message for entry in found]) if name == "unschedulable" else NONE
            for entry in found:
                known, gates = kept.get(entry.pod), find_gates(entry, picture)
                same = known is not None and known[0] is entry and known[1:3] == (shared, gates)
                self._chips[entry.pod] = (
                    known if known and same else (entry, shared, gates, chip(ranks, entry, shared, gates))
                )
            chips = [self._chips[entry.pod][3] for entry in found]
            lane_title, hint = self._words[name]
            groups = group_chips(name, chips, picture) if picture.members else {}
            view = present_lane(name, lane_title, hint, chips, len(entries[name]), groups=groups)
            if shared:
                view = replace(view, note=reasons.shared_words(shared))
            if picture.stands_down:
                view = replace(view, always=False)
            if name == "activeQ":
                view = with_order(view, found)
            elif name == "gated" and any(entry.gate != SchedulingGates.name for entry in entries[name]):
                view = replace(view, hint=gettext("held by a plugin"))
            elif name == "outside":
                view = with_outside(view, picture, self._sandbox)
            views.append(view)
        unseen = arriving(picture.unqueued, picture.queue_places)
        chips = [arriving_chip(ranks, pod) for pod in unseen[:CHIPS_AT_MOST]]
        return [*views, present_lane("arriving", *self._words["arriving"], chips, len(unseen))]


def lanes(picture: Picture, ranks: Ranks) -> list[LaneView]:
    """Return all lanes in the order of the page, also empty ones."""
    return LaneViews().read(picture, ranks)


def arriving(unqueued: Mapping[str, PodRecord], places: Mapping[str, QueuePlace]) -> list[PodRecord]:
    """Return the pods that the API server has stored and that are not in the scheduling queue yet."""
    return [
        pod
        for key, pod in unqueued.items()
        if not pod.terminating and (key not in places or places[key].uid != pod.uid)
    ]


def present_lane(
    name: LaneName,
    title: str,
    hint: str,
    chips: list[Chip],
    count: int,
    *,
    groups: Mapping[str, GroupChip] = NO_GROUPS,
) -> LaneView:
    hidden = sum(each.more for each in {each.group: each for each in groups.values()}.values())
    more = count - len(chips) - hidden
    return LaneView(name, title, hint, chips, count, more, name in ALWAYS, groups={**groups})


def shown_places(entries: Sequence[QueuePlace], picture: Picture) -> list[QueuePlace]:
    """Return the places in a lane that get a chip, in its order. The pods of a group follow its first one,
    and count as one."""
    if not picture.members:
        return nsmallest(CHIPS_AT_MOST, entries, key=sort_key)
    together: dict[str, list[QueuePlace]] = {}
    for entry in entries:
        together.setdefault(picture.group_of(entry.pod) or f"pod {entry.pod}", []).append(entry)
    ordered = [nsmallest(MEMBERS_AT_MOST, each, key=sort_key) for each in together.values()]
    first = nsmallest(CHIPS_AT_MOST, ordered, key=lambda each: sort_key(each[0]))
    found: list[QueuePlace] = []
    for each in first:
        found += each
        if len(found) >= GROUPED_AT_MOST:
            break
    return found


def group_chips(lane: LaneName, chips: Sequence[Chip], picture: Picture) -> dict[str, GroupChip]:
    """Return the groups of the chips of a lane, by the keys of the pods."""
    found: dict[str, list[Chip]] = {}
    for chip in chips:
        if group := picture.group_of(chip.key):
            found.setdefault(group, []).append(chip)
    made = [group_chip(lane, key, members, picture) for key, members in found.items()]
    return {chip.key: each for each in made for chip in each.chips}


def group_chip(lane: LaneName, key: str, chips: Sequence[Chip], picture: Picture) -> GroupChip:
    members, record = picture.members.get(key, {}), picture.groups.get(key)
    places: Counter[LaneName | None] = Counter(lane_of(pod, picture) for pod in members.values())
    here, on_nodes = places.pop(lane, 0), places.pop(None, 0)
    said = [gettext("%(n)s on nodes") % {"n": on_nodes}] if on_nodes else []
    said += [f"{count} {title(name)}" for name, count in places.items() if name]
    missing = (record.min_count or 0) - len(members) if record else 0
    if missing > 0:
        said.append(ngettext("%(n)s is missing", "%(n)s are missing", missing) % {"n": missing})
    return GroupChip(
        group=key,
        label=fmt.pod_name(key),
        here=here,
        needs=needs_words(len(members), record),
        elsewhere=fmt.listed(said),
        chips=[*chips],
        more=max(0, here - len(chips)),
    )


def lane_of(pod: PodRecord, picture: Picture) -> LaneName | None:
    """Return the lane of a pod; None if it is in none because it has a node."""
    entry = picture.queue_places.get(pod.key)
    if entry is not None:
        return entry.lane
    return None if pod.node else "arriving"


def needs_words(members: int, record: GroupRecord | None) -> str:
    """Return how many of minCount there are."""
    if record is None:
        return gettext("PodGroup missing")
    if record.min_count is None:
        return ""
    values = {"n": members, "min": record.min_count}
    if members > record.min_count:
        return gettext("%(n)s, needs %(min)s") % values
    return gettext("%(n)s of %(min)s") % values


def order_hint(first: QueuePlace) -> str:
    """Return the hint of activeQ where not PrioritySort orders it; "" where it does."""
    if first.place:
        return gettext("by arrival")
    return gettext("by the QueueSort plugin") if first.sort_key else ""


def with_order(lane: LaneView, entries: Sequence[QueuePlace]) -> LaneView:
    """Return activeQ with its ties, with its chips marked that are in one, and with the hint of its order.
    Without entries the order is not known: the scheduler may have a FIFO queue."""
    if not entries:
        return replace(lane, hint="")
    found = ties(entries)
    pods = {pod for tie in found for pod in tie.pods}
    chips = [replace(each, tied=True) if each.key in pods else each for each in lane.chips]
    return replace(lane, hint=order_hint(entries[0]) or lane.hint, chips=chips, ties=found)


def with_outside(lane: LaneView, picture: Picture, sandbox: str) -> LaneView:
    """Return the lane of outside schedulers with their latency, and whether this sandbox's scheduler stands
    down."""
    if not (picture.stands_down or lane.count or picture.outside):
        return lane
    note = "" if picture.past else gettext("It acts in real time: Pause and Step do not hold it.")
    hint = "" if picture.stands_down else lane.hint
    if picture.mirrors:
        note = gettext("The scheduler of the cluster binds them.")
    elif picture.stands_down and picture.past:
        note = gettext("The sandbox's scheduler stood down at this moment.")
    elif picture.stands_down:
        note = gettext("This sandbox's scheduler stands down. Pause does not hold an outside one.")
    always = picture.stands_down or bool(picture.outside)
    known = [] if picture.mirrors else latencies(picture.outside)
    compare = recorded_comparison(sandbox) if picture.outside and not picture.past else ""
    return replace(lane, always=always, hint=hint, note=note, latencies=known, compare=compare)


def hints() -> dict[LaneName, str]:
    """Return the hint of each lane, in the active language."""
    return {
        "inFlight": gettext("being scheduled"),
        "waiting": gettext("waiting on Permit"),
        "activeQ": gettext("by priority"),
        "backoffQ": gettext("in backoff"),
        "unschedulable": gettext("wait for an event"),
        "gated": gettext("have a scheduling gate"),
        "outside": gettext("not in this queue"),
        "arriving": gettext("not queued yet"),
    }


def title(name: LaneName | Literal[""]) -> str:
    """Return the title of a lane. The names activeQ and backoffQ are not translated. "" = no lane."""
    return {
        "inFlight": gettext("in flight"),
        "waiting": gettext("waiting"),
        "unschedulable": gettext("unschedulable"),
        "gated": gettext("gated"),
        "outside": gettext("outside scheduler"),
        "arriving": gettext("created"),
    }.get(name, name)


def find_gates(entry: QueuePlace, picture: Picture) -> tuple[str, ...]:
    """Return the names of the scheduling gates that hold a pod; () if a plugin of another kind holds it, or
    none."""
    if entry.lane != "gated" or entry.gate != SchedulingGates.name:
        return ()
    pod = picture.pods.get(entry.pod)
    return pod.gates if pod and pod.uid == entry.uid else ()


def chip(
    ranks: Ranks, entry: QueuePlace, shared: frozenset[Reason] = NONE, gates: Sequence[str] = ()
) -> Chip:
    """Return the chip of a pod. shared: the reasons that all pods of its lane share. gates: the names of its
    scheduling gates."""
    note, others = notes(entry, shared, gates)
    return Chip(
        key=entry.pod,
        uid=entry.uid,
        label=fmt.pod_name(entry.pod),
        priority=fmt.short_number(entry.priority),
        rank=ranks.rank(entry.priority),
        attempts=entry.attempts,
        since=entry.since,
        until=(entry.backoff_until or 0) if entry.lane == "backoffQ" else entry.wait_until or 0,
        permit=entry.lane == "waiting",
        note=note,
        others=others,
        verbatim=entry.message if entry.lane in ("unschedulable", "outside") else "",
        waits=entry.plugins if entry.lane in ("unschedulable", "waiting") else [],
        nominated=entry.nominated_node,
        scheduler=entry.scheduler or "",
    )


def notes(entry: QueuePlace, shared: frozenset[Reason], gates: Sequence[str]) -> tuple[str, str]:
    """Return the deciding reason, and the others."""
    if entry.lane == "gated":
        return fmt.listed(gates) or entry.gate, ""
    if entry.lane in ("unschedulable", "outside"):
        return reasons.deciding_words(entry.message, shared)
    return "", ""


def arriving_chip(ranks: Ranks, pod: PodRecord) -> Chip:
    return Chip(
        key=pod.key,
        uid=pod.uid,
        label=fmt.pod_name(pod.key),
        priority=fmt.short_number(pod.priority),
        rank=ranks.rank(pod.priority),
        attempts=0,
        since=pod.created,
        until=0,
        permit=False,
        note="",
        others="",
        verbatim="",
        waits=[],
        nominated="",
    )
