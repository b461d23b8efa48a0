"""Print the part of a cluster dump that schedviz imports, and report what it leaves out.

The dump is the output of ``kubectl get ... -A -o json`` (or ``-o yaml``), that of ``kubectl cluster-info
dump``, or a recording of a sandbox. The result is a List in JSON with one object a line. You can check it
before you give the dump to somebody else, and use it instead of the dump for ``explain``, ``whatif`` and the
home page. It does not contain Secrets, ConfigMaps, environment variables, commands, probes, or annotations
other than those of Kubernetes components.
"""

import argparse
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from simulator.api import SECOND
from simulator.apiserver.bounds import ManifestError
from simulator.command_line.files import InputError, file_name, read_dump
from simulator.command_line.memory_limit import add_memory_option, limit_memory
from simulator.command_line.output import print_failure, print_lines, safe_json, write_json_line
from simulator.dumps.dump import Dump
from simulator.dumps.imported import Import, ImportReport, import_dump
from simulator.dumps.imported_kinds import KindOutcome
from simulator.dumps.kubelet_versions import READ_FEATURES
from simulator.recording import Entry
from simulator.versions.features import Features

SALT_BYTES = 32

OUTCOME_TEXTS: dict[KindOutcome, str] = {
    "taken": "taken",
    "private": "left out: may contain secrets",
    "unread": "left out: not used by the simulator",
    "unsimulated": "left out: a sandbox has no controller of them",
    "admission": "left out: policies and webhooks are not imported",
    "custom": "left out: a custom resource",
    "version": "left out: another version of a known kind",
    "gated": "left out: the feature gate is off",
    "untyped": "left out: without apiVersion and kind",
}


class CleanedHeader(msgspec.Struct):
    """The first line of the output with ``--lines``."""

    report: ImportReport
    began: Entry | None
    ended: Entry | None
    """The last entry of a recording, see :class:`simulator.dumps.dump.Dump`."""


class CleanedObject(msgspec.Struct, array_like=True):
    """A further line of the output with ``--lines``."""

    resource: str
    key: str
    object: msgspec.Raw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dump", type=Path, help="JSON or YAML, also gzipped, or a folder of it; - is stdin")
    parser.add_argument(
        "--lines", action="store_true", help="for programs: print the report, then one object a line"
    )
    add_memory_option(parser)


def run(options: argparse.Namespace) -> int:
    limit_memory(options)
    try:
        clean(read_dump(options.dump), sys.stdout.buffer, lines=options.lines)
    except InputError as failure:
        print_failure("clean", failure)
        return 1
    except ManifestError as failure:
        print_failure("clean", f"{file_name(options.dump)}: {failure}")
        return 1
    except MemoryError:
        print_failure("clean", f"reading the dump needs more than {options.memory_mib} MiB")
        return 1
    return 0


def clean(dump: Dump, out: BinaryIO, *, lines: bool) -> None:
    """Write the objects to ``out``, and a report to stderr. If it raises ManifestError, nothing was
    written."""
    taken = import_now(dump)
    # Keep the objects as JSON: as Python values they would need ten times the memory.
    packed = [(c.resource, c.key, safe_json(msgspec.json.encode(c.object))) for c in taken.changes()]
    if lines:
        write_json_line(out, msgspec.json.encode(CleanedHeader(taken.report, dump.began, dump.ended)))
        for resource, key, body in packed:
            write_json_line(out, msgspec.json.encode(CleanedObject(resource, key, msgspec.Raw(body))))
        return
    out.write(b'{"apiVersion":"v1","kind":"List","items":[\n')
    out.write(b",\n".join(body for _, _, body in packed))
    out.write(b"\n]}\n")
    print_lines(report_lines(taken.report), sys.stderr)


def import_now(dump: Dump, features: Features = READ_FEATURES) -> Import:
    """Import all objects of a dump. Raises ManifestError."""
    return import_dump(dump, int(time.time()) * SECOND, secrets.token_bytes(SALT_BYTES), features)


def refusal_lines(report: ImportReport) -> Iterator[str]:
    """Yield the invalid objects with the reasons, and the number of those that the report does not name."""
    yield from report.refused
    if report.refusals > len(report.refused):
        yield f"and {report.refusals - len(report.refused)} more objects"


def report_lines(report: ImportReport) -> Iterator[str]:
    """Yield the lines of the report."""
    yield f"{report.taken} of {report.came} objects taken"
    for kind in report.kinds:
        yield f"  {kind.came:>6} {kind.kind} {kind.api_version}: {OUTCOME_TEXTS[kind.outcome]}"
    for count, words in (
        (report.repeated, "are contained twice; the first one is imported"),
        (report.orphaned, "have owners that are not imported; the references are removed"),
        (report.namespaces, "missing namespaces are created"),
        (report.stray, "pods are bound to nodes that are not imported"),
        (report.claiming, "pods have ResourceClaims that are not imported"),
    ):
        if count:
            yield f"  {count:>6} {words}"
    for name, count in report.schedulers.items():
        yield f"  {count:>6} pending pods wait for the scheduler {name}"
    for path, count in report.dropped.items():
        yield f"  {count:>6} without {path}"
    yield from (f"  refused: {line}" for line in refusal_lines(report))
