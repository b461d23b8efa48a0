"""Counts the rooms that have not ended, and their members."""

from typing import NamedTuple

from schedviz.rooms.room_store import ONLINE_SECONDS, Rooms, room_key
from schedviz.store import Store


class RoomCounts(NamedTuple):
    rooms: int
    learners: int
    online: int
    """Number of members whose page was connected within ONLINE_SECONDS."""


def count_rooms(store: Store) -> RoomCounts:
    """Count the rooms, in three round trips."""
    now, codes = store.wall(), Rooms(store).codes()
    with store.redis.pipeline(transaction=False) as pipe:
        for code in codes:
            pipe.hmget(room_key(code), ["ends", "ended"])
            pipe.hlen(room_key(code, "members"))
            pipe.hvals(room_key(code, "connected"))
        replies = iter(pipe.execute())
    rooms = learners = online = 0
    for (ends, ended), members, connected in zip(replies, replies, replies, strict=True):
        if ends is not None and not float(ended or 0) and now < float(ends):
            rooms += 1
            learners += members
            online += sum(now - float(at) < ONLINE_SECONDS for at in connected)
    return RoomCounts(rooms, learners, online)
