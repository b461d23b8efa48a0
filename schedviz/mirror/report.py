"""The report of a mirror: what the scheduler of its cluster did in the last hours, from the stored trace."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from schedviz.mirror.session import MirrorError
from schedviz.store import Gone, NoSandbox, Sandbox, Store, Unreadable
from simulator.api import SECOND
from simulator.trace import Event
from simulator.verdicts.report import Report, ReportMaker

READ_AT_ONCE: Final = 5_000


def find_mirror(store: Store, name: str) -> Sandbox:
    """Return the mirror of this name, or, without one, the only mirror. Raises MirrorError."""
    if not name:
        names = [*_mirrors(store)]
        if len(names) != 1:
            found = f"there are {', '.join(sorted(names))}" if names else "there is none"
            raise MirrorError(f"give --name: which mirror? {found}")
        [name] = names
    try:
        sandbox = store.sandbox(name)
        if sandbox.meta().mirror is not None:
            return sandbox
    except NoSandbox:
        raise MirrorError(f"there is no mirror {name}") from None
    raise MirrorError(f"the sandbox {name} is no mirror")


def _mirrors(store: Store) -> Iterator[str]:
    for name in store.names():
        with suppress(NoSandbox, Unreadable):
            if store.handle(name).meta().mirror is not None:
                yield name


def make_report(sandbox: Sandbox, hours: float) -> Report:
    """Return the report of the last hours, as far back as the trace is kept."""
    clock, wall = sandbox.clock(), sandbox.wall()
    now = clock.now(wall)
    since = now - round(hours * 3600 * SECOND)
    first = _first_after(sandbox, since)
    maker: ReportMaker | None = None
    while True:
        found = sandbox.trace(first, READ_AT_ONCE)
        events = [event for _, event in found]
        if maker is None:
            maker = ReportMaker(max(since, min((event.t for event in events), default=since)))
        maker.add(event for event in events if event.t >= since)
        if len(found) < READ_AT_ONCE:
            return maker.report(now, sandbox.queue()[0])
        first = found[-1][0]


def _first_after(sandbox: Sandbox, since: int) -> int:
    """Return the number of a trace event after which those since a time come, as far back as is kept."""
    first = sandbox.trace_head()
    while first > 0:
        before = max(0, first - READ_AT_ONCE)
        try:
            events: list[tuple[int, Event]] = sandbox.trace(before, 1)
        except Gone:
            return first
        first = before
        if events and events[0][1].t < since:
            break
    return first
