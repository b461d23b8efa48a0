"""The columns of admission policies and webhooks, requests for certificates, flow control, RoleBindings,
ClusterRoleBindings and APIServices (the last of them:
kube-aggregator/pkg/registry/apiservice/etcd/etcd.go)."""

from typing import Any, Final

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Cell,
    Column,
    Printer,
    count,
    human_duration,
    printer_of,
    text_or_none,
)
from simulator.objects.conditions import condition, conditions_of
from simulator.objects.status import status_of


def _param_kind(kind: Manifest | None) -> str:
    return UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


def _param_reference(reference: Manifest | None) -> str:
    reference = reference or {}
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    return UNSET if selector is None else _go_selector(selector)


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


def _request_state(item: Manifest, _: Micros) -> str:
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


def _duration(seconds: int | None) -> str:
    return NONE if seconds is None else human_duration(seconds)


def _dangling(item: Manifest, _: Micros) -> Any:
    dangling = condition(item, "Dangling")
    return "?" if dangling is None else dangling.get("status", "")


def _service(service: Manifest | None) -> str:
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _available(item: Manifest, _: Micros) -> str:
    available = condition(item, "Available")
    if available is None:
        return "Unknown"
    state: str = available.get("status", "")
    return state if state == "True" else f"{state} ({available.get('reason', '')})"


_WEBHOOKS: Final = printer_of(
    NAME,
    Column(
        "Webhooks",
        "Webhooks indicates the number of webhooks registered in this configuration",
        "integer",
        cell="webhooks",
        show=count,
    ),
    AGE,
)
CONTROL_PLANE_PRINTERS: Final = {
    "MutatingWebhookConfiguration": _WEBHOOKS,
    "ValidatingWebhookConfiguration": _WEBHOOKS,
    "ValidatingAdmissionPolicy": printer_of(
        NAME,
        Column(
            "Validations",
            "Validations indicates the number of validation rules defined in this configuration",
            "integer",
            cell="spec.validations",
            show=count,
        ),
        Column(
            "ParamKind",
            "ParamKind specifies the kind of resources used to parameterize this policy",
            cell="spec.paramKind",
            show=_param_kind,
        ),
        AGE,
    ),
    "ValidatingAdmissionPolicyBinding": printer_of(
        NAME,
        Column(
            "PolicyName",
            "PolicyName indicates the policy definition which the policy binding binded to",
            cell="spec.policyName",
        ),
        Column(
            "ParamRef",
            "ParamRef indicates the param resource which sets the configration param",
            cell="spec.paramRef",
            show=_param_reference,
        ),
        AGE,
    ),
    "CertificateSigningRequest": printer_of(
        NAME,
        AGE,
        Column("SignerName", "CertificateSigningRequestSpec.signerName", show=text_or_none),
        Column("Requestor", "CertificateSigningRequestSpec.request", cell="spec.username"),
        Column("RequestedDuration", "CertificateSigningRequestSpec.expirationSeconds", show=_duration),
        Column("Condition", "CertificateSigningRequestStatus.conditions", cell=_request_state),
    ),
    "FlowSchema": printer_of(
        NAME,
        Column(
            "PriorityLevel",
            "PriorityLevelConfigurationReference.name",
            cell="spec.priorityLevelConfiguration.name",
        ),
        Column("MatchingPrecedence", "FlowSchemaSpec.matchingPrecedence", absent=0),
        Column(
            "DistinguisherMethod",
            "FlowSchemaSpec.distinguisherMethod",
            cell="spec.distinguisherMethod.type",
            absent=NONE,
        ),
        AGE,
        Column("MissingPL", "references a broken or non-existent PriorityLevelConfiguration", cell=_dangling),
    ),
    "PriorityLevelConfiguration": printer_of(
        NAME,
        Column("Type", "PriorityLevelConfigurationSpec.type"),
        Column(
            "NominalConcurrencyShares",
            "LimitedPriorityLevelConfiguration.nominalConcurrencyShares",
            cell="spec.limited.nominalConcurrencyShares",
            absent=NONE,
        ),
        *(
            Column(
                field[0].upper() + field[1:],
                f"QueuingConfiguration.{field}",
                cell=f"spec.limited.limitResponse.queuing.{field}",
                absent=NONE,
            )
            for field in ("queues", "handSize", "queueLengthLimit")
        ),
        AGE,
    ),
    "APIService": printer_of(
        NAME,
        Column(
            "Service",
            "The reference to the service that hosts this API endpoint.",
            cell="spec.service",
            show=_service,
        ),
        Column("Available", "Whether this service is available.", cell=_available),
        AGE,
    ),
}
"""Kind -> its columns."""


def _role(item: Manifest, _: Micros) -> str:
    role = item.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


def _subjects(kind: str) -> Cell:
    """Return the cell of the subjects of a kind (SubjectsStrings in pkg/apis/rbac/helpers.go)."""

    def cell(item: Manifest, _: Micros) -> str:
        found = [each for each in item.get("subjects") or () if each.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{each.get('namespace', '')}/{each.get('name', '')}" for each in found)
        return ", ".join(each.get("name", "") for each in found)

    return cell


def _binding_printer(kind: str, role: str) -> Printer:
    """Return the printer of bindings. ``role``: the description of the reference in v1beta1."""
    of_subjects = (
        Column(f"{subject}s", f"{subject}s in the {kind}", wide=1, cell=_subjects(subject))
        for subject in ("User", "Group", "ServiceAccount")
    )
    return printer_of(NAME, Column("Role", role, cell=_role), AGE, *of_subjects)


ROLE_BINDING_PRINTERS: Final = {
    "RoleBinding": _binding_printer(
        "roleBinding",
        "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. "
        "If the RoleRef cannot be resolved, the Authorizer must return an error.",
    ),
    "ClusterRoleBinding": _binding_printer(
        "clusterRoleBinding",
        "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be "
        "resolved, the Authorizer must return an error.",
    ),
}
"""Kind -> its columns."""
