"""The identity of an owner: a random number in a signed cookie.

The cookie lasts a year, and is signed again when the signature is a week old. An unused copy of it is invalid
a year after it was signed; one that is used is renewed, as the owner's own is. So whoever has the cookie of
an owner is the owner, until the operator changes SECRET_KEY and drops the old one.
"""

import secrets
from collections.abc import Mapping
from typing import Final, NamedTuple

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.access.account import account_of
from schedviz.access.record import digest_of

COOKIE: Final = "owner"
SALT: Final = "schedviz.access.identity"
KEPT_SECONDS: Final = 365 * 24 * 3600
RENEWED_SECONDS: Final = 7 * 24 * 3600
"""Age of a signature from which on it is replaced at the next request."""
ATTRIBUTE: Final = "owner_identity"
FORGOTTEN: Final = "owner_identity_is_forgotten"


class Identity(NamedTuple):
    number: str
    """The random number of the identity. It is stored only in the cookie."""
    is_fresh: bool
    """Whether the cookie need not be written."""

    @property
    def owner(self) -> str:
        """The owner's name in access records."""
        return digest_of(self.number)


def sandboxes_have_owners() -> bool:
    """Whether each new sandbox belongs to the visitor who creates it."""
    return bool(settings.ACCESS == "owners")


def read_identity(cookies: Mapping[str, str]) -> Identity | None:
    """Return the identity in the cookies; None if there is none, or its signature is wrong or too old."""
    given = cookies.get(COOKIE, "")
    if not given or not sandboxes_have_owners():
        return None
    signer = signing.TimestampSigner(salt=SALT)
    try:
        number = signer.unsign(given, max_age=KEPT_SECONDS)
    except signing.BadSignature:
        return None
    try:
        signer.unsign(given, max_age=RENEWED_SECONDS)
    except signing.SignatureExpired:
        return Identity(number, is_fresh=False)
    return Identity(number, is_fresh=True)


def owner_of(request: HttpRequest) -> str:
    """Return the digest of the owner of what this request creates; "" where sandboxes have no owners. Without
    an account, a browser without an identity gets one with the response."""
    if not sandboxes_have_owners():
        return ""
    if account := account_of(request):
        return account.owner
    identity = _known(request) or Identity(secrets.token_urlsafe(18), is_fresh=False)
    setattr(request, ATTRIBUTE, identity)
    return identity.owner


def forget_identity(request: HttpRequest) -> None:
    """Delete the cookie with the response, after its sandboxes were given to an account."""
    setattr(request, FORGOTTEN, True)


def write_identity(request: HttpRequest, response: HttpResponseBase) -> None:
    """Write the cookie, if it is new or its signature is old; delete it if it is forgotten."""
    if getattr(request, FORGOTTEN, False):
        response.delete_cookie(COOKIE, samesite="Lax")
        return
    identity = _known(request) if sandboxes_have_owners() else None
    if identity is None or identity.is_fresh:
        return
    response.set_cookie(
        COOKIE,
        signing.TimestampSigner(salt=SALT).sign(identity.number),
        max_age=KEPT_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure() or settings.SESSION_COOKIE_SECURE,
    )


def _known(request: HttpRequest) -> Identity | None:
    found: Identity | None = getattr(request, ATTRIBUTE, None)
    return found or read_identity(request.COOKIES)
