"""One profile's plugins, and how they are run: pkg/scheduler/framework/runtime/framework.go, v1.34."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Ints, Rows
from simulator.config.configuration import ConfigError, Profile, expand, score_weights
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import (
    EXTENSION_POINTS,
    MAX_NODE_SCORE,
    MIN_NODE_SCORE,
    BindPlugin,
    CycleState,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PluginError,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
    Status,
    Verdicts,
    error,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.waiting_pods import WaitingPods
from simulator.objects.pod import Pod
from simulator.scheduler.extender import Extender


class PreFilterOutcome(NamedTuple):
    """What RunPreFilterPlugins found. ``status`` None = success; ``node_names`` None = all nodes."""

    status: Status | None
    node_names: frozenset[str] | None
    narrowed_by: list[str]
    """Plugins that narrowed the nodes down, sorted."""
    skipped: list[str]


class ScoreColumns(NamedTuple):
    """One score plugin's answers over the nodes that passed, in the smallest types that hold them: the
    columns of a cycle are kept as its trace."""

    plugin: str
    weight: int
    raw: NDArray[Any]
    normalized: NDArray[Any]
    """From 0 to 100; only an extender's can lie outside."""

    def weighted(self) -> Ints:
        """What the plugin adds to the totals."""
        added: Ints = np.multiply(self.normalized, self.weight, dtype=np.int64)
        return added


def narrowed(column: Ints) -> NDArray[Any]:
    """The same numbers in the smallest type that holds them."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return column.astype(kind)
    return column.copy()


class Framework:
    """A profile, ready to run.

    Raises ConfigError where the profile names a plugin that is not in ``registry``, or one at an extension
    point that it does not have.
    """

    def __init__(
        self,
        profile: Profile,
        registry: Mapping[str, type[Plugin]],
        extenders: Sequence[Extender] = (),
    ) -> None:
        self.profile = profile
        self.extenders = extenders
        self.scheduler_name = profile.scheduler_name
        self._check(registry)
        names = {p.name for p in profile.multi_point.enabled}
        names.update(p.name for point in EXTENSION_POINTS for p in profile.plugins.at(point).enabled)
        self.plugins = {name: registry[name](profile.args.get(name), self) for name in sorted(names)}
        self.pre_enqueue_plugins: list[PreEnqueuePlugin] = self._at("preEnqueue")
        self.queue_sort_plugins: list[QueueSortPlugin] = self._at("queueSort")
        self.pre_filter_plugins: list[PreFilterPlugin] = self._at("preFilter")
        self._extended = [p for p in self.pre_filter_plugins if isinstance(p, PreFilterExtensions)]
        self.filter_plugins: list[FilterPlugin] = self._at("filter")
        self.post_filter_plugins: list[PostFilterPlugin] = self._at("postFilter")
        self.pre_score_plugins: list[PreScorePlugin] = self._at("preScore")
        self.score_plugins: list[ScorePlugin] = self._at("score")
        self.reserve_plugins: list[ReservePlugin] = self._at("reserve")
        self.permit_plugins: list[PermitPlugin] = self._at("permit")
        self.pre_bind_plugins: list[PreBindPlugin] = self._at("preBind")
        self.bind_plugins: list[BindPlugin] = self._at("bind")
        self.post_bind_plugins: list[PostBindPlugin] = self._at("postBind")
        self.weights = score_weights(profile)
        self.waiting_pods = WaitingPods()
        """For Permit plugins, which may look through them, allow and reject."""
        self.pods: Mapping[str, Pod] = {}
        """All pods that are not over, by ``namespace/name``, as the informers show them; given by the
        scheduler."""
        if len(self.queue_sort_plugins) != 1:
            raise ConfigError(
                [("plugins.queueSort", f"one plugin is needed, got {len(self.queue_sort_plugins)}")]
            )
        if not self.bind_plugins:
            raise ConfigError([("plugins.bind", "at least one plugin is needed")])

    def _check(self, registry: Mapping[str, type[Plugin]]) -> None:
        causes = []
        for point in (*EXTENSION_POINTS, "multiPoint"):
            enabled = self.profile.plugins.at(point).enabled
            for i, plugin in enumerate(enabled):
                kind = registry.get(plugin.name)
                path = f"plugins.{point}.enabled[{i}].name"
                if kind is None:
                    causes.append((path, f"plugin {plugin.name!r} does not exist"))
                elif point in EXTENSION_POINTS and not issubclass(kind, EXTENSION_POINTS[point]):
                    causes.append((path, f"plugin {plugin.name!r} does not extend {point} plugin"))
                elif any(plugin.name == other.name for other in enabled[:i]):
                    causes.append((path, f"plugin {plugin.name!r} is already registered"))
        defaults = {p.name for p in self.profile.multi_point.enabled} - registry.keys()
        if causes or defaults:
            raise ConfigError(causes or [("plugins.multiPoint", f"no such plugins: {go_list(defaults)}")])

    def _at(self, point: str) -> list[Any]:
        kind = EXTENSION_POINTS[point]
        found = {name: plugin for name, plugin in self.plugins.items() if isinstance(plugin, kind)}
        return [found[name] for name in expand(self.profile, point, set(found))]

    # Before the queue

    def run_pre_enqueue(self, pod: Pod) -> Status | None:
        """The first plugin's refusal; None = the pod may be queued."""
        for plugin in self.pre_enqueue_plugins:
            status = plugin.pre_enqueue(pod)
            if status is not None:
                return status._replace(plugin=plugin.name)
        return None

    # Filtering

    def run_pre_filter(self, state: CycleState, pod: Pod) -> PreFilterOutcome:
        names: frozenset[str] | None = None
        narrowed_by: set[str] = set()
        skipped: set[str] = set()
        refusal: Status | None = None
        nodes = NodeBatch(state.cluster)

        def outcome(status: Status | None) -> PreFilterOutcome:
            state.skip_filter = frozenset(skipped)
            return PreFilterOutcome(status, names, sorted(narrowed_by), sorted(skipped))

        def end(status: Status) -> PreFilterOutcome:
            """What earlier plugins narrowed down is forgotten."""
            return outcome(status)._replace(node_names=None, narrowed_by=[])

        for plugin in self.pre_filter_plugins:
            try:
                result = plugin.pre_filter(state, pod, nodes)
            except PluginError as fault:
                result = error(str(fault))
            if result is None:
                continue
            if isinstance(result, Status):
                if result.code == "Skip":
                    skipped.add(plugin.name)
                elif result.code == "Unschedulable":
                    # Another plugin may still say that the pod cannot be helped at all.
                    refusal = result._replace(plugin=plugin.name)
                elif result.rejected:
                    return end(result._replace(plugin=plugin.name))
                else:
                    text = f'running PreFilter plugin "{plugin.name}": {result.message}'
                    return end(error(text)._replace(plugin=plugin.name))
                continue
            narrowed_by.add(plugin.name)
            names = result.node_names if names is None else names & result.node_names
            if not names:
                who = go_list(narrowed_by)
                said = f"plugin(s) {who} simultaneously" if len(narrowed_by) > 1 else f"plugin {who[1:-1]}"
                reason = f"node(s) didn't satisfy {said}"
                return outcome(Status("UnschedulableAndUnresolvable", (reason,)))
        return outcome(refusal)

    def run_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts:
        """Every node's first refusal, in the order of the plugins."""
        codes = np.zeros(len(nodes), dtype=np.int64)
        statuses: list[Status] = []
        for plugin in self.filter_plugins:
            if plugin.name in state.skip_filter:
                continue
            try:
                verdicts = plugin.filter(state, pod, nodes)
            except PluginError as fault:
                verdicts = Verdicts(np.ones(len(nodes), dtype=np.bool_), (error(str(fault)),))
            if verdicts is None:
                continue
            found = (verdicts.codes != 0) & (codes == 0)
            if found.any():
                codes[found] = verdicts.codes[found].astype(np.int64) + len(statuses)
                statuses.extend(_by(plugin.name, status) for status in verdicts.statuses)
        return Verdicts(codes, statuses)

    def run_filter_with_nominated_pods(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts:
        """Nodes with nominated pods of equal or higher priority must take the pod both with and without them
        (RunFilterPluginsWithNominatedPods): they may or may not get there."""
        verdicts = self.run_filter(state, pod, nodes)
        concerned = self._nominated(state, pod, nodes)
        if not concerned:
            return verdicts
        codes, statuses = verdicts.codes, list(verdicts.statuses)
        for indices, first in self._with_nominated(state, pod, nodes, concerned):
            refused = first.codes > 0
            codes[indices[refused]] = first.codes[refused] + len(statuses)
            statuses += first.statuses
        return Verdicts(codes, statuses)

    def two_passes(
        self, state: CycleState, pod: Pod, nodes: NodeBatch
    ) -> list[tuple[int, list[Pod], int, int]]:
        """For people: the nodes of a batch that are filtered twice, each with the nominated pods that count,
        and whether it passes (0) with them and without them."""
        concerned = self._nominated(state, pod, nodes)
        if not concerned:
            return []
        without = self.run_filter(state, pod, nodes).codes
        return [
            (i, concerned[i], code, int(without[i]))
            for indices, first in self._with_nominated(state, pod, nodes, concerned)
            for i, code in zip(indices.tolist(), first.codes.tolist(), strict=True)
        ]

    def _with_nominated(
        self, state: CycleState, pod: Pod, nodes: NodeBatch, nominated: Mapping[int, Sequence[Pod]]
    ) -> Iterator[tuple[Rows, Verdicts]]:
        """The verdicts with the nominated pods there: over all the nodes concerned at once, or, where plugins
        count pods in their state, one at a time."""
        indices = np.fromiter(nominated, dtype=np.intp)
        if not self.extended(state):
            supposed = nodes.supposed(indices)
            for k, others in enumerate(nominated.values()):
                for other in others:
                    supposed.add_pod(k, other)
            yield indices, self.run_filter(state, pod, supposed)
            return
        for i, others in nominated.items():
            index = np.array([i])
            supposed, assumed = nodes.supposed(index), state.clone()
            fault: Status | None = None
            for other in others:
                supposed.add_pod(0, other)
                fault = fault or self.run_add_pod(assumed, pod, other, int(nodes.rows[i]))
            if fault is not None:
                yield index, Verdicts(np.ones(1, dtype=np.int64), (fault,))
            else:
                yield index, self.run_filter(assumed, pod, supposed)

    def _nominated(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> dict[int, list[Pod]]:
        if not state.nominated:
            return {}
        found = {}
        places = {} if nodes.whole else {row: i for i, row in enumerate(nodes.rows.tolist())}
        for name, pods in state.nominated.items():
            row = state.cluster.rows.get(name)
            i = row if nodes.whole or row is None else places.get(row)
            counting = [p for p in pods if p.priority >= pod.priority and p.uid != pod.uid]
            if i is not None and counting:
                found[i] = counting
        return found

    def run_add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> Status | None:
        """Tell the plugins that count pods; the first fault, as a status."""
        for plugin in self.extended(state):
            status = plugin.add_pod(state, pod, added, row)
            if status is not None:
                return error(f'running AddPod on PreFilter plugin "{plugin.name}": {status.message}')
        return None

    def run_remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None:
        for plugin in self.extended(state):
            status = plugin.remove_pod(state, pod, removed, row)
            if status is not None:
                return error(f'running RemovePod on PreFilter plugin "{plugin.name}": {status.message}')
        return None

    def extended(self, state: CycleState) -> list[PreFilterExtensions]:
        """The plugins that want to hear of supposed pods in this cycle."""
        return [plugin for plugin in self._extended if plugin.name not in state.skip_filter]

    def run_post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status]:
        """The first plugin that helps, or all their reasons."""
        result: PostFilterResult | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self.post_filter_plugins:
            try:
                found, status = plugin.post_filter(state, pod, diagnosis)
            except PluginError as fault:
                found, status = None, error(str(fault))
            if status is None:
                return found, Status("Success")
            if status.code == "UnschedulableAndUnresolvable":
                return found, status._replace(plugin=plugin.name)
            if not status.rejected:
                return None, error(status.message)._replace(plugin=plugin.name)
            if found is not None and (found.nominated_node is not None or found.preemption is not None):
                result = found
            reasons += status.reasons
            rejector = rejector or plugin.name
        return result, Status("Unschedulable", tuple(reasons), rejector)

    # Scoring

    def run_pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> list[str]:
        """The plugins that have nothing to score, sorted. Raises PluginError."""
        skipped = set()
        for plugin in self.pre_score_plugins:
            try:
                status = plugin.pre_score(state, pod, nodes)
            except PluginError as fault:
                raise PluginError(f'running PreScore plugin "{plugin.name}": {fault}') from None
            if status is None:
                continue
            if status.code != "Skip":
                raise PluginError(f'running PreScore plugin "{plugin.name}": {status.message}')
            skipped.add(plugin.name)
        state.skip_score = frozenset(skipped)
        return sorted(skipped)

    def run_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> tuple[list[ScoreColumns], Ints]:
        """Every plugin's scores, and the weighted totals. Raises PluginError."""
        columns = []
        totals = np.zeros(len(nodes), dtype=np.int64)
        for plugin in self.score_plugins:
            if plugin.name in state.skip_score:
                continue
            try:
                raw = plugin.score(state, pod, nodes)
                normalized = plugin.normalize(state, pod, nodes, raw)
            except PluginError as fault:
                raise PluginError(
                    f'running Score plugins: plugin "{plugin.name}" failed with: {fault}'
                ) from None
            _check_range(plugin.name, normalized)
            weight = self.weights[plugin.name]
            totals += normalized * weight
            small = normalized.astype(np.int8)
            kept = small if raw is normalized else narrowed(raw)
            columns.append(ScoreColumns(plugin.name, weight, kept, small))
        return columns, totals


def _check_range(plugin: str, scores: Ints) -> None:
    """Raises PluginError where a score is not from 0 to 100."""
    if not len(scores) or (scores.min() >= MIN_NODE_SCORE and scores.max() <= MAX_NODE_SCORE):
        return
    wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)][0]
    raise PluginError(
        f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid '
        f"score {wrong}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
    )


def go_list(names: set[str]) -> str:
    """A sorted list as Go prints it."""
    return f"[{' '.join(sorted(names))}]"


def _by(plugin: str, status: Status) -> Status:
    if not status.rejected:
        return error(f'running "{plugin}" filter plugin: {status.message}')._replace(plugin=plugin)
    return status._replace(plugin=plugin)
