"""The value that :meth:`schedviz.store.Sandbox.commit` stores, all or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from msgspec import UNSET, UnsetType

from schedviz.store.model import Clock, Lease, Meta
from simulator.api import Change, Micros
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.recording import Entry
from simulator.trace import Event, QueuePlace


@dataclass(frozen=True)
class Commit:
    """One write to a sandbox. A field that is not given changes nothing."""

    changes: Sequence[Change] = ()
    """The changes of objects. An object may be in it several times. A further change of it has
    ``expected`` 0 if the one before deleted it, otherwise None."""
    _: KW_ONLY
    unchanged: Mapping[str, int] = field(default_factory=dict)
    """Resource -> the version at which the caller read its objects. The commit is refused if one of them was
    written since then."""
    lease: Lease | None = None
    """The lease of the leader that writes; None = another process writes."""
    trace: Sequence[Event] = ()
    """New trace events, oldest first."""
    decisions: Sequence[Decision] = ()
    """New decisions, by cycle."""
    journal: Entry | None = None
    """The journal entry of this commit."""
    queue_places: Mapping[str, QueuePlace | None] = field(default_factory=dict)
    """Pod -> its new queue place; None = it left the queue."""
    reset_queue_places: bool = False
    """Whether ``queue_places`` replaces all queue places."""
    under_way: UnderWay | UnsetType | None = UNSET
    """The cycle that stands between two points; None = no cycle does any more."""
    pipeline: Pipeline | None = None
    """The state of the leader's informer."""
    now: Micros | None = None
    """The simulated time that the loop has reached."""
    seen: int | None = None
    """The version up to which the loop has observed the watch log. If no other write came after it, the loop
    has also observed the changes of this commit."""
    cycle: int | None = None
    """The number of the last cycle, in a new sandbox that continues another one."""
    version: int | None = None
    """The version before the first write, at least, in a new sandbox."""
    edits: int | None = None
    """The number of edits so far, in a new sandbox that continues another one."""
    meta: Meta | None = None
    """The new description. The leader loses its lease, and the next one begins with this description."""
    create: tuple[Meta, Clock] | None = None
    """The description and the clock of the sandbox that this commit creates. Only :meth:`Store.create` sets
    it."""
    access: str = ""
    """The access record of the sandbox that this commit creates."""
