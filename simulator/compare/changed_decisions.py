"""What two schedulers decide on a pod in the same cluster, and which changes cause the difference: changes of
the version of Kubernetes, of its feature gates, and of the configuration."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.compare.configuration_changes import configuration_changes, make_explicit, with_part
from simulator.config import ConfigError, Configuration
from simulator.framework.extender import Transport
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles, registered
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.versions.changes import SchedulerChange, changes_between, taken_back
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.features import Features

Outcome = Literal["fits", "preempts", "pending", "gated", "error", "ignored"]
Effect = Literal["runs", "pends", "elsewhere", "ties", "message", "preemption"]
"""What differs: the pod would run and did not, the reverse, it runs on other nodes, on some of the same
nodes, only the message differs, or what is evicted for it."""

WORK_OF_SEARCH: Final = 6000
"""The work of a search without nodes, in nodes: each search counts its nodes and this."""


class SchedulerSettings(NamedTuple):
    """What a scheduler is started with."""

    configuration: Manifest | None
    """A KubeSchedulerConfiguration; None = the default one."""
    features: Features
    """The version of Kubernetes, with its feature gates."""


class SchedulerAnswer(msgspec.Struct, frozen=True):
    """What one scheduler decides on a pod."""

    outcome: Outcome
    nodes: list[str]
    """The nodes of which the scheduler takes one; for a preemption, those that it may nominate."""
    message: str = ""
    more: int = 0
    """The number of further nodes, which are not listed."""


class ChangedDecision(msgspec.Struct, frozen=True):
    """A decision in which two schedulers differ."""

    pod: str
    node: str
    """The node that the pod is bound to; empty for a pending pod."""
    before: SchedulerAnswer
    after: SchedulerAnswer
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


class _Between(NamedTuple):
    """A scheduler between the two, which tests whether a change is a cause."""

    frameworks: Mapping[str, Framework]
    gives_before: bool
    """True: it is the one after without the change, and gives the decision before if the change is a cause.
    False: it is the one before with the change, and then gives the decision after."""


class TwoSchedulers:
    """Decides pods by two schedulers, and by those that lie between them. Nothing is written."""

    def __init__(
        self,
        before: SchedulerSettings,
        after: SchedulerSettings,
        cluster: Cluster,
        transport: Transport | None = None,
    ) -> None:
        """Raises ConfigError."""
        self._before, self._after = before, after
        self._cluster = cluster
        self._transport = transport
        self._frameworks_before = self._frameworks(load(before.configuration, features=before.features))
        self._frameworks_after = self._frameworks(load(after.configuration, features=after.features))
        self._configuration_before = _explicit_in(before, after.features)
        self._configuration_after = _explicit_in(after, after.features)
        parts = [*configuration_changes(self._configuration_before, self._configuration_after)]
        self._parts = {change.name: part for part, change in parts}
        self.changes = [
            *changes_between(before.features, after.features),
            *(change for _, change in parts),
        ]
        self._between: dict[str, _Between | None] = {}
        self.work = 0
        """The work until now: the nodes of each search, and WORK_OF_SEARCH."""

    def compare(
        self, pod: Pod, nominated: Mapping[str, Sequence[Pod]], live: Attempt | None = None
    ) -> ChangedDecision | None:
        """Return the decisions on a pod without a node where they differ. ``live``: the attempt of a
        scheduler that is to begin. Both are decided without the ranking of the pod before
        (OpportunisticBatching)."""

        def decide(frameworks: Mapping[str, Framework]) -> SchedulerAnswer:
            return self._decide(pod, nominated, frameworks, live)

        def causes_it(change: SchedulerChange) -> bool:
            between = self._scheduler_between(change)
            return between is not None and decide(between.frameworks) == (
                before if between.gives_before else after
            )

        before, after = decide(self._frameworks_before), decide(self._frameworks_after)
        if before == after:
            return None
        causes = [each.name for each in self.changes if each.kind != "hint" and causes_it(each)]
        effect = _effect(before, after)
        return ChangedDecision(pod.key, "", before, after, effect, causes, live.state.cycle if live else 0)

    def _scheduler_between(self, change: SchedulerChange) -> _Between | None:
        """Return the scheduler that tests a change; None if there can be none."""
        if change.name not in self._between:
            self._between[change.name] = self._make_between(change)
        return self._between[change.name]

    def _make_between(self, change: SchedulerChange) -> _Between | None:
        before, after = self._before, self._after
        try:
            if part := self._parts.get(change.name):
                made = with_part(self._configuration_after, part, self._configuration_before)
                return _Between(self._frameworks(made), gives_before=True)
            try:
                features = taken_back(change, after.features, before.features)
                made = load(after.configuration, features=features)
                return _Between(self._frameworks(made), gives_before=True)
            except FeatureGateError:  # the later version does not have the gate, or not without another one
                features = taken_back(change, before.features, after.features)
                made = load(before.configuration, features=features)
                return _Between(self._frameworks(made), gives_before=False)
        except ConfigError:  # a queue without its one QueueSort plugin, for instance
            return None

    def _frameworks(self, configuration: Configuration) -> Mapping[str, Framework]:
        """Return the frameworks by schedulerName. Raises ConfigError."""
        if not configuration.profiles:
            return {}
        return profiles(configuration, transport=self._transport, cluster=self._cluster)

    def _decide(
        self,
        pod: Pod,
        nominated: Mapping[str, Sequence[Pod]],
        frameworks: Mapping[str, Framework],
        live: Attempt | None,
    ) -> SchedulerAnswer:
        framework = frameworks.get(pod.scheduler_name)
        if framework is None:
            return SchedulerAnswer("ignored", [])
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
                return SchedulerAnswer("gated", [], gate.message)
        self.work += self._cluster.node_count + WORK_OF_SEARCH
        search.complete()
        if search.errors:
            return SchedulerAnswer("error", [], min(search.errors))
        if search.selected is not None:
            return SchedulerAnswer("fits", sorted(_names(self._cluster, search.best.tolist())))
        if search.nominated_node:
            return SchedulerAnswer("preempts", [search.nominated_node], message(search))
        return SchedulerAnswer("pending", [], message(search))


def _explicit_in(settings: SchedulerSettings, features: Features) -> Configuration:
    """Return the explicit configuration of a scheduler as a version reads it; as its own one does where the
    version refuses it."""
    try:
        read = load(settings.configuration, features=features)
    except ConfigError:
        read = load(settings.configuration, features=settings.features)
    return make_explicit(read, registered(read.features))


def count_causes(decisions: Iterable[ChangedDecision]) -> list[CausedDecisions]:
    """Return each cause with the number of decisions, the most first."""
    return by_count(Counter(cause for each in decisions for cause in each.causes or [""]))


def by_count(causes: Counter[str]) -> list[CausedDecisions]:
    return [CausedDecisions(cause, count) for cause, count in causes.most_common()]


def _names(cluster: Cluster, rows: Iterable[int]) -> Iterator[str]:
    return (cluster.node(row).name for row in rows)


def _effect(before: SchedulerAnswer, after: SchedulerAnswer) -> Effect:
    if (before.outcome == "fits") != (after.outcome == "fits"):
        return "runs" if after.outcome == "fits" else "pends"
    if before.outcome == "fits":
        return "ties" if set(before.nodes) & set(after.nodes) else "elsewhere"
    return "message" if (before.outcome, before.nodes) == (after.outcome, after.nodes) else "preemption"
