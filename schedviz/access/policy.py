"""The policy: the right that each URL needs on the sandbox in its path.

A URL whose name is not in the table is refused. The middleware of requests
(:mod:`schedviz.web.access`) and of websockets (:mod:`schedviz.live.access`) use it.
"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.urls import ResolverMatch

from schedviz.access.account import Role, guests_create
from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.record import AccessRecord, read_record
from schedviz.access.rights import Right
from schedviz.access.visitor import ANYBODY, Visitor
from schedviz.store import Store

SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
ATTRIBUTE: Final = "asker"


class Rule(NamedTuple):
    """The rights that a request to a URL requires."""

    read: Right = Right.NONE
    """The right for GET and HEAD requests."""
    write: Right = Right.NONE
    """The right for all other requests."""
    do: Mapping[str, Right] = {}
    """The rights for POST requests whose field ``do`` has one of these values."""
    teacher: bool = False
    """Whether it is a page of a room's teacher; the path names the room."""
    creates: str = ""
    """The field of a POST request that names a new sandbox. Only a room may have some names."""
    makes: bool = False
    """Whether POST requests create sandboxes."""
    role: Role = Role.GUEST
    """The least role that is needed, where there are accounts."""
    changes: bool | Collection[str] = False
    """Whether requests that are not GET or HEAD change the sandbox in the path, or its clock. A collection:
    only those whose field ``do`` has one of these values. While a presenter hides the answers of Predict,
    they are refused (:mod:`schedviz.web.held`)."""
    copies: str = ""
    """The field of a POST request that names a sandbox which is read: ``sandbox:NAME``."""

    def needs(self, method: str, do: str = "") -> Right:
        """Return the right on the sandbox in the path."""
        if method in SAFE_METHODS:
            return self.read
        return self.do.get(do, self.write) if method == "POST" else self.write

    def changes_by(self, do: str) -> bool:
        """Whether a request that is not GET or HEAD, with this value of the field ``do``, is a change."""
        return self.changes if isinstance(self.changes, bool) else do in self.changes

    def needs_role(self, method: str, do: str = "") -> Role:
        """Return the least role; GUEST = the request needs no account."""
        makes = method == "POST" and (self.makes or do == BRANCH)
        return Role.LEARNER if makes and self.role < Role.LEARNER and not guests_create() else self.role


PUBLIC: Final = Rule()
"""The rule of URLs that need no right: they are of no sandbox, or the view proves a token of its own."""
VIEWED: Final = Rule(Right.VIEW, Right.EDIT)
ASKED: Final = Rule(Right.VIEW, Right.VIEW)
"""The rule of a POST request that changes only what its visitor sees."""
EDITED: Final = Rule(Right.EDIT, Right.EDIT)
CHANGED: Final = Rule(Right.EDIT, Right.EDIT, changes=True)
VIEWED_OR_CHANGED: Final = Rule(Right.VIEW, Right.EDIT, changes=True)
OWNED: Final = Rule(Right.OWN, Right.OWN)
TAUGHT: Final = Rule(teacher=True)
MAKES: Final = Rule(makes=True)
LOGGED_IN: Final = Rule(role=Role.LEARNER)

BRANCH: Final = "branch"
"""The value of the field ``do`` with which a question makes a branch."""

OF_SERVER: Final[Mapping[str, Rule]] = {
    # The server
    "healthz": PUBLIC,
    "readyz": PUBLIC,
    # Its view asks for a token of the operator's.
    "metrics": PUBLIC,
    "home": PUBLIC,
    "set-language": PUBLIC,
    "create-sandbox": Rule(creates="name", makes=True),
    "bring": Rule(creates="name", makes=True),
    "compare": Rule(copies="workload"),
    # A comparison may be seen by those who asked for it: schedviz.web.views.comparisons.
    "comparison": PUBLIC,
    "stop-comparison": PUBLIC,
    "ideas": PUBLIC,
    "idea": PUBLIC,
    "start-idea": MAKES,
    "start-guide": MAKES,
    "lessons": PUBLIC,
    "start-lesson": MAKES,
    "upload-lesson": Rule(role=Role.TEACHER),
    "handout": PUBLIC,
    # Learners share them with everybody who has the address.
    "solution": PUBLIC,
    "solution-picture": PUBLIC,
    # Rooms: the pages of a learner are those of the learner whose cookie comes with the request.
    "rooms": PUBLIC,
    "new-room": Rule(makes=True, role=Role.TEACHER),
    "room": PUBLIC,
    "room-qr": PUBLIC,
    "room-me": PUBLIC,
    "room-hint": PUBLIC,
    "room-personal": PUBLIC,
    "teach-link": PUBLIC,
    "teach": TAUGHT,
    "room-act": TAUGHT,
    "room-own": TAUGHT,
    "room-results": TAUGHT,
    "room-projector": TAUGHT,
    # The API
    "api": VIEWED_OR_CHANGED,
    "api-version": VIEWED,
    "api-health": VIEWED,
    "openapi": VIEWED,
    "built-in-openapi": PUBLIC,
    "scheduler-settings": VIEWED_OR_CHANGED,
    "trace": VIEWED,
    "recording": VIEWED,
    # The API for sandboxes
    "sandbox-openapi": PUBLIC,
    "sandbox-scenarios": PUBLIC,
    # Its view lists those that the visitor may see.
    "sandboxes": MAKES,
    "one-sandbox": Rule(Right.VIEW, Right.OWN, changes=True),
    "sandbox-branches": Rule(Right.VIEW, Right.VIEW, makes=True),
    "sandbox-objects": CHANGED,
    "sandbox-pause": CHANGED,
    "sandbox-resume": CHANGED,
    "sandbox-speed": CHANGED,
    "sandbox-step": CHANGED,
    "sandbox-run": CHANGED,
    "sandbox-trace": VIEWED,
    "sandbox-explanation": VIEWED,
    "sandbox-question": ASKED,
    "sandbox-preventions": ASKED,
    # Pages of a sandbox
    "sandbox": VIEWED,
    "jump": VIEWED,
    "moment": VIEWED,
    "moment-cycle": VIEWED,
    "moment-last-cycle": VIEWED,
    "moment-pod": VIEWED,
    "moment-nodes": VIEWED,
    "moment-node": VIEWED,
    "moment-kinds": VIEWED,
    "moment-objects": VIEWED,
    "moment-object": VIEWED,
    "moment-now": VIEWED,
    "moment-pending": VIEWED,
    "cycle": VIEWED,
    "last-cycle": VIEWED,
    "pod": VIEWED,
    "nodes": VIEWED,
    "node": VIEWED,
    "kinds": VIEWED,
    "objects": VIEWED,
    "object": VIEWED,
    "pending": VIEWED,
    "imported": VIEWED,
    "leader": VIEWED,
    "outside": VIEWED,
    "guide": ASKED,
    "lesson-panel": Rule(Right.VIEW, Right.EDIT, changes=("undo", "again", "reset", "solution")),
    "share-solution": VIEWED,
    "download": VIEWED,
    "download-objects": VIEWED,
    "download-manifests": VIEWED,
    "download-picture": VIEWED,
    # A branch is a copy, which belongs to those who made it.
    "branch": Rule(Right.VIEW, Right.VIEW, creates="name", makes=True),
    # A guess takes a step only for those who may edit: schedviz.web.views.predict.
    "predict": Rule(
        Right.VIEW, Right.EDIT, do={"guess": Right.VIEW, "reset": Right.VIEW}, changes=("begin", "go")
    ),
    "what-if": Rule(
        Right.VIEW,
        Right.EDIT,
        do={"ask": Right.VIEW, "stop": Right.VIEW, "branch": Right.VIEW},
        changes=("apply",),
    ),
    "evicted": ASKED,
    # Changes of a sandbox, with the forms for them
    "clock": CHANGED,
    "command": CHANGED,
    "command-options": EDITED,
    "kill-leader": CHANGED,
    "break-watch": CHANGED,
    "propose": EDITED,
    "paste": CHANGED,
    "new": CHANGED,
    "scheduler": VIEWED_OR_CHANGED,
    "edit": CHANGED,
    "delete-object": CHANGED,
    "delete-pod": CHANGED,
    "permit": CHANGED,
    "change-node": CHANGED,
    "start-over": CHANGED,
    "undo": CHANGED,
    "keep-sandbox": EDITED,
    "delete-sandbox": Rule(Right.OWN, Right.OWN, changes=True),
    "share": OWNED,
    "kubeconfig": OWNED,
    # The token in its path is the proof.
    "open-link": PUBLIC,
}

OF_ACCOUNTS: Final[Mapping[str, Rule]] = {
    "log-in": PUBLIC,
    "log-out": PUBLIC,
    # Where one is sent from the provider of single sign-on, which proves who it is.
    "sign-on": PUBLIC,
    "signed-on": PUBLIC,
    # The mail's address has a token.
    "reset-password": PUBLIC,
    "reset-sent": PUBLIC,
    "choose-password": PUBLIC,
    "account": LOGGED_IN,
    "change-password": LOGGED_IN,
}
"""The URLs that there are only with accounts."""

TABLE: Final[Mapping[str, Rule]] = {**OF_SERVER, **(OF_ACCOUNTS if settings.ACCOUNTS else {})}
"""Name of each URL -> its rule."""
ADMIN: Final = Rule(role=Role.ADMINISTRATOR)
"""The rule of the pages of Django's admin, whose URLs have the namespace ADMIN_PAGES."""
ADMIN_PAGES: Final = "admin"

LIVE: Final = Right.VIEW
"""The right that the websocket of a sandbox requires."""


def find_rule(match: ResolverMatch | None) -> Rule | None:
    """Return the rule of a URL; None = no visitor may request it."""
    if match is None:
        return None
    if match.namespaces:
        return ADMIN if match.namespaces == [ADMIN_PAGES] else None
    return TABLE.get(match.url_name or "")


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
