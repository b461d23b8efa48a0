"""The URLs of the API for sandboxes."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from schedviz.api import body
from schedviz.sandbox_api import clock_views, openapi, reading_views, sandbox_views
from schedviz.sandbox_api.requests import View, by_method


def read_openapi(request: HttpRequest) -> HttpResponse:
    return HttpResponse(openapi.document(tuple(urlpatterns)), content_type=body.JSON)


_ONE = "api/sandboxes/<str:name>"
_POD = f"{_ONE}/pods/<str:namespace>/<str:pod>"

_VIEWS: dict[str, tuple[str, dict[str, View]]] = {
    "sandbox-openapi": ("api/openapi.json", {"get": read_openapi}),
    "sandbox-scenarios": ("api/scenarios", {"get": sandbox_views.list_scenarios}),
    "sandboxes": (
        "api/sandboxes",
        {"get": sandbox_views.list_sandboxes, "post": sandbox_views.create_sandbox},
    ),
    "one-sandbox": (_ONE, {"get": sandbox_views.read_sandbox, "delete": sandbox_views.delete_sandbox}),
    "sandbox-branches": (f"{_ONE}/branches", {"post": sandbox_views.branch_sandbox}),
    "sandbox-objects": (f"{_ONE}/objects", {"post": sandbox_views.create_objects}),
    "sandbox-pause": (f"{_ONE}/pause", {"post": clock_views.pause}),
    "sandbox-resume": (f"{_ONE}/resume", {"post": clock_views.resume}),
    "sandbox-speed": (f"{_ONE}/speed", {"post": clock_views.set_speed}),
    "sandbox-step": (f"{_ONE}/step", {"post": clock_views.step}),
    "sandbox-run": (f"{_ONE}/run", {"post": clock_views.run}),
    "sandbox-trace": (f"{_ONE}/trace", {"get": reading_views.read_trace}),
    "sandbox-explanation": (f"{_POD}/explanation", {"get": reading_views.explain}),
    "sandbox-question": (
        f"{_POD}/question",
        {"get": reading_views.read_question, "post": reading_views.ask_question},
    ),
    "sandbox-preventions": (
        f"{_POD}/preventions",
        {"get": reading_views.read_preventions, "post": reading_views.ask_preventions},
    ),
}

urlpatterns = [path(route, by_method(name, **views), name=name) for name, (route, views) in _VIEWS.items()]
