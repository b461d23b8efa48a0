"""Places in a manifest: reading, writing, counting."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from simulator.api import Manifest

Path = tuple[str | int, ...]


def get(value: Any, path: Path) -> Any:
    """What lies there; None for nothing."""
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def put(manifest: Manifest, path: Path, value: Any) -> None:
    """Lay a value there, making what holds it; None takes it away, and what would hold nothing then."""
    if value is None:
        _take(manifest, path)
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


def _take(value: Any, path: Path) -> None:
    first, rest = path[0], path[1:]
    inside = get(value, (first,))
    if inside is None:
        return
    if rest:
        _take(inside, rest)
    # An element of a list stays, empty or not: its place names it.
    if isinstance(value, dict) and isinstance(first, str) and (not rest or inside in ({}, [])):
        del value[first]


def mapping(value: Any) -> dict[str, Any]:
    """The value itself where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything that holds nothing else, with its place."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inside or not value:
        yield path, value
    for part, each in inside:
        yield from leaves(each, (*path, part))


def written(path: Path) -> str:
    """As the API server names a field: ``spec.containers[0].image``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")
