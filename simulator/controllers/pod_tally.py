"""Counts of pods by what their controllers ask of them, so that a sync need not look at each pod."""

from collections import Counter
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.daemon_placement import target_node_name
from simulator.controllers.job_tracking import has_tracking_finalizer
from simulator.controllers.pods import ready_since, revision_label
from simulator.objects.label_sets import LabelSet, label_set
from simulator.objects.labels import Selector
from simulator.objects.metadata import is_terminating, labels_of
from simulator.objects.status import FINISHED_PHASES, phase_of


class PodState(NamedTuple):
    """What one version of a pod is. Most pods of one controller are in a few states."""

    phase: str | None
    terminating: bool
    ready: bool
    tracked: bool
    """See :func:`simulator.controllers.job_tracking.has_tracking_finalizer`."""

    @property
    def finished(self) -> bool:
        """See :func:`simulator.controllers.pods.is_finished`."""
        return self.phase in FINISHED_PHASES

    @property
    def active(self) -> bool:
        """See :func:`simulator.controllers.pods.is_active`."""
        return not (self.finished or self.terminating)


class PodFacts(NamedTuple):
    """A pod in its newest version, with what is read from it again and again."""

    number: int
    """Of the change that brought this version: later ones have higher numbers."""
    manifest: Manifest
    state: PodState
    labels: LabelSet
    ready_since: Micros | None
    """None = it is not ready."""
    revision: str
    """See :func:`simulator.controllers.pods.revision_label`."""
    node: str
    """See :func:`simulator.controllers.daemon_placement.target_node_name`."""

    @classmethod
    def of(cls, manifest: Manifest, number: int) -> "PodFacts":
        since, labels = ready_since(manifest), label_set(labels_of(manifest))
        tracked = has_tracking_finalizer(manifest)
        state = PodState(phase_of(manifest), is_terminating(manifest), since is not None, tracked)
        revision, node = revision_label(manifest), target_node_name(manifest)
        return cls(number, manifest, state, labels, since, revision, node)

    def is_available(self, min_ready_seconds: int, now: Micros) -> bool:
        """Return whether the pod has been ready for long enough (IsPodAvailable)."""
        return self.ready_since is not None and self.ready_since + min_ready_seconds * SECOND <= now


IsWanted = Callable[[PodState], bool]


def count_available(
    pods: Iterable[PodFacts], min_ready_seconds: int, now: Micros
) -> tuple[int, Micros | None]:
    """Return the number of available pods, and when the next one becomes available."""
    wait = min_ready_seconds * SECOND
    times = [pod.ready_since + wait for pod in pods if pod.ready_since is not None]
    return sum(time <= now for time in times), min((time for time in times if time > now), default=None)


class PodTally:
    """The pods of one controller, or those of a namespace without one, by their facts."""

    def __init__(self) -> None:
        self.labels: Counter[tuple[LabelSet, bool]] = Counter()
        """The number of pods with these labels that are active, or are not."""
        self.latest_ready: Micros = 0
        """No pod has become ready later."""
        self._pods: dict[PodState, dict[str, PodFacts]] = {}
        """The pods in each state, by key."""
        self._selector: Selector | None = None
        self._unmatched: set[LabelSet] = set()
        """The labels of pods that the selector does not match, or that were not compared with it yet."""

    def __bool__(self) -> bool:
        return bool(self._pods)

    def add(self, key: str, facts: PodFacts) -> None:
        labels = facts.labels, facts.state.active
        if labels not in self.labels and (facts.labels, not facts.state.active) not in self.labels:
            self._unmatched.add(facts.labels)
        self.labels[labels] += 1
        self._pods.setdefault(facts.state, {})[key] = facts
        self.latest_ready = max(self.latest_ready, facts.ready_since or 0)

    def remove(self, key: str, facts: PodFacts) -> None:
        """Remove a pod, whose facts are those with which it was added."""
        labels = facts.labels, facts.state.active
        self.labels[labels] -= 1
        if not self.labels[labels]:
            del self.labels[labels]
            if (facts.labels, not facts.state.active) not in self.labels:
                self._unmatched.discard(facts.labels)
        pods = self._pods[facts.state]
        del pods[key]
        if not pods:
            del self._pods[facts.state]

    def count(self, wanted: IsWanted) -> int:
        """Return the number of pods in the wanted states."""
        return sum(len(pods) for state, pods in self._pods.items() if wanted(state))

    def all_match(self, selector: Selector) -> bool:
        """Return whether the selector matches all pods. If it is that of the last call, only new labels are
        compared."""
        if selector != self._selector:
            self._selector = selector
            self._unmatched = {labels for labels, _ in self.labels}
        self._unmatched = {labels for labels in self._unmatched if not selector.matches(dict(labels))}
        return not self._unmatched

    def facts(self, wanted: IsWanted = lambda state: True) -> list[PodFacts]:
        """Return the pods in the wanted states, in the order in which they were observed."""
        found = [facts for state, pods in self._pods.items() if wanted(state) for facts in pods.values()]
        return sorted(found, key=itemgetter(0))

    def pods(self, wanted: IsWanted) -> list[Manifest]:
        """Return the same as objects."""
        return [facts.manifest for facts in self.facts(wanted)]
