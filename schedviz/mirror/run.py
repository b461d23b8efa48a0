"""Mirrors a cluster until it is stopped: session after session."""

import threading
from argparse import Namespace
from collections.abc import Callable
from typing import Final

import msgspec
from redis.exceptions import RedisError

from schedviz.kubectl_plugin.options import open_reader
from schedviz.kubectl_plugin.read_once import Scheduler
from schedviz.mirror.progress import ProgressNotes
from schedviz.mirror.session import Cluster, MirrorError, Session
from schedviz.mirror.writer import Listener
from schedviz.real_cluster.errors import ClusterError, Refused
from schedviz.real_cluster.read_resources import NEEDED, fault_of_needed, list_path
from schedviz.real_cluster.reader import ClusterReader
from schedviz.store import Gone, LimitReached, NoSandbox, Overtaken, StaleLease, Store, Unreadable
from schedviz.store.connected_mirrors import NAMESPACES_AT_MOST, split_namespaces
from schedviz.store.store import NAME
from simulator.apiserver.resources import NODES, PODS
from simulator.command_line.files import InputError
from simulator.dumps.listed_objects import ListFault
from simulator.kernel.prepared_types import prepared
from simulator.scheduler import extender_http

WITHOUT_NODES: Final = "a mirror needs them, and kubectl schedviz why POD -n NAMESPACE does not"
AGAIN_SECONDS: Final = 5.0
"""The time before a new session, after one that ended by a failure of the cluster or of Redis."""


def read_options(options: Namespace) -> Cluster:
    """Connect as the options say, and read the version and the configuration of the scheduler. Raises
    ClusterError, also where nodes or pods may not be listed, and InputError."""
    namespaces = read_namespaces(options.namespaces)
    reader = open_reader(options)
    scheduler = Scheduler(reader, options)
    scheduler.frameworks()
    totals, all_pods = {}, True
    for resource in NEEDED:
        try:
            totals[resource.plural] = _count(reader.get(list_path(resource), {"limit": "1"}))
        except Refused as refused:
            if resource == NODES or not (namespaces and refused.is_forbidden):
                raise fault_of_needed(resource, refused, WITHOUT_NODES if resource == NODES else "") from None
            all_pods = False
            for namespace in namespaces:
                _look(reader, namespace)
    return Cluster(
        lambda: open_reader(options),
        reader.context,
        reader.server,
        scheduler.said,
        scheduler.features,
        scheduler.configuration,
        extender_http.HttpTransport(options.allow_extender_host),
        scheduler.source,
        scheduler.gates,
        namespaces,
        all_pods,
        totals,
    )


def read_namespaces(text: str) -> tuple[str, ...]:
    """Return the namespaces of the option. Raises InputError."""
    found = split_namespaces(text)
    if len(found) > NAMESPACES_AT_MOST:
        raise InputError(f"--namespaces: at most {NAMESPACES_AT_MOST}, not {len(found)}")
    for each in found:
        if not NAME.fullmatch(each):
            raise InputError(f"--namespaces: {each!r} is no name of a namespace")
    return found


def _look(reader: ClusterReader, namespace: str) -> None:
    """Raises ClusterError if the pods of a namespace may not be listed."""
    try:
        reader.get(list_path(PODS, namespace), {"limit": "1"})
    except Refused as refused:
        raise fault_of_needed(PODS, refused) from None


class _ListMeta(msgspec.Struct, rename="camel"):
    remaining_item_count: int = 0


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


def _count(page: bytes) -> int:
    """Return how many objects a list has, of which this is the first page; 0 = it does not say it."""
    try:
        first = msgspec.json.decode(page, type=prepared(_List))
    except msgspec.MsgspecError:
        return 0
    return len(first.items or ()) + first.metadata.remaining_item_count


def run_mirror(
    store: Store,
    name: str,
    cluster: Cluster,
    say: Callable[[str], object],
    stopping: threading.Event,
    *,
    listener: Listener | None = None,
    progress: ProgressNotes | None = None,
    access: str | None = None,
) -> None:
    """Follow until ``stopping`` is set. Raises ClusterError if the first session does not begin, MirrorError
    if no further one can."""
    has_followed = False
    if progress:
        progress.totals = cluster.totals

    def said(text: str) -> None:
        nonlocal has_followed
        has_followed = True
        say(text)

    while not stopping.is_set():
        try:
            Session(store, name, cluster, said, listener=listener, progress=progress, access=access).run(
                stopping
            )
        except NoSandbox:
            raise MirrorError(f"the sandbox {name} was deleted") from None
        except (StaleLease, LimitReached, Unreadable) as ended:
            raise MirrorError(str(ended)) from None
        except (ClusterError, ListFault) as failure:
            if not has_followed:
                raise ClusterError(str(failure)) from None
            say(f"{failure}; a new session begins in {AGAIN_SECONDS:g} s")
        except (RedisError, Gone, Overtaken) as failure:
            say(f"Redis: {failure}; a new session begins in {AGAIN_SECONDS:g} s")
        stopping.wait(AGAIN_SECONDS)
