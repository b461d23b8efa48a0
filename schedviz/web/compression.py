"""Middleware: compressed pages."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressedPages(GZipMiddleware):
    """Compresses HTML for browsers that take it; a live page has a fifth of its bytes then.

    A page says what a visitor typed beside what only they may know, so its length must tell nothing (BREACH):
    Django adds up to 100 random bytes to each compressed response, and masks the CSRF token anew in each.
    The API, and downloads, stay as they are: programs rather wait for bytes than for the compression of
    megabytes, and a watch is sent line by line."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
