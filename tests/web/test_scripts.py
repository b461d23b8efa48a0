"""The modules of static/js: what they import, how the page loads them, and which module handles which
events."""

import re
from graphlib import TopologicalSorter

import pytest
from django.conf import settings
from django.test import Client

from schedviz.store import Sandbox

ENTRY = "sandbox.js"
ENTRIES = {ENTRY, "handout.js", "room.js"}
"""The modules that pages load; the others are imported."""
MODULES = {path.name: path.read_text() for path in (settings.BASE_DIR / "static" / "js").glob("*.js")}
IMPORTS = {
    name: set(re.findall(r'^import (?:\{[^}]+\} from )?"\./([a-z_]+\.js)";$', text, re.MULTILINE))
    for name, text in MODULES.items()
}


def test_every_import_is_a_module_and_no_imports_form_a_cycle() -> None:
    for name, text in MODULES.items():
        assert len(IMPORTS[name]) == text.count("import "), f"{name} has another form of import"
    assert set().union(*IMPORTS.values()) == MODULES.keys() - ENTRIES
    assert len([*TopologicalSorter(IMPORTS).static_order()]) == len(MODULES)


def test_the_page_loads_all_modules_at_once(sandbox: Sandbox) -> None:
    page = Client(headers={"host": "localhost"}).get(f"/s/{sandbox.name}/").content.decode()
    js = f"{settings.STATIC_URL}js/"
    assert re.findall(rf'<link rel="modulepreload" href="{js}([^"]+)">', page) == sorted(MODULES)
    assert re.findall(rf'<script type="module" src="{js}([^"]+)"></script>', page) == [ENTRY]
    assert page.index("modulepreload") < page.index('type="module"')


@pytest.mark.parametrize("event", ["keydown", "keyup", "keypress", "click"])
def test_only_the_registry_handles_keys_and_clicks(event: str) -> None:
    listening = {name for name, text in MODULES.items() if f'addEventListener("{event}"' in text}
    assert listening <= {"registry.js"}


def test_modules_use_no_global_variables() -> None:
    for name, text in MODULES.items():
        assert not re.search(r"\b(window|globalThis|self)\.", text), f"{name} uses a global variable"
