"""Explain what the scheduler would do with a pod, for every node.

``pod.yaml`` is the manifest of the pod. The cluster is the output of ``kubectl get
nodes,pods,namespaces,priorityclasses,pdb,pv,pvc,sc -A -o json`` (or -o yaml), or of ``clean``. The more kinds
it contains, the more exact is the answer.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from simulator.api import Change, Manifest
from simulator.apiserver import decoding, resources
from simulator.apiserver.defaults import prepare_for_create, set_defaults
from simulator.apiserver.manifest import ManifestError, parse_manifests
from simulator.apiserver.overlay import CreatedObjects, Overlay
from simulator.apiserver.pod_admission import READ_OF_PODS, complete_pod
from simulator.apiserver.resources import PODS, Resource
from simulator.apiserver.status import StatusError
from simulator.apiserver.validation import validate
from simulator.commands.clean import import_now, refusal_lines
from simulator.config import ConfigError
from simulator.decision import Decision
from simulator.decision_columns import plain_encoder
from simulator.dumps.dump import Dump
from simulator.framework import snapshot
from simulator.framework.extender import Transport
from simulator.objects.metadata import key_of
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.scheduler import extender_http
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import record
from simulator.what_if.situation import is_same_pod

MAX_LISTED = 10
"""Maximum number of names in a sentence; further names are only counted."""

Item = tuple[Resource, Manifest]


class ExplainError(Exception):
    """The error of an invalid input. The message is the reason."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pod", type=Path, help="YAML or JSON with one Pod")
    parser.add_argument("--cluster", type=Path, required=True, help="a dump, JSON or YAML, or a folder")
    parser.add_argument("--config", type=Path, help="a KubeSchedulerConfiguration, YAML or JSON")
    extender_http.add_argument(parser)
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def run(options: argparse.Namespace) -> int:
    try:
        transport = extender_http.HttpTransport(options.allow_extender_host)
        decision = explain(options.pod, options.cluster, options.config, transport)
    except (ExplainError, ManifestError, StatusError, ConfigError, OSError) as failure:
        print(f"explain: {failure}", file=sys.stderr)
        return 1
    if options.output == "json":
        print(msgspec.json.format(plain_encoder.encode(decision), indent=2).decode())
    else:
        print("\n".join(report_lines(decision)))
    return 0


def explain(
    pod_path: Path, cluster_path: Path, config_path: Path | None, transport: Transport | None = None
) -> Decision:
    configuration = None
    if config_path is not None:
        configuration = single_document(
            parse_manifests(config_path.read_bytes()), "KubeSchedulerConfiguration", config_path
        )
    frameworks = profiles(load(configuration), transport=transport)
    items = list(read_cluster(cluster_path))
    pod = admit_pod(single_document(parse_manifests(pod_path.read_bytes()), "Pod", pod_path), items)
    framework = frameworks.get(pod.scheduler_name)
    if framework is None:
        raise ExplainError(f"no profile has the schedulerName {pod.scheduler_name!r}")
    try:
        others = [item for item in items if not is_same_pod(item, pod)]
        cluster, nominated = snapshot.read(others, frameworks)
    except (ValueError, LookupError, TypeError, AttributeError) as failure:
        raise ExplainError(f"{cluster_path}: {type(failure).__name__}: {failure}") from None
    gate = framework.run_pre_enqueue(pod)
    if gate is not None:
        raise ExplainError(f"{pod.key} is not even queued: {gate.message}")
    search = Attempt(framework, cluster, pod, nominated, exhaustive=True)
    for _ in search.run():
        pass
    return record(search)


def single_document(documents: Sequence[Manifest], kind: str, path: Path) -> Manifest:
    found = [document for document in documents if document["kind"] == kind]
    if len(found) != 1 or len(documents) != 1:
        raise ExplainError(f"{path}: expected one {kind}, found {len(found)} in {len(documents)} documents")
    return found[0]


def read_cluster(path: Path) -> Iterator[Item]:
    """Read the objects of a dump, redacted as by ``clean``. Invalid objects are reported on stderr. Raises
    ManifestError."""
    taken = import_now(Dump.read(path))
    for refused in refusal_lines(taken.report):
        print(f"{path}: left out: {refused}", file=sys.stderr)
    for change in taken.changes():
        assert change.object is not None, "an import only creates objects"
        plural, _, group = change.resource.partition(".")
        resource = resources.find_built_in(group, plural)
        assert resource is not None, "only built-in kinds are imported"
        yield resource, change.object


def admit_pod(manifest: Manifest, items: Iterable[Item]) -> Pod:
    """Return the pod as the API server of this cluster would store it. Raises StatusError or ExplainError."""
    decoded, causes = decoding.decode(PODS, manifest)
    if not causes:
        _set_name(decoded.setdefault("metadata", {}))
        set_defaults(PODS, decoded)
        prepare_for_create(PODS, decoded, "")
        complete_pod(decoded, Overlay(CreatedObjects(_read_of_pods(items))), strict=False)
        causes = validate(PODS, decoded)
    if causes:
        raise ExplainError("; ".join(f"{cause.field}: {cause.message}" for cause in causes))
    return Pod.parse(decoded)


def _set_name(metadata: dict[str, Any]) -> None:
    metadata.setdefault("namespace", "default")
    if "name" not in metadata:
        if not metadata.get("generateName"):
            raise ExplainError("metadata.name: name or generateName is required")
        metadata["name"] = metadata["generateName"] + "xxxxx"


def _read_of_pods(items: Iterable[Item]) -> Iterator[Change]:
    """Yield the objects that admission reads for a new pod."""
    for resource, item in items:
        if resource.id in READ_OF_PODS:
            yield Change(resource.id, key_of(item), item, 0)


# Output as text


def report_lines(decision: Decision) -> Iterator[str]:
    requests = ", ".join(f"{name} {n}{'m' if name == 'cpu' else ''}" for name, n in decision.requests.items())
    pod = f"Pod {decision.pod}, priority {decision.priority}"
    yield f"{pod}, requests {requests or 'nothing'}; profile {decision.profile}"
    yield ""
    yield from align_columns(table_rows(decision))
    yield ""
    if decision.selected:
        tied = f" (drawn among {join_names(decision.tied)})" if len(decision.tied) > 1 else ""
        yield f"It would be bound to {decision.selected}{tied}."
        return
    yield f"It fits nowhere: {decision.message}"
    if decision.preemption is not None:
        yield from preemption_lines(decision)


def table_rows(decision: Decision) -> Iterator[list[str]]:
    """Yield a row for each node: the weighted scores of the plugins for a feasible node, otherwise the first
    plugin that rejected it, with the reasons."""
    plugins = [scores.plugin for scores in decision.scores]
    yield ["NODE", *plugins, *(["TOTAL"] if plugins else []), "VERDICT"]
    places = {node: i for i, node in enumerate(decision.feasible)}
    for i, (name, verdict) in enumerate(zip(decision.nodes, decision.verdicts, strict=True)):
        columns = [""] * (len(plugins) + bool(plugins))
        if i in places and decision.scores:
            place = places[i]
            columns = [str(scores.weighted[place]) for scores in decision.scores]
            columns.append(str(decision.totals[place]))
        yield [name, *columns, verdict_text(decision, name, verdict)]


def verdict_text(decision: Decision, name: str, verdict: int) -> str:
    if verdict < 0:
        return "not looked at: the nominated node fits"
    if verdict == 0:
        return "fits, chosen" if name == decision.selected else "fits"
    failure = decision.failures[verdict - 1]
    plugin = f"{failure.plugin}: " if failure.plugin else ""
    return plugin + ", ".join(failure.reasons)


RULES = {
    0: "it is the only candidate",
    1: "fewest PodDisruptionBudget violations",
    2: "lowest priority of the most important victim",
    3: "smallest sum of the victims' priorities",
    4: "fewest victims",
    5: "its most important victims have run for the shortest time",
    6: "drawn by lot among equals",
}


def preemption_lines(decision: Decision) -> Iterator[str]:
    found = decision.preemption
    assert found is not None
    if not found.candidates:
        return
    yield ""
    rows = [["CANDIDATE", "VICTIMS", "PDB VIOLATIONS", "HIGHEST PRIORITY"]]
    for candidate in found.candidates:
        victims = join_names([victim.pod for victim in candidate.victims])
        rows.append([candidate.node, victims, str(candidate.pdb_violations), str(candidate.highest_priority)])
    yield from align_columns(rows)
    if decision.outcome == "preempting":
        yield ""
        yield f"Preemption would free {found.chosen}: {RULES[found.rule]}."


def join_names(names: Sequence[str]) -> str:
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def align_columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
