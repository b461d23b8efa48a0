"""Framework: runs the plugins of one profile (pkg/scheduler/framework/runtime/framework.go)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.cluster.pod_columns import PodColumns
from simulator.config.configuration import ConfigError, Profile, expand_plugins, score_weights
from simulator.framework.cycle_state import CycleState
from simulator.framework.extender import NAME as EXTENDER
from simulator.framework.extender import Extender
from simulator.framework.handle import Client
from simulator.framework.interface import (
    EXTENSION_POINTS,
    MAX_NODE_SCORE,
    BindPlugin,
    ColumnExtensions,
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    Plugin,
    PodGroupPostFilterPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.profile_check import check_plugins
from simulator.framework.queueing_hint import ClusterEventWithHint, every_event
from simulator.framework.status import PluginError, Status, Verdicts, error
from simulator.framework.waiting_pods import WaitingPods
from simulator.objects.pod import Pod
from simulator.objects.spec_fields import MAX_SPECS, SPEC_NUMBER

CAN_REJECT = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)
"""The extension points at which a plugin can reject a pod. Such a plugin registers cluster events."""


class FilterPasses(NamedTuple):
    """A node with nominated pods of equal or higher priority, which is filtered twice."""

    row: int
    nominated: list[Pod]
    passes_with: bool
    """Whether the pod passes with the nominated pods on the node."""
    passes_without: bool


class Framework:
    """The plugins of one profile (frameworkImpl). Implements :class:`simulator.framework.handle.Handle`.

    Raises ConfigError if the profile names a plugin that is not in ``registry``, or enables a plugin at an
    extension point that the plugin does not implement.
    """

    client: Client | None = None
    """Set by the scheduler that binds pods."""

    def __init__(
        self,
        profile: Profile,
        registry: Mapping[str, type[Plugin]],
        extenders: Sequence[Extender] = (),
        cluster: Cluster | None = None,
    ) -> None:
        self.profile = profile
        self.features = profile.features
        self.extenders = extenders
        self.cluster = cluster or Cluster()
        self.pods: Mapping[str, Pod] = {}
        self.waiting_pods = WaitingPods()
        self.preempting: set[str] = set()
        self.scheduler_name = profile.scheduler_name
        check_plugins(profile, registry)
        names = {p.name for p in profile.multi_point.enabled}
        names.update(p.name for point in EXTENSION_POINTS for p in profile.plugins.at(point).enabled)
        self.plugins = {name: registry[name](profile.args.get(name), self) for name in sorted(names)}
        self.pre_enqueue_plugins: list[PreEnqueuePlugin] = self._at("preEnqueue")
        self.queue_sort_plugins: list[QueueSortPlugin] = self._at("queueSort")
        self.pre_filter_plugins: list[PreFilterPlugin] = self._at("preFilter")
        self._skipped_by_spec: dict[int, frozenset[str]] = {}
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
        self.placement_generate_plugins: list[PlacementGeneratePlugin] = self._at("placementGenerate")
        self.placement_score_plugins: list[PlacementScorePlugin] = self._at("placementScore")
        self.pod_group_post_filter_plugins = [
            plugin for plugin in self.post_filter_plugins if isinstance(plugin, PodGroupPostFilterPlugin)
        ]
        self.weights = score_weights(profile)
        highest = MAX_NODE_SCORE * sum(self.weights.values())
        self.totals_type: Any = np.int32 if highest <= np.iinfo(np.int32).max else np.int64
        """The type of the sums of weighted scores."""
        self.placement_weights = score_weights(profile, "placementScore")
        if len(self.queue_sort_plugins) != 1:
            raise ConfigError(
                [("plugins.queueSort", f"one plugin is needed, got {len(self.queue_sort_plugins)}")]
            )
        if not self.bind_plugins:
            raise ConfigError([("plugins.bind", "at least one plugin is needed")])

    def _at(self, point: str) -> list[Any]:
        kind = EXTENSION_POINTS[point]
        found = {name: plugin for name, plugin in self.plugins.items() if isinstance(plugin, kind)}
        return [found[name] for name in expand_plugins(self.profile, point, set(found))]

    # Before the queue

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status | None:
        """Run the PreEnqueue plugins, the one named ``first`` before the others. Return the first status that
        keeps the pod gated, None if the pod may enter activeQ.

        A plugin that raises keeps the pod gated, as an Error status does upstream (runPreEnqueuePlugin in
        pkg/scheduler/backend/queue/scheduling_queue.go)."""
        for plugin in sorted(self.pre_enqueue_plugins, key=lambda plugin: plugin.name != first):
            try:
                status = plugin.pre_enqueue(pod)
            except Exception as fault:  # a plugin may raise anything
                status = error(f"{type(fault).__name__}: {fault}")
            if status is not None:
                return status._replace(plugin=plugin.name)
        return None

    def events_to_register(self) -> dict[str, list[ClusterEventWithHint]]:
        """Return the cluster events that may make a rejected pod schedulable, by plugin
        (fillEnqueueExtensions).

        A plugin that can reject pods and does not implement EnqueueExtensions registers all events. A profile
        with extenders registers all events for its extenders."""
        registered = {name: _events_to_register(plugin) for name, plugin in self.plugins.items()}
        if self.extenders:
            registered[EXTENDER] = every_event()
        return registered

    # Filtering

    def skipped_by_spec(self, pod: Pod) -> frozenset[str]:
        """Return the names of the PreFilter plugins that skip all pods with the spec of this one."""
        number = pod.spec_fields[SPEC_NUMBER]
        found = self._skipped_by_spec.get(number)
        if found is None:
            if len(self._skipped_by_spec) >= MAX_SPECS:
                self._skipped_by_spec.clear()
            found = frozenset(plugin.name for plugin in self.pre_filter_plugins if plugin.skips(pod))
            self._skipped_by_spec[number] = found
        return found

    def run_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts:
        """Return for each node the status of the first plugin that rejects it (RunFilterPlugins)."""
        codes = np.zeros(len(nodes), dtype=np.int64)
        statuses: list[Status] = []
        for plugin in self.filter_plugins:
            if plugin.name in state.skip_filter:
                continue
            try:
                if plugin.passing_nodes_only:
                    verdicts = _filter_passing(plugin, state, pod, nodes, codes)
                else:
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
        """Return the verdicts of the nodes (RunFilterPluginsWithNominatedPods): a node passes only if it
        passes with its nominated pods of equal or higher priority and also without them, because it is not
        certain that they will run there."""
        return self.filter_with_nominated_pods(state, pod, nodes)[0]

    def filter_with_nominated_pods(
        self, state: CycleState, pod: Pod, nodes: NodeBatch
    ) -> tuple[Verdicts, list[FilterPasses]]:
        """Return also both passes over each node that has such pods, in the order of the nominations."""
        verdicts = self.run_filter(state, pod, nodes)
        nominated = self._nominated(state, pod, nodes)
        if not nominated:
            return verdicts, []
        codes, statuses = verdicts.codes, list(verdicts.statuses)
        passes = []
        for indices, first in self._with_nominated(state, pod, nodes, nominated):
            for i, code in zip(indices.tolist(), first.codes.tolist(), strict=True):
                passes.append(FilterPasses(int(nodes.rows[i]), nominated[i], code == 0, not codes[i]))
            refused = first.codes > 0
            codes[indices[refused]] = first.codes[refused] + len(statuses)
            statuses += first.statuses
        return Verdicts(codes, statuses), passes

    def _with_nominated(
        self, state: CycleState, pod: Pod, nodes: NodeBatch, nominated: Mapping[int, Sequence[Pod]]
    ) -> Iterator[tuple[Rows, Verdicts]]:
        """Run the filter plugins with the nominated pods added, and yield indices in the batch with their
        verdicts. All nodes are filtered at once, or one node at a time if a plugin has PreFilterExtensions.
        """
        indices = np.fromiter(nominated, dtype=np.intp)
        if not self.extended(state):
            supposed = nodes.copy_nodes(indices)
            for k, others in enumerate(nominated.values()):
                for other in others:
                    supposed.add_pod(k, other)
            yield indices, self.run_filter(state, pod, supposed)
            return
        for i, others in nominated.items():
            index = np.array([i])
            supposed, assumed = nodes.copy_nodes(index), state.clone()
            fault: Status | None = None
            for other in others:
                supposed.add_pod(0, other)
                fault = fault or self.run_add_pod(assumed, pod, other, int(nodes.rows[i]))
            if fault is not None:
                yield index, Verdicts(np.ones(1, dtype=np.int64), (fault,))
            else:
                yield index, self.run_filter(assumed, pod, supposed)

    def _nominated(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> dict[int, list[Pod]]:
        """Return the nominated pods of equal or higher priority, by the node's index in the batch."""
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
        """Return the first error of a plugin, None if there is none (RunPreFilterExtensionAddPod)."""
        for plugin in self.extended(state):
            status = plugin.add_pod(state, pod, added, row)
            if status is not None:
                return error(f'running AddPod on PreFilter plugin "{plugin.name}": {status.message}')
        return None

    def run_remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None:
        """Return the first error of a plugin, None if there is none (RunPreFilterExtensionRemovePod)."""
        for plugin in self.extended(state):
            status = plugin.remove_pod(state, pod, removed, row)
            if status is not None:
                return error(f'running RemovePod on PreFilter plugin "{plugin.name}": {status.message}')
        return None

    def run_add_pods(self, state: CycleState, pod: Pod, rows: Rows, slots: Ints) -> None:
        """See :meth:`simulator.framework.handle.Handle.run_add_pods`."""
        for plugin, added, indices in self._extended_by_kind(state, slots):
            try:
                plugin.add_pods(state, pod, added, rows[indices])
            except PluginError as fault:
                raise PluginError(f'running AddPod on PreFilter plugin "{plugin.name}": {fault}') from None

    def run_remove_pods(self, state: CycleState, pod: Pod, rows: Rows, slots: Ints) -> None:
        """See :meth:`simulator.framework.handle.Handle.run_remove_pods`."""
        for plugin, removed, indices in self._extended_by_kind(state, slots):
            try:
                plugin.remove_pods(state, pod, removed, rows[indices])
            except PluginError as fault:
                raise PluginError(f'running RemovePod on PreFilter plugin "{plugin.name}": {fault}') from None

    def _extended_by_kind(
        self, state: CycleState, slots: Ints
    ) -> Iterator[tuple[ColumnExtensions, Pod, Rows]]:
        """Yield, for each kind of pods in ``slots`` and each plugin with ColumnExtensions: the plugin, one
        pod of the kind, and the indices in ``slots`` of the pods of this kind."""
        plugins = [plugin for plugin in self.extended(state) if isinstance(plugin, ColumnExtensions)]
        if not plugins:
            return
        for representative, indices in state.cluster.index(PodColumns).by_kind(slots):
            for plugin in plugins:
                yield plugin, representative, indices

    def filters_by_columns(self, state: CycleState) -> bool:
        """See :meth:`simulator.framework.handle.Handle.filters_by_columns`."""
        return all(isinstance(plugin, ColumnExtensions) for plugin in self.extended(state))

    def extended(self, state: CycleState) -> list[PreFilterExtensions]:
        """Return the plugins that have PreFilterExtensions and are not skipped in this cycle."""
        return [plugin for plugin in self._extended if plugin.name not in state.skip_filter]


def _events_to_register(plugin: Plugin) -> list[ClusterEventWithHint]:
    if isinstance(plugin, EnqueueExtensions):
        return plugin.events_to_register()
    return every_event() if isinstance(plugin, CAN_REJECT) else []


def _filter_passing(
    plugin: FilterPlugin, state: CycleState, pod: Pod, nodes: NodeBatch, codes: Ints
) -> Verdicts | None:
    """Run the plugin on the nodes that have passed so far. ``codes``: see Verdicts."""
    passing = np.flatnonzero((codes == 0) & nodes.take(nodes.cluster.exists))
    verdicts = plugin.filter(state, pod, NodeBatch(nodes.cluster, nodes.rows[passing]))
    if verdicts is None:
        return None
    of_all = np.zeros(len(nodes), dtype=np.int64)
    of_all[passing] = verdicts.codes
    return Verdicts(of_all, verdicts.statuses)


def _by(plugin: str, status: Status) -> Status:
    if not status.rejected:
        return error(f'running "{plugin}" filter plugin: {status.message}')._replace(plugin=plugin)
    return status._replace(plugin=plugin)
