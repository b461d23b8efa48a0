"""The end of a bundled scenario: whether nothing more happens by itself, and what comes after it."""

from collections.abc import Mapping
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.bundled_scenarios import scenarios
from schedviz.store import Meta
from schedviz.store.past import Readable
from schedviz.web.examples import example_in
from schedviz.web.ideas.texts import Idea, ideas
from schedviz.web.picture.picture import NODES, PODS
from simulator.api import Manifest
from simulator.controllers.kubelet.pod_status import TTL_SECONDS, run_seconds
from simulator.controllers.timetable import TIMETABLES, next_creation
from simulator.objects.metadata import key_of
from simulator.objects.status import FINISHED_PHASES
from simulator.scenario import Scenario
from simulator.trace import QueuePlace

LANES_THAT_WAIT: Final = ("unschedulable", "gated", "outside")
"""Pods in these lanes wait for a change of the cluster."""


class EndingView(msgspec.Struct, frozen=True):
    idea: str
    """The name of the idea whose example has ended; "" for another scenario."""
    following: str
    """The name of the next idea or scenario; "" after the last one."""
    title: str
    """The title of the next one."""
    shown: str = "ended"
    """The value of :attr:`GuideBox.shown`."""


def can_end(meta: Meta) -> bool:
    """Whether the sandbox is the example of an idea, or was made from a scenario, whose timetable comes to an
    end. Those of guides have an end of their own (:mod:`guide_box`), and a branch has none."""
    example = example_in(meta)
    if meta.origin is not None or (example is not None and example.kind == "guide"):
        return False
    made = example.scenario if example else scenarios().get(meta.scenario)
    return made is not None and not any(endless(each) for each in made.manifests)


def endless(manifest: Manifest) -> bool:
    """Whether it is a timetable that creates objects again and again."""
    entries = manifest["spec"]["entries"] if manifest["kind"] == "Timetable" else []
    return any(entry.get("every") and not entry.get("until") for entry in entries)


def present_ending(source: Readable, meta: Meta) -> EndingView | None:
    """Return the text of the page at the end of the scenario; None before it, and for other sandboxes."""
    if not can_end(meta) or not has_ended(source):
        return None
    example = example_in(meta)
    known: Mapping[str, Idea] | Mapping[str, Scenario] = ideas() if example else scenarios()
    name = example.name if example else meta.scenario
    names = [*known]
    following = next(iter(names[names.index(name) + 1 :]), "")
    title = gettext(known[following].title) if following else ""
    return EndingView(name if example else "", following, title)


def has_ended(source: Readable) -> bool:
    """Whether a sandbox has ended, so that nothing happens without a visitor's act: no object is still to be
    created, the informer has passed on all changes of nodes, and each pod either runs for good, has finished,
    or waits for a change. While the scheduler stands down, an outside one may act at any time."""
    if source.stands_down() or any(next_creation(each) for each in source.list(TIMETABLES).items):
        return False
    pipeline = source.pipeline()
    if source.under_way() is not None or pipeline is None or pipeline.waiting:
        return False
    nodes = source.list(NODES).items
    if any(int(each["metadata"]["resourceVersion"]) > pipeline.version for each in nodes):
        return False
    queue_places, _ = source.queue()
    return all(is_settled(each, queue_places.get(key_of(each))) for each in source.list(PODS).items)


def is_settled(pod: Manifest, entry: QueuePlace | None) -> bool:
    metadata, status = pod["metadata"], pod.get("status") or {}
    phase = status.get("phase")
    annotations = metadata.get("annotations") or {}
    if metadata.get("deletionTimestamp"):
        return False
    if phase in FINISHED_PHASES:
        return TTL_SECONDS not in annotations
    if pod["spec"].get("nodeName"):
        return phase == "Running" and run_seconds(pod) is None
    if status.get("nominatedNodeName"):
        return False
    return entry is not None and entry.lane in LANES_THAT_WAIT
