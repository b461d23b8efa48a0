"""Warnings about the paths of files in volumes.

Upstream: warningsForOverlappingVirtualPaths in pkg/api/pod/warnings.go, v1.34.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest

_MAX_COMPARED: Final = 100
"""How often all paths of a volume are compared with each other. Each time adds a warning, of which a response
has fewer."""


def path_warnings(volumes: Sequence[Manifest]) -> Iterator[str]:
    """Yield the warnings about files of one volume that have the same path, or a path within another's."""
    for volume in volumes:
        name = volume["name"]
        for source, kind, named in (
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
            ("downwardAPI", "DownwardAPI", ""),
        ):
            items = (volume.get(source) or {}).get("items")
            if items:
                of = f' "{volume[source].get(named, "")}"' if named else ""
                yield from _overlaps(_paths(items), f'volume "{name}" ({kind}{of}): overlapping paths')
        if "projected" in volume:
            yield from _projected_warnings(volume["projected"].get("sources") or (), name)


def _projected_warnings(sources: Sequence[Manifest], name: str) -> Iterator[str]:
    known: set[str] = set()
    index, overlap, compared = _PathIndex(), False, 0
    paths, message = list[str](), ""
    for source in sources:
        if not source:
            yield f'volume "{name}" (Projected) has no sources provided'
            continue
        for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
            items = (source.get(field) or {}).get("items")
            if items:
                of = "" if field == "downwardAPI" else f' "{source[field].get("name", "")}"'
                paths, message = _paths(items), f'volume "{name}" (Projected {kind}{of}): overlapping paths'
                break
        else:
            if "serviceAccountToken" in source:
                paths = [source["serviceAccountToken"].get("path", "")]
                message = f'volume "{name}" (Projected ServiceAccountToken): overlapping paths'
        if paths:
            yield from _overlaps(paths, message)
            for path in {*paths}:
                overlap = overlap or index.overlaps(path.rstrip("/"))
                index.add(path.rstrip("/"))
            if overlap and compared < _MAX_COMPARED:
                compared += 1
                yield from _overlaps(sorted([*{*paths}, *known]), message)
            known |= {*paths}


def _paths(items: Sequence[Manifest]) -> list[str]:
    return [item.get("path", "") for item in items]


def _overlaps(paths: Iterable[str], message: str) -> Iterator[str]:
    """Yield the warnings about overlapping paths (checkVolumeMappingForOverlap). Upstream looks at the
    earlier paths in no order."""
    known: dict[str, None] = {}
    index = _PathIndex()
    for path in (each.rstrip("/") for each in paths):
        if path and index.overlaps(path):
            other = next(each for each in known if each.startswith(path) or path.startswith(each))
            yield f'{message}: "{path}" with "{other}"'
        if "" not in known:  # every path overlaps with an empty one, which has no warnings
            known[path] = None
            if path:
                index.add(path)


class _PathIndex:
    """Paths of files, to find whether one overlaps with any: one of the two is the beginning of the other."""

    def __init__(self) -> None:
        self._shortest: list[str] = []
        """Sorted, and without those that begin with another one: what overlaps with any overlaps with one of
        these."""

    def overlaps(self, path: str) -> bool:
        place = bisect_left(self._shortest, path)
        return any(each.startswith(path) for each in self._shortest[place : place + 1]) or any(
            path.startswith(each) for each in self._shortest[max(place - 1, 0) : place]
        )

    def add(self, path: str) -> None:
        place = bisect_left(self._shortest, path)
        if any(path.startswith(each) for each in self._shortest[max(place - 1, 0) : place]):
            return
        end = place
        while end < len(self._shortest) and self._shortest[end].startswith(path):
            end += 1
        self._shortest[place:end] = [path]
