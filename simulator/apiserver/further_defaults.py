"""Defaults of further kinds: Namespaces, PriorityClasses, PodDisruptionBudgets, LimitRanges, claims
of devices, CustomResourceDefinitions and Events (defaults.go of their groups,
v1.34)."""

from collections.abc import Callable

from simulator.api import Manifest

_HTTPS_PORT = 443


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


FURTHER_DEFAULTS: dict[str, Callable[[Manifest], None]] = {
    "resourceclaims.resource.k8s.io": _default_device_claim,
    "resourceclaimtemplates.resource.k8s.io": _default_device_claim_template,
    "customresourcedefinitions.apiextensions.k8s.io": _default_definition,
}
