"""Reads and writes values of a manifest by their paths."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from simulator.api import Manifest

Path = tuple[str | int, ...]


def get(value: Any, path: Path) -> Any:
    """Return the value at a path; None if there is none."""
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def put(manifest: Manifest, path: Path, value: Any) -> None:
    """Set the value at a path, and create the mappings and lists on the way. None removes the value, and the
    mappings that are empty then."""
    if value is None:
        _remove(manifest, path)
        return
    inside: Any = manifest
    for part, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(part, int):
            while len(inside) <= part:
                inside.append({})
        if not isinstance(get(inside, (part,)), type(empty)):
            inside[part] = empty
        inside = inside[part]
    inside[path[-1]] = value


def _remove(value: Any, path: Path) -> None:
    first, rest = path[0], path[1:]
    inside = get(value, (first,))
    if inside is None:
        return
    if rest:
        _remove(inside, rest)
    # An empty element of a list stays: removing it would change the indices of the others.
    if isinstance(value, dict) and isinstance(first, str) and (not rest or inside in ({}, [])):
        del value[first]


def mapping(value: Any) -> dict[str, Any]:
    """Return the value if it is a mapping, else an empty mapping."""
    return value if isinstance(value, dict) else {}


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all scalars and empty collections in a value, with their paths."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inside or not value:
        yield path, value
    for part, each in inside:
        yield from leaves(each, (*path, part))


def written(path: Path) -> str:
    """Return the path as the API server writes it: ``spec.containers[0].image``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")
