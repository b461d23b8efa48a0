"""The files of a dump: one file, or a folder or an archive as ``kubectl cluster-info dump
--output-directory`` writes, of which the files with manifests are read."""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.manifest import to_utf8

MAX_DUMP_BYTES: Final = 512 << 20
"""Maximum size of a dump, after decompression. 50,000 pods of a real cluster are about 400 MB of JSON."""
MAX_FILES: Final = 20_000
"""Maximum number of files of a dump. kubectl cluster-info dump writes seven for each namespace."""
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_TAR: Final = b"ustar"
_TAR_OFFSET: Final = 257
_ENDINGS: Final = (".json", ".jsonl", ".yaml", ".yml")
"""Endings of the names of files with manifests. Others, such as logs, are not read."""


class DumpError(ManifestError):
    """The dump cannot be parsed. The message is one line for users."""


class DumpFile(NamedTuple):
    """A file of a dump. Its name is "" if it is the only one."""

    name: str
    data: bytes


def read_folder(folder: Path) -> list[DumpFile]:
    """Read the files with manifests in a folder and its subfolders. Raises DumpError, OSError."""
    paths = sorted(path for path in folder.rglob("*") if _has_manifests(path.name) and path.is_file())
    return _bounded(
        (
            DumpFile(str(path.relative_to(folder)), open_gzip(path.read_bytes()))
            for path in paths[: MAX_FILES + 1]
        ),
        "folder",
    )


def unpack(data: bytes) -> list[DumpFile]:
    """Return the files of an archive (tar or zip), or the data as the only file. The data may be gzipped.
    Raises DumpError."""
    if data.startswith(_ZIP):
        return _bounded(_unpack_zip(data), "zip archive")
    data = open_gzip(data)
    if data[_TAR_OFFSET : _TAR_OFFSET + len(_TAR)] == _TAR:
        return _bounded(_unpack_tar(data), "tar archive")
    if len(data) > MAX_DUMP_BYTES:
        raise DumpError(_too_large_message())
    return [DumpFile("", to_utf8(data))]


def _bounded(files: Iterable[DumpFile], what: str) -> list[DumpFile]:
    """Return the files within the bounds, as UTF-8. Raises DumpError, also if there are none."""
    found: list[DumpFile] = []
    size = 0
    for file in files:
        size += len(file.data)
        if size > MAX_DUMP_BYTES:
            raise DumpError(_too_large_message())
        if len(found) >= MAX_FILES:
            raise DumpError(f"the {what} has more than {MAX_FILES} files with manifests")
        try:
            found.append(DumpFile(file.name, to_utf8(file.data)))
        except ManifestError as error:
            raise DumpError(f"{file.name}: {error}") from None
    if not found:
        raise DumpError(f"the {what} has no file whose name ends with {', '.join(_ENDINGS)}")
    return found


def _has_manifests(name: str) -> bool:
    return not name.startswith(".") and name.removesuffix(".gz").endswith(_ENDINGS)


def open_gzip(data: bytes) -> bytes:
    """Decompress gzipped data, up to one byte more than MAX_DUMP_BYTES; other data is returned unchanged.
    Raises DumpError."""
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            return file.read(MAX_DUMP_BYTES + 1)
    except (OSError, EOFError, zlib.error) as failure:
        raise DumpError(f"not gzip: {failure}") from None


def _unpack_tar(data: bytes) -> Iterator[DumpFile]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                if member.isfile() and _has_manifests(PurePosixPath(member.name).name):
                    file = archive.extractfile(member)
                    assert file is not None, "a regular file has contents"
                    yield DumpFile(member.name, open_gzip(file.read()))
    except tarfile.TarError as failure:
        raise DumpError(f"not a tar archive: {failure}") from None


def _unpack_zip(data: bytes) -> Iterator[DumpFile]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if not member.is_dir() and _has_manifests(PurePosixPath(member.filename).name):
                    with archive.open(member) as file:
                        yield DumpFile(member.filename, open_gzip(file.read(MAX_DUMP_BYTES + 1)))
    # RuntimeError: it has a password. NotImplementedError: another compression.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as failure:
        raise DumpError(f"not a zip archive that can be read: {failure}") from None


def _too_large_message() -> str:
    return f"more than {MAX_DUMP_BYTES >> 20} MiB; dump fewer kinds or namespaces"
