"""Will this fit? Creates manifests in a running copy, and says where each pod lands, which stay pending and
why, who is evicted for them, and where the evicted pods run again."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from simulator import question_words as words
from simulator.api import Manifest
from simulator.objects.events import EVENTS
from simulator.objects.metadata import is_terminating, key_of, name_of, uid_of
from simulator.objects.owner_references import controller_of
from simulator.questions.answer import (
    LISTED_AT_MOST,
    Answer,
    AskedCluster,
    BadQuestion,
    Sentence,
    as_sentence,
    shown_nodes,
    summed_zones,
)
from simulator.questions.node_use import compare_use
from simulator.questions.returning import EvictedPod, count_after, follow, most_common, preempted, zone_of
from simulator.questions.running_copy import RunningCopy, lasting

REPLICAS: Final = {
    "Deployment": "replicas",
    "ReplicaSet": "replicas",
    "StatefulSet": "replicas",
    "ReplicationController": "replicas",
    "Job": "parallelism",
}
"""The kinds whose spec says how many pods there are to be at a time, and the field."""


class FitsParameters(msgspec.Struct, frozen=True):
    manifests: Sequence[Manifest]
    """Any objects; those with pods are counted."""


class PodPlace(msgspec.Struct, frozen=True):
    pod: str
    """For a pod that is not created, its workload."""
    of: str
    """Kind and name of the manifest that it belongs to."""
    state: Literal["fits", "pending", "evicted", "not created"]
    node: str
    zone: str
    why: str
    """What the scheduler, or the API server, says of a pod without a node."""


class FitsAnswer(Answer, frozen=True, kw_only=True, tag="fits", tag_field="question"):
    """``figure``: the pods that fit."""

    wanted: int
    pods: list[PodPlace]
    evicted: list[EvictedPod]


class Fits:
    """Answers the question. Raises StatusError for a manifest that the API server refuses, when it runs."""

    def __init__(self, cluster: AskedCluster, parameters: FitsParameters) -> None:
        if not parameters.manifests:
            raise BadQuestion("manifests: there is no object")
        self._copy = RunningCopy(cluster)
        self._lost_owners = cluster.lost_owners
        self._parameters = parameters
        self._made: Sequence[Manifest] = ()
        self._done = False

    def run(self) -> Iterator[float]:
        for _ in self._copy.take_in():
            yield 0.1
        self._made = self._copy.sandbox.create([lasting(each) for each in self._parameters.manifests])
        share = 0.5
        for _ in self._copy.settle():
            # How long it takes is not known: each step comes closer to the end by a part of what is left.
            share += (0.99 - share) / 5_000
            yield share
        self._done = True
        yield 1.0

    def answer(self) -> FitsAnswer:
        copy = self._copy
        places = [*self._places()]
        counts = Counter(place.state for place in places)
        evicted = follow(copy, preempted(copy), self._lost_owners)
        summary = []
        if self._made:
            summary.append(Sentence(words.FITS, {"fits": str(counts["fits"]), "all": str(len(places))}))
        waiting = [place for place in places if place.state != "fits"]
        if waiting:
            why = as_sentence(most_common([place.why for place in waiting]))
            summary.append(Sentence(words.STAY_PENDING, {"count": str(len(waiting)), "why": why}))
        if evicted:
            summary.append(Sentence(words.EVICTED, count_after(evicted)))
        use = compare_use(copy.before, copy.use()) if copy.before else []
        return FitsAnswer(
            summary=summary,
            complete=self._done,
            notes=copy.notes(),
            figure=counts["fits"],
            zones=summed_zones(use),
            nodes=shown_nodes(use),
            wanted=len(places),
            pods=places[:LISTED_AT_MOST],
            evicted=evicted[:LISTED_AT_MOST],
        )

    def _places(self) -> Iterator[PodPlace]:
        """Yield the pods of the manifests, by manifest."""
        pods, roots = self._copy.pods(), self._roots()
        found: dict[str, list[Manifest]] = {uid_of(made): [] for made in self._made}
        for pod in pods.values():
            root = roots.get(uid_of(pod))
            if root is not None:
                found[root].append(pod)
        for made in self._made:
            title = f"{made['kind']} {name_of(made)}"
            yield from (self._place(pod, title) for pod in sorted(found[uid_of(made)], key=key_of))
            field = REPLICAS.get(made["kind"])
            if field is None:
                continue
            wanted = (made.get("spec") or {}).get(field, 1)
            refused = self._refusal(made, roots)
            for _ in range(wanted - len(found[uid_of(made)])):
                yield PodPlace(key_of(made), title, "not created", "", "", refused)

    def _roots(self) -> Mapping[str, str]:
        """Return the uid of each object that was created, and of what its controllers made of it -> the uid
        of the manifest's object."""
        objects = self._copy.sandbox.list_all()
        parents = {
            uid_of(manifest): reference["uid"]
            for collection in objects.values()
            for manifest in collection.values()
            if (reference := controller_of(manifest)) is not None
        }
        roots = {uid_of(made): uid_of(made) for made in self._made}

        def root_of(uid: str) -> str | None:
            seen = []
            while uid not in roots:
                seen.append(uid)
                if uid not in parents or len(seen) > len(objects):
                    return None
                uid = parents[uid]
            roots.update(dict.fromkeys(seen, roots[uid]))
            return roots[uid]

        for uid in parents:
            root_of(uid)
        return roots

    def _place(self, pod: Manifest, title: str) -> PodPlace:
        key, node = key_of(pod), pod["spec"].get("nodeName") or ""
        if is_terminating(pod):
            return PodPlace(key, title, "evicted", node, zone_of(self._copy, node), "")
        if node:
            return PodPlace(key, title, "fits", node, zone_of(self._copy, node), "")
        return PodPlace(key, title, "pending", "", "", self._copy.why_pending(key))

    def _refusal(self, made: Manifest, roots: Mapping[str, str]) -> str:
        """Return why the controller could not create the pods of an object; "" = no Event says it."""
        for event in self._copy.sandbox.list(EVENTS).items:
            about = event.get("involvedObject") or {}
            if event.get("reason") == "FailedCreate" and roots.get(about.get("uid", "")) == uid_of(made):
                return str(event.get("message") or "")
        return ""
