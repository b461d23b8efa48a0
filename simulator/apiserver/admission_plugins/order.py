"""The order of the admission plugins (AllOrderedPlugins in pkg/kubeapiserver/options/plugins.go)."""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.claim_resize import ClaimResize
from simulator.apiserver.admission_plugins.default_storage_class import DefaultStorageClass
from simulator.apiserver.admission_plugins.default_toleration_seconds import DefaultTolerationSeconds
from simulator.apiserver.admission_plugins.limit_ranger import LimitRanger
from simulator.apiserver.admission_plugins.namespace_lifecycle import NamespaceLifecycle
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.admission_plugins.pod_groups import (
    JobValidation,
    PodGroupProtection,
    PodGroupWorkloadExists,
)
from simulator.apiserver.admission_plugins.pod_topology_labels import PodTopologyLabels
from simulator.apiserver.admission_plugins.priority import Priority
from simulator.apiserver.admission_plugins.resource_quota import ResourceQuota
from simulator.apiserver.admission_plugins.runtime_class import RuntimeClass
from simulator.apiserver.admission_plugins.storage_protection import StorageObjectInUseProtection
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.kinds.priority_classes import PRIORITY_CLASSES
from simulator.apiserver.kinds.quotas import LIMIT_RANGES
from simulator.apiserver.kinds.runtime_classes import RUNTIME_CLASSES
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.quota.charges import QuotaCharges

_OF_PODS: Final = (LimitRanger(), Priority(), DefaultTolerationSeconds(), RuntimeClass())
_LIMIT_RANGER, _PRIORITY, _TOLERATIONS, _RUNTIME_CLASS = _OF_PODS
ADMISSION_PLUGINS: Final[tuple[AdmissionPlugin, ...]] = (
    NamespaceLifecycle(),
    _LIMIT_RANGER,
    _PRIORITY,
    _TOLERATIONS,
    DefaultStorageClass(),
    StorageObjectInUseProtection(),
    PodGroupProtection(),
    ClaimResize(),
    _RUNTIME_CLASS,
    PodTopologyLabels(),
    PodGroupWorkloadExists(),
    JobValidation(),
    ResourceQuota(),
)
READ_OF_PODS: Final = (LIMIT_RANGES.id, PRIORITY_CLASSES.id, RUNTIME_CLASSES.id)
"""The resources that :func:`complete_pod` reads."""


def admit_request(request: Attributes) -> None:
    """Let all plugins change the object. Raises StatusError."""
    for plugin in ADMISSION_PLUGINS:
        if plugin.does_handle(request):
            plugin.admit(request)


def validate_request(request: Attributes) -> None:
    """Let all plugins look at the object. Raises StatusError."""
    for plugin in ADMISSION_PLUGINS:
        if plugin.does_handle(request):
            plugin.validate(request)


def complete_pod(pod: Manifest, overlay: Overlay) -> None:
    """Change a pod that no request creates as the plugins that are about pods do, but for what contradicts
    its RuntimeClass: it may come from another cluster. Raises StatusError."""
    request = Attributes(
        operation="CREATE",
        resource=PODS,
        object=pod,
        overlay=overlay,
        quotas=QuotaCharges(overlay, 0),
        is_strict=False,
    )
    for plugin in _OF_PODS:
        plugin.admit(request)
