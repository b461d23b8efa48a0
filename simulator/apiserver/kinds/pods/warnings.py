"""Warnings about pods and pod templates that are accepted, as far as they are about what the scheduler reads,
or about what is easily missed.

Upstream: warningsForPodSpecAndMeta in pkg/api/pod/warnings.go.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.parts import affinity_terms, containers_with_paths
from simulator.apiserver.selector_validation import DEPRECATED_LABELS, term_warnings
from simulator.objects import quantity

_CRITICAL: Final = "scheduler.alpha.kubernetes.io/critical-pod"
_IS_NOT_CRITICAL: Final = 'non-functional in v1.16+; use the "priorityClassName" field instead'
_BYTES: Final = ("memory", "ephemeral-storage")
_NO_SELECTOR: Final = "a null labelSelector results in matching no pod"


def pod_warnings(pod: Manifest, prefix: str) -> Iterator[str]:
    """Yield the warnings about a pod. ``prefix``: the path of a pod template, with a dot; "" for a pod."""
    spec, path = pod.get("spec") or {}, f"{prefix}spec"
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    yield from _label_warnings(spec, path)
    if _CRITICAL in annotations:
        yield f"{prefix}metadata.annotations[{_CRITICAL}]: {_IS_NOT_CRITICAL}"
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from _fractions(spec.get("overhead") or {}, _BYTES, f"{path}.overhead")
    for container, at in containers_with_paths(spec, path):
        yield from _container_warnings(container, at)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield (
            f"{path}.terminationGracePeriodSeconds: must be >= 0; "
            "negative values are invalid and will be treated as 1"
        )
    for term, at in affinity_terms(spec, path):
        if term.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NO_SELECTOR}"


def _label_warnings(spec: Manifest, path: str) -> Iterator[str]:
    """Yield the warnings of deprecated labels in node selectors and affinity."""
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}"
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    at = f"{path}.affinity.nodeAffinity"
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        where = f"{at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]"
        yield from term_warnings(term, where)
    for index, preferred in enumerate(node.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        where = f"{at}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference"
        yield from term_warnings(preferred["preference"], where)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        at = f"{path}.topologySpreadConstraints[{index}]"
        key = constraint.get("topologyKey")
        if key in DEPRECATED_LABELS:
            yield f"{at}.topologyKey: {key} is {DEPRECATED_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NO_SELECTOR}"


def _fractions(amounts: Manifest, of: Sequence[str], path: str) -> Iterator[str]:
    for name in of:
        if name in amounts and quantity.parse_quantity(amounts[name]) % quantity.NANO:
            yield f'{path}[{name}]: fractional byte value "{amounts[name]}" is invalid, must be an integer'


def _container_warnings(container: Manifest, path: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in _BYTES:
        for kind in ("limits", "requests"):
            yield from _fractions(resources.get(kind) or {}, (name,), f"{path}.resources.{kind}")
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable["name"], variable.get("value", "")
        reference = f"$({name})"
        extends = "valueFrom" not in variable and value != reference and reference in value
        if name in seen and not extends:
            yield (
                f'{path}.env[{index}]: hides previous definition of "{name}", '
                "which may be dropped when using apply"
            )
        seen.add(name)
