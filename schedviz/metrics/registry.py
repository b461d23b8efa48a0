"""The registry of all metrics of this process, and its samples as series."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry

REGISTRY: Final = CollectorRegistry()

OTHER: Final = "other"
"""The value of a label instead of a name that users have chosen: the number of series must be bounded."""


MEASURES: Final[list[Callable[[], object]]] = []
"""Functions that are called before the gauges are read, and set the gauges that are not set at each
change."""


class Series(NamedTuple):
    """One line of the text format without its value."""

    name: str
    """The name with its suffix: ``_total``, ``_bucket``, ``_sum``, ``_count``, or none for a gauge."""
    labels: tuple[tuple[str, str], ...]


def counters() -> dict[Series, float]:
    """Return the samples that only grow: of counters and histograms. All begin at 0 with the process."""
    return dict(_samples({"counter", "histogram"}))


def gauges() -> dict[Series, float]:
    for measure in MEASURES:
        measure()
    return dict(_samples({"gauge"}))


def _samples(types: set[str]) -> Iterator[tuple[Series, float]]:
    for metric in REGISTRY.collect():
        if metric.type in types:
            for sample in metric.samples:
                if not sample.name.endswith("_created"):
                    yield Series(sample.name, tuple(sorted(sample.labels.items()))), sample.value
