"""The modules of static/js: what they import, and which module handles which events."""

import re
from graphlib import TopologicalSorter

import pytest
from django.conf import settings

from schedviz.page_files import SOURCES

ENTRIES = {path.removeprefix("js/") for paths in SOURCES.values() for path in paths if path.startswith("js/")}
"""The modules that pages load; the others are imported."""
MODULES = {path.name: path.read_text() for path in (settings.BASE_DIR / "static" / "js").glob("*.js")}
IMPORTS = {
    name: set(re.findall(r'^import (?:\{[^}]+\} from )?"\./([a-z_]+\.js)";$', text, re.MULTILINE))
    for name, text in MODULES.items()
}


def test_every_import_is_a_module_and_no_imports_form_a_cycle() -> None:
    for name, text in MODULES.items():
        assert len(IMPORTS[name]) == text.count("import "), f"{name} has another form of import"
    assert set().union(*IMPORTS.values()) | ENTRIES == MODULES.keys()
    assert len([*TopologicalSorter(IMPORTS).static_order()]) == len(MODULES)


@pytest.mark.parametrize("event", ["keydown", "keyup", "keypress", "click"])
def test_only_the_registry_handles_keys_and_clicks(event: str) -> None:
    listening = {name for name, text in MODULES.items() if f'addEventListener("{event}"' in text}
    assert listening <= {"registry.js"}


def test_modules_use_no_global_variables() -> None:
    for name, text in MODULES.items():
        assert not re.search(r"\b(window|globalThis|self)\.", text), f"{name} uses a global variable"
