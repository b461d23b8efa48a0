"""The URLs: the API first, then the pages."""

from django.conf import settings
from django.urls import include, path

handler400 = "schedviz.web.errors.bad_request"
handler404 = "schedviz.web.errors.page_not_found"
handler500 = "schedviz.web.errors.server_error"

urlpatterns = [
    path("", include("schedviz.operate.urls")),
    path("", include("schedviz.api.urls")),
    path("", include("schedviz.sandbox_api.urls")),
    path("", include("schedviz.web.urls")),
]

if settings.ACCOUNTS:
    from django.contrib import admin

    urlpatterns += [
        path("", include("schedviz.accounts.urls")),
        path("admin/", admin.site.urls),
    ]
