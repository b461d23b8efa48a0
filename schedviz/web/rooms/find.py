"""How a request finds a room and its learner, and the cookies of both."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.rooms.access import (
    find_member,
    member_cookie,
)
from schedviz.rooms.room import (
    ALPHABET,
    CODE_LENGTH,
    Member,
    Room,
    read_code,
    wrong_letters,
)
from schedviz.rooms.room_store import (
    KEPT_SECONDS,
    LONGEST_SECONDS,
    NoRoom,
    Rooms,
)
from schedviz.store.default import default_store


def find_room(code: str) -> Room:
    """Return the room with this code. Raises Http404."""
    try:
        return Rooms(default_store()).find(read_code(code))
    except NoRoom:
        said = gettext("There is no room “%(code)s”, or no longer.") % {"code": code}
        raise Http404(said if read_code(code) else f"{said} {say_wrong_code(code)}") from None


def find_own_member(request: HttpRequest, room: Room) -> Member | None:
    """Return the learner whose browser this is."""
    token = request.COOKIES.get(member_cookie(room.code), "")
    return find_member(Rooms(default_store()), room.code, token) if token else None


def write_cookie(request: HttpRequest, response: HttpResponse, name: str, token: str) -> None:
    """Set the cookie of a room. It lasts as long as a room can, with its results."""
    response.set_cookie(
        name,
        token,
        max_age=LONGEST_SECONDS + KEPT_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def join_address(request: HttpRequest, room: Room) -> str:
    return request.build_absolute_uri(reverse("room", args=[room.code]))


def say_wrong_code(typed: str) -> str:
    """Return why a typed text is no code, in one line."""
    if wrong := wrong_letters(typed):
        return gettext("No code has %(letters)s: its letters and digits are %(alphabet)s.") % {
            "letters": ", ".join(wrong[:CODE_LENGTH]),
            "alphabet": " ".join(ALPHABET),
        }
    return gettext("A code has six letters and digits.")
