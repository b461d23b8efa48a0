"""Changes of an object before it is validated, as tables of kinds list them."""

import copy
from collections.abc import Iterable, Sequence
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
    steps = {
        gate: [([_step(step) for step in above], name) for *above, name in (p.split(".") for p in of_gate)]
        for gate, of_gate in paths.items()
    }

    def drop(manifest: Manifest, old: Manifest | None = None, /) -> None:
        for gate, of_gate in steps.items():
            if enabled(gate):
                continue
            for above, name in of_gate:
                holders = [found for found in _find(manifest, above) if name in found]
                if holders and not (old and any(name in found for found in _find(old, above))):
                    for found in holders:
                        del found[name]

    return drop


_Step = tuple[str, str]
"""A field, and what of it: "" = its value, ``[]`` = the elements of a list, ``{}`` = the values of a map."""


def _step(step: str) -> _Step:
    name = step.removesuffix("[]").removesuffix("{}")
    return name, step[len(name) :]


def _find(value: Any, steps: Sequence[_Step]) -> Sequence[Manifest]:
    """Return the objects at a path."""
    found = [value]
    for name, of in steps:
        parts = [part for each in found if (part := each.get(name))]
        if not of:
            found = parts
        else:
            found = [one for part in parts for one in (part if of == "[]" else part.values())]
    return found
