"""Plays workloads of arrivals files for programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from schedviz.client.remote import Server
from schedviz.sandbox_documents import PlayedSide, PlayRequest
from simulator.api import Manifest
from simulator.arrivals.play_run import PlayedFigures, PlayRun, workload_of
from simulator.arrivals.read import ReadArrivals, read_bytes, read_file, read_nodes_file
from simulator.arrivals.workload import PACE, SEED
from simulator.compare.comparison_run import Side
from simulator.kernel.prepared_types import prepared
from simulator.objects.durations import format_duration, parse_duration
from simulator.versions.features import DEFAULT_FEATURES, chosen_features

USUAL_PACE: Final = format_duration(PACE)


def play(
    arrivals: str | bytes | Path,
    nodes: str | bytes | Path = "",
    *,
    until: str = "",
    pace: str = USUAL_PACE,
    b: Mapping[str, Any] | None = None,
    server: str = "",
    **a: Any,
) -> PlayedFigures:
    """Play the arrivals of a file on the nodes of another one, and return what the scheduler did.

    arrivals, nodes: the ``Path`` of a file, or its contents; of the formats of docs/PLAY.md. until: the
    simulated time to play, such as ``90m``; "" = an hour longer than the last pod. pace: the simulated time
    of a scheduling cycle. a: the fields of :class:`schedviz.sandbox_documents.PlayedSide`: ``config``,
    ``seed``, ``kubernetes``, ``feature_gates``, ``queue``. b: those of a second scheduler. server: the URL of
    a server that plays it; "" = this process does.

    Raises ArrivalError for a line that cannot be read, ConfigError and ValueError for wrong fields; with a
    server StatusError."""
    sides = [msgspec.convert({**given}, prepared(PlayedSide)) for given in (a, b) if given is not None]
    if server:
        second = sides[1] if len(sides) > 1 else None
        asked = PlayRequest(
            arrivals_base64=data_of(arrivals),
            nodes_base64=data_of(nodes),
            until=until,
            pace=pace,
            a=sides[0],
            b=second,
        )
        return Server(server).play(asked)
    read, there = read_workload_files(arrivals, nodes)
    schedulers = [_side(each, read) for each in sides]
    workload = workload_of(read, there, "played", parse_duration(pace), schedulers[0])
    playing = PlayRun(workload, schedulers, parse_duration(until) if until else workload.duration)
    for _ in playing.run():
        pass
    return playing.result().figures()


def read_workload_files(
    arrivals: str | bytes | Path, nodes: str | bytes | Path
) -> tuple[ReadArrivals, list[Manifest]]:
    """Read the arrivals and the nodes of a workload. Raises ArrivalError, ManifestError, OSError."""
    read = read_file(arrivals) if isinstance(arrivals, Path) else read_bytes(data_of(arrivals))
    return read, read_nodes_file(data_of(nodes)) if nodes else []


def data_of(given: str | bytes | Path) -> bytes:
    """Return the contents of a file that is given as its path, as text or as they are."""
    if isinstance(given, Path):
        return given.read_bytes()
    return given.encode() if isinstance(given, str) else given


def _side(asked: PlayedSide, read: ReadArrivals) -> Side:
    features = chosen_features(DEFAULT_FEATURES, asked.kubernetes, asked.feature_gates)
    config = read.config if asked.config is msgspec.UNSET else asked.config
    seed = SEED if asked.seed is msgspec.UNSET else asked.seed
    return Side(config, asked.queue, seed, features)
