"""Find the smallest single changes that would let a pod run, each tried on the model.

``pod.yaml`` and the cluster are those of ``explain``: the pod as somebody would write it, the cluster as
``kubectl get nodes,pods,namespaces,priorityclasses,pdb,pv,pvc,sc -A -o json`` prints it.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from simulator.apiserver.manifest import ManifestError, manifests
from simulator.apiserver.status import StatusError
from simulator.commands.explain import ExplainError, admitted, aligned, named, one, read_list
from simulator.config import ConfigError, load
from simulator.plugins.registry import profiles
from simulator.scheduler import extender_http
from simulator.scheduler.extender import Transport
from simulator.what_if.answer import Answer, Outcome, Progress, Suggestion
from simulator.what_if.search import search
from simulator.what_if.situation import Situation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pod", type=Path, help="YAML or JSON with one Pod")
    parser.add_argument("--cluster", type=Path, required=True, help="a dump, JSON or YAML")
    parser.add_argument("--config", type=Path, help="a KubeSchedulerConfiguration, YAML or JSON")
    extender_http.add_argument(parser)
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def run(options: argparse.Namespace) -> int:
    try:
        transport = extender_http.HttpTransport(options.allow_extender_host)
        found = what_if(options.pod, options.cluster, options.config, transport)
    except (ExplainError, ManifestError, StatusError, ConfigError, OSError) as failure:
        print(f"whatif: {failure}", file=sys.stderr)
        return 1
    if options.output == "json":
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print("\n".join(report(found)))
    return 0


def what_if(
    pod_path: Path, cluster_path: Path, config_path: Path | None, transport: Transport | None = None
) -> Answer:
    """What it is about goes to the standard error output meanwhile, where that is a terminal."""
    configuration = None
    if config_path is not None:
        configuration = one(manifests(config_path.read_bytes()), "KubeSchedulerConfiguration", config_path)
    frameworks = profiles(load(configuration), transport=transport)
    items = list(read_list(cluster_path))
    pod = admitted(one(manifests(pod_path.read_bytes()), "Pod", pod_path), items)
    try:
        situation = Situation.read(items, pod.manifest, frameworks)
    except (ValueError, LookupError, TypeError, AttributeError) as failure:
        raise ExplainError(f"{cluster_path}: {type(failure).__name__}: {failure}") from None
    for said in search(situation):
        if isinstance(said, Answer):
            return said
        if isinstance(said, Progress) and sys.stderr.isatty():
            print(f"\r{said.done + 1}/{said.total} {said.doing:<20}", end="\r", file=sys.stderr)
    raise AssertionError("a search ends with its answer")


# For people


def report(found: Answer) -> Iterator[str]:
    if found.now.kind == "bound":
        yield f"Pod {found.pod} fits as it is: it would be bound to {found.now.node}."
        return
    yield f"Pod {found.pod}: {found.now.message}"
    if found.now.kind == "nominated":
        yield f"As it is, it would be {outcome(found.now)}."
    yield ""
    if found.suggestions:
        rows = [["CHANGE", "THEN"]]
        rows += [[sentence(said), outcome(said.outcome)] for said in found.suggestions]
        yield from aligned(rows)
        return
    yield f"No single change would let it run ({found.tried} tried). The nodes with the least against them:"
    yield ""
    rows = [["NODE", "LACKS"]]
    for lack in found.lacks:
        texts = [f"{o.short_by} of {o.resource}" if o.short_by else o.reason for o in lack.obstacles]
        rows.append([lack.node, "; ".join(texts)])
    yield from aligned(rows)


SENTENCES = {
    "gate": "take the scheduling gate {what} away",
    "scheduler": "schedulerName {before} -> {after}",
    "uncordon": "uncordon {target}",
    "toleration": "tolerate {what}",
    "taint": "take the taint {what} from {target}",
    "request": "request {what} {before} -> {after}",
    "selector": "no nodeSelector {what}",
    "node-affinity": "no node affinity to {what}",
    "pod-affinity": "no pod affinity by {what}",
    "pod-anti-affinity": "no pod anti-affinity by {what}",
    "spread": "no spread constraint by {what}",
    "host-port": "host port {before} -> {after}",
    "preemption-policy": "a PriorityClass that preempts: {target}",
    "priority": "priority {before} -> {after} ({what})",
    "delete-pod": "delete the pod {target} (priority {before})",
    "drop-volume": "no volume {what}",
    "volume": "storage {target}, {after} of class {what}",
    "node": "one more node like {what}",
}


def sentence(said: Suggestion) -> str:
    if said.kind == "label":
        text = (
            f"label {said.target} {said.what}={said.after}"
            if said.after
            else f"no label {said.what} on {said.target}"
        )
    else:
        text = SENTENCES[said.kind].format(
            what=said.what, before=said.before, after=said.after, target=said.target
        )
    return f"{text} (or {named(said.alike)})" if said.alike else text


def outcome(said: Outcome) -> str:
    if said.kind == "bound":
        others = f" ({said.feasible_count} nodes fit)" if said.feasible_count > 1 else ""
        return f"bound to {said.node}{others}"
    return f"nominated to {said.node}, evicting {named(said.victims)}"
