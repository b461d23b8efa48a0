"""Answers what a user may do: SelfSubjectAccessReview and SelfSubjectRulesReview (``kubectl auth can-i``);
and who the user is: SelfSubjectReview (``kubectl auth whoami``).

They are not stored. Upstream: pkg/registry/authorization and pkg/registry/authentication, v1.34.
"""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

from schedviz.access.policy import Asker
from schedviz.access.rights import Right
from schedviz.access.visitor import ANYBODY
from schedviz.api import body
from simulator.api import Manifest
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.status import Invalid, MethodNotAllowed, NoSuchPath, invalid, required

AUTHENTICATION: Final = "authentication.k8s.io"
AUTHORIZATION: Final = "authorization.k8s.io"
VERSION: Final = "v1"
READS: Final = ("get", "list", "watch", "head")

Answer = Callable[[Manifest, Asker], Manifest]
"""Returns the status for the spec of a review."""


def access(spec: Manifest, asker: Asker) -> Manifest:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) == (other is None):
        cause = invalid(
            "spec.resourceAttributes",
            resource,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )
        raise Invalid("SelfSubjectAccessReview", AUTHORIZATION, "", [cause])
    attributes = resource or other or {}
    needed = Right.VIEW if attributes.get("verb", "").lower() in READS else Right.EDIT
    if attributes.get("group") in (AUTHORIZATION, AUTHENTICATION) and attributes.get("verb") == "create":
        needed = Right.VIEW
    return {"allowed": asker.right >= needed}


def rules(spec: Manifest, asker: Asker) -> Manifest:
    if not spec.get("namespace"):
        raise Invalid("SelfSubjectRulesReview", AUTHORIZATION, "", [required("spec.namespace")])
    reviews = [
        {"verbs": ["create"], "apiGroups": [group], "resources": [plural]}
        for plural, (group, _, _) in KINDS.items()
    ]
    reads = {"verbs": ["get", "list", "watch"], "apiGroups": ["*"], "resources": ["*"]}
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    return {
        "resourceRules": [everything] if asker.right >= Right.EDIT else [*reviews, reads],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["*"]}],
        "incomplete": False,
    }


def subject(spec: Manifest, asker: Asker) -> Manifest:
    group = "system:unauthenticated" if asker.user == ANYBODY else "system:authenticated"
    return {"userInfo": {"username": asker.user, "groups": [group]}}


KINDS: Final[dict[str, tuple[str, str, Answer]]] = {
    "selfsubjectaccessreviews": (AUTHORIZATION, "SelfSubjectAccessReview", access),
    "selfsubjectrulesreviews": (AUTHORIZATION, "SelfSubjectRulesReview", rules),
    "selfsubjectreviews": (AUTHENTICATION, "SelfSubjectReview", subject),
}
"""Plural -> group, kind, and what answers it."""


def respond(request: HttpRequest, group: str, plural: str, asker: Asker) -> HttpResponse:
    """Raises StatusError."""
    found = KINDS.get(plural)
    if found is None or found[0] != group:
        raise NoSuchPath()
    if request.method != "POST":
        raise MethodNotAllowed()
    _, kind, answer = found
    type_name = f"io.k8s.api.{group.partition('.')[0]}.v1.{kind}"
    spec = decode_body(type_name, body.manifest_of(request, (f"{group}/{VERSION}", kind))).get("spec") or {}
    review: Manifest = {"kind": kind, "apiVersion": f"{group}/{VERSION}", "metadata": {}}
    if answer is not subject:
        review["spec"] = spec
    return body.answer({**review, "status": answer(spec, asker)}, 201)


def resource_list(group: str) -> Manifest:
    """``/apis/<group>/v1``: what clients discover."""
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{VERSION}",
        "resources": [
            {
                "name": plural,
                "singularName": kind.lower(),
                "namespaced": False,
                "kind": kind,
                "verbs": ["create"],
            }
            for plural, (its_group, kind, _) in KINDS.items()
            if its_group == group
        ],
    }
