"""Defaults of admission policies and webhooks, of flow control and of APIServices (defaults.go in
pkg/apis/admissionregistration/v1, pkg/apis/flowcontrol/v1 and kube-aggregator/pkg/apis/apiregistration/v1,
v1.34)."""

from collections.abc import Callable
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.policies.request import POLICIES, POLICY_BINDINGS

_TIMEOUT_SECONDS: Final = 10
_SERVICE_PORT: Final = 443
_PRECEDENCE: Final = 1_000
_SHARES: Final = 30
_QUEUING: Final = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}


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


def _default_flow_schema(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = _PRECEDENCE


def _default_priority_level(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    exempt, limited = spec.get("exempt"), spec.get("limited")
    if exempt is not None:
        exempt.setdefault("nominalConcurrencyShares", 0)
        exempt.setdefault("lendablePercent", 0)
    if limited is not None:
        limited.setdefault("nominalConcurrencyShares", _SHARES)
        limited.setdefault("lendablePercent", 0)
        queuing = limited.setdefault("limitResponse", {}).get("queuing")
        for field, number in _QUEUING.items() if queuing is not None else ():
            queuing[field] = queuing.get(field) or number


def _default_api_service(manifest: Manifest) -> None:
    service = manifest.setdefault("spec", {}).get("service")
    if service is not None:
        service.setdefault("port", _SERVICE_PORT)


ADMISSION_DEFAULTS: Final[dict[str, Callable[[Manifest], None]]] = {
    POLICIES: _default_policy,
    POLICY_BINDINGS: _default_binding,
    "apiservices.apiregistration.k8s.io": _default_api_service,
    "flowschemas.flowcontrol.apiserver.k8s.io": _default_flow_schema,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _default_mutating_webhooks,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": _default_priority_level,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _default_validating_webhooks,
}
