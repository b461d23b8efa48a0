"""The SECRET_KEY that ``manage.py up`` generates and keeps in the data directory."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from schedviz.up.preflight import NotReady

FILE: Final = "secret-key"


def kept_key(directory: Path) -> str:
    """Return the key in the directory, which is generated at the first start. Only its user may read the
    file. Raises NotReady."""
    file = directory / FILE
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            # Complete before it has its name: another process may read it at once.
            fresh = directory / f".{FILE}-{os.getpid()}"
            fresh.unlink(missing_ok=True)
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
                opened.write(secrets.token_urlsafe(50))
            try:
                os.link(fresh, file)
            finally:
                fresh.unlink()
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NotReady(f"the key of the cookies cannot be kept in {file}: {error}") from None
    if not key:
        raise NotReady(f"{file} is empty: delete it, and a new key is generated; or set SECRET_KEY")
    return key
