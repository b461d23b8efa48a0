"""The operations of the API: the views of the methods of its URLs, as the OpenAPI document describes them."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.api.views import statuses
from schedviz.routes import View
from schedviz.sandbox_api.requests import read_body
from schedviz.sandbox_documents import Request
from simulator.apiserver.request_errors import MethodNotAllowed


class QueryParameter(NamedTuple):
    name: str
    description: str
    schema: Mapping[str, Any]


class Operation(NamedTuple):
    view: View
    """It gets the request, the body if it has one, and the parameters of the path."""
    name: str
    summary: str
    answer: Any = None
    """The type of the body of the response; None = no body."""
    body: type[Request] | None = None
    """The type of the body; None = the request has none."""
    status: int = 200
    query: tuple[QueryParameter, ...] = ()
    can_fail: bool = True
    """Whether it is answered with a Status otherwise."""

    def respond(self, request: HttpRequest, **arguments: str) -> HttpResponseBase:
        given = (read_body(request, self.body),) if self.body else ()
        return self.view(request, *given, **arguments)


def operation(name: str, summary: str, answer: Any = None, **more: Any) -> Callable[[View], Operation]:
    """Decorator: makes an operation of a view. more: the other fields."""
    return lambda view: Operation(view, name, summary, answer, **more)


class ByMethod:
    """The view of a URL with an operation for each of its methods."""

    csrf_exempt = True  # as of the views of the other API, by the decorator `statuses`

    def __init__(self, **operations: Operation) -> None:
        """operations: ``get``, ``post``, ``delete``."""
        self.operations: Mapping[str, Operation] = operations
        self._respond = statuses(self._dispatch)

    def __call__(self, request: HttpRequest, **arguments: str) -> HttpResponseBase:
        return self._respond(request, **arguments)

    def _dispatch(self, request: HttpRequest, **arguments: str) -> HttpResponseBase:
        method = (request.method or "").lower()
        found = self.operations.get("get" if method == "head" else method)
        if found is None:
            raise MethodNotAllowed()
        return found.respond(request, **arguments)
