"""Explain what the scheduler would do with a pod, for every node.

``pod.yaml`` is the manifest of the pod, or of a workload (a Deployment, Job, ...), of which the pod of its
template is taken. The cluster is the output of ``kubectl get
nodes,pods,namespaces,priorityclasses,pdb,pv,pvc,sc -A -o json`` (or -o yaml), or of ``clean``. The more kinds
it contains, the more exact is the answer. ``-`` is standard input.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from simulator import words
from simulator.apiserver import resources
from simulator.apiserver.served_features import serving
from simulator.cluster.cluster import Cluster
from simulator.cluster.node_names import UNSTORED_NAMES
from simulator.command_line.decision_text import table_lines
from simulator.command_line.files import InputError, faults_of, file_name, read_configuration, read_dump
from simulator.command_line.output import print_failure, print_json, print_lines
from simulator.command_line.pod_file import AskedPod, Item, read_pod
from simulator.command_line.tables import align_columns, join_names
from simulator.command_line.version_options import add_version_options, features_of
from simulator.commands.clean import import_now, refusal_lines
from simulator.decision import Decision
from simulator.decision_columns import IntColumn, plain_encoder
from simulator.framework.extender import Transport
from simulator.framework.runtime import Framework
from simulator.framework.status import Status
from simulator.objects.amount_text import written_requests
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.plugins.scheduling_gates import SchedulingGates
from simulator.scheduler import extender_http
from simulator.scheduler.attempt_record import record
from simulator.versions.features import Features
from simulator.what_if.situation import Situation


class ExplainedDecision(Decision, frozen=True, kw_only=True):
    """The answer as JSON: the Decision, and all that is said of it beside the table of the nodes."""

    sentences: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pod", type=Path, help="YAML or JSON with one Pod, or one workload")
    parser.add_argument("--cluster", type=Path, required=True, help="a dump, JSON or YAML, or a folder")
    parser.add_argument("--config", type=Path, help="a KubeSchedulerConfiguration, YAML or JSON")
    add_version_options(parser)
    extender_http.add_argument(parser)
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def run(options: argparse.Namespace) -> int:
    try:
        transport = extender_http.HttpTransport(options.allow_extender_host)
        features = features_of(options.kubernetes, options.feature_gates)
        with serving(features):
            asked, decision = explain(options.pod, options.cluster, options.config, features, transport)
    except InputError as failure:
        print_failure("explain", failure)
        return 1
    requests = written_requests(asked.pod.manifest)
    if options.output == "json":
        sentences = [*asked.sentences, *sentences_after(decision)]
        answer = ExplainedDecision(**msgspec.structs.asdict(decision), sentences=sentences)
        print_json(plain_encoder.encode(answer))
    else:
        print_lines(report_lines(asked, decision, requests))
    return 0


def explain(
    pod_path: Path,
    cluster_path: Path,
    config_path: Path | None,
    features: Features,
    transport: Transport | None = None,
) -> tuple[AskedPod, Decision]:
    """Return the pod, and what the scheduler does with it. Raises InputError."""
    asked, situation = read_situation(pod_path, cluster_path, config_path, features, transport)
    return asked, decide(situation)


def read_situation(
    pod_path: Path,
    cluster_path: Path,
    config_path: Path | None,
    features: Features,
    transport: Transport | None,
) -> tuple[AskedPod, Situation]:
    """Return the pod, and the cluster with it. Raises InputError."""
    frameworks = read_profiles(config_path, features, transport)
    items = list(read_cluster(cluster_path, features))
    asked = read_pod(pod_path, items)
    with faults_of(cluster_path):
        return asked, make_situation(items, asked.pod, frameworks)


def make_situation(items: Iterable[Item], pod: Pod, frameworks: Mapping[str, Framework]) -> Situation:
    """Return the cluster with the pod. Raises ValueError for objects that admission would refuse."""
    try:
        return Situation.read(items, pod.manifest, frameworks)
    except (LookupError, TypeError, AttributeError) as failure:
        raise ValueError(f"{type(failure).__name__}: {failure}") from None


def decide(situation: Situation) -> Decision:
    """Return what the scheduler does with the pod, for every node."""
    pod, framework = situation.pod, situation.framework
    gate = framework.run_pre_enqueue(pod) if framework else None
    if framework is None or gate is not None:
        return unqueued_decision(situation.cluster, pod, gate)
    return record(situation.attempt(exhaustive=True))


def read_profiles(path: Path | None, features: Features, transport: Transport | None) -> dict[str, Framework]:
    """Return the profiles of a file with a configuration; None = the default ones. Raises InputError."""
    configuration = read_configuration(path)
    if path is None:
        return profiles(load(None, features=features), transport=transport)
    with faults_of(path):
        return profiles(load(configuration, features=features), transport=transport)


def read_cluster(path: Path, features: Features) -> Iterator[Item]:
    """Read the objects of a dump, redacted as by ``clean``. Invalid objects are reported on stderr. Raises
    InputError."""
    dump = read_dump(path)
    with faults_of(path):
        taken = import_now(dump, features)
    name = file_name(path)
    print_lines((f"{name}: left out: {refused}" for refused in refusal_lines(taken.report)), sys.stderr)
    for change in taken.changes(keep_owners=True):
        assert change.object is not None, "an import only creates objects"
        plural, _, group = change.resource.partition(".")
        resource = resources.find_built_in(group, plural)
        assert resource is not None, "only built-in kinds are imported"
        yield resource, change.object


def unqueued_decision(cluster: Cluster, pod: Pod, gate: Status | None) -> Decision:
    """Return the answer for a pod of which there is no attempt: a PreEnqueue plugin keeps it out of activeQ,
    or (``gate`` None) no profile has its schedulerName."""
    if gate is None:
        text = f"No profile has the schedulerName {pod.scheduler_name}: this scheduler does not see the pod."
    elif gate.plugin == SchedulingGates.name:
        text = words.POD_REASONS["gated"] % {"names": ", ".join(pod.scheduling_gates)}
    else:
        text = f"{words.POD_REASONS['gated-by-plugin'] % {'what': gate.plugin}} Its message: {gate.message}"
    return Decision(
        cycle=0,
        t=0,
        pod=pod.key,
        uid=pod.uid,
        attempt=0,
        profile="" if gate is None else pod.scheduler_name,
        priority=pod.priority,
        requests=pod.requests,
        nodes=cluster.names(),
        pre_filter=None,
        filter_plugins=[],
        verdicts=IntColumn([-1] * cluster.node_count),
        failures=[],
        feasible=IntColumn(),
        scores=[],
        pre_score_skipped=[],
        totals=IntColumn(),
        tied=UNSTORED_NAMES,
        selected="",
        nominated_shortcut=False,
        preemption=None,
        unschedulable_plugins=[gate.plugin] if gate else [],
        message=text,
        outcome="gated" if gate else "ignored",
    )


# Output as text


def report_lines(asked: AskedPod, decision: Decision, requests: Mapping[str, str]) -> Iterator[str]:
    wanted = ", ".join(f"{name} {amount}" for name, amount in requests.items())
    profile = f"; profile {decision.profile}" if decision.profile else ""
    yield f"Pod {decision.pod}, priority {decision.priority}, requests {wanted or 'nothing'}{profile}"
    yield from asked.sentences
    yield ""
    if has_table(decision):
        yield from table_lines(decision, requests)
        yield ""
    first, *rest = sentences_after(decision)
    yield first
    if decision.preemption is not None and decision.preemption.candidates:
        yield ""
        yield from candidate_lines(decision)
        yield from ("", *rest) if rest else ()


def has_table(decision: Decision) -> bool:
    """Whether the nodes have verdicts of their own."""
    return bool(len(decision.nodes)) and any(verdict >= 0 for verdict in decision.verdicts)


def sentences_after(decision: Decision) -> Iterator[str]:
    """Yield the outcome, and for a preemption the rule that chose the node."""
    match decision.outcome:
        case "scheduled":
            tied = f" (drawn among {join_names(decision.tied)})" if len(decision.tied) > 1 else ""
            yield f"It would be bound to {decision.selected}{tied}."
        case "gated" | "ignored":
            yield decision.message
        case "error":
            yield f"The attempt ends with an error, and is repeated: {decision.message}"
        case _ if words.is_refused_by_pre_filter(decision):
            plugin = decision.pre_filter.plugin if decision.pre_filter else ""
            yield f"{plugin} rejects it for all nodes, before one is looked at: {decision.message}"
        case _:
            yield f"It fits nowhere: {decision.message}"
    found = decision.preemption
    if found is not None and decision.outcome == "preempting":
        rule = words.preemption_rule(found) % words.preemption_values(found)
        yield f"Preemption would free {found.chosen}. {rule}"


def candidate_lines(decision: Decision) -> Iterator[str]:
    assert decision.preemption is not None
    rows = [["CANDIDATE", "VICTIMS", "PDB VIOLATIONS", "HIGHEST PRIORITY"]]
    for candidate in decision.preemption.candidates:
        victims = join_names([victim.pod for victim in candidate.victims])
        rows.append([candidate.node, victims, str(candidate.pdb_violations), str(candidate.highest_priority)])
    yield from align_columns(rows)
