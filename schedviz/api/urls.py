"""The URLs of the API of each sandbox, and of the server's health checks."""

from django.urls import path, re_path

from schedviz.api import health, views

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    re_path(
        r"^s/(?P<name>[^/]+)/(?P<endpoint>healthz|livez|readyz)(?:/(?P<check>[^/]+))?$",
        views.alive,
        name="api-health",
    ),
    re_path(r"^s/(?P<name>[^/]+)/(?P<path>apis?(?:/.*)?)$", views.api, name="api"),
    # The Python client requests it with a slash at the end, kubectl without.
    re_path(r"^s/(?P<name>[^/]+)/version/?$", views.version, name="api-version"),
    re_path(
        r"^s/(?P<name>[^/]+)/openapi/(?P<form>v[23])(?P<path>(?:/.*)?)$", views.openapi_of, name="openapi"
    ),
    path("openapi/v3/<path:path>", views.built_in_openapi, name="built-in-openapi"),
    path("s/<str:name>/scheduler", views.scheduler_of, name="scheduler-settings"),
    path("s/<str:name>/trace", views.trace, name="trace"),
    path("s/<str:name>/recording", views.recording, name="recording"),
]
