"""NodeDeclaredFeatures (pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go, and
staging/src/k8s.io/component-helpers/nodedeclaredfeatures)."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from simulator.api import Manifest
from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin, SignPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.signers import FEATURES, Fragments
from simulator.framework.status import PreFilterResult, Status, Verdicts, unresolvable
from simulator.objects.node import Node
from simulator.objects.pod import Pod

STATE: Final = "PreFilterNodeDeclaredFeatures"
REASON: Final = unresolvable("node(s) didn't match Pod's required features")
RESTART_ALL_CONTAINERS: Final = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK: Final = "UserNamespacesHostNetworkSupport"


class NodeDeclaredFeatures(EnqueueExtensions, SignPlugin, PreFilterPlugin, FilterPlugin):
    """Rejects nodes whose ``status.declaredFeatures`` lack a feature of the kubelet that the pod needs."""

    name = "NodeDeclaredFeatures"

    def sign_pod(self, pod: Pod) -> Fragments:
        return {FEATURES: needed_features(pod.spec)}

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE, node_changed),
            register(POD, ActionType.UPDATE, pod_changed),
        ]

    def skips(self, pod: Pod) -> bool:
        return not needed_features(pod.spec)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        state.write(STATE, needed_features(pod.spec))
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        needed: list[str] = state.read(STATE)
        cluster = nodes.cluster
        lacking = np.zeros(cluster.width, dtype=np.bool_)
        for row in cluster.rows.values():
            lacking[row] = not declares(cluster.node(row), needed)
        return Verdicts(nodes.take(lacking), (REASON,))


def needed_features(spec: Manifest) -> list[str]:
    """Return the features that a pod needs, sorted (InferForPodScheduling)."""
    needed = []
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    rules = (rule for container in containers for rule in container.get("restartPolicyRules") or ())
    if any(rule.get("action") == "RestartAllContainers" for rule in rules):
        needed.append(RESTART_ALL_CONTAINERS)
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        needed.append(USER_NAMESPACES_HOST_NETWORK)
    return needed


def declares(node: Node, needed: Iterable[str]) -> bool:
    """Return whether a node declares all these features. Both lists are walked once, as upstream: of a list
    that is not sorted, some features are not seen."""
    declared = iter((node.manifest.get("status") or {}).get("declaredFeatures") or ())
    for feature in needed:
        for other in declared:
            if other >= feature:
                break
        else:
            return False
        if other != feature:
            return False
    return True


# Queueing hints


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue if a node now declares what the pod needs."""
    needed = needed_features(pod.spec)
    return declares(new, needed) and (old is None or not declares(old, needed))


def pod_changed(pod: Pod, old: Pod, new: Pod) -> bool:
    """Queue if the updated pod is the rejected pod, and needs other features now."""
    return new.uid == pod.uid and needed_features(old.spec) != needed_features(new.spec)
