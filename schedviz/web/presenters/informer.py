"""The informer of the sandbox's leader as a strip: what came in, and how far."""

from typing import Final

import msgspec
from django.utils.translation import gettext

from simulator.client.informer import Pipeline, Stage

from . import format as fmt

KEYS_AT_MOST: Final = 3


class Station(msgspec.Struct, frozen=True):
    name: str
    count: str
    words: str
    latest: list[str]
    """The last that passed, newest first: what was done, and the key."""


def strip(pipeline: Pipeline | None) -> list[Station]:
    """From the watch to the handlers; empty before there is a leader."""
    if pipeline is None:
        return []
    lists = gettext("objects in, %(lists)s lists, up to version %(version)s")
    return [
        station(
            "reflector", pipeline.reflector, lists % {"lists": pipeline.lists, "version": pipeline.version}
        ),
        station(
            "delta FIFO", pipeline.delta_fifo, gettext("deltas out, %(n)s wait") % {"n": pipeline.waiting}
        ),
        station("indexer", pipeline.indexer, gettext("objects held")),
        station("handlers", pipeline.handlers, gettext("calls")),
    ]


def station(name: str, stage: Stage, words: str) -> Station:
    latest = [f"{each.what} {fmt.pod_name(each.key)}" for each in reversed(stage.latest[-KEYS_AT_MOST:])]
    return Station(name, fmt.number(stage.count), words, latest)
