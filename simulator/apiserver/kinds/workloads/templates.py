"""Pod templates: what all kinds with one have in common.

Upstream: ValidatePodTemplateSpec in pkg/apis/core/validation/validation.go, and in pkg/apis/apps/validation
what compares a template with the selector of its owner, v1.34.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.kinds.pods.annotations import validate_pod_annotations, validate_profiles_match
from simulator.apiserver.kinds.pods.defaults import set_pod_spec_defaults
from simulator.apiserver.kinds.pods.preparation import drop_disabled_pod_fields
from simulator.apiserver.kinds.pods.validation import validate_pod_spec
from simulator.apiserver.kinds.pods.warnings import pod_warnings
from simulator.apiserver.object_meta_validation import validate_annotations
from simulator.apiserver.selector_validation import validate_label_selector, validate_labels
from simulator.apiserver.shapes import not_negative, value_at
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.update_shapes import UpdateRule
from simulator.objects.labels import label_selector

_NO_MATCH: Final = "`selector` does not match template `labels`"
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


def check_long_running(template: Manifest, path: str, owner: str) -> Iterator[Cause]:
    """Yield the faults of pods that run until they are deleted: they always restart and have no deadline.
    ``owner`` is the kind that the message names."""
    spec = template.get("spec") or {}
    if spec.get("restartPolicy") != "Always":
        yield not_supported(f"{path}.spec.restartPolicy", spec.get("restartPolicy", ""), ("Always",))
    if "activeDeadlineSeconds" in spec:
        detail = f"activeDeadlineSeconds in {owner} is not Supported"
        yield forbidden(f"{path}.spec.activeDeadlineSeconds", detail)


def set_template_defaults(manifest: Manifest) -> None:
    """Set the defaults of a template. Upstream it is not a pointer: a missing template is an empty one."""
    template = manifest["spec"].setdefault("template", {})
    template.setdefault("metadata", {})
    set_pod_spec_defaults(template.setdefault("spec", {}))


def drop_template_fields(manifest: Manifest) -> None:
    """Remove the fields of the template whose feature gate is off by default."""
    template = (manifest.get("spec") or {}).get("template") or {}
    drop_disabled_pod_fields(template.get("spec") or {})


Warnings = Callable[[Manifest], Iterator[str]]


def template_warnings(path: str = "spec.template") -> Warnings:
    """Return the warnings about the template at a path."""
    return lambda manifest: pod_warnings(value_at(manifest, path) or {}, f"{path}.")


def template_warnings_on_update(path: str = "spec.template") -> Callable[[Manifest, Manifest], Iterator[str]]:
    """Return the warnings about the template, which only an update has that counts."""

    def warnings(new: Manifest, old: Manifest) -> Iterator[str]:
        generations = {each["metadata"].get("generation") for each in (new, old)}
        return iter(()) if len(generations) == 1 else template_warnings(path)(new)

    return warnings


def check_selector(selector: Manifest | None, owner: str) -> Iterator[Cause]:
    if selector is None:
        yield required("spec.selector")
        return
    yield from validate_label_selector(selector, "spec.selector")
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid("spec.selector", selector, f"empty selector is invalid for {owner}")


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
        yield invalid(f"{path}.template.metadata.labels", labels, _NO_MATCH)


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
