"""The visitor: the cookies and the token of a request or a websocket, and the right that an access record
gives to them."""

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Final, NamedTuple

from schedviz.access.account import Account
from schedviz.access.identity import read_identity
from schedviz.access.record import RIGHTS, AccessRecord, owner_name
from schedviz.access.rights import Right

SHARED_COOKIE: Final = "shared"
"""The tokens of the links that the browser has opened: ``NAME:TOKEN`` with dots between, the newest last."""
SHARED_AT_MOST: Final = 30
"""Maximum number of sandboxes in that cookie: 3 kB. Browsers keep cookies up to 4 kB."""
_PAIR: Final = re.compile(r"([a-z0-9-]{1,63}):([-\w]{10,60})", re.ASCII)
_AUTHORIZATION: Final = re.compile(r"(Bearer|Basic) +([^\s]{1,300}) *", re.ASCII | re.IGNORECASE)
BASIC_USER: Final = "token"
"""The user of Basic authorization whose password is a token."""

ANYBODY: Final = "system:anonymous"
"""The user of a request without any identification."""


class Visitor(NamedTuple):
    owner: str = ""
    """The digest of the visitor, which access records have as their owner; "" = none."""
    tokens: Mapping[str, str] = {}
    """Name of a sandbox -> the token of the link that was opened."""
    bearer: str = ""
    """The token that a program sent. Nothing else counts then."""
    is_administrator: bool = False
    """Whether this visitor has all rights on every sandbox."""

    def has_proof(self, sandbox: str) -> bool:
        """Whether there is anything that could give a right on the sandbox."""
        return bool(self.owner or self.bearer or self.is_administrator or sandbox in self.tokens)

    def right_on(self, sandbox: str, record: AccessRecord) -> tuple[Right, str]:
        """Return the right by the record of the sandbox, and the name of the user who has it."""
        if self.is_administrator:
            return Right.OWN, f"schedviz:administrator:{self.owner[:8]}"
        link = record.link_of(self.bearer or self.tokens.get(sandbox, ""))
        if self.owner and self.owner == record.owner:
            return Right.OWN, owner_name(self.owner)
        if link:
            return RIGHTS[link.right], link.user
        return Right.NONE, owner_name(self.owner) if self.owner else ""


def find_visitor(cookies: Mapping[str, str], authorization: str, account: Account | None = None) -> Visitor:
    """Return the visitor of a request. authorization: the header of that name. An account counts before the
    cookie of an owner."""
    if bearer := _read_token(authorization):
        return Visitor(bearer=bearer)
    if account:
        return Visitor(account.owner, read_shared(cookies), is_administrator=account.is_administrator)
    identity = read_identity(cookies)
    return Visitor(identity.owner if identity else "", read_shared(cookies))


def _read_token(authorization: str) -> str:
    """Return the token of the header; "" = there is none. It may be the password of the user BASIC_USER: over
    plain HTTP, kubectl sends no token, but what the server's address contains
    (:mod:`schedviz.web.share.kubeconfig`). Other users are those of a proxy that asks for a password."""
    match = _AUTHORIZATION.fullmatch(authorization)
    if match is None:
        return ""
    if match[1].lower() == "bearer":
        return match[2]
    try:
        user, _, password = b64decode(match[2], validate=True).decode().partition(":")
    except ValueError:
        return ""
    return (password or "-") if user == BASIC_USER else ""


def read_shared(cookies: Mapping[str, str]) -> dict[str, str]:
    """Return a mapping: name of a sandbox -> token, the newest last."""
    pairs = cookies.get(SHARED_COOKIE, "")[:4096].split(".")
    found = [match for pair in pairs if (match := _PAIR.fullmatch(pair))]
    return {match[1]: match[2] for match in found[-SHARED_AT_MOST:]}


def with_shared(cookies: Mapping[str, str], sandbox: str, token: str) -> str:
    """Return the cookie with one token more; the oldest is dropped if there are too many."""
    tokens = read_shared(cookies)
    tokens.pop(sandbox, None)
    pairs = [*tokens.items(), (sandbox, token)][-SHARED_AT_MOST:]
    return ".".join(f"{name}:{each}" for name, each in pairs)
