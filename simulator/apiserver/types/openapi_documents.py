"""The OpenAPI documents of Kubernetes, which the package kubernetes-validate brings: descriptions of fields,
which of them are required, and how lists are merged. They are large, and read only where descriptions are
shown and where the data of the types are written."""

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

from simulator.apiserver.served_features import served_version

Schema = dict[str, Any]


def openapi_schemas() -> dict[str, Schema]:
    """Return the schemas of the types of the version that is served by their names."""
    return schemas_of(served_version().name)


@cache
def schemas_of(version: str) -> dict[str, Schema]:
    """Return the schemas of the types of a version (``v1.36``) by their names."""
    spec = importlib.util.find_spec("kubernetes_validate")
    assert spec is not None, "kubernetes-validate is not installed"
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema"
    text = (root / f"{version}.0-local-strict" / "_definitions.json").read_bytes()
    found: dict[str, Schema] = json.loads(text)["$defs"]
    return found
