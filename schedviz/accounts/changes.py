"""The effects of log in, log out and changes of an account."""

from django.contrib.auth import user_logged_in, user_logged_out
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest

from schedviz.access.claims import claim_sandboxes
from schedviz.access.identity import forget_identity, read_identity
from schedviz.accounts.models import User
from schedviz.loop.doorbell import ring
from schedviz.store.default import default_store


def connect() -> None:
    user_logged_in.connect(claim_owned)
    user_logged_out.connect(end_session)
    post_save.connect(notify_sockets, sender=User)
    post_delete.connect(notify_sockets, sender=User)


def claim_owned(request: HttpRequest, user: User, **_: object) -> None:
    """Make the account the owner of the sandboxes that the browser's cookie owned."""
    if identity := read_identity(request.COOKIES):
        claim_sandboxes(default_store(), identity.owner, user.owner)
        forget_identity(request)


def end_session(request: HttpRequest, user: User | None, **_: object) -> None:
    """Delete the session, as Django does after this, and notify the websockets, which then find no
    session."""
    request.session.flush()
    if user is not None:
        notify_sockets(user)


def notify_sockets(instance: User, **_: object) -> None:
    """Notify the websockets of an account, which then check whether their session still counts. The message
    may be lost: they also check at intervals."""
    ring(doorbell_of(instance))


def doorbell_of(user: User) -> str:
    """Return the doorbell of the websockets of an account."""
    return f"account-{user.owner}"
