"""The pages of a room are drawn in the language of each viewer, after each change."""

from django.test import Client
from django.utils.translation import override

from schedviz.rooms.room import What
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store
from schedviz.web.rooms.screens import RoomPage, RoomScreens

from .test_pages import browser, do

PAGES: tuple[RoomPage, ...] = ("teacher", "projector")
LANGUAGES = ("zh-hans", "en")


def changed(store: Store, code: str, teacher: Client) -> None:
    """Change all that the pages show."""
    room = Rooms(store).find(code)
    for name in ("Ada", "Bo"):
        learner = browser()
        learner.post(f"/rooms/{code}/", {"name": name})
        learner.post(f"/rooms/{code}/me/signal/", {"do": "hand on"})
    teacher.post(f"/rooms/{code}/teach/own/")
    for act in ("collect on", "lock on", "discuss on", "pause", "names on", f"reveal {room.lesson}/predict"):
        do(teacher, code, act)


def test_each_frame_is_in_the_language_of_its_viewer(store: Store) -> None:
    room, token = Rooms(store).create("Monday", What("lesson", "pending"), "own", 3600)
    teacher, hub = browser(), RoomScreens(store, room.code)
    teacher.cookies[f"teach-{room.code}"] = token
    with override("en"):  # whatever is active in the thread of the hub
        hub.update()
        hub.draw(dict.fromkeys(LANGUAGES, PAGES))
        changed(store, room.code, teacher)
        hub.update()
        frames = hub.draw(dict.fromkeys(LANGUAGES, PAGES))
    for language in LANGUAGES:
        with override(language):
            page = RoomScreens(store, room.code)
            page.update()
            page.draw({language: PAGES})
            for each in PAGES:
                whole = page.whole(language, each)
                assert frames[language][each], (language, each)
                for part in frames[language][each]:
                    assert hub.whole(language, each)[part] == whole[part], (language, part)
    chinese = "".join(map(str, hub.whole("zh-hans", "teacher").values()))
    for word in ("Last guess", "your own", "Reveal", "Discussion", "hand", "Ends in", "paused"):
        assert f">{word}" not in chinese.replace("\n", "").replace("  ", ""), word
    for name in store.names():
        if name.startswith(f"room-{room.code.lower()}-"):
            store.delete(name)


def test_an_empty_room_says_that_nobody_has_joined(store: Store) -> None:
    room, _ = Rooms(store).create("Monday", What("lesson", "pending"), "own", 3600)
    hub = RoomScreens(store, room.code)
    hub.update()
    hub.draw({"en": PAGES})
    for page, part in zip(PAGES, ("question", "asked"), strict=True):
        html = " ".join(str(hub.whole("en", page)[part]).split())
        assert "Nobody has joined yet." in html
        assert "answered </p>" not in html
