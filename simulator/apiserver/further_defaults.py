"""Defaults of further kinds: Namespaces, PriorityClasses, PodDisruptionBudgets, LimitRanges, claims
of devices, CustomResourceDefinitions and Events (defaults.go of their groups,
v1.34)."""

from collections.abc import Callable

from simulator.api import Manifest

_HTTPS_PORT = 443


def _default_namespace(manifest: Manifest) -> None:
    name = manifest["metadata"].get("name")
    if name:
        manifest["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    manifest.setdefault("spec", {})


def _default_disruption_budget(manifest: Manifest) -> None:
    """Set the spec. Upstream it is not a pointer: a missing spec is an empty one, which selects no pod."""
    manifest.setdefault("spec", {})


def _default_lease(manifest: Manifest) -> None:
    manifest.setdefault("spec", {})


def _default_limit_range(manifest: Manifest) -> None:
    """Set the defaults of a LimitRange. For a container, the default limit is the largest one, and the
    default request is the default limit or the smallest request."""
    spec = manifest.setdefault("spec", {})
    spec["limits"] = spec.get("limits") or None
    for item in spec["limits"] or ():
        if item.get("type") != "Container":
            continue
        limits = item.get("max", {}) | item.get("default", {})
        requests = item.get("min", {}) | limits | item.get("defaultRequest", {})
        for field, quantities in (("default", limits), ("defaultRequest", requests)):
            if quantities:
                item[field] = quantities


def _default_device_claim(manifest: Manifest) -> None:
    _default_device_claim_spec(manifest.setdefault("spec", {}))
    allocation = (manifest.get("status") or {}).get("allocation")
    if allocation is not None:
        allocation.setdefault("devices", {})


def _default_device_claim_template(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("metadata", {})
    _default_device_claim_spec(spec.setdefault("spec", {}))


def _default_device_claim_spec(spec: Manifest) -> None:
    for request in spec.setdefault("devices", {}).get("requests", ()):
        exact = [request["exactly"]] if "exactly" in request else []
        for wanted in (*exact, *request.get("firstAvailable", ())):
            if wanted.setdefault("allocationMode", "ExactCount") == "ExactCount" and not wanted.get("count"):
                wanted["count"] = 1
            for toleration in wanted.get("tolerations", ()):
                toleration.setdefault("operator", "Equal")


def _default_definition(manifest: Manifest) -> None:
    spec = manifest["spec"]
    names = spec["names"]
    if names["kind"]:
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List")
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    if client.get("service") is not None:
        client["service"].setdefault("port", _HTTPS_PORT)
    stored = [version["name"] for version in spec.get("versions") or () if version["storage"]][:1]
    manifest.setdefault("status", {}).setdefault("storedVersions", stored)


def _default_event(manifest: Manifest) -> None:
    for field in ("firstTimestamp", "lastTimestamp", "eventTime"):
        manifest.setdefault(field, None)
    manifest.setdefault("source", {})
    manifest.setdefault("reportingComponent", "")
    manifest.setdefault("reportingInstance", "")


def _clean_service_account(manifest: Manifest) -> None:
    """Keep of references to Secrets the names only (cleanSecretReferences in
    pkg/registry/core/serviceaccount/strategy.go)."""
    if manifest.get("secrets"):
        manifest["secrets"] = [{k: v for k, v in each.items() if k == "name"} for each in manifest["secrets"]]


FURTHER_DEFAULTS: dict[str, Callable[[Manifest], None]] = {
    "namespaces": _default_namespace,
    "poddisruptionbudgets.policy": _default_disruption_budget,
    "leases.coordination.k8s.io": _default_lease,
    "limitranges": _default_limit_range,
    "resourceclaims.resource.k8s.io": _default_device_claim,
    "resourceclaimtemplates.resource.k8s.io": _default_device_claim_template,
    "customresourcedefinitions.apiextensions.k8s.io": _default_definition,
    "events": _default_event,
    "serviceaccounts": _clean_service_account,
}
