"""The contexts of the kubeconfig, by name. Credentials are neither kept nor returned."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import yaml

from schedviz.real_cluster.errors import ClusterError
from simulator.kernel.prepared_types import prepared

DEFAULT_FILE: Final = "~/.kube/config"
FILE_AT_MOST: Final = 8 << 20
"""Maximum number of bytes of a file: some ten thousand contexts with certificates."""
FILES_KEPT: Final = 32
"""Maximum number of files of which it is kept what was read."""


class Contexts(NamedTuple):
    names: list[str]
    """Each once, in the order of the files."""
    current: str
    """That of the first file that has one, as client-go merges them; "" = none is set."""


class _Named(msgspec.Struct):
    name: str


class _Kubeconfig(msgspec.Struct, rename="kebab"):
    contexts: list[_Named] | None = None
    current_context: str | None = None


def kubeconfig_files(kubeconfig: str = "") -> str:
    """Return the given files, else those of KUBECONFIG, else the usual one."""
    return kubeconfig or os.environ.get("KUBECONFIG") or DEFAULT_FILE


def existing_files(files: str) -> list[Path]:
    return [path for path in _paths(files) if path.is_file()]


def no_kubeconfig(files: str) -> ClusterError:
    """Return the error where none of the files exists."""
    is_folder = any(path.is_dir() for path in _paths(files))
    return ClusterError(f"kubeconfig {files}: " + ("a folder, not a file" if is_folder else "no such file"))


def _paths(files: str) -> list[Path]:
    return [Path(path).expanduser() for path in files.split(os.pathsep) if path]


def read_contexts(files: str) -> Contexts:
    """Raises ClusterError."""
    found = existing_files(files)
    if not found:
        raise no_kubeconfig(files)
    names: dict[str, None] = {}
    current = ""
    for path in found:
        read = _read_file(path)
        names.update(dict.fromkeys(each.name for each in read.contexts or ()))
        current = current or read.current_context or ""
    return Contexts([*names], current)


def _read_file(path: Path) -> _Kubeconfig:
    try:
        state = path.stat()
        if state.st_size > FILE_AT_MOST:
            raise ClusterError(f"kubeconfig {path}: it has more than {FILE_AT_MOST >> 20} MiB")
        return _read_version(path, (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns))
    except OSError as failure:
        raise ClusterError(f"kubeconfig {path}: {failure.strerror or failure}") from None
    # What is wrong is not repeated: a message of these would quote the file.
    except (yaml.YAMLError, msgspec.ValidationError, ValueError, RecursionError):
        raise ClusterError(f"kubeconfig {path}: not a kubeconfig") from None


@lru_cache(FILES_KEPT)
def _read_version(path: Path, version: tuple[int, ...]) -> _Kubeconfig:
    """Return what is in the file, which is read again when its version is another: it is looked at twice a
    second, and one with a hundred certificates takes 7 ms."""
    content = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    return msgspec.convert(content or {}, prepared(_Kubeconfig))
