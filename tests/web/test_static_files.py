"""Static files: a page loads those of one version, and a browser keeps them."""

import re
from pathlib import Path

from django.conf import settings
from django.test import Client

from schedviz.static_version import static_version
from schedviz.store import Sandbox


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


def test_a_page_has_only_files_of_this_version_and_browsers_cache_them(sandbox: Sandbox) -> None:
    client = Client(headers={"host": "localhost"})
    page = client.get(f"/s/{sandbox.name}/").content.decode()
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert {Path(each).name for each in files} >= {"sandbox.js", "htmx-2.min.js", "layout.css", "favicon.svg"}
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
    for path in (settings.BASE_DIR / "static").rglob("*"):
        if path.is_file():
            assert "/static/" not in path.read_text(), path.name
