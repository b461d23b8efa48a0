"""The pages of a room share reads of it. No page gets a read that began before its request."""

import time

import pytest

from schedviz.rooms.notice import room_notice
from schedviz.rooms.room import What, sandbox_name
from schedviz.rooms.room_store import NoRoom, Rooms, Seen
from schedviz.rooms.shared_reads import KEPT_AT_MOST, SharedReads
from schedviz.store import Meta, Store
from tests.round_trips import round_trips
from tests.threads import THREADS, at_once


@pytest.fixture
def rooms(store: Store) -> Rooms:
    return Rooms(store)


@pytest.fixture
def code(rooms: Rooms) -> str:
    return rooms.create("Monday", What("course"), "own", 3600)[0].settings.code


def test_requests_before_a_read_share_it(rooms: Rooms, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[str] = []
    read = Rooms.read

    def counted(self: Rooms, code: str) -> Seen:
        began.append(code)
        return read(self, code)

    monkeypatch.setattr(Rooms, "read", counted)
    reads, asked = SharedReads(), time.monotonic()
    found = at_once(lambda _: reads.read(rooms, code, asked))
    assert len(found) == THREADS
    assert began == [code]


def test_a_request_after_a_change_gets_the_change(rooms: Rooms, code: str) -> None:
    reads, asked = SharedReads(), time.monotonic()
    assert not reads.read(rooms, code, asked).room.paused
    rooms.change(code, paused=True)
    assert not reads.read(rooms, code, asked).room.paused
    assert reads.read(rooms, code, time.monotonic()).room.paused
    assert reads.read(rooms, code, asked).room.paused


def test_the_number_of_cached_rooms_is_bounded(rooms: Rooms) -> None:
    reads = SharedReads()
    for number in range(2 * KEPT_AT_MOST):
        with pytest.raises(NoRoom):
            reads.read(rooms, f"code-{number}", 0.0)
    assert len(reads._reads) == KEPT_AT_MOST


def test_a_notice_needs_two_round_trips_more_than_the_shared_read(
    rooms: Rooms, code: str, store: Store
) -> None:
    name, reads = sandbox_name(code, 1), SharedReads()
    store.create(Meta(name))
    asked = time.monotonic()
    with round_trips() as sent:
        for _ in range(30):
            assert room_notice(rooms, name, "teacher", lambda code: reads.read(rooms, code, asked))
        assert sent() <= 1 + 30 * 2
    store.delete(name)
