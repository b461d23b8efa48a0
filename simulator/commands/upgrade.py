"""Show what an upgrade of Kubernetes, or another configuration, changes for the pods of a cluster.

The cluster is the output of ``kubectl get nodes,pods,namespaces,priorityclasses,pdb,pv,pvc,sc -A -o json``
(or -o yaml), or of ``clean``. Each pod is decided by both schedulers, in the cluster as it is: a pending pod
as the scheduler would decide it next, a bound pod as if it alone were not bound yet. ``-`` is standard input.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from simulator.command_line.files import InputError, faults_of, read_configuration
from simulator.command_line.output import print_failure, print_json, print_lines
from simulator.command_line.tables import align_columns, join_names
from simulator.command_line.version_options import add_gates_option, features_of
from simulator.commands.explain import read_cluster
from simulator.compare.changed_decisions import CausedDecisions, SchedulerAnswer, SchedulerSettings
from simulator.compare.upgrade import Upgrade, UpgradeComparison
from simulator.versions.changes import SchedulerChange
from simulator.versions.kubernetes_version import V1_34, V1_36
from simulator.words import CHANGED, SEVERAL_CHANGES

LISTED: Final = 20
"""Maximum number of pods of one effect that are listed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", type=Path, help="a dump, JSON or YAML, or a folder")
    parser.add_argument("--from", dest="before", default=V1_34.name, help="the version that the cluster runs")
    parser.add_argument("--to", dest="after", default=V1_36.name, help="the version that it is to run")
    add_gates_option(parser, "-from")
    add_gates_option(parser, "-to")
    parser.add_argument("--config", type=Path, help="a KubeSchedulerConfiguration, YAML or JSON")
    parser.add_argument("--config-to", type=Path, help="the one to change to; by default that of --config")
    parser.add_argument("--pending", action="store_true", help="decide pending pods only")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def run(options: argparse.Namespace) -> int:
    try:
        before = features_of(options.before, options.feature_gates_from, "--feature-gates-from")
        after = features_of(options.after, options.feature_gates_to, "--feature-gates-to")
        configurations = [read_configuration(each) for each in (options.config, options.config_to)]
        one = SchedulerSettings(configurations[0], before)
        other = SchedulerSettings(configurations[1] or configurations[0], after)
        items = [*read_cluster(options.cluster, after)]
        with faults_of(options.config_to or options.config or options.cluster):
            comparison = UpgradeComparison(items, one, other)
        pods = [pod for pod in comparison.pods() if not (options.pending and pod.node_name)]
        found = comparison.compare(pods)
    except InputError as failure:
        print_failure("upgrade", failure)
        return 1
    if options.output == "json":
        print_json(msgspec.json.encode(found))
    else:
        names = (
            (before.version.name, after.version.name) if before.version != after.version else ("from", "to")
        )
        print_lines([f"Kubernetes {before} -> {after}", *report_lines(found, *names)])
    return 0


def report_lines(found: Upgrade, before: str, after: str) -> Iterator[str]:
    """before, after: the words for the two schedulers."""
    yield f"{found.pending} pending and {found.bound} bound pods were decided by both."
    yield ""
    if not found.pods:
        yield "No decision differs."
        return
    yield from cause_lines("PODS", found.causes, found.changes)
    for effect, text in CHANGED.items():
        for kind, pods in (("pending", False), ("bound", True)):
            differing = [pod for pod in found.pods if pod.effect == effect and bool(pod.node) == pods]
            if differing:
                yield ""
                noun = "pod" if len(differing) == 1 else "pods"
                yield f"{len(differing)} {kind} {noun} {text}:"
                for pod in differing[:LISTED]:
                    yield f"  {pod.pod}"
                    yield f"    {before}: {decision_text(pod.before)}"
                    yield f"    {after}: {decision_text(pod.after)}"
                if len(differing) > LISTED:
                    yield f"  and {len(differing) - LISTED} more"


def cause_lines(
    counted: str, causes: Sequence[CausedDecisions], changes: Sequence[SchedulerChange]
) -> Iterator[str]:
    """Yield each cause with the number of what is counted."""
    texts = {change.name: change.sentence for change in changes} | {"": SEVERAL_CHANGES}
    yield from align_columns([[counted, "CAUSE"], *([str(each.count), texts[each.cause]] for each in causes)])


def decision_text(decision: SchedulerAnswer) -> str:
    match decision.outcome:
        case "fits":
            return join_names(decision.nodes, decision.more)
        case "preempts":
            return f"nominated to {join_names(decision.nodes)}: {decision.message}"
        case "ignored":
            return "no profile has its schedulerName"
        case _:
            return decision.message
