"""Middleware: the headers that say what a browser may do with a response, and secure cookies."""

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

PERMISSIONS_POLICY: Final = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "browsing-topics",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "publickey-credentials-get",
        "serial",
        "usb",
        "xr-spatial-tracking",
    )
)
"""The header Permissions-Policy: the features that no page uses. Those that pages use (the clipboard, the
full screen) are left to the browser's rules."""


def embeddable(response: HttpResponse) -> HttpResponse:
    """Allow the response in a frame of this site's pages."""
    policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    response.headers["Content-Security-Policy"] = policy
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response


def keep_private(response: HttpResponseBase) -> None:
    """Let no cache keep a response for another visitor: who may see a sandbox depends on cookies and tokens.
    A static file, which says itself how long it may be kept, is the same for all."""
    response.headers.setdefault("Cache-Control", "private, no-store")
    if "public" not in response.headers["Cache-Control"]:
        patch_vary_headers(response, ("Cookie", "Authorization"))


class SecurityHeaders(MiddlewareMixin):
    """Django's SecurityMiddleware and XFrameOptionsMiddleware add the others: X-Content-Type-Options,
    Referrer-Policy, Cross-Origin-Opener-Policy, Strict-Transport-Security, X-Frame-Options."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        keep_private(response)
        if settings.HTTPS:
            # Here, so that no response is without it.
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response
