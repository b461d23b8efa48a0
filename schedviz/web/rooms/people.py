"""The acts of a teacher that are about the members of a room: their names, and who is in it."""

from contextlib import suppress

from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from schedviz.lessons.learners import Learners
from schedviz.rooms.notify import notify_learners
from schedviz.rooms.room import (
    MEMBERS_AT_MOST,
    NAME_AT_MOST,
    Member,
    clean_name,
    learner_id,
    sandbox_name,
)
from schedviz.rooms.room_store import Rooms, Seen
from schedviz.store import NoSandbox
from schedviz.store.default import default_store


class WrongAct(Exception):
    """A field of the form is wrong; the message is for the page."""


def member_of(seen: Seen, number: str) -> Member:
    """Return the member of a field. Raises WrongAct."""
    found = next((each for each in seen.members if str(each.number) == number), None)
    if found is None:
        raise WrongAct(gettext("Choose a learner."))
    return found


def rename(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Rename a learner. Fields: ``to``: the learner's number; ``name``."""
    member, name = member_of(seen, request.POST.get("to", "")), clean_name(request.POST.get("name", ""))
    if not name:
        raise WrongAct(gettext("Enter a name."))
    renamed = Rooms(default_store()).rename(seen.room.code, member, name)
    notify_learners(seen.room.code)
    return gettext("%(old)s is now called %(new)s.") % {"old": member.name, "new": renamed}


def merge(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Merge a learner who has joined twice. Fields: ``to``: the number of the one who goes; ``into``: of the
    one who stays, with the sandbox, the progress, and the lessons that only the other has begun."""
    store, room = default_store(), seen.room
    member, into = (member_of(seen, request.POST.get(field, "")) for field in ("to", "into"))
    if member == into:
        raise WrongAct(gettext("Choose two learners."))
    learners, identifier = Learners(store.redis), learner_id(room.code, member.number)
    learners.add(learner_id(room.code, into.number), identifier)
    Rooms(store).merge(room.code, member, into)
    _forget(seen, member)
    return gettext("%(name)s is now %(into)s.") % {"name": member.name, "into": into.name}


def _forget(seen: Seen, member: Member) -> None:
    """Delete the progress and the sandbox of a learner who is no longer in the room."""
    store, room = default_store(), seen.room
    Learners(store.redis).forget([learner_id(room.code, member.number)])
    if room.settings.mode == "own":
        with suppress(NoSandbox):
            store.delete(sandbox_name(room.code, member.number))


def take_out(seen: Seen, member: Member) -> None:
    """Take a learner out of the room, with the sandbox and the progress."""
    Rooms(default_store()).remove(seen.room.code, member)
    _forget(seen, member)


def class_list(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Set the names from which learners choose. Field ``names``: one a line; "" = learners type a name."""
    text = request.POST.get("names", "")[: MEMBERS_AT_MOST * 4 * NAME_AT_MOST]
    names = {name.casefold(): name for line in text.splitlines() if (name := clean_name(line))}
    if len(names) > MEMBERS_AT_MOST:
        raise WrongAct(gettext("A class list has at most %(n)s names.") % {"n": MEMBERS_AT_MOST})
    Rooms(default_store()).change(seen.room.code, class_list=tuple(names.values()))
    if not names:
        return gettext("Learners type their names.")
    return ngettext("Learners choose from %(n)s name.", "Learners choose from %(n)s names.", len(names)) % {
        "n": len(names)
    }


def remove(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Remove a learner with the sandbox and the progress. Field ``to``: the learner's number."""
    member = member_of(seen, request.POST.get("to", ""))
    take_out(seen, member)
    return gettext("%(name)s was removed.") % {"name": member.name}
