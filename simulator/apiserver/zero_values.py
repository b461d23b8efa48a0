"""The empty values that Go's decoder and encoder drop, so that they cannot be distinguished from missing
ones.

A field with the tag ``omitempty`` is not written if it has its type's zero value; a pointer keeps the zero
that it points to. The schemas say neither, so the names of the exceptions are here (types.go of the groups,
v1.34). Required fields are always written."""

from typing import Any, Final

_STRING_POINTERS = """
appProtocol cachingMode completionMode fsGroupChangePolicy fsGroupPolicy gmsaCredentialSpec
gmsaCredentialSpecName holderIdentity ingressClassName initiatorName internalTrafficPolicy ipFamilyPolicy
loadBalancerClass localhostProfile managedBy mountPropagation nodeAffinityPolicy nodeTaintsPolicy pathType
persistentVolumeName podReplacementPolicy preemptionPolicy preferredHolder procMount reclaimPolicy
recursiveReadOnly resourceClaimName resourceClaimTemplateName runAsUserName runtimeClassName scope
seLinuxChangePolicy secretNamespace selectPolicy service strategy succeededIndexes supplementalGroupsPolicy
timeZone trafficDistribution unhealthyPodEvictionPolicy volumeAttributesClassName volumeBindingMode volumeMode
"""
_STRING_POINTERS_OF_TYPES: Final[dict[str, tuple[str, ...]]] = {
    "apiGroup": (
        "core.v1.TypedLocalObjectReference",
        "core.v1.TypedObjectReference",
        "networking.v1.IngressClassParametersReference",
    ),
    "containerName": ("batch.v1.PodFailurePolicyOnExitCodesRequirement",),
    "fsType": ("core.v1.AzureDiskVolumeSource", "core.v1.CSIVolumeSource", "core.v1.LocalVolumeSource"),
    "protocol": ("discovery.v1.EndpointPort", "networking.v1.NetworkPolicyPort"),
    "storageClassName": ("core.v1.PersistentVolumeClaimSpec",),
}
"""Field -> the types in which it is a pointer. In other types it is a string: that of a ContainerPort without
a protocol is empty."""
_BOOLEAN_VALUES = """
chapAuthDiscovery chapAuthSession globalDefault hostIPC hostNetwork hostPID paused publishNotReadyAddresses
readOnly sslEnabled stdin stdinOnce tty unschedulable
"""
_INTEGER_VALUES = """
active availableReplicas currentReplicas failed fullyLabeledReplicas generation healthCheckNodePort hostPort
initialDelaySeconds minReadySeconds nodePort numberAvailable numberUnavailable observedGeneration
readyReplicas succeeded unavailableReplicas updatedNumberScheduled updatedReplicas
"""
_INTEGER_VALUES_OF_TYPES: Final[dict[str, tuple[str, ...]]] = {
    "count": ("core.v1.Event",),
    "partition": ("core.v1.AWSElasticBlockStoreVolumeSource", "core.v1.GCEPersistentDiskVolumeSource"),
    "replicas": ("apps.v1.DeploymentStatus",),
}
"""Field -> the types in which it is an integer. In other types it is a pointer to one."""
_KEEPING_STRINGS = frozenset(_STRING_POINTERS.split())
_DROPPED_BOOLEANS = frozenset(_BOOLEAN_VALUES.split())
DROPPED_INTEGERS = frozenset(_INTEGER_VALUES.split())


def fields_kept_empty(type_name: str, schema: dict[str, Any]) -> frozenset[str]:
    """Return the fields of a type that are written where they are empty, too. ``type_name``: its full
    name."""
    scalars = (
        field
        for field, of in schema.get("properties", {}).items()
        if _keeps_empty(type_name, field, of.get("type"))
    )
    return frozenset([*schema.get("required", ()), *scalars])


def _keeps_empty(type_name: str, field: str, kind: str | None) -> bool:
    match kind:
        case "string":
            return field in _KEEPING_STRINGS or type_name.endswith(_STRING_POINTERS_OF_TYPES.get(field, ()))
        case "integer":
            is_value = type_name.endswith(_INTEGER_VALUES_OF_TYPES.get(field, ()))
            return field not in DROPPED_INTEGERS and not is_value
        case "boolean":
            return field not in _DROPPED_BOOLEANS
    return False


def is_dropped(value: Any, schema: dict[str, Any]) -> bool:
    """Whether an empty value is left out of an object that need not have its field. ``schema`` is the
    field's. A value that does not fit it is kept: it is a fault."""
    match schema.get("type"), value:
        case ("boolean", bool()) | ("integer", int()) | ("string", str()) | ("array", list()):
            return True
        case "object", dict():
            return bool(schema.get("additionalProperties"))
    return False
