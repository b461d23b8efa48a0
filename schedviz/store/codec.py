"""Encodes manifests and records as stored in Redis, and decodes them.

An object is stored as ``<resourceVersion> <text>`` (object_text.py), and its JSON has no resourceVersion. So
the commit script can write the version without parsing the object (Lua's JSON turns empty lists into maps).
"""

import logging
from functools import lru_cache
from typing import Final, Literal

import msgspec

from schedviz.store.errors import LimitReached, Unreadable
from schedviz.store.model import Clock, Failure, LogEntry, Meta
from schedviz.store.object_text import compress, expand, json_size
from simulator.api import Manifest, WatchEvent, bare
from simulator.apiserver.bounds import MAX_OBJECT_BYTES
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.decision_columns import decision_decoder, stored_encoder
from simulator.kernel.prepared_types import prepared
from simulator.recording import Entry as JournalEntry
from simulator.recording import RecordDecoder, unknown_kinds
from simulator.trace import AnyEvent, QueuePlace
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.kubernetes_version import UnknownVersion

log = logging.getLogger(__name__)

Entry = tuple[bytes, dict[bytes, bytes]]
"""One entry of a stream: its id and its fields."""

Entries = list[Entry]

OBJECT_PLACE: Final = 7
"""The place of the object among the fields and values of an entry of the watch log."""

_manifest_decoder = msgspec.json.Decoder(Manifest)
_trace_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(prepared(AnyEvent))
_decision_decoder = decision_decoder(Decision)
_under_way_decoder = decision_decoder(UnderWay)
_pipeline_decoder = msgspec.json.Decoder(prepared(Pipeline))
_journal_decoder: RecordDecoder[JournalEntry] = RecordDecoder(JournalEntry)
_lane_decoder = msgspec.json.Decoder(prepared(QueuePlace))
_failure_decoder = msgspec.json.Decoder(prepared(Failure))
_meta_decoder = msgspec.json.Decoder(prepared(Meta))
_clock_decoder = msgspec.json.Decoder(prepared(Clock))
_TYPES: dict[bytes, Literal["ADDED", "MODIFIED", "DELETED"]] = {
    b"ADDED": "ADDED",
    b"MODIFIED": "MODIFIED",
    b"DELETED": "DELETED",
}


def encode(record: object) -> str:
    """Return a record as JSON, a Decision in its short form. It is a str because the MessagePack of Redis has
    strings, but no binary data."""
    return stored_encoder.encode(record).decode()


def object_json(manifest: Manifest) -> bytes:
    """Return the manifest as JSON without its resourceVersion. Raises :class:`LimitReached` for one that is
    too large."""
    data = msgspec.json.encode(bare(manifest))
    if len(data) > MAX_OBJECT_BYTES:
        raise LimitReached(
            "MAX_OBJECT_BYTES", f"an object may have {MAX_OBJECT_BYTES:,} bytes as JSON, not {len(data):,}"
        )
    return data


def encode_object(manifest: Manifest) -> str:
    """Return the text as which the manifest is stored. Raises as :func:`object_json` does."""
    return compress(object_json(manifest))


def with_version(data: bytes, version: int) -> Manifest:
    """Return the manifest of its JSON, with the metadata.resourceVersion that its write got."""
    manifest = _manifest_decoder.decode(data)
    manifest["metadata"]["resourceVersion"] = str(version)
    return manifest


def version_of(stored: bytes) -> int:
    """Return the resourceVersion of one entry in an objects hash."""
    return int(stored[: stored.index(b" ")])


def split_object(stored: bytes) -> tuple[int, bytes]:
    """Return the resourceVersion of one entry in an objects hash, and the object as JSON without it."""
    version, _, text = stored.partition(b" ")
    return int(version), expand(text)


def expanded(stored: bytes) -> bytes:
    """Return one entry in an objects hash with the object as JSON, as the archive has it."""
    version, _, text = stored.partition(b" ")
    return b"%s %s" % (version, expand(text))


def expand_scan(reply: bytes) -> bytes:
    """Return a reply of HSCAN of an objects hash, as MessagePack, with the objects as JSON."""
    cursor, flat = msgspec.msgpack.decode(reply, type=tuple[str, list[str]])
    flat[1::2] = [expanded(stored.encode()).decode() for stored in flat[1::2]]
    return msgspec.msgpack.encode((cursor, flat))


def expand_log(reply: bytes) -> bytes:
    """Return a reply of XRANGE of the watch log, as MessagePack, with the objects as JSON."""
    entries = msgspec.msgpack.decode(reply, type=list[tuple[str, list[str]]])
    for _, fields in entries:
        fields[OBJECT_PLACE] = expand(fields[OBJECT_PLACE].encode()).decode()
    return msgspec.msgpack.encode(entries)


def size_of(stored: bytes) -> int:
    """Return the size of the object of one entry in an objects hash, as JSON."""
    return json_size(stored.partition(b" ")[2])


def decode_object(stored: bytes) -> Manifest:
    """Return the manifest of one entry in an objects hash."""
    version, data = split_object(stored)
    return with_version(data, version)


def number(entry_id: bytes) -> int:
    """Return the number in a stream id ``<number>-0``."""
    return int(entry_id.partition(b"-")[0])


def decode_log_entry(entry: Entry) -> LogEntry:
    entry_id, fields = entry
    return LogEntry(
        number(entry_id),
        _TYPES[fields[b"type"]],
        fields[b"resource"].decode(),
        fields[b"key"].decode(),
        expand(fields[b"object"]),
    )


def watch_event(entry: LogEntry) -> WatchEvent:
    manifest = with_version(entry.json, entry.version)
    return WatchEvent(entry.type, entry.resource, entry.key, manifest, entry.version)


def decode_trace(entry: Entry) -> tuple[int, AnyEvent]:
    entry_id, fields = entry
    return number(entry_id), _trace_decoder.decode(fields[b"event"])


def decode_event(data: str) -> AnyEvent:
    """Return a trace event without its number."""
    return _trace_decoder.decode(data)


def decode_decision(entry: Entry) -> Decision:
    return _decision_decoder.decode(entry[1][b"decision"])


def decode_journal(entry: Entry) -> JournalEntry:
    fields = entry[1]
    known = {name: int(fields[name.encode()]) for name in ("version", "seq", "cycle")}
    found = _journal_decoder.decode(fields[b"entry"])
    for kind in unknown_kinds(found):
        _note_unknown(kind)
    return msgspec.structs.replace(found, **known)


@lru_cache(maxsize=100)
def _note_unknown(kind: str) -> None:
    """Note once in the log that there are inputs of this kind."""
    log.warning("the journal has inputs of the kind %r, which a newer version wrote: they are kept", kind)


def decode_under_way(data: bytes) -> UnderWay:
    return _under_way_decoder.decode(data)


def decode_pipeline(data: bytes) -> Pipeline:
    return _pipeline_decoder.decode(data)


def decode_queue_place(data: bytes) -> QueuePlace:
    return _lane_decoder.decode(data)


def decode_failure(data: bytes) -> Failure:
    return _failure_decoder.decode(data)


def decode_meta(name: str, stored: bytes) -> Meta:
    """Return the description of a sandbox. Raises Unreadable."""
    try:
        meta = _meta_decoder.decode(stored)
        meta.features()
    except (msgspec.DecodeError, UnicodeDecodeError, UnknownVersion, FeatureGateError) as error:
        raise Unreadable(name, "description", error) from None
    return meta


def decode_clock(name: str, stored: bytes) -> Clock:
    """Return the clock of a sandbox. Raises Unreadable."""
    try:
        return _clock_decoder.decode(stored)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(name, "clock", error) from None
