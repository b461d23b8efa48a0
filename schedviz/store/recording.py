"""A sandbox's recording, as :mod:`simulator.replay` reads it, from all of its history that is kept."""

from collections.abc import Iterator

import msgspec

from schedviz.store.archive import Chapter
from schedviz.store.errors import Gone
from schedviz.store.history import History
from schedviz.store.sandbox import Sandbox
from simulator.recording import Entry, Listed, Recording, Snapshot


def record(sandbox: Sandbox) -> Iterator[bytes]:
    """The lines of the recording up to the loop's last commit.

    It begins with a leader's term. Raises Gone where there is none from whose list on everything is kept."""
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
    """Where the first chapter with a snapshot is from which the log is whole. Raises Gone."""
    whole = len(chapters) - 1
    while whole and (ended := chapters[whole - 1].ended) and ended.version == chapters[whole].began.version:
        whole -= 1
    for place in range(whole, len(chapters)):
        if chapters[place].snapshot:
            return place
    raise Gone(chapters[-1].began.version)


def _terms(history: History, base: int) -> Iterator[Entry]:
    """The journal, from the first leader on that listed what is known. If that was the base itself, its first
    commit ended the chapter before."""
    known = history.chapters[base].began.version
    began = False
    for entry in history.journal(max(base - 1, 0)):
        listed = entry.inputs[0] if entry.began else None
        began = began or (isinstance(listed, Listed) and listed.version >= known)
        if began:
            yield entry


def _write(version: int, kind: str, resource: str, key: str, body: bytes) -> bytes:
    write = {"kind": "Write", "version": version, "type": kind, "resource": resource, "key": key}
    return msgspec.json.encode({**write, "object": msgspec.Raw(body)})
