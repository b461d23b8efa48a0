"""Text files in the encodings of people's tools."""

import codecs

import pytest

from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.manifest import to_utf8

TEXT = "kind: Pod # 名字 🙂\nmetadata: {}\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
    ],
    ids=["UTF-8", "UTF-8 with mark", "PowerShell", "big-endian", "without mark", "big-endian without mark"],
)
def test_a_text_file_is_read_as_utf8(data: bytes) -> None:
    assert to_utf8(data).decode() == TEXT


@pytest.mark.parametrize("data", [b"", b"a", b"\0", b"\0\0", b"\xe9t\xe9"])
def test_other_bytes_are_left_to_the_reader(data: bytes) -> None:
    assert to_utf8(data) == data


def test_wrong_utf16_is_told_with_its_line() -> None:
    with pytest.raises(ManifestError, match="line 2: not UTF-16"):
        to_utf8(codecs.BOM_UTF16_LE + "a\n".encode("utf-16-le") + b"\0\xd8")
