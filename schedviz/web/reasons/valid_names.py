"""Makes valid names of invalid ones: a suggestion for who has typed one. "" if nothing of a name is left."""

import re
from typing import Final

_NOT_IN_LABELS: Final = re.compile("[^a-z0-9-]+")
_NOT_IN_SUBDOMAINS: Final = re.compile("[^a-z0-9.-]+")
_NOT_IN_QUALIFIED_NAMES: Final = re.compile("[^A-Za-z0-9_.-]+")
_NO_LETTERS: Final = "0123456789-"


def valid_label(text: str) -> str:
    """Return a label of RFC 1123."""
    return _ends_cut(_NOT_IN_LABELS.sub("-", text.lower()), 63)


def valid_subdomain(text: str) -> str:
    """Return a subdomain of RFC 1123."""
    return _ends_cut(_NOT_IN_SUBDOMAINS.sub("-", text.lower()), 253)


def valid_service_name(text: str) -> str:
    """Return a label of RFC 1035."""
    return valid_label(text).lstrip(_NO_LETTERS)


def valid_qualified_name(text: str) -> str:
    """Return the value of a label, or the part of a key that follows the domain."""
    return _ends_cut(_NOT_IN_QUALIFIED_NAMES.sub("-", text), 63)


def _ends_cut(text: str, length: int) -> str:
    """Let each part between dots begin and end with a letter or a digit."""
    return ".".join(filter(None, (part.strip("-_") for part in text[:length].split("."))))
