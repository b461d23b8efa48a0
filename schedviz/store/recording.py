"""A sandbox's recording, as :mod:`simulator.replay` reads it, from what the streams hold."""

from collections.abc import Iterator

import msgspec

from schedviz.store import codec
from schedviz.store.errors import Gone
from schedviz.store.sandbox import Sandbox
from simulator.recording import Recording, Snapshot

PAGE = 500
"""Watch events read in one go, about 1 MB."""


def record(sandbox: Sandbox) -> Iterator[bytes]:
    """The lines of the recording up to the loop's last commit.

    It begins with a leader's term. Raises Gone where there is none from whose list on everything is kept."""
    entries = sandbox.journal()
    version = sandbox.origin()
    if not entries or not entries[0].began:
        raise Gone(version)
    written = _writes(sandbox, version)
    ahead = next(written, None)
    yield msgspec.json.encode(Recording(sandbox.name))
    yield msgspec.json.encode(Snapshot(version, 0))
    for entry in entries:
        while ahead and ahead[0] <= entry.version:
            yield ahead[1]
            ahead = next(written, None)
        yield msgspec.json.encode(entry)


def _writes(sandbox: Sandbox, after: int) -> Iterator[tuple[int, bytes]]:
    """The watch log after a version, as (version, line). Raises Gone."""
    while page := sandbox.log(after, PAGE):
        for entry_id, fields in page:
            after = codec.number(entry_id)
            write = {
                "kind": "Write",
                "version": after,
                "type": fields[b"type"].decode(),
                "resource": fields[b"resource"].decode(),
                "key": fields[b"key"].decode(),
                "object": msgspec.Raw(fields[b"object"]),
            }
            yield after, msgspec.json.encode(write)
