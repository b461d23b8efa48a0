"""Processes of two versions read and write the same data while the schema version does not change: an older
one keeps inputs in the journal that it does not know, and for all else a new schema version is demanded."""

import json
import logging
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
import pytest
from msgspec import inspect

from schedviz.access.record import AccessRecord
from schedviz.api import write
from schedviz.jobs.applied import Applied
from schedviz.jobs.comparison_job import ComparisonJob
from schedviz.jobs.question import Question
from schedviz.lessons.progress import Progress
from schedviz.lessons.solutions import Solution
from schedviz.rooms.room import Member, Room
from schedviz.rooms.work import Work
from schedviz.store import Clock, Failure, Meta, Sandbox, Store, codec
from schedviz.store.archive import Chapter
from schedviz.store.connected_mirrors import ConnectedMirror
from schedviz.store.keys import Keys
from schedviz.store.recording import recording_lines
from schedviz.store.schema import VERSION
from simulator.api import SECOND
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.recording import (
    Entry,
    ListInput,
    RecordDecoder,
    RefusedInput,
    StepInput,
    TermInput,
    TimedWatchInput,
    TryInput,
    WatchInput,
    record_decoder,
    unknown_kinds,
)
from simulator.replay import RecordingError, Replay
from simulator.trace import AnyEvent, QueuePlace
from tests.loop.conftest import node, pod
from tests.loop.world import World

RECORDED = Path(__file__).with_name("stored_kinds.json")
STORED: tuple[Any, ...] = (
    # of a sandbox
    *(Entry, AnyEvent, Decision, UnderWay, Pipeline, QueuePlace, Failure, Meta, Clock, Chapter, AccessRecord),
    # of all else
    *(Room, Member, Work, Progress, Solution, Question, ComparisonJob, Applied, ConnectedMirror),
)
"""The types that processes of both versions write and read."""

OlderInput = ListInput | WatchInput | TimedWatchInput | StepInput | RefusedInput
"""The kinds of inputs of the release before TryInput."""


class OlderEntry(Entry, frozen=True, tag="Entry", tag_field="kind", omit_defaults=True):
    """The entry of that release."""

    inputs: list[OlderInput] = []  # type: ignore[assignment] # fewer kinds


OLDER: RecordDecoder[Entry] = RecordDecoder(OlderEntry, OlderInput)
INPUTS: list[TermInput] = [
    ListInput(3, SECOND),
    TryInput(SECOND),
    WatchInput(4, SECOND),
    TimedWatchInput(5, SECOND, 7),
    TryInput(2 * SECOND),
    StepInput(2 * SECOND, by_point=True, count=2),
    RefusedInput("Conflict", "pods", "default/a"),
]


def test_the_previous_release_reads_what_this_one_writes() -> None:
    entry = Entry(now=SECOND, inputs=INPUTS, changes=2)
    written = msgspec.json.encode(entry)
    read = OLDER.decode(written)
    assert unknown_kinds(read) == ["tried"]
    assert [each for each in read.inputs if isinstance(each, msgspec.Struct)] == [
        each for each in INPUTS if not isinstance(each, TryInput)
    ]
    assert msgspec.json.encode(read) == written, "it is kept as it is, at its place"
    assert record_decoder.decode(written) == entry


@pytest.mark.parametrize(
    "wrong",
    [b'{"kind": "Entry"}', b'{"kind": "Entry", "now": 1, "inputs": [["stepped"]]}', b'{"kind": "Q"}', b"[]"],
)
def test_what_is_not_readable_for_another_reason_is_still_refused(wrong: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        record_decoder.decode(wrong)


def test_a_sandbox_with_inputs_of_a_later_version_is_read_and_they_are_noted(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(store)
    sandbox: Sandbox = world.sandbox
    write.create(sandbox, [node("n1"), pod("a")])
    world.slice()
    world.let_time_pass(5)
    world.slice()
    key = Keys.of(sandbox.name).journal
    entries = cast("list[codec.Entry]", store.redis.xrange(key))
    last = json.loads(entries[-1][1][b"entry"])
    last["inputs"] = [*last.get("inputs", []), ["of a later version", 5, {"x": 1}]]
    entries[-1][1][b"entry"] = json.dumps(last).encode()
    store.redis.delete(key)
    for number, fields in entries:
        store.redis.xadd(key, fields, id=number)  # type: ignore[arg-type] # its stubs want no bytes
    codec._note_unknown.cache_clear()
    with caplog.at_level(logging.WARNING, logger="schedviz.store.codec"):
        lines = [*recording_lines(sandbox)]
    assert [record.getMessage() for record in caplog.records] == [
        "the journal has inputs of the kind 'of a later version', which a newer version wrote: they are kept"
    ]
    assert b'["of a later version",5,{"x":1}]' in lines[-1]
    seq = sandbox.trace_head()
    assert sandbox.history().at_seq(seq).queue_places == sandbox.queue_places()
    with pytest.raises(RecordingError, match="a newer version recorded this: it has of a later version"):
        [*Replay(record_decoder.decode(line) for line in lines).run()]
    store.delete(sandbox.name)


def stored_kinds() -> dict[str, list[str]]:
    """The values of each field that has certain ones only, and the types of each that is one of several: an
    older version cannot read one more. Inputs are left out."""
    found: dict[str, set[str]] = {}
    seen = set(get_args(TermInput))

    def walk(kind: Any, place: str) -> None:
        match kind:
            case inspect.StructType(cls, fields):
                found.setdefault(place, set()).add(cls.__name__)
                if cls not in seen:
                    seen.add(cls)
                    for field in fields:
                        walk(field.type, f"{cls.__name__}.{field.encode_name}")
            case inspect.EnumType(cls):
                found.setdefault(place, set()).update(map(str, cls))
            case inspect.LiteralType(values):
                found.setdefault(place, set()).update(map(str, values))
            case inspect.UnionType(types) | inspect.TupleType(types):
                for each in types:
                    walk(each, place)
            case inspect.DictType():
                walk(kind.key_type, place)
                walk(kind.value_type, place)
            case inspect.CollectionType():
                walk(kind.item_type, place)

    for kind in inspect.multi_type_info(STORED):
        walk(kind, "")
    inputs = {each.__name__ for each in get_args(TermInput)}
    return {place: sorted(values - inputs) for place, values in sorted(found.items()) if values - inputs}


def test_what_an_older_version_cannot_read_has_a_new_schema_version() -> None:
    """If it fails: raise the schema version (schedviz/store/schema.py), unless it was raised since the last
    release. Then run ``python -m tests.store.test_stored_kinds``."""
    recorded = json.loads(RECORDED.read_text())
    assert recorded["version"] == VERSION
    known = {place: {*values} for place, values in recorded["kinds"].items()}
    # A place that is new is a new field, which an older version passes over.
    new = {place: {*values} - known[place] for place, values in stored_kinds().items() if place in known}
    assert not {place: values for place, values in new.items() if values}


if __name__ == "__main__":
    RECORDED.write_text(json.dumps({"version": VERSION, "kinds": stored_kinds()}, indent=1) + "\n")
