"""``manage.py mirror``: a sandbox that follows a real cluster. It starts schedviz where none runs."""

import os
import signal
import sys
import threading
from argparse import SUPPRESS, ArgumentParser, Namespace
from typing import Any, Final

import msgspec
from django.conf import settings

from schedviz import environment
from schedviz.kubectl_plugin.options import TIMEOUT, add_scheduler
from schedviz.mirror.progress import ProgressNotes
from schedviz.mirror.report import find_mirror, make_report
from schedviz.mirror.run import read_options, run_mirror
from schedviz.mirror.session import Cluster, MirrorError
from schedviz.processes.periodic import PeriodicCall, PeriodicThread
from schedviz.processes.process_name import make_process_name
from schedviz.processes.shared_metrics import WRITE_SECONDS, SharedMetrics
from schedviz.real_cluster.errors import ClusterError
from schedviz.store import Store
from schedviz.store.connected_mirrors import ConnectedMirrors, mirror_name
from schedviz.up.embedded_redis import DataDirectoryInUse, lock
from schedviz.up.management.commands import up
from schedviz.up.operator_store import operator_redis_url, stored_data
from schedviz.up.supervisor import Program
from simulator.command_line.files import InputError
from simulator.command_line.output import print_json, print_lines
from simulator.verdicts.report import markdown_lines

REPORT_HOURS: Final = 24.0
NO_MIRROR: Final = 2
"""The exit status if there is nothing to mirror, as of ``kubectl schedviz``."""


class Command(up.Command):
    help = "Follow a real cluster in a sandbox, read-only; it starts schedviz where none runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action",
            nargs="?",
            choices=["follow", "report"],
            default="follow",
            help="report: print what the scheduler did in the last hours, and what the model says of it",
        )
        parser.add_argument(
            "--hours", type=float, default=REPORT_HOURS, help="of the report; by default a day"
        )
        parser.add_argument(
            "-o", "--output", choices=["markdown", "json"], default="markdown", help="of the report"
        )
        parser.add_argument("--kubeconfig", default="", metavar="FILE", help="the kubeconfig to use")
        parser.add_argument(
            "--context", default="", metavar="NAME", help="the context of the kubeconfig to use"
        )
        parser.add_argument(
            "--name", default="", metavar="NAME", help="of the sandbox; by default that of the context"
        )
        parser.add_argument(
            "--namespaces",
            default="",
            metavar="NAME,...",
            help="follow only these; of the pods of others only the room that they take on nodes is kept",
        )
        parser.add_argument(
            "--request-timeout",
            default=TIMEOUT,
            metavar="DURATION",
            help=f"how long to wait for each answer of the API server; by default {TIMEOUT}",
        )
        # What the page starts, of which it shows how it goes.
        parser.add_argument("--connected", action="store_true", help=SUPPRESS)
        add_scheduler(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        given = Namespace(**options)
        store = Store(settings.REDIS_URL, settings.REDIS_CLUSTER_URLS)
        mirrors = ConnectedMirrors(store.redis)
        progress = ProgressNotes(mirrors, given.name) if given.connected else None
        wanted = mirrors.find(given.name) if given.connected else None
        try:
            if given.action == "report":
                _print_report(given)
                return
            cluster = read_options(given)
            if environment.secret_given("REDIS_URL"):
                name = given.name or mirror_name(cluster.context)
                self._join(store, name, cluster, progress, wanted.access if wanted else None)
                return
        except (ClusterError, InputError, MirrorError) as failure:
            self.stderr.write(f"mirror: {failure}")
            if progress:
                progress.end(str(failure))
            sys.exit(NO_MIRROR)
        own = [sys.executable, "-m", "schedviz", *sys.argv[1:]]
        if _is_running():
            # The settings of a process do not change, so another one joins.
            environment.pass_secret("REDIS_URL", operator_redis_url())
            environment.pass_secret("REDIS_PASSWORD", "")
            os.execv(sys.executable, own)  # noqa: S606 (our own command)
        self.further_programs = [Program("mirror", own)]
        super().handle(*args, **options)

    def _join(
        self, store: Store, name: str, cluster: Cluster, progress: ProgressNotes | None, access: str | None
    ) -> None:
        """Mirror into the schedviz of REDIS_URL. Raises ClusterError, MirrorError."""
        stopping = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopping.set())
        metrics = SharedMetrics(store.redis, "mirror", make_process_name())
        thread = PeriodicThread([PeriodicCall(WRITE_SECONDS, metrics.write)], lambda: None)
        thread.start()
        try:
            run_mirror(store, name, cluster, self._say, stopping, progress=progress, access=access)
        finally:
            thread.stop()
            metrics.stop()


def _print_report(given: Namespace) -> None:
    """Raises MirrorError."""
    with stored_data() as store:
        sandbox = find_mirror(store, given.name)
        report = make_report(sandbox, given.hours)
        title = sandbox.meta().title
    if given.output == "json":
        print_json(msgspec.json.encode(report))
    else:
        print_lines(markdown_lines(report, f"The scheduler of {title}"))


def _is_running() -> bool:
    """Whether schedviz runs with this DATA_DIR."""
    try:
        with lock(settings.DATA_DIR):
            return False
    except DataDirectoryInUse:
        return True
