"""The values of the fields that take one of a fixed set. Validation lets them through, and the schemas of the
OpenAPI documents list them.

Each is a string type of Kubernetes' Go packages with the tag ``+enum``. They are in the order in which the
messages of validation write them.
"""

from pathlib import Path
from typing import Final

from simulator.apiserver.types.api_types import VERSION

Choices = tuple[str, ...]


def _read(version: str) -> dict[str, dict[str, Choices]]:
    path = Path(__file__).parent / "types" / f"enumerations-v{version}.txt"
    found: dict[str, dict[str, Choices]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            values, _, fields = line.partition(": ")
            for field in fields.split():
                of, _, name = field.rpartition(".")
                found.setdefault(of, {})[name] = (*values.split(", "),)
    return found


FIELDS: Final = _read(VERSION)
"""The values by type, without ``io.k8s.api``, and field."""

PULL_POLICIES: Final = FIELDS["core.v1.Container"]["imagePullPolicy"]
MESSAGE_POLICIES: Final = FIELDS["core.v1.Container"]["terminationMessagePolicy"]
PROTOCOLS: Final = FIELDS["core.v1.ContainerPort"]["protocol"]
SCHEMES: Final = FIELDS["core.v1.HTTPGetAction"]["scheme"]
PROPAGATIONS: Final = FIELDS["core.v1.VolumeMount"]["mountPropagation"]
PROC_MOUNTS: Final = FIELDS["core.v1.SecurityContext"]["procMount"]
PROFILES: Final = FIELDS["core.v1.AppArmorProfile"]["type"]
RESTART_POLICIES: Final = FIELDS["core.v1.PodSpec"]["restartPolicy"]
DNS_POLICIES: Final = FIELDS["core.v1.PodSpec"]["dnsPolicy"]
PREEMPTION_POLICIES: Final = FIELDS["core.v1.PodSpec"]["preemptionPolicy"]
GROUP_CHANGE_POLICIES: Final = FIELDS["core.v1.PodSecurityContext"]["fsGroupChangePolicy"]
GROUPS_POLICIES: Final = FIELDS["core.v1.PodSecurityContext"]["supplementalGroupsPolicy"]
TAINT_EFFECTS: Final = FIELDS["core.v1.Taint"]["effect"]
TOLERATION_OPERATORS: Final = FIELDS["core.v1.Toleration"]["operator"]
WHEN_UNSATISFIABLE: Final = FIELDS["core.v1.TopologySpreadConstraint"]["whenUnsatisfiable"]
NODE_POLICIES: Final = FIELDS["core.v1.TopologySpreadConstraint"]["nodeAffinityPolicy"]
ACCESS_MODES: Final = FIELDS["core.v1.PersistentVolumeClaimSpec"]["accessModes"]
VOLUME_MODES: Final = FIELDS["core.v1.PersistentVolumeClaimSpec"]["volumeMode"]
RECLAIM_POLICIES: Final = FIELDS["core.v1.PersistentVolumeSpec"]["persistentVolumeReclaimPolicy"]
HOST_PATH_TYPES: Final = FIELDS["core.v1.HostPathVolumeSource"]["type"]
SERVICE_TYPES: Final = FIELDS["core.v1.ServiceSpec"]["type"]
AFFINITIES: Final = FIELDS["core.v1.ServiceSpec"]["sessionAffinity"]
TRAFFIC_POLICIES: Final = FIELDS["core.v1.ServiceSpec"]["externalTrafficPolicy"]
IP_FAMILY_POLICIES: Final = FIELDS["core.v1.ServiceSpec"]["ipFamilyPolicy"]
QUOTA_SCOPES: Final = FIELDS["core.v1.ResourceQuotaSpec"]["scopes"]
DEPLOYMENT_STRATEGIES: Final = FIELDS["apps.v1.DeploymentStrategy"]["type"]
UPDATE_STRATEGIES: Final = FIELDS["apps.v1.DaemonSetUpdateStrategy"]["type"]
COMPLETION_MODES: Final = FIELDS["batch.v1.JobSpec"]["completionMode"]
REPLACEMENT_POLICIES: Final = FIELDS["batch.v1.JobSpec"]["podReplacementPolicy"]
FAILURE_ACTIONS: Final = FIELDS["batch.v1.PodFailurePolicyRule"]["action"]
EXIT_CODE_OPERATORS: Final = FIELDS["batch.v1.PodFailurePolicyOnExitCodesRequirement"]["operator"]
EVICTION_POLICIES: Final = FIELDS["policy.v1.PodDisruptionBudgetSpec"]["unhealthyPodEvictionPolicy"]
BINDING_MODES: Final = FIELDS["storage.v1.StorageClass"]["volumeBindingMode"]
IP_FAMILIES: Final = ("IPv4", "IPv6")
