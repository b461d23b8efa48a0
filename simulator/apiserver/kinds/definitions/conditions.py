"""The conditions of a CustomResourceDefinition, and the approval of the APIs that one adds to a group of the
Kubernetes community.

Upstream: SetCRDCondition and GetAPIApprovalState in apiextensions-apiserver/pkg/apihelpers/helpers.go, and
apiapproval_controller.go in its pkg/controller.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from simulator.api import Manifest
from simulator.apiserver.status import Cause, invalid, required
from simulator.kernel.go_text import quote

Approval = Literal["Missing", "Unapproved", "Approved", "Invalid"]
_ANNOTATION: Final = "api-approved.kubernetes.io"
_SEE: Final = "see https://github.com/kubernetes/enhancements/pull/1111"
_MUST: Final = f'protected groups must have approval annotation "{_ANNOTATION}"'
_MISSING: Final = f"{_MUST}, {_SEE}"
_INVALID: Final = f'{_MUST} with either a URL or a reason starting with "unapproved", {_SEE}'


class Condition(NamedTuple):
    type: str
    status: str
    reason: str
    message: str


def with_condition(status: Manifest, condition: Condition, now: str) -> Manifest:
    """Return the status of a definition with this condition. A condition keeps its time while its status
    stays."""
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    before = conditions.get(condition.type, {})
    stays = before.get("status") == condition.status
    conditions[condition.type] = {
        "type": condition.type,
        "status": condition.status,
        "lastTransitionTime": before.get("lastTransitionTime") if stays else now,
        "reason": condition.reason,
        "message": condition.message,
    }
    return {**status, "conditions": [*conditions.values()]}


def has_condition(definition: Manifest, kind: str, status: str) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == status for each in conditions)


def approval_of(definition: Manifest) -> Approval:
    given = _given(definition)
    if not given:
        return "Missing"
    if given.startswith("unapproved"):
        return "Unapproved"
    url = urlsplit(given)
    return "Approved" if url.scheme and url.netloc else "Invalid"


def approval_faults(definition: Manifest, _: str = "") -> Iterator[Cause]:
    path, state = f"metadata.annotations[{_ANNOTATION}]", approval_of(definition)
    if _is_protected(definition) and state == "Missing":
        yield required(path, _MISSING)
    elif _is_protected(definition) and state == "Invalid":
        yield invalid(path, _given(definition), _INVALID)


def approval_condition(definition: Manifest) -> Condition | None:
    """Return the condition about the approval; None in groups that are not protected."""
    if not _is_protected(definition):
        return None
    given, state = _given(definition), approval_of(definition)
    message = {
        "Missing": _MISSING,
        "Unapproved": f"not approved: {quote(given)}",
        "Approved": f"approved in {given}",
        "Invalid": _INVALID,
    }[state]
    status = "True" if state == "Approved" else "False"
    return Condition("KubernetesAPIApprovalPolicyConformant", status, f"{state}Annotation", message)


def _given(definition: Manifest) -> str:
    return str((definition["metadata"].get("annotations") or {}).get(_ANNOTATION, ""))


def _is_protected(definition: Manifest) -> bool:
    return f".{definition['spec']['group']}".endswith((".k8s.io", ".kubernetes.io"))
