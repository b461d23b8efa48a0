"""Print what schedviz would take over of a dump of your cluster, and say what it would leave out.

The dump is what ``kubectl get ... -A -o json`` (or ``-o yaml``) prints, or a recording of a sandbox. What
comes out is a List in JSON, an object a line: to be looked at before the dump is given away, and as good as
the dump for ``explain``, ``whatif`` and the home page. Secrets and ConfigMaps, environments, commands,
probes, and annotations but those of Kubernetes' own components are not in it.
"""

import argparse
import os
import resource
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from simulator.api import SECOND
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.dump import Dump, DumpError
from simulator.apiserver.imported import Fate, Import, Report
from simulator.recording import Entry

SALT_BYTES = 32
NICENESS = 10
"""Under a bound, somebody else's work goes first."""

WORDS: dict[Fate, str] = {
    "taken": "taken",
    "private": "left out: may hold secrets",
    "unread": "left out: nothing here reads it",
    "unsimulated": "left out: not simulated",
    "custom": "left out: a custom resource",
    "version": "left out: another version of a known kind",
    "untyped": "left out: without apiVersion and kind",
}


class Cleaned(msgspec.Struct):
    """The first line for a program."""

    report: Report
    began: Entry | None
    ended: Entry | None
    """Of a recording: see :class:`Dump`."""


class Line(msgspec.Struct, array_like=True):
    """Each further line for a program."""

    resource: str
    key: str
    object: msgspec.Raw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dump", type=Path, help="JSON or YAML, also gzipped")
    parser.add_argument(
        "--lines", action="store_true", help="for programs: the report, then an object a line"
    )
    parser.add_argument("--memory-mib", type=int, help="give up rather than take more")


def run(options: argparse.Namespace) -> int:
    if options.memory_mib:
        os.nice(NICENESS)
        with suppress(ValueError, OSError):  # systems that know no such bound
            resource.setrlimit(resource.RLIMIT_AS, (options.memory_mib << 20,) * 2)
    try:
        clean(options.dump.read_bytes(), sys.stdout.buffer, lines=options.lines)
    except (ManifestError, OSError) as failure:
        print(f"clean: {failure}", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"clean: it takes more than {options.memory_mib} MiB to read", file=sys.stderr)
        return 1
    return 0


def clean(data: bytes, out: BinaryIO, *, lines: bool) -> None:
    """Raises ManifestError; nothing was written then."""
    dump = Dump(data)
    taken = taken_from(dump)
    # Packed again: as values all of it would take ten times the room.
    packed = [(c.resource, c.key, msgspec.json.encode(c.object)) for c in taken.changes()]
    if lines:
        out.write(msgspec.json.encode(Cleaned(taken.report, dump.began, dump.ended)) + b"\n")
        for resource, key, body in packed:
            out.write(msgspec.json.encode(Line(resource, key, msgspec.Raw(body))) + b"\n")
        return
    out.write(b'{"apiVersion":"v1","kind":"List","items":[\n')
    out.write(b",\n".join(body for _, _, body in packed))
    out.write(b"\n]}\n")
    print("\n".join(told(taken.report)), file=sys.stderr)


def taken_from(dump: Dump) -> Import:
    """All that a dump holds. Raises ManifestError."""
    taken = Import(int(time.time()) * SECOND, secrets.token_bytes(SALT_BYTES))
    for manifest in dump.manifests():
        taken.take(manifest)
    if not taken.anything:
        raise DumpError("there is nothing in it that a scheduler reads: no Node, no Pod")
    return taken


def told(report: Report) -> Iterator[str]:
    """The report, for people."""
    yield f"{report.taken} of {report.came} objects taken"
    for kind in report.kinds:
        yield f"  {kind.came:>6} {kind.kind} {kind.api_version}: {WORDS[kind.fate]}"
    for count, words in (
        (report.repeated, "came twice; the first counts"),
        (report.orphaned, "belong to owners that did not come along, and now to nobody"),
        (report.namespaces, "namespaces were missing, and are made"),
        (report.stray, "pods are bound to nodes that did not come along"),
        (report.claiming, "pods claim devices (resourceClaims): that is not simulated"),
    ):
        if count:
            yield f"  {count:>6} {words}"
    for name, count in report.schedulers.items():
        yield f"  {count:>6} pending pods wait for the scheduler {name}"
    for path, count in report.dropped.items():
        yield f"  {count:>6} without {path}"
    for refused in report.refused:
        yield f"  refused: {refused}"
