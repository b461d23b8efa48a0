"""The tables of discovery for the built-in resources, beside their names: verbs, categories, subresources."""

from simulator.api import Manifest
from simulator.apiserver.resources import BUILT_IN

CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
"""The verbs of a custom resource, in the order of its handler."""
CATEGORIES = {
    "all": (
        "pods",
        "replicationcontrollers",
        "services",
        "daemonsets.apps",
        "deployments.apps",
        "replicasets.apps",
        "statefulsets.apps",
        "horizontalpodautoscalers.autoscaling",
        "cronjobs.batch",
        "jobs.batch",
    ),
    "api-extensions": (
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        "apiservices.apiregistration.k8s.io",
    ),
}
GROUPS = (
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "resource.k8s.io",
)
"""The order of the groups, by which a client chooses among resources of the same name; others follow (the
priorities in pkg/controlplane/apiserver/aggregator.go and cmd/kube-apiserver/app/aggregator.go)."""
STORED_IN = {
    "events": "/v1",
    "customresourcedefinitions.apiextensions.k8s.io": "apiextensions.k8s.io/v1beta1",
}
"""Group and version in which an API server stores objects, where it is not the one that it serves."""
FIRST_STORED_IN = {
    "volumeattributesclasses.storage.k8s.io": "storage.k8s.io/v1beta1",
    **dict.fromkeys(
        (resource.id for resource in BUILT_IN if resource.group == "resource.k8s.io"),
        "resource.k8s.io/v1beta2",
    ),
}
"""The same for a version whose ``stores_newest_versions`` is off: it is one that the version before has."""
STATUS = ("", "get patch update")
SCALE = ("autoscaling/v1/Scale", "get patch update")
_PROXY = "create delete get patch update"
SUBRESOURCES = {
    "pods": {
        "attach": ("PodAttachOptions", "create get"),
        "binding": ("Binding", "create"),
        "ephemeralcontainers": STATUS,
        "eviction": ("policy/v1/Eviction", "create"),
        "exec": ("PodExecOptions", "create get"),
        "log": ("", "get"),
        "portforward": ("PodPortForwardOptions", "create get"),
        "proxy": ("PodProxyOptions", _PROXY),
        "resize": STATUS,
    },
    "certificatesigningrequests.certificates.k8s.io": {"approval": STATUS},
    "namespaces": {"finalize": ("", "update")},
    "nodes": {"proxy": ("NodeProxyOptions", _PROXY)},
    "services": {"proxy": ("ServiceProxyOptions", _PROXY)},
    "serviceaccounts": {"token": ("authentication.k8s.io/v1/TokenRequest", "create")},
}
"""Resource -> subresource -> its kind ("" = that of the resource) and its verbs. Those of nodes and
Services are listed, as by an API server, and answered with 404."""
OTHERS: list[Manifest] = [
    {
        "name": "bindings",
        "singularName": "binding",
        "namespaced": True,
        "kind": "Binding",
        "verbs": ["create"],
    },
    {
        "name": "componentstatuses",
        "singularName": "componentstatus",
        "namespaced": False,
        "kind": "ComponentStatus",
        "verbs": ["get", "list"],
        "shortNames": ["cs"],
    },
]
"""The entries of the core group that have no stored objects."""
VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
