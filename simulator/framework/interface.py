"""The interface between the scheduler and its plugins, over many nodes at once.

It follows pkg/scheduler/framework/interface.go (staging/src/k8s.io/kube-scheduler/framework), v1.34, in its
names and in the order of calls; where upstream asks node by node, a plugin here answers for a whole
:class:`~simulator.framework.node_batch.NodeBatch`.

A plugin is a class with a ``name`` that derives from one base class per extension point::

    class NodeName(FilterPlugin):
        name = "NodeName"

        def filter(self, state, pod, nodes):
            ...

It is made once per profile, with its decoded arguments, and keeps no state between cycles but caches: what a
cycle works out goes into the :class:`CycleState`, what must follow pods as they come and go into an index of
the cluster (``state.cluster.index(MyCounts)``, see :class:`~simulator.cluster.cluster.PodIndex`), and a
column that depends on node objects only into ``state.cluster.node_column(key, compute)``.

**Supposed pods.** Twice the scheduler asks "what if": with nominated pods added to their nodes (the first of
two filter passes over such a node), and in preemption with lower-priority pods lifted and put back one at a
time. The plugin then gets a batch in which pods are already gone or there: ``nodes.requested``,
``nodes.pod_count`` and ``nodes.pods(i)`` say so, and ``nodes.changed`` lists the indices concerned. A plugin
that counts pods in PreFilter also implements :class:`PreFilterExtensions`: before ``filter`` it hears of
every supposed change through ``add_pod``/``remove_pod``, on a **clone** of the state (values with a
``clone()`` method are cloned by it, others are shared). The state then speaks of exactly one node's
supposition, and ``filter`` gets a batch of just this node. A plugin without these extensions gets all
supposed nodes in one batch. Who returned SKIP from ``pre_filter`` hears nothing of supposed pods and is not
asked to filter.

**Faults.** Raise :class:`PluginError` for what upstream reports as an Error status: for instance state that
is not there because PreFilter was disabled (``state.read`` raises it with upstream's "not found"). To report
an Error for some nodes only, give these nodes a Status with code Error.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from simulator.cluster.columns import Ints
from simulator.decision import Code, Preemption, ScoreInput, ScoreTerm
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod
from simulator.scheduler.chance import draw

if TYPE_CHECKING:
    from simulator.cluster.cluster import Cluster
    from simulator.framework.diagnosis import Diagnosis
    from simulator.framework.runtime import Framework

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0

PODS_TO_ACTIVATE = "kubernetes.io/pods-to-activate"
"""A list of pods that a plugin leaves in the state: they go to activeQ when the cycle ends well."""


class PluginError(Exception):
    """What upstream reports as a Status with code Error: the attempt fails, by a fault and not by a
    verdict."""


class Status(NamedTuple):
    """fwk.Status. No status at all (None) means Success."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def rejected(self) -> bool:
        """Unschedulable, UnschedulableAndUnresolvable or Pending: a verdict, not a fault."""
        return self.code in ("Unschedulable", "UnschedulableAndUnresolvable", "Pending")

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


SKIP = Status("Skip")


def unschedulable(*reasons: str) -> Status:
    """Turned away; preemption might help."""
    return Status("Unschedulable", reasons)


def unresolvable(*reasons: str) -> Status:
    """Turned away for good: lifting other pods would change nothing."""
    return Status("UnschedulableAndUnresolvable", reasons)


def error(reason: str) -> Status:
    return Status("Error", (reason,))


class PreFilterResult(NamedTuple):
    """Success, narrowed down: only these nodes can do (they need not exist)."""

    node_names: frozenset[str]


class Verdicts(NamedTuple):
    """A filter plugin's answer for a batch.

    ``codes`` is an array of small ints of the batch's length (uint8 will do for up to 255 statuses, bool for
    one): 0 = the node passes, k > 0 = turned away with ``statuses[k - 1]``. ``statuses`` may name ones that
    nobody got.
    """

    codes: NDArray[Any]
    statuses: Sequence[Status]


class CycleState:
    """What one scheduling cycle knows: the cluster, who is nominated where, and what plugins noted for
    themselves.

    ``nominated`` maps a node's name to the pods nominated to it, the pod of this cycle perhaps among them.
    ``seed`` and ``cycle`` settle what upstream leaves to chance.
    """

    def __init__(
        self,
        cluster: "Cluster",
        nominated: Mapping[str, Sequence[Pod]] | None = None,
        *,
        seed: int = 0,
        cycle: int = 0,
    ) -> None:
        self.cluster = cluster
        self.nominated = nominated or {}
        self.seed = seed
        self.cycle = cycle
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self._data: dict[str, Any] = {}

    def read(self, key: str) -> Any:
        """Raises PluginError("not found"), upstream's words, where nothing was written."""
        try:
            return self._data[key]
        except KeyError:
            raise PluginError("not found") from None

    def find(self, key: str) -> Any:
        """The same, with None where nothing was written."""
        return self._data.get(key)

    def write(self, key: str, value: Any) -> None:
        """By upstream's custom the key is the extension point and the plugin's name:
        ``PreFilterNodePorts``."""
        self._data[key] = value

    def draw(self, purpose: str, count: int) -> int:
        """A number from 0 up to, not including, ``count``, drawn by the seed for this cycle and purpose."""
        return draw(self.seed, self.cycle, purpose, count)

    def clone(self) -> "CycleState":
        copy = CycleState(self.cluster, self.nominated, seed=self.seed, cycle=self.cycle)
        copy.skip_filter, copy.skip_score = self.skip_filter, self.skip_score
        copy._data = {k: v.clone() if hasattr(v, "clone") else v for k, v in self._data.items()}
        return copy


class Plugin(ABC):
    """One plugin of one profile. ``args`` are its decoded arguments (simulator/config/args.py), None for a
    plugin that takes none; ``framework`` is the profile that it belongs to."""

    name: ClassVar[str]

    def __init__(self, args: Any, framework: "Framework") -> None:
        self.args = args
        self.framework = framework


class PreEnqueuePlugin(Plugin):
    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Whether the pod may enter activeQ. A status other than None keeps it gated."""


class QueueSortPlugin(Plugin):
    @abstractmethod
    def sort_key(self, pod: Pod, timestamp: int) -> tuple[Any, ...]:
        """What activeQ is ordered by, smallest first; ``timestamp`` is when the pod entered the queue."""


class PreFilterPlugin(Plugin):
    @abstractmethod
    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        """Look at the pod, and at all nodes where need be; note in ``state`` what ``filter`` will want.

        None = go on with all nodes, PreFilterResult = go on with these, SKIP = the plugin has nothing to
        filter in this cycle; another status ends the search for nodes.
        """


class PreFilterExtensions(PreFilterPlugin):
    """For a plugin that counts pods in PreFilter. ``row`` is the cluster's row of the node concerned."""

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> Status | None:
        """``added`` is now supposed to be on the node. ``state`` is a clone and may be written to."""

    @abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None:
        """``removed`` is now supposed to be gone from the node."""


class FilterPlugin(Plugin):
    counts_only: ClassVar[bool] = False
    """The plugin looks at no pods, only at nodes and at ``requested`` and ``pod_count``: then preemption can
    try many nodes at once, without supposing things pod by pod."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        """Which nodes can take the pod; None = all of them. Must not note anything in ``state``."""


class PostFilterResult(NamedTuple):
    """``nominated_node`` None leaves the pod's nomination as it is, "" clears it. ``preemption`` makes the
    record of what preemption found, which costs more than finding it."""

    nominated_node: str | None
    preemption: Callable[[], Preemption] | None = None


class PostFilterPlugin(Plugin):
    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: "Diagnosis"
    ) -> tuple[PostFilterResult | None, Status | None]:
        """No node passed. A status of None (Success) says that something was found that helps."""


class PreScorePlugin(Plugin):
    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        """``nodes`` are those that passed. SKIP leaves the plugin out of scoring."""


class Explained(NamedTuple):
    """What scores come from, for people: see :class:`simulator.decision.PluginScores`."""

    inputs: Sequence[ScoreInput] = ()
    strategy: str = ""
    shape: tuple[tuple[int, int], ...] = ()
    terms: Sequence[ScoreTerm] = ()


class ScorePlugin(Plugin):
    @abstractmethod
    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        """int64[n], a raw score for every node that passed: any numbers, if ``normalize`` brings them to
        0..100."""

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        """The scores brought to 0..100 (a new array); as they are, unless overridden."""
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        """The numbers that :meth:`score` works with, for a few nodes; none, unless overridden."""
        return Explained()


class ReservePlugin(Plugin):
    @abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Note that the pod will be on this node."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Forget it again; called also where ``reserve`` failed or was not reached."""


class PermitPlugin(Plugin):
    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        """Status Wait, with how many microseconds, keeps the pod waiting."""


class PreBindPlugin(Plugin):
    @abstractmethod
    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Do what must be done before the pod is bound."""


class BindPlugin(Plugin):
    @abstractmethod
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """SKIP leaves it to the next one."""


class PostBindPlugin(Plugin):
    @abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """The pod is bound."""


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
}
"""The extension points by the name that KubeSchedulerConfiguration gives them."""
