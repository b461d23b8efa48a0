"""The paths of errors of the API server that are not those of the fields they are about."""

_PATHS = {"metadata.taints": "spec.taints"}


def path_in_manifest(path: str) -> str:
    """Return the path of the field that an error is about."""
    for written, actual in _PATHS.items():
        if path.startswith(written):
            return actual + path.removeprefix(written)
    return path
