"""The refusals of the API server, with the whole message and the order of the causes.

A file of ``refusals/`` has ``objects``, good ones by name, and ``cases``. A case changes an object by a JSON
merge patch (``patch``) and says the ``causes`` for which the result is refused, or none. With ``of`` it is an
update: the object is stored first, with the changes ``of``, then changed, perhaps through a ``subresource``.
``stored`` are pointers into what is stored, with their values, and ``warnings`` those about it. ``<name>`` in
a cause or a warning is a text of ``texts``.
"""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.api import Manifest
from simulator.apiserver.admission import admit, resource_of
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.status import Invalid
from simulator.apiserver.warnings import warnings_of, warnings_of_update
from tests.apiserver.cluster import NOW, Cluster

ROOT = Path(__file__).parent / "refusals"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / f"{name}.yaml").read_text())
    return found


def cases() -> Iterator[Any]:
    for file in sorted(ROOT.glob("*.yaml")):
        table = read(file.stem)
        for number, case in enumerate(table["cases"]):
            yield pytest.param(table, case, id=f"{file.stem}-{case['object']}-{number}")


def written(table: dict[str, Any], case: dict[str, Any]) -> tuple[Manifest, list[str]]:
    """The stored object, and the warnings about the write. Raises Invalid."""
    cluster = Cluster()
    for manifest in table.get("before", ()):
        cluster.create([manifest])
    good = table["objects"][case["object"]]
    patch = case.get("patch", {})
    if "of" not in case:
        stored = created(cluster, apply_merge_patch(good, patch))
        return stored, warnings_of(resource_of(stored, cluster), stored)
    old = created(cluster, apply_merge_patch(good, case["of"]))
    new = apply_merge_patch(copy.deepcopy(old), patch)
    resource, subresource = resource_of(old, cluster), case.get("subresource", "")
    stored = cluster.update(resource, old, new, subresource)
    return stored, warnings_of_update(resource, stored, old, subresource)


def created(cluster: Cluster, manifest: Manifest) -> Manifest:
    changes = admit([manifest], cluster, NOW, source=f"test/{cluster.version}", entry="api").changes
    return cluster.commit(changes)[0]


def at(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value.get(part.replace("~1", "/"))
    return value


def completed(table: dict[str, Any], messages: list[str]) -> list[str]:
    texts = table.get("texts", {})
    return [re.sub("<([a-z-]+)>", lambda found: texts.get(found[1], found[0]), each) for each in messages]


@pytest.mark.parametrize(("table", "case"), [*cases()])
def test_a_refusal_has_the_whole_message(table: dict[str, Any], case: dict[str, Any]) -> None:
    refused: list[str] = []
    try:
        stored, warnings = written(table, case)
    except Invalid as error:
        refused = list(dict.fromkeys(str(cause) for cause in error.causes))
    assert refused == completed(table, case.get("causes", []))
    if "warnings" in case:
        assert warnings == completed(table, case["warnings"])
    for pointer, value in case.get("stored", {}).items():
        assert at(stored, pointer) == value
