"""Puts pods into a cluster one by one, where the scheduler's own attempt puts them, and takes them back.

Nothing is evicted for them, and no time passes. What a running copy adds, such as the volumes and devices of
a pod, is not there."""

from collections.abc import Mapping
from copy import copy
from typing import NamedTuple

from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_built_in
from simulator.framework import snapshot
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.registry import load, profiles
from simulator.questions.answer import AskedCluster
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message


class Placed(NamedTuple):
    """The result of an attempt. node: "" = it fits nowhere, and ``why`` is what the scheduler says."""

    node: str
    why: str = ""


class Placing:
    def __init__(self, asked: AskedCluster, seed: int) -> None:
        """seed: decides between nodes of equal score. Raises ConfigError."""
        self.frameworks: Mapping[str, Framework] = profiles(
            load(asked.configuration, features=asked.features)
        )
        items = (
            (resource, manifest)
            for name, collection in asked.objects.items()
            if (resource := _resource(name)) is not None
            for manifest in collection.values()
        )
        self.cluster, self.nominated = snapshot.read(items, self.frameworks)
        self._seed = seed
        self._attempts = 0
        self._next_start = 0
        self._placed: list[Pod] = []

    def place(self, pod: Pod) -> Placed:
        """Put the pod on the node that the scheduler selects, if there is one."""
        framework = self.frameworks.get(pod.scheduler_name)
        if framework is None:
            return Placed("", f"no profile has the schedulerName {pod.scheduler_name}")
        gate = framework.run_pre_enqueue(pod)
        if gate is not None:
            return Placed("", gate.message)
        search = self.search(framework, pod)
        if search.selected is None:
            return Placed("", message(search))
        node = self.cluster.node(search.selected).name
        self.put(pod.assumed(node))
        return Placed(node)

    def search(self, framework: Framework, pod: Pod) -> Attempt:
        """Return a finished attempt. The next one begins at the node at which a scheduler would."""
        self._attempts += 1
        nominated = {
            node: [other for other in others if other.key != pod.key]
            for node, others in self.nominated.items()
        }
        search = Attempt(
            framework,
            self.cluster,
            pod,
            nominated,
            seed=self._seed,
            cycle=self._attempts,
            start_node_index=self._next_start,
            post_filters=False,
        )
        search.complete()
        self._next_start = search.next_start_node_index
        return search

    def put(self, assumed: Pod) -> None:
        self.cluster.add_pod(assumed)
        self._placed.append(assumed)

    @property
    def mark(self) -> int:
        """What :meth:`take_back` is given to return to the present state."""
        return len(self._placed)

    def take_back(self, mark: int) -> None:
        """Take back all pods that were put into the cluster since."""
        while len(self._placed) > mark:
            self.cluster.remove_pod(self._placed.pop())

    def begin_again(self) -> None:
        """Break ties from now on as in the first attempt."""
        self._attempts = self._next_start = 0


def renamed(pod: Pod, number: int) -> Pod:
    """Return a copy of a pod, with parsed fields that are shared."""
    copied = copy(pod)
    copied.name = f"{pod.name}-{number}"
    copied.key = f"{pod.namespace}/{copied.name}"
    return copied


def depends_on_node_only(framework: Framework, pod: Pod, placing: Placing) -> bool:
    """Whether a node's verdict on the pod is not changed by further copies of it on other nodes: it has no
    required terms about other pods, no spread constraint, no claim, and no extender is asked. The number
    that fits is then the sum of the nodes, in whichever order the copies come."""
    spread = framework.plugins.get("PodTopologySpread")
    constrained = isinstance(spread, PodTopologySpread) and spread.constraints(
        pod, placing.cluster, "DoNotSchedule"
    )
    claims = any(
        "persistentVolumeClaim" in volume or "ephemeral" in volume for volume in pod.spec.get("volumes") or ()
    )
    known = all(type(plugin).__module__.startswith("simulator.") for plugin in framework.filter_plugins)
    return known and not (
        constrained
        or pod.affinity.required
        or pod.affinity.required_anti
        or claims
        or pod.spec.get("resourceClaims")
        or pod.pod_group
        or framework.extenders
    )


def _resource(name: str) -> Resource | None:
    plural, _, group = name.partition(".")
    return find_built_in(group, plural)
