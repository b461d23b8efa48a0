"""Validation of pod templates, common to all workloads.

Upstream: ValidatePodTemplateSpec in pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.apiserver.annotation_validation import validate_annotations
from simulator.apiserver.pod_annotation_validation import validate_pod_annotations
from simulator.apiserver.pod_profiles import validate_profiles_match
from simulator.apiserver.pod_validation import validate_pod_spec
from simulator.apiserver.selector_validation import validate_labels
from simulator.apiserver.status import Cause, forbidden, not_supported


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
