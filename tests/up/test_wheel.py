"""The package as a wheel: installed, it starts what ``make up`` starts."""

import re
import site
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from schedviz import __version__
from schedviz.up.embedded_redis import free_port
from tests.processes import ROOT, Process
from tests.waiting import eventually

pytestmark = pytest.mark.alone


def page(url: str, language: str = "en") -> str:
    text: str = urlopen(Request(url, headers={"Accept-Language": language})).read().decode()
    return text


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory ``bin`` of an environment in which the wheel is installed."""
    place = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place), cwd=ROOT)
    venv.create(place / "venv")
    python = place / "venv" / "bin" / "python"
    wheel = place / f"schedviz-{__version__}-py3-none-any.whl"
    run(sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", str(wheel), cwd=place)
    # The packages of the environment that runs the tests stand in for the dependencies.
    (packages,) = (place / "venv" / "lib").glob("python3.*/site-packages")
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    return python.parent


@pytest.mark.long
def test_the_wheel_starts_the_server(installed: Path, tmp_path: Path) -> None:
    """Without arguments, in a directory that has nothing of the project."""
    environment = {"DATA_DIR": str(tmp_path / "data"), "REDIS_URL": "", "PORT": str(free_port())}
    up = Process([], tmp_path / "up.log", environment, program=str(installed / "schedviz"), cwd=tmp_path)
    try:
        url = eventually(
            lambda: up.alive() and re.search(r"^schedviz is at (\S+)/ ", up.output, re.MULTILINE), "it is up"
        )[1]
        home = page(f"{url}/")
        assert "online-vs-offline" in home
        style = re.search(r'href="(/static/\w+/made/[\w.]+)"', home)
        assert style, home
        assert urlopen(url + style[1]).headers["Content-Type"].startswith("text/css")
        assert "schedviz/project_files" in run(
            str(installed / "python"),
            "-c",
            "from schedviz import settings; print(settings.FILES_DIR)",
            cwd=tmp_path,
        )
        # The translations are in it, too.
        assert "以暂停状态启动" in page(f"{url}/", "zh-hans")
    finally:
        up.stop()
    assert "schedviz" in run(str(installed / "schedviz"), "help", cwd=tmp_path)
    assert "evictions" in run(str(installed / "kubectl-schedviz"), "--help", cwd=tmp_path)
    program = "import schedviz; print(len(schedviz.sandbox(scenario='gang').list('nodes')))"
    assert run(str(installed / "python"), "-c", program, cwd=tmp_path) == "3\n"


def requirements(name: str) -> set[str]:
    lines = (ROOT / "requirements" / f"{name}.in").read_text().splitlines()
    return {line for line in lines if line and not line.startswith(("#", "-r "))}


def test_the_wheel_depends_on_what_the_lock_files_are_made_of() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*project["dependencies"]} == requirements("runtime")
    optional = {name: {*found} for name, found in project["optional-dependencies"].items()}
    assert optional == {name: requirements(name) for name in ("accounts", "tracing")}
