"""Follows the objects of a real cluster: one list and one watch for each resource, as client-go does."""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from queue import Empty, Queue
from typing import Final, NamedTuple

from schedviz.real_cluster.errors import ClusterError, Refused
from schedviz.real_cluster.lists import list_pages
from schedviz.real_cluster.read_resources import (
    FIELD_SELECTORS,
    NEEDED,
    ROOM,
    fault_of_needed,
    list_path,
    say_elsewhere,
    say_unread,
)
from schedviz.real_cluster.reader import ClusterReader
from simulator.apiserver.resource import Resource
from simulator.dumps.followed_objects import Named, WatchLine, read_line, read_name, read_page
from simulator.dumps.listed_objects import ListFault

INBOX: Final = 2_000
"""Maximum number of messages that are not stored yet. Beyond it the watches are not read on, and the API
server ends those that are too slow."""
PAGES: Final = 10
"""Number of messages above which a page of a list waits, as it has some megabytes."""
PAGE_WAIT_SECONDS: Final = 0.05
WATCH_SECONDS: Final = (300, 600)
"""How long the server keeps a watch, as of client-go's reflectors."""
SILENCE_SECONDS: Final = 150.0
"""Seconds without a byte after which a watch counts as broken: servers send bookmarks every minute."""
PULSE_SECONDS: Final = 5.0
"""How often the server is asked whether it answers, and for its clock."""
BACK_OFF: Final = (0.8, 30.0)
"""The first and the longest time before a list or watch is tried again, as of client-go's reflectors."""
REFUSED_SECONDS: Final = 300.0
"""The time before a resource that is forbidden or not served is tried again."""
STOP_SECONDS: Final = 3.0
"""For how long the end waits for the threads. One whose server hangs ends later, by itself."""


class Message(NamedTuple):
    """What is heard of a resource, in order. ``kind``: BEGUN, a list begins, also where one was given up;
    PAGE, some of its objects; ENDED, it is complete; SEEN, a line of the watch."""

    kind: str
    resource: Resource
    objects: Sequence[bytes] = ()
    line: WatchLine | None = None
    named: Named | None = None
    """The object of the line."""
    received: float = 0.0
    """Monotonic seconds."""
    namespace: str = ""
    """Of a list: the namespace of its objects; "" = all."""

    @property
    def order(self) -> int:
        """The resourceVersion of the object of a line, by which the changes of several resources are sorted:
        it counts all writes of the cluster. 0 = not a number."""
        version = self.named.version if self.named else ""
        return int(version) if version.isdecimal() else 0


Take = Callable[[Message], None]


class ClusterFollower:
    """``inbox`` gets what the watches say. Each resource has a thread and a connection of its own."""

    def __init__(
        self,
        connect: Callable[[], ClusterReader],
        resources: Mapping[Resource, str],
        namespaces: Sequence[str] = (),
        *,
        all_pods: bool = True,
    ) -> None:
        """``resources``: what is unknown where one cannot be read. ``namespaces``: those that are followed;
        none = all. ``all_pods``: the pods of all namespaces are followed nevertheless, for their room."""
        self._connect = connect
        self.resources = resources
        self._namespaces = namespaces
        self._whole = {*ROOM} if all_pods else set()
        self.inbox: Queue[Message] = Queue(INBOX)
        self.unknown: list[str] = []
        """What could not be read at the start, and what is unknown thereby."""
        self._stopping = threading.Event()
        self.followers: list[_ResourceFollower] = []
        self._versions: dict[tuple[Resource, str], str] = {}
        self.pulse = _Pulse(connect, self._stopping)

    def _lists(self, resource: Resource) -> Sequence[str]:
        """Return the namespaces of which there is a list each; "" = all in one."""
        if not (self._namespaces and resource.namespaced) or resource in self._whole:
            return [""]
        return self._namespaces

    def list_all(self, take: Take, forget: Callable[[Resource, str], object]) -> None:
        """Read the first lists in this thread. ``forget`` is called with what cannot be read. Raises
        ClusterError, also if nodes or pods cannot be read."""
        reader = self._connect()
        for resource, unknown in self.resources.items():
            if self._namespaces and resource in self._whole and resource not in NEEDED:
                try:
                    reader.get(list_path(resource), {"limit": "1"})
                except Refused:
                    self._whole.discard(resource)
                    self.unknown.append(say_elsewhere(resource, unknown))
            for namespace in self._lists(resource):
                try:
                    self._versions[resource, namespace] = read_list(reader, resource, take, namespace)
                except Refused as refused:
                    if resource in NEEDED:
                        raise fault_of_needed(resource, refused) from None
                    said = say_unread(resource, refused, unknown)
                    self.unknown.append(f"{namespace}: {said}" if namespace else said)
                    forget(resource, namespace)

    def leave_out(self, resource: str) -> None:
        """Do not follow a resource, as not all fits."""
        left = next(each for each in self.resources if each.id == resource)
        self.unknown.append(f"{left.plural} (no room): {self.resources[left]}")
        self.resources = {each: unknown for each, unknown in self.resources.items() if each != left}

    def start(self) -> None:
        """Watch from the first lists on."""
        for resource in self.resources:
            for namespace in self._lists(resource):
                version = self._versions.get((resource, namespace), "")
                follower = _ResourceFollower(
                    self._connect(), resource, version, self.inbox, self._stopping, namespace=namespace
                )
                self.followers.append(follower)
                follower.start()
        self.pulse.start()

    def stop(self) -> None:
        self._stopping.set()
        for follower in self.followers:
            follower.interrupt()
        until = time.monotonic() + STOP_SECONDS
        for thread in (*self.followers, self.pulse):
            while thread.is_alive() and time.monotonic() < until:
                with suppress(Empty):  # it may wait for room
                    self.inbox.get_nowait()
                thread.join(0.02)

    @property
    def unauthorized(self) -> str:
        """What the server says where it does not accept the credentials any more; "" = it does."""
        return next((each.trouble for each in self.followers if each.is_unauthorized), "")

    @property
    def trouble(self) -> str:
        """What keeps the mirror from following, in one line; "" = nothing."""
        failing = [each for each in self.followers if each.trouble]
        if self.pulse.trouble or not failing:
            return self.pulse.trouble
        first = failing[0]
        more = f" (and {len(failing) - 1} more resources)" if len(failing) > 1 else ""
        return f"{first.resource.plural}: {first.trouble}{more}"


def read_list(reader: ClusterReader, resource: Resource, take: Take, namespace: str = "") -> str:
    """Read a list, and return its resourceVersion. ``namespace``: "" = all. Raises ClusterError."""
    version = ""

    def take_page(page: bytes) -> None:
        nonlocal version
        version, objects = read_page(page)
        take(Message("PAGE", resource, objects, namespace=namespace))

    begin = partial(take, Message("BEGUN", resource, namespace=namespace))
    list_pages(reader, list_path(resource, namespace), begin, take_page, FIELD_SELECTORS.get(resource, ""))
    take(Message("ENDED", resource, namespace=namespace))
    return version


class _ResourceFollower(threading.Thread):
    """Follows one resource (Reflector in client-go/tools/cache/reflector.go): a list, then watches, each from
    the version at which the last one ended; a new list where that is not kept any more (410)."""

    def __init__(
        self,
        reader: ClusterReader,
        resource: Resource,
        version: str,
        inbox: "Queue[Message]",
        stopping: threading.Event,
        *,
        namespace: str,
    ) -> None:
        """``version``: of the first list; "" = there was none."""
        super().__init__(name=f"follow {resource.plural}", daemon=True)
        self._reader = reader
        self.resource = resource
        self.version = version
        self._namespace = namespace
        self._inbox = inbox
        self._stopping = stopping
        self._failures = 0
        self.is_unauthorized = False
        self.trouble = ""

    def interrupt(self) -> None:
        self._reader.interrupt()

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                if not self.version:
                    self.version = read_list(self._reader, self.resource, self._put, self._namespace)
                    self._recovered()
                self._watch()
            except Refused as refused:
                if refused.is_expired:
                    self.version = ""
                elif (refused.is_forbidden or refused.is_missing) and self.resource not in NEEDED:
                    if self.version:  # it was allowed before
                        self.trouble = str(refused)
                    self.version = ""
                    self._stopping.wait(REFUSED_SECONDS)
                else:
                    self._failed(str(refused), is_unauthorized=refused.code == 401)
            except (ClusterError, ListFault) as failure:
                self._failed(str(failure))

    def _watch(self) -> None:
        query = {
            "resourceVersion": self.version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(random.randint(*WATCH_SECONDS)),  # noqa: S311 (spreads the load)
            "fieldSelector": FIELD_SELECTORS.get(self.resource, ""),
        }
        given = {name: value for name, value in query.items() if value}
        for text in self._reader.watch(list_path(self.resource, self._namespace), given, SILENCE_SECONDS):
            if self._stopping.is_set():
                return
            self._recovered()
            if not text:
                continue
            line = read_line(text)
            if line.kind == "ERROR":
                raise Refused(line.message or "the watch ended with an error", line.code)
            if line.kind == "BOOKMARK":
                self.version = line.version or self.version
                continue
            named = read_name(self.resource, line.object)
            self._put(Message("SEEN", self.resource, (), line, named, time.monotonic()))
            self.version = named.version

    def _put(self, message: Message) -> None:
        while message.kind == "PAGE" and self._inbox.qsize() >= PAGES and not self._stopping.is_set():
            self._stopping.wait(PAGE_WAIT_SECONDS)
        if not self._stopping.is_set():
            self._inbox.put(message)

    def _recovered(self) -> None:
        self._failures, self.trouble, self.is_unauthorized = 0, "", False

    def _failed(self, trouble: str, *, is_unauthorized: bool = False) -> None:
        if self._stopping.is_set():
            return
        self.trouble, self.is_unauthorized = trouble, is_unauthorized
        first, longest = BACK_OFF
        delay = min(longest, first * 2**self._failures)
        self._failures = min(self._failures + 1, 10)
        self._stopping.wait(delay * random.uniform(1.0, 2.0))  # noqa: S311 (as above)


class _Pulse(threading.Thread):
    """Asks the server for its version again and again: whether it answers, and what its clock says."""

    def __init__(self, connect: Callable[[], ClusterReader], stopping: threading.Event) -> None:
        super().__init__(name="pulse", daemon=True)
        self._connect = connect
        self._stopping = stopping
        self.trouble = ""
        self.clock: tuple[float, float] | None = None
        """The Unix seconds that the server said, in the middle of its second, and the monotonic seconds of
        that moment."""

    def run(self) -> None:
        reader = self._connect()
        while not self._stopping.wait(PULSE_SECONDS):
            self.ask(reader)

    def ask(self, reader: ClusterReader) -> None:
        for _ in range(2):  # the server may have closed the connection meanwhile
            try:
                reader.get("/version", timeout=PULSE_SECONDS)
            except Refused:
                self.trouble = ""  # it answers
            except ClusterError as failure:
                self.trouble = str(failure)
            else:
                self.trouble = ""
            if not self.trouble:
                break
        else:
            return
        said = read_date(reader.date)
        if said is not None:
            self.clock = said + 0.5, time.monotonic()


def read_date(text: str) -> float | None:
    """Return the Unix seconds of a header ``Date``; None = it has none."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError):
        return None
