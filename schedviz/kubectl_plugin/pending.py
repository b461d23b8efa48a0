"""List the pending pods of the cluster, grouped by what keeps them pending, with what would let them run.

It reads the cluster once and writes nothing. It makes one scheduling attempt for each pending pod, in the
order of the queue; a pod that fits takes its room from those behind it. The exit status is 0 if no pod is
pending, 1 if there are such pods, and 2 if there is no answer.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from schedviz.kubectl_plugin.assumptions import Assumptions
from schedviz.kubectl_plugin.options import add_connection, add_scheduler, open_reader
from schedviz.kubectl_plugin.read_once import Scheduler, now, read_objects
from schedviz.web.picture.records import PodRecord, pod_record
from schedviz.web.queue.pending import CauseView, PendingView, present_pending
from simulator.api import Manifest, Micros
from simulator.apiserver.served_features import serving
from simulator.command_line.files import InputError
from simulator.command_line.garbage import without_collections
from simulator.command_line.output import print_json, print_lines
from simulator.command_line.tables import align_columns
from simulator.objects.metadata import is_within
from simulator.trace import QueuePlace
from simulator.what_if.pending_queue import place_as_said, queue_order, try_pending

PODS_NAMED: Final = 2
"""Number of pods that a row of the table names."""


class ClusterPods(msgspec.Struct):
    """A :class:`schedviz.web.queue.pending.PendingPods`."""

    queue_places: Mapping[str, QueuePlace]
    pods: Mapping[str, PodRecord]
    unqueued: Mapping[str, PodRecord] = {}
    past: bool = True


class PendingRow(msgspec.Struct):
    """A cause, with the first of its pods."""

    cause: str
    also: str
    """The other reasons that all of its pods share."""
    message: str
    """The scheduler's message of the first pod; "" = there is none."""
    nodes: int
    """The number of nodes of which ``cause`` and ``also`` say how many; 0 = not the same for all pods."""
    count: int
    pods: list[str]
    more: int
    """The number of pods that are not in ``pods``."""
    oldest: str
    """How long the oldest of the pods is pending."""
    lanes: str
    remedy: str
    """What would let them run."""


class PendingAnswer(msgspec.Struct):
    count: int
    first: str
    """The pod that is tried next of those that fit; "" = none fits."""
    causes: list[PendingRow]
    more_causes: int
    more_pods: int
    untried: int
    """The number of pods without an attempt; their cause is what the cluster's own scheduler said."""
    assumed: Assumptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_connection(parser, all_namespaces=True)
    add_scheduler(parser)


def run(options: argparse.Namespace) -> int:
    """Raises ClusterError, InputError."""
    reader = open_reader(options)
    scheduler = Scheduler(reader, options)
    frameworks = scheduler.frameworks()
    namespace = "" if options.all_namespaces else options.namespace
    with serving(scheduler.features), without_collections():
        found, assumed = read_objects(reader, scheduler, now(), namespace)
        if not found.has_nodes:
            view = present_waiting(
                (pod for key, pod in found.listed.pods.items() if is_within(key, namespace)), now()
            )
            return _print(view, view.count, assumed, options.output)
        items, manifests = [*found.listed.items()], found.listed.pods
        del found  # and what the pods share, by its JSON: some ten megabytes
        try:
            queue = try_pending(items, frameworks)
        except (LookupError, TypeError, AttributeError, ValueError) as failure:
            raise InputError(f"the cluster: {type(failure).__name__}: {failure}") from None
    places = {place.pod: place for place in queue.places if is_within(place.pod, namespace)}
    records = {key: pod_record(manifests[key]) for key in places}
    view = present_pending(ClusterPods(places, records), now())
    return _print(view, queue.untried, assumed, options.output)


def present_waiting(manifests: Iterable[Manifest], now: Micros) -> PendingView:
    """Return the pods that wait, each with what the cluster's scheduler said last of it: without nodes there
    are no attempts."""
    pods = {pod.key: pod for pod in queue_order(manifests)}
    places = {key: place_as_said(pod) for key, pod in pods.items()}
    return present_pending(ClusterPods(places, {key: pod_record(pods[key].manifest) for key in pods}), now)


def _print(view: PendingView, untried: int, assumed: Assumptions, output: str) -> int:
    """Print the answer, and return the exit status."""
    answer = _answer_of(view, untried, assumed)
    if output == "json":
        print_json(msgspec.json.encode(answer))
    else:
        print_lines(_report_lines(answer, view))
    return 1 if view.count else 0


def _answer_of(view: PendingView, untried: int, assumed: Assumptions) -> PendingAnswer:
    rows = [
        PendingRow(
            cause=row.deciding,
            also=row.also,
            message=row.verbatim,
            nodes=row.nodes,
            count=row.count,
            pods=[pod.key for pod in row.listed],
            more=row.more,
            oldest=row.age,
            lanes=row.lanes,
            remedy=row.remedy,
        )
        for row in view.causes
    ]
    first = view.first.key if view.first else ""
    return PendingAnswer(view.count, first, rows, view.more_causes, view.more_pods, untried, assumed)


def _report_lines(answer: PendingAnswer, view: PendingView) -> Iterator[str]:
    if not answer.count:
        yield "No pod is pending."
    else:
        rows = [["PODS", "OLDEST", "CAUSE"]]
        for row in view.causes:
            first, *more = _cause_lines(row)
            rows += [[row.pods, row.age, first], *(["", "", line] for line in more)]
        yield from align_columns(rows)
        if answer.more_causes:
            yield f"and {answer.more_pods} pods for {answer.more_causes} further causes"
        yield ""
        if answer.first:
            yield f"The pod that fits and is tried first: {answer.first}."
        elif answer.untried < answer.count:
            yield "None of them fits."
    if answer.untried:
        yield f"{answer.untried} pods were not tried; their cause is what the cluster's scheduler said last."
    yield ""
    yield from answer.assumed.lines()


def _cause_lines(row: CauseView) -> Iterator[str]:
    """Yield the cause, and below it what belongs to it: one long line would be wider than a terminal."""
    of = f", of {row.nodes} node{'s' if row.nodes > 1 else ''}" if row.nodes else ""
    yield f"{row.deciding}{of}"
    if row.also:
        yield f"  also: {row.also}"
    yield f"  remedy: {row.remedy}"
    more = row.count - PODS_NAMED
    names = ", ".join(pod.key for pod in row.listed[:PODS_NAMED])
    yield f"  pods: {names}" + (f" and {more} more" if more > 0 else "")
