"""The URLs of the API of each sandbox, and of the server's health checks."""

from typing import Final

from schedviz.api import health, views
from schedviz.routes import EDIT, PUBLIC, VIEW, ApiRoute
from simulator.apiserver.bounds import MAX_BODY_BYTES

_SANDBOX: Final = r"^s/(?P<name>[^/]+)"

urlpatterns: Final = [
    ApiRoute("healthz", health.healthz, "healthz", read=PUBLIC),
    ApiRoute("readyz", health.readyz, "readyz", read=PUBLIC),
    ApiRoute(
        rf"{_SANDBOX}/(?P<endpoint>healthz|livez|readyz)(?:/(?P<check>[^/]+))?$",
        views.alive,
        "api-health",
        read=VIEW,
    ),
    ApiRoute(
        rf"{_SANDBOX}/(?P<path>apis?(?:/.*)?)$",
        views.api,
        "api",
        read=VIEW,
        write=EDIT,
        changes=True,
        body_bytes=MAX_BODY_BYTES,
    ),
    # The Python client requests it with a slash at the end, kubectl without.
    ApiRoute(rf"{_SANDBOX}/version/?$", views.version, "api-version", read=VIEW),
    ApiRoute(
        rf"{_SANDBOX}/openapi/(?P<form>v[23])(?P<path>(?:/.*)?)$", views.openapi_of, "openapi", read=VIEW
    ),
    ApiRoute("openapi/v3/<path:path>", views.built_in_openapi, "built-in-openapi", read=PUBLIC),
    ApiRoute(
        "s/<str:name>/scheduler",
        views.scheduler_of,
        "scheduler-settings",
        read=VIEW,
        write=EDIT,
        changes=True,
    ),
    ApiRoute("s/<str:name>/trace", views.trace, "trace", read=VIEW),
    ApiRoute("s/<str:name>/recording", views.recording, "recording", read=VIEW),
]
