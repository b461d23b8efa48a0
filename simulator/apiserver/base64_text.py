"""Base64 as Go decodes it: line feeds and carriage returns are passed over anywhere in the text.

Upstream: StdEncoding in Go's encoding/base64.
"""

import base64
import re
from typing import Final

_LINE_ENDS: Final = str.maketrans("", "", "\r\n")
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9+/=\r\n]")


class IllegalBase64(ValueError):
    """The text is no base64. The message is Go's."""


def decode_base64(text: str) -> bytes:
    """Return the bytes of a text. Raises IllegalBase64."""
    try:
        return base64.b64decode(text.translate(_LINE_ENDS), validate=True)
    except ValueError:  # binascii.Error, or characters that are not ASCII
        raise IllegalBase64(f"illegal base64 data at input byte {_illegal_byte(text)}") from None


def canonical_base64(text: str) -> str:
    """Return the text as Go writes its bytes. Raises IllegalBase64."""
    return base64.b64encode(decode_base64(text)).decode()


def _illegal_byte(text: str) -> int:
    """Return the place at which Go's decoder stops."""
    illegal = _ILLEGAL.search(text)
    if illegal is not None:
        return illegal.start()
    padding = text.find("=")
    if padding >= 0:
        return padding
    # The last group of four is not complete.
    return len(text) - len(text.translate(_LINE_ENDS)) % 4
