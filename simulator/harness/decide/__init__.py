"""Run scheduling attempts that are given as JSON Lines, and print one result a line.

Each line is an object with ``name``, ``kubernetes`` (a version, such as v1.36), ``featureGates``, ``config``
(a KubeSchedulerConfiguration or null), ``objects`` (lists of manifests by kind) and ``pod`` (the pending
pod), or ``pods`` (pending pods that are scheduled one after another, see
:mod:`simulator.harness.decide.sequence`, and with ``batching`` :mod:`simulator.harness.decide.batching`).
Unless the configuration sets percentageOfNodesToScore, it is adaptive, as in kube-scheduler. For an invalid
line ``{"line": N, "error": "..."}`` is printed; the other lines are still processed, and the exit status is
1.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from simulator.api import Manifest
from simulator.command_line.files import STANDARD_INPUT, InputError, open_lines
from simulator.command_line.json_lines import answer_lines
from simulator.command_line.output import print_failure
from simulator.framework import snapshot
from simulator.framework.diagnosis import excluded_by_pre_filter
from simulator.framework.extender import Transport
from simulator.framework.status import Status
from simulator.harness.decide.batching import decide_batched
from simulator.harness.decide.devices import DRA_LISTS, claims_to_deallocate, device_allocations
from simulator.harness.decide.input import DecideInput, framework_of, read_objects
from simulator.harness.decide.sequence import decide_sequence
from simulator.kernel.prepared_types import prepared
from simulator.objects.pod import Pod
from simulator.scheduler import extender_http
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message, preemption, record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", type=Path, default=STANDARD_INPUT, help="JSON Lines; - is stdin")
    extender_http.add_argument(parser)


def run(options: argparse.Namespace) -> int:
    transport = extender_http.HttpTransport(options.allow_extender_host)
    try:
        with open_lines(options.file) as lines:
            return answer_all(lines, transport)
    except InputError as failure:
        print_failure("decide", failure)
        return 1


def answer_all(lines: BinaryIO, transport: Transport | None = None) -> int:
    def answer(value: Any) -> Manifest:
        question = msgspec.convert(value, prepared(DecideInput))
        in_turn = decide_batched if question.batching else decide_sequence
        answer = decide if question.pods is None else in_turn
        return {"name": question.name, "expect": answer(question, transport)}

    return answer_lines(lines, sys.stdout.buffer, answer, sort_keys=True)


def decide(question: DecideInput, transport: Transport | None = None) -> dict[str, Any]:
    """Run PreEnqueue and a scheduling attempt, and return the result as the conformance tests describe it."""
    if question.pod is None:
        raise ValueError("the field pod is required")
    frameworks = question.frameworks(transport)
    pod = Pod.parse(question.pod)
    framework = framework_of(pod, frameworks)
    cluster, nominated = snapshot.read(read_objects(question.objects), frameworks)
    gate = framework.run_pre_enqueue(pod)
    if gate is not None:
        gated = {**_EMPTY_ANSWER, "preEnqueue": _status(gate)}
        return gated | {"dra": None} if question.objects.keys() & DRA_LISTS else gated
    if pod.nominated_node_name:
        nominated.setdefault(pod.nominated_node_name, []).append(pod)
    search = Attempt(framework, cluster, pod, nominated, exhaustive=True)
    to_deallocate: list[str] = []
    for point in search.run():
        if point == "PostFilter":
            to_deallocate = claims_to_deallocate(search)
    answer = attempt_answer(search)
    if question.objects.keys() & DRA_LISTS:
        answer["dra"] = device_allocations(search, to_deallocate)
    return answer


_EMPTY_ANSWER: dict[str, Any] = {
    "preEnqueue": None,
    "preFilter": None,
    "nominatedNodeShortcut": False,
    "lookedAt": None,
    "filter": {},
    "unschedulablePlugins": [],
    "message": "",
    "messageAfterPostFilter": "",
    "preScoreSkipped": [],
    "scoringSkipped": False,
    "scores": {},
    "selectedAnyOf": [],
    "preemption": None,
}


def attempt_answer(search: Attempt) -> dict[str, Any]:
    """Return the result of a finished attempt."""
    decision = record(search)
    answer = {
        **_EMPTY_ANSWER,
        "nominatedNodeShortcut": search.nominated_shortcut,
        "lookedAt": _looked_at(search),
        "filter": _filter(search),
        "unschedulablePlugins": decision.unschedulable_plugins,
        "message": search.message,
        "messageAfterPostFilter": "" if search.errors else message(search),
        "preScoreSkipped": decision.pre_score_skipped,
        "scoringSkipped": len(search.feasible) == 1
        or bool(len(search.feasible) and not search.framework.score_plugins),
        "selectedAnyOf": sorted(decision.tied),
        "preemption": _preemption(search),
    }
    if decision.pre_filter is not None:
        answer["preFilter"] = {
            "code": decision.pre_filter.code,
            "plugin": decision.pre_filter.plugin,
            "reasons": decision.pre_filter.reasons,
            "nodeNames": decision.pre_filter.node_names,
            "skipped": decision.pre_filter.skipped,
        }
    if search.errors:
        answer["cycleErrorAnyOf"] = sorted(search.errors)
    else:
        answer["scores"] = _scores(search)
    return answer


def _status(status: Status) -> dict[str, Any]:
    return {"plugin": status.plugin, "code": status.code, "reasons": sorted(status.reasons)}


def _looked_at(search: Attempt) -> list[str] | None:
    if search.nominated_shortcut:
        return [search.pod.nominated_node_name]
    if search.pre_filter is None or search.pre_filter.status or search.pre_filter.node_names is None:
        return None
    return sorted(name for name in search.pre_filter.node_names if name in search.cluster.rows)


def _filter(search: Attempt) -> dict[str, Any]:
    """Return the verdict on every node; for nodes outside the PreFilter result, that status."""
    if search.pre_filter is None or search.pre_filter.status is not None:
        return {}
    outside = set() if search.outside is None else set(search.outside.tolist())
    absent = (
        excluded_by_pre_filter(search.pre_filter.narrowed_by)
        if search.nominated_shortcut
        else search.diagnosis.absent
    )
    verdicts: dict[str, Any] = {}
    for name, row in search.cluster.rows.items():
        code = int(search.seen.codes[row])
        if row in outside:
            verdicts[name] = {**_status(absent), "byPreFilter": True}
        else:
            verdicts[name] = _status(search.seen.statuses[code - 1]) if code else None
    return verdicts


def _scores(search: Attempt) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    if not len(search.totals):
        return scores
    for i, row in enumerate(search.feasible.tolist()):
        scores[search.cluster.node(row).name] = {"total": int(search.totals[i])} | {
            column.plugin: {
                "raw": int(column.raw[i]),
                "normalized": int(column.normalized[i]),
                "weighted": int(column.normalized[i]) * column.weight,
            }
            for column in search.scores
        }
    return scores


def _preemption(search: Attempt) -> dict[str, Any] | None:
    found = preemption(search)
    if found is None:
        return None
    return {
        "eligible": found.eligible,
        "ineligibleReason": found.ineligible_reason,
        "candidates": {
            c.node: {"victims": [v.pod for v in c.victims], "pdbViolations": c.pdb_violations}
            for c in found.candidates
        },
        "nonCandidates": {
            node: {"plugin": f.plugin, "code": f.code, "reasons": f.reasons}
            for node, f in found.non_candidates.items()
        },
        "nominatedAnyOf": sorted(found.tied),
        "clearedNominations": {
            c.node: c.cleared_nominations for c in found.candidates if c.node in found.tied
        },
        "plugin": found.plugin,
        "code": found.code,
        "message": found.message,
    }
