"""The connection that a kubeconfig describes, or that a pod has in its cluster.

It is loaded by the official Python client, which alone of those with wheels has what kubeconfigs contain:
exec plugins of all versions, also such that give certificates, the refreshing of OIDC tokens, several files
in KUBECONFIG, proxies and ``tls-server-name``.
"""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from kubernetes.client.configuration import Configuration
from kubernetes.config import ConfigException, load_incluster_config
from kubernetes.config.incluster_config import SERVICE_HOST_ENV_NAME
from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger
from urllib3.exceptions import HTTPError
from yaml import YAMLError

from schedviz.real_cluster.contexts import existing_files, kubeconfig_files, no_kubeconfig, read_contexts
from schedviz.real_cluster.errors import ClusterError
from schedviz.real_cluster.kubeconfig_entries import Entries, check_certificates, find_entries, say_fault

NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
IN_CLUSTER: Final = "in-cluster"
NOT_FOUND: Final = re.compile(r"\[Errno 2\] No such file or directory: '(.*)'")
CONTEXTS_NAMED: Final = 10
"""Maximum number of contexts in the message about one that does not exist."""


class Connection(NamedTuple):
    configuration: Configuration
    context: str
    """The name of the context; IN_CLUSTER for the service account of a pod."""
    namespace: str


def connect(kubeconfig: str = "", context: str = "") -> Connection:
    """Return the connection of a context: of a file, else of those in KUBECONFIG, else of the usual file,
    else that of the pod in which the program runs. ``context``: "" = the current one. Raises ClusterError."""
    files = kubeconfig_files(kubeconfig)
    found = existing_files(files)
    if not found and not kubeconfig and SERVICE_HOST_ENV_NAME in os.environ:
        return _connect_in_cluster()
    if not found:
        raise no_kubeconfig(files)
    with _faults_of(files):
        merged = KubeConfigMerger(files)
        known, current = read_contexts(files)
        name = context or current
        if not name:
            raise ConfigException(f"no current context is set; choose one by --context: {_listed(known)}")
        if name not in known:
            raise ConfigException(f'no context "{name}"; there are: {_listed(known)}')
        entries = find_entries(merged.config, name)
        configuration = Configuration()
        with _logged_failures() as failures, _faults_of_fields(entries):
            loader = KubeConfigLoader(
                merged.config,
                active_context=name,
                config_base_path=None,
                config_persister=merged.save_changes,
            )
            loader.load_and_set(configuration)
        if failures and not configuration.api_key and not configuration.cert_file:
            raise ConfigException(_plugin_failure(say_fault(failures[0], entries)))
        if not loader.__dict__.get("host"):
            raise ConfigException(f'the cluster of the context "{name}" has no server')
        if "://" not in configuration.host:
            raise ConfigException(
                f'the server of the context "{name}" has neither http:// nor https://: {configuration.host}'
            )
        check_certificates(configuration, entries)
    return Connection(configuration, name, entries.context.fields.get("namespace") or "default")


def _plugin_failure(text: str) -> str:
    missing = NOT_FOUND.fullmatch(text)
    if missing is None:
        return text
    return f'the plugin for credentials "{missing[1]}" is not installed, or not in the PATH'


def _listed(names: list[str]) -> str:
    more = len(names) - CONTEXTS_NAMED
    return (", ".join(names[:CONTEXTS_NAMED]) or "none") + (f" and {more} more" if more > 0 else "")


def _connect_in_cluster() -> Connection:
    configuration = Configuration()
    with _faults_of(IN_CLUSTER):
        load_incluster_config(client_configuration=configuration)
        namespace = NAMESPACE_FILE.read_text().strip() if NAMESPACE_FILE.exists() else ""
    return Connection(configuration, IN_CLUSTER, namespace or "default")


@contextmanager
def _faults_of(name: str) -> Iterator[None]:
    """Raise all that a wrong file leads to as ClusterError."""
    try:
        yield
    except ClusterError:
        raise
    except OSError as failure:
        raise ClusterError(
            f"kubeconfig {name}: "
            + ": ".join(filter(None, (failure.filename, failure.strerror or str(failure))))
        ) from None
    except Exception as failure:  # the loader checks little of a file, and each fault raises something else
        text = " ".join(str(failure).split())
        if isinstance(failure, YAMLError):
            text = f"not a kubeconfig: {text}"
        elif not isinstance(failure, ConfigException):
            text = "not a kubeconfig"
        raise ClusterError(f"kubeconfig {name}: {text}") from None


@contextmanager
def _faults_of_fields(entries: Entries) -> Iterator[None]:
    try:
        yield
    except ConfigException as failure:
        raise ConfigException(say_fault(str(failure), entries)) from None
    except HTTPError as failure:  # of the server that renews tokens
        cause = getattr(failure, "reason", None) or failure
        raise ConfigException(f"{entries.user.path}: the token cannot be renewed: {cause}") from None


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def _logged_failures() -> Iterator[list[str]]:
    """Collect what the loader only logs: that a plugin for credentials failed."""
    collector, root = _Collector(), logging.getLogger()
    before, root.handlers = root.handlers, [collector]  # it is said once, as what ends the command
    try:
        yield collector.messages
    finally:
        root.handlers = before
