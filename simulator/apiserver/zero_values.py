"""The empty values that Go's decoder and encoder drop, so that they cannot be distinguished from missing
ones.

A field with the tag ``omitempty`` is not written if it has its type's zero value; a pointer keeps the zero
that it points to. The schemas say neither, so the names of the exceptions are here (types.go of the groups,
v1.34). Required fields are always written."""

from collections.abc import Container
from typing import Any

_STRING_POINTERS = """
apiGroup appProtocol cachingMode completionMode containerName fsGroupChangePolicy fsGroupPolicy fsType
gmsaCredentialSpec gmsaCredentialSpecName holderIdentity ingressClassName initiatorName internalTrafficPolicy
ipFamilyPolicy loadBalancerClass localhostProfile managedBy mountPropagation nodeAffinityPolicy
nodeTaintsPolicy pathType persistentVolumeName podReplacementPolicy preemptionPolicy preferredHolder
procMount protocol reclaimPolicy recursiveReadOnly resourceClaimName resourceClaimTemplateName runAsUserName
runtimeClassName scope seLinuxChangePolicy secretNamespace selectPolicy service storageClassName strategy
succeededIndexes supplementalGroupsPolicy timeZone trafficDistribution unhealthyPodEvictionPolicy
volumeAttributesClassName volumeBindingMode volumeMode
"""
_BOOLEAN_VALUES = """
chapAuthDiscovery chapAuthSession globalDefault hostIPC hostNetwork hostPID paused publishNotReadyAddresses
readOnly sslEnabled stdin stdinOnce tty unschedulable
"""
_INTEGER_VALUES = """
active availableReplicas currentReplicas failed fullyLabeledReplicas generation healthCheckNodePort hostPort
initialDelaySeconds minReadySeconds nodePort numberAvailable numberUnavailable observedGeneration
readyReplicas succeeded unavailableReplicas updatedNumberScheduled updatedReplicas
"""
_KEEPING_STRINGS = frozenset(_STRING_POINTERS.split())
_DROPPED_BOOLEANS = frozenset(_BOOLEAN_VALUES.split())
DROPPED_INTEGERS = frozenset(_INTEGER_VALUES.split())


def is_dropped(field: str, value: Any, schema: dict[str, Any], required: Container[str]) -> bool:
    """Whether a field with an empty value is left out. ``schema`` is the field's, ``required`` the names of
    the fields that its object must have. A value that does not fit the schema is kept: it is a fault."""
    if field in required:
        return False
    match schema.get("type"), value:
        case "boolean", bool():
            return field in _DROPPED_BOOLEANS
        case "integer", int():
            return field in DROPPED_INTEGERS
        case "string", str():
            return field not in _KEEPING_STRINGS
        case "object", dict():
            return bool(schema.get("additionalProperties"))
        case "array", list():
            return True
    return False
