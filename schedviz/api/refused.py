"""The refusals of the API to those who may not do what they ask: 401 and 403, in the words of the API server
(apiserver/pkg/endpoints/handlers/responsewriters/errors.go)."""

from typing import Final, NamedTuple

from django.http import HttpRequest

from schedviz.api.review_kinds import AUTHENTICATION, AUTHORIZATION
from schedviz.api.target import Target, parse
from simulator.apiserver.request_errors import NoSuchPath
from simulator.apiserver.status import StatusError

VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


REVIEWS: Final = (AUTHENTICATION, AUTHORIZATION)
"""The groups of the reviews. Who may see a sandbox may ask for one."""


class Unauthorized(StatusError):
    """The request has no token, or one that is not valid."""

    code, reason = 401, "Unauthorized"

    def __init__(self) -> None:
        super().__init__("Unauthorized")


class NotPermitted(StatusError):
    code, reason = 403, "Forbidden"
    has_details = True


class Attributes(NamedTuple):
    """The attributes of a request: its verb, its path and the resource."""

    verb: str
    path: str
    """Below the sandbox."""
    target: Target | None
    """The resource in the path; None = it is not the path of a resource."""


def attributes_of(request: HttpRequest, path: str) -> Attributes:
    """Return the attributes of a request. path: the path below ``/s/<name>/``."""
    target = _target(path)
    method = (request.method or "GET").upper()
    if target is None:
        return Attributes(method.lower(), f"/{path}", None)
    if method in ("GET", "HEAD"):
        is_watch = target.watch or request.GET.get("watch", "") in ("1", "true")
        return Attributes("watch" if is_watch else "get" if target.name else "list", path, target)
    verb = VERBS.get(method, method.lower())
    return Attributes("deletecollection" if verb == "delete" and not target.name else verb, path, target)


def is_review(request: HttpRequest, path: str) -> bool:
    """Whether the request asks what the user may do."""
    target = _target(path)
    return request.method == "POST" and target is not None and target.group in REVIEWS


def refusal_of(request: HttpRequest, path: str, user: str) -> StatusError:
    """Return the refusal of a request. user: "" = an unknown user."""
    if not user:
        return Unauthorized()
    asked = attributes_of(request, path)
    if asked.target is None:
        return NotPermitted(f'forbidden: User "{user}" cannot {asked.verb} path "{asked.path}"')
    target = asked.target
    qualified = f"{target.plural}.{target.group}" if target.group else target.plural
    named = f'{qualified} "{target.name}"' if target.name else qualified
    resource = f"{target.plural}/{target.subresource}" if target.subresource else target.plural
    namespace = target.name if target.plural == "namespaces" else target.namespace
    scope = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    return NotPermitted(
        f'{named} is forbidden: User "{user}" cannot {asked.verb} resource "{resource}" in API group '
        f'"{target.group}" {scope}',
        kind=target.plural,
        group=target.group,
        name=target.name,
    )


def _target(path: str) -> Target | None:
    try:
        match path.strip("/").split("/"):
            case ["api", "v1", *rest] if rest:
                return parse("", "v1", rest)
            case ["apis", group, version, *rest] if rest:
                return parse(group, version, rest)
    except NoSuchPath:
        pass
    return None
