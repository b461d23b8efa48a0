"""Builds the recording of a sandbox (:mod:`simulator.recording`) from its archive and streams."""

from collections.abc import Iterator

import msgspec

from schedviz.store.archive import Chapter
from schedviz.store.errors import Gone
from schedviz.store.history import History
from schedviz.store.sandbox import Sandbox
from simulator.recording import Entry, ListInput, Recording, Snapshot


def recording_lines(sandbox: Sandbox) -> Iterator[bytes]:
    """Yield the lines of the recording up to the last commit of the loop.

    It begins with the term of a leader. Raises Gone if the history has no term that is complete from its
    beginning on."""
    history = sandbox.history()
    base = _base(history.chapters)
    began = history.chapters[base].began
    entries = _terms(history, base)
    entry = next(entries, None)
    if entry is None:
        raise Gone(began.version)
    yield msgspec.json.encode(Recording(sandbox.name))
    objects = history.snapshot(base, "objects")
    yield msgspec.json.encode(Snapshot(began.version, len(objects)))
    for (resource, key), stored in objects.items():
        written, _, body = stored.partition(b" ")
        yield _write(int(written), "ADDED", resource, key, body)
    for version, fields in history.entries("log", base, history.head.version):
        while entry and entry.version < version:
            yield msgspec.json.encode(entry)
            entry = next(entries, None)
        resource, key = fields[b"resource"].decode(), fields[b"key"].decode()
        yield _write(version, fields[b"type"].decode(), resource, key, fields[b"object"])
    while entry:
        yield msgspec.json.encode(entry)
        entry = next(entries, None)


def _base(chapters: list[Chapter]) -> int:
    """Return the index of the first chapter that has a snapshot and after which the log has no gap. Raises
    Gone."""
    first = len(chapters) - 1
    while first and (ended := chapters[first - 1].ended) and ended.version == chapters[first].began.version:
        first -= 1
    for place in range(first, len(chapters)):
        if chapters[place].snapshot:
            return place
    raise Gone(chapters[-1].began.version)


def _terms(history: History, base: int) -> Iterator[Entry]:
    """Yield the journal entries from the first leader on whose list is at or after the snapshot of chapter
    ``base``. If the leader's own list became that snapshot, its first commit is in the chapter before."""
    known = history.chapters[base].began.version
    began = False
    for entry in history.journal(max(base - 1, 0)):
        listed = entry.inputs[0] if entry.began else None
        began = began or (isinstance(listed, ListInput) and listed.version >= known)
        if began:
            yield entry


def _write(version: int, kind: str, resource: str, key: str, body: bytes) -> bytes:
    write = {"kind": "Write", "version": version, "type": kind, "resource": resource, "key": key}
    return msgspec.json.encode({**write, "object": msgspec.Raw(body)})
