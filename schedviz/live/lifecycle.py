"""The states of a hub:

    idle     no viewer is connected; the hub ends when this lasts for LINGER_SECONDS
    watched  at least one viewer is connected
    ended    no viewer can join any more

A hub begins in the state idle. Only this state has a timer; :meth:`Lifecycle._enter` enters every state and
stops the timer of the state before.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Generic, Literal, TypeVar

LINGER_SECONDS: Final = 5.0
"""Seconds for which a hub without viewers stays: a page that is reloaded finds its hub with everything
read."""

Member = TypeVar("Member")
LifecycleState = Literal["idle", "watched", "ended"]


class Ended(Exception):
    """The hub has ended; another one must be created."""


class Lifecycle(Generic[Member]):
    """The state of a hub and its members. Only the thread of one event loop may use it."""

    def __init__(self, expired: Callable[[], object]) -> None:
        """expired: called after LINGER_SECONDS without members, in the state ended."""
        self.members: set[Member] = set()
        self._expired = expired
        self._timer: asyncio.TimerHandle | None = None
        self._enter("idle")

    @property
    def state(self) -> LifecycleState:
        return self._state

    def join(self, member: Member) -> None:
        """Add a member. Raises Ended."""
        if self._state == "ended":
            raise Ended
        self.members.add(member)
        self._enter("watched")

    def leave(self, member: Member) -> None:
        """Remove a member. Nothing changes if it was removed before."""
        self.members.discard(member)
        if self._state == "watched" and not self.members:
            self._enter("idle")

    def end(self) -> None:
        """End the hub. Its members stay as they are."""
        self._enter("ended")

    def _enter(self, state: LifecycleState) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._state: LifecycleState = state
        if state == "idle":
            self._timer = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._expire)

    def _expire(self) -> None:
        self._enter("ended")
        self._expired()
