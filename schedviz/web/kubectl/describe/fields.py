"""Fields that objects of many kinds have, as kubectl describe prints them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from schedviz.web.kubectl.describe.writer import Writer
from simulator.api import SECOND, Manifest
from simulator.objects.quantity import canonical
from simulator.objects.timestamps import micros

NONE: Final = "<none>"
HIDDEN_ANNOTATIONS: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
MAX_ANNOTATION: Final = 140
"""The length from which an annotation has lines of its own, and at which they are cut off."""
ZERO_TIME: Final = "0001-01-01T00:00:00Z"
"""What Go prints for a time that is missing."""


def list_lines(to: Writer, title: str, items: Sequence[str]) -> None:
    """Write a title and the items, each on a line, one below the other."""
    to.part(0, f"{title}:\t")
    if not items:
        to.line(0, NONE)
    for number, item in enumerate(items):
        if number:
            to.part(0, "")
            to.part(0, "\t")
        to.line(0, item)


def labels(to: Writer, title: str, found: Mapping[str, str]) -> None:
    list_lines(to, title, [f"{key}={found[key]}" for key in sorted(found)])


def annotations(to: Writer, found: Mapping[str, str]) -> None:
    to.part(0, "Annotations:\t")
    shown = sorted(found.keys() - HIDDEN_ANNOTATIONS)
    if not shown:
        to.line(0, NONE)
    for number, key in enumerate(shown):
        if number:
            to.part(0, "\t")
        value = found[key].removesuffix("\n")
        if len(f"{key}: {value}".encode()) <= MAX_ANNOTATION and "\n" not in value:
            to.line(0, f"{key}: {value}")
            continue
        to.line(0, f"{key}:")
        for line in value.split("\n"):
            to.line(0, f"\t  {shorten(line, MAX_ANNOTATION - 2)}")


def shorten(text: str, length: int) -> str:
    """Cut off a text after a number of bytes."""
    encoded = text.encode()
    return text if len(encoded) <= length else encoded[:length].decode(errors="replace") + "..."


def toleration(found: Manifest) -> str:
    text: str = found.get("key", "")
    if found.get("value"):
        text += f"={found['value']}"
    if found.get("effect"):
        text += f":{found['effect']}"
    if found.get("operator") == "Exists" and not found.get("value"):
        text += " op=Exists" if text else "op=Exists"
    if found.get("tolerationSeconds") is not None:
        text += f" for {found['tolerationSeconds']}s"
    return text


def taint(found: Manifest) -> str:
    key, value, effect = found["key"], found.get("value"), found.get("effect")
    return (f"{key}={value}" if value else key) + (f":{effect}" if effect else ":" if value else "")


def resource_list(to: Writer, level: int, amounts: Mapping[str, str]) -> None:
    for name in sorted(amounts):
        to.line(level, f"{name}:\t{canonical(amounts[name])}")


def requirements(to: Writer, level: int, resources: Manifest | None) -> None:
    """Write the limits and requests of a container or a pod."""
    for field in ("limits", "requests"):
        amounts = (resources or {}).get(field)
        if amounts:
            to.line(level, f"{field.capitalize()}:")
            resource_list(to, level + 1, amounts)


def date(stamp: str | None) -> str:
    """Return a time in the format RFC 1123 with a numeric zone."""
    time = datetime.fromtimestamp(micros(stamp or ZERO_TIME) // SECOND, UTC)
    return f"{time:%a, %d %b} {time.year:04} {time:%H:%M:%S} +0000"
