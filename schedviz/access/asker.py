"""The asker: the visitor of a request for a sandbox, with their right on it."""

from typing import Final, NamedTuple

from django.http import HttpRequest

from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.record import AccessRecord, read_record
from schedviz.access.rights import Right
from schedviz.access.visitor import ANYBODY, Visitor
from schedviz.store import Store

ATTRIBUTE: Final = "asker"
LIVE: Final = Right.VIEW
"""The right that the websocket of a sandbox requires."""


class Asker(NamedTuple):
    """The visitor of a request for a sandbox, and their right on it."""

    right: Right
    user: str
    """The name of the visitor in the API; "" = an unknown visitor."""
    visitor: Visitor | None = None
    """The visitor whose right is given by the access record of the sandbox, and ends when the record changes;
    None = the right does not depend on it."""


NOBODY: Final = Asker(Right.NONE, "")


def find_asker(store: Store, sandbox: str, visitor: Visitor) -> Asker | None:
    """Return the rights of a visitor on a sandbox of no room; None = there is no such sandbox.
    At most one round trip; none in open mode."""
    if not sandboxes_have_owners():
        return Asker(Right.OWN, ANYBODY)
    access = store.handle(sandbox).access()
    return None if access is None else asker_by(sandbox, visitor, read_record(access))


def asker_by(sandbox: str, visitor: Visitor, record: AccessRecord) -> Asker:
    """Return the right by an access record. A sandbox without an owner (the demo, and those created in open
    mode) may be viewed by all."""
    right, user = visitor.right_on(sandbox, record)
    return Asker(right if record.owner else max(right, Right.VIEW), user, visitor)


def find_named_right(store: Store, sandbox: str, user: str) -> Right:
    """Return the right of a user by name, as the API names those of the access record. The names of others,
    such as a member of a room or an administrator, do not show their right."""
    if not sandboxes_have_owners():
        return Right.OWN
    return read_record(store.handle(sandbox).access() or "").rights_by_user().get(user, Right.NONE)


def find_token_user(store: Store, sandbox: str, token: str) -> str:
    """Return the name of the user who has this token of the sandbox; "" = it is no token of it."""
    access = store.handle(sandbox).access()
    if not access:
        return ""
    right, user = Visitor(bearer=token).right_on(sandbox, read_record(access))
    return user if right > Right.NONE else ""


def note_asker(request: HttpRequest, asker: Asker) -> None:
    setattr(request, ATTRIBUTE, asker)


def asker_of(request: HttpRequest) -> Asker:
    """Return the asker: the visitor of a request for the sandbox in its path, and their right."""
    found: Asker = getattr(request, ATTRIBUTE, NOBODY)
    return found
