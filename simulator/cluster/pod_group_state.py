"""The pods of each PodGroup that the scheduler knows, with and without a node
(pkg/scheduler/backend/cache/podgroupstate.go). A PodGroup itself is an object of the cluster, which may be
missing while there are pods of it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from simulator.cluster.other_objects import OtherObjects
from simulator.objects.pod import Pod
from simulator.objects.pod_group import POD_GROUPS, PodGroup


class PodGroupState:
    """The pods of one group by uid: ``pods`` are all that the scheduler knows; ``scheduled`` are those that
    are assumed or bound, with their nodes."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.scheduled: dict[str, Pod] = {}

    def unscheduled_pods(self) -> list[Pod]:
        """Return the pods that are neither assumed nor bound, in the order in which they came."""
        return [pod for uid, pod in self.pods.items() if uid not in self.scheduled]


class PodGroupStates:
    """The states of the groups by ``namespace/name``. A group without a pod has none."""

    def __init__(self) -> None:
        self._states: dict[str, PodGroupState] = {}

    def get(self, key: str) -> PodGroupState:
        """Return the state of a group; an empty one if the scheduler knows no pod of it."""
        return self._states.get(key) or PodGroupState()

    def states(self) -> Mapping[str, PodGroupState]:
        return self._states

    @contextmanager
    def replaced(self, states: Mapping[str, PodGroupState]) -> Iterator[None]:
        """Give some groups other states in the context."""
        own = self._states
        self._states = {**own, **states}
        try:
            yield
        finally:
            self._states = own

    def set_pod(self, pod: Pod) -> None:
        """Add a pod, or replace it by a newer version. A pod that is assumed stays so."""
        state = self._states.setdefault(pod.pod_group, PodGroupState())
        state.pods[pod.uid] = pod
        if pod.node_name:
            state.scheduled[pod.uid] = pod

    def remove_pod(self, pod: Pod) -> None:
        state = self.get(pod.pod_group)
        state.pods.pop(pod.uid, None)
        state.scheduled.pop(pod.uid, None)
        if not state.pods:
            self._states.pop(pod.pod_group, None)

    def assume(self, assumed: Pod) -> None:
        """Note that a pod is assumed. A pod that was deleted meanwhile is not."""
        state = self.get(assumed.pod_group)
        if assumed.uid in state.pods:
            state.scheduled[assumed.uid] = assumed

    def forget(self, assumed: Pod) -> None:
        state = self.get(assumed.pod_group)
        known = state.pods.get(assumed.uid)
        if known is not None and not known.node_name:
            state.scheduled.pop(assumed.uid, None)


def find_pod_group(objects: OtherObjects, key: str) -> PodGroup | None:
    manifest = objects.objects(POD_GROUPS).get(key)
    return None if manifest is None else PodGroup(manifest)
