"""Explain why a pod is pending, or why it is on its node, and find what would let it run.

It reads the cluster once and writes nothing. The exit status is 0 for a pod that is bound or would be bound
now, 1 for one that fits nowhere, and 2 if there is no answer.
"""

import argparse
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.kubectl_plugin.assumptions import Assumptions
from schedviz.kubectl_plugin.options import add_connection, add_scheduler, open_reader
from schedviz.kubectl_plugin.pending import present_waiting
from schedviz.kubectl_plugin.read_once import Scheduler, now, read_objects
from schedviz.real_cluster.cluster import read_pod
from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.apiserver.served_features import serving
from simulator.command_line.files import InputError
from simulator.command_line.garbage import without_collections
from simulator.command_line.output import print_json, print_lines
from simulator.command_line.pod_file import AskedPod, describe_state
from simulator.commands import explain, whatif
from simulator.commands.explain import ExplainedDecision
from simulator.decision_columns import plain_encoder
from simulator.dumps.listed_objects import ListedObjects
from simulator.objects.amount_text import written_requests
from simulator.objects.conditions import condition
from simulator.objects.pod import Pod
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.gang import find_gang
from simulator.what_if.pending_queue import last_message
from simulator.what_if.situation import Situation

ROOM_UNKNOWN: Final = (
    "The pods of other namespaces may not be listed, so their room on the nodes is unknown: one that seems "
    "to fit may be full."
)
PREFIXES: Final = ("pod/", "pods/", "po/")


class WhyAnswer(msgspec.Struct):
    pod: str
    node: str
    """The node that it is bound to; "" = it is pending."""
    said: str
    """What the cluster's own scheduler said last of it."""
    explain: msgspec.Raw | None
    """None where nodes may not be listed. As ``python -m simulator explain -o json`` prints it."""
    whatif: WhatIfAnswer | None
    """As ``python -m simulator whatif -o json`` prints it; None for a pod that is bound or would be."""
    assumed: Assumptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pod", help="the name of the pod")
    add_connection(parser, all_namespaces=False)
    add_scheduler(parser)


def run(options: argparse.Namespace) -> int:
    """Raises ClusterError, InputError."""
    reader = open_reader(options)
    scheduler = Scheduler(reader, options)
    frameworks = scheduler.frameworks()
    name = options.pod
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    namespace = options.namespace or reader.namespace
    with serving(scheduler.features), without_collections():
        first = ListedObjects(now(), b"", scheduler.features)
        stored = read_pod(reader, first, namespace, name)
        found, assumed = read_objects(reader, scheduler, now(), namespace)
        # It may have ended, or have been deleted, since.
        stored = found.listed.pods.get(PODS.key(namespace, name), stored)
        pod = Pod.parse(stored)
        if not found.has_nodes:
            return _answer_without_nodes(pod, assumed, options.output)
        has_all_pods, items = found.has_all_pods, [*found.listed.items()]
        del found, first
        bound = _describe_bound(pod)
        told = [f"{bound} What follows is about a new pod like it."] if bound else describe_state(pod, items)
        sentences = [*told, *_describe_said(stored)]
        if not has_all_pods:
            sentences = [*sentences, ROOM_UNKNOWN]
        waiting = Pod.parse(_unbound(stored))
        try:
            situation = explain.make_situation(items, waiting, frameworks)
        except ValueError as failure:
            raise InputError(f"the cluster: {failure}") from None
        asked = AskedPod(waiting, [*sentences, *_describe_gang(situation)])
        del items
        status = _answer(asked, pod, situation, assumed, options.output)
        return status if has_all_pods or pod.node_name else 1


def _answer_without_nodes(pod: Pod, assumed: Assumptions, output: str) -> int:
    """Print what is known where nodes may not be listed: what the cluster's scheduler said, in words."""
    status = 0 if pod.node_name else 1
    if output == "json":
        answer = WhyAnswer(pod.key, pod.node_name, last_message(pod.manifest), None, None, assumed)
        print_json(msgspec.json.encode(answer))
        return status
    wanted = ", ".join(f"{name} {amount}" for name, amount in written_requests(pod.manifest).items())
    lines = [f"Pod {pod.key}, priority {pod.priority}, requests {wanted or 'nothing'}"]
    if bound := _describe_bound(pod):
        lines.append(bound)
    else:
        lines += _describe_said(pod.manifest)
        causes = present_waiting([pod.manifest], now()).causes
        lines += [line for row in causes for line in (row.deciding, f"Remedy: {row.remedy}")]
    print_lines([*lines, "", *assumed.lines()])
    return status


def _answer(asked: AskedPod, pod: Pod, situation: Situation, assumed: Assumptions, output: str) -> int:
    decision = explain.decide(situation)
    fits = decision.outcome == "scheduled"
    found = None
    if not pod.node_name and (not fits or find_gang(situation)):
        found = whatif.find_changes(situation)
        fits = found.now.kind == "bound"
    if output == "json":
        whole = ExplainedDecision(
            **msgspec.structs.asdict(decision),
            sentences=[*asked.sentences, *explain.sentences_after(decision)],
        )
        explained = msgspec.Raw(plain_encoder.encode(whole))
        said = last_message(pod.manifest)
        answer = WhyAnswer(pod.key, pod.node_name, said, explained, found, assumed)
        print_json(msgspec.json.encode(answer))
    else:
        print_lines(explain.report_lines(asked, decision, written_requests(asked.pod.manifest)))
        if found is not None:
            print_lines(["", *whatif.report_lines(AskedPod(asked.pod, []), found)])
        print_lines(["", *assumed.lines()])
    return 0 if fits or pod.node_name else 1


def _describe_gang(situation: Situation) -> Iterator[str]:
    gang = find_gang(situation)
    if gang is not None:
        yield (
            f"It is a pod of PodGroup {gang.key}, whose pods are scheduled together. The table is about this "
            "pod by itself."
        )


def _unbound(stored: Manifest) -> Manifest:
    """Return the pod as one that waits."""
    if not stored["spec"].get("nodeName"):
        return stored
    spec = {field: value for field, value in stored["spec"].items() if field != "nodeName"}
    return {**stored, "spec": spec, "status": {"phase": "Pending"}}


def _describe_bound(pod: Pod) -> str:
    """Return that the pod has ended, or is bound; "" = it waits."""
    if pod.finished:
        on = f" on {pod.node_name}" if pod.node_name else ""
        return f"It has ended{on} (status.phase {pod.phase})."
    return f"It is bound to {pod.node_name} (status.phase {pod.phase})." if pod.node_name else ""


def _describe_said(stored: Manifest) -> Iterator[str]:
    said = condition(stored, "PodScheduled")
    if said and said.get("message") and not stored["spec"].get("nodeName"):
        since = f", last at {said['lastTransitionTime']}" if said.get("lastTransitionTime") else ""
        yield f"The cluster's scheduler said{since}: {said['message']}"
