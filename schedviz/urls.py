"""The URLs: the API first, then the pages."""

from django.urls import include, path

handler400 = "schedviz.web.views.errors.bad_request"
handler404 = "schedviz.web.views.errors.page_not_found"
handler500 = "schedviz.web.views.errors.server_error"

urlpatterns = [
    path("", include("schedviz.operate.urls")),
    path("", include("schedviz.api.urls")),
    path("", include("schedviz.web.urls")),
]
