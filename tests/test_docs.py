"""The documents name everything that they say they list: a new event, scenario or plugin without a line there
fails here."""

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from simulator.plugins.registry import IN_TREE, OWN
from simulator.trace import AnyEvent

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


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
    assert {*IN_TREE, *OWN} <= set(rows("FIDELITY.md"))


@pytest.mark.parametrize("path", [*sorted(DOCS.glob("*.md")), ROOT / "README.md"], ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"
