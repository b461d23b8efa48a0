"""PodGroups and Workloads of scheduling.k8s.io/v1alpha2, which are served with the gate GenericWorkload
(pkg/registry/scheduling/podgroup/strategy.go and pkg/registry/scheduling/workload/strategy.go)."""

from typing import Final

from simulator.apiserver.resource import built_in
from simulator.apiserver.strategy import Strategy, spec_of

GATE: Final = "GenericWorkload"
POD_GROUPS: Final = built_in("scheduling.k8s.io/v1alpha2", "PodGroup", has_status=True, gate=GATE)
WORKLOADS: Final = built_in("scheduling.k8s.io/v1alpha2", "Workload", gate=GATE)

POD_GROUP_STRATEGY: Final = Strategy(resource=POD_GROUPS, desired_state=spec_of)
WORKLOAD_STRATEGY: Final = Strategy(resource=WORKLOADS, desired_state=spec_of)
