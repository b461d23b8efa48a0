"""Middleware: responds 503 while the database of accounts does not serve."""

from http import HTTPStatus

from django.contrib.auth.models import AnonymousUser
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from schedviz.api.body import refusal
from schedviz.routes import is_of_api
from schedviz.web.access import refuse
from simulator.apiserver.status import ServiceUnavailable


class DatabaseTrouble(MiddlewareMixin):
    """Responds 503 to a request with a session while the database does not answer. The middleware comes after
    Django's middleware of sessions and users. A request without a session reads no database, and is
    answered."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        try:
            request.user.is_authenticated  # noqa: B018 (the attribute reads the session and the user)
        except Error:
            return _respond(request)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return _respond(request) if isinstance(exception, Error) else None


def _respond(request: HttpRequest) -> HttpResponse:
    request.user = AnonymousUser()  # the page that is drawn must not ask again
    if is_of_api(request):
        return refusal(ServiceUnavailable("the database of accounts does not answer"))
    response = refuse(request, gettext("The database of accounts does not answer. Try again later."))
    response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return response
