"""Attempts that only an Event shows: the message is that of the attempt before, so the condition of the pod
stays as it is (podutil.UpdatePodCondition in updatePod of pkg/scheduler/schedule_one.go)."""

from collections import deque
from typing import Final, NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.objects.conditions import condition
from simulator.objects.events import event_count, event_last_seen
from simulator.objects.pod import Pod

EVENT_LATE: Final[Micros] = 2 * SECOND
"""How much later than the condition of a pod the Event of the same attempt may come."""
COUNT_LATE: Final[Micros] = 60 * SECOND
"""An Event that occurred longer ago is written only for its count: client-go does so after six minutes
without another one, and each half an hour (finishTime and refreshTime in event_broadcaster.go)."""
KNOWN_AT_MOST: Final = 20_000
"""Maximum number of Events whose counts are known, and of pods whose messages are."""
MESSAGES_AT_MOST: Final = 4
"""Maximum number of the last messages of a pod that are known: between two attempts is a second or more."""


class _Message(NamedTuple):
    """A message of a pod's condition, and the version in which another one took its place."""

    text: str
    until: int


class Unshown:
    """An attempt whose Event came, of which the condition of its pod has shown nothing yet."""

    def __init__(self) -> None:
        self.is_shown = False


class RepeatedFailures:
    """Counts the Events FailedScheduling. One that is repeated has a series, or is another object where the
    pod has changed meanwhile (getKey in client-go/tools/events/event_broadcaster.go)."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        """How often each Event has occurred, by key."""
        self._shown: dict[str, list[Micros]] = {}
        """When the condition showed the attempts whose Events have not come yet, by the pod's uid."""
        self._messages: dict[str, deque[_Message]] = {}
        """By the uids of the pods, oldest first."""
        self._unshown: dict[str, list[Unshown]] = {}
        """By the uids of the pods, oldest first."""

    def shown(self, uid: str, now: Micros) -> None:
        """Note that the condition of a pod shows an attempt: the first one whose Event came before it."""
        for each in self._unshown.get(uid, ()):
            if not each.is_shown:
                each.is_shown = True
                return
        self._shown[uid] = [*self._shown.pop(uid, ()), now]
        while self._shown[first := next(iter(self._shown))][-1] < now - EVENT_LATE:
            del self._shown[first]

    def is_shown(self, uid: str, since: Micros) -> bool:
        """Whether the condition has shown an attempt since then. It is asked once for each."""
        shown = [each for each in self._shown.pop(uid, ()) if each >= since]
        if shown[1:]:
            self._shown[uid] = shown[1:]
        return bool(shown)

    def changed(self, uid: str, before: str, version: int) -> None:
        """Note that the condition of a pod has another message from a version on."""
        self._messages[uid] = messages = self._messages.pop(uid, deque(maxlen=MESSAGES_AT_MOST))
        messages.append(_Message(before, version))
        if len(self._messages) > KNOWN_AT_MOST:
            del self._messages[next(iter(self._messages))]

    def message_before(self, uid: str, version: int) -> str:
        """Return the message that the condition had before a version; "" = that which it has now."""
        messages = self._messages.get(uid, ())
        return next((each.text for each in messages if each.until > version), "")

    def expect(self, uid: str) -> Unshown:
        """Return the attempt of an Event that came before what the condition shows of it. It is asked until
        :meth:`give_up`."""
        attempt = Unshown()
        self._unshown.setdefault(uid, []).append(attempt)
        return attempt

    def give_up(self, uid: str, attempt: Unshown) -> bool:
        """Return whether the condition has shown the attempt."""
        self._unshown[uid].remove(attempt)
        if not self._unshown[uid]:
            del self._unshown[uid]
        return attempt.is_shown

    def occurs(self, key: str, event: Manifest, now: Micros) -> bool:
        """Note a version of an Event. Whether it says that the Event has occurred once more, and not only how
        often it had occurred some minutes ago."""
        before, count = self._counts.pop(key, 0), event_count(event)
        self._counts[key] = max(before, count)
        if len(self._counts) > KNOWN_AT_MOST:
            del self._counts[next(iter(self._counts))]
        seen = event_last_seen(event)
        return count > before and (not seen or seen >= now - COUNT_LATE)

    def forget(self, key: str) -> None:
        self._counts.pop(key, None)


def message_of(pod: Pod) -> str:
    """Return the message of the scheduler that the condition of a pod shows."""
    return str((condition(pod.manifest, "PodScheduled") or {}).get("message", ""))
