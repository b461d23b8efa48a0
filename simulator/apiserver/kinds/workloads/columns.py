"""The columns that kinds with a pod template have in common, and those of Scales."""

from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import (
    AGE,
    NONE,
    Cell,
    Column,
    printer_of,
)
from simulator.apiserver.resource import SCALES
from simulator.apiserver.shapes import value_at
from simulator.apiserver.strategy import Strategy
from simulator.objects.labels import selector_text
from simulator.objects.status import status_of

READY_PODS = "Number of the pod with ready state"
LABELS = (
    "More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors"
)


def container_columns(path: str = "spec.template", *, wide: int = 1) -> tuple[Column, Column]:
    """Return the columns with the names and the images of the containers."""

    def cell(field: str) -> Cell:
        def text(item: Manifest, _: Micros) -> str:
            containers = ((value_at(item, path) or {}).get("spec") or {}).get("containers") or ()
            return ",".join(str(each.get(field, "")) for each in containers)

        return text

    return (
        Column("Containers", "Names of each container in the template.", wide=wide, cell=cell("name")),
        Column(
            "Images", "Images referenced by each container in the template.", wide=wide, cell=cell("image")
        ),
    )


def selector_column(description: str, path: str = "spec.selector") -> Column:
    return Column(
        "Selector",
        description,
        wide=1,
        cell=lambda item, _: format_label_selector(value_at(item, path)),
    )


def format_label_selector(selector: Manifest | None) -> str:
    """Format a label selector (FormatLabelSelector)."""
    return selector_text(selector) or NONE


def count_column(name: str, description: str, field: str, type_name: str = "integer") -> Column:
    """Return the column of a number of the status."""
    return Column(name, description, type_name, cell=lambda item, _: status_of(item).get(field) or 0)


def replicas_cell(item: Manifest, _: Micros) -> int:
    return (item.get("spec") or {}).get("replicas") or 0


def ready_cell(item: Manifest, now: Micros) -> str:
    """Return how many replicas are ready, of how many: ``1/3``."""
    return f"{status_of(item).get('readyReplicas') or 0}/{replicas_cell(item, now)}"


SCALE_STRATEGY: Final = Strategy(
    resource=SCALES,
    printer=printer_of(
        Column("Name", "ObjectMeta.name", cell="metadata.name"),
        Column("Desired", "ScaleSpec.replicas", "integer", cell=replicas_cell),
        count_column("Available", "ScaleStatus.replicas", "replicas"),
        AGE,
    ),
)
"""That of Scales, which are not stored, but shown."""
