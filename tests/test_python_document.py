"""The examples of docs/PYTHON.md, as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

from schedviz.api.from_scenario import create_from_scenario
from schedviz.store import Store

TEXT = (Path(__file__).parent.parent / "docs" / "PYTHON.md").read_text()
FIRST, PYTEST, REMOTE = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
ROOT = Path(__file__).parent.parent


def run(folder: Path, *command: str) -> str:
    """Run it as a user of the installed package: without the settings of the project's own tests."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_first_example_prints_what_the_document_says(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FIRST)
    printed = run(tmp_path, "first.py")
    block = re.search(r"^```\n\n((?: {4}.*\n)+)", TEXT, re.MULTILINE)
    assert block
    shown = [line[4:].removesuffix("...").rstrip() for line in block[1].splitlines()]
    assert [line for line in shown if line not in printed] == []
    assert "request default/big" in printed


def test_the_tests_of_the_document_pass(tmp_path: Path) -> None:
    (tmp_path / "test_scheduling.py").write_text(PYTEST)
    printed = run(
        tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "test_scheduling.py"
    )
    assert f"{PYTEST.count('def test_')} passed" in printed


def test_the_example_on_a_server_runs(stack: str, store: Store) -> None:
    create_from_scenario(store, "gang", "demo")
    exec(REMOTE, {"SERVER": stack})
    assert "demo" in store.names()
    store.delete("demo")
