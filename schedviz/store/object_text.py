"""The text as which an object is stored: its JSON, compressed.

It is ``<size> <base64>``: the size of the JSON in bytes, by which objects are counted, and the JSON
compressed by zlib with a dictionary of typical objects. An object that is not smaller so is stored as its
JSON, as all were in schema version 3. It is text, as the MessagePack of Redis has no binary data.
"""

import zlib
from binascii import a2b_base64, b2a_base64
from pathlib import Path
from typing import Final

DICTIONARY: Final = Path(__file__).with_name("typical_objects.jsonl").read_bytes()
"""What zlib finds repetitions in, the likeliest last. Never change it: what is stored needs it to be read."""

LEVEL: Final = 3
"""A running pod of 2 kB becomes 219 bytes in 29 µs. Level 1: 269 bytes in 27 µs; level 6: 208 bytes in 42
µs."""
WINDOW: Final = -14
"""16 kB, as the dictionary and an object have, without a header."""
MEMORY: Final = 6
"""A smaller table of repetitions is copied faster."""

_compressor = zlib.compressobj(
    LEVEL, zlib.DEFLATED, WINDOW, MEMORY, zlib.Z_DEFAULT_STRATEGY, zdict=DICTIONARY
)


def compress(json: bytes) -> str:
    """Return the text of an object."""
    compressor = _compressor.copy()  # that has read the dictionary already
    packed = b2a_base64(compressor.compress(json) + compressor.flush(), newline=False)
    text = b"%d %s" % (len(json), packed)
    return (text if len(text) < len(json) else json).decode()


def expand(text: bytes) -> bytes:
    """Return the JSON of an object. Raises ValueError for what :func:`compress` did not return."""
    if text.startswith(b"{"):
        return text
    _, _, packed = text.partition(b" ")
    try:
        return zlib.decompressobj(WINDOW, zdict=DICTIONARY).decompress(a2b_base64(packed))
    except zlib.error as error:
        raise ValueError(str(error)) from None


def json_size(text: bytes) -> int:
    """Return the size of the JSON of an object."""
    return len(text) if text.startswith(b"{") else int(text.partition(b" ")[0])
