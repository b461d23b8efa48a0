"""Work on all sandboxes of a room, in a thread of the web process, in batches, with its progress.

The progress is a key that expires: when the process dies, the work ends where it was, and the teacher can
begin it again."""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Final, Literal, NamedTuple, cast

import msgspec
from msgspec.structs import replace
from redis.exceptions import RedisError

from schedviz.rooms.notify import notify_learners, notify_teacher
from schedviz.rooms.room import NotDone, Outcome
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store
from schedviz.store.hold import overruling_holds
from schedviz.store.keys import PREFIX
from simulator.apiserver.status import StatusError
from simulator.kernel.prepared_types import prepared

log = logging.getLogger(__name__)

WorkKind = Literal["pause", "resume", "start", "step", "state", "delete"]

CREATING: Final[tuple[WorkKind, ...]] = ("start", "step", "state")
"""Kinds of work that may create sandboxes again, to which learners' pages go then."""
REASON_AT_MOST: Final = 200
"""Maximum number of characters of the reason why an act failed for one learner."""
BATCH_SECONDS: Final = 0.05
"""Seconds of work after which the thread lets others run, and the progress is stored."""
PAUSE_SECONDS: Final = 0.02
SILENT_SECONDS: Final = 20
"""Seconds without progress after which work has died with its process."""
THREADS: Final = 2
"""Number of rooms of which one process changes the sandboxes at the same time; others wait."""


class Work(msgspec.Struct, frozen=True):
    kind: WorkKind
    total: int
    done: int = 0


class Place(NamedTuple):
    """A step of a lesson."""

    lesson: str
    step: int


class RoomBusy(Exception):
    """The error that is raised where other work of the room is not finished."""


def find_work(store: Store, code: str) -> Work | None:
    """Return the present work on the room's sandboxes; None = there is none."""
    stored = cast("bytes | None", store.redis.get(_key(code)))
    return msgspec.json.decode(stored, type=prepared(Work)) if stored else None


def begin_work(
    store: Store,
    code: str,
    kind: WorkKind,
    numbers: Sequence[int],
    act: Callable[[int], object],
    *,
    change: Callable[[], object] = lambda: None,
    together: Callable[[], Collection[int]] = lambda: (),
    place: Place | None = None,
) -> None:
    """Call ``act`` with each number, in a thread. change: changes the room, before; it is not called if there
    is other work. together: does the act for some of the numbers, in a few round trips, and returns them: if
    they are all, the work is finished on return. place: where the act puts learners, whose numbers these are;
    then the room gets its :class:`Outcome`. Raises RoomBusy."""
    work = Work(kind, len(numbers))
    _take(store, code, work)
    try:
        change()
        if kind in CREATING:
            Rooms(store).change(code, placed=store.wall(), outcome=None)
        done = together()
        if done and len(done) == len(numbers):
            if place:
                _note_outcome(store, code, place, numbers, [])
            _give_up(store, code)
            notify_learners(code)
            return
    except BaseException:
        _give_up(store, code)
        raise
    notify_teacher(code)
    _threads().submit(_work, store, code, work, [*numbers], act, done=done, place=place)


@contextmanager
def short_work(store: Store, code: str, kind: WorkKind, total: int) -> Iterator[None]:
    """Keep other work of the room from beginning while the block runs, which must be a matter of some round
    trips. Raises RoomBusy."""
    _take(store, code, Work(kind, total))
    try:
        yield
    finally:
        _give_up(store, code)


def _take(store: Store, code: str, work: Work) -> None:
    if not store.redis.set(_key(code), msgspec.json.encode(work), ex=SILENT_SECONDS, nx=True):
        raise RoomBusy


def _give_up(store: Store, code: str) -> None:
    with suppress(RedisError):  # the key expires
        store.redis.delete(_key(code))


def _work(
    store: Store,
    code: str,
    work: Work,
    numbers: list[int],
    act: Callable[[int], object],
    *,
    done: Collection[int],
    place: Place | None,
) -> None:
    """done: the numbers for which it was done before."""
    failed: list[NotDone] = []
    left = [each for each in numbers if each not in done]
    try:
        began = time.monotonic()
        for count, number in enumerate(left, len(done) + 1):
            if missed := _do(code, act, number):
                failed.append(missed)
            if time.monotonic() - began < BATCH_SECONDS and count < len(numbers):
                continue
            work = replace(work, done=count)
            store.redis.set(_key(code), msgspec.json.encode(work), ex=SILENT_SECONDS)
            notify_teacher(code)
            time.sleep(PAUSE_SECONDS)
            began = time.monotonic()
        if place:
            _note_outcome(store, code, place, numbers, failed)
    finally:
        _give_up(store, code)
        notify_teacher(code)
        notify_learners(code)  # their pages show the new step, or load the new sandbox


def _note_outcome(
    store: Store, code: str, place: Place, numbers: Sequence[int], failed: Sequence[NotDone]
) -> None:
    seen = Rooms(store).read(code)
    moved = [each for each in numbers if all(each != one.number for one in failed)]
    away = tuple(each for each in moved if not seen.is_online(each))
    outcome = Outcome(lesson=place.lesson, step=place.step, moved=len(moved), away=away, failed=tuple(failed))
    Rooms(store).change(code, outcome=outcome)


def _do(code: str, act: Callable[[int], object], number: int) -> NotDone | None:
    try:
        with overruling_holds():
            act(number)
    except Exception as error:
        log.warning("room %s, sandbox %d", code, number, exc_info=True)
        return NotDone(number, error.message[:REASON_AT_MOST] if isinstance(error, StatusError) else "")
    return None


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="room")


def _key(code: str) -> str:
    return f"{PREFIX}:room:{{{code}}}:work"
