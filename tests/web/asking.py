"""How tests of pages ask, and what they read in the answers."""

from html import unescape

HTMX = {"HX-Request": "true"}


def text(html: bytes) -> str:
    return unescape(html.decode())
