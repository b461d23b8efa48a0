"""The pods of preemptions: for which pod each victim was evicted, and which pod replaces it."""

from collections import deque
from typing import Final, NamedTuple

from simulator.api import Manifest, Micros
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.trace import VictimReplaced
from simulator.verdicts.preemptions import preemptor_named

PODS_AT_MOST: Final = 20_000
"""Maximum number of pods that are known by their uid, with those that are gone."""
VICTIMS_AT_MOST: Final = 1_000
"""Maximum number of victims whose replacement is looked for."""


class NamedPod(NamedTuple):
    key: str
    owner: str
    """The kind and name of its controller; "" = it has none."""


class _Victim(NamedTuple):
    pod: str
    node: str
    owner: str
    """The uid of its controller."""
    time: Micros


class Victims:
    """Takes in pods, evictions and the Events that name preemptors."""

    def __init__(self) -> None:
        self._names: dict[str, NamedPod] = {}
        """By the uids of pods."""
        self._preemptors: dict[str, tuple[str, str]] = {}
        """The key and the uid of the preemptor of each victim, by the victim's uid."""
        self._victims: deque[_Victim] = deque(maxlen=VICTIMS_AT_MOST)
        self._replacing: dict[str, _Victim] = {}
        """By the uids of pods that were created in their place and have no node yet."""

    def created(self, pod: Pod) -> None:
        """Note a new pod: it replaces the first victim of the same controller."""
        owner = controller_of(pod.manifest)
        self._names[pod.uid] = NamedPod(pod.key, f"{owner['kind']} {owner['name']}" if owner else "")
        if len(self._names) > PODS_AT_MOST:
            del self._names[next(iter(self._names))]
        victim = next((each for each in self._victims if owner and each.owner == owner.get("uid")), None)
        if victim is not None:
            self._victims.remove(victim)
            self._replacing[pod.uid] = victim
            if len(self._replacing) > VICTIMS_AT_MOST:
                del self._replacing[next(iter(self._replacing))]

    def evicted(self, victim: Pod, now: Micros) -> None:
        """Note an eviction. A pod without a controller is not replaced."""
        owner = controller_of(victim.manifest)
        if owner is not None:
            self._victims.append(_Victim(victim.key, victim.node_name, owner.get("uid", ""), now))

    def preempted(self, uid: str, event: Manifest) -> None:
        """Note the Event Preempted of the victim with a uid."""
        self._preemptors[uid] = preemptor_named(event)
        if len(self._preemptors) > VICTIMS_AT_MOST:
            del self._preemptors[next(iter(self._preemptors))]

    def bound(self, pod: Pod, now: Micros) -> VictimReplaced | None:
        """Return which victim a pod replaces that has got its node; None = it replaces none."""
        victim = self._replacing.pop(pod.uid, None)
        if victim is None:
            return None
        waited = now - victim.time
        return VictimReplaced(
            t=now, pod=victim.pod, node=victim.node, by=pod.key, to=pod.node_name, waited=waited
        )

    def preemptor(self, uid: str) -> tuple[str, str] | None:
        """Return the key and the uid of the preemptor of a victim; None = no Event has named it yet."""
        return self._preemptors.get(uid)

    def name(self, uid: str) -> NamedPod | None:
        """Return the pod with a uid, with those that are gone; None = it is not known."""
        return self._names.get(uid)
