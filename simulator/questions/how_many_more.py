"""How many more of this pod, or of a mix of pods, fit: by the scheduler's own attempts, one after the other
until the next one fits nowhere. Nothing is evicted for them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from simulator import question_words as words
from simulator.api import Change, Manifest
from simulator.apiserver.restore import READ_OF_PODS
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import StatusError
from simulator.framework.diagnosis import NOT_EVALUATED
from simulator.objects.node import ZONE
from simulator.objects.pod import Pod
from simulator.plugins.node_resources.fit import lacking_resource
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
from simulator.questions.node_use import Used, compare_use, read_use
from simulator.questions.placing import Placing, depends_on_node_only, renamed
from simulator.questions.pod_of_workload import admit_pod, find_template, make_pod
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.what_if.situation import Situation

COUNTED_AT_MOST: Final = 200_000
"""Maximum number of copies: 200 MB of memory."""
ADDED_AT_ONCE: Final = 500
"""Copies that are added between two reports."""


class MoreParameters(msgspec.Struct, frozen=True):
    manifests: Sequence[Manifest]
    """Pods or workloads, whose pods are counted; several are a mix, of which each set has ``sizes``."""
    sizes: Sequence[int] = ()
    """The number of pods of each manifest in a set; empty = one of each."""
    at_most: int = COUNTED_AT_MOST
    """The number of pods after which the counting ends."""


class NodeMore(msgspec.Struct, frozen=True):
    node: str
    zone: str
    count: int
    """The copies that it takes."""
    limit: str
    """The resource of which it has too little for one more; "" = a rule keeps it out."""
    why: str
    """The reasons for which it takes no more."""


class ReasonCount(msgspec.Struct, frozen=True):
    reason: str
    nodes: int


class MoreAnswer(Answer, frozen=True, kw_only=True, tag="more", tag_field="question"):
    """``figure``: the pods, or the whole sets of a mix, that fit."""

    at_least: bool
    """Whether there may be more: the counting ended before no more fit."""
    what: list[str]
    """The pods of a set, by what was asked about: ``Deployment web``, or ``3 x Deployment web``."""
    places: list[NodeMore]
    reasons: list[ReasonCount]
    """Why the next one fits nowhere: each reason with the number of nodes."""


class HowManyMore:
    def __init__(self, cluster: AskedCluster, parameters: MoreParameters) -> None:
        """Raises BadQuestion, ConfigError."""
        self._sizes = [*(parameters.sizes or [1] * len(parameters.manifests))]
        self._check(parameters)
        self._pods = [
            admitted_pod(cluster, each, f"manifests[{index}]")
            for index, each in enumerate(parameters.manifests)
        ]
        self._last = self._pods[0]
        """The pod that fits nowhere, once that is known."""
        titles = [_title(each) for each in parameters.manifests]
        self._names = [
            title if size == 1 else f"{size} x {title}"
            for title, size in zip(titles, self._sizes, strict=True)
        ]
        self._at_most = parameters.at_most
        self._placing = Placing(cluster, cluster.seed)
        self._before: dict[str, Used] = {}
        self._counts: Counter[str] = Counter()
        self._sets = 0
        self._why: Attempt | None = None
        """Its attempt."""
        self._refusal = ""
        """What was said of the pod as one of a gang, or as one of a set."""
        self._gate = ""
        """Why pods of a set would not be queued."""
        self._done = self._is_full = False

    def _check(self, parameters: MoreParameters) -> None:
        if not parameters.manifests:
            raise BadQuestion("manifests: there is no pod")
        if len(self._sizes) != len(parameters.manifests) or min(self._sizes) < 1:
            raise BadQuestion("sizes: there must be a number from 1 for each pod")
        if not 1 <= parameters.at_most <= COUNTED_AT_MOST:
            raise BadQuestion(f"at_most: from 1 to {COUNTED_AT_MOST}")

    def run(self) -> Iterator[float]:
        pod, placing = self._pods[0], self._placing
        for _ in placing.take_in():
            yield 0.0
        self._before = read_use(placing.cluster)
        framework = placing.frameworks.get(pod.scheduler_name)
        if framework is None:
            self._is_full = True
        elif len(self._pods) == 1 and self._sizes == [1] and depends_on_node_only(framework, pod, placing):
            self._is_full = bool(self._gate_of(pod))
            yield from self._fill(pod)
            if self._is_full:
                self._look_why(renamed(pod, 0))
        else:
            yield from self._place_sets()
        self._done = True
        yield 1.0

    def _look_why(self, pod: Pod) -> None:
        """Find out why this pod fits nowhere."""
        self._last, self._gate = pod, self._gate_of(pod)
        framework = self._placing.frameworks.get(pod.scheduler_name)
        if framework is not None and not self._gate:
            self._why = self._placing.search(framework, pod)

    def _gate_of(self, pod: Pod) -> str:
        """Return why a pod would not be queued; "" = it would."""
        framework = self._placing.frameworks.get(pod.scheduler_name)
        gate = None if framework is None else framework.run_pre_enqueue(pod)
        return "" if gate is None else gate.message

    def _fill(self, pod: Pod) -> Iterator[float]:
        """Give each node copies until it takes no more, all nodes one each time."""
        placing = self._placing
        cluster = placing.cluster
        situation = Situation(cluster, pod, placing.frameworks, placing.nominated)
        on_node: dict[int, Pod] = {}
        rounds = 0
        while not self._is_full:
            rows = np.flatnonzero(situation.passing()).tolist()
            self._is_full = not rows
            rounds += 1
            for row in rows:
                if self._sets >= self._at_most:
                    return
                if row not in on_node:
                    on_node[row] = pod.assumed(cluster.node(row).name)
                self._sets += 1
                placing.put(renamed(on_node[row], self._sets))
                self._counts[on_node[row].node_name] += 1
                if self._sets % ADDED_AT_ONCE == 0:
                    yield 1 - 1 / (1 + rounds / 20)

    def _place_sets(self) -> Iterator[float]:
        placing = self._placing
        wanted = [pod for pod, size in zip(self._pods, self._sizes, strict=True) for _ in range(size)]
        placed = 0
        while placed + len(wanted) <= self._at_most:
            mark = placing.journal.mark
            copies = [placing.create(renamed(pod, placed + number)) for number, pod in enumerate(wanted, 1)]
            places = yield from placing.place_in_turn(copies, 1 - 1 / (1 + placed / 1000))
            missing = next((index for index, found in enumerate(places) if not found.node), None)
            if missing is not None:
                # Beside the others of its set.
                self._look_why(copies[missing])
                self._refusal = places[missing].why
                placing.journal.take_back(mark)
                self._is_full = True
                return
            placed += len(places)
            self._counts.update(found.node for found in places)
            self._sets += 1

    def answer(self) -> MoreAnswer:
        use = compare_use(self._before, read_use(self._placing.cluster))
        places = [*self._places()]
        return MoreAnswer(
            summary=[*self._summary(places)],
            complete=self._done,
            figure=self._sets,
            zones=summed_zones(use),
            nodes=shown_nodes(use),
            at_least=not self._is_full,
            what=self._names,
            places=places[:LISTED_AT_MOST],
            reasons=self._reasons(),
        )

    def _summary(self, places: Sequence[NodeMore]) -> Iterator[Sentence]:
        if not self._before and not self._done:
            return
        said = words.MORE_FIT if self._is_full else words.AT_LEAST_MORE_FIT
        names, nodes = ", ".join(self._names), str(len(self._counts))
        values = {"count": str(self._sets), "what": names, "nodes": nodes, "all": str(len(places))}
        yield Sentence(said, values)
        limits = Counter(place.limit for place in places if place.limit)
        limit, count = limits.most_common(1)[0] if limits else ("", 0)
        if 2 * count > len(places):
            yield Sentence(
                words.LIMITED_BY, {"resource": limit, "nodes": str(count), "all": str(len(places))}
            )
        if self._gate:
            yield Sentence(words.NO_MORE_BECAUSE, {"why": as_sentence(self._gate)})
        elif self._is_full and self._why is None:
            yield Sentence(words.NO_PROFILE, {"name": self._last.scheduler_name})
        elif self._why is not None and 2 * count <= len(places):
            yield Sentence(words.NO_MORE_BECAUSE, {"why": as_sentence(self._refusal or message(self._why))})

    def _places(self) -> Iterator[NodeMore]:
        """Yield the nodes, those with most copies first."""
        cluster = self._placing.cluster
        found = []
        for row in cluster.order().tolist():
            node = cluster.node(row)
            reasons = self._rejections(row)
            lacking = [resource for reason in reasons if (resource := lacking_resource(reason))]
            zone = node.labels.get(ZONE, "")
            count = self._counts[node.name]
            found.append(NodeMore(node.name, zone, count, ", ".join(lacking), "; ".join(reasons)))
        yield from sorted(found, key=lambda place: -place.count)

    def _rejections(self, row: int) -> Sequence[str]:
        if self._why is None:
            return ()
        diagnosis = self._why.diagnosis
        code = int(diagnosis.codes[row])
        if code == NOT_EVALUATED:
            return (diagnosis.pre_filter_message or "; ".join(diagnosis.absent.reasons),)
        return diagnosis.statuses[code - 1].reasons if code else ()

    def _reasons(self) -> list[ReasonCount]:
        rows = self._placing.cluster.order().tolist() if self._why is not None else ()
        counts = Counter(reason for row in rows for reason in self._rejections(row))
        return [ReasonCount(reason, count) for reason, count in counts.most_common()]


def _title(manifest: Manifest) -> str:
    metadata = manifest.get("metadata") or {}
    return f"{manifest['kind']} {metadata.get('name') or metadata.get('generateName') or ''}".strip()


def check_template(manifest: Manifest, place: str) -> None:
    """Raise BadQuestion for an object without a pod. place: where it is, for messages."""
    if find_template(manifest) is None:
        raise BadQuestion(f"{place}: {manifest.get('kind')} has no pod template")


def admitted_pod(cluster: AskedCluster, manifest: Manifest, place: str) -> Pod:
    """Return the pod of a manifest as the API server would store it. place: where the manifest is, for
    messages. Raises BadQuestion."""
    check_template(manifest, place)
    read = (
        Change(resource, key, found, 0)
        for resource in READ_OF_PODS
        for key, found in cluster.objects.get(resource, {}).items()
    )
    try:
        with serving(cluster.features):
            pod = admit_pod(make_pod(manifest, with_claims=True), read)
    except (StatusError, ValueError) as wrong:
        raise BadQuestion(f"{place}: {wrong}") from None
    except (LookupError, TypeError, AttributeError):
        raise BadQuestion(f"{place}: the pod template does not have the form of one") from None
    if pod.node_name:
        raise BadQuestion(f"{place}: spec.nodeName is set, so that no scheduler places the pod")
    return pod
