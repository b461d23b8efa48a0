"""Where do the pods of these nodes go? Cordons the nodes of a running copy and evicts their pods by the
eviction API, as ``kubectl drain`` does, which tries a refused eviction again every five seconds
(kubectl/pkg/drain/drain.go)."""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from simulator import question_words as words
from simulator.api import Manifest
from simulator.apiserver.resources import NODES
from simulator.apiserver.status import NotFound, StatusError
from simulator.objects.metadata import key_of
from simulator.questions.answer import (
    LISTED_AT_MOST,
    Answer,
    AskedCluster,
    Sentence,
    as_sentence,
    shown_nodes,
    summed_zones,
)
from simulator.questions.drain_filters import Kept, kept_by_drain
from simulator.questions.node_selection import NodeChoice, choose_nodes
from simulator.questions.node_use import compare_use
from simulator.questions.returning import EvictedPod, count_after, follow, most_common, preempted
from simulator.questions.running_copy import RunningCopy
from simulator.words import spoken_duration

ROUNDS_AT_MOST: Final = 500
"""Maximum number of rounds; with each round that evicts nothing the drain waits until the cluster has settled
and tries once more."""
KeptBecause = Kept | Literal["budget"]


class DrainParameters(msgspec.Struct, frozen=True):
    nodes: NodeChoice
    force: bool = False
    """Whether pods without a controller are evicted, too; nothing creates them again."""
    delete_local: bool = False
    """Whether pods with emptyDir volumes are evicted, whose data is lost."""


class DrainedPod(EvictedPod, frozen=True, kw_only=True):
    """A pod that leaves its node."""

    order: int
    """The round in which the disruption budgets allow its eviction, from 1."""
    at: str
    """The simulated time since the beginning at which it is evicted."""


class KeptPod(msgspec.Struct, frozen=True):
    pod: str
    node: str
    because: KeptBecause
    why: str
    """What the API server says of the budget."""


class DrainAnswer(Answer, frozen=True, kw_only=True, tag="drain", tag_field="question"):
    """``figure``: the pods that leave and run again elsewhere."""

    drained: list[str]
    """The nodes."""
    pods: list[DrainedPod]
    kept: list[KeptPod]
    evicted: list[EvictedPod]
    """Pods of other nodes, which are preempted for those that leave."""


class Drain:
    def __init__(self, cluster: AskedCluster, parameters: DrainParameters) -> None:
        self._copy = RunningCopy(cluster)
        self._cluster = cluster
        self._parameters = parameters
        self._nodes: list[str] = []
        self._left: dict[str, tuple[int, str]] = {}
        """Pod -> its round, and the time."""
        self._kept: dict[str, tuple[KeptBecause, str]] = {}
        self._done = False

    def run(self) -> Iterator[float]:
        copy = self._copy
        for _ in copy.take_in():
            yield 0.1
        self._nodes = choose_nodes(self._parameters.nodes, copy.nodes(), copy.before)
        for node in self._nodes:
            copy.sandbox.patch(NODES, node, {"spec": {"unschedulable": True}})
        waiting = [pod for pod in self._pods_there() if self._is_evicted(pod)]
        rounds, has_settled, wanted = 0, False, len(waiting)
        while waiting and rounds < ROUNDS_AT_MOST:
            rounds += 1
            refused = []
            for pod in waiting:
                if not self._evict(pod, rounds):
                    refused.append(pod)
                yield 0.1 + 0.8 * (1 - len(waiting) / (wanted + 1))
            progress, waiting = len(refused) < len(waiting), refused
            if not waiting or (has_settled and not progress):
                break
            has_settled = not progress
            steps = copy.settle() if has_settled else copy.wait()
            for _ in steps:
                yield 0.1 + 0.8 * (1 - len(waiting) / (wanted + 1))
        for _ in copy.settle():
            yield 0.95
        self._done = True
        yield 1.0

    def _pods_there(self) -> list[Manifest]:
        on = {node: rank for rank, node in enumerate(self._nodes)}
        found = [pod for pod in self._copy.original.values() if pod["spec"].get("nodeName") in on]
        return sorted(found, key=lambda pod: (on[pod["spec"]["nodeName"]], key_of(pod)))

    def _is_evicted(self, pod: Manifest) -> bool:
        key = key_of(pod)
        kept = kept_by_drain(
            pod,
            force=self._parameters.force,
            delete_local=self._parameters.delete_local,
            owner_kind=self._cluster.lost_owners.get(key, "").partition(" ")[0],
        )
        if kept:
            self._kept[key] = kept, ""
        return not kept

    def _evict(self, pod: Manifest, number: int) -> bool:
        """Whether the pod leaves its node: it is evicted now, or is gone already."""
        key = key_of(pod)
        try:
            self._copy.sandbox.evict(key)
        except NotFound:
            pass
        except StatusError as error:
            self._kept[key] = "budget", "; ".join(cause.message for cause in error.causes) or error.message
            return False
        self._kept.pop(key, None)
        self._left[key] = number, spoken_duration(self._copy.elapsed)
        return True

    def answer(self) -> DrainAnswer:
        copy = self._copy
        found = follow(copy, dict.fromkeys(self._left, ""), self._cluster.lost_owners)
        others = {pod: by for pod, by in preempted(copy).items() if pod not in self._left}
        evicted = follow(copy, others, self._cluster.lost_owners)
        pods = [
            DrainedPod(
                **msgspec.structs.asdict(each), order=self._left[each.pod][0], at=self._left[each.pod][1]
            )
            for each in found
        ]
        kept = [
            KeptPod(key, copy.original[key]["spec"]["nodeName"], why, text)
            for key, (why, text) in self._kept.items()
        ]
        use = compare_use(copy.before, copy.use(), drained=self._nodes) if copy.before else []
        return DrainAnswer(
            summary=[*self._summary(pods, kept, evicted)],
            complete=self._done,
            notes=copy.notes(),
            figure=sum(each.after == "runs" for each in pods),
            zones=summed_zones(use),
            nodes=shown_nodes(use),
            drained=self._nodes,
            pods=pods[:LISTED_AT_MOST],
            kept=kept[:LISTED_AT_MOST],
            evicted=evicted[:LISTED_AT_MOST],
        )

    def _summary(
        self, pods: list[DrainedPod], kept: list[KeptPod], evicted: list[EvictedPod]
    ) -> Iterator[Sentence]:
        counts = count_after(pods)
        rounds = max((pod.order for pod in pods), default=0)
        last = max(pods, key=lambda pod: pod.order).at if pods else ""
        if not self._nodes:
            return
        said = words.DRAINED if pods else words.DRAINED_NOTHING
        yield Sentence(said, {"nodes": str(len(self._nodes)), **counts})
        if rounds > 1:
            yield Sentence(words.DRAINED_IN_ROUNDS, {"rounds": str(rounds), "time": last})
        waiting = [pod.why for pod in pods if pod.after == "pending"]
        if waiting:
            why = as_sentence(most_common(waiting))
            yield Sentence(words.STAY_PENDING, {"count": str(len(waiting)), "why": why})
        held = [each for each in kept if each.because == "budget"]
        if held:
            why = as_sentence(most_common([each.why for each in held]))
            yield Sentence(words.KEPT_BY_BUDGET, {"count": str(len(held)), "why": why})
        for because, text in words.KEPT_BY_DRAIN.items():
            count = sum(each.because == because for each in kept)
            if count:
                yield Sentence(text, {"count": str(count)})
        if evicted:
            yield Sentence(words.EVICTED, count_after(evicted))
