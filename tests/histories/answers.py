"""What the commands ``explain``, ``whatif`` and ``compare`` print, for people and as JSON."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from simulator.api import Manifest
from simulator.harness.random_clusters import random_cluster, random_pending_pod
from tests.histories import pods, scenarios
from tests.histories.commands import run_command
from tests.histories.themes import GANG, MOST_ALLOCATED

CLUSTERS = ((6, None), (25, None), (12, MOST_ALLOCATED), (12, GANG))
"""Nodes, and the configuration: the dumps that are asked about."""
PODS = 6
"""Asked about in each dump."""
SIDES = (
    ("gang", ["--queue-b", "fifo"]),
    ("priority-starvation", ["--queue-b", "v1.10"]),
    ("taints-and-affinity", ["--b", "CONFIG"]),
    ("ideas/preemption", ["--seed-b", "5"]),
)
"""Scenarios to compare, and how the second scheduler differs. CONFIG is a file with MOST_ALLOCATED."""
KINDS = ("explain", "whatif", "compare")


def answers(command: str) -> list[bytes]:
    """Each question, and the lines of its answer."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        asked = _comparisons(Path(folder)) if command == "compare" else _questions(command, Path(folder))
        for what, arguments in asked:
            for output in ("table", "json"):
                finished = run_command(*arguments, "-o", output)
                lines.append(f"# {command} {what} -o {output}: status {finished.status}")
                lines += [line.replace(folder, "FOLDER") for line in (*finished.errors, *finished.out)]
    return [line.encode() for line in lines]


def _questions(command: str, folder: Path) -> Iterator[tuple[str, list[str]]]:
    for number, (nodes, config) in enumerate(CLUSTERS):
        random = Random(f"answers/{number}")
        dump = _written(folder / "dump.json", {"kind": "List", "items": [*random_cluster(random, nodes)]})
        configured = ["--config", _configuration(folder, config)] if config else []
        for i in range(PODS):
            pod = (
                random_pending_pod(random, f"question-{i}") if i % 2 else _demanding(random, f"question-{i}")
            )
            file = _written(folder / "pod.json", pod)
            yield f"cluster {number}, pod {i}", [command, file, "--cluster", dump, *configured]


def _demanding(random: Random, name: str) -> Manifest:
    """A pod that may be gated, in want of a claim, or preempting."""
    demands = dict.fromkeys(
        ("priority", "selector", "pod-affinity", "spread", "gates", "volume", "gang"), 0.3
    )
    return pods.pod(random, name, demands) | {"metadata": {"name": name, "labels": {"app": "web"}}}


def _comparisons(folder: Path) -> Iterator[tuple[str, list[str]]]:
    config = _configuration(folder, MOST_ALLOCATED)
    for name, differing in SIDES:
        arguments = [config if argument == "CONFIG" else argument for argument in differing]
        file = str(scenarios.path(name))
        yield f"{name} {' '.join(differing)}", ["compare", file, "--until", "60s", *arguments]


def _configuration(folder: Path, config: Manifest) -> str:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return _written(folder / "config.json", {**head, **config})


def _written(path: Path, content: Manifest) -> str:
    path.write_text(json.dumps(content))
    return str(path)
