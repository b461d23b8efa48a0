"""Finds quantities that are valid, and most likely a mistake: ``memory: 512m`` is half a byte."""

from collections.abc import Iterator
from typing import Any, Final

from django.utils.translation import gettext

from simulator.api import Manifest
from simulator.apiserver.status import Cause
from simulator.objects import quantity

LEAST_BYTES: Final = 1024
"""Bytes below which a memory request is most likely a mistake: no container runs in less; the kubelet itself
needs megabytes to start one."""
MOST_CPUS: Final = 10_000
"""CPUs above which a request is most likely a mistake: the largest machines have some thousand."""

AMOUNTS: Final = ("requests", "limits", "allocatable", "capacity")
BYTES: Final = ("memory", "ephemeral-storage")


def find_unit_mistakes(manifest: Manifest) -> Iterator[Cause]:
    """Yield the fields of a valid manifest whose unit is most likely not the one that was meant."""
    yield from _find(manifest, "")


def _find(value: Any, path: str) -> Iterator[Cause]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _find(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            at = f"{path}.{key}" if path else str(key)
            if key in AMOUNTS and isinstance(item, dict):
                for resource, amount in item.items():
                    yield from _mistake(str(resource), amount, f"{at}[{resource}]")
            elif isinstance(item, dict | list):
                yield from _find(item, at)


def _mistake(resource: str, amount: Any, path: str) -> Iterator[Cause]:
    try:
        nanos = quantity.parse_quantity(amount)
    except quantity.QuantityError:
        return  # the API server says so
    digits = str(amount).rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    words = {"value": amount}
    if resource in BYTES and 0 < nanos < LEAST_BYTES * quantity.NANO:
        words |= {"meant": f"{digits}Mi", "bytes": f"{nanos / quantity.NANO:g}"}
        yield Cause(path, gettext("%(value)s is %(bytes)s bytes. Did you mean %(meant)s?") % words)
    elif resource == "cpu" and nanos >= MOST_CPUS * quantity.NANO:
        words |= {"meant": f"{digits}m", "cpus": f"{nanos / quantity.NANO:,.0f}"}
        yield Cause(path, gettext("%(value)s is %(cpus)s CPUs. Did you mean %(meant)s?") % words)
