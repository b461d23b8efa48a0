"""The controls of the clock: speed, next step, and the condition at which a run ends."""

from heapq import nsmallest
from typing import Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.store.model import Clock
from schedviz.web.picture.picture import Picture
from schedviz.web.text import format as fmt

SPEEDS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)
PODS_AT_MOST: Final = 50
"""Maximum number of pending pods that the field for a pod proposes."""


class TransportView(msgspec.Struct, frozen=True):
    clock: Clock
    speeds: tuple[float, ...]
    point: str
    """The next extension point of an unfinished cycle; empty if the next step starts a cycle."""
    stands_down: bool
    """Whether the sandbox's scheduler stands down, so that there are no cycles to step through and to
    predict."""
    mirrors: bool
    """Whether the sandbox mirrors a real cluster, whose time nothing here changes."""


def transport(picture: Picture, clock: Clock) -> TransportView:
    point = picture.under_way.point if picture.under_way else ""
    return TransportView(clock, speeds(clock), point, picture.stands_down, picture.mirrors)


def idle(picture: Picture, clock: Clock) -> str:
    """Return a sentence that says why the last step changed nothing; "" if it did change something."""
    outside = sum(entry.lane == "outside" for entry in picture.queue_places.values())
    pending = len(picture.queue_places) - outside
    match clock.idle:
        case "nothing-due" if outside and not pending:
            return ngettext(
                "Nothing to do: the pod waits for an outside scheduler, which steps do not run.",
                "Nothing to do: %(n)s pods wait for outside schedulers, which steps do not run.",
                outside,
            ) % {"n": outside}
        case "nothing-due" if pending:
            return ngettext(
                "Nothing to do: no timer is set. The waiting pod is tried again after a change.",
                "Nothing to do: no timer is set. The %(n)s waiting pods are tried again after a change.",
                pending,
            ) % {"n": pending}
        case "nothing-due":
            return gettext("Nothing to do: no pod waits and no timer is set.")
        case "no-pod":
            return gettext("No scheduling cycle begins within the next hour of simulated time.")
        case _:
            return ""


def speeds(clock: Clock) -> tuple[float, ...]:
    """Return the speeds to choose from, with the current one."""
    return tuple(sorted({*SPEEDS, clock.speed}))


def until(clock: Clock) -> str:
    """Return the condition at which the clock is paused, in words; empty if there is none."""
    match (clock.until or "").split(" "):
        case ["time", time]:
            return gettext("until %(time)s") % {"time": fmt.clock(int(time))}
        case ["before", _]:
            return gettext("until nothing is due")
        case ["nothing-pending", *_]:
            return gettext("until nothing is pending")
        case ["tried", *_]:
            return gettext("until each pod was tried once")
        case ["preemption", *_]:
            return gettext("until a preemption")
        case ["bound", pod, *_]:
            return gettext("until %(pod)s is bound") % {"pod": fmt.pod_name(pod)}
        case _:
            return ""


def proposals(picture: Picture) -> list[str]:
    """Return the pods to choose from for "until bound"."""
    return nsmallest(PODS_AT_MOST, picture.queue_places)
