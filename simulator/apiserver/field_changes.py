"""Changes of an object before it is validated, as tables of kinds list them."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from simulator.api import Manifest
from simulator.apiserver.served_features import enabled


def complete(manifest: Manifest, defaults: Manifest) -> None:
    """Set the fields that are missing and have a default, in place. A default that is an object completes
    one that is there."""
    for field, value in defaults.items():
        if field not in manifest:
            manifest[field] = copy.deepcopy(value)
        elif isinstance(value, dict):
            complete(manifest[field], value)


class Dropping(Protocol):
    """Removes the fields of an object whose feature gates are off, in place."""

    def __call__(self, manifest: Manifest, old: Manifest | None = None, /) -> object:
        """``old``: the stored object, which is updated. A field that it has is kept."""


def dropping(**paths: Iterable[str]) -> Dropping:
    """Return what removes the fields whose feature gate is off: their paths, by gate. ``a[].b`` is the field
    of all elements of a list, and ``a{}.b`` that of all values of a map. An update keeps the fields that the
    stored object has anywhere (dropDisabledFields of the strategies)."""
    steps = {gate: [path.split(".") for path in of_gate] for gate, of_gate in paths.items()}

    def drop(manifest: Manifest, old: Manifest | None = None, /) -> None:
        for gate, of_gate in steps.items():
            if enabled(gate):
                continue
            for *above, name in of_gate:
                holders = [found for found in _find(manifest, above) if name in found]
                if holders and not (old and any(name in found for found in _find(old, above))):
                    for found in holders:
                        del found[name]

    return drop


def _find(value: Any, steps: Sequence[str]) -> Iterator[Manifest]:
    """Yield the objects at a path."""
    if not steps:
        yield value
        return
    found = value.get(steps[0].removesuffix("[]").removesuffix("{}")) or {}
    for each in found.values() if steps[0].endswith("{}") else found if steps[0].endswith("[]") else [found]:
        yield from _find(each, steps[1:])
