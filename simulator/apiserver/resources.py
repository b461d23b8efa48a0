"""The resources of the API: the built-in ones of Kubernetes, those that CustomResourceDefinitions
define, and further kinds, by their names."""

import difflib
import re
from collections.abc import Iterable

import msgspec

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.kinds.definitions.conditions import has_condition
from simulator.apiserver.kinds.registry import STRATEGIES
from simulator.apiserver.resource import Resource, ScalePaths, plural_of
from simulator.apiserver.served_features import enabled, served_version
from simulator.versions.feature_gates import can_be_on
from simulator.versions.kubernetes_version import VERSIONS

_ALL = tuple(strategy.resource for strategy in STRATEGIES)
BUILT_IN = tuple(resource for resource in _ALL if not resource.gate)
"""The built-in resources that every cluster has."""
GATED = tuple(resource for resource in _ALL if resource.gate)
"""The built-in resources that a cluster has whose feature gates are on."""
_BY_KIND = {(resource.api_version, resource.kind): resource for resource in _ALL}
_BY_PLURAL = {(resource.group, resource.plural): resource for resource in _ALL}
BUILT_IN_GROUPS = frozenset(resource.group for resource in BUILT_IN)
PODS = _BY_PLURAL["", "pods"]
NODES = _BY_PLURAL["", "nodes"]
NAMESPACES = _BY_PLURAL["", "namespaces"]
EVENTS = _BY_PLURAL["", "events"]
EVENTS_V1 = _BY_PLURAL["events.k8s.io", "events"]
PRIORITY_CLASSES = _BY_PLURAL["scheduling.k8s.io", "priorityclasses"]
DISRUPTION_BUDGETS = _BY_PLURAL["policy", "poddisruptionbudgets"]


def version_order(version: str) -> tuple[int, int, int, str]:
    """Sort versions: stable ones first, then beta, then alpha, of each the newest first; then other names."""
    parts = re.fullmatch(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?", version)
    if parts is None:
        return 3, 0, 0, version
    major, stage, minor = parts.groups()
    return {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), version


def deprecation_warning(spec: Manifest, version: Manifest) -> str:
    """Return the warning that each request to a version of a definition gets; "" if it is not deprecated."""
    if not version.get("deprecated"):
        return ""
    given = version.get("deprecationWarning")
    if given is not None:
        return str(given)
    group, name, kind = spec["group"], version["name"], spec["names"]["kind"]
    newer = [
        other["name"]
        for other in spec["versions"]
        if other.get("served", True)
        and not other.get("deprecated")
        and version_order(other["name"]) < version_order(name)
    ]
    instead = f"; use {group}/{min(newer, key=version_order)} {kind}" if newer else ""
    return f"{group}/{name} {kind} is deprecated{instead}"


def is_served(resource: Resource) -> bool:
    """Whether the cluster that is served has a built-in resource."""
    return not resource.gate or enabled(resource.gate)


def find_unserved(api_version: str, kind: str) -> Resource | None:
    """Return the built-in resource of a kind whose feature gate is off in the cluster that is served."""
    known = _BY_KIND.get((api_version, kind))
    return known if known is not None and not is_served(known) else None


def how_to_serve(resource: Resource) -> str:
    """Return what to do so that a cluster has a resource whose feature gate is off."""
    if can_be_on(served_version().name, resource.gate):
        return f"switch the feature gate {resource.gate} on"
    newer = next(version.name for version in VERSIONS if can_be_on(version.name, resource.gate))
    return f"it needs Kubernetes {newer} with the feature gate {resource.gate}"


def find_built_in(group: str, plural: str) -> Resource | None:
    found = _BY_PLURAL.get((group, plural))
    return found if found is not None and is_served(found) else None


def find_by_kind(api_version: str, kind: str, definitions: Iterable[Manifest] = ()) -> Resource | None:
    """Return the resource of an apiVersion and kind. ``definitions`` are the stored
    CustomResourceDefinitions.

    A kind without a definition is taken as namespaced, with the usual plural. None for a kind that cannot
    exist, because its group is one of Kubernetes' or is not a domain: the manifest is refused."""
    known = _BY_KIND.get((api_version, kind))
    if known and is_served(known):
        return known
    group, _, version = api_version.rpartition("/")
    for custom in defined_resources(definitions):
        if (custom.group, custom.version, custom.kind) == (group, version, kind):
            return custom
    if group in BUILT_IN_GROUPS or group.endswith(".k8s.io") or "." not in group:
        return None
    if names.dns_subdomain(group) or names.dns_label(version) or names.dns_label(kind.lower()):
        return None
    return Resource(group, version, kind, plural_of(kind), namespaced=True, singular=kind.lower())


def suggest_kind(api_version: str, kind: str) -> str:
    """Return the most similar built-in kind for an unknown one, as ``Pod of v1``; "" if none is similar."""
    for known in BUILT_IN:
        if known.kind.lower() == kind.lower() or known.plural == kind.lower():
            return f"{known.kind} of {known.api_version}"
    kinds = [known.kind for known in BUILT_IN if known.api_version == api_version]
    close = difflib.get_close_matches(kind, kinds, n=1)
    return f"{close[0]} of {api_version}" if close else ""


def defined_resources(definitions: Iterable[Manifest]) -> Iterable[Resource]:
    """Yield the resources that CustomResourceDefinitions define, one for each served version; none of a
    definition whose names other ones have."""
    for definition in definitions:
        spec = definition["spec"]
        accepted = (definition.get("status") or {}).get("acceptedNames") or {}
        names = accepted if accepted.get("plural") and accepted.get("kind") else spec["names"]
        is_established = has_condition(definition, "Established", "True")
        if not is_established and has_condition(definition, "NamesAccepted", "False"):
            continue
        for version in spec["versions"]:
            if version.get("served", True):
                subresources = version.get("subresources") or {}
                yield Resource(
                    group=spec["group"],
                    version=version["name"],
                    kind=names["kind"],
                    plural=names["plural"],
                    namespaced=spec["scope"] == "Namespaced",
                    singular=names.get("singular", names["kind"].lower()),
                    short_names=tuple(names.get("shortNames", ())),
                    categories=tuple(names.get("categories", ())),
                    has_status="status" in subresources,
                    scale=_scale_paths(subresources.get("scale")),
                    schema_text=_schema_text(version),
                    selectable_fields=tuple(
                        str(field.get("jsonPath", "")).removeprefix(".")
                        for field in version.get("selectableFields") or ()
                    ),
                    columns_text=msgspec.json.encode(version.get("additionalPrinterColumns") or []).decode(),
                    deprecation=deprecation_warning(spec, version),
                )


def _schema_text(version: Manifest) -> str:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return msgspec.json.encode(schema).decode() if schema else ""


def _scale_paths(manifest: Manifest | None) -> ScalePaths | None:
    if manifest is None:
        return None
    spec, status = manifest.get("specReplicasPath", ""), manifest.get("statusReplicasPath", "")
    return ScalePaths(spec, status, manifest.get("labelSelectorPath", ".")) if spec and status else None
