"""Creates a sandbox from an uploaded dump of a cluster, or from a recording.

A separate process, ``python -m simulator clean``, reads the dump and removes secret values. Reading may take
a minute and a gigabyte; meanwhile the web process must serve other requests. So no secret value enters the
web process either.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from selectors import EVENT_READ, DefaultSelector
from threading import Timer
from typing import IO, Final, NamedTuple

import msgspec
from django.conf import settings
from django.utils.translation import gettext
from redis.exceptions import RedisError

from schedviz.api.new_sandbox import new_sandbox, numbered
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.store.default import default_store
from schedviz.store.keys import PREFIX
from schedviz.store.places import Places, Share
from schedviz.web.reasons.yaml_faults import explain_file
from simulator.api import SECOND, Change
from simulator.commands.clean import CleanedHeader, CleanedObject
from simulator.dumps.dump_files import MAX_DUMP_BYTES
from simulator.dumps.imported import ImportReport, without_unserved
from simulator.dumps.kubelet_versions import imported_features
from simulator.kernel.prepared_types import prepared
from simulator.kernel.work import check_waiting
from simulator.scenario import DEFAULT_PACE
from simulator.simulation import Options

MEMORY_MIB: Final = 3072
"""Memory limit of the process: twice what a dump of 512 MiB, its packed objects and Python need."""
SECONDS: Final = 300
"""Time limit of the process. A dump of 50,000 pods takes one minute on a busy machine."""
WAIT_SECONDS: Final = 1.0
"""How often it is looked whether the client still waits."""
NAME: Final = "my-cluster"
UPLOAD_BYTES: Final = MAX_DUMP_BYTES + (1 << 16)
"""Maximum body of the form: the file, the other fields and the multipart headers."""

PLACES: Final = f"{PREFIX}:imports"
"""The key of the places of the dumps that are being read; each uses a core."""


class ImportFailed(Exception):
    """The dump cannot be imported; nothing was stored. The message is translated, for the page."""


class TakenCluster(NamedTuple):
    """A dump that is being read. The report is complete; ``changes`` can be iterated once."""

    cleaned: CleanedHeader
    changes: Iterator[Change]

    @property
    def report(self) -> ImportReport:
        return self.cleaned.report


@contextmanager
def read_dump(dump: Path, shares: Sequence[Share]) -> Iterator[TakenCluster]:
    """Context manager: start to read a dump, and yield the cluster. Raises LimitExceeded, ImportFailed, the
    latter also while its changes are iterated."""
    with read_by(["clean", "--lines", str(dump)], {str(dump): ""}, shares) as (first, objects):
        yield TakenCluster(msgspec.json.decode(first, type=prepared(CleanedHeader)), objects)


@contextmanager
def read_by(
    command: Sequence[str], names: Mapping[str, str], shares: Sequence[Share]
) -> Iterator[tuple[bytes, Iterator[Change]]]:
    """Context manager: start a command of the simulator that reads files, and yield the first line of its
    output, and the objects that it writes after it. names: what the page calls the files, by path. Raises as
    :func:`read_dump`."""
    places, holder = Places(default_store(), PLACES), token_hex(8)
    places.take(holder, SECONDS, shares)
    try:
        whole = [sys.executable, "-m", "simulator", *command, f"--memory-mib={MEMORY_MIB}"]
        with subprocess.Popen(  # noqa: S603 (our own program, no shell)
            whole, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            timer = Timer(SECONDS, process.kill)
            timer.start()
            try:
                first = _first_line(process, f"{command[0]}: ", names)
                assert process.stdout, "it is piped"
                yield first, changes(process, process.stdout)
            finally:
                timer.cancel()
                process.kill()
    finally:
        with suppress(RedisError):  # the place ends by itself
            places.leave(holder)


def _first_line(process: "subprocess.Popen[bytes]", prefix: str, names: Mapping[str, str]) -> bytes:
    """Return the first line of the output. ``prefix``: that of the command's messages."""
    assert process.stdout, "it is piped"
    assert process.stderr, "it is piped"
    with DefaultSelector() as output:
        output.register(process.stdout, EVENT_READ)
        while not output.select(WAIT_SECONDS):
            check_waiting()
    first = process.stdout.readline()
    if not first:
        # The process writes to stderr only if it fails.
        errors = process.stderr.read().decode(errors="replace").strip().splitlines()
        failed = process.wait()
        if failed == 1 and errors and errors[-1].startswith(prefix):
            raise ImportFailed(explain_file(errors[-1].removeprefix(prefix), names))
        raise ImportFailed(gettext("Reading the file takes too long, or needs too much memory."))
    return first


def changes(process: "subprocess.Popen[bytes]", lines: IO[bytes]) -> Iterator[Change]:
    """Yield the objects that the process writes. Raises ImportFailed if it ends before the last one."""
    decoder = msgspec.json.Decoder(prepared(CleanedObject))
    try:
        for text in lines:
            check_waiting()
            line = decoder.decode(text)
            yield Change(line.resource, line.key, msgspec.json.decode(line.object), expected=0)
    except msgspec.DecodeError:
        process.kill()  # the last line is truncated
    if process.wait() != 0:
        raise ImportFailed(gettext("Reading the file takes too long, or needs too much memory."))


def create_from_dump(
    store: Store, cluster: TakenCluster, name: str, access: str = "", kubernetes: str = ""
) -> Sandbox:
    """Create a paused sandbox with the objects of a cluster. A sandbox of a recording continues at the
    recorded time with the recorded options; another one has the version ``kubernetes``, "" = that of most
    kubelets. Raises StatusError, UnknownVersion, ValueError for a name that is not a DNS label."""
    began, ended = cluster.cleaned.began, cluster.cleaned.ended
    recorded = began.began.options if began and began.began else None
    options = recorded or Options(pace=DEFAULT_PACE)
    features = imported_features(began, cluster.report.kubelets, cluster.report.gates, kubernetes)
    wall = store.wall()
    now = ended.now if ended else int(wall) * SECOND
    meta = Meta(
        name=name,
        created=wall,
        seed=options.seed,
        pace=options.pace,
        config=options.config,
        queue=options.queue,
        kubernetes=features.version.patch,
        feature_gates=features.gates,
        stands_down=bool(options.stands_down),
        imported=cluster.report,
    )
    clock = Clock(sim=now, wall=wall, paused=True)
    names = [name] if name else numbered(store, NAME)
    changes = without_unserved(cluster.changes, features)
    with new_sandbox(store, names, meta, changes, clock, access=access) as sandbox:
        return sandbox
