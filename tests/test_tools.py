"""kubectl and Helm for the tests."""

from pathlib import Path

import pytest

from tests import tools


@pytest.mark.parametrize(
    ("system", "machine", "packaged"),
    [("Linux", "x86_64", True), ("Linux", "aarch64", False), ("Darwin", "x86_64", False)],
)
def test_the_package_has_programs_for_linux_on_x86_64(system: str, machine: str, packaged: bool) -> None:
    assert tools.is_packaged(system, machine) == packaged


def test_elsewhere_the_programs_of_the_path_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tools, "is_packaged", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    tools.program.cache_clear()
    with pytest.raises(RuntimeError, match="install kubectl"):
        tools.program("kubectl")
    assert tools.main() == 1
    assert "install helm" in capsys.readouterr().err
    for name in tools.PROGRAMS:
        (tmp_path / name).touch(mode=0o755)
    assert tools.main() == 0
    assert tools.program("kubectl") == str(tmp_path / "kubectl")
    tools.program.cache_clear()


def test_programs_that_are_not_unpacked_are_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "is_packaged", lambda: True)
    monkeypatch.setattr(tools, "TOOLS", tmp_path)
    tools.program.cache_clear()
    with pytest.raises(RuntimeError, match="make install-dev"):
        tools.program("helm")
    tools.program.cache_clear()
