"""Puts pods into a cluster one by one, where the scheduler's own attempt puts them, and takes them back.

Nothing is evicted for them, and no time passes. A pod gets its volumes and devices with its node."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import NamedTuple

from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_built_in
from simulator.apiserver.served_features import serving
from simulator.cluster.cluster import Cluster
from simulator.framework import snapshot
from simulator.framework.cycle_state import CycleState
from simulator.framework.pre_filter import run_pre_filter
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.extended_resources import GATE as EXTENDED_RESOURCES
from simulator.plugins.dynamic_resources.extended_resources import extended_resources
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.registry import load, profiles
from simulator.questions.answer import AskedCluster
from simulator.questions.journal import Journal
from simulator.questions.pod_claims import create_claims, take_claims
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.scheduler.submit_podgroup import refusal_of
from simulator.what_if.gang import GangSituation, find_gang
from simulator.what_if.rivals import read_of_pod
from simulator.what_if.situation import Situation


class Placed(NamedTuple):
    """The result of an attempt. node: "" = it fits nowhere, and ``why`` is what the scheduler says."""

    node: str
    why: str = ""


class Placing:
    def __init__(self, asked: AskedCluster, seed: int) -> None:
        """seed: decides between nodes of equal score. Raises ConfigError."""
        self._asked, self._seed = asked, seed
        self.frameworks: Mapping[str, Framework] = profiles(
            load(asked.configuration, features=asked.features)
        )
        self.cluster = Cluster()
        """Empty until the objects are taken in."""
        self.nominated: Mapping[str, Sequence[Pod]] = {}
        self.journal = Journal(self.cluster)
        """What was changed since."""
        self._attempts = 0
        self._next_start = 0

    def take_in(self) -> Iterator[None]:
        """Read all objects. Yields often."""
        with serving(self._asked.features):
            resources = {name: _resource(name) for name in self._asked.objects}
        items = (
            (resource, manifest)
            for name, collection in self._asked.objects.items()
            if (resource := resources[name]) is not None
            for manifest in collection.values()
        )
        self.nominated = yield from snapshot.read_in_pieces(self.cluster, items, self.frameworks)

    def place_in_turn(self, pods: Sequence[Pod], done: float) -> Generator[float, None, list[Placed]]:
        """Place pods in this order, and return where each is. Those that are rejected by a rule about other
        pods are tried again once another pod has a node, as the scheduler's queue does; the waiting pods of a
        gang are placed together, or not at all. Yields ``done`` before each attempt."""
        found: dict[str, Placed] = {}
        waiting = pods
        while waiting:
            failed: dict[bytes, str] = {}
            tried: dict[str, Placed] = {}
            for pod in waiting:
                if pod.key in tried:
                    continue
                yield done
                gang = self._place_gang(pod)
                if gang is not None:
                    tried |= gang
                    continue
                alike = read_of_pod(pod.manifest) if failed else b""
                tried[pod.key] = Placed("", failed[alike]) if alike in failed else self.place(pod)
                if not tried[pod.key].node:
                    failed[alike or read_of_pod(pod.manifest)] = tried[pod.key].why
            found |= tried
            if not any(each.node for each in tried.values()):
                break
            waiting = [pod for pod in waiting if not found[pod.key].node and self._is_helped(pod)]
        return [found[pod.key] for pod in pods]

    def _is_helped(self, pod: Pod) -> bool:
        """Whether another pod that gets a node may let this one have a node, too."""
        framework = self.frameworks.get(pod.scheduler_name)
        return framework is not None and bool(
            pod.affinity.required or pod.pod_group or is_spread(framework, pod, self)
        )

    def _place_gang(self, pod: Pod) -> dict[str, Placed] | None:
        """Put the waiting pods of the pod's gang on nodes, if the scheduler would bind them; None = it does
        not wait in a gang."""
        framework = self.frameworks.get(pod.scheduler_name)
        known = self.cluster.pod_groups.get(pod.pod_group).pods if pod.pod_group else {}
        if framework is None or pod.uid not in known or framework.run_pre_enqueue(pod) is not None:
            return None
        situation = Situation(
            self.cluster, pod, self.frameworks, self._nominated_besides(pod), seed=self._seed
        )
        group = find_gang(situation)
        if group is None:
            return None
        result = GangSituation(situation, group).as_it_is
        found = {}
        for member in result.members:
            of = member.info.pod
            if result.verdict == "scheduled" and member.fits:
                # The group's cycle has taken back what it has reserved.
                state = CycleState(self.cluster, situation.nominated, seed=self._seed)
                run_pre_filter(framework, state, of)
                found[of.key] = self._bind(framework, state, of.assumed(member.node))
            else:
                found[of.key] = Placed("", refusal_of(result, member)[0])
        return found

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
        return self._bind(framework, search.state, pod.assumed(self.cluster.node(search.selected).name))

    def _bind(self, framework: Framework, state: CycleState, assumed: Pod) -> Placed:
        """Put a pod on its node, with its volumes and devices. state: that of its attempt."""
        mark = self.journal.mark
        self.put(assumed)
        status = take_claims(self.journal, framework, state, assumed)
        if status is None:
            return Placed(assumed.node_name)
        self.journal.take_back(mark)
        return Placed("", status.message)

    def search(self, framework: Framework, pod: Pod) -> Attempt:
        """Return a finished attempt. The next one begins at the node at which a scheduler would."""
        self._attempts += 1
        search = Attempt(
            framework,
            self.cluster,
            pod,
            self._nominated_besides(pod),
            seed=self._seed,
            cycle=self._attempts,
            start_node_index=self._next_start,
            post_filters=False,
        )
        search.complete()
        self._next_start = search.next_start_node_index
        return search

    def _nominated_besides(self, pod: Pod) -> dict[str, list[Pod]]:
        """Return the nominated pods that wait: one that is placed is no longer nominated."""
        placed = self.cluster.pods
        return {
            node: [other for other in others if other.key != pod.key and other.key not in placed]
            for node, others in self.nominated.items()
        }

    def create(self, pod: Pod) -> Pod:
        """Create the claims of a new pod, and let its gang know it. Returns the pod with its claims."""
        created = create_claims(self.journal, pod)
        if created.pod_group:
            self.cluster.pod_groups.set_pod(created)
            self.journal.add(partial(self.cluster.pod_groups.remove_pod, created))
        return created

    def put(self, assumed: Pod) -> None:
        self.cluster.add_pod(assumed)
        if assumed.pod_group:
            self.cluster.pod_groups.assume(assumed)
        self.journal.add(partial(self._remove, assumed))

    def _remove(self, assumed: Pod) -> None:
        self.cluster.remove_pod(assumed)
        if assumed.pod_group:
            self.cluster.pod_groups.forget(assumed)

    def begin_again(self) -> None:
        """Break ties from now on as in the first attempt."""
        self._attempts = self._next_start = 0


def renamed(pod: Pod, number: int) -> Pod:
    """Return a copy of a pod, with parsed fields that are shared."""
    copied = copy(pod)
    copied.name = f"{pod.name}-{number}"
    copied.key = copied.uid = f"{pod.namespace}/{copied.name}"
    return copied


def is_spread(framework: Framework, pod: Pod, placing: Placing) -> bool:
    """Whether the pod has a spread constraint that rejects nodes, its own or one of the configuration."""
    spread = framework.plugins.get("PodTopologySpread")
    return isinstance(spread, PodTopologySpread) and bool(
        spread.constraints(pod, placing.cluster, "DoNotSchedule")
    )


def depends_on_node_only(framework: Framework, pod: Pod, placing: Placing) -> bool:
    """Whether a node's verdict on the pod is not changed by further copies of it on other nodes: it has no
    required terms about other pods, no spread constraint, no claim, and no extender is asked. The number
    that fits is then the sum of the nodes, in whichever order the copies come."""
    claims = any(
        "persistentVolumeClaim" in volume or "ephemeral" in volume for volume in pod.spec.get("volumes") or ()
    )
    known = all(type(plugin).__module__.startswith("simulator.") for plugin in framework.filter_plugins)
    return known and not (
        is_spread(framework, pod, placing)
        or pod.affinity.required
        or pod.affinity.required_anti
        or claims
        or pod.spec.get("resourceClaims")
        or (framework.features.enabled(EXTENDED_RESOURCES) and extended_resources(placing.cluster, pod))
        or pod.pod_group
        or framework.extenders
    )


def _resource(name: str) -> Resource | None:
    plural, _, group = name.partition(".")
    return find_built_in(group, plural)
