"""The files of a lesson in an upload: a zip of its folder, or the files themselves. All bounds are checked
before anything is unpacked."""

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from django.conf import settings

from schedviz.lessons.mistakes import LessonError, Mistake
from schedviz.lessons.notes import FILE as NOTES
from schedviz.lessons.read_lesson import CLUSTER, FILE

FILE_BYTES: Final = 16 << 10
"""The maximum size of a file. Hostile Markdown of this size takes half a second to render."""
FILES_AT_MOST: Final = 6
"""The three YAML files, and a text in each language."""
UPLOAD_BYTES: Final = FILES_AT_MOST * FILE_BYTES
"""The maximum size of a zip, or of all files."""
ENTRIES_AT_MOST: Final = 50
"""Maximum number of entries of a zip, with those of folders and of hidden files."""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_TEXT: Final = re.compile(r"[a-zA-Z-]{1,20}\.md")

Files = Mapping[str, bytes]
"""File name without a folder -> content."""


def unpack(uploaded: Sequence[tuple[str, bytes]]) -> Files:
    """Return the files of one lesson. uploaded: names and contents. Raises LessonError."""
    if not uploaded:
        raise refusal("", "choose a zip of the lesson's folder, or its files")
    if sum(len(data) for _, data in uploaded) > UPLOAD_BYTES:
        raise refusal(uploaded[0][0], f"larger than {UPLOAD_BYTES >> 10} KiB")
    if len(uploaded) == 1 and (uploaded[0][0].lower().endswith(".zip") or uploaded[0][1][:2] == b"PK"):
        return _unzip(*uploaded[0])
    if len(uploaded) > FILES_AT_MOST:
        raise refusal("", f"at most {FILES_AT_MOST} files, not {len(uploaded)}")
    for name, data in uploaded:
        _check_file(name, len(data))
    return dict(uploaded)


def refusal(file: str, message: str) -> LessonError:
    """Return the error for an upload that is not read; file: "" = all of it."""
    return LessonError([Mistake(Path(file), 1, message)])


def _unzip(name: str, data: bytes) -> Files:
    """Return the files of a zip, which are in one folder or in none. Hidden files, as systems add them, are
    left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > ENTRIES_AT_MOST:
                raise refusal(name, f"at most {ENTRIES_AT_MOST} entries, not {len(entries)}")
            found = [each for each in entries if not each.is_dir() and not _is_hidden(each.filename)]
            if len(found) > FILES_AT_MOST:
                raise refusal(name, f"at most {FILES_AT_MOST} files, not {len(found)}")
            for each in found:
                _check_entry(each)
            if len({PurePosixPath(each.filename).parent for each in found}) > 1:
                raise refusal(name, "the files of a lesson are in one folder")
            return {PurePosixPath(each.filename).name: _read(archive, each) for each in found}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error) as error:
        if isinstance(error, LessonError):
            raise
        raise refusal(name, "not a zip that can be read") from None


def _is_hidden(path: str) -> bool:
    return path.startswith("__MACOSX/") or PurePosixPath(path).name.startswith(".")


def _check_entry(entry: zipfile.ZipInfo) -> None:
    """Check an entry of the archive. Raises LessonError."""
    path = PurePosixPath(entry.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or len(path.parts) > 2:
        raise refusal(entry.filename, "a file of a lesson is in the lesson's folder")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise refusal(entry.filename, "not a regular file")
    if entry.flag_bits & _ENCRYPTED:
        raise refusal(entry.filename, "encrypted")
    if entry.compress_type not in _METHODS:
        raise refusal(entry.filename, "compressed in another way than by deflate")
    _check_file(path.name, entry.file_size)


def names_of_texts() -> list[str]:
    """Return the names of the files with the texts of a lesson, in the languages of the pages."""
    return [f"{code}.md" for code, _ in settings.LANGUAGES]


def _check_file(name: str, size: int) -> None:
    """Check a file. Raises LessonError."""
    if name not in (FILE, CLUSTER, NOTES) and not _TEXT.fullmatch(name):
        raise refusal(
            name, f"not a file of a lesson: {FILE}, {CLUSTER}, {NOTES}, {', '.join(names_of_texts())}"
        )
    if size > FILE_BYTES:
        raise refusal(name, f"larger than {FILE_BYTES >> 10} KiB")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the content of an entry; never more than its stated size is unpacked. Raises LessonError."""
    with archive.open(entry) as file:
        data = file.read(FILE_BYTES + 1)
    _check_file(PurePosixPath(entry.filename).name, len(data))
    return data
