"""The files of pages (``schedviz/page_files.py``) made by esbuild, which ``bundle.mjs`` calls."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from schedviz.page_files import MADE, SOURCES, SOURCES_VERSION, sources_version
from schedviz.static_version import static_directory
from tests.node_packages import BUNDLER, NODE

STATIC: Final = Path(__file__).resolve().parents[3] / "static"


def make() -> None:
    """Write all files anew."""
    shutil.rmtree(STATIC / MADE, ignore_errors=True)
    (STATIC / MADE).mkdir()
    _run_bundler(check=False)
    (STATIC / MADE / SOURCES_VERSION).write_text(f"{sources_version(STATIC)}\n")


def stale_files() -> list[str]:
    """The names of the made files that differ from what would be made now, and of those that lack."""
    stale: list[str] = json.loads(_run_bundler(check=True))
    return stale


def _path(source: str) -> Path:
    return (static_directory("django_htmx") if source.startswith("django_htmx/") else STATIC) / source


def _run_bundler(**options: Any) -> str:
    files = {name: [str(_path(source)) for source in sources] for name, sources in SOURCES.items()}
    asked = json.dumps({"directory": str(STATIC / MADE), "files": files, **options})
    command = [NODE, BUNDLER.program("bundle.mjs")]
    return subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, check=True).stdout
