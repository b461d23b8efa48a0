"""Counts of pods by what ReplicaSets ask of them, so that a sync need not look at each pod."""

from collections import Counter
from typing import NamedTuple

from simulator.api import Manifest, Micros
from simulator.controllers.pods import available_at, is_finished
from simulator.objects.metadata import is_terminating, labels_of


class PodFacts(NamedTuple):
    """Facts of one version of a pod. Those of most pods of one controller are the same."""

    labels: tuple[tuple[str, str], ...]
    """In the order of their keys."""
    finished: bool
    terminating: bool
    ready: bool

    @property
    def active(self) -> bool:
        """See :func:`simulator.controllers.pods.is_active`."""
        return not (self.finished or self.terminating)


class PodTally:
    """The number of pods with the same facts, of the pods of one controller, or of those of a namespace
    without one."""

    def __init__(self) -> None:
        self.counts: Counter[PodFacts] = Counter()
        self.latest_ready: Micros = 0
        """No pod has become ready later."""

    def add(self, pod: Manifest) -> PodFacts:
        """Count a pod, and return its facts, with which it is removed again."""
        since = available_at(pod, 0)
        labels = tuple(sorted(labels_of(pod).items()))
        facts = PodFacts(labels, is_finished(pod), is_terminating(pod), since is not None)
        self.counts[facts] += 1
        self.latest_ready = max(self.latest_ready, since or 0)
        return facts

    def remove(self, facts: PodFacts) -> None:
        self.counts[facts] -= 1
        if not self.counts[facts]:
            del self.counts[facts]
