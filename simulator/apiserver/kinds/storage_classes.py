"""StorageClasses and VolumeAttributesClasses.

Upstream: strategy.go in pkg/registry/storage/{storageclass,volumeattributesclass},
pkg/apis/storage/v1/defaults.go and pkg/apis/storage/validation/validation.go.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final

from simulator.api import Manifest, Micros
from simulator.apiserver import names
from simulator.apiserver.enumerations import BINDING_MODES
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.repeated import repeats
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import DEPRECATED_LABELS
from simulator.apiserver.shapes import all_of, field, filled, must_have, one_of
from simulator.apiserver.status import Cause, duplicate, invalid, required, too_long
from simulator.apiserver.strategy import Strategy
from simulator.apiserver.update_shapes import all_of_update, immutable
from simulator.objects.metadata import annotations_of

_MAX_PARAMETERS: Final = 512
_MAX_PARAMETERS_BYTES: Final = 256 * 1024
_FORBIDDEN: Final = "updates to {} are forbidden."


def _set_defaults(manifest: Manifest) -> None:
    manifest.setdefault("reclaimPolicy", "Delete")
    manifest.setdefault("volumeBindingMode", "Immediate")


def _provisioner(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateProvisioner reports."""
    if not name:
        yield required(path)
    else:
        yield from check_name(names.qualified_name, name.lower(), path)


def _parameters(parameters: dict[str, str], path: str) -> Iterator[Cause]:
    """Yield the faults that validateParameters reports."""
    if len(parameters) > _MAX_PARAMETERS:
        yield too_long(path, _MAX_PARAMETERS)
        return
    if "" in parameters:
        yield invalid(path, "", "field can not be empty.")
    size = sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items())
    if size > _MAX_PARAMETERS_BYTES:
        yield too_long(path, _MAX_PARAMETERS_BYTES)


def _allowed_topologies(terms: list[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateTopologySelectorTerm reports."""
    # Upstream compares each term with as many empty ones, too.
    seen = Counter({frozenset[tuple[str, frozenset[str]]](): len(terms)})
    for index, term in enumerate(terms):
        wanted: dict[str, frozenset[str]] = {}
        for number, each in enumerate(term.get("matchLabelExpressions", ())):
            at, values = f"{path}[{index}].matchLabelExpressions[{number}]", each.get("values", [])
            if not values:
                yield required(f"{at}.values")
            for place, (value, is_repeated) in enumerate(zip(values, repeats(values), strict=True)):
                if is_repeated:
                    yield duplicate(f"{at}.values[{place}]", value)
            yield from check_name(names.qualified_name, each["key"], f"{at}.key")
            if each["key"] in wanted:
                yield duplicate(f"{at}.key", each["key"])
            wanted[each["key"]] = frozenset(values)
        term_identity = frozenset(wanted.items())
        yield from repeat(duplicate(f"{path}[{index}].matchLabelExpressions", ""), seen[term_identity])
        seen[term_identity] += 1


def _warnings(manifest: Manifest, _: object = None) -> Iterator[str]:
    for index, topology in enumerate(manifest.get("allowedTopologies") or ()):
        for number, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            if expression.get("key") in DEPRECATED_LABELS:
                path = f"allowedTopologies[{index}].matchLabelExpressions[{number}].key"
                yield f"{path}: {DEPRECATED_LABELS[expression['key']]}"


def _name_cell(*annotations: str) -> Column:
    """Return the column with the name, and whether one of the annotations makes the class the default one."""

    def cell(item: Manifest, _: Micros) -> Any:
        name = item["metadata"]["name"]
        is_default = any(annotations_of(item).get(each) == "true" for each in annotations)
        return f"{name} (default)" if is_default else name

    return NAME._replace(cell=cell)


STORAGE_CLASS_STRATEGY: Final = Strategy(
    resource=built_in("storage.k8s.io/v1", "StorageClass", "sc", in_cluster=True),
    set_defaults=_set_defaults,
    validate=all_of(
        field("provisioner", _provisioner),
        field("parameters", _parameters),
        filled("reclaimPolicy", one_of(("Delete", "Retain"))),
        field("volumeBindingMode", one_of(BINDING_MODES)),
        field("allowedTopologies", _allowed_topologies),
    ),
    warnings=_warnings,
    validate_update=all_of_update(
        immutable("parameters", "provisioner", "reclaimPolicy", detail=_FORBIDDEN, forbids=True),
        immutable("volumeBindingMode"),
    ),
    is_shown_when_deleted=True,
    printer=printer_of(
        _name_cell(
            "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"
        ),
        Column("Provisioner", "StorageClass.provisioner"),
        Column("ReclaimPolicy", "StorageClass.reclaimPolicy", absent="Delete"),
        Column("VolumeBindingMode", "StorageClass.volumeBindingMode", absent="Immediate"),
        Column("AllowVolumeExpansion", "StorageClass.allowVolumeExpansion", absent=False),
        AGE,
    ),
)
ATTRIBUTES_CLASS_STRATEGY: Final = Strategy(
    resource=built_in("storage.k8s.io/v1", "VolumeAttributesClass", "vac", in_cluster=True),
    validate=all_of(
        field("driverName", _provisioner),
        must_have("parameters", detail="must contain at least one key/value pair"),
        field("parameters", _parameters),
    ),
    validate_update=immutable("driverName", "parameters", detail=_FORBIDDEN, forbids=True),
    update_order="MSUCMS",
    is_shown_when_deleted=True,
    printer=printer_of(
        _name_cell("volumeattributesclass.alpha.kubernetes.io/is-default-class"),
        Column("DriverName", "VolumeAttributesClass.driverName"),
        AGE,
    ),
)
