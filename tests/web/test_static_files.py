"""Static files: a page loads those of one version, and a browser keeps them."""

import os
import re
import shutil
from pathlib import Path

from django.conf import settings
from django.test import Client, override_settings

from schedviz import page_files
from schedviz.page_files import MADE
from schedviz.static_version import static_version
from schedviz.store import Sandbox
from schedviz.web.templatetags.schedviz import page_file
from tests.programs.page_files.bundle import STATIC, stale_files


def test_a_change_of_any_file_changes_the_version(tmp_path: Path) -> None:
    seen = set()
    for name, content in (("a.js", "1"), ("b.js", "1"), ("b.js", "2"), ("js/b.js", "2")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
        seen.add(static_version([tmp_path]))
    assert len(seen) == 4
    assert static_version([tmp_path]) in seen


def test_equal_files_have_the_same_version_wherever_they_are(tmp_path: Path) -> None:
    for place in ("one", "other"):
        (tmp_path / place / "js").mkdir(parents=True)
        (tmp_path / place / "js" / "a.js").write_text("1")
    assert static_version([tmp_path / "one"]) == static_version([tmp_path / "other"])


def test_the_files_of_pages_are_made_of_the_sources_as_they_are() -> None:
    """Where this fails, ``make assets`` makes them again."""
    assert stale_files() == []
    assert page_files.are_made(STATIC)
    known = {*page_files.SOURCES, page_files.SOURCES_VERSION}
    assert {name.removesuffix(".br").removesuffix(".gz") for name in os.listdir(STATIC / MADE)} == known


def test_a_change_of_a_source_is_noticed(tmp_path: Path) -> None:
    for folder in ("css", "js", MADE):
        shutil.copytree(STATIC / folder, tmp_path / folder)
    assert page_files.are_made(tmp_path)
    (tmp_path / "js" / "copy.js").write_text("")
    assert not page_files.are_made(tmp_path)


@override_settings(STATIC_FILES_ARE_MADE=False)
def test_after_a_change_a_page_loads_the_sources(sandbox: Sandbox) -> None:
    page_file.cache_clear()
    page = Client(headers={"host": "localhost"}).get(f"/s/{sandbox.name}/").content.decode()
    page_file.cache_clear()
    assert re.findall(r'<script (\S+) src="/static/\w+/([^"]+)"></script>', page) == [
        ("defer", page_files.HTMX),
        ("defer", page_files.WEBSOCKETS),
        ('type="module"', "js/sandbox.js"),
    ]
    assert re.findall(r'<link rel="stylesheet" href="/static/\w+/([^"]+)">', page) == ["css/schedviz.css"]


def test_one_stylesheet_has_all_styles() -> None:
    imported = re.findall(r'@import url\("(.+?)"\)', (STATIC / "css" / "schedviz.css").read_text())
    files = {path.name for path in (STATIC / "css").iterdir()}
    assert sorted(imported) == sorted(files - {"schedviz.css", "handout.css", "report.css"})


def test_files_are_sent_compressed() -> None:
    client = Client(headers={"host": "localhost"})
    for encoding in ("gzip", "br"):
        for name in page_files.SOURCES:
            answer = client.get(
                f"{settings.STATIC_URL}{MADE}/{name}", headers={"Accept-Encoding": f"{encoding}, zstd"}
            )
            assert answer.headers["Content-Encoding"] == encoding
            assert answer.headers["Vary"] == "Accept-Encoding"
            assert "immutable" in answer.headers["Cache-Control"]
            answer.close()


def test_a_page_has_only_files_of_this_version_and_browsers_cache_them(sandbox: Sandbox) -> None:
    client = Client(headers={"host": "localhost"})
    page = client.get(f"/s/{sandbox.name}/").content.decode()
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert {Path(each).name for each in files} >= {"sandbox.js", "schedviz.css", "favicon.svg"}
    for url in files:
        assert url.startswith(settings.STATIC_URL)
        response = client.get(url)
        assert response.status_code == 200
        assert "immutable" in response.headers["Cache-Control"]
        assert b"".join(response.streaming_content)


def test_files_of_another_version_are_not_served() -> None:
    client = Client(headers={"host": "localhost"})
    assert client.get("/static/000000000000/js/sandbox.js").status_code == 404


def test_modules_and_styles_refer_to_others_by_relative_urls() -> None:
    for path in STATIC.rglob("*"):
        if path.is_file():
            assert b"/static/" not in path.read_bytes(), path.name
