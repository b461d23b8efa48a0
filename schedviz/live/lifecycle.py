"""The states of a hub, by who is connected to it.

    idle     nobody is connected; the hub ends when that lasts for LINGER_SECONDS
    watched  somebody is connected
    ended    for good: nobody can join any more

A hub begins idle. The timer exists in the idle state only: all states are entered in one place, which stops
the timer of the state before.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Generic, Literal, TypeVar

LINGER_SECONDS: Final = 5.0
"""How long a hub outlives its last viewer: a reload comes back to a hub that has everything loaded."""

Member = TypeVar("Member")
State = Literal["idle", "watched", "ended"]


class Ended(Exception):
    """The hub has ended: take a new one."""


class Lifecycle(Generic[Member]):
    """Used by one event loop's thread."""

    def __init__(self, expired: Callable[[], object]) -> None:
        """expired: called when nobody was connected for LINGER_SECONDS, in the state "ended"."""
        self.members: set[Member] = set()
        self._expired = expired
        self._timer: asyncio.TimerHandle | None = None
        self._enter("idle")

    @property
    def state(self) -> State:
        return self._state

    def join(self, member: Member) -> None:
        """Raises Ended."""
        if self._state == "ended":
            raise Ended
        self.members.add(member)
        self._enter("watched")

    def leave(self, member: Member) -> None:
        """Nothing changes where it has left before."""
        self.members.discard(member)
        if self._state == "watched" and not self.members:
            self._enter("idle")

    def end(self) -> None:
        """Nobody can join from now on; the members are as they were."""
        self._enter("ended")

    def _enter(self, state: State) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._state: State = state
        if state == "idle":
            self._timer = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._expire)

    def _expire(self) -> None:
        self._enter("ended")
        self._expired()
