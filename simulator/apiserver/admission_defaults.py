"""Defaults of admission policies and of webhooks (pkg/apis/admissionregistration/v1/defaults.go, v1.34)."""

from collections.abc import Callable
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.policies.request import POLICIES, POLICY_BINDINGS

_TIMEOUT_SECONDS: Final = 10
_SERVICE_PORT: Final = 443


def _default_policy(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("failurePolicy", "Fail")
    if spec.get("matchConstraints") is not None:
        _default_match_resources(spec["matchConstraints"])


def _default_binding(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    if spec.get("matchResources") is not None:
        _default_match_resources(spec["matchResources"])


def _default_match_resources(resources: Manifest) -> None:
    resources.setdefault("matchPolicy", "Equivalent")
    _default_selectors(resources)
    for field in ("resourceRules", "excludeResourceRules"):
        _default_rules(resources.get(field))


def _default_selectors(of: Manifest) -> None:
    of.setdefault("namespaceSelector", {})
    of.setdefault("objectSelector", {})


def _default_rules(rules: list[dict[str, Any]] | None) -> None:
    for rule in rules or ():
        rule.setdefault("scope", "*")


def _default_validating_webhooks(manifest: Manifest) -> None:
    for webhook in manifest.get("webhooks") or ():
        webhook.setdefault("failurePolicy", "Fail")
        webhook.setdefault("matchPolicy", "Equivalent")
        _default_selectors(webhook)
        webhook.setdefault("timeoutSeconds", _TIMEOUT_SECONDS)
        _default_rules(webhook.get("rules"))
        service = (webhook.get("clientConfig") or {}).get("service")
        if service is not None:
            service.setdefault("port", _SERVICE_PORT)


def _default_mutating_webhooks(manifest: Manifest) -> None:
    _default_validating_webhooks(manifest)
    for webhook in manifest.get("webhooks") or ():
        webhook.setdefault("reinvocationPolicy", "Never")


ADMISSION_DEFAULTS: Final[dict[str, Callable[[Manifest], None]]] = {
    POLICIES: _default_policy,
    POLICY_BINDINGS: _default_binding,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _default_mutating_webhooks,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _default_validating_webhooks,
}
