"""Whether a page of the server itself sent a request, for requests and websockets that have no form with
Django's CSRF token."""

from io import BytesIO
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.utils.http import is_same_domain

HTTP_SCHEMES: Final = {"ws": "http", "wss": "https"}


def is_own_origin(request: HttpRequest) -> bool:
    """Return whether the header Origin is that of the server, with its scheme and port, or one of
    CSRF_TRUSTED_ORIGINS, as in Django's CsrfViewMiddleware."""
    origin = request.headers.get("Origin", "")
    try:
        own = f"{request.scheme}://{request.get_host()}"
    except DisallowedHost:
        return False
    return origin == own or _is_trusted(_split(origin))


def _split(origin: str) -> SplitResult:
    """Return the parts of an origin; all are empty if it is none."""
    try:
        return urlsplit(origin)
    except ValueError:
        return urlsplit("")


def _is_trusted(origin: SplitResult) -> bool:
    """Return whether a trusted origin of the settings matches: ``https://*.example.com`` is every domain
    below this one."""
    for each in settings.CSRF_TRUSTED_ORIGINS:
        trusted = urlsplit(each)
        domain = trusted.netloc.removeprefix("*")
        if origin.netloc and origin.scheme == trusted.scheme and is_same_domain(origin.netloc, domain):
            return True
    return False


class OwnOriginOnly:
    """Wraps the application of the websockets. A page of another origin, and a client without one, gets
    403: browsers send the visitor's cookies with websockets of all pages."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if not is_own_origin(ASGIRequest(_handshake(scope), BytesIO())):
            await receive()
            await send({"type": "websocket.close"})
            return
        await self._application(scope, receive, send)


def _handshake(scope: dict[str, Any]) -> dict[str, Any]:
    """Return the scope of the request with which the websocket was asked for."""
    return {**scope, "type": "http", "method": "GET", "scheme": HTTP_SCHEMES[scope.get("scheme", "ws")]}
