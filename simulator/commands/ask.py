"""Ask about a whole cluster: will this fit, how many more, where do the pods of these nodes go, which nodes
can be removed, how many are needed, and who evicted whom.

The cluster is the output of ``kubectl get nodes,pods,namespaces,priorityclasses,pdb,deploy,rs,sts,ds,jobs,
pv,pvc,sc -A -o json`` (or -o yaml), or of ``clean``; for ``evictions`` also of ``events``. ``-`` is standard
input. Each question runs on a copy; Ctrl-C stops it, and what was found until then is printed.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Final

import msgspec

from simulator.api import SECOND, Manifest
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.resources import PODS
from simulator.apiserver.status import StatusError
from simulator.command_line.answer_text import answer_csv, answer_json, answer_lines
from simulator.command_line.files import (
    InputError,
    faults_of,
    file_name,
    read_configuration,
    read_dump,
    read_duration,
    read_text,
)
from simulator.command_line.garbage import without_collections
from simulator.command_line.output import print_failure, print_json, print_lines, print_progress
from simulator.command_line.version_options import add_version_options, features_of
from simulator.commands.clean import import_now, refusal_lines
from simulator.config import ConfigError
from simulator.kernel.prepared_types import prepared
from simulator.questions.answer import Answer, AskedCluster, AskedQuestion, BadQuestion
from simulator.questions.eviction_events import PodEvent
from simulator.questions.evictions import Owners, sum_evictions
from simulator.questions.fields import QuestionFields, begin_question
from simulator.versions.features import Features

REPORTED_AFTER: Final = 0.2
"""Seconds between two reports of the progress."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    questions = parser.add_subparsers(dest="question", required=True, metavar="QUESTION")
    fits = _add(questions, "fits", "where the pods of these manifests land, and who is evicted for them")
    fits.add_argument("manifests", type=Path, help="YAML or JSON with any objects")
    more = _add(questions, "more", "how many more of a pod, or of a mix of pods, fit")
    more.add_argument("manifests", type=Path, help="YAML or JSON with a pod or workload; several are a mix")
    more.add_argument("--sizes", default="", metavar="N,N", help="the pods of each in a set of the mix")
    more.add_argument("--at-most", type=int, default=0, help="where the counting ends")
    drain = _add(questions, "drain", "where the pods of these nodes go, and which cannot leave")
    removable = _add(questions, "removable", "which nodes can be removed, the most first")
    for each in (drain, removable):
        each.add_argument(
            "--node", action="append", default=[], metavar="NAME", help="a node; may be repeated"
        )
        each.add_argument("-l", "--selector", default="", help="nodes with these labels")
        each.add_argument("--zone", default="", help="nodes of this zone")
        each.add_argument("--emptiest", type=int, default=0, metavar="N", help="the N emptiest of them")
        each.add_argument("--force", action="store_true", help="also pods without a controller")
        each.add_argument(
            "--delete-emptydir-data", action="store_true", help="also pods with emptyDir volumes"
        )
    add = _add(questions, "add", "how many nodes let all pending pods run, and which shape is the cheapest")
    add.add_argument(
        "--shape",
        action="append",
        required=True,
        metavar="name=N,cpu=8,memory=32Gi,price=0.4",
        help="a shape, or like=NODE; may be repeated",
    )
    _add(questions, "evictions", "who evicted whom, by the Events of the cluster")


def _add(
    questions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str
) -> argparse.ArgumentParser:
    parser = questions.add_parser(name, help=text, description=text)
    parser.add_argument("cluster", type=Path, help="a dump, JSON or YAML, or a folder")
    parser.add_argument("-o", "--output", choices=["table", "json", "csv"], default="table")
    parser.add_argument("--table", default="", metavar="NAME", help="with -o csv: the field of the JSON")
    if name != "evictions":
        parser.add_argument("--config", type=Path, help="a KubeSchedulerConfiguration, YAML or JSON")
        parser.add_argument("--seed", type=int, default=0, help="decides between nodes of equal score")
        parser.add_argument(
            "--seeds", type=int, default=1, metavar="N", help="ask with N seeds, for the range"
        )
        parser.add_argument("--within", default="", metavar="DURATION", help="stop after this time")
        add_version_options(parser)
    return parser


def run(options: argparse.Namespace) -> int:
    try:
        answer = sum_events(options.cluster) if options.question == "evictions" else ask(options)
    except InputError as failure:
        print_failure("ask", failure)
        return 1
    if options.output == "json":
        print_json(answer_json(answer))
    elif options.output == "csv":
        print_lines(answer_csv(answer, options.table).splitlines())
    else:
        print_lines(answer_lines(answer))
    return 0


def ask(options: argparse.Namespace) -> Answer:
    """Raises InputError."""
    fields = read_fields(options)
    try:
        with without_collections():
            question = begin_question(read_asked_cluster(options), fields)
    except BadQuestion as wrong:
        raise InputError(str(wrong)) from None
    except ConfigError as wrong:
        raise InputError(
            f"{file_name(options.config) if options.config else 'configuration'}: {wrong}"
        ) from None
    seconds = read_duration("--within", options.within) / SECOND if options.within else None
    try:
        run_question(question, seconds)
    except StatusError as refused:
        raise InputError(f"{file_name(options.manifests)}: {refused}") from None
    except BadQuestion as wrong:
        raise InputError(str(wrong)) from None
    return question.answer()


def run_question(question: AskedQuestion[Answer], seconds: float | None) -> None:
    """Run until the answer is complete, the time is over or Ctrl-C is pressed. Progress is printed to stderr
    if that is a terminal."""
    began = reported = time.monotonic()
    try:
        for done in question.run():
            now = time.monotonic()
            if seconds is not None and now - began > seconds:
                return
            if now - reported > REPORTED_AFTER:
                reported = now
                print_progress(f"{done:4.0%}")
    except KeyboardInterrupt:
        return


def read_asked_cluster(options: argparse.Namespace) -> AskedCluster:
    """Raises InputError."""
    features = features_of(options.kubernetes, options.feature_gates)
    configuration = read_configuration(options.config)
    return read_cluster(options.cluster, features, configuration, options.seed)


def read_cluster(
    path: Path, features: Features, configuration: Manifest | None = None, seed: int = 0
) -> AskedCluster:
    """Read the objects, redacted as by ``clean``. Invalid ones are reported on stderr. Raises InputError."""
    dump = read_dump(path)
    with faults_of(path):
        taken = import_now(dump, features)
    name = file_name(path)
    print_lines((f"{name}: left out: {refused}" for refused in refusal_lines(taken.report)), sys.stderr)
    objects: dict[str, dict[str, Manifest]] = {}
    for change in taken.changes(keep_owners=True):
        assert change.object is not None, "an import only creates objects"
        objects.setdefault(change.resource, {})[change.key] = change.object
    return AskedCluster(objects, configuration, features, seed)


def _manifests(path: Path) -> list[Manifest]:
    data = read_text(path)
    with faults_of(path):
        found = parse_manifests(data)
        if not found:
            raise ValueError("there is no object")
        return found


def _sizes(text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",") if each]
    except ValueError:
        raise InputError(f"--sizes: {text!r} is not a list of whole numbers") from None


def read_fields(options: argparse.Namespace) -> QuestionFields:
    """Raises InputError."""
    given = vars(options)
    return QuestionFields(
        question=options.question,
        manifests=_manifests(options.manifests) if "manifests" in given else [],
        sizes=_sizes(given.get("sizes", "")),
        at_most=given.get("at_most", 0),
        nodes=given.get("node", []),
        selector=given.get("selector", ""),
        zone=given.get("zone", ""),
        emptiest=given.get("emptiest", 0),
        force=given.get("force", False),
        delete_local=given.get("delete_emptydir_data", False),
        shapes=given.get("shape", []),
        seeds=options.seeds,
    )


def sum_events(path: Path) -> Answer:
    """Sum the evictions of the Events of a dump. Raises InputError."""
    events: list[PodEvent] = []
    objects: list[Manifest] = []
    names: dict[str, str] = {}
    with faults_of(path):
        for manifest in read_dump(path).manifests():
            if manifest.get("kind") == "Event":
                events.append(msgspec.convert(manifest, prepared(PodEvent)))
            elif isinstance(manifest.get("metadata"), dict) and manifest["metadata"].get("name"):
                objects.append(manifest)
                if manifest.get("kind") == PODS.kind:
                    metadata = manifest["metadata"]
                    names[metadata.get("uid", "")] = PODS.key(
                        metadata.get("namespace", "default"), metadata["name"]
                    )
    evictions = [event.eviction(names) for event in events if event.is_eviction]
    bindings = [binding for event in events if (binding := event.binding()) is not None]
    return sum_evictions(evictions, bindings, Owners(objects))
