"""The account of the visitor, from the session of a browser (:mod:`schedviz.accounts`)."""

from enum import IntEnum
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.http import HttpRequest

TEACH: Final = "accounts.teach"
"""The permission of teachers."""


class Role(IntEnum):
    """The role of an account: what it may do beside its rights on sandboxes. Each role includes those before
    it."""

    GUEST = 0
    """The role of a visitor who has no account, or has not logged in: joins rooms. The setting GUESTS decides
    whether guests may create sandboxes."""
    LEARNER = 1
    """Creates sandboxes."""
    TEACHER = 2
    """The role that opens rooms, and uploads lessons."""
    ADMINISTRATOR = 3
    """The role that manages the accounts, and has all rights on every sandbox."""


class Account(NamedTuple):
    owner: str
    """The digest of the account, which access records have as their owner."""
    is_administrator: bool


def guests_create() -> bool:
    """Whether those without an account may create sandboxes."""
    return not settings.ACCOUNTS or bool(settings.GUESTS == "create")


def read_account(user: Any) -> Account | None:
    """Return the account of a user of Django, who has logged in or not; None = there is none."""
    if user is None or not user.is_authenticated:
        return None
    return Account(user.owner, user.is_superuser)


def account_of(request: HttpRequest) -> Account | None:
    """Return the account of the visitor who sent the request. Without a session, this asks no database."""
    return read_account(getattr(request, "user", None))


def role_of(request: HttpRequest) -> Role:
    user: Any = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return Role.GUEST
    if user.is_superuser:
        return Role.ADMINISTRATOR
    return Role.TEACHER if user.has_perm(TEACH) else Role.LEARNER
