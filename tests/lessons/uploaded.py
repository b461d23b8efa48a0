"""Uploads for tests: zips of the lesson ``pending``."""

import io
import zipfile
from collections.abc import Mapping

from .folders import PENDING

FILES = {path.name: path.read_bytes() for path in PENDING.iterdir()}
"""The files of the lesson."""


def zipped(files: Mapping[str, bytes] = FILES, folder: str = "my-lesson/") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(folder + name, data)
    return out.getvalue()
