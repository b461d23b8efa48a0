"""Makes sandboxes for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from schedviz.bundled_scenarios import EMPTY, scenarios, with_manifests
from schedviz.client.interface import Sandbox
from schedviz.client.local import LocalSandbox
from schedviz.client.play import data_of, read_workload_files
from schedviz.client.remote import Server
from simulator.api import Change, Micros
from simulator.apiserver.manifest import parse_manifests
from simulator.arrivals.play_run import workload_of
from simulator.arrivals.workload import PACE, SEED, played_scenario, unfit_warning
from simulator.compare.comparison_run import Side
from simulator.dumps.dump import Dump
from simulator.dumps.imported import import_dump, without_unserved
from simulator.dumps.kubelet_versions import imported_features
from simulator.memory_sandbox import START, SandboxOptions
from simulator.objects.durations import parse_duration
from simulator.objects.timestamps import micros
from simulator.queueing.queue_version import read_queue_version
from simulator.scenario import Scenario, load_scenario
from simulator.versions.features import Features, chosen_features


def sandbox(
    scenario: str | Path | None = None,
    *,
    manifests: str | Path | Sequence[Mapping[str, Any]] = (),
    dump: Path | None = None,
    arrivals: str | bytes | Path = "",
    nodes: str | bytes | Path = "",
    anyway: bool = False,
    config: Mapping[str, Any] | None = None,
    seed: int | None = None,
    pace: str | None = None,
    queue: str | None = None,
    kubernetes: str = "",
    feature_gates: Mapping[str, bool] = {},
    name: str = "",
    server: str = "",
) -> Sandbox:
    """Make a sandbox, whose simulated time stands still.

    scenario: the name of a bundled one, or the path of a file; None = an empty cluster, with the StorageClass
    ``standard`` if no other one is given. manifests: further objects, as dicts, as a YAML or JSON text, or in
    a file. dump: the file or folder of a whole cluster, the output of ``kubectl get -A -o json`` or
    ``kubectl cluster-info dump``; only in this process. arrivals, nodes: instead of these, a workload that is
    played in the sandbox: the ``Path`` of a file of docs/PLAY.md, or its contents; ``anyway``, also if pods
    fit no node. config: a KubeSchedulerConfiguration; seed, pace (the simulated time of a scheduling cycle)
    and queue: instead of those of the scenario. kubernetes: the version, such as ``v1.36``; "" = that of the
    scenario, or of the dump's kubelets. feature_gates: the gates to set.

    name: of the sandbox, from which UIDs and generated names are computed; "" = the scenario's. server: the
    URL of a server on which the sandbox is made, and deleted at the end of the ``with`` block; "" = it runs
    in this process, without a server.

    Raises StatusError for a manifest that admission refuses; KeyError for a scenario that there is not;
    ScenarioError, ManifestError and ArrivalError for a file that is none; ConfigError; ValueError for an
    unknown queue, an unknown version, and a gate that cannot be set so."""
    if arrivals and (scenario is not None or manifests or dump is not None):
        raise ValueError("arrivals: not with scenario, manifests and dump; nodes may have further objects")
    if nodes and not arrivals:
        raise ValueError("nodes: only with arrivals")
    made = played_scenario("workload", PACE, SEED) if arrivals else _scenario(scenario)
    given = {
        "seed": seed,
        "queue": None if queue is None else read_queue_version(queue),
        "pace": None if pace is None else parse_duration(pace),
    }
    options: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    if config is not None:
        options["config"] = {**config}
    imported, start, usual = _imported(dump) if dump is not None else ((), START, made.features)
    options["features"] = chosen_features(usual, kubernetes, feature_gates)
    made = replace(made, **options)
    if arrivals and server:
        return Server(server).create(made, name, data_of(arrivals), data_of(nodes), anyway=anyway)
    notes: Sequence[str] = ()
    if arrivals:
        made, imported, notes = _workload(made, arrivals, nodes, anyway=anyway)
    else:
        made = with_manifests(made, _manifests(manifests), keeps_class=dump is None)
    if server and dump is not None:
        raise ValueError("dump: a server imports dumps on its page only")
    if server:
        return Server(server).create(made, name)
    sandbox = LocalSandbox(
        SandboxOptions(
            name or made.name,
            made.manifests,
            [*without_unserved(imported, made.features)],
            seed=made.seed,
            pace=made.pace,
            config=made.config,
            queue=made.queue,
            features=made.features,
            start=start,
        )
    )
    sandbox.notes = notes
    return sandbox


def _imported(path: Path) -> tuple[Sequence[Change], Micros, Features]:
    """Return the objects of a dump, the time of the latest, at which simulated time begins, and the version
    of its kubelets or its recording."""
    # The salt is a constant: nothing of it leaves this process, and the same dump gives the same sandbox.
    dump = Dump.read(path)
    taken = import_dump(dump, START, b"in this process")
    changes = [*taken.changes()]
    created = [change.object["metadata"].get("creationTimestamp") for change in changes if change.object]
    features = imported_features(dump.began, taken.report.kubelets, taken.report.gates)
    return changes, max(START, *(micros(each) for each in created if each)), features


def _workload(
    made: Scenario, arrivals: str | bytes | Path, nodes: str | bytes | Path, *, anyway: bool
) -> tuple[Scenario, Sequence[Change], Sequence[str]]:
    """Return the settings and the objects of a workload, and what of it is not played, or fits no node.
    Raises ValueError if pods fit no node."""
    read, there = read_workload_files(arrivals, nodes)
    config = read.config if made.config is None else made.config
    side = Side(config, made.queue, made.seed, made.features)
    workload = workload_of(read, there, made.name, made.pace, side)
    if workload.unfit and not anyway:
        raise ValueError(unfit_warning(workload.pods, workload.unfit_pods, workload.unfit))
    notes = [*read.notes, *map(str, workload.unfit)]
    return replace(made, config=config), workload.cluster(START), notes


def _scenario(scenario: str | Path | None) -> Scenario:
    if scenario is None:
        return EMPTY
    return load_scenario(scenario.read_text()) if isinstance(scenario, Path) else scenarios()[scenario]


def _manifests(given: str | Path | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(given, Path):
        given = given.read_text()
    return parse_manifests(given) if isinstance(given, str) else [{**each} for each in given]
