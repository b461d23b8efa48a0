"""The bar of simulated time: the clock, the next step, what a run is for."""

from heapq import nsmallest
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.store.model import Clock

from . import format as fmt
from .picture import Picture

SPEEDS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)
PODS_AT_MOST: Final = 50
"""Pending pods that the field for one proposes: more than a list is good for."""


class TransportView(msgspec.Struct, frozen=True):
    clock: Clock
    speeds: tuple[float, ...]
    point: str
    """The extension point that a step would run; empty where it would take the next pod."""


def transport(picture: Picture, clock: Clock) -> TransportView:
    return TransportView(clock, speeds(clock), picture.under_way.point if picture.under_way else "")


def speeds(clock: Clock) -> tuple[float, ...]:
    """The speeds on offer, the present one among them however it was set."""
    return tuple(sorted({*SPEEDS, clock.speed}))


def until(clock: Clock) -> str:
    """What the sandbox runs for; empty where it just runs, or stands."""
    match (clock.until or "").split(" "):
        case ["nothing-pending"]:
            return gettext("until nothing is pending")
        case ["preemption"]:
            return gettext("until a preemption")
        case ["bound", pod]:
            return gettext("until %(pod)s is bound") % {"pod": fmt.pod_name(pod)}
        case _:
            return ""


def proposals(picture: Picture) -> list[str]:
    """Pods that may be run for."""
    return nsmallest(PODS_AT_MOST, picture.lanes)
