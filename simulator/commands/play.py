"""Play a workload: arrivals of pods on the nodes of a file, in memory.

The file of arrivals is a CSV or JSON Lines (docs/PLAY.md has the columns), pods of the openb trace, the Azure
trace for packing, a recording of KWOK, SimKube or kube-scheduler-simulator, or an export of the latter. The
nodes are a CSV, or manifests. With options of side B, it is played under two schedulers.

Before it is played, it is checked: names, values, admission, and whether each pod fits an empty node."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.arrivals.arrival import Arrival, count_pods, encode
from simulator.arrivals.play_run import Played, PlayRun, workload_of
from simulator.arrivals.read import ReadArrivals, read_bytes, read_file, read_nodes_file
from simulator.arrivals.workload import PACE, SEED, PlayedWorkload, Unfit, played_scenario, unfit_warning
from simulator.command_line.files import (
    STANDARD_INPUT,
    InputError,
    faults_of,
    read_configuration,
    read_duration,
)
from simulator.command_line.files import (
    read_file as read_data,
)
from simulator.command_line.memory_limit import add_memory_option, limit_memory
from simulator.command_line.output import (
    print_failure,
    print_json,
    print_lines,
    print_progress,
    safe_json,
    write_json_line,
)
from simulator.commands.clean import CleanedObject
from simulator.commands.compare import (
    add_side_options,
    decided_again_lines,
    figure_lines,
    first_difference_text,
    side_of,
)
from simulator.compare.comparison_run import Side
from simulator.decision_columns import plain_encoder
from simulator.objects import durations

NOTES: Final = 20
"""Maximum number of notes on a file that are shown."""
SIDE_B: Final = ("b", "queue_b", "seed_b", "kubernetes_b", "feature_gates_b")
"""The options with which there is a second side."""


class WorkloadHeader(msgspec.Struct, frozen=True):
    """The first line of the output with ``--lines``. The further lines are
    :class:`simulator.commands.clean.CleanedObject`."""

    pods: int
    objects: int
    """Number of objects that are there at the beginning."""
    duration: Micros
    unfit_pods: int
    unfit: list[Unfit]
    config: Manifest | None
    notes: list[str] = []
    """What of the file is not played, or not as it says; the first NOTES lines."""
    notes_count: int = 0

    def lines(self) -> list[str]:
        """Return the notes, and the arrivals that fit no node."""
        return [*first_notes(self.notes, self.notes_count), *map(str, self.unfit)]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("arrivals", type=Path, help="the arrivals, of any of the formats; - = standard input")
    parser.add_argument(
        "--nodes", type=Path, help="the nodes, CSV or manifests; needed if the arrivals have none"
    )
    parser.add_argument("--machine", type=int, help="of the Azure trace: the kind of machine")
    parser.add_argument(
        "--convert", action="store_true", help="print arrivals and nodes as JSON Lines, and end"
    )
    parser.add_argument(
        "--pace",
        default=durations.format_duration(PACE),
        help="simulated time that a scheduling cycle takes",
    )
    parser.add_argument(
        "--until", help="simulated time to stop at, e.g. 90m; by default an hour after the last end"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="settles ties")
    add_side_options(parser)
    parser.add_argument(
        "--lines", type=int, metavar="TIME", help="for programs: print the cluster as of a time"
    )
    parser.add_argument("--pods-at-most", type=int, help="with --lines: refuse a workload of more pods")
    parser.add_argument("--objects-at-most", type=int, help="with --lines: and one of more objects in all")
    add_memory_option(parser)
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def run(options: Namespace, show_result: Callable[[Played, list[str]], None] | None = None) -> int:
    """Run the command. ``show_result`` is given the result and what each side is, in words; None = print
    it."""
    limit_memory(options)
    try:
        read, nodes = read_input(options)
        if options.convert:
            for arrival in (*(Arrival(0, object=node) for node in nodes), *read.arrivals):
                write_json_line(sys.stdout.buffer, encode(arrival))
            return 0
        refuse_more(count_pods(read.arrivals), options.pods_at_most, "pods")
        workload, sides = prepare(options, read, nodes)
        if options.lines is not None:
            write_cluster(sys.stdout.buffer, options, workload, read.notes)
            return 0
        print_lines(note_lines(read.notes), sys.stderr)
        played = play(options, workload, sides)
    except InputError as failure:
        print_failure("play", failure)
        return 1
    except MemoryError:
        print_failure("play", f"reading the workload needs more than {options.memory_mib} MiB")
        return 1
    if show_result is None:
        show(options, played)
    else:
        show_result(played, [describe(options, side, name) for side, name in zip(sides, "ab", strict=False)])
    return 0


def note_lines(notes: Sequence[str]) -> Iterator[str]:
    """Return what of the file is not played, for stderr."""
    return (f"play: {note}" for note in first_notes(notes, len(notes)))


def first_notes(notes: Sequence[str], count: int) -> list[str]:
    """Return the first NOTES notes, and how many there are more of ``count``."""
    return [*notes[:NOTES], *([f"and {count - NOTES:,} more"] if count > NOTES else ())]


def write_cluster(
    out: BinaryIO, options: Namespace, workload: PlayedWorkload, notes: Sequence[str] = ()
) -> None:
    """Write a WorkloadHeader, and a CleanedObject for each object that is there at the beginning. Raises
    InputError for a workload that is too large, before anything is written."""
    changes = workload.cluster(options.lines, for_servers=True)
    refuse_more(len(changes) + workload.pods, options.objects_at_most, "objects, with its pods")
    header = WorkloadHeader(
        workload.pods,
        len(changes),
        workload.duration,
        workload.unfit_pods,
        workload.unfit,
        workload.scenario.config,
        [*notes[:NOTES]],
        len(notes),
    )
    write_json_line(out, msgspec.json.encode(header))
    for change in changes:
        body = msgspec.Raw(safe_json(msgspec.json.encode(change.object)))
        write_json_line(out, msgspec.json.encode(CleanedObject(change.resource, change.key, body)))


def refuse_more(count: int, at_most: int | None, words: str) -> None:
    """Raise InputError for a workload that a sandbox cannot hold. at_most: None and 0 = no limit."""
    if at_most and count > at_most:
        raise InputError(
            f"the workload has {count:,} {words}; a sandbox holds at most {at_most:,}. "
            "`schedviz play` plays it in memory"
        )


def show(options: Namespace, played: Played) -> None:
    if options.output == "json":
        print_json(plain_encoder.encode(played))
    else:
        print_lines(report_lines(played))


def describe(options: Namespace, side: Side, name: str) -> str:
    """Return what a side is, in words."""
    path = getattr(options, name)
    return f"{'default' if path is None else path.name}, Kubernetes {side.features}, seed {side.seed}"


def read_input(options: Namespace) -> tuple[ReadArrivals, list[Manifest]]:
    """Read the files of the command. Raises InputError."""
    with faults_of(options.arrivals):
        if options.arrivals == STANDARD_INPUT:
            read = read_bytes(read_data(options.arrivals))
        else:
            read = read_file(options.arrivals, options.machine)
    nodes: list[Manifest] = []
    if options.nodes is not None:
        data = read_data(options.nodes)
        with faults_of(options.nodes):
            nodes = read_nodes_file(data)
    return read, nodes


def play(options: Namespace, workload: PlayedWorkload, sides: list[Side]) -> Played:
    """Play a workload. What fits no node is said on stderr before. Raises InputError."""
    if workload.unfit:
        warning = unfit_warning(workload.pods, workload.unfit_pods, workload.unfit)
        print_lines([f"play: {warning}"], sys.stderr)
    duration = workload.duration if options.until is None else read_duration("--until", options.until)
    playing = PlayRun(workload, sides, duration)
    for done in playing.run():
        print_progress(f"{done:.0%}")
    return playing.result()


def prepare(
    options: Namespace, read: ReadArrivals, nodes: list[Manifest]
) -> tuple[PlayedWorkload, list[Side]]:
    """Return the checked workload, and the sides of the options. Raises InputError."""
    config = read_configuration(options.a) if options.a is not None else read.config
    made = played_scenario(options.arrivals.stem, read_duration("--pace", options.pace), options.seed)
    made = msgspec.structs.replace(made, config=config)
    given = vars(options)
    a = side_of(made, given, "_a")
    with faults_of(options.arrivals):
        workload = workload_of(read, nodes, made.name, made.pace, a)
    sides = [a] if not any(given[option] for option in SIDE_B) else [a, side_of(made, given, "_b")]
    return workload, sides


# Output as text


def report_lines(played: Played) -> Iterator[str]:
    end = durations.format_duration(played.end // SECOND * SECOND)
    yield f"{played.pods:,} pods in {end} of simulated time"
    yield ""
    found = played.comparison
    if found is None:
        yield from figure_lines({"A": played.a})
        return
    yield from figure_lines({"A": found.a, "B": found.b})
    yield ""
    yield first_difference_text(found.difference)
    if found.decided_again is not None:
        yield ""
        yield from decided_again_lines(found.decided_again)
