"""The REST paths of a sandbox, and the server's health."""

from django.urls import path, re_path

from schedviz.api import views

urlpatterns = [
    path("healthz", views.healthz),
    path("readyz", views.readyz),
    re_path(r"^s/(?P<name>[^/]+)/(?P<path>apis?(?:/.*)?)$", views.api),
    # The Python client asks with a slash at the end, kubectl without.
    re_path(r"^s/(?P<name>[^/]+)/version/?$", views.version),
    re_path(r"^s/(?P<name>[^/]+)/openapi/v3(?P<path>(?:/.*)?)$", views.openapi_v3),
    path("s/<str:name>/trace", views.trace),
    path("s/<str:name>/recording", views.recording),
]
