"""Lessons for tests: copies of a folder with some text replaced."""

import shutil
from pathlib import Path

FOLDERS = Path(__file__).parent / "folders"
PENDING = FOLDERS / "pending"


def copy_lesson(target: Path, *replaced: tuple[str, str, str]) -> Path:
    """Copy the lesson ``pending``; ``replaced``: file, text, new text. The text must be there once."""
    folder = target / PENDING.name
    shutil.copytree(PENDING, folder)
    for file, old, new in replaced:
        text = (folder / file).read_text()
        assert text.count(old) == 1, (file, old, text.count(old))
        (folder / file).write_text(text.replace(old, new))
    return folder
