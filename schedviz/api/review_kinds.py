"""The kinds of reviews, and what answers each: what a user may do (authorization.k8s.io), and who a user is
(authentication.k8s.io).

Upstream: pkg/registry/authorization, pkg/registry/authentication, pkg/apis/authorization/validation.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from schedviz.access.asker import Asker, find_named_right, find_token_user
from schedviz.access.rights import Right
from schedviz.access.visitor import ANYBODY
from schedviz.store import Store
from simulator.api import Manifest
from simulator.apiserver.status import BadRequest, Cause, Invalid, invalid, required

AUTHENTICATION: Final = "authentication.k8s.io"
AUTHORIZATION: Final = "authorization.k8s.io"
READS: Final = ("get", "list", "watch", "head")
MAX_TOKEN_BYTES: Final = 300
"""The maximum length of a token that is looked up. Tokens of a sandbox have 32 bytes."""


class Review(msgspec.Struct, frozen=True):
    """A review as it was asked."""

    body: Manifest
    asker: Asker
    store: Store
    sandbox: str
    namespace: str = ""
    """The namespace of the path."""

    @property
    def spec(self) -> Manifest:
        spec: Manifest = self.body.get("spec") or {}
        return spec


Answer = Callable[[Review], Manifest]
"""Returns the status of a review. Raises StatusError."""


def self_access(question: Review) -> Manifest:
    _refuse("SelfSubjectAccessReview", [*_attribute_faults(question.spec), *_metadata_faults(question.body)])
    return {"allowed": _is_allowed(question.spec, question.asker.right)}


def access(question: Review) -> Manifest:
    _refuse("SubjectAccessReview", [*_subject_faults(question.spec), *_metadata_faults(question.body)])
    return {"allowed": _is_allowed(question.spec, _right_of_subject(question))}


def local_access(question: Review) -> Manifest:
    spec, metadata = question.spec, question.body.get("metadata") or {}
    others = {name: value for name, value in metadata.items() if name != "namespace"}
    causes = _subject_faults(spec)
    if others:
        causes.append(invalid("metadata", metadata, "must be empty except for namespace"))
    resource, namespace = spec.get("resourceAttributes"), metadata.get("namespace", "")
    if resource is not None and resource.get("namespace", "") != namespace:
        field, detail = "spec.resourceAttributes.namespace", "must match metadata.namespace"
        causes.append(invalid(field, resource.get("namespace", ""), detail))
    if spec.get("nonResourceAttributes") is not None:
        field, detail = "spec.nonResourceAttributes", "disallowed on this kind of request"
        causes.append(invalid(field, spec["nonResourceAttributes"], detail))
    _refuse("LocalSubjectAccessReview", causes)
    if namespace != question.namespace:
        raise BadRequest(f"spec.resourceAttributes.namespace must match namespace: {question.namespace}")
    return {"allowed": _is_allowed(spec, _right_of_subject(question))}


def rules(question: Review) -> Manifest:
    if not question.spec.get("namespace"):
        _refuse("SelfSubjectRulesReview", [required("spec.namespace")])
    reviews = [
        {"verbs": ["create"], "apiGroups": [kind.group], "resources": [plural]}
        for plural, kind in KINDS.items()
    ]
    reads = {"verbs": ["get", "list", "watch"], "apiGroups": ["*"], "resources": ["*"]}
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    return {
        "resourceRules": [everything] if question.asker.right >= Right.EDIT else [*reviews, reads],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["*"]}],
        "incomplete": False,
    }


def subject(question: Review) -> Manifest:
    return {"userInfo": _user_info(question.asker.user)}


def token(question: Review) -> Manifest:
    """Review a token (TokenReview): its user is that of a link of the sandbox. There are no tokens of service
    accounts."""
    given = question.spec.get("token", "")
    if not given:
        raise BadRequest("token is required for TokenReview in authentication")
    user = find_token_user(question.store, question.sandbox, given) if len(given) <= MAX_TOKEN_BYTES else ""
    if not user:
        return {"user": {}, "error": "invalid bearer token"}
    shown: Manifest = {"authenticated": True, "user": _user_info(user)}
    return shown | ({"audiences": audiences} if (audiences := question.spec.get("audiences")) else {})


class ReviewKind(msgspec.Struct, frozen=True):
    group: str
    kind: str
    answer: Answer
    namespaced: bool = False


KINDS: Final[dict[str, ReviewKind]] = {
    "localsubjectaccessreviews": ReviewKind(
        AUTHORIZATION, "LocalSubjectAccessReview", local_access, namespaced=True
    ),
    "selfsubjectaccessreviews": ReviewKind(AUTHORIZATION, "SelfSubjectAccessReview", self_access),
    "selfsubjectreviews": ReviewKind(AUTHENTICATION, "SelfSubjectReview", subject),
    "selfsubjectrulesreviews": ReviewKind(AUTHORIZATION, "SelfSubjectRulesReview", rules),
    "subjectaccessreviews": ReviewKind(AUTHORIZATION, "SubjectAccessReview", access),
    "tokenreviews": ReviewKind(AUTHENTICATION, "TokenReview", token),
}
"""Plural -> kind of review."""


def _user_info(user: str) -> Manifest:
    group = "system:unauthenticated" if user == ANYBODY else "system:authenticated"
    return {"username": user, "groups": [group]}


def _refuse(kind: str, causes: list[Cause]) -> None:
    if causes:
        raise Invalid(kind, AUTHORIZATION, "", causes)


def _metadata_faults(body: Manifest) -> list[Cause]:
    metadata = body.get("metadata")
    return [invalid("metadata", metadata, "must be empty")] if metadata else []


def _attribute_faults(spec: Manifest) -> list[Cause]:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and other is not None:
        detail = "cannot be specified in combination with resourceAttributes"
        return [invalid("spec.nonResourceAttributes", other, detail)]
    if resource is None and other is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [invalid("spec.resourceAttributes", None, detail)]
    return []


def _subject_faults(spec: Manifest) -> list[Cause]:
    causes = _attribute_faults(spec)
    if not spec.get("user") and not spec.get("groups"):
        causes.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    return causes


def _right_of_subject(question: Review) -> Right:
    user = question.spec.get("user", "")
    if user and user == question.asker.user:
        return question.asker.right
    return find_named_right(question.store, question.sandbox, user)


def _is_allowed(spec: Manifest, right: Right) -> bool:
    attributes = spec.get("resourceAttributes") or spec.get("nonResourceAttributes") or {}
    needed = Right.VIEW if attributes.get("verb", "").lower() in READS else Right.EDIT
    if attributes.get("group") in (AUTHORIZATION, AUTHENTICATION) and attributes.get("verb") == "create":
        needed = Right.VIEW
    return right >= needed
