"""The file of a backup: gzipped records in MessagePack, each after its length, from a Header to an End.

The values are as Redis's DUMP gives them. So each type is exact, streams with their numbers included; and a
Redis older than the one of the backup may refuse them.
"""

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

import msgspec

from simulator.kernel.prepared_types import prepared

FORMAT: Final = 1
LENGTH_BYTES: Final = 8
RECORD_BYTES: Final = 2 << 30
"""Maximum size of a record. It has all keys of one sandbox: at most some hundred megabytes."""


class BadBackup(Exception):
    """The error of a file that is no valid backup. The message says what is wrong with it."""


class Header(msgspec.Struct, frozen=True, tag=True):
    format: int
    schema: int
    """The schema version of what is stored."""
    at: float
    """The time in wall seconds since the Unix epoch."""
    redis: str
    """The version of Redis."""


class Key(msgspec.Struct, frozen=True, array_like=True):
    name: bytes
    expires: int
    """The time of expiry in milliseconds since the Unix epoch; 0 = never."""
    value: bytes


class Group(msgspec.Struct, frozen=True, tag=True):
    """Keys as they were at one moment: those of one sandbox or room, or some that are independent."""

    sandbox: str
    """The name of the sandbox; "" = the record is of no sandbox."""
    at: float
    keys: list[Key]


class Index(msgspec.Struct, frozen=True, tag=True):
    """A set or a sorted set of names, to which a restore adds names."""

    key: str
    members: list[tuple[bytes, float]]


class End(msgspec.Struct, frozen=True, tag=True):
    keys: int


Record = Header | Group | Index | End
_decoder: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(prepared(Record))


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write the file, which only this user may read. It has its name when it is complete."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as packed:
                for record in records:
                    encoded = msgspec.msgpack.encode(record)
                    packed.write(len(encoded).to_bytes(LENGTH_BYTES))
                    packed.write(encoded)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a backup. Raises BadBackup, also for a file that is damaged or ends before its
    End, and OSError."""
    try:
        with gzip.open(path) as packed:
            yield from _read(cast("BinaryIO", packed))
    except (EOFError, gzip.BadGzipFile, msgspec.MsgspecError, OverflowError, zlib.error) as error:
        raise BadBackup(f"{path} is no complete backup ({error})") from None


def _read(packed: BinaryIO) -> Iterator[Record]:
    while True:
        length = int.from_bytes(packed.read(LENGTH_BYTES))
        if not 0 < length <= RECORD_BYTES:
            raise EOFError("a record is missing")
        encoded = packed.read(length)
        if len(encoded) < length:
            raise EOFError("a record is cut off")
        record = _decoder.decode(encoded)
        yield record
        if isinstance(record, End):
            return
