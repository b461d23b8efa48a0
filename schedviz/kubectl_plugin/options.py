"""The options of the commands, as kubectl has them, and the connection that they describe."""

import argparse
from pathlib import Path
from typing import Final

from schedviz.real_cluster.kubeconfig import connect
from schedviz.real_cluster.reader import ClusterReader
from simulator.api import SECOND
from simulator.command_line.files import InputError, read_duration
from simulator.command_line.version_options import add_version_options
from simulator.scheduler import extender_http

TIMEOUT: Final = "30s"


def add_connection(parser: argparse.ArgumentParser, *, all_namespaces: bool) -> None:
    parser.add_argument("--kubeconfig", default="", metavar="FILE", help="the kubeconfig to use")
    parser.add_argument("--context", default="", metavar="NAME", help="the context of the kubeconfig to use")
    parser.add_argument("-n", "--namespace", default="", metavar="NAME", help="the namespace")
    if all_namespaces:
        parser.add_argument(
            "-A", "--all-namespaces", action="store_true", help="all namespaces; so it is without -n, too"
        )
    parser.add_argument(
        "--request-timeout",
        default=TIMEOUT,
        metavar="DURATION",
        help=f"how long to wait for each answer of the API server; by default {TIMEOUT}",
    )
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="the scheduler's KubeSchedulerConfiguration"
    )
    parser.add_argument(
        "--config-map",
        default="",
        metavar="NAMESPACE/NAME[:KEY]",
        help="a ConfigMap of the cluster that has it",
    )
    add_version_options(parser, default="the cluster's")
    extender_http.add_argument(parser)


def open_reader(options: argparse.Namespace) -> ClusterReader:
    """Raises ClusterError, InputError."""
    timeout = read_duration("--request-timeout", options.request_timeout)
    if timeout <= 0:
        raise InputError("--request-timeout: it must be longer than 0s")
    return ClusterReader(connect(options.kubeconfig, options.context), timeout / SECOND)
