"""Parsing of cluster dumps into manifests.

A dump is the output of ``kubectl get`` in JSON or YAML, that of ``kubectl cluster-info dump`` as a text, a
folder or an archive, or a recording of a sandbox, of which the objects at its end are used. It may be
gzipped.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from simulator.api import Manifest, bare
from simulator.apiserver.bounds import ManifestError
from simulator.dumps.documents import parse_documents
from simulator.dumps.dump_files import DumpError, DumpFile, read_folder, unpack
from simulator.dumps.recognition import recognize
from simulator.recording import Entry, Snapshot, TermStart, Write, record_decoder
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.kubernetes_version import UnknownVersion

_RECORDING: Final = re.compile(rb'\s*\{"kind":\s*"Recording"')


class Dump:
    """A dump: one file, or several."""

    def __init__(self, data: bytes | list[DumpFile]) -> None:
        """``data``: of one file, or the files of a folder. Raises DumpError."""
        self._files = unpack(data) if isinstance(data, bytes) else data
        self.is_recording = len(self._files) == 1 and bool(_RECORDING.match(self._files[0].data))
        self.began: Entry | None = None
        """The first entry of the last term of a recording, with its seed, queue and configuration. It is set
        when all manifests have been read."""
        self.ended: Entry | None = None
        """The last entry of a recording, with its time. It is set when all manifests have been read."""

    @classmethod
    def read(cls, path: Path) -> "Dump":
        """Read a file or a folder. Raises DumpError, OSError."""
        return cls(read_folder(path) if path.is_dir() else path.read_bytes())

    def manifests(self) -> Iterator[Manifest]:
        """Parse the manifests one by one. Raises ManifestError."""
        if not any(file.data.strip() for file in self._files):
            raise DumpError("the dump is empty")
        if self.is_recording:
            yield from self._recorded(self._files[0].data)
            return
        for file in self._files:
            if found := recognize(file.data):
                raise DumpError(f"{file.name}: {found}" if file.name else found)
            try:
                yield from parse_documents(file.data)
            except ManifestError as error:
                if not file.name:
                    raise
                raise DumpError(f"{file.name}: {error}") from None

    def _recorded(self, data: bytes) -> Iterator[Manifest]:
        objects: dict[tuple[str, str], bytes] = {}
        for number, line in enumerate(data.splitlines(), 1):
            try:
                record = record_decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError) as failure:
                raise DumpError(f"not a record of a recording: {failure}", number) from None
            match record:
                case Write(type="DELETED"):
                    objects.pop((record.resource, record.key), None)
                case Write():
                    objects[record.resource, record.key] = msgspec.json.encode(bare(record.object))
                case Entry():
                    if record.began:
                        self.began = record
                        _check_version(record.began, number)
                    self.ended = record
                case Snapshot():
                    objects.clear()
        yield from (msgspec.json.decode(data) for data in objects.values())


def _check_version(began: TermStart, line: int) -> None:
    """Raise DumpError for a version of Kubernetes that is not modelled here, and for its gates."""
    try:
        began.options.features()
    except (UnknownVersion, FeatureGateError) as unknown:
        raise DumpError(f"a newer version recorded this: {unknown}", line) from None
