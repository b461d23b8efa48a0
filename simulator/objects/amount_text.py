"""Amounts of resources as text for people: cpu in cores, bytes in units."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from simulator.api import Manifest
from simulator.objects import pod_requests, quantity

BINARY: Final = ((1 << 50, "Pi"), (1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))
DECIMAL: Final = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
MOST_PLACES: Final = 3
FIRST: Final = (pod_requests.CPU, pod_requests.MEMORY, pod_requests.EPHEMERAL_STORAGE)
"""The resources that stand before all others."""


def is_in_bytes(resource: str) -> bool:
    return resource in (pod_requests.MEMORY, pod_requests.EPHEMERAL_STORAGE) or resource.startswith(
        "hugepages-"
    )


def amount_text(resource: str, amount: int, *, places: int = 1, decimal: bool = False) -> str:
    """Return an amount as the scheduler counts it (cpu in millicores) as text: 1500 of cpu is 1.5. Bytes are
    rounded to ``places`` of their unit, which is binary unless ``decimal``."""
    if amount < 0:
        return f"-{amount_text(resource, -amount, places=places, decimal=decimal)}"
    if resource == pod_requests.CPU:
        return trimmed(Decimal(amount) / 1000, 3)
    if is_in_bytes(resource):
        for unit, suffix in DECIMAL if decimal else BINARY:
            if amount >= unit:
                return trimmed(Decimal(amount) / unit, places) + suffix
    return str(amount)


def trimmed(value: Decimal, places: int) -> str:
    """Return the number without zeros at the end of its decimals."""
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def distinct_amounts(resource: str, needs: int, free: int, *, decimal: bool = False) -> tuple[str, str]:
    """Return two different amounts as two different texts."""
    for places in range(1, MOST_PLACES + 1):
        texts = tuple(amount_text(resource, each, places=places, decimal=decimal) for each in (needs, free))
        if texts[0] != texts[1] or needs == free:
            return texts[0], texts[1]
    return str(needs), str(free)


def written_requests(manifest: Manifest) -> dict[str, str]:
    """Return the pod's requests as they are written: a sum has the units of its first summand."""
    exact = pod_requests.pod_requests(manifest, use_status=False)
    written = dict(reversed([*_written(manifest["spec"])]))
    return {
        name: amount_text(name, pod_requests.to_amount(name, nanos))
        if name == pod_requests.CPU
        else quantity.text_in_format_of(nanos, written.get(name, ""))
        for name, nanos in sorted(exact.items(), key=lambda item: (*map(item[0].__ne__, FIRST), item[0]))
        if pod_requests.is_counted_resource(name)
    }


def _written(spec: Manifest) -> Iterator[tuple[str, str]]:
    asking: list[Any] = [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    for each in asking:
        for resource, text in ((each.get("resources") or {}).get("requests") or {}).items():
            yield resource, str(text)
    for resource, text in (spec.get("overhead") or {}).items():
        yield resource, str(text)
