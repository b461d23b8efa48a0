"""ControllerRevisions and PodTemplates: templates that make no pods by themselves.

Upstream: strategy.go in pkg/registry/apps/controllerrevision and pkg/registry/core/podtemplate, and
ValidateControllerRevision in pkg/apis/apps/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.field_checks import NOT_NEGATIVE
from simulator.apiserver.kinds.pods.defaults import set_pod_spec_defaults
from simulator.apiserver.kinds.workloads.columns import container_columns
from simulator.apiserver.kinds.workloads.templates import (
    template_warnings,
    template_warnings_on_update,
    validate_template,
)
from simulator.apiserver.printers.column import AGE, NAME, NONE, Column, labels_text, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.shapes import value_at
from simulator.apiserver.status import Cause, invalid, required
from simulator.apiserver.strategy import Strategy
from simulator.apiserver.update_shapes import immutable


def _validate_revision(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateControllerRevision reports."""
    if manifest.get("data") is None:
        yield required("data", "data is mandatory")
    if manifest["revision"] < 0:
        yield invalid("revision", manifest["revision"], NOT_NEGATIVE)


def _controller(item: Manifest, _: Micros) -> str:
    """Return the controller's kind with its group, and its name: ``statefulset.apps/web``."""
    owners = item["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


def _set_defaults(manifest: Manifest) -> None:
    template = manifest.setdefault("template", {})
    template.setdefault("metadata", {})
    set_pod_spec_defaults(template.setdefault("spec", {}))


def _validate_template(manifest: Manifest) -> Iterator[Cause]:
    yield from validate_template(manifest.get("template") or {}, "template")


REVISION_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "ControllerRevision"),
    validate=_validate_revision,
    validate_update=immutable("data"),
    printer=printer_of(
        NAME,
        Column("Controller", "Controller of the object", cell=_controller),
        # The description is that of v1beta1.
        Column(
            "Revision", "revision indicates the revision of the state represented by Data.", cell="revision"
        ),
        AGE,
    ),
)
POD_TEMPLATE_STRATEGY: Final = Strategy(
    resource=built_in("v1", "PodTemplate"),
    set_defaults=_set_defaults,
    validate=_validate_template,
    warnings_on_create=template_warnings("template"),
    warnings_on_update=template_warnings_on_update("template"),
    update_order="US",
    desired_state=lambda manifest: manifest.get("template"),
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        *container_columns("template", wide=0),
        Column(
            "Pod Labels",
            "The labels for the pod template.",
            cell=lambda item, _: labels_text(value_at(item, "template.metadata.labels")),
        ),
    ),
)
