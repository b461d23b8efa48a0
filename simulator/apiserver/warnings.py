"""Warnings about objects that are accepted (pkg/api/pod/warnings.go, pkg/api/service/warnings.go and the
strategies of the registries, v1.34)."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.apiserver.deprecated_labels import DEPRECATED_LABELS
from simulator.apiserver.kind_warnings import (
    KIND_WARNINGS,
    ingress_warnings,
    name_warnings,
    stateful_set_warnings,
)
from simulator.apiserver.resources import Resource
from simulator.objects import quantity

_SYSCTLS = 'non-functional in v1.11+; use the "sysctls" field instead'
ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": _SYSCTLS,
    "security.alpha.kubernetes.io/unsafe-sysctls": _SYSCTLS,
}
TEMPLATES = {
    "deployments.apps": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
    "replicationcontrollers": ("spec", "template"),
}
"""The resources with a pod template, and where it is."""
ENDPOINTS = "endpoints"
INGRESSES = "ingresses.networking.k8s.io"
_ENDPOINTS_ARE_DEPRECATED = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
BYTES = ("memory", "ephemeral-storage")


def warnings_of(resource: Resource, manifest: Manifest, *, is_new: bool = False) -> list[str]:
    """The warnings about an object that was stored."""
    return [*_warnings(resource, manifest, is_new=is_new)]


def _warnings(resource: Resource, manifest: Manifest, *, is_new: bool) -> Iterator[str]:
    if is_new:
        yield from name_warnings(resource.id, manifest)
    if is_new and resource.id == INGRESSES:
        yield from ingress_warnings(manifest)
    if resource.id == "pods":
        yield from _pod_warnings(manifest, "")
    elif resource.id == ENDPOINTS:
        yield _ENDPOINTS_ARE_DEPRECATED
    elif resource.id == "services":
        yield from _service_warnings(manifest)
    elif resource.id in KIND_WARNINGS:
        yield from KIND_WARNINGS[resource.id](manifest)
    elif path := TEMPLATES.get(resource.id):
        template = manifest
        for name in path:
            template = template.get(name) or {}
        yield from _pod_warnings(template, f"{'.'.join(path)}.")
    if resource.id == "statefulsets.apps":
        yield from stateful_set_warnings(manifest)


def _service_warnings(service: Manifest) -> Iterator[str]:
    spec = service["spec"]
    # The default, which is "None", counts, too.
    if spec.get("clusterIP") == "None" and spec.get("sessionAffinity"):
        yield "spec.SessionAffinity is ignored for headless services"


def _pod_warnings(pod: Manifest, prefix: str) -> Iterator[str]:
    spec, path = pod.get("spec") or {}, f"{prefix}spec"
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}"
    yield from _affinity_warnings(spec, path)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        at = f"{path}.topologySpreadConstraints[{index}]"
        key = constraint.get("topologyKey")
        if key in DEPRECATED_LABELS:
            yield f"{at}.topologyKey: {key} is {DEPRECATED_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{at}.labelSelector: a null labelSelector results in matching no pod"
    for key, text in ANNOTATIONS.items():
        if key in ((pod.get("metadata") or {}).get("annotations") or {}):
            yield f"{prefix}metadata.annotations[{key}]: {text}"
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield from _container_warnings(container, f"{path}.{field}[{index}]")
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield (
            f"{path}.terminationGracePeriodSeconds: must be >= 0; "
            "negative values are invalid and will be treated as 1"
        )


def _affinity_warnings(spec: Manifest, path: str) -> Iterator[str]:
    affinity = spec.get("affinity") or {}
    node = affinity.get("nodeAffinity") or {}
    at = f"{path}.affinity.nodeAffinity"
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        where = f"{at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]"
        yield from _term_warnings(term, where)
    for index, preferred in enumerate(node.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        where = f"{at}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference"
        yield from _term_warnings(preferred["preference"], where)


def _term_warnings(term: Manifest, path: str) -> Iterator[str]:
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key = expression.get("key")
        if key in DEPRECATED_LABELS:
            yield f"{path}.matchExpressions[{index}].key: {key} is {DEPRECATED_LABELS[key]}"


def _container_warnings(container: Manifest, path: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for kind in ("limits", "requests"):
        for name, amount in (resources.get(kind) or {}).items():
            if name in BYTES and quantity.parse_quantity(amount) % quantity.NANO:
                yield (
                    f'{path}.resources.{kind}[{name}]: fractional byte value "{amount}" is invalid, '
                    "must be an integer"
                )
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        if variable["name"] in seen:
            yield (
                f'{path}.env[{index}]: hides previous definition of "{variable["name"]}", '
                "which may be dropped when using apply"
            )
        seen.add(variable["name"])
