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
from schedviz.kubectl_plugin.read_once import Scheduler, now, read_objects, without_collections
from schedviz.real_cluster.cluster import read_pod
from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.apiserver.served_features import serving
from simulator.command_line.files import InputError
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
from simulator.what_if.situation import Situation

PREFIXES: Final = ("pod/", "pods/", "po/")


class WhyAnswer(msgspec.Struct):
    pod: str
    node: str
    """The node that it is bound to; "" = it is pending."""
    said: str
    """What the cluster's own scheduler said last of it."""
    explain: msgspec.Raw
    """As ``python -m simulator explain -o json`` prints it."""
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
        listed, assumed = read_objects(reader, scheduler, now())
        # It may have ended, or have been deleted, since.
        stored = listed.pods.get(PODS.key(namespace, name), stored)
        items = [*listed.items()]
        del listed, first
        pod = Pod.parse(stored)
        sentences = [*_describe_bound(pod), *_describe_said(stored)]
        if not pod.node_name and not pod.finished:
            sentences = [*describe_state(pod, items), *sentences]
        asked = AskedPod(Pod.parse(_unbound(stored)), sentences)
        try:
            situation = explain.make_situation(items, asked.pod, frameworks)
        except ValueError as failure:
            raise InputError(f"the cluster: {failure}") from None
        del items
        return _answer(asked, pod, situation, assumed, options.output)


def _answer(asked: AskedPod, pod: Pod, situation: Situation, assumed: Assumptions, output: str) -> int:
    decision = explain.decide(situation)
    fits = decision.outcome == "scheduled"
    found = None if fits or pod.node_name else whatif.find_changes(situation)
    if output == "json":
        whole = ExplainedDecision(
            **msgspec.structs.asdict(decision),
            sentences=[*asked.sentences, *explain.sentences_after(decision)],
        )
        said = condition(pod.manifest, "PodScheduled") or {}
        explained = msgspec.Raw(plain_encoder.encode(whole))
        answer = WhyAnswer(pod.key, pod.node_name, said.get("message") or "", explained, found, assumed)
        print_json(msgspec.json.encode(answer))
    else:
        print_lines(explain.report_lines(asked, decision, written_requests(asked.pod.manifest)))
        if found is not None:
            print_lines(["", *whatif.report_lines(AskedPod(asked.pod, []), found)])
        print_lines(["", *assumed.lines()])
    return 0 if fits or pod.node_name else 1


def _unbound(stored: Manifest) -> Manifest:
    """Return the pod as one that waits."""
    if not stored["spec"].get("nodeName"):
        return stored
    spec = {field: value for field, value in stored["spec"].items() if field != "nodeName"}
    return {**stored, "spec": spec, "status": {"phase": "Pending"}}


def _describe_bound(pod: Pod) -> Iterator[str]:
    if pod.finished:
        on = f" on {pod.node_name}" if pod.node_name else ""
        yield f"It has ended{on} (status.phase {pod.phase}). What follows is about a new pod like it."
    elif pod.node_name:
        bound = f"It is bound to {pod.node_name} (status.phase {pod.phase})."
        yield f"{bound} What follows is about a new pod like it."


def _describe_said(stored: Manifest) -> Iterator[str]:
    said = condition(stored, "PodScheduled")
    if said and said.get("message") and not stored["spec"].get("nodeName"):
        since = f", last at {said['lastTransitionTime']}" if said.get("lastTransitionTime") else ""
        yield f"The cluster's scheduler said{since}: {said['message']}"
