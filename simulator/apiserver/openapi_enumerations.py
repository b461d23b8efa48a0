"""The fields whose schemas list their values, as ``kubectl explain`` prints them and editors complete them.

Upstream: kube-openapi, pkg/generators/{enum,openapi}.go, v1.34. A field whose Go type has the tag ``+enum``
lists the values in its schema and in its description; a list or a map lists them in the schema of its items.
A value is described by the comment of its constant. The shipped schemas do not have these comments, so here
values have no description.
"""

from typing import Final

from simulator.apiserver import enumerations as values
from simulator.apiserver.types.openapi_documents import Schema

Choices = tuple[str, ...]
FieldChoices = dict[str, Choices]
_CONTAINER: Final[FieldChoices] = {
    "imagePullPolicy": values.PULL_POLICIES,
    "terminationMessagePolicy": values.MESSAGE_POLICIES,
}
_PORT: Final[FieldChoices] = {"protocol": values.PROTOCOLS}
_PROFILE: Final[FieldChoices] = {"type": values.PROFILES}
_SIGNAL: Final[FieldChoices] = {"stopSignal": values.STOP_SIGNALS}
_UPDATE_STRATEGY: Final[FieldChoices] = {"type": values.UPDATE_STRATEGIES}
_IP_FAMILIES: Final = ("", *values.IP_FAMILIES)
"""Upstream's constants have one for an unknown family, which validation refuses."""

_RULE: Final[FieldChoices] = {"operations": values.OPERATIONS, "scope": values.SCOPES}
_WEBHOOK: Final[FieldChoices] = {
    "failurePolicy": values.FAILURE_POLICIES,
    "matchPolicy": values.MATCH_POLICIES,
    "sideEffects": (*values.SIDE_EFFECTS, "Some", "Unknown"),  # those that validation refuses in v1
}

FIELDS: Final[dict[str, FieldChoices]] = {
    "admissionregistration.v1.MatchResources": {"matchPolicy": values.MATCH_POLICIES},
    "admissionregistration.v1.MutatingWebhook": {
        **_WEBHOOK,
        "reinvocationPolicy": values.REINVOCATION_POLICIES,
    },
    "admissionregistration.v1.NamedRuleWithOperations": _RULE,
    "admissionregistration.v1.RuleWithOperations": _RULE,
    "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec": {
        "validationActions": values.VALIDATION_ACTIONS
    },
    "admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": values.FAILURE_POLICIES},
    "admissionregistration.v1.ValidatingWebhook": _WEBHOOK,
    "apps.v1.DaemonSetUpdateStrategy": _UPDATE_STRATEGY,
    "apps.v1.DeploymentStrategy": {"type": values.DEPLOYMENT_STRATEGIES},
    "apps.v1.StatefulSetSpec": {"podManagementPolicy": values.POD_MANAGEMENT_POLICIES},
    "apps.v1.StatefulSetUpdateStrategy": _UPDATE_STRATEGY,
    "batch.v1.CronJobSpec": {"concurrencyPolicy": values.CONCURRENCY_POLICIES},
    "batch.v1.JobSpec": {
        "completionMode": values.COMPLETION_MODES,
        "podReplacementPolicy": values.REPLACEMENT_POLICIES,
    },
    "batch.v1.PodFailurePolicyOnExitCodesRequirement": {"operator": values.EXIT_CODE_OPERATORS},
    "batch.v1.PodFailurePolicyRule": {"action": values.FAILURE_ACTIONS},
    "certificates.v1.CertificateSigningRequestSpec": {"usages": values.KEY_USAGES},
    "core.v1.AppArmorProfile": _PROFILE,
    "core.v1.AzureDiskVolumeSource": {"cachingMode": values.DISK_CACHING_MODES, "kind": values.DISK_KINDS},
    "core.v1.Container": _CONTAINER,
    "core.v1.ContainerPort": _PORT,
    "core.v1.ContainerStatus": _SIGNAL,
    "core.v1.EndpointPort": _PORT,
    "core.v1.EphemeralContainer": _CONTAINER,
    "core.v1.HTTPGetAction": {"scheme": values.SCHEMES},
    "core.v1.HostPathVolumeSource": {"type": values.HOST_PATH_TYPES},
    "core.v1.ImageVolumeSource": {"pullPolicy": values.PULL_POLICIES},
    "core.v1.Lifecycle": _SIGNAL,
    "core.v1.ModifyVolumeStatus": {"status": values.MODIFY_STATUSES},
    "core.v1.NamespaceStatus": {"phase": values.NAMESPACE_PHASES},
    "core.v1.NodeSelectorRequirement": {"operator": values.NODE_OPERATORS},
    "core.v1.NodeStatus": {"phase": values.NODE_PHASES},
    "core.v1.PersistentVolumeClaimSpec": {
        "accessModes": values.ACCESS_MODES,
        "volumeMode": values.VOLUME_MODES,
    },
    "core.v1.PersistentVolumeClaimStatus": {
        "accessModes": values.ACCESS_MODES,
        "allocatedResourceStatuses": values.CLAIM_RESOURCE_STATUSES,
        "phase": values.CLAIM_PHASES,
    },
    "core.v1.PersistentVolumeSpec": {
        "accessModes": values.ACCESS_MODES,
        "persistentVolumeReclaimPolicy": values.RECLAIM_POLICIES,
        "volumeMode": values.VOLUME_MODES,
    },
    "core.v1.PersistentVolumeStatus": {"phase": values.VOLUME_PHASES},
    "core.v1.PodSecurityContext": {
        "fsGroupChangePolicy": values.GROUP_CHANGE_POLICIES,
        "supplementalGroupsPolicy": values.GROUPS_POLICIES,
    },
    "core.v1.PodSpec": {
        "dnsPolicy": values.DNS_POLICIES,
        "preemptionPolicy": values.PREEMPTION_POLICIES,
        "restartPolicy": values.RESTART_POLICIES,
    },
    "core.v1.PodStatus": {"phase": values.POD_PHASES, "qosClass": values.QOS_CLASSES},
    "core.v1.PortStatus": _PORT,
    "core.v1.ResourceQuotaSpec": {"scopes": values.QUOTA_SCOPES},
    "core.v1.ScopedResourceSelectorRequirement": {
        "operator": values.SCOPE_OPERATORS,
        "scopeName": values.QUOTA_SCOPES,
    },
    "core.v1.SeccompProfile": _PROFILE,
    "core.v1.SecurityContext": {"procMount": values.PROC_MOUNTS},
    "core.v1.ServicePort": _PORT,
    "core.v1.ServiceSpec": {
        "externalTrafficPolicy": values.TRAFFIC_POLICIES,
        "internalTrafficPolicy": values.TRAFFIC_POLICIES,
        "ipFamilies": _IP_FAMILIES,
        "ipFamilyPolicy": values.IP_FAMILY_POLICIES,
        "sessionAffinity": values.AFFINITIES,
        "type": values.SERVICE_TYPES,
    },
    "core.v1.Taint": {"effect": values.TAINT_EFFECTS},
    "core.v1.Toleration": {"effect": values.TAINT_EFFECTS, "operator": values.TOLERATION_OPERATORS},
    "core.v1.TopologySpreadConstraint": {
        "nodeAffinityPolicy": values.NODE_POLICIES,
        "nodeTaintsPolicy": values.NODE_POLICIES,
        "whenUnsatisfiable": values.WHEN_UNSATISFIABLE,
    },
    "core.v1.VolumeMount": {"mountPropagation": values.PROPAGATIONS},
    "discovery.v1.EndpointPort": _PORT,
    "discovery.v1.EndpointSlice": {"addressType": values.ADDRESS_TYPES},
    "networking.v1.HTTPIngressPath": {"pathType": values.PATH_TYPES},
    "networking.v1.IngressPortStatus": _PORT,
    "networking.v1.NetworkPolicyPort": _PORT,
    "networking.v1.NetworkPolicySpec": {"policyTypes": values.POLICY_TYPES},
    "policy.v1.PodDisruptionBudgetSpec": {"unhealthyPodEvictionPolicy": values.EVICTION_POLICIES},
    "resource.v1.DeviceTaint": {"effect": values.DEVICE_TAINT_EFFECTS},
    "resource.v1.DeviceToleration": {
        "effect": values.DEVICE_TAINT_EFFECTS,
        "operator": values.TOLERATION_OPERATORS,
    },
    "scheduling.v1.PriorityClass": {"preemptionPolicy": values.PREEMPTION_POLICIES},
    "storage.v1.StorageClass": {
        "reclaimPolicy": values.RECLAIM_POLICIES,
        "volumeBindingMode": values.BINDING_MODES,
    },
}
"""The values by type, without ``io.k8s.api``, and field."""


def list_values(type_name: str, properties: dict[str, Schema]) -> None:
    """List the values in the schemas of a type's fields."""
    for field, choices in FIELDS.get(type_name.removeprefix("io.k8s.api."), {}).items():
        schema = properties[field]
        items = schema.get("items") or schema.get("additionalProperties")
        (items or schema)["enum"] = sorted(choices)
        if items is None:
            schema["description"] += _paragraph(choices)


def _paragraph(choices: Choices) -> str:
    lines = "".join(f'\n - `"{value}"`' for value in sorted(choices))
    return f"\n\nPossible enum values:{lines}"
