"""Warnings about objects that are accepted (WarningsOnCreate and WarningsOnUpdate of the strategies in
pkg/registry, v1.34)."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.apiserver.generation import GENERATION
from simulator.apiserver.kind_warnings import KIND_WARNINGS, name_warnings
from simulator.apiserver.pod_warnings import pod_warnings
from simulator.apiserver.resources import PODS, Resource
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


def warnings_of(resource: Resource, manifest: Manifest, *, is_new: bool = False) -> list[str]:
    """Return the warnings about an object that was stored, as far as a response can have them."""
    return first_warnings(_warnings(resource, manifest, is_new=is_new))


def warnings_of_update(resource: Resource, new: Manifest, old: Manifest, subresource: str) -> list[str]:
    """Return the warnings about an update. Pods have none, and templates only if the update counts."""
    if subresource or resource == PODS:
        return []
    generations = {each["metadata"].get(GENERATION) for each in (new, old)}
    return [] if resource.id in TEMPLATES and len(generations) == 1 else warnings_of(resource, new)


def _warnings(resource: Resource, manifest: Manifest, *, is_new: bool) -> Iterator[str]:
    if is_new:
        yield from name_warnings(resource.id, manifest)
    if resource == PODS:
        yield from pod_warnings(manifest, "")
    elif resource.id in KIND_WARNINGS:
        yield from KIND_WARNINGS[resource.id](manifest)
    elif path := TEMPLATES.get(resource.id):
        template = manifest
        for name in path:
            template = template.get(name) or {}
        yield from pod_warnings(template, f"{'.'.join(path)}.")
