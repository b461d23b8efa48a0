"""The rows of admission policies and webhooks, requests for certificates, flow control and APIServices (the
last of them: kube-aggregator/pkg/registry/apiservice/etcd/etcd.go, v1.34)."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Column,
    Printer,
    age_of,
    human_duration,
)
from simulator.objects.conditions import condition, conditions_of
from simulator.objects.status import status_of


def _name(item: Manifest) -> str:
    name: str = item["metadata"]["name"]
    return name


def _webhooks(item: Manifest, now: Micros) -> list[Any]:
    return [_name(item), len(item.get("webhooks") or ()), age_of(item, now)]


def _policy(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    kind = spec.get("paramKind")
    shown = UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"
    return [_name(item), len(spec.get("validations") or ()), shown, age_of(item, now)]


def _policy_binding(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    reference = spec.get("paramRef") or {}
    shown = UNSET
    if reference.get("name"):
        shown = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference.get("selector") is not None:
        shown = _go_selector(reference["selector"])
    return [_name(item), spec.get("policyName", ""), shown, age_of(item, now)]


def _go_selector(selector: Manifest) -> str:
    """Return a label selector as its Go type is written (LabelSelector.String in its generated.pb.go)."""
    labels = "".join(f"{key}: {text}," for key, text in sorted(selector.get("matchLabels", {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values', ()))}],}},"
        for each in selector.get("matchExpressions", ())
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _certificate_request(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    seconds = spec.get("expirationSeconds")
    return [
        _name(item),
        age_of(item, now),
        spec.get("signerName") or NONE,
        spec.get("username", ""),
        NONE if seconds is None else human_duration(seconds),
        _request_state(item),
    ]


def _request_state(item: Manifest) -> str:
    """Return the state of a certificate request (extractCSRStatus)."""
    kinds = [each.get("type") for each in conditions_of(item)]
    state = "Pending"
    if "Denied" in kinds:
        state = "Denied"
    elif "Approved" in kinds:
        state = "Approved"
    if "Failed" in kinds:
        state += ",Failed"
    return f"{state},Issued" if status_of(item).get("certificate") else state


def _flow_schema(item: Manifest, now: Micros) -> list[Any]:
    spec, dangling = item.get("spec") or {}, condition(item, "Dangling")
    method = spec.get("distinguisherMethod")
    return [
        _name(item),
        (spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        spec.get("matchingPrecedence", 0),
        NONE if method is None else method.get("type", ""),
        age_of(item, now),
        "?" if dangling is None else dangling.get("status", ""),
    ]


def _priority_level(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    limits = spec.get("limited") or {}
    queuing = (limits.get("limitResponse") or {}).get("queuing") or {}
    return [
        _name(item),
        spec.get("type", ""),
        limits.get("nominalConcurrencyShares", NONE),
        *(queuing.get(field, NONE) for field in ("queues", "handSize", "queueLengthLimit")),
        age_of(item, now),
    ]


def _api_service(item: Manifest, now: Micros) -> list[Any]:
    service = (item.get("spec") or {}).get("service")
    available = condition(item, "Available")
    state = "Unknown" if available is None else available.get("status", "")
    if available is not None and state != "True":
        state = f"{state} ({available.get('reason', '')})"
    shown = "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"
    return [_name(item), shown, state, age_of(item, now)]


_WEBHOOKS = Printer(
    (
        NAME,
        Column(
            "Webhooks",
            "Webhooks indicates the number of webhooks registered in this configuration",
            "integer",
        ),
        AGE,
    ),
    _webhooks,
)
CONTROL_PLANE_PRINTERS = {
    "MutatingWebhookConfiguration": _WEBHOOKS,
    "ValidatingWebhookConfiguration": _WEBHOOKS,
    "ValidatingAdmissionPolicy": Printer(
        (
            NAME,
            Column(
                "Validations",
                "Validations indicates the number of validation rules defined in this configuration",
                "integer",
            ),
            Column("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"),
            AGE,
        ),
        _policy,
    ),
    "ValidatingAdmissionPolicyBinding": Printer(
        (
            NAME,
            Column(
                "PolicyName",
                "PolicyName indicates the policy definition which the policy binding binded to",
            ),
            Column("ParamRef", "ParamRef indicates the param resource which sets the configration param"),
            AGE,
        ),
        _policy_binding,
    ),
    "CertificateSigningRequest": Printer(
        (
            NAME,
            AGE,
            Column("SignerName", "CertificateSigningRequestSpec.signerName"),
            Column("Requestor", "CertificateSigningRequestSpec.request"),
            Column("RequestedDuration", "CertificateSigningRequestSpec.expirationSeconds"),
            Column("Condition", "CertificateSigningRequestStatus.conditions"),
        ),
        _certificate_request,
    ),
    "FlowSchema": Printer(
        (
            NAME,
            Column("PriorityLevel", "PriorityLevelConfigurationReference.name"),
            Column("MatchingPrecedence", "FlowSchemaSpec.matchingPrecedence"),
            Column("DistinguisherMethod", "FlowSchemaSpec.distinguisherMethod"),
            AGE,
            Column("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
        ),
        _flow_schema,
    ),
    "PriorityLevelConfiguration": Printer(
        (
            NAME,
            Column("Type", "PriorityLevelConfigurationSpec.type"),
            Column("NominalConcurrencyShares", "LimitedPriorityLevelConfiguration.nominalConcurrencyShares"),
            Column("Queues", "QueuingConfiguration.queues"),
            Column("HandSize", "QueuingConfiguration.handSize"),
            Column("QueueLengthLimit", "QueuingConfiguration.queueLengthLimit"),
            AGE,
        ),
        _priority_level,
    ),
    "APIService": Printer(
        (
            NAME,
            Column("Service", "The reference to the service that hosts this API endpoint."),
            Column("Available", "Whether this service is available."),
            AGE,
        ),
        _api_service,
    ),
}
