"""The containers of a pod and its terms of pod affinity, with their places in it."""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest

_TERMS: Final = tuple(
    (kind, *place)
    for kind in ("podAffinity", "podAntiAffinity")
    for place in (
        ("requiredDuringSchedulingIgnoredDuringExecution", ""),
        ("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
    )
)
"""Where terms of pod affinity are: in which lists, and in which field of an element."""


def containers_with_paths(spec: Manifest, path: str) -> Iterator[tuple[Manifest, str]]:
    """Yield the containers of all kinds and their paths below ``path``, the pod spec's
    (VisitContainersWithPath in pkg/api/pod/util.go)."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield container, f"{path}.{field}[{index}]"


def affinity_terms(spec: Manifest, path: str) -> Iterator[tuple[Manifest, str]]:
    """Yield the terms of pod affinity and anti-affinity and their paths below ``path``, the pod spec's."""
    affinity: Manifest = spec.get("affinity") or {}
    for kind, field, inner in _TERMS if affinity else ():
        for index, term in enumerate((affinity.get(kind) or {}).get(field) or ()):
            at = f"{path}.affinity.{kind}.{field}[{index}]"
            yield (term[inner], f"{at}.{inner}") if inner else (term, at)
