"""The documents name everything that they say they list: a new event, scenario or plugin without a line there
fails here. And what they name exists."""

import os
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
import yaml

from schedviz.api.health import CHECKS
from simulator.plugins.registry import OWN, in_tree
from simulator.trace import AnyEvent
from tests.kubectl.transcript import read_sections
from tests.programs.pictures.shots import SHOTS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DOCUMENTS = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]

ENDINGS = r"css|html|in|js|json|jsonl|lua|md|mo|po|py|toml|txt|yaml|yml"
FILE = re.compile(rf"[\w.*-]+(/[\w.*-]+)*(/|\.({ENDINGS}))")
"""What looks like a file or a folder of the project; what begins with "/" is a path of a URL. A word in
capitals (``NAME``) and ``*`` stand for any name."""

EXAMPLES = {"team-a/"}
"""What looks so, and is something else: a namespace in the filter of docs/LARGE.md."""


def rows(document: str) -> dict[str, str]:
    """First column (a name in code style) to the whole row, of all tables in a document."""
    text = (DOCS / document).read_text()
    return {name: row for row in text.splitlines() for name in re.findall(r"^\| `([^`]+)` \|", row)}


def test_every_trace_event_is_documented_with_its_fields() -> None:
    documented = rows("TRACE.md")
    for event in get_args(AnyEvent):
        row = documented[event.__name__]
        for field in event.__struct_fields__:
            assert field == "t" or f"`{field}`" in row, f"TRACE.md: {event.__name__} has a field {field}"


def test_every_scenario_is_documented_and_named_as_its_file() -> None:
    files = {path.stem: path for path in (ROOT / "schedviz" / "scenarios").glob("*.yaml")}
    assert set(rows("SCENARIOS.md")) == set(files)
    for name, path in files.items():
        head = next(iter(yaml.safe_load_all(path.read_text())))
        assert (head["kind"], head["metadata"]["name"]) == ("Scenario", name)
        assert head["spec"]["title"]
        assert head["spec"]["summary"]


def test_every_plugin_is_documented() -> None:
    assert {*in_tree(), *OWN} <= set(rows("FIDELITY.md"))


def test_every_command_of_kubectl_that_is_tested_is_documented_and_no_other() -> None:
    tested = {section.name for section in read_sections()}
    assert set(rows("KUBECTL.md")) == tested | {"proxy"}


def test_every_check_of_readyz_is_documented() -> None:
    assert {check.name for check in CHECKS} <= set(rows("OPERATIONS.md"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


@cache
def project_paths() -> list[str]:
    """All files and folders of the project, those of tools (``.venv``, ``__pycache__``) left out: files as
    ``/docs/API.md``, folders as ``/docs/``."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        place = f"/{Path(folder).relative_to(ROOT).as_posix()}/".replace("/./", "/")
        found += [f"{place}{name}" for name in files] + [f"{place}{name}/" for name in folders]
    return found


def named_files(path: Path) -> list[str]:
    """What a document has in backquotes, outside its blocks of code, that looks like a file or folder."""
    text = re.sub(r"^ *```.*?^ *```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [name for name in re.findall(r"`([^`\n]+)`", text) if FILE.fullmatch(name)]


def exists(name: str) -> bool:
    """Whether there is a file of this name: by its whole path, or by the end of it, as in a table about one
    folder."""
    pattern = re.sub(r"\b[A-Z]{4,}(?=[./])(?!\.md)", "*", name)
    return any(fnmatchcase(path, f"*/{pattern}") for path in project_paths())


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_files_that_a_document_names_exist(path: Path) -> None:
    missing = [name for name in named_files(path) if name not in EXAMPLES and not exists(name)]
    assert missing == []


def test_a_file_that_does_not_exist_is_found(tmp_path: Path) -> None:
    document = tmp_path / "X.md"
    document.write_text(
        "`docs/API.md`, `store/bounds.py`, `plugins/`, `schedviz/ideas/NAME.yaml`, "
        "`schedviz/scenarios/*.yaml`\n"
        "`docs/NONE.md`, `bounds/store.py`, `plugs/`, `schedviz/none/NAME.yaml`, `/compare/`, `nodes.real`\n"
        "```\n`block.py`\n```\n"
    )
    assert [name for name in named_files(document) if not exists(name)] == [
        "docs/NONE.md", "bounds/store.py", "plugs/", "schedviz/none/NAME.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_make_targets_that_a_document_names_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert "messages" in targets
    named = re.findall(r"(?:`| {4})make ([a-z-]+)", path.read_text())
    assert set(named) <= targets


def test_all_pictures_that_documents_show_are_there() -> None:
    shown = re.findall(r"docs/pictures/[\w.-]+", (ROOT / "README.md").read_text())
    for path in DOCS.glob("*.md"):
        shown += [f"docs/{each}" for each in re.findall(r'"(pictures/[\w.-]+)"', path.read_text())]
    assert len(shown) > 2
    assert [each for each in shown if not (ROOT / each).is_file()] == []
    taken = {f"{shot.name}-{variant.name}.webp" for shot in SHOTS for variant in shot.variants}
    assert {path.name for path in (DOCS / "pictures").iterdir()} == {*taken, "README.md"}
    listed = {*rows("pictures/README.md")}
    assert listed == {shot.name for shot in SHOTS}
