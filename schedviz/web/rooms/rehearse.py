"""The acts of a teacher who rehearses: simulated learners come, and are removed."""

from django.http import HttpRequest
from django.utils.translation import get_language, gettext

from schedviz.rooms.rehearsal import is_running, start_process
from schedviz.rooms.room_store import Rooms, Seen
from schedviz.rooms.work import begin_work
from schedviz.store.default import default_store
from schedviz.web.rooms.people import WrongAct, take_out


def may_rehearse(seen: Seen) -> bool:
    """Whether the room is one to rehearse in: its learners have lessons, in sandboxes of their own, and
    nobody has joined."""
    settings = seen.room.settings
    return settings.mode == "own" and settings.what.kind != "scenario" and not seen.members


def rehearse(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Begin a rehearsal, ``on``; or end it and remove the simulated learners, ``off``. Raises WrongAct,
    RoomBusy."""
    store, code = default_store(), seen.room.code
    if argument != "on":
        simulated = {each.number: each for each in seen.members if each.number in seen.simulated}
        Rooms(store).change(code, rehearsing=False)
        begin_work(store, code, "delete", [*simulated], lambda number: take_out(seen, simulated[number]))
        return gettext("The simulated learners are being removed.")
    if not may_rehearse(seen):
        raise WrongAct(gettext("Rehearse in a room of your own, which nobody has joined."))
    if is_running(store):
        raise WrongAct(gettext("Another rehearsal runs on this server. Try again when it is over."))
    Rooms(store).change(code, rehearsing=True)
    start_process(code, get_language() or "en")
    return gettext("The simulated learners will join within a minute.")
