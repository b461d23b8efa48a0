"""The rooms in Redis: for each a hash with its settings and its state, one with its members, and one with the
times at which they were last connected. All of them expire some days after the room has ended."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast

import msgspec
from redis.commands.core import Script

from schedviz.rooms.room import (
    HINTS_AT_MOST,
    MEMBERS_AT_MOST,
    Member,
    Message,
    Mode,
    Room,
    RoomSettings,
    What,
    hash_token,
    is_token,
    new_code,
    new_token,
)
from schedviz.store import Store
from schedviz.store.keys import PREFIX
from schedviz.store.places import Places, Share
from schedviz.store.scripts import load
from simulator.kernel.prepared_types import prepared

FOLDER: Final = Path(__file__).parent
"""The folder of the Lua scripts."""
KEPT_SECONDS: Final = 7 * 24 * 3600
"""Seconds after the end of a room for which its members and results are kept."""
SHORTEST_SECONDS: Final = 15 * 60
LONGEST_SECONDS: Final = 12 * 3600
"""A room lasts at most a day of a workshop."""
ONLINE_SECONDS: Final = 15.0
"""Seconds for which a member whose page was connected counts as online."""
PLACES: Final = f"{PREFIX}:rooms"
"""The key of a sorted set: code -> when the room is forgotten (µs). See Places."""
OF_MEMBERS: Final = ("hints", "read", "hand", "done", "simulated")
"""The fields of a room, with the number of the member behind them."""
PARTS: Final = ("", "members", "names", "connected", "joins")
"""The keys of a room."""
JOINS_AT_MOST: Final = 2 * MEMBERS_AT_MOST
"""Maximum number of joins from one address: a whole class that joins twice. The teacher may remove members,
and whoever fills the room does not fill it again without end."""


Signal = Literal["hand", "done"]
"""What a learner tells the teacher."""


class NoRoom(Exception):
    """The error that is raised where there is no such room, or no longer."""


class RoomFull(Exception):
    pass


class TooManyJoins(Exception):
    """The address of the visitor has joined the room too often."""


class Seen(msgspec.Struct, frozen=True):
    """A room with its members, as of one moment."""

    room: Room
    members: list[Member]
    """The members in the order of their numbers."""
    connected: dict[int, float]
    """Number of the member -> the last time at which the member's page was connected."""
    hints: dict[int, tuple[Message, ...]]
    """Number of the member -> the last hints to this member alone, the oldest first."""
    read: dict[int, float]
    """Number of the member -> the time of the last hint that the member has closed."""
    now: float
    hands: dict[int, float] = {}
    """Number of the member -> the time at which the member raised a hand; those who did."""
    done: dict[int, float] = {}
    """Number of the member -> the time at which the member said *I am done*, with the present task."""
    simulated: frozenset[int] = frozenset()
    """The numbers of the members whom a rehearsal simulates."""

    def is_online(self, number: int) -> bool:
        return self.now - self.connected.get(number, 0.0) < ONLINE_SECONDS


class Rooms:
    """The rooms of one Redis."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._redis = store.redis

    # Each request about a room has an object of this class, and few of them write.
    @cached_property
    def _places(self) -> Places:
        return Places(self.store, PLACES)

    @cached_property
    def _join(self) -> Script:
        return load(self._redis, "join", FOLDER)

    @cached_property
    def _change(self) -> Script:
        return load(self._redis, "change", FOLDER)

    def create(
        self, title: str, what: What, mode: Mode, seconds: float, shares: Sequence[Share] = ()
    ) -> tuple[Room, str]:
        """Return a new room, and its teacher's token. shares: of the pool of rooms. Where one is full, a room
        that has ended is forgotten earlier. Raises LimitExceeded."""
        seconds = min(max(seconds, SHORTEST_SECONDS), LONGEST_SECONDS)
        now, token = self.store.wall(), new_token()
        while True:
            code = new_code()
            if self._redis.zscore(PLACES, code) is None:
                break
        ended = self._places.take(code, seconds + KEPT_SECONDS, shares, replaceable_seconds=KEPT_SECONDS)
        if ended:
            self._redis.delete(*(room_key(each, part) for each in ended for part in PARTS))
        settings = RoomSettings(
            code=code,
            title=title,
            what=what,
            mode=mode,
            seed=int.from_bytes(hash_token(code)[:6].encode()) % 1_000_000,
            teacher=hash_token(token),
            created=now,
        )
        lesson = what.name if what.kind == "lesson" else ""
        room = Room(settings=settings, ends=now + seconds, lesson=lesson)
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(room_key(code), mapping=_fields(room))
            pipe.expireat(room_key(code), _expiry(room))
            pipe.execute()
        return room, token

    def find(self, code: str) -> Room:
        """Return the room with this code. Raises NoRoom."""
        return _room(cast("dict[bytes, bytes]", self._redis.hgetall(room_key(code))))

    def exists(self, code: str) -> bool:
        """Whether there is a room with this code, open or ended."""
        return bool(self._redis.exists(room_key(code)))

    def member(self, code: str, number: int) -> Member:
        """Return a member of a room. Raises NoRoom if there is no such member."""
        stored = cast("bytes | None", self._redis.hget(room_key(code, "members"), str(number)))
        if stored is None:
            raise NoRoom
        return msgspec.json.decode(stored, type=prepared(Member))

    def read(self, code: str) -> Seen:
        """Return the room with its members, in one round trip. Raises NoRoom."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hgetall(room_key(code))
            pipe.hgetall(room_key(code, "members"))
            pipe.hgetall(room_key(code, "connected"))
            pipe.time()
            state, members, connected, (seconds, micros) = pipe.execute()
        found = sorted(
            (msgspec.json.decode(each, type=prepared(Member)) for each in members.values()), key=_number
        )
        room = _room(state)
        times = {int(number): float(at) for number, at in connected.items()}
        done = {number: at for number, at in _times(state, b"done ").items() if at > room.placed}
        return Seen(
            room=room,
            members=found,
            connected=times,
            hints={number: _messages(each) for number, each in _by_number(state, b"hints ").items()},
            read=_times(state, b"read "),
            now=seconds + micros / 1_000_000,
            hands=_times(state, b"hand "),
            done=done,
            simulated=frozenset(_by_number(state, b"simulated ")),
        )

    def find_by_token(self, code: str, number: int, token: str) -> Member | None:
        """Return the member who had this number when the token was given; after a merge it is another one."""
        stored = cast("bytes | None", self._redis.hget(room_key(code, "members"), str(number)))
        member = msgspec.json.decode(stored, type=prepared(Member)) if stored else None
        if member and is_token(token, member.token):
            return member
        merged = cast("bytes | None", self._redis.hget(room_key(code), f"merged {hash_token(token)}"))
        try:
            return self.member(code, int(merged)) if merged else None
        except NoRoom:
            return None

    def join(self, room: Room, name: str, address: str = "") -> tuple[Member, str]:
        """Return a new member, and its token. A name that another member has gets a number. address: a digest
        of it; "" = it does not count. Raises NoRoom, RoomFull, TooManyJoins."""
        now, token = round(self.store.wall(), 3), new_token()  # Lua's JSON has 14 digits
        hashed = hash_token(token)
        keys = [room_key(room.code, part) for part in ("", "members", "names", "joins")]
        bounds: list[str | int] = [MEMBERS_AT_MOST, _expiry(room), address, JOINS_AT_MOST]
        number, named = self._join(keys, [name, name.casefold(), hashed, repr(now), *bounds])
        if number == 0:
            raise RoomFull
        if number == -1:
            raise NoRoom
        if number == -2:
            raise TooManyJoins
        return Member(number, named.decode(), hashed, now), token

    def rename(self, code: str, member: Member, name: str) -> str:
        """Give a member another name, and return it. A name that another member has gets a number."""
        key, chosen, count = room_key(code, "names"), name, 1
        if name.casefold() != member.name.casefold():
            while not self._redis.hsetnx(key, chosen.casefold(), str(member.number)):
                count += 1
                chosen = f"{name} {count}"
            self._redis.hdel(key, member.name.casefold())
        renamed = msgspec.structs.replace(member, name=chosen)
        self._redis.hset(room_key(code, "members"), str(member.number), msgspec.json.encode(renamed))
        return chosen

    def merge(self, code: str, member: Member, into: Member) -> None:
        """Remove a member whose tokens are those of another one from now on."""
        merged = {field: str(into.number) for field in self._merged_into(code, member.number)}
        self.remove(code, member)
        merged[f"merged {member.token}"] = str(into.number)
        self._set(code, {field: number.encode() for field, number in merged.items()})

    def _merged_into(self, code: str, number: int) -> list[str]:
        """Return the fields of the tokens that a merge has given to a member."""
        state = cast("dict[bytes, bytes]", self._redis.hgetall(room_key(code)))
        return [
            field.decode()
            for field, each in state.items()
            if field.startswith(b"merged ") and int(each) == number
        ]

    def remove(self, code: str, member: Member) -> None:
        """Remove a member. The number is free for another one."""
        number = str(member.number)
        merged = self._merged_into(code, member.number)
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.hdel(room_key(code, "members"), number)
            pipe.hdel(room_key(code, "connected"), number)
            pipe.hdel(room_key(code, "names"), member.name.casefold())
            pipe.hdel(room_key(code), *(f"{field} {number}" for field in OF_MEMBERS), *merged)
            pipe.execute()

    def change(self, code: str, **fields: Any) -> None:
        """Set fields of :class:`Room`. Raises NoRoom."""
        self._set(code, {field: msgspec.json.encode(value) for field, value in fields.items()})

    def send_hint(self, code: str, number: int, text: str) -> None:
        """Send a hint. number: of the member who gets it; 0 = all. Raises NoRoom."""
        field = f"hints {number}" if number else "hints"
        before = _messages(cast("bytes | None", self._redis.hget(room_key(code), field)) or b"[]")
        kept = (*before, Message(text, self.store.wall()))[-HINTS_AT_MOST:]
        self._set(code, {field: msgspec.json.encode(kept)})

    def note_read(self, code: str, number: int, at: float) -> None:
        """Note that a member has closed the hint of the time ``at``. Raises NoRoom."""
        self._set(code, {f"read {number}": repr(at).encode()})

    def signal(self, code: str, number: int, signal: Signal, *, on: bool) -> None:
        """Note that a member raised a hand, or is done; or no longer. Raises NoRoom."""
        self._set(code, {f"{signal} {number}": repr(self.store.wall() if on else 0.0).encode()})

    def mark_simulated(self, code: str, number: int) -> None:
        """Note that a rehearsal simulates a member. Raises NoRoom."""
        self._set(code, {f"simulated {number}": b"1"})

    def extend(self, code: str, ends: float) -> None:
        """Let a room end at another time. Raises NoRoom."""
        self.change(code, ends=ends)
        self._expire(self.find(code))

    def note_connected(self, code: str, number: int) -> None:
        """Note that the page of a member is connected now."""
        key = room_key(code, "connected")
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hset(key, str(number), self.store.wall())
            pipe.expire(key, LONGEST_SECONDS + KEPT_SECONDS)
            pipe.execute()

    def end(self, code: str) -> None:
        """Note that the room has ended. Its members and results are kept for KEPT_SECONDS. Raises NoRoom."""
        room = self.find(code)
        if room.ended:
            return
        room = msgspec.structs.replace(room, ended=min(self.store.wall(), room.ends))
        self.change(code, ended=room.ended)
        self._expire(room)

    def codes(self) -> list[str]:
        """Return the codes of all rooms, with those that have ended."""
        return [code.decode() for code in cast("list[bytes]", self._redis.zrange(PLACES, 0, -1))]

    def is_teacher(self, room: Room, token: str) -> bool:
        return is_token(token, room.settings.teacher)

    def _expire(self, room: Room) -> None:
        for part in PARTS:
            self._redis.expireat(room_key(room.code, part), _expiry(room))
        self._places.take(room.code, _expiry(room) - self.store.wall())

    def _set(self, code: str, fields: dict[str, bytes]) -> None:
        arguments = [each for pair in fields.items() for each in pair]
        if not self._change([room_key(code)], arguments):
            raise NoRoom


def _number(member: Member) -> int:
    return member.number


def _by_number(state: Mapping[bytes, bytes], prefix: bytes) -> dict[int, bytes]:
    """Return the fields of members by number."""
    return {
        int(field.removeprefix(prefix)): each for field, each in state.items() if field.startswith(prefix)
    }


def _times(state: Mapping[bytes, bytes], prefix: bytes) -> dict[int, float]:
    return {number: at for number, each in _by_number(state, prefix).items() if (at := float(each))}


def _messages(stored: bytes) -> tuple[Message, ...]:
    return msgspec.json.decode(stored, type=prepared(tuple[Message, ...]))


def room_key(code: str, part: str = "") -> str:
    return f"{PREFIX}:room:{{{code}}}:{part}" if part else f"{PREFIX}:room:{{{code}}}"


def _expiry(room: Room) -> int:
    return int((room.ended or room.ends) + KEPT_SECONDS)


def _fields(room: Room) -> dict[Any, Any]:
    return {field: msgspec.json.encode(getattr(room, field)) for field in Room.__struct_fields__}


def _room(stored: dict[bytes, bytes]) -> Room:
    if b"settings" not in stored:
        raise NoRoom
    fields = {
        field: msgspec.json.decode(stored[field.encode()])
        for field in Room.__struct_fields__
        if field.encode() in stored
    }
    return msgspec.convert(fields, prepared(Room))
