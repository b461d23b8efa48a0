"""Which room answers which path."""

from django.urls import include, path

urlpatterns = [
    path("", include("schedviz.api.urls")),
    path("", include("schedviz.web.urls")),
]
