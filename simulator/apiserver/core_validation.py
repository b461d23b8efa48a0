"""Validation of ConfigMaps, Secrets, Namespaces, Leases and RuntimeClasses, beyond their schemas, and the
checks of further kinds that have a module of their own.

Upstream: validation.go in pkg/apis/{core,coordination,node}/validation, v1.34."""

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.autoscaler_validation import validate_autoscaler
from simulator.apiserver.field_checks import NOT_NEGATIVE, check_name
from simulator.apiserver.object_meta_validation import check_standard_finalizer
from simulator.apiserver.quota_validation import validate_limit_range, validate_quota
from simulator.apiserver.request_decoding.json_syntax import find_syntax_fault
from simulator.apiserver.resource_validation import validate_overhead
from simulator.apiserver.selector_validation import validate_labels, validate_tolerations
from simulator.apiserver.service_validation import validate_service
from simulator.apiserver.status import Cause, invalid, required, too_long
from simulator.kernel.go_text import go_type_error

MAX_SECRET_BYTES: Final = 1024 * 1024
"""Maximum size of the data of a Secret (MaxSecretSize), and of ConfigMaps."""
_ACCOUNT: Final = "kubernetes.io/service-account.name"
_DOCKER_KEYS: Final = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}
_STRATEGIES: Final = ("OldestEmulationVersion",)


def _validate_config_map(manifest: Manifest) -> Iterator[Cause]:
    data, binary = manifest.get("data") or {}, manifest.get("binaryData") or {}
    for key in sorted(data):
        yield from check_name(names.config_key, key, f"data[{key}]")
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in sorted(binary):
        yield from check_name(names.config_key, key, f"binaryData[{key}]")
    total = sum(len(text.encode()) for text in data.values()) + sum(map(_decoded_length, binary.values()))
    if total > MAX_SECRET_BYTES:
        yield too_long("[]", MAX_SECRET_BYTES)


def _decoded_length(text: str) -> int:
    return len(text.rstrip("=")) * 3 // 4


def _validate_secret(manifest: Manifest) -> Iterator[Cause]:
    data: dict[str, str] = manifest.get("data") or {}
    for key in sorted(data):
        yield from check_name(names.config_key, key, f"data[{key}]")
    if sum(map(_decoded_length, data.values())) > MAX_SECRET_BYTES:
        yield too_long("data", MAX_SECRET_BYTES)
    match manifest.get("type", ""):
        case "kubernetes.io/service-account-token":
            if not manifest["metadata"].get("annotations", {}).get(_ACCOUNT):
                yield required(f"metadata.annotations[{_ACCOUNT}]")
        case "kubernetes.io/dockercfg" | "kubernetes.io/dockerconfigjson" as kind:
            yield from _docker_config(data, _DOCKER_KEYS[kind])
        case "kubernetes.io/basic-auth":
            if "username" not in data and "password" not in data:
                yield from (required(f"data[{key}]") for key in ("username", "password"))
        case "kubernetes.io/ssh-auth":
            if not data.get("ssh-privatekey"):
                yield required("data[ssh-privatekey]")
        case "kubernetes.io/tls":
            yield from (required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data)


def _docker_config(data: dict[str, str], key: str) -> Iterator[Cause]:
    if key not in data:
        yield required(f"data[{key}]")
        return
    try:
        content = base64.b64decode(data[key])
        detail = find_syntax_fault(content) or _no_map(json.loads(content))
    except (binascii.Error, ValueError) as error:
        detail = str(error)
    if detail:
        yield invalid(f"data[{key}]", "<secret contents redacted>", detail)


def _no_map(value: object) -> str:
    """Return the error of Go's decoder for a value that is no JSON object; "" for null and objects."""
    if value is None or isinstance(value, dict):
        return ""
    return go_type_error(value, "map[string]interface {}")


def _validate_namespace(manifest: Manifest) -> Iterator[Cause]:
    for finalizer in (manifest.get("spec") or {}).get("finalizers") or ():
        yield from check_finalizer_name(finalizer, "spec.finalizers")


def check_finalizer_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateFinalizerName reports, of a Namespace."""
    yield from check_name(names.qualified_name, name, path)
    yield from check_standard_finalizer(name, path)


def _validate_lease(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateLeaseSpec reports."""
    spec = manifest.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, NOT_NEGATIVE)


def _validate_runtime_class(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateRuntimeClass in pkg/apis/node/validation reports."""
    yield from check_name(names.dns_label, manifest.get("handler", ""), "handler")
    overhead = (manifest.get("overhead") or {}).get("podFixed")
    if overhead:
        yield from validate_overhead(overhead, "overhead")
    scheduling = manifest.get("scheduling") or {}
    yield from validate_labels(scheduling.get("nodeSelector", {}), "scheduling.nodeSelector")
    tolerations = scheduling.get("tolerations", [])
    yield from validate_tolerations(tolerations, "scheduling.tolerations")


CORE_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "configmaps": _validate_config_map,
    "horizontalpodautoscalers.autoscaling": validate_autoscaler,
    "leases.coordination.k8s.io": _validate_lease,
    "limitranges": validate_limit_range,
    "namespaces": _validate_namespace,
    "resourcequotas": validate_quota,
    "runtimeclasses.node.k8s.io": _validate_runtime_class,
    "secrets": _validate_secret,
    "services": validate_service,
}
