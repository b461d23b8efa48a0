"""Repairs the append-only file of the embedded server, of which a power failure has left a part that cannot
be read."""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from schedviz.up.embedded_redis import server_program

FOLDER = "appendonlydir"
FILE = "appendonly.aof"


class NothingToRepair(Exception):
    def __init__(self, directory: Path) -> None:
        super().__init__(f"{directory} has no append-only file")


class NotRepaired(Exception):
    """The error of a file that the server's own tool cannot repair. The message is the tool's last line."""


class Repair(NamedTuple):
    copy: Path
    """The copy of what was there before."""
    bytes_cut: int
    """Bytes cut off; 0 = all could be read."""


def repair_append_only_file(directory: Path) -> Repair:
    """Cut off what the server cannot read at the end of its file. The caller holds the directory's lock.

    A copy is kept beside it first. Raises :class:`NothingToRepair` and :class:`NotRepaired`.
    """
    folder = directory / FOLDER
    damaged = folder if folder.is_dir() else directory / FILE  # a single file: Redis 6.2
    if not damaged.exists():
        raise NothingToRepair(directory)
    copy = _unused(directory / f"{damaged.name}.before-repair")
    if damaged.is_dir():
        shutil.copytree(damaged, copy)
    else:
        shutil.copy2(damaged, copy)
    before = _size(damaged)
    # The tool would refuse Valkey's own snapshots, if it were given the manifest.
    last = _last_written(folder) if damaged.is_dir() else damaged
    if last.stat().st_size:
        _run_tool(last)
    return Repair(copy, before - _size(damaged))


def _last_written(folder: Path) -> Path:
    """Return the file to which the server appends: the last of type i (incremental) in the manifest."""
    lines = (folder / f"{FILE}.manifest").read_text().splitlines()
    words = [line.split() for line in lines]
    return folder / next(name for _, name, _, _, _, kind in reversed(words) if kind == "i")


def _run_tool(file: Path) -> None:
    """Run the checker that is a part of the server's program, which acts by the name it is called by."""
    done = subprocess.run(  # noqa: S603 (our own executable, no shell)
        ["valkey-check-aof", "--fix", str(file)],  # noqa: S607 (a name only; the program is the next argument)
        executable=server_program(),
        input="y\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotRepaired((done.stdout + done.stderr).strip().rpartition("\n")[2])


def _unused(path: Path) -> Path:
    number, candidate = 1, path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def _size(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)
