"""The version of the static files: a hash of them all.

It is a part of their URLs. So browsers may keep a file for ever. As modules and styles refer to each other by
relative URLs, a page never gets files of two versions.
"""

from collections.abc import Iterable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

DIGITS = 12
"""The number of hexadecimal digits of the version: 48 bits."""


def static_version(directories: Iterable[Path]) -> str:
    """Return the version of all files in directories."""
    digest = sha256()
    for directory in directories:
        for path in sorted(each for each in directory.rglob("*") if each.is_file()):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(directory).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:DIGITS]


def static_directory(package: str) -> Path:
    """Return the directory ``static`` of an installed package."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "static"
