"""The values of the fields that take one of a fixed set. The schemas of the OpenAPI documents list them, and
validation lets them through: where a newer version has more, if a feature gate is on.

Each is a string type of Kubernetes' Go packages with the tag ``+enum``. They are in the order in which the
messages of validation write them.
"""

from functools import cache
from pathlib import Path
from typing import Final

from simulator.apiserver.served_features import served_version
from simulator.versions.kubernetes_version import VERSIONS

Choices = tuple[str, ...]


@cache
def fields_of(version: str) -> dict[str, dict[str, Choices]]:
    """Return the values of a version of Kubernetes by type, without ``io.k8s.api``, and field."""
    path = Path(__file__).parent / "types" / "enumerations.txt"
    found: dict[str, dict[str, Choices]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        *since, values, fields = line.split(": ")
        if since <= [version]:
            for field in fields.split():
                of, _, name = field.rpartition(".")
                found.setdefault(of, {})[name] = (*values.split(", "),)
    return found


def choices_of(of: str, name: str) -> Choices:
    """Return the values of a field in the version that is served."""
    return fields_of(served_version().name)[of][name]


_OLDEST: Final = fields_of(VERSIONS[-1].name)
PULL_POLICIES: Final = _OLDEST["core.v1.Container"]["imagePullPolicy"]
MESSAGE_POLICIES: Final = _OLDEST["core.v1.Container"]["terminationMessagePolicy"]
PROTOCOLS: Final = _OLDEST["core.v1.ContainerPort"]["protocol"]
SCHEMES: Final = _OLDEST["core.v1.HTTPGetAction"]["scheme"]
PROPAGATIONS: Final = _OLDEST["core.v1.VolumeMount"]["mountPropagation"]
PROC_MOUNTS: Final = _OLDEST["core.v1.SecurityContext"]["procMount"]
PROFILES: Final = _OLDEST["core.v1.AppArmorProfile"]["type"]
RESTART_POLICIES: Final = _OLDEST["core.v1.PodSpec"]["restartPolicy"]
DNS_POLICIES: Final = _OLDEST["core.v1.PodSpec"]["dnsPolicy"]
PREEMPTION_POLICIES: Final = _OLDEST["core.v1.PodSpec"]["preemptionPolicy"]
GROUP_CHANGE_POLICIES: Final = _OLDEST["core.v1.PodSecurityContext"]["fsGroupChangePolicy"]
GROUPS_POLICIES: Final = _OLDEST["core.v1.PodSecurityContext"]["supplementalGroupsPolicy"]
TAINT_EFFECTS: Final = _OLDEST["core.v1.Taint"]["effect"]
TOLERATION_OPERATORS: Final = _OLDEST["core.v1.Toleration"]["operator"]
WHEN_UNSATISFIABLE: Final = _OLDEST["core.v1.TopologySpreadConstraint"]["whenUnsatisfiable"]
NODE_POLICIES: Final = _OLDEST["core.v1.TopologySpreadConstraint"]["nodeAffinityPolicy"]
ACCESS_MODES: Final = _OLDEST["core.v1.PersistentVolumeClaimSpec"]["accessModes"]
VOLUME_MODES: Final = _OLDEST["core.v1.PersistentVolumeClaimSpec"]["volumeMode"]
RECLAIM_POLICIES: Final = _OLDEST["core.v1.PersistentVolumeSpec"]["persistentVolumeReclaimPolicy"]
HOST_PATH_TYPES: Final = _OLDEST["core.v1.HostPathVolumeSource"]["type"]
SERVICE_TYPES: Final = _OLDEST["core.v1.ServiceSpec"]["type"]
AFFINITIES: Final = _OLDEST["core.v1.ServiceSpec"]["sessionAffinity"]
TRAFFIC_POLICIES: Final = _OLDEST["core.v1.ServiceSpec"]["externalTrafficPolicy"]
IP_FAMILY_POLICIES: Final = _OLDEST["core.v1.ServiceSpec"]["ipFamilyPolicy"]
QUOTA_SCOPES: Final = _OLDEST["core.v1.ResourceQuotaSpec"]["scopes"]
DEPLOYMENT_STRATEGIES: Final = _OLDEST["apps.v1.DeploymentStrategy"]["type"]
UPDATE_STRATEGIES: Final = _OLDEST["apps.v1.DaemonSetUpdateStrategy"]["type"]
COMPLETION_MODES: Final = _OLDEST["batch.v1.JobSpec"]["completionMode"]
REPLACEMENT_POLICIES: Final = _OLDEST["batch.v1.JobSpec"]["podReplacementPolicy"]
FAILURE_ACTIONS: Final = _OLDEST["batch.v1.PodFailurePolicyRule"]["action"]
EXIT_CODE_OPERATORS: Final = _OLDEST["batch.v1.PodFailurePolicyOnExitCodesRequirement"]["operator"]
EVICTION_POLICIES: Final = _OLDEST["policy.v1.PodDisruptionBudgetSpec"]["unhealthyPodEvictionPolicy"]
BINDING_MODES: Final = _OLDEST["storage.v1.StorageClass"]["volumeBindingMode"]
IP_FAMILIES: Final = ("IPv4", "IPv6")
