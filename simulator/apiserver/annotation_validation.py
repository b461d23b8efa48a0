"""Validation of annotations, in objects and in pod templates.

Upstream: ValidateAnnotations in apimachinery/pkg/api/validation/objectmeta.go, v1.34. The annotations of
schedviz (prefix ``schedviz/``) are validated here too.
"""

import re
from collections.abc import Iterator

from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.status import Cause, invalid, not_supported, too_long
from simulator.objects.device_notation import DEVICES, DeviceNotationError, parse_devices
from simulator.objects.node_conditions import FAILED_SINCE
from simulator.objects.timestamps import NO_TIMESTAMP, is_timestamp

MAX_ANNOTATIONS_BYTES = 256 * 1024
"""The maximum size of all annotations (TotalAnnotationSizeLimitB)."""
SECONDS_ANNOTATIONS = (
    "schedviz/run-seconds",
    "schedviz/fail-after-seconds",
    "schedviz/ready-after-seconds",
    "schedviz/stop-seconds",
    "schedviz/ttl-seconds-after-finished",
    "schedviz/provision-seconds",
)
"""Annotations of schedviz that hold seconds. The simulated kubelet and provisioner read them."""
FAIL_AT = "schedviz/fail-at"
"""Annotation of schedviz: the pod's next scheduling cycle fails at this extension point."""
FAULT_POINTS = (
    *("PreFilter", "Filter", "PostFilter", "PreScore", "Score"),
    *("Reserve", "Permit", "PreBind", "Bind"),
)
"""The extension points of annotations for faults. PostBind is none of them: its plugins return no status, so
a failure there would have no effect."""


def validate_annotations(given: dict[str, str], path: str) -> Iterator[Cause]:
    for key in given:
        yield from check_name(names.annotation_key, key, path)
    if sum(len(key.encode()) + len(text.encode()) for key, text in given.items()) > MAX_ANNOTATIONS_BYTES:
        yield too_long(path, MAX_ANNOTATIONS_BYTES)
    for key in SECONDS_ANNOTATIONS:
        if key in given and not re.fullmatch("[0-9]{1,9}", given[key], re.ASCII):
            yield invalid(f"{path}[{key}]", given[key], "must be a whole number of seconds")
    fail_at = given.get(FAIL_AT, "")
    if fail_at and fail_at not in FAULT_POINTS:
        yield not_supported(f"{path}[{FAIL_AT}]", fail_at, FAULT_POINTS)
    try:
        parse_devices(given.get(DEVICES, ""))
    except DeviceNotationError as error:
        yield invalid(f"{path}[{DEVICES}]", given[DEVICES], str(error))
    since = given.get(FAILED_SINCE)
    if since is not None and not is_timestamp(since):
        yield invalid(f"{path}[{FAILED_SINCE}]", since, NO_TIMESTAMP)
