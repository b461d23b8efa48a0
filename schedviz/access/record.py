"""The access record of a sandbox, as it is stored: its owner, and the links by which others use it.

Secrets are not stored, only their digests.
"""

import hashlib
import hmac
import secrets
from typing import Final, Literal

import msgspec

from schedviz.access.rights import Right
from simulator.kernel.prepared_types import prepared

LINKS_AT_MOST: Final = 20
"""Maximum number of links of one sandbox. The record is read with each change of the sandbox: so many have 4
kB."""
LABEL_AT_MOST: Final = 40
"""Maximum number of characters of a link's label."""

LinkRight = Literal["view", "edit"]

RIGHTS: Final[dict[LinkRight, Right]] = {"view": Right.VIEW, "edit": Right.EDIT}


class Link(msgspec.Struct, frozen=True):
    """A link to a sandbox. Whoever has its token has its right. Programs send the same token."""

    id: str
    right: LinkRight
    label: str
    created: float
    """Wall seconds since the Unix epoch."""
    digest: str
    """The digest of the token."""

    @property
    def user(self) -> str:
        """The name of the API's user with this token."""
        return f"schedviz:{self.right}:{self.id}"


class AccessRecord(msgspec.Struct, frozen=True):
    owner: str = ""
    """The digest of the owner's identity; "" = the sandbox has no owner."""
    links: tuple[Link, ...] = ()
    address: str = ""
    """The digest of the address from which the sandbox was created; "" = it does not count."""

    def link_of(self, token: str) -> Link | None:
        """Return the link with this token; None = there is none, or it was withdrawn."""
        digest = digest_of(token)
        return next((each for each in self.links if hmac.compare_digest(each.digest, digest)), None)

    def rights_by_user(self) -> dict[str, Right]:
        """Return the users of the record by name, each with the right."""
        found = {link.user: RIGHTS[link.right] for link in self.links}
        return found | ({owner_name(self.owner): Right.OWN} if self.owner else {})


def owner_name(owner: str) -> str:
    """Return the user that an owner is for the API."""
    return f"schedviz:owner:{owner[:8]}"


def read_record(access: str) -> AccessRecord:
    """Return the record as it is stored; "" = an empty one."""
    return msgspec.json.decode(access, type=prepared(AccessRecord)) if access else AccessRecord()


def write_record(record: AccessRecord) -> str:
    return msgspec.json.encode(record).decode()


def owned_by(owner: str, address: str = "") -> str:
    """Return the record of a new sandbox. owner: the digest of an identity; "" = it has no owner. address:
    see :class:`AccessRecord`."""
    return write_record(AccessRecord(owner, address=address)) if owner or address else ""


def continued(kept: str, access: str) -> str:
    """Return the record of a sandbox that is created again: the one it had, with its links, if the same
    visitor owns it; otherwise the new one. kept: "" = there was no such sandbox."""
    return kept if kept and read_record(kept).owner == read_record(access).owner else access


def new_token() -> str:
    return secrets.token_urlsafe(24)


def digest_of(secret: str) -> str:
    """Return the digest of a token or an identity. Both are random, so the digest needs neither salt nor many
    rounds."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()[:40]
