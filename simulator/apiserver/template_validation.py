"""Validation of pod templates and of counters, common to all workloads.

Upstream: ValidatePodTemplateSpec in pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Iterator, Sequence

from simulator.api import Manifest
from simulator.apiserver import pod_validation, selector_validation
from simulator.apiserver.annotation_validation import validate_annotations
from simulator.apiserver.status import Cause, invalid, not_supported, required

COUNTS = (
    "activeDeadlineSeconds",
    "replicas",
    "minReadySeconds",
    "progressDeadlineSeconds",
    "revisionHistoryLimit",
    "parallelism",
    "completions",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "startingDeadlineSeconds",
    "successfulJobsHistoryLimit",
    "failedJobsHistoryLimit",
)
"""Fields of workloads that may not be negative."""


def validate_counts(spec: Manifest, path: str) -> Iterator[Cause]:
    for field in COUNTS:
        if spec.get(field, 0) < 0:
            yield invalid(f"{path}.{field}", spec[field], "must be greater than or equal to 0")


def validate_template(spec: Manifest, path: str, policies: Sequence[str]) -> Iterator[Cause]:
    """Validate ``spec["template"]``. ``policies`` are the allowed values of restartPolicy."""
    template = spec["template"]
    metadata = template["metadata"]
    yield from selector_validation.validate_labels(
        metadata.get("labels", {}), f"{path}.template.metadata.labels"
    )
    yield from validate_annotations(metadata.get("annotations", {}), f"{path}.template.metadata.annotations")
    yield from pod_validation.validate_pod_spec(template["spec"], f"{path}.template.spec")
    yield from _validate_restart_policy(template, path, policies)


def validate_stateful_set_template(spec: Manifest) -> Iterator[Cause]:
    """Validate the template of a StatefulSet. Its pod spec is not validated, because the containers may mount
    volumes of the volumeClaimTemplates, which are no volumes of the template
    (ValidatePodTemplateSpecForStatefulSet in pkg/apis/apps/validation/validation.go; the paths of labels and
    annotations are upstream's)."""
    template = spec["template"]
    metadata = template["metadata"]
    yield from selector_validation.validate_labels(metadata.get("labels", {}), "spec.template.labels")
    yield from validate_annotations(metadata.get("annotations", {}), "spec.template.annotations")
    yield from _validate_restart_policy(template, "spec", ("Always",))


def _validate_restart_policy(template: Manifest, path: str, policies: Sequence[str]) -> Iterator[Cause]:
    policy = template["spec"]["restartPolicy"]
    if policy == "Always" and policy not in policies:
        # "Always" is the default, so the user probably has not set the policy (ValidateJobTemplate).
        choices = ", ".join(f'"{choice}"' for choice in policies)
        yield required(f"{path}.template.spec.restartPolicy", f"valid values: {choices}")
    elif policy not in policies:
        yield not_supported(f"{path}.template.spec.restartPolicy", policy, policies)
