"""Warnings about objects that are accepted (WarningsOnCreate and WarningsOnUpdate of the strategies in
pkg/registry, v1.34)."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.generation import GENERATION
from simulator.apiserver.kind_warnings import (
    KIND_WARNINGS,
    definition_warnings,
    finalizer_warnings,
    name_warnings,
    stateful_set_warnings,
)
from simulator.apiserver.pod_profiles import app_armor_warnings
from simulator.apiserver.pod_warnings import pod_warnings
from simulator.apiserver.resources import CRDS, PODS, Resource
from simulator.apiserver.service_warnings import service_warnings
from simulator.apiserver.volume_warnings import (
    claim_warnings,
    node_warnings,
    storage_capacity_warnings,
    storage_class_warnings,
    volume_warnings,
)
from simulator.apiserver.warning_bounds import first_warnings

TEMPLATES = {
    "deployments.apps": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
    "replicationcontrollers": ("spec", "template"),
    "podtemplates": ("template",),
}
"""The resources with a pod template, and where it is."""
_STATEFUL_SETS: Final = "statefulsets.apps"


def warnings_of(
    resource: Resource, manifest: Manifest, *, is_new: bool = False, sent: Manifest | None = None
) -> list[str]:
    """Return the warnings about an object that was stored, as far as a response can have them. ``sent``: as
    it was asked for."""
    as_sent = app_armor_warnings(sent) if is_new and sent and resource == PODS else ()
    return first_warnings(chain(as_sent, _warnings(resource, manifest, is_new=is_new)))


def warnings_of_update(resource: Resource, new: Manifest, old: Manifest, subresource: str) -> list[str]:
    """Return the warnings about an update. Pods have none, and templates only if the update counts."""
    if subresource or resource == PODS:
        return []
    if resource.schema_text:
        return first_warnings(finalizer_warnings(new, old))
    if resource.id == CRDS:
        return first_warnings(definition_warnings(new, old))
    generations = {each["metadata"].get(GENERATION) for each in (new, old)}
    if resource.id in TEMPLATES and len(generations) == 1:
        changed = stateful_set_warnings(new, is_new=False) if resource.id == _STATEFUL_SETS else ()
        return first_warnings(changed)
    return warnings_of(resource, new)


def _warnings(resource: Resource, manifest: Manifest, *, is_new: bool) -> Iterator[str]:
    if is_new:
        yield from name_warnings(resource.id, manifest)
    if resource == PODS:
        yield from pod_warnings(manifest, "")
    elif resource.schema_text:
        yield from finalizer_warnings(manifest)
    elif resource.id in _KIND_WARNINGS:
        yield from _KIND_WARNINGS[resource.id](manifest)
    elif path := TEMPLATES.get(resource.id):
        template = manifest
        for name in path:
            template = template.get(name) or {}
        yield from pod_warnings(template, f"{'.'.join(path)}.")
    if resource.id == _STATEFUL_SETS:
        yield from stateful_set_warnings(manifest, is_new=is_new)


_KIND_WARNINGS: Final[dict[str, Callable[[Manifest], Iterator[str]]]] = {
    **KIND_WARNINGS,
    "csistoragecapacities.storage.k8s.io": storage_capacity_warnings,
    CRDS: definition_warnings,
    "nodes": node_warnings,
    "persistentvolumeclaims": claim_warnings,
    "persistentvolumes": volume_warnings,
    "services": service_warnings,
    "storageclasses.storage.k8s.io": storage_class_warnings,
}
