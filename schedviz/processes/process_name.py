"""The names of Celery processes."""

import os
import re
import secrets
import socket


def make_process_name() -> str:
    # Random at the end: a container that starts again has the host name and the process id that it had
    # before.
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


def runs_here(name: str) -> bool:
    """Whether a process of this name runs on this machine, or in this container."""
    return re.fullmatch(rf"{re.escape(socket.gethostname())}-\d+-[0-9a-f]{{4}}", name) is not None
