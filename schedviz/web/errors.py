"""The error pages. Django's own handlers parse the form again for its CSRF token, so that a form that cannot
be parsed would raise again there and give a 500."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from schedviz.api.body import refusal
from schedviz.routes import is_of_api
from simulator.apiserver.request_errors import NoSuchPath


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Render a response 400: a body that cannot be parsed, or that exceeds Django's limits."""
    return render(request, "400.html", status=HTTPStatus.BAD_REQUEST)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Render a response 404, with the message of the Http404, if it has one."""
    if is_of_api(request):
        return refusal(NoSuchPath())
    if _is_api_path(request):
        return HttpResponse("404 page not found\n", "text/plain; charset=utf-8", HTTPStatus.NOT_FOUND)
    text = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    return render(request, "404.html", {"exception": text}, status=HTTPStatus.NOT_FOUND)


def _is_api_path(request: HttpRequest) -> bool:
    """Whether a client that asks for JSON takes the sandbox for an API server."""
    accepted = request.headers.get("Accept", "")
    return request.path.startswith("/s/") and "application/json" in accepted and "text/html" not in accepted


def server_error(request: HttpRequest) -> HttpResponse:
    """Render a response 500, without the request, because the context processors may be the cause of the
    error."""
    return HttpResponse(render_to_string("500.html"), status=HTTPStatus.INTERNAL_SERVER_ERROR)
