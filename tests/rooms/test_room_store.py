"""Rooms in a real Redis: codes, names, bounds, tokens, and what expires."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from schedviz.rooms.access import find_member, personal_token
from schedviz.rooms.room import (
    ALPHABET,
    MEMBERS_AT_MOST,
    What,
    clean_name,
    is_reserved,
    new_code,
    read_code,
    room_of,
    sandbox_name,
)
from schedviz.rooms.room_store import JOINS_AT_MOST, KEPT_SECONDS, NoRoom, RoomFull, Rooms, TooManyJoins
from schedviz.store import Store
from schedviz.store.exceeded import LimitExceeded
from schedviz.store.places import Share


@pytest.fixture
def rooms(store: Store) -> Rooms:
    return Rooms(store)


def test_a_code_has_no_look_alikes_and_is_read_in_any_spelling() -> None:
    assert not set("01IOLB8S5Z2AEUYV") & set(ALPHABET) - set("V")
    code = new_code()
    assert read_code(f" {code[:3].lower()}-{code[3:]} ") == code
    assert read_code("HELLO1") == ""
    assert read_code(code + "C") == ""


def test_the_name_of_a_sandbox_has_its_room_and_member() -> None:
    assert room_of(sandbox_name("CDFGHJ", 12)) == ("CDFGHJ", 12)
    assert room_of("room-cdfghj-12-at-500") == ("CDFGHJ", 12)
    assert room_of("room-cdfghj") is None
    assert is_reserved("room-cdfghj")
    assert is_reserved("room-cdfghj-all")
    assert not is_reserved("room-service")
    assert not is_reserved("demo")


def test_a_name_is_one_line_of_what_is_shown() -> None:
    assert clean_name("  Ada\n\tLovelace\u202e\x00 ") == "Ada Lovelace"
    assert clean_name("小明") == "小明"
    assert len(clean_name("x" * 500)) == 40
    assert clean_name("\u200b\n") == ""


def test_a_room_is_read_as_it_was_written(rooms: Rooms) -> None:
    room, token = rooms.create("Monday", What("scenario", "online-vs-offline"), "own", 3600)
    found = rooms.find(room.code)
    assert found == room
    assert rooms.is_teacher(found, token)
    assert not rooms.is_teacher(found, token + "x")
    assert token.encode() not in b"".join(rooms.store.redis.hvals(f"schedviz:room:{{{room.code}}}"))
    left = rooms.store.redis.ttl(f"schedviz:room:{{{room.code}}}")
    assert 3590 < left - KEPT_SECONDS <= 3600
    with pytest.raises(NoRoom):
        rooms.find("CCCCCC")


def test_members_are_numbered_and_get_names_of_their_own(rooms: Rooms) -> None:
    room, _ = rooms.create("Monday", What("course"), "own", 3600)
    joined = [rooms.join(room, name) for name in ("Ada", "ada", "Ada 2", "Bo", "ADA")]
    assert [member.number for member, _ in joined] == [1, 2, 3, 4, 5]
    assert [member.name for member, _ in joined] == ["Ada", "ada 2", "Ada 2 2", "Bo", "ADA 3"]
    assert rooms.read(room.code).members == [member for member, _ in joined]
    for member, token in joined:
        assert find_member(rooms, room.code, personal_token(member, token)) == member
        assert find_member(rooms, room.code, f"{member.number % 5 + 1}-{token}") is None
    for wrong in ("", "1", "1-", "0-abcdefghijkl", "1-" + "x" * 200, "999-abcdefghijkl"):
        assert find_member(rooms, room.code, wrong) is None


def test_many_who_join_at_once_get_different_numbers_and_names(rooms: Rooms) -> None:
    room, _ = rooms.create("Monday", What("course"), "own", 3600)

    def join(_: int) -> str:
        try:
            return rooms.join(room, "Ada")[0].name
        except RoomFull:
            return ""

    with ThreadPoolExecutor(16) as threads:
        names = [*threads.map(join, range(MEMBERS_AT_MOST + 10))]
    assert len(set(names)) == MEMBERS_AT_MOST + 1
    assert names.count("") == 10
    assert [each.number for each in rooms.read(room.code).members] == [*range(1, MEMBERS_AT_MOST + 1)]


def test_all_members_read_the_settings_of_the_teacher(rooms: Rooms) -> None:
    room, _ = rooms.create("Monday", What("course"), "own", 3600)
    ada, _ = rooms.join(room, "Ada")
    rooms.change(room.code, paused=True, shown=1, question="first/predict")
    rooms.send_hint(room.code, 0, "to all")
    rooms.send_hint(room.code, ada.number, "to Ada")
    rooms.note_read(room.code, ada.number, 12.5)
    rooms.note_connected(room.code, ada.number)
    seen = rooms.read(room.code)
    assert (seen.room.paused, seen.room.shown, seen.room.question) == (True, 1, "first/predict")
    assert [each.text for each in seen.room.hints] == ["to all"]
    assert [each.text for each in seen.hints[1]] == ["to Ada"]
    assert seen.read == {1: 12.5}
    assert seen.is_online(1)
    assert not seen.is_online(2)


def test_a_write_does_not_create_an_unknown_room(rooms: Rooms) -> None:
    for write in (
        lambda: rooms.change("CCCCCC", paused=True),
        lambda: rooms.send_hint("CCCCCC", 0, "x"),
        lambda: rooms.end("CCCCCC"),
    ):
        with pytest.raises(NoRoom):
            write()
    assert not rooms.store.redis.exists("schedviz:room:{CCCCCC}")


def test_an_ended_room_is_kept_for_the_documented_time(rooms: Rooms) -> None:
    room, _ = rooms.create("Monday", What("course"), "own", 7200)
    rooms.join(room, "Ada")
    assert not room.is_over(rooms.store.wall())
    rooms.end(room.code)
    seen = rooms.read(room.code)
    assert seen.room.is_over(seen.now)
    assert [each.name for each in seen.members] == ["Ada"]
    for part in ("", ":members", ":names"):
        left = rooms.store.redis.ttl(f"schedviz:room:{{{room.code}}}{part}")
        assert KEPT_SECONDS - 10 < left <= KEPT_SECONDS


def test_a_room_that_has_ended_gives_its_place_to_a_new_one_of_the_same_owner(rooms: Rooms) -> None:
    shares = [Share("MAX_ROOMS_PER_OWNER", 2, f"owner {new_code()}")]
    first, second = [rooms.create("One", What("course"), "own", 3600, shares)[0] for _ in range(2)]
    with pytest.raises(LimitExceeded) as refused:
        rooms.create("Two", What("course"), "own", 3600, shares)
    assert 3500 < refused.value.retry_after_seconds <= 3600, "then the first one ends"
    rooms.join(second, "Ada", "1")
    rooms.end(second.code)
    third, _ = rooms.create("Two", What("course"), "own", 3600, shares)
    for code in (first.code, third.code):
        assert code in rooms.codes()
    assert second.code not in rooms.codes()
    assert not [*rooms.store.redis.scan_iter(f"*{second.code}*")]


def test_one_address_does_not_join_a_room_without_end(rooms: Rooms) -> None:
    room, _ = rooms.create("Monday", What("course"), "own", 3600)
    for _ in range(JOINS_AT_MOST):
        rooms.remove(room.code, rooms.join(room, "Ada", "a")[0])
    with pytest.raises(TooManyJoins):
        rooms.join(room, "Ada", "a")
    assert rooms.join(room, "Bo", "b")[0].number == 1, "another address"
    assert rooms.join(room, "Bo")[0].number == 2, "this machine"
