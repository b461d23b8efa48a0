"""The encoding of text files that people give: UTF-8, or the UTF-16 that Windows PowerShell writes.

Bodies of requests are UTF-8 (:mod:`simulator.apiserver.manifest`), as for kube-apiserver.
"""

import codecs
from typing import Final

from simulator.apiserver.bounds import ManifestError

_BYTE_ORDER_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def to_utf8(data: bytes) -> bytes:
    """Return the text of a file as UTF-8 without a byte order mark. ``>`` of Windows PowerShell 5 writes
    UTF-16 with such a mark; other editors leave it out, which the zeros in the first character show.

    UTF-8 is returned unchanged, and not checked. Raises ManifestError for wrong UTF-16."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _transcode(data[len(mark) :], encoding)
    if len(data) >= 2 and (data[0] == 0) != (data[1] == 0):
        return _transcode(data, "utf-16-be" if data[0] == 0 else "utf-16-le")
    return data


def _transcode(data: bytes, encoding: str) -> bytes:
    try:
        return data.decode(encoding).encode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding)
        raise ManifestError("not UTF-16", before.count("\n") + 1) from None
