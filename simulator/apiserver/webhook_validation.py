"""Validation of ValidatingWebhookConfigurations and MutatingWebhookConfigurations.

Upstream: pkg/apis/admissionregistration/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.admission_rule_validation import (
    check_one_of,
    validate_match_conditions,
    validate_rule,
)
from simulator.apiserver.enumerations import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    REINVOCATION_POLICIES,
    SIDE_EFFECTS,
)
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import Cause, duplicate, invalid, not_supported, required
from simulator.apiserver.webhook_client_validation import validate_client, validate_review_versions

_MAX_SECONDS: Final = 30
_FEWEST_SEGMENTS: Final = 3


def _configuration(manifest: Manifest) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, webhook in enumerate(manifest.get("webhooks") or ()):
        path, name = f"webhooks[{index}]", webhook.get("name", "")
        yield from _webhook(webhook, path)
        versions, missing = webhook.get("admissionReviewVersions") or [], "must specify one of v1, v1beta1"
        yield from validate_review_versions(versions, f"{path}.admissionReviewVersions", missing=missing)
        if name and name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)


def _webhook(webhook: Manifest, path: str) -> Iterator[Cause]:
    yield from _qualified_name(webhook.get("name", ""), f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        yield from validate_rule(rule, f"{path}.rules[{index}]")
    yield from check_one_of(webhook.get("failurePolicy"), FAILURE_POLICIES, f"{path}.failurePolicy")
    yield from check_one_of(webhook.get("matchPolicy"), MATCH_POLICIES, f"{path}.matchPolicy")
    effects = webhook.get("sideEffects")
    if effects is None:
        yield required(f"{path}.sideEffects", f"must specify one of {', '.join(SIDE_EFFECTS)}")
    elif effects not in SIDE_EFFECTS:
        yield not_supported(f"{path}.sideEffects", effects, SIDE_EFFECTS)
    seconds = webhook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= _MAX_SECONDS:
        detail = "the timeout value must be between 1 and 30 seconds"
        yield invalid(f"{path}.timeoutSeconds", seconds, detail)
    for field in ("namespaceSelector", "objectSelector"):
        yield from validate_label_selector(webhook.get(field), f"{path}.{field}")
    yield from check_one_of(
        webhook.get("reinvocationPolicy"), REINVOCATION_POLICIES, f"{path}.reinvocationPolicy"
    )
    yield from validate_client(webhook.get("clientConfig") or {}, f"{path}.clientConfig")
    conditions = webhook.get("matchConditions") or ()
    yield from validate_match_conditions(conditions, f"{path}.matchConditions", has_params=False)


def _qualified_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that IsFullyQualifiedName reports."""
    if not name:
        yield required(path)
    elif problems := names.dns_subdomain(name):
        yield invalid(path, name, ",".join(problems))
    elif name.count(".") + 1 < _FEWEST_SEGMENTS:
        yield invalid(path, name, "should be a domain with at least three segments separated by dots")


WEBHOOK_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _configuration,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _configuration,
}
