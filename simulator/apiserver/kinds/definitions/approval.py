"""The approval of the APIs that a CustomResourceDefinition adds to a group of the Kubernetes community.

Upstream: GetAPIApprovalState in apiextensions-apiserver/pkg/apihelpers/helpers.go, and
apiapproval_controller.go in its pkg/controller, v1.34.
"""

from collections.abc import Iterator
from typing import Final, Literal
from urllib.parse import urlsplit

from simulator.api import Manifest
from simulator.apiserver.definition_conditions import Condition
from simulator.apiserver.status import Cause, invalid, required
from simulator.kernel.go_text import quote

Approval = Literal["missing", "unapproved", "approved", "invalid"]
_ANNOTATION: Final = "api-approved.kubernetes.io"
_PROTECTED: Final = ("k8s.io", "kubernetes.io")
_SEE: Final = "see https://github.com/kubernetes/enhancements/pull/1111"
_MUST: Final = f'protected groups must have approval annotation "{_ANNOTATION}"'
_FORM: Final = f'{_MUST} with either a URL or a reason starting with "unapproved", {_SEE}'


def approval_of(definition: Manifest) -> Approval:
    given = _given(definition)
    if not given:
        return "missing"
    if given.startswith("unapproved"):
        return "unapproved"
    url = urlsplit(given)
    return "approved" if url.scheme and url.netloc else "invalid"


def approval_faults(definition: Manifest) -> Iterator[Cause]:
    if not _is_protected(definition):
        return
    path, state = f"metadata.annotations[{_ANNOTATION}]", approval_of(definition)
    if state == "missing":
        yield required(path, f"{_MUST}, {_SEE}")
    elif state == "invalid":
        yield invalid(path, _given(definition), _FORM)


def approval_condition(definition: Manifest) -> Condition | None:
    """Return the condition about the approval; None in groups that are not protected."""
    if not _is_protected(definition):
        return None
    given = _given(definition)
    status, reason, message = {
        "missing": ("False", "MissingAnnotation", f"{_MUST}, {_SEE}"),
        "unapproved": ("False", "UnapprovedAnnotation", f"not approved: {quote(given)}"),
        "approved": ("True", "ApprovedAnnotation", f"approved in {given}"),
        "invalid": ("False", "InvalidAnnotation", _FORM),
    }[approval_of(definition)]
    return Condition("KubernetesAPIApprovalPolicyConformant", status, reason, message)


def _given(definition: Manifest) -> str:
    return str((definition["metadata"].get("annotations") or {}).get(_ANNOTATION, ""))


def _is_protected(definition: Manifest) -> bool:
    group = definition["spec"]["group"]
    return any(group == each or group.endswith(f".{each}") for each in _PROTECTED)
