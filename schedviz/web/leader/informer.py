"""The informer of the leader: its stages, with the number of objects that passed each."""

from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.client.informer import Pipeline, Stage

KEYS_AT_MOST: Final = 3


class StageView(msgspec.Struct, frozen=True):
    name: str
    count: str
    words: str
    latest: list[str]
    """The newest objects, each with the type of its change and its key."""


def present_stages(pipeline: Pipeline | None) -> list[StageView]:
    """Return the stages from the watch to the event handlers; empty before the first leader."""
    if pipeline is None:
        return []
    lists = gettext("objects received, %(lists)s lists, resourceVersion %(version)s")
    return [
        present_stage(
            "reflector", pipeline.reflector, lists % {"lists": pipeline.lists, "version": pipeline.version}
        ),
        present_stage(
            "delta FIFO",
            pipeline.delta_fifo,
            gettext("deltas processed, %(n)s waiting") % {"n": pipeline.waiting},
        ),
        present_stage("indexer", pipeline.indexer, gettext("objects cached")),
        present_stage("handlers", pipeline.handlers, gettext("handler calls")),
    ]


def present_stage(name: str, stage: Stage, words: str) -> StageView:
    latest = [
        f"{each.what} {node_name(fmt.pod_name(each.key))}" for each in reversed(stage.latest[-KEYS_AT_MOST:])
    ]
    return StageView(name, fmt.number(stage.count), words, latest)
