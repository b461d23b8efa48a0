"""What an upload may have in it. Nothing is unpacked that is beyond a bound."""

import io
import stat
import zipfile

import pytest

from schedviz.lessons.mistakes import LessonError
from schedviz.lessons.unpack import ENTRIES_AT_MOST, FILE_BYTES, FILES_AT_MOST, UPLOAD_BYTES, unpack

from .uploaded import FILES, zipped


def refused(*uploaded: tuple[str, bytes]) -> str:
    with pytest.raises(LessonError) as caught:
        unpack(uploaded)
    return str(caught.value)


def with_entry(entry: zipfile.ZipInfo, data: bytes = b"x") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(entry, data)
    return out.getvalue()


@pytest.mark.parametrize("folder", ["", "my-lesson/", "./"])
def test_a_zip_has_the_files_in_one_folder_or_in_none(folder: str) -> None:
    assert unpack([("a.zip", zipped(folder=folder))]) == FILES


def test_the_files_themselves_can_be_uploaded() -> None:
    assert unpack([*FILES.items()]) == FILES


def test_files_that_operating_systems_add_to_a_zip_are_left_out() -> None:
    added = {"a/lesson.yaml": b"x", "a/.DS_Store": b"y", "__MACOSX/a/._lesson.yaml": b"z"}
    assert unpack([("a.zip", zipped(added, folder=""))]) == {"lesson.yaml": b"x"}


def test_an_upload_has_files() -> None:
    assert refused().endswith("choose a zip of the lesson's folder, or its files")


@pytest.mark.parametrize(
    "path", ["../lesson.yaml", "/lesson.yaml", "a/../lesson.yaml", "a\\lesson.yaml", "a/b/en.md"]
)
def test_a_path_outside_of_the_folder_is_refused(path: str) -> None:
    entry = zipfile.ZipInfo("x")
    entry.filename = path
    assert "a file of a lesson is in the lesson's folder" in refused(("a.zip", with_entry(entry)))


def test_files_of_two_folders_are_refused() -> None:
    assert "in one folder" in refused(("a.zip", zipped({"a/en.md": b"", "b/lesson.yaml": b""}, folder="")))


def test_a_link_is_refused() -> None:
    link = zipfile.ZipInfo("a/en.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert refused(("a.zip", with_entry(link, b"/etc/passwd"))) == "a/en.md:1: not a regular file"


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    assert f"larger than {FILE_BYTES >> 10} KiB" in refused(("a.zip", zipped({"en.md": b"a" * 20_000_000})))


def test_a_zip_bomb_that_states_a_small_size_is_not_unpacked() -> None:
    data = zipped({"en.md": b"a" * 20_000_000})
    size = (20_000_000).to_bytes(4, "little")
    assert data.count(size) == 2
    assert (
        refused(("a.zip", data.replace(size, (10).to_bytes(4, "little"))))
        == "a.zip:1: not a zip that can be read"
    )


def test_other_compressions_and_broken_zips_are_refused() -> None:
    entry = zipfile.ZipInfo("a/en.md")
    entry.compress_type = zipfile.ZIP_LZMA
    assert "compressed in another way" in refused(("a.zip", with_entry(entry)))
    assert "not a zip" in refused(("a.zip", b"PK and more"))
    data = bytearray(zipped())
    data[60:90] = bytes(30)
    assert "not a zip" in refused(("a.zip", bytes(data)))


def test_the_numbers_of_files_and_bytes_are_bounded() -> None:
    many = {f"a{'b' * place}.md": b"x" for place in range(FILES_AT_MOST + 1)}
    assert f"at most {FILES_AT_MOST} files" in refused(("a.zip", zipped(many)))
    assert f"at most {FILES_AT_MOST} files" in refused(*many.items())
    hidden = {f".{place}": b"" for place in range(ENTRIES_AT_MOST + 1)}
    assert f"at most {ENTRIES_AT_MOST} entries" in refused(("a.zip", zipped(hidden)))
    assert "larger than" in refused(("a.zip", bytes(UPLOAD_BYTES + 1)))
    assert "larger than" in refused(("en.md", bytes(FILE_BYTES + 1)))


@pytest.mark.parametrize("name", ["run.py", "../en.md", "lesson.yml", "a/lesson.yaml", "\x00.md"])
def test_other_files_are_refused(name: str) -> None:
    assert "not a file of a lesson" in refused((name, b"x"), ("en.md", b"x"))
