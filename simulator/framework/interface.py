"""The plugin interface of the scheduler (staging/src/k8s.io/kube-scheduler/framework/interface.go).

Names and the order of calls are upstream's. The difference: upstream calls Filter and Score once per node;
here one call filters or scores all nodes of a :class:`~simulator.framework.node_batch.NodeBatch`.

A plugin is a class with a ``name`` that derives from one base class per extension point::

    class NodeName(FilterPlugin):
        name = "NodeName"

        def filter(self, state, pod, nodes):
            ...

There is one instance per profile. It must keep no state between scheduling cycles except caches:

* Data of one cycle belong in the :class:`CycleState`.
* Data that must be updated when pods are added and removed belong in an index of the cluster:
  ``state.cluster.index(MyCounts)``, see :class:`~simulator.cluster.cluster.PodIndex`.
* A column that depends on node objects only is cached with ``state.cluster.node_column(key, compute)``.

**Copied nodes.** In two cases the scheduler filters a copy of nodes whose pods differ from those of the
cluster: nodes with nominated pods are first filtered with these pods added; and preemption removes pods of
lower priority and adds them again one at a time. The plugin then gets a batch
(:class:`~simulator.framework.node_batch.CopiedNodes`) in which ``nodes.requested(resource)``,
``nodes.pod_count`` and ``nodes.pods(i)`` are those of the copy, and ``nodes.changed`` has the indices of the
nodes that differ. A plugin that counts pods in PreFilter must also implement :class:`PreFilterExtensions`:
before ``filter``, its ``add_pod`` and ``remove_pod`` are called for each pod that was added or removed, with
a **clone** of the state (see CycleState.clone). The state is then changed for one node, and ``filter`` gets a
batch of only this node.

For preemption on thousands of nodes this is slow. A plugin that implements :class:`ColumnExtensions` gets
many nodes in one call, each with its own pods removed. A plugin without PreFilterExtensions always gets many
nodes. If any plugin has PreFilterExtensions but not ColumnExtensions, preemption processes one node at a
time.

If a plugin returns SKIP from ``pre_filter``, its ``filter``, ``add_pod`` and ``remove_pod`` are not called in
this cycle.

**Errors.** Raise :class:`PluginError` where upstream returns an Error status, for example if the state was
not written because PreFilter is disabled (``state.read`` then raises it with upstream's message "not found").
To return an Error for some nodes only, give these nodes a Status with code Error."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.config.args import Args
from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.handle import Handle
from simulator.framework.node_batch import NodeBatch
from simulator.framework.placement import Placement, PlacementAssignments
from simulator.framework.queueing_hint import ClusterEventWithHint
from simulator.framework.score_explanation import ScoreExplanation
from simulator.framework.signers import Fragments
from simulator.framework.status import (
    GroupVictims,
    PluginError,
    PostFilterResult,
    PreFilterResult,
    Status,
    Verdicts,
    error,
)
from simulator.kernel.requests import Steps
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0


class Plugin(ABC):
    """One plugin of one profile.

    ``args`` are the arguments from ``pluginConfig``. With an ``args_type`` they are an instance of it, with
    defaults and validated; without, they are the manifest, or None if there is none. ``handle`` gives access
    to the scheduler."""

    name: ClassVar[str]
    args_type: ClassVar[type[Args] | None] = None

    def __init__(self, args: Any, handle: Handle) -> None:
        self.args = args
        self.handle = handle


class EnqueueExtensions(Plugin):
    """A plugin that registers the cluster events that can make a pod schedulable which it rejected.

    A plugin without EnqueueExtensions that can reject pods is registered for all events."""

    @abstractmethod
    def events_to_register(self) -> list[ClusterEventWithHint]:
        """EventsToRegister: return the events with their queueing hints. Called when the scheduler starts."""


class SignPlugin(Plugin):
    """A plugin that says on what of a pod the results of PreFilter, Filter, PreScore and Score depend."""

    @property
    def signs_pods(self) -> bool:
        """Whether ``sign_pod`` signs any pod, as the plugin is configured."""
        return True

    @abstractmethod
    def sign_pod(self, pod: Pod) -> Fragments | None:
        """SignPod: return the plugin's fragments of the pod's signature. On the same nodes, pods with the
        same signature have the same results. None = they depend on more than the pod and one node, so that
        the pod has no signature."""


class PreEnqueuePlugin(Plugin):
    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """PreEnqueue: return None if the pod can enter activeQ, else the status that keeps it gated."""


class QueueSortPlugin(Plugin):
    @abstractmethod
    def sort_key(self, pod: Pod, timestamp: int) -> tuple[Any, ...]:
        """Return the key by which activeQ is sorted, the smallest first (Less upstream). ``timestamp`` is the
        time in microseconds at which the pod was added to the queue or last failed."""


class PreFilterPlugin(Plugin):
    @abstractmethod
    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        """PreFilter: write to ``state`` what ``filter`` needs for this pod.

        Return None to continue with all nodes, a PreFilterResult to continue with some nodes, or SKIP if the
        plugin has nothing to filter in this cycle. With any other status no node is filtered.
        """

    def skips(self, pod: Pod) -> bool:
        """Whether the plugin has nothing to filter for any pod with this namespace and spec, whatever else
        there is. It is asked once for all these pods, and ``pre_filter`` is not called then."""
        return False


class PreFilterExtensions(PreFilterPlugin):
    """A PreFilter plugin that counts pods, and changes its counts when a pod is added or removed. ``row`` is
    the cluster's row of the node that changes."""

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> Status | None:
        """AddPod: change ``state``, which is a clone, as if ``added`` were on the node."""

    @abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None:
        """RemovePod: change ``state``, which is a clone, as if ``removed`` were not on the node."""


class ColumnExtensions(PreFilterExtensions):
    """PreFilterExtensions that process many nodes in one call.

    A change on one node must not affect the result of ``filter`` for another node, even if both are in the
    same topology domain. Therefore the state stores changes per row
    (:class:`~simulator.framework.node_batch.CountChanges`). One call stands for many pods of the same kind
    (:class:`~simulator.cluster.pod_columns.PodKind`), so the plugin may only use the properties that all pods
    of a kind have in common."""

    @abstractmethod
    def add_pods(self, state: CycleState, pod: Pod, added: Pod, rows: Rows) -> None:
        """Change ``state`` as if one more pod of the kind of ``added`` were on each of these rows; two more
        on a row that occurs twice. Raises PluginError, with which the whole preemption fails."""

    @abstractmethod
    def remove_pods(self, state: CycleState, pod: Pod, removed: Pod, rows: Rows) -> None:
        """Change ``state`` as if one pod fewer of the kind of ``removed`` were on each of these rows. Raises
        PluginError, with which the whole preemption fails."""

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> Status | None:
        try:
            self.add_pods(state, pod, added, np.array([row]))
        except PluginError as fault:
            return error(str(fault))
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None:
        try:
            self.remove_pods(state, pod, removed, np.array([row]))
        except PluginError as fault:
            return error(str(fault))
        return None


class FilterPlugin(Plugin):
    passing_nodes_only: ClassVar[bool] = False
    """Whether ``filter`` gets only the nodes that the plugins before it let pass, as upstream. For a plugin
    whose cost grows with each node, or that notes what it finds. It must not read the pods of the nodes."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        """Filter: return which nodes are rejected; None = no node. Must not write to ``state``."""


class PostFilterPlugin(Plugin):
    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status | None]:
        """PostFilter: called if no node passed the filters. Return a status of None (Success) if the pod can
        be scheduled after the actions in the result."""


class PreemptionPlugin(PostFilterPlugin):
    """A PostFilter plugin that selects pods to evict. ``post_filter`` writes how it came to its result to
    ``state`` (:class:`simulator.preemption.select_candidate.Evaluation`), and changes nothing else: it may
    also be called for display, where a PostFilter plugin before it ended the extension point."""


class GroupSchedule(Protocol):
    """Tries a group in the cluster as it is at that moment."""

    def __call__(self) -> Status | None:
        """Return None (Success), or why the group cannot be scheduled."""

    def still_succeeds(self, returned: Sequence[Pod]) -> bool:
        """Return whether a call returns None, since these pods were put back, after a call that did. If not,
        they are taken off again."""


class PodGroupPostFilterPlugin(PostFilterPlugin):
    """A PostFilter plugin that selects pods to evict for a whole group (PodGroupPostFilterPlugin)."""

    @abstractmethod
    def pod_group_post_filter(
        self,
        cluster: Cluster,
        group: PodGroup,
        pods: Sequence[Pod],
        schedule: GroupSchedule,
    ) -> GroupVictims | Status:
        """PodGroupPostFilter: return the pods whose eviction lets the group be scheduled, or why none does.
        ``pods`` are those of the cycle. The cluster is left as it was."""


class PlacementGeneratePlugin(Plugin):
    @abstractmethod
    def generate_placements(
        self, cluster: Cluster, group: PodGroup, parent: Placement
    ) -> Sequence[Placement] | Status:
        """GeneratePlacements: return the sets of nodes of ``parent`` in each of which the group is to be
        tried; ``parent`` itself where the plugin has nothing to divide."""


class PlacementScorePlugin(Plugin):
    @abstractmethod
    def score_placements(
        self, cluster: Cluster, group: PodGroup, assignments: Sequence[PlacementAssignments]
    ) -> Sequence[int]:
        """ScorePlacement and NormalizePlacementScore: return a score from 0 to 100 for each placement in
        which the group can be scheduled."""


class PreScorePlugin(Plugin):
    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        """PreScore: write to ``state`` what ``score`` needs. ``nodes`` are the nodes that passed the filters.
        If it returns SKIP, ``score`` is not called in this cycle."""


class ScorePlugin(Plugin):
    normalized_zero: ClassVar[int] = MIN_NODE_SCORE
    """What ``normalize`` makes of scores that are all 0."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints | None:
        """Score: return a raw score for each node, int64[n]. The scores must be from 0 to 100 unless
        ``normalize`` is overridden. None = 0 for each node; ``normalize`` and ``explain`` are not called
        then."""

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        """NormalizeScore: return scores from 0 to 100 as a new array. The default returns ``scores``."""
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        """Return the numbers from which :meth:`score` computes the scores of these nodes. The default returns
        none."""
        return ScoreExplanation()

    def explanation_key(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return what :meth:`explain` depends on besides the cluster's node objects and the pods on these
        nodes. It is not called again where neither of these changed. The default, None: call it each time."""
        return None


class ReservePlugin(Plugin):
    @abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Reserve: reserve resources of the node for the pod, which is assumed. A status rejects the pod."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Unreserve: undo ``reserve``. Also called if ``reserve`` failed, or was not called because the
        ``reserve`` of an earlier plugin failed."""


class PermitPlugin(Plugin):
    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        """Permit: return None to continue, or a status and a timeout in microseconds. Status Wait keeps the
        pod waiting until the timeout; any other status rejects the pod."""


class PreBindPlugin(Plugin):
    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """PreBindPreFlight: return SKIP if ``pre_bind`` has nothing to do for the pod, so that it is not
        called. It is asked since v1.35, before the pod waits on Permit. Must not write or wait."""
        return None

    @abstractmethod
    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | Steps[Status | None] | None:
        """Do what must be done before the pod is bound. A status other than None fails the binding.

        A plugin that waits or writes is a generator: it yields :class:`~simulator.kernel.requests.Wait` and
        :class:`~simulator.kernel.requests.Write` (of a :class:`simulator.api.Change`), and returns the
        status."""


class BindPlugin(Plugin):
    @abstractmethod
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Bind: return None if the pod is to be bound, SKIP to call the next plugin, or an error."""


class PostBindPlugin(Plugin):
    @abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """PostBind: called after the pod is bound."""


EXTENSION_POINTS: dict[str, type[Plugin]] = {
    "preEnqueue": PreEnqueuePlugin,
    "queueSort": QueueSortPlugin,
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
    "placementGenerate": PlacementGeneratePlugin,
    "placementScore": PlacementScorePlugin,
}
"""The extension points by the name that KubeSchedulerConfiguration gives them."""
