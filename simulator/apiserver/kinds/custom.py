"""Custom resources: their rules are in the schema of their definition.

Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, v1.34.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.custom_resources.resource_schema import custom_faults, set_custom_defaults
from simulator.apiserver.kinds.definitions.strategy import refuse_while_terminating
from simulator.apiserver.printers.column import SHORT_PRINTER
from simulator.apiserver.printers.custom import custom_printer
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Cause
from simulator.apiserver.strategy import WHOLE_METADATA, Strategy, status_strategy

_KEPT: Final = 256
"""Number of versions of custom resources whose strategies are kept. Others are made again."""


@lru_cache(_KEPT)
def custom_strategy(resource: Resource) -> Strategy:
    def validate(manifest: Manifest) -> Iterator[Cause]:
        return iter(custom_faults(resource, manifest))

    def validate_updated(new: Manifest, old: Manifest) -> Iterator[Cause]:
        return iter(custom_faults(resource, new, old))

    def desired_state(manifest: Manifest) -> Any:
        left_out = ("metadata", "status") if resource.has_status else ("metadata",)
        return {field: value for field, value in manifest.items() if field not in left_out}

    # The order of an update of the status is that of the object.
    status = status_strategy(keeps_metadata=WHOLE_METADATA, update_order="US")
    return Strategy(
        resource=resource,
        refuse_create=partial(refuse_while_terminating, resource),
        set_defaults=lambda manifest: set_custom_defaults(resource, manifest),
        any_finalizer=True,
        validate=validate,
        validate_updated=validate_updated,
        needs_version=True,
        update_order="US",
        desired_state=desired_state,
        subresources={"status": status} if resource.has_status else {},
        printer=custom_printer(resource) if resource.columns_text else SHORT_PRINTER,
        fields=resource.selectable_fields,
        storage_prefix=f"{resource.group}/{resource.plural}",
    )
