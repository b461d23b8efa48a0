"""Middleware: the requests of the server's monitoring, which no setting of the site concerns."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.routes import route_of

PATHS: Final = ("/healthz", "/readyz", "/metrics")


class Monitoring:
    """Answers health checks and requests for the metrics. The middleware comes before all that refuses or
    redirects: these requests come from the machine, the container or the cluster, so their Host is an address
    that ALLOWED_HOSTS need not have, they do not use the proxy's HTTPS, and no limit counts them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info in PATHS and (route := route_of(request)):
            return route.view(request)
        return self._get_response(request)
