"""What two versions of Kubernetes decide on a pod in the same cluster, and which changes cause the
difference."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.framework.extender import Transport
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.simulation import Simulation
from simulator.versions.changes import VersionChange, changes_between, taken_back
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.features import Features

Outcome = Literal["fits", "preempts", "pending", "gated", "error", "ignored"]
Effect = Literal["runs", "pends", "elsewhere", "ties", "message", "preemption"]
"""What differs: the pod would run and did not, the reverse, it runs on other nodes, on some of the same
nodes, only the message differs, or what is evicted for it."""

LISTED_AT_MOST: Final = 200
"""Maximum number of decisions of a run that are listed; all are counted."""

NODES_AT_MOST: Final = 20
"""Maximum number of nodes with equal scores that are listed for a decision of a run."""

WORK_AT_MOST: Final = 250_000_000
"""Maximum work for one run, some ten seconds: each search of an attempt counts its nodes and
WORK_OF_SEARCH."""

WORK_OF_SEARCH: Final = 6000
"""The work of a search without nodes, in nodes."""


class VersionDecision(msgspec.Struct, frozen=True):
    """What one version decides on a pod."""

    outcome: Outcome
    nodes: list[str]
    """The nodes of which the scheduler takes one; for a preemption, those that it may nominate."""
    message: str = ""
    more: int = 0
    """The number of further nodes, which are not listed."""


class ChangedDecision(msgspec.Struct, frozen=True):
    """A decision in which the versions differ."""

    pod: str
    node: str
    """The node that the pod is bound to; empty for a pending pod."""
    before: VersionDecision
    after: VersionDecision
    effect: Effect
    causes: list[str]
    """The names of the changes each of which, taken back alone, gives the decision before (or made alone, the
    one after, where a version does not know the gate); empty if it takes several of them."""
    cycle: int = 0
    """The scheduling cycle of a run; 0 = the pod of a cluster that does not run."""


class CausedDecisions(msgspec.Struct, frozen=True):
    """The number of decisions with the same cause."""

    cause: str
    """The name of the change; empty = several changes together."""
    count: int


class VersionDecisions:
    """Decides pods by two versions, and by all that lies between them. Nothing is written."""

    def __init__(
        self,
        configuration: Manifest | None,
        before: Features,
        after: Features,
        cluster: Cluster,
        transport: Transport | None = None,
    ) -> None:
        """Raises ConfigError."""
        self.changes = [*changes_between(before, after)]
        self._configuration = configuration
        self._before, self._after = before, after
        self._cluster = cluster
        self._transport = transport
        self._frameworks: dict[Features, Mapping[str, Framework]] = {}
        self.work = 0
        """The work until now; see WORK_AT_MOST."""

    def compare(
        self, pod: Pod, nominated: Mapping[str, Sequence[Pod]], live: Attempt | None = None
    ) -> ChangedDecision | None:
        """Return the decisions on a pod without a node where they differ. ``live``: the attempt of a
        scheduler that is to begin. Both are decided without the ranking of the pod before
        (OpportunisticBatching)."""

        def decide(features: Features) -> VersionDecision:
            return self._decide(pod, nominated, features, live)

        before, after = decide(self._before), decide(self._after)
        if before == after:
            return None

        def causes_it(change: VersionChange) -> bool:
            try:
                return decide(taken_back(change, self._after, self._before)) == before
            except FeatureGateError:  # the later version does not have the gate, or not without another one
                return decide(taken_back(change, self._before, self._after)) == after

        causes = [each.name for each in self.changes if each.kind != "hint" and causes_it(each)]
        effect = _effect(before, after)
        return ChangedDecision(pod.key, "", before, after, effect, causes, live.state.cycle if live else 0)

    def frameworks(self, features: Features) -> Mapping[str, Framework]:
        """Return the frameworks of a version, by schedulerName."""
        if features not in self._frameworks:
            made = load(self._configuration, features=features)
            self._frameworks[features] = profiles(made, transport=self._transport, cluster=self._cluster)
        return self._frameworks[features]

    def _decide(
        self, pod: Pod, nominated: Mapping[str, Sequence[Pod]], features: Features, live: Attempt | None
    ) -> VersionDecision:
        framework = self.frameworks(features).get(pod.scheduler_name)
        if framework is None:
            return VersionDecision("ignored", [])
        placement = live.placement if live is not None else None
        search = Attempt(framework, self._cluster, pod, nominated, placement=placement)
        if live is not None:
            framework.pods, framework.preempting = live.framework.pods, live.framework.preempting
            framework.waiting_pods = live.framework.waiting_pods
            search.state.of_pod_group = live.state.of_pod_group
            search.state.seed, search.state.cycle = live.state.seed, live.state.cycle
            search.start_node_index = search.next_start_node_index = live.start_node_index
        else:
            gate = framework.run_pre_enqueue(pod)
            if gate is not None:
                return VersionDecision("gated", [], gate.message)
        self.work += self._cluster.node_count + WORK_OF_SEARCH
        for _ in search.run():
            pass
        if search.errors:
            return VersionDecision("error", [], min(search.errors))
        if search.selected is not None:
            return VersionDecision("fits", sorted(_names(self._cluster, search.best.tolist())))
        if search.nominated_node:
            return VersionDecision("preempts", [search.nominated_node], message(search))
        return VersionDecision("pending", [], message(search))


class RunDecisions(msgspec.Struct, frozen=True):
    """The decisions of a run that another version would have made otherwise, each in the cluster as it was
    then."""

    decided: int
    """The number of attempts that were decided again."""
    complete: bool
    """Whether these are all attempts; False: the work would have been too much."""
    changed: int
    """The number of decisions that change."""
    causes: list[CausedDecisions]
    """By cause, the most first."""
    decisions: list[ChangedDecision]
    """The first LISTED_AT_MOST decisions that change."""
    changes: list[VersionChange]
    """All changes from the one version to the other."""


class RunVersions:
    """Decides each attempt of a run by two versions, before the scheduler runs it."""

    def __init__(
        self, after: Features, transport: Transport | None = None, work_at_most: int = WORK_AT_MOST
    ) -> None:
        self._after = after
        self._transport = transport
        self._configuration: Manifest | None = None
        self._before = after
        self._versions: VersionDecisions | None = None
        self._work_left = work_at_most
        self._decided = 0
        self._complete = True
        self._causes: Counter[str] = Counter()
        self._decisions: list[ChangedDecision] = []
        self._changed = 0
        self._changes: dict[str, VersionChange] = {}

    def begin(self, simulation: Simulation, configuration: Manifest | None, before: Features) -> None:
        """Decide the attempts of a simulation from now on: the run, or the next term of its leader."""
        self._configuration, self._before = configuration, before
        self._versions = None
        if before != self._after:
            simulation.before_searches(self._decide)

    def _decide(self, attempt: Attempt) -> None:
        if self._work_left <= 0:
            self._complete = False
            return
        if self._versions is None:
            made_of = self._configuration, self._before, self._after
            self._versions = VersionDecisions(*made_of, attempt.cluster, self._transport)
            self._changes |= {change.name: change for change in self._versions.changes}
        self._decided += 1
        worked = self._versions.work
        found = self._versions.compare(attempt.pod, attempt.state.nominated, attempt)
        self._work_left -= self._versions.work - worked
        if found is None:
            return
        self._changed += 1
        self._causes.update(found.causes or [""])
        if len(self._decisions) < LISTED_AT_MOST:
            shorter = replace(found, before=_shortened(found.before), after=_shortened(found.after))
            self._decisions.append(shorter)

    def result(self) -> RunDecisions:
        return RunDecisions(
            self._decided,
            self._complete,
            self._changed,
            by_count(self._causes),
            [*self._decisions],
            [*self._changes.values()],
        )

    @property
    def work_left(self) -> int:
        return self._work_left


def count_causes(decisions: Iterable[ChangedDecision]) -> list[CausedDecisions]:
    """Return each cause with the number of decisions, the most first."""
    return by_count(Counter(cause for each in decisions for cause in each.causes or [""]))


def by_count(causes: Counter[str]) -> list[CausedDecisions]:
    return [CausedDecisions(cause, count) for cause, count in causes.most_common()]


def _shortened(decision: VersionDecision) -> VersionDecision:
    nodes = decision.nodes
    return replace(decision, nodes=nodes[:NODES_AT_MOST], more=max(0, len(nodes) - NODES_AT_MOST))


def _names(cluster: Cluster, rows: Iterable[int]) -> Iterator[str]:
    return (cluster.node(row).name for row in rows)


def _effect(before: VersionDecision, after: VersionDecision) -> Effect:
    if (before.outcome == "fits") != (after.outcome == "fits"):
        return "runs" if after.outcome == "fits" else "pends"
    if before.outcome == "fits":
        return "ties" if set(before.nodes) & set(after.nodes) else "elsewhere"
    return "message" if (before.outcome, before.nodes) == (after.outcome, after.nodes) else "preemption"
