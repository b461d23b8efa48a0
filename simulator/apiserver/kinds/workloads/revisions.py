"""ControllerRevisions and PodTemplates: templates that make no pods by themselves.

Upstream: strategy.go in pkg/registry/apps/controllerrevision and pkg/registry/core/podtemplate, and
ValidateControllerRevision in pkg/apis/apps/validation/validation.go.
"""

from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.kinds.workloads.templates import (
    container_columns,
    set_template_defaults,
    template_warnings,
    validate_template,
)
from simulator.apiserver.printers.column import AGE, NAME, NONE, Column, labels_text, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.shapes import all_of, field, must_exist, not_negative
from simulator.apiserver.strategy import Strategy
from simulator.apiserver.update_shapes import immutable


def _controller(item: Manifest, _: Micros) -> str:
    """Return the controller's kind with its group, and its name: ``statefulset.apps/web``."""
    owners = item["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


REVISION_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "ControllerRevision"),
    validate=all_of(must_exist("data", detail="data is mandatory"), not_negative("revision")),
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
    set_defaults=lambda manifest: set_template_defaults({"spec": manifest}),
    validate=field("template", validate_template),
    warnings=template_warnings("template"),
    update_order="US",
    desired_state=lambda manifest: manifest.get("template"),
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        *container_columns("template", wide=0),
        Column(
            "Pod Labels",
            "The labels for the pod template.",
            cell="template.metadata.labels",
            show=labels_text,
        ),
    ),
)
