"""Find the smallest changes that would let a pod run: single ones, or pairs. Each is tried on the simulator.

``pod.yaml`` and the cluster are those of ``explain``: the manifest of the pod or of a workload, and the
output of ``kubectl get nodes,pods,namespaces,priorityclasses,pdb,pv,pvc,sc -A -o json``. ``-`` is standard
input.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec

from simulator.apiserver.served_features import serving
from simulator.command_line.files import InputError
from simulator.command_line.output import print_failure, print_json, print_lines, print_progress
from simulator.command_line.pod_file import AskedPod
from simulator.command_line.tables import align_columns, join_names
from simulator.command_line.version_options import features_of
from simulator.commands import explain
from simulator.framework.extender import Transport
from simulator.scheduler import extender_http
from simulator.versions.features import Features
from simulator.what_if.answer import (
    AttemptOutcome,
    ChangePart,
    GangOutcome,
    Progress,
    Suggestion,
    WhatIfAnswer,
)
from simulator.what_if.pod_changes import GATE_SEPARATOR
from simulator.what_if.search import search
from simulator.what_if.situation import Situation

add_arguments = explain.add_arguments


def run(options: argparse.Namespace) -> int:
    try:
        transport = extender_http.HttpTransport(options.allow_extender_host)
        features = features_of(options.kubernetes, options.feature_gates)
        with serving(features):
            asked, found = what_if(options.pod, options.cluster, options.config, features, transport)
    except InputError as failure:
        print_failure("whatif", failure)
        return 1
    if options.output == "json":
        print_json(msgspec.json.encode(found))
    else:
        print_lines(report_lines(asked, found))
    return 0


def what_if(
    pod_path: Path,
    cluster_path: Path,
    config_path: Path | None,
    features: Features,
    transport: Transport | None = None,
) -> tuple[AskedPod, WhatIfAnswer]:
    """Search, and return the pod and the answer. Raises InputError."""
    asked, situation = explain.read_situation(pod_path, cluster_path, config_path, features, transport)
    return asked, find_changes(situation)


def find_changes(situation: Situation) -> WhatIfAnswer:
    """Search. Progress is printed to stderr if that is a terminal."""
    for found in search(situation):
        if isinstance(found, WhatIfAnswer):
            return found
        if isinstance(found, Progress):
            print_progress(f"{found.done + 1}/{found.total} {found.doing:<20}")
    raise AssertionError("a search ends with its answer")


# Output as text


def report_lines(asked: AskedPod, found: WhatIfAnswer) -> Iterator[str]:
    if found.now.gang is not None:
        yield gang_text(found.now.gang)
    if found.now.kind == "bound" and found.group:
        yield "It can be scheduled as it is."
        return
    if found.now.kind == "bound":
        yield f"Pod {found.pod} fits as it is: it would be bound to {found.now.node}."
        yield from asked.sentences
        return
    about = f"A pod of PodGroup {found.group}" if found.group else f"Pod {found.pod}"
    yield found.now.message if found.now.gang else f"{about}: {found.now.message}"
    yield from asked.sentences
    if found.now.kind == "nominated":
        yield f"As it is, it would be {outcome_text(found.now)}."
    yield ""
    if found.suggestions:
        if any(each.further for each in found.suggestions):
            yield f"No single change would let it run. Two together would ({found.tried} changes tried):"
            yield ""
        rows = [["CHANGE", "THEN"]]
        rows += [[suggestion_text(each), outcome_text(each.outcome)] for each in found.suggestions]
        yield from align_columns(rows)
        return
    together = "" if found.group else ", nor two together"
    yield f"No change that was tried would let it run{together} ({found.tried} tried)."
    if found.when_queued is not None:
        yield f"Once it is queued: {found.when_queued.message}"
    if not found.lacks:
        return
    of = f" taking {found.now.gang.unplaced}" if found.now.gang else " them"
    yield f"The nodes with the least against{of}:"
    yield ""
    rows = [["NODE", "LACKS"]]
    for lack in found.lacks:
        texts = [f"{o.short_by} of {o.resource}" if o.short_by else o.reason for o in lack.obstacles]
        rows.append([lack.node, "; ".join(texts)])
    yield from align_columns(rows)


CHANGE_TEXTS = {
    "gate": "take the scheduling gate {what} away",
    "scheduler": "schedulerName {before} -> {after}",
    "uncordon": "uncordon {target}",
    "toleration": "tolerate {what}",
    "taint": "take the taint {what} from {target}",
    "request": "request {what} {before} -> {after}",
    "selector": "no nodeSelector {what}",
    "node-affinity": "no node affinity to {what}",
    "pod-affinity": "no pod affinity to {before} by {what}",
    "pod-anti-affinity": "no pod anti-affinity to {before} by {what}",
    "spread-policy": "{after} in the spread constraint by {what}",
    "spread-domains": "minDomains {before} -> {after} in the spread constraint by {what}",
    "spread-skew": "maxSkew {before} -> {after} in the spread constraint by {what}",
    "spread-anyway": "whenUnsatisfiable: {after} in the spread constraint by {what}",
    "spread": "no spread constraint by {what}",
    "host-port": "host port {before} -> {after}",
    "preemption-policy": "a PriorityClass that preempts: {what}",
    "priority": "priority {before} -> {after} ({what})",
    "delete-pod": "delete the pod {target} (priority {before})",
    "claim": "create the resource claim {target} of class {what}",
    "device-class": "create the DeviceClass {target} for the driver {what}",
    "claim-count": "{after} devices instead of {before} for {what} of claim {target}",
    "device-toleration": "tolerate {what} in {within} of claim {target}",
    "claim-capacity": "{what} {before} -> {after} in {within} of claim {target}",
    "claim-size": "devices with {after} instead of {before} for {what} of claim {target}",
    "claim-class": "class {before} -> {after} for {what} of claim {target}",
    "claim-selector": "no selector {what} in {within} of claim {target} (not true of {before})",
    "class-selector": "no selector {what} in class {target} (not true of {before})",
    "claim-constraint": "no constraint on {what} in claim {target}",
    "delete-claim": "delete the unused claim {target}, which has {what}",
    "free-device": "delete the pod {target} (priority {after}), whose claim {before} has {what}",
    "device": "one more device like {what} on {target}",
    "drop-claim": "no resource claim {what}",
    "drop-volume": "no volume {what}",
    "volume": "storage {target}, {after} of class {what}",
    "node": "one more node like {what}: {target}",
    "nodes": "{after} more nodes like {what}: {target}",
    "min-count": "minCount {before} -> {after} of PodGroup {target}",
    "topology-key": "topology key {before} -> {after} of PodGroup {target}",
    "topology": "no topology constraint ({before}) of PodGroup {target}",
    "group-priority": "priority {before} -> {after} ({what}) of PodGroup {target}",
}


def suggestion_text(suggestion: Suggestion) -> str:
    """Return the change, or both changes, and the other targets with which they help too."""
    text = " and ".join(map(change_text, suggestion.parts))
    others = ", ".join(suggestion.alike)
    if suggestion.alike_more:
        others += f"; {suggestion.alike_more} more not tried"
    return f"{text} (or {others})" if others else text


def change_text(part: ChangePart) -> str:
    if part.kind == "label":
        if part.after:
            return f"label {part.target} {part.what}={part.after}"
        return f"no label {part.what} on {part.target}"
    if part.kind == "gate" and GATE_SEPARATOR in part.what:
        return f"take the scheduling gates {part.what} away"
    return CHANGE_TEXTS[part.kind].format_map(msgspec.structs.asdict(part))


def gang_text(gang: GangOutcome) -> str:
    return f"PodGroup {gang.group}: {gang.fits} of {gang.size} pods fit, and it needs {gang.needs}."


def outcome_text(outcome: AttemptOutcome) -> str:
    gang = outcome.gang
    if gang is not None and outcome.kind == "bound":
        return f"{gang.fits} of {gang.size} pods bound{f' in {gang.placement}' if gang.placement else ''}"
    if gang is not None:
        return f"the group evicts {join_names(outcome.victims)}"
    if outcome.kind == "bound":
        others = f" ({outcome.feasible_count} nodes fit)" if outcome.feasible_count > 1 else ""
        return f"bound to {outcome.node}{others}"
    return f"nominated to {outcome.node}, evicting {join_names(outcome.victims)}"
