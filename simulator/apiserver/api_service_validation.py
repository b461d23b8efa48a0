"""Validation of APIServices.

Upstream: kube-aggregator/pkg/apis/apiregistration/validation/validation.go, v1.34.
"""

import base64
from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.condition_validation import CONDITION_STATUSES
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.kernel.go_text import quote

API_SERVICES: Final = "apiservices.apiregistration.k8s.io"
_MAX_GROUP_PRIORITY: Final = 20_000
_MAX_VERSION_PRIORITY: Final = 1_000


def validate_api_service(manifest: Manifest) -> Iterator[Cause]:
    spec, name = manifest.get("spec") or {}, manifest["metadata"].get("name", "")
    group, version = spec.get("group", ""), spec.get("version", "")
    if name and not names.path_segment(name) and name != f"{version}.{group}":
        detail = f'must be `spec.version+"."+spec.group`: {quote(f"{version}.{group}")}'
        yield invalid("metadata.name", name, detail)
    if not group and version != "v1":
        yield required("spec.group", "only v1 may have an empty group and it better be legacy kube")
    if group:
        yield from check_name(names.dns_subdomain, group, "spec.group")
    yield from check_name(names.service_name, version, "spec.version")
    for field, most in (
        ("groupPriorityMinimum", _MAX_GROUP_PRIORITY),
        ("versionPriority", _MAX_VERSION_PRIORITY),
    ):
        if not 0 < spec.get(field, 0) <= most:
            yield invalid(f"spec.{field}", spec.get(field, 0), f"must be positive and less than {most}")
    bundle, insecure = spec.get("caBundle"), bool(spec.get("insecureSkipTLSVerify"))
    service = spec.get("service")
    if service is None:
        if bundle:
            shown = f"{len(base64.b64decode(bundle))} bytes"
            yield invalid("spec.caBundle", shown, "local APIServices may not have a caBundle")
        if insecure:
            detail = "local APIServices may not have insecureSkipTLSVerify"
            yield invalid("spec.insecureSkipTLSVerify", True, detail)
        return
    for field in ("namespace", "name"):
        if not service.get(field):
            yield required(f"spec.service.{field}")
    if insecure and bundle:
        yield invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")


def validate_api_service_status(new: Manifest, _old: Manifest) -> Iterator[Cause]:
    for index, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        status = condition.get("status", "")
        if status not in CONDITION_STATUSES:
            yield not_supported(f"status.conditions[{index}].status", status, CONDITION_STATUSES)
