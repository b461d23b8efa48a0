"""The containers of a pod with their places in it.

Upstream: VisitContainersWithPath in pkg/api/pod/util.go.
"""

from collections.abc import Iterator

from simulator.api import Manifest


def containers_with_paths(spec: Manifest, path: str) -> Iterator[tuple[Manifest, str]]:
    """Yield the containers of all kinds and their paths below ``path``, the pod spec's."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield container, f"{path}.{field}[{index}]"
