"""The recorded files: the lines of one history each, packed."""

import lzma
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from simulator.recording import Record, record_decoder

FOLDER = Path(__file__).parent / "recorded"
SUFFIX = ".jsonl.xz"


def read(name: str) -> list[bytes] | None:
    """The recorded lines; None = there are none of this name."""
    try:
        return lzma.decompress(_path(name).read_bytes()).splitlines()
    except FileNotFoundError:
        return None


def write(name: str, lines: Sequence[bytes]) -> None:
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(b"".join(line + b"\n" for line in lines)))


def recorded() -> list[str]:
    """The names of all that there are."""
    files = sorted(FOLDER.rglob(f"*{SUFFIX}"))
    return [file.relative_to(FOLDER).as_posix().removesuffix(SUFFIX) for file in files]


def remove_others(names: Iterable[str]) -> list[str]:
    """Remove the files of histories that there are no more; their names."""
    gone = sorted(set(recorded()).difference(names))
    for name in gone:
        _path(name).unlink()
    return gone


def _path(name: str) -> Path:
    return FOLDER / f"{name}{SUFFIX}"


RECORDS: Final = (b'{"kind":"Recording"', b'{"kind":"Snapshot"', b'{"kind":"Write"', b'{"kind":"Entry"')


def records(name: str) -> Iterator[Record]:
    """Yield what a recording of this history has."""
    return (record_decoder.decode(line) for line in read(name) or () if line.startswith(RECORDS))
