"""The admission plugin ValidatingAdmissionPolicy: asks the policies that are bound about a write.

Upstream: apiserver/pkg/admission/plugin/policy/validating/{plugin,dispatcher}.go, v1.34. Policies and
bindings are asked in the order of their names; upstream's order is random. What Audit would write is written
nowhere: there is no audit log.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from simulator.api import Manifest
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.policies.evaluation import Denial, Evaluation
from simulator.apiserver.policies.expressions import CompiledPolicy, compile_policy
from simulator.apiserver.policies.matching import find_namespace, matched_resource
from simulator.apiserver.policies.params import ConfigurationError, collect_params, find_param_resource
from simulator.apiserver.policies.request import POLICIES, POLICY_BINDINGS, AdmissionRequest
from simulator.apiserver.resources import NAMESPACES, Resource
from simulator.apiserver.status import Cause, StatusError
from simulator.objects.metadata import name_of

_GROUP: Final = "admissionregistration.k8s.io"
_CODES: Final = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_NAMESPACE_METADATA: Final = frozenset(
    (
        *("name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"),
        *("deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers"),
    )
)
"""The fields of a Namespace's metadata that expressions can read (CreateNamespaceObject)."""
CACHED: Final = 256
"""Compiled policies."""


class PolicyDenied(StatusError):
    """A policy denies the request. Its reason determines the code."""

    def __init__(self, request: AdmissionRequest, detail: str, reason: str) -> None:
        resource, name = request.resource, request.name or _generate_name(request)
        self.reason = reason or "Invalid"
        self.code = _CODES.get(self.reason, 422)
        super().__init__(
            f'{resource.id} "{name}" is forbidden: {detail}',
            kind=resource.plural,
            group=resource.group,
            name=name,
            causes=[Cause("", detail, "")],
        )


def _generate_name(request: AdmissionRequest) -> str:
    metadata = (request.object or {}).get("metadata") or {}
    return metadata.get("name") or metadata.get("generateName") or "Unknown"


def check_policies(request: AdmissionRequest, overlay: Overlay) -> None:
    """Evaluate all policies that are bound. Raises PolicyDenied for the first that denies; warnings are added
    to ``request.asked``."""
    if request.resource.group == _GROUP:
        return
    bindings = overlay.peek(POLICY_BINDINGS)
    if not bindings:
        return
    bound: dict[str, list[Manifest]] = {}
    for binding in sorted(bindings, key=name_of):
        bound.setdefault(binding["spec"].get("policyName", ""), []).append(binding)
    denied: list[tuple[str, str]] = []
    for policy in sorted(overlay.peek(POLICIES), key=name_of):
        found = bound.get(name_of(policy))
        if found:
            denied += _denied_by(policy, found, request, overlay)
    if denied:
        raise PolicyDenied(request, *denied[0])


def _denied_by(
    policy: Manifest, bindings: list[Manifest], request: AdmissionRequest, overlay: Overlay
) -> Iterator[tuple[str, str]]:
    """Yield the details and reasons of denials."""
    spec, name = policy["spec"], name_of(policy)
    matched = matched_resource(request, spec.get("matchConstraints") or {}, overlay)
    if matched is None:
        return
    fails = spec.get("failurePolicy", "Fail") == "Fail"
    try:
        kind = spec.get("paramKind")
        param_resource = None if kind is None else find_param_resource(kind, overlay)
    except ConfigurationError as error:
        if fails:
            detail = f"failed to configure policy: {error}"
            yield f"ValidatingAdmissionPolicy '{name}' denied request: {detail}", ""
        return
    compiled = _compiled(msgspec.json.encode(spec))
    for binding in bindings:
        of_binding = binding["spec"]
        criteria = of_binding.get("matchResources")
        if criteria is not None and matched_resource(request, criteria, overlay) is None:
            continue
        by = f"ValidatingAdmissionPolicy '{name}' with binding '{name_of(binding)}'"
        reference, namespace = of_binding.get("paramRef"), request.namespace_seen()
        try:
            params = collect_params(param_resource, reference, namespace, overlay)
        except ConfigurationError as error:
            if fails:
                yield f"{by} denied request: failed to configure binding: {error}", ""
            continue
        values = _values(request, matched, overlay)
        for param in params:
            for denial in Evaluation(compiled, spec, {**values, "params": param}).denials():
                yield from _acted_on(denial, of_binding, by, request)


def _acted_on(
    denial: Denial, binding: Manifest, by: str, request: AdmissionRequest
) -> Iterator[tuple[str, str]]:
    actions = binding.get("validationActions") or ()
    if "Deny" in actions or denial.is_of_annotation:
        yield f"{by} denied request: {denial.message}", denial.reason
    if "Warn" in actions and not denial.is_of_annotation:
        request.asked.warnings.append(f"Validation failed for {by}: {denial.message}")


@lru_cache(maxsize=CACHED)
def _compiled(spec: bytes) -> CompiledPolicy:
    return compile_policy(msgspec.json.decode(spec))


def _values(request: AdmissionRequest, matched: Resource, overlay: Overlay) -> Mapping[str, Any]:
    def served(manifest: Manifest | None) -> Manifest | None:
        if manifest is None or request.kind is not None or matched == request.resource:
            return manifest
        return {**manifest, "apiVersion": matched.api_version}

    namespace = None
    if request.namespace and request.resource != NAMESPACES:
        namespace = find_namespace(request.namespace, overlay)
    return {
        "object": served(request.object),
        "oldObject": served(request.old),
        "request": request.seen_as(matched),
        "namespaceObject": None if namespace is None else _seen_namespace(namespace),
    }


def _seen_namespace(namespace: Manifest) -> Manifest:
    metadata = {
        field: value for field, value in namespace["metadata"].items() if field in _NAMESPACE_METADATA
    }
    return {
        "metadata": metadata,
        "spec": namespace.get("spec") or {},
        "status": namespace.get("status") or {},
    }
