"""What every page's answer carries, and what is said when Redis is away, or a past moment is not kept."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.store import Gone

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        # Elements carry figures (widths, shares) as custom properties; no rule comes in that way.
        "style-src-attr 'unsafe-inline'",
        "img-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


def embeddable(response: HttpResponse) -> HttpResponse:
    """The answer may stand in a frame of our own pages."""
    policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    response.headers["Content-Security-Policy"] = policy
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response


class ContentSecurityPolicy(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response


class RedisAway(MiddlewareMixin):
    """A page that meets no Redis says so, and asks again by itself."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, RedisConnectionError | RedisTimeoutError):
            return None
        response = render(request, "503.html", status=503)
        response.headers["Retry-After"] = "2"
        return response


class TooOld(MiddlewareMixin):
    """The page of a past moment that is not kept any more, or was never reached."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Gone) or request.resolver_match is None:
            return None
        live = reverse("sandbox", args=[request.resolver_match.kwargs["name"]])
        return render(request, "410.html", {"live": live}, status=410)
