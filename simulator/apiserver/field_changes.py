"""Changes of an object before it is validated, as tables of kinds list them."""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

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


def dropping(**paths: Iterable[str]) -> Callable[[Manifest], None]:
    """Return what removes the fields whose feature gate is off: their paths, by gate. ``a[].b`` is the field
    of all elements of a list, and ``a{}.b`` that of all values of a map."""
    steps = {gate: [path.split(".") for path in of_gate] for gate, of_gate in paths.items()}

    def drop(manifest: Manifest) -> None:
        for gate, of_gate in steps.items():
            if enabled(gate):
                continue
            for *above, name in of_gate:
                for found in _find(manifest, above):
                    found.pop(name, None)

    return drop


def _find(value: Any, steps: Sequence[str]) -> Iterator[Manifest]:
    """Yield the objects at a path."""
    if not steps:
        yield value
        return
    found = value.get(steps[0].removesuffix("[]").removesuffix("{}")) or {}
    for each in found.values() if steps[0].endswith("{}") else found if steps[0].endswith("[]") else [found]:
        yield from _find(each, steps[1:])
