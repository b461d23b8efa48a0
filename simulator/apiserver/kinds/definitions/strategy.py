"""The strategy of CustomResourceDefinitions.

Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go and
apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go, v1.34.
"""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.definitions.deletion import marked_definition
from simulator.apiserver.kinds.definitions.validation import (
    validate_definition,
    validate_definition_status,
    validate_definition_update,
)
from simulator.apiserver.printers.column import PLAIN_PRINTER
from simulator.apiserver.resource import built_in
from simulator.apiserver.strategy import WHOLE_METADATA, Strategy, spec_of, status_strategy

DEFINITIONS: Final = built_in(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    *("crd", "crds"),
    in_cluster=True,
    has_status=True,
)
_HTTPS_PORT = 443


def _set_defaults(manifest: Manifest) -> None:
    spec = manifest["spec"]
    names = spec["names"]
    if names["kind"]:
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List")
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    if client.get("service") is not None:
        client["service"].setdefault("port", _HTTPS_PORT)
    stored = [version["name"] for version in spec.get("versions") or () if version["storage"]][:1]
    manifest.setdefault("status", {}).setdefault("storedVersions", stored)


def _with_stored_versions(definition: Manifest, _: Manifest) -> Manifest:
    """Return the definition with the version in which objects are stored now among those in which they
    were."""
    status = definition.get("status") or {}
    known = status.get("storedVersions") or []
    added = [
        version["name"]
        for version in definition["spec"].get("versions") or ()
        if version.get("storage") and version["name"] not in known
    ]
    return {**definition, "status": {**status, "storedVersions": [*known, *added]}} if added else definition


DEFINITION_STRATEGY: Final = Strategy(
    resource=DEFINITIONS,
    set_defaults=_set_defaults,
    any_finalizer=True,
    validate=validate_definition,
    needs_version=True,
    prepare_for_update=_with_stored_versions,
    validate_update=validate_definition_update,
    update_order="UC",
    desired_state=spec_of,
    # An update of the status changes the metadata: the strategy resets the new metadata to itself.
    subresources={"status": status_strategy(validate_definition_status, resets_metadata=WHOLE_METADATA)},
    mark_for_deletion=marked_definition,
    printer=PLAIN_PRINTER,
    storage_prefix="apiextensions.k8s.io/customresourcedefinitions",
)
