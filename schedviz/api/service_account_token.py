"""Answers requests for tokens of service accounts, the subresource ``serviceaccounts/token``."""

from django.http import HttpRequest, HttpResponse

from schedviz.api.target import Target
from schedviz.cache import read_current
from schedviz.store import Sandbox
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest, NotFound


def refuse_token(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    """Refuse a token: no process of a sandbox runs as a service account. Raises NotFound, BadRequest."""
    if read_current(sandbox).get(resource.id, target.key(resource)) is None:
        raise NotFound(resource.id, target.name)
    raise BadRequest(
        "a sandbox issues no tokens for service accounts: use the token of a link to the sandbox, or none"
    )
