"""Who evicted whom, summed: for whom, who lost how many pods, which pods more than once, and how long it
took until they ran again."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low
from typing import Final

import msgspec

from simulator import question_words as words
from simulator.api import Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.objects.metadata import key_of, name_of, namespace_of, uid_of
from simulator.objects.owner_references import controller_of
from simulator.objects.timestamps import timestamp
from simulator.questions.answer import LISTED_AT_MOST, Answer, Sentence
from simulator.questions.pod_of_workload import find_template
from simulator.trace import Bound, Event, OutsideBound, OutsidePreempted, PodEvicted, VictimDeleted
from simulator.words import spoken_duration

GENERATED: Final = 6
"""The characters that the API server adds to the name of a controller for a pod of it: a hyphen and five."""


class NotedEviction(msgspec.Struct, frozen=True):
    """An eviction, as an Event or the trace of a sandbox has it."""

    time: Micros
    pod: str
    reason: str
    by: str
    """The pod for which it was evicted; of another eviction, who evicted it; "" = not known."""
    node: str


class NotedBinding(msgspec.Struct, frozen=True):
    time: Micros
    pod: str


class OwnedPod(msgspec.Struct, frozen=True):
    """Who a pod belongs to. owner: kind and name of the controller; "" = it has none, or it is not known."""

    owner: str = ""
    priority_class: str = ""


class CausedEvictions(msgspec.Struct, frozen=True):
    """The evictions for the pods of one owner."""

    by: str
    """The owner of the preemptors; for a pod without one, the pod; of other evictions, who evicted."""
    priority_class: str
    count: int


class SufferedEvictions(msgspec.Struct, frozen=True):
    """The evictions of the pods of one owner."""

    owner: str
    priority_class: str
    count: int
    ran_again: int
    waited: str
    """The time until the pods ran again, the one in the middle; "" = none did."""


class RepeatedEviction(msgspec.Struct, frozen=True):
    """A pod that was evicted more than once. The pods of a StatefulSet keep their names."""

    pod: str
    count: int


class OneEviction(msgspec.Struct, frozen=True):
    time: str
    pod: str
    owner: str
    reason: str
    by: str
    node: str
    ran_again: str
    """How long after it the pod, or the one in its place, had a node again; "" = it has none yet."""


class EvictionsAnswer(Answer, frozen=True, kw_only=True, tag="evictions", tag_field="question"):
    """``figure``: the evictions."""

    causes: list[CausedEvictions]
    suffered: list[SufferedEvictions]
    repeated: list[RepeatedEviction]
    evictions: list[OneEviction]


class Owners:
    """Who pods belong to, also those that are gone: the name of a pod begins with that of its controller."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        """objects: pods, and their controllers as far as they are known."""
        self._pods: dict[str, OwnedPod] = {}
        self._by_name: dict[tuple[str, str], OwnedPod] = {}
        found = [*objects]
        parents = {uid_of(each): controller_of(each) for each in found}
        for manifest in found:
            metadata = manifest["metadata"]
            reference = controller_of(manifest)
            if manifest.get("kind", PODS.kind) != PODS.kind:
                continue
            top = reference
            while top is not None and (above := parents.get(top["uid"])) is not None:
                top = above
            owned = OwnedPod(
                f"{top['kind']} {top['name']}" if top else "",
                str((manifest.get("spec") or {}).get("priorityClassName") or ""),
            )
            self._pods[key_of(manifest)] = owned
            if reference is not None:
                self._by_name[metadata.get("namespace", ""), reference["name"]] = owned
        for manifest in found:
            place = namespace_of(manifest), name_of(manifest)
            kind = manifest.get("kind", PODS.kind)
            if kind != PODS.kind and place not in self._by_name and find_template(manifest) is not None:
                top = controller_of(manifest) or {"kind": manifest["kind"], "name": name_of(manifest)}
                self._by_name[place] = OwnedPod(f"{top['kind']} {top['name']}", _template_class(manifest))

    def of(self, pod: str) -> OwnedPod:
        known = self._pods.get(pod)
        if known is not None:
            return known
        namespace, _, name = pod.partition("/")
        for controller in (name[:-GENERATED], name.rpartition("-")[0]):
            owned = self._by_name.get((namespace, controller))
            if owned is not None:
                return owned
        return OwnedPod()


def _template_class(workload: Manifest) -> str:
    template = (workload.get("spec") or {}).get("template") or {}
    return str((template.get("spec") or {}).get("priorityClassName") or "")


def sum_evictions(
    evictions: Iterable[NotedEviction], bindings: Iterable[NotedBinding], owners: Owners
) -> EvictionsAnswer:
    """Sum evictions. bindings: those of all pods, for the time until a pod ran again."""
    ordered = sorted(evictions, key=lambda each: each.time)
    waits = _ran_again(ordered, bindings, owners)
    owned = [owners.of(each.pod) for each in ordered]
    causes = Counter(_cause(each, owners) for each in ordered)
    repeated = Counter(each.pod for each in ordered)
    suffered: dict[tuple[str, str], list[Micros | None]] = {}
    for each, of, wait in zip(ordered, owned, waits, strict=True):
        suffered.setdefault((of.owner or each.pod, of.priority_class), []).append(wait)
    listed = [
        OneEviction(
            timestamp(each.time),
            each.pod,
            of.owner,
            each.reason,
            each.by,
            each.node,
            "" if wait is None else spoken_duration(wait),
        )
        for each, of, wait in zip(ordered, owned, waits, strict=True)
    ]
    lost = [
        SufferedEvictions(owner, priority, len(found), len(again), _middle(again))
        for (owner, priority), found in suffered.items()
        for again in [[wait for wait in found if wait is not None]]
    ]
    answer = EvictionsAnswer(
        summary=[],
        figure=len(ordered),
        causes=[CausedEvictions(*cause, count) for cause, count in causes.most_common(LISTED_AT_MOST)],
        suffered=sorted(lost, key=lambda each: (-each.count, each.owner))[:LISTED_AT_MOST],
        repeated=[RepeatedEviction(pod, count) for pod, count in repeated.most_common() if count > 1],
        evictions=listed[::-1][:LISTED_AT_MOST],
    )
    return msgspec.structs.replace(answer, summary=_summary(answer, waits))


def _summary(answer: EvictionsAnswer, waits: Sequence[Micros | None]) -> list[Sentence]:
    if not answer.figure:
        return [Sentence(words.NO_EVICTIONS)]
    again = sorted(wait for wait in waits if wait is not None)
    counts = {"count": str(answer.figure), "again": str(len(again))}
    cause, lost = answer.causes[0], answer.suffered[0]
    most = {"by": cause.by, "count": str(cause.count), "owner": lost.owner, "lost": str(lost.count)}
    caused = words.MOST_EVICTIONS if cause.by else words.MOST_EVICTIONS_UNEXPLAINED
    found = [Sentence(words.EVICTIONS, counts), Sentence(caused, most)]
    if again:
        values = {"median": _middle(again), "longest": spoken_duration(again[-1])}
        found.append(Sentence(words.RAN_AGAIN_AFTER, values))
    return found


def _middle(waits: Sequence[Micros]) -> str:
    return spoken_duration(median_low(waits)) if waits else ""


def _cause(eviction: NotedEviction, owners: Owners) -> tuple[str, str]:
    owned = owners.of(eviction.by)
    return owned.owner or eviction.by, owned.priority_class


def _ran_again(
    evictions: Sequence[NotedEviction], bindings: Iterable[NotedBinding], owners: Owners
) -> list[Micros | None]:
    """Return how long after each eviction the pod of that name had a node again, or the pod that was
    created in its place: of the pods of one owner, the first that is bound is taken for the first that was
    evicted."""
    waiting: dict[str, list[int]] = {}
    found: list[Micros | None] = [None] * len(evictions)
    # An eviction comes before a binding at the same time.
    events = [(each.time, 0, number, each.pod) for number, each in enumerate(evictions)]
    events += [(each.time, 1, 0, each.pod) for each in bindings]
    for time, is_binding, number, pod in sorted(events):
        namespace = pod.partition("/")[0]
        owner = owners.of(pod).owner
        group = f"{namespace}/{owner}" if owner else pod
        if not is_binding:
            waiting.setdefault(group, []).append(number)
        elif waiting.get(group):
            first = waiting[group].pop(0)
            found[first] = time - evictions[first].time
    return found


def evictions_of_trace(events: Iterable[Event]) -> tuple[list[NotedEviction], list[NotedBinding]]:
    """Return the evictions and the bindings of the trace of a sandbox."""
    evictions, bindings = [], []
    for event in events:
        match event:
            case VictimDeleted():
                by = event.group or event.preemptor
                evictions.append(NotedEviction(event.t, event.pod, "Preempted", by, event.node))
            case OutsidePreempted():
                by = event.preemptor or event.scheduler
                evictions.append(NotedEviction(event.t, event.pod, "Preempted", by, event.node))
            case PodEvicted():
                evictions.append(NotedEviction(event.t, event.pod, event.reason, event.reason, event.node))
            case Bound() | OutsideBound():
                bindings.append(NotedBinding(event.t, event.pod))
    return evictions, bindings


def owners_of(objects: Mapping[str, Mapping[str, Manifest]]) -> Owners:
    """objects: those of a cluster, resource -> key -> manifest."""
    return Owners(manifest for collection in objects.values() for manifest in collection.values())
