"""Formats amounts, times and names as Kubernetes does, in a short form."""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from django.utils.translation import gettext, pgettext

from simulator.api import SECOND, Micros

GROUP: Final = "\u202f"
"""Narrow no-break space between groups of digits. It is a decimal sign in no language."""

BINARY: Final = ((1 << 50, "Pi"), (1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))
DECIMAL: Final = ((10**9, "G"), (10**6, "M"), (10**3, "k"))


def number(value: int) -> str:
    """1000000 -> "1 000 000"."""
    return f"{value:,}".replace(",", GROUP).replace("-", "\u2212")


def compact(value: int) -> str:
    """A priority in a short form: 1000000 -> "1M", 2000001000 -> "2G"; below 1000 exact."""
    sign, size = ("\u2212", -value) if value < 0 else ("", value)
    for unit, suffix in DECIMAL:
        if size >= unit:
            return f"{sign}{trimmed(Decimal(size) / unit, 1)}{suffix}"
    return f"{sign}{size}"


def trimmed(value: Decimal, places: int) -> str:
    """The number without zeros at the end of its decimals."""
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def amount(resource: str, value: int) -> str:
    """The amount of a resource: cpu (in millicores) in cores, bytes in binary units, others unchanged."""
    if value < 0:
        return f"\u2212{amount(resource, -value)}"
    if resource == "cpu":
        return trimmed(Decimal(value) / 1000, 3)
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        for unit, suffix in BINARY:
            if value >= unit:
                return trimmed(Decimal(value) / unit, 1) + suffix
    return str(value)


def listed(parts: Iterable[str]) -> str:
    """The parts as a list in the active language."""
    return pgettext("between the parts of a list", ", ").join(parts)


def requests(amounts: dict[str, int]) -> str:
    """{"cpu": 500, "memory": 2**30} -> "0.5 cpu, 1Gi memory"."""
    shown = [f"{amount(name, value)} {name}" for name, value in amounts.items() if value and name != "pods"]
    return listed(shown) or gettext("nothing")


def clock(t: Micros) -> str:
    """The time of day of a simulated time, UTC, with milliseconds."""
    return f"{datetime.fromtimestamp(t // SECOND, UTC):%H:%M:%S}.{t % SECOND // 1000:03d}"


def parse_time(text: str) -> Micros:
    """An RFC 3339 timestamp of the API in simulated microseconds; 0 for an empty text."""
    if not text:
        return 0
    return int(datetime.fromisoformat(text).timestamp() * SECOND)


def pod_name(key: str) -> str:
    """A pod's key, without the namespace if that is "default"."""
    return key.removeprefix("default/")


def stem(label: str) -> str:
    """The name up to its last hyphen, which pods of one controller share; the whole name without a hyphen."""
    head, hyphen, _ = label.rpartition("-")
    return head + hyphen or label


def tail(label: str) -> str:
    """The name after its last hyphen, in which pods of one controller differ; empty without a hyphen."""
    return label[len(stem(label)) :]
