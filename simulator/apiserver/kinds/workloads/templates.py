"""Pod templates: the rules and the columns that all kinds with one have in common; the columns of Scales.

Upstream: ValidatePodTemplateSpec in pkg/apis/core/validation/validation.go, and in pkg/apis/apps/validation
what compares a template with the selector of its owner.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest, Micros
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.kinds.pods.annotations import validate_pod_annotations, validate_profiles_match
from simulator.apiserver.kinds.pods.defaults import set_pod_spec_defaults
from simulator.apiserver.kinds.pods.preparation import drop_disabled_pod_fields
from simulator.apiserver.kinds.pods.validation import validate_pod_spec
from simulator.apiserver.kinds.pods.warnings import pod_warnings
from simulator.apiserver.object_meta_validation import validate_annotations
from simulator.apiserver.printers.column import AGE, NONE, Column, printer_of
from simulator.apiserver.resource import SCALES
from simulator.apiserver.selector_validation import validate_label_selector, validate_labels
from simulator.apiserver.shapes import PartRule, Rule, field, may_not_have, not_negative, one_of, value_at
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, required
from simulator.apiserver.strategy import Strategy
from simulator.apiserver.update_shapes import UpdateRule
from simulator.objects.labels import label_selector, selector_text
from simulator.objects.status import status_of

NO_MATCH: Final = "`selector` does not match template `labels`"
READY_PODS: Final = "Number of the pod with ready state"
LABELS: Final = (
    "More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors"
)
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def validate_template(template: Manifest, path: str) -> Iterator[Cause]:
    """Validate a template. Upstream leaves ``metadata`` out of the paths."""
    spec = template.get("spec") or {}
    yield from _metadata(template, path)
    yield from validate_pod_spec(spec, f"{path}.spec")
    annotations = (template.get("metadata") or {}).get("annotations", {})
    yield from validate_profiles_match(annotations, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        yield forbidden(f"{path}.spec.ephemeralContainers", detail)


def _metadata(template: Manifest, path: str) -> Iterator[Cause]:
    metadata = template.get("metadata") or {}
    annotations = metadata.get("annotations", {})
    yield from validate_labels(metadata.get("labels", {}), f"{path}.labels")
    yield from validate_annotations(annotations, f"{path}.annotations")
    yield from validate_pod_annotations(annotations, template.get("spec") or {}, f"{path}.annotations")


def long_running(owner: str) -> Rule:
    """The pods of a template run until they are deleted: they always restart and have no deadline. ``owner``
    is the kind that the message names."""
    detail = f"activeDeadlineSeconds in {owner} is not Supported"
    return field(
        "spec",
        field("restartPolicy", one_of(("Always",)), default=""),
        may_not_have("activeDeadlineSeconds", detail=detail, even_empty=True),
    )


def set_template_defaults(manifest: Manifest) -> None:
    """Set the defaults of a template. Upstream it is not a pointer: a missing template is an empty one."""
    template = manifest["spec"].setdefault("template", {})
    template.setdefault("metadata", {})
    set_pod_spec_defaults(template.setdefault("spec", {}))


def drop_template_fields(
    manifest: Manifest, old: Manifest | None = None, path: str = "spec.template"
) -> None:
    """Remove the fields of the template whose feature gate is off, but for those of the stored object."""
    spec, before = (value_at(each or {}, f"{path}.spec") or {} for each in (manifest, old))
    drop_disabled_pod_fields(spec, before)


def template_warnings(path: str = "spec.template") -> Callable[[Manifest, Manifest | None], Iterator[str]]:
    """Return the warnings about the template at a path. An update has them only if it counts."""

    def warnings(new: Manifest, old: Manifest | None) -> Iterator[str]:
        if old is not None and old["metadata"].get("generation") == new["metadata"].get("generation"):
            return iter(())
        return pod_warnings(value_at(new, path) or {}, f"{path}.")

    return warnings


def selector_of(owner: str) -> PartRule:
    """The selector of an owner is there, is right and selects something. ``owner``: as messages name it."""

    def check(spec: Manifest, path: str) -> Iterator[Cause]:
        selector, path = spec.get("selector"), f"{path}.selector"
        if selector is None:
            yield required(path)
            return
        yield from validate_label_selector(selector, path)
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            yield invalid(path, selector, f"empty selector is invalid for {owner}")

    return check


def is_selector(selector: Manifest | None) -> bool:
    """Whether LabelSelectorAsSelector in apimachinery/pkg/apis/meta/v1/helpers.go makes a selector of it. A
    missing one selects nothing."""
    if selector is None:
        return True
    if any(each["operator"] not in _OPERATORS for each in selector.get("matchExpressions", ())):
        return False
    return not any(validate_label_selector(selector, ""))


def check_labels_of_template(spec: Manifest, path: str = "spec") -> Iterator[Cause]:
    labels = (spec["template"].get("metadata") or {}).get("labels")
    parsed = label_selector(spec.get("selector"))
    if parsed is None or not parsed.matches(labels or {}):
        yield invalid(f"{path}.template.metadata.labels", labels, NO_MATCH)


def validate_selector_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    if new["spec"].get("selector") != old["spec"].get("selector"):
        yield invalid("spec.selector", new["spec"].get("selector", NIL), IMMUTABLE, whole=True)


def count_faults(
    *counts: str, at_most_replicas: Sequence[str] = (), ready: str = "readyReplicas"
) -> UpdateRule:
    """Return the rule for the numbers in a status: none is negative, those in ``at_most_replicas`` are not
    greater than the replicas, and a collision count does not fall. ``ready``: the name that a message has for
    the number of ready replicas."""
    numbers = not_negative(*(f"status.{name}" for name in counts))

    def check(new: Manifest, old: Manifest) -> Iterator[Cause]:
        status, before = new.get("status", {}), old.get("status", {})
        yield from numbers(new)
        for name in at_most_replicas:
            if status.get(name, 0) > status.get("replicas", 0):
                yield invalid(f"status.{name}", status.get(name, 0), "cannot be greater than status.replicas")
        available = status.get("availableReplicas", 0)
        if at_most_replicas and available > status.get("readyReplicas", 0):
            yield invalid("status.availableReplicas", available, f"cannot be greater than {ready}")
        if status.get("collisionCount", 0) < before.get("collisionCount", 0):
            yield invalid("status.collisionCount", status.get("collisionCount", 0), "cannot be decremented")

    return check


def container_columns(path: str = "spec.template", *, wide: int = 1) -> tuple[Column, Column]:
    """Return the columns with the names and the images of the containers."""

    def of_each(name: str) -> Callable[[Any], str]:
        return lambda containers: ",".join(str(each.get(name, "")) for each in containers or ())

    path = f"{path}.spec.containers"
    names = "Names of each container in the template."
    images = "Images referenced by each container in the template."
    return (
        Column("Containers", names, wide=wide, cell=path, show=of_each("name")),
        Column("Images", images, wide=wide, cell=path, show=of_each("image")),
    )


def selector_column(field: str, path: str = "spec.selector", older: str = "") -> Column:
    return Column("Selector", field, wide=1, cell=path, show=format_label_selector, older=older)


def format_label_selector(selector: Manifest | None) -> str:
    """Format a label selector (FormatLabelSelector)."""
    return selector_text(selector) or NONE


def ready_cell(item: Manifest, _: Micros) -> str:
    """Return how many replicas are ready, of how many: ``1/3``."""
    return f"{status_of(item).get('readyReplicas') or 0}/{(item.get('spec') or {}).get('replicas') or 0}"


SCALE_STRATEGY: Final = Strategy(
    resource=SCALES,
    printer=printer_of(
        Column("Name", "ObjectMeta.name", cell="metadata.name"),
        Column("Desired", "ScaleSpec.replicas", "integer", absent=0),
        Column("Available", "ScaleStatus.replicas", "integer", absent=0),
        AGE,
    ),
)
"""That of Scales, which are not stored, but shown."""
